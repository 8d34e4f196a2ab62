// SPDX-License-Identifier: Apache-2.0
// Routes of IVRs.
import { type Static, Type } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { list, type Route, read, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one } from '../../../platform/db.ts'
import { At, listQuery, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { pageOfWhole } from '../../../platform/schema/lists.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { requireDestination, requireHours } from '../checks.ts'
import {
  actionsOf,
  destinationIn,
  IvrChange,
  IvrCreate,
  type IvrDocument,
  ivrDocument,
  ivrProblem,
} from '../ivr/ivr.ts'
import { findIvr, type IvrRow, insertIvr, listIvrs, lockIvr, saveIvr } from '../ivr/store.ts'
import { requireFewer } from '../limits.ts'
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
  for (const [key, menu] of Object.entries(ivr.menus))
    for (const action of actionsOf(menu)) {
      const destination = destinationIn(action)
      if (destination) await requireDestination(app, tenant, `menus.${key}`, destination)
      if (action.webhook !== undefined)
        await app.outbound.checkUrl(action.webhook, 'callback', tenant.environment, `menus.${key}.webhook`)
    }
}

const errors = ['INVALID_URL', 'INVALID_PHONE', 'UNSUPPORTED_LANGUAGE'] as const

const create = write({
  method: 'POST',
  path: '/v1/voice/ivr',
  operation: 'callcenter.createIvr',
  summary: 'Create an IVR',
  description: 'At most 200 menus; every one must be reachable, and every choice must lead somewhere.',
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
  handle: async (_app, tx, { body }, { tenant, receivedMs, nowMs }) => {
    await holdSwitchboard(tx, tenant)
    const row = { ...tenant, id: newUuid(receivedMs), at: new Date(nowMs) }
    const made = await one(tx.query(insertIvr, { ...row, document: JSON.stringify(ivrDocument(body)) }))
    await requireFewer(tx, tenant, 'ivrs')
    return ivrRecord(made)
  },
})

const change = write({
  method: 'PATCH',
  path: '/v1/voice/ivr/:ivr_id',
  operation: 'callcenter.changeIvr',
  summary: 'Update an IVR',
  description: 'Creates a new version; calls in progress keep theirs. Menus are replaced as a whole.',
  scope: 'callcenter:write',
  params: IvrId,
  body: IvrChange,
  bodyLimitBytes: 1_024 * 1_024,
  reply: { status: 200, schema: IvrRecord },
  errors: ['NOT_FOUND', ...errors],
  prepare: async (app, { params, body }, { tenant }) => {
    const row = await maybe(app.db.query(findIvr, { ...tenant, id: ivrUuid(params.ivr_id) }))
    if (!row) throw noIvr()
    await checkIvr(app, tenant, { ...row.document, ...body })
  },
  handle: async (_app, tx, { params, body }, { tenant, nowMs }) => {
    const ivr = { ...tenant, id: ivrUuid(params.ivr_id) }
    const row = await maybe(tx.query(lockIvr, ivr))
    if (!row) throw noIvr()
    const document: IvrDocument = { ...row.document, ...body }
    // Recheck: the menus may have changed since they were read.
    const problem = ivrProblem(document)
    if (problem) throw invalid(problem.field, problem.problem)
    return ivrRecord(await one(tx.query(saveIvr, { ...ivr, document: JSON.stringify(document), at: new Date(nowMs) })))
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

export const ivrRoutes: readonly Route[] = [create, change, get, listOwn]
