// SPDX-License-Identifier: Apache-2.0
// Routes of IVRs and of their saved versions.
import { type Static, Type } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { list, type Route, read, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one, type Queryable, type Tx } from '../../../platform/db.ts'
import { At, listQuery, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { pageOfWhole } from '../../../platform/schema/lists.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { requireDestination, requireHours, requirePrompts } from '../checks.ts'
import {
  actionsOf,
  destinationIn,
  IvrChange,
  IvrCreate,
  type IvrDocument,
  ivrDocument,
  ivrProblem,
  promptsOf,
} from '../ivr/ivr.ts'
import {
  findIvr,
  findVersion,
  type IvrRow,
  insertIvr,
  keepVersion,
  listIvrs,
  listVersions,
  lockIvr,
  maxVersions,
  saveIvr,
  type VersionRow,
  type VersionSummary,
} from '../ivr/store.ts'
import { requireFewer, requireSmaller } from '../limits.ts'
import { Destination } from '../schema.ts'
import { holdSwitchboard } from '../switchboard.ts'

const IvrId = Type.Object({ ivr_id: Type.String({ description: 'Id of the IVR, ivr_…' }) })

const IvrRecord = Type.Object(
  {
    ivr_id: Type.String({ description: 'Id of the IVR, such as `ivr_…`' }),
    version: Type.Integer({ description: 'Version number from 1, one more with each change' }),
    status: OneOf(['active', 'draft'], { description: '`draft` is not reached by calls' }),
    name: Type.String({ description: 'Unique name' }),
    language: Type.String({ description: 'Language spoken and recognised, such as `sw-KE`' }),
    entry: Type.String({ description: 'Key of the first menu' }),
    menus: IvrCreate.properties.menus,
    variables: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
      description: 'Variables that calls begin with, for `{{name}}` in prompts and for conditions of routing rules',
    }),
    business_hours_id: Nullable(Type.String({ description: 'Id of the business hours, `bh_…`; null: always open' })),
    closed: Nullable(Destination),
    created_at: At({ description: 'Time of creation' }),
    updated_at: At({ description: 'Time of the last change' }),
  },
  { title: 'Ivr' },
)

function ivrRecord({ id, version, document, created_at, updated_at }: IvrRow): Static<typeof IvrRecord> {
  const { menus, ...rest } = document
  return { ivr_id: idOf('ivr', id), version, ...rest, menus: plainMenus(menus), created_at, updated_at }
}

/** Menus in the type of the request schema. */
function plainMenus(menus: IvrDocument['menus']): Static<typeof IvrCreate>['menus'] {
  return JSON.parse(JSON.stringify(menus))
}

/** Keeps what was just saved among the versions of the IVR; refuses it when it is too much. */
async function keep(
  tx: Tx,
  { id, version, document }: IvrRow,
  { tenant, actor, nowMs }: Caller,
  restoredFrom: number | null = null,
): Promise<void> {
  await requireSmaller(tx, tenant, 'ivrs')
  const forgotten = version - maxVersions
  const saved = { document: JSON.stringify(document), restoredFrom, by: actor, at: new Date(nowMs), forgotten }
  await tx.query(keepVersion, { ...tenant, ivr: id, version, ...saved })
}

const noIvr = () => new AppError('NOT_FOUND', 'there is no such IVR; ids of IVRs begin with ivr_')

function ivrUuid(id: string): string {
  const uuid = uuidOf('ivr', id)
  if (uuid === null) throw noIvr()
  return uuid
}

/** Refuses menus whose destinations do not exist. */
async function checkIvr(app: App, tenant: Tenant, ivr: IvrDocument): Promise<void> {
  const problem = ivrProblem(ivr)
  if (problem) throw invalid(problem.field, problem.problem)
  await requireHours(app, tenant, 'business_hours_id', ivr.business_hours_id)
  if (ivr.closed) await requireDestination(app, tenant, 'closed', ivr.closed)
  await requirePromptsOf(app.db, tenant, ivr)
  for (const [key, menu] of Object.entries(ivr.menus))
    for (const action of actionsOf(menu)) {
      const destination = destinationIn(action)
      if (destination) await requireDestination(app, tenant, `menus.${key}`, destination)
      if (action.webhook !== undefined)
        await app.outbound.checkUrl(action.webhook, 'callback', tenant.environment, `menus.${key}.webhook`)
    }
}

async function requirePromptsOf(queryable: Queryable, tenant: Tenant, { menus }: IvrDocument): Promise<void> {
  const played = Object.entries(menus).flatMap(([key, menu]) =>
    promptsOf(menu).flatMap(({ prompt_id: id }) => (id === undefined ? [] : [{ field: `menus.${key}.prompt`, id }])),
  )
  await requirePrompts(queryable, tenant, played)
}

function changed(document: IvrDocument, { variables, ...body }: Static<typeof IvrChange>): IvrDocument {
  return { ...document, ...body, ...(variables === undefined ? {} : { variables: variables ?? {} }) }
}

const errors = ['INVALID_URL', 'INVALID_PHONE', 'UNSUPPORTED_LANGUAGE'] as const

const create = write({
  method: 'POST',
  path: '/v1/voice/ivr',
  operation: 'callcenter.createIvr',
  summary: 'Create an IVR',
  description:
    'At most 200 menus, and 8 MiB of JSON in all IVRs of the account; every menu must be reachable, and every choice needs a destination.',
  scope: 'callcenter:write',
  body: IvrCreate,
  bodyLimitBytes: 1_024 * 1_024,
  reply: { status: 201, schema: IvrRecord, location: ({ ivr_id }) => `/v1/voice/ivr/${ivr_id}` },
  errors: [...errors, 'CONFLICT'],
  examples: [
    {
      name: 'A choice of two',
      body: {
        name: 'Reception',
        language: 'en-KE',
        entry: 'main',
        menus: {
          main: {
            prompt: { text: 'For sales press one, for our hours press two.' },
            options: {
              '1': { label: 'Sales', action: { type: 'phone', number: '+254711000001' } },
              '2': { label: 'Hours', action: { type: 'message', text: 'We are open from eight to five.' } },
            },
            on_timeout: { retries: 1, action: { type: 'hangup' } },
          },
        },
      },
    },
  ],
  prepare: (app, { body }, { tenant }) => checkIvr(app, tenant, ivrDocument(body)),
  handle: async (_app, tx, { body }, caller) => {
    const { tenant, receivedMs, nowMs } = caller
    await holdSwitchboard(tx, tenant)
    const document = ivrDocument(body)
    await requirePromptsOf(tx, tenant, document)
    const row = { ...tenant, id: newUuid(receivedMs), at: new Date(nowMs) }
    const made = await one(tx.query(insertIvr, { ...row, document: JSON.stringify(document) }))
    await requireFewer(tx, tenant, 'ivrs')
    await keep(tx, made, caller)
    return ivrRecord(made)
  },
})

const change = write({
  method: 'PATCH',
  path: '/v1/voice/ivr/:ivr_id',
  operation: 'callcenter.changeIvr',
  summary: 'Update an IVR',
  description:
    'Creates a new version; calls in progress keep theirs. Menus are replaced as a whole. Earlier versions can be restored.',
  scope: 'callcenter:write',
  params: IvrId,
  body: IvrChange,
  bodyLimitBytes: 1_024 * 1_024,
  reply: { status: 200, schema: IvrRecord },
  errors: ['NOT_FOUND', ...errors, 'CONFLICT'],
  prepare: async (app, { params, body }, { tenant }) => {
    const row = await maybe(app.db.query(findIvr, { ...tenant, id: ivrUuid(params.ivr_id) }))
    if (!row) throw noIvr()
    await checkIvr(app, tenant, changed(row.document, body))
  },
  handle: async (_app, tx, { params, body }, caller) => {
    const { tenant, nowMs } = caller
    const ivr = { ...tenant, id: ivrUuid(params.ivr_id) }
    await holdSwitchboard(tx, tenant)
    const row = await maybe(tx.query(lockIvr, ivr))
    if (!row) throw noIvr()
    const document = changed(row.document, body)
    // Recheck: the menus may have changed since they were read, and a prompt of theirs may be gone.
    const problem = ivrProblem(document)
    if (problem) throw invalid(problem.field, problem.problem)
    await requirePromptsOf(tx, tenant, document)
    const saved = await one(tx.query(saveIvr, { ...ivr, document: JSON.stringify(document), at: new Date(nowMs) }))
    await keep(tx, saved, caller)
    return ivrRecord(saved)
  },
})

const get = read({
  method: 'GET',
  path: '/v1/voice/ivr/:ivr_id',
  operation: 'callcenter.getIvr',
  summary: 'Get an IVR',
  scope: 'callcenter:read',
  params: IvrId,
  reply: { status: 200, schema: IvrRecord },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant }) => {
    const row = await maybe(app.db.query(findIvr, { ...tenant, id: ivrUuid(params.ivr_id) }))
    if (!row) throw noIvr()
    return ivrRecord(row)
  },
})

const listOwn = list({
  path: '/v1/voice/ivr',
  operation: 'callcenter.listIvrs',
  summary: 'List IVRs',
  scope: 'callcenter:read',
  query: Type.Object(listQuery),
  row: IvrRecord,
  examples: [{ name: 'All', query: {} }],
  handle: async (app, { query }, { tenant }) => {
    const rows = await app.db.query(listIvrs, tenant)
    return pageOfWhole({ limit: 50, ...query }, rows.map(ivrRecord), ({ ivr_id }) => ivr_id)
  },
})

const about = {
  version: Type.Integer({ description: 'Number of the version, from 1' }),
  saved_at: At({ description: 'Time of saving' }),
  saved_by: Nullable(
    Type.String({
      description:
        'Key or member that saved it, such as `key:key_…` or `member:mbr_…`; null for versions from before this was recorded',
    }),
  ),
  restored_from: Nullable(
    Type.Integer({ description: 'Version that this one restored; null if it was saved by a change' }),
  ),
  status: IvrRecord.properties.status,
}

const IvrVersionSummary = Type.Object(
  { ...about, menu_count: Type.Integer({ description: 'Number of its menus' }) },
  { title: 'IvrVersionSummary' },
)

const { name, language, entry, menus, variables, business_hours_id, closed } = IvrRecord.properties
const IvrVersion = Type.Object(
  { ...about, name, language, entry, menus, variables, business_hours_id, closed },
  { title: 'IvrVersion' },
)

function aboutVersion({ version, saved_at, saved_by, restored_from, status }: VersionSummary) {
  return { version, saved_at, saved_by, restored_from, status }
}

const VersionParam = Type.Object({
  ...IvrId.properties,
  version: Type.String({ description: 'Number of the version, such as 3' }),
})

/** Saved version of an IVR; refuses one that is not there, or no longer. */
async function versionWith(
  app: App,
  tenant: Tenant,
  { ivr_id, version }: Static<typeof VersionParam>,
): Promise<VersionRow> {
  const ivr = ivrUuid(ivr_id)
  const row = /^[1-9]\d{0,8}$/.test(version)
    ? await maybe(app.db.query(findVersion, { ...tenant, ivr, version: Number(version) }))
    : null
  if (!row) throw new AppError('NOT_FOUND', `there is no such version; the newest ${maxVersions} of an IVR are kept`)
  return row
}

const versions = list({
  path: '/v1/voice/ivr/:ivr_id/versions',
  operation: 'callcenter.listIvrVersions',
  summary: 'List versions of an IVR',
  description: `The newest ${maxVersions} versions, newest first.`,
  scope: 'callcenter:read',
  params: IvrId,
  query: Type.Object(listQuery),
  row: IvrVersionSummary,
  errors: ['NOT_FOUND'],
  handle: async (app, { params, query }, { tenant }) => {
    const ivr = ivrUuid(params.ivr_id)
    const rows = await app.db.query(listVersions, { ...tenant, ivr })
    if (rows.length === 0) throw noIvr()
    const summaries = rows.map((row) => ({ ...aboutVersion(row), menu_count: row.menu_count }))
    return pageOfWhole({ limit: 50, ...query }, summaries, ({ version }) => String(version))
  },
})

const getVersion = read({
  method: 'GET',
  path: '/v1/voice/ivr/:ivr_id/versions/:version',
  operation: 'callcenter.getIvrVersion',
  summary: 'Get a version of an IVR',
  scope: 'callcenter:read',
  params: VersionParam,
  reply: { status: 200, schema: IvrVersion },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant }) => {
    const row = await versionWith(app, tenant, params)
    const { menus, ...rest } = row.document
    return { ...rest, ...aboutVersion(row), menus: plainMenus(menus) }
  },
})

const restore = write({
  method: 'POST',
  path: '/v1/voice/ivr/:ivr_id/versions/:version/restore',
  operation: 'callcenter.restoreIvrVersion',
  summary: 'Restore a version of an IVR',
  description:
    'Saves a copy of an earlier version as the newest one; versions in between are kept. `status` is unchanged. Refused with VALIDATION_ERROR if the version refers to a queue, IVR, prompt or business hours that no longer exist.',
  scope: 'callcenter:write',
  params: VersionParam,
  reply: { status: 200, schema: IvrRecord },
  errors: ['NOT_FOUND', ...errors, 'CONFLICT'],
  prepare: async (app, { params }, { tenant }) =>
    checkIvr(app, tenant, (await versionWith(app, tenant, params)).document),
  handle: async (app, tx, { params }, caller) => {
    const { tenant, nowMs } = caller
    const ivr = { ...tenant, id: ivrUuid(params.ivr_id) }
    await holdSwitchboard(tx, tenant)
    const row = await maybe(tx.query(lockIvr, ivr))
    if (!row) throw noIvr()
    const { version, document } = await versionWith(app, tenant, params)
    await requirePromptsOf(tx, tenant, document)
    const restored = JSON.stringify({ ...document, status: row.document.status })
    const saved = await one(tx.query(saveIvr, { ...ivr, document: restored, at: new Date(nowMs) }))
    await keep(tx, saved, caller, version)
    return ivrRecord(saved)
  },
})

export const ivrRoutes: readonly Route[] = [create, change, get, listOwn, versions, getVersion, restore]
