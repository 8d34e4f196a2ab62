// SPDX-License-Identifier: Apache-2.0
// Routes of templates: create, list, change, delete, and decisions of an operator who hosts a channel.
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { bucketOf, idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import { IdParam, list, noContent, type Route, read, write, writeAcross } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one, type Queryable, type Tx } from '../../../platform/db.ts'
import { listQuery, OneOf } from '../../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { providerOf } from '../carriers/cloud-api.ts'
import { channelOf } from '../channels.ts'
import { decide, tellStatus } from './follow.ts'
import {
  addTemplate,
  changeTemplate,
  deleteTemplate as deleteRow,
  findTemplate,
  findTemplateByName,
  listTemplates as listRows,
  type TemplateRow,
} from './store.ts'
import {
  canBecome,
  checkComponents,
  sandboxVerdict,
  TemplateChange,
  TemplateCreate,
  type TemplateInput,
  TemplateRecord,
  type TemplateStatus,
  templateStatuses,
} from './template.ts'

interface Registered {
  readonly status: TemplateStatus
  readonly reason: string | null
  readonly providerId: string | null
}

/** Validates a template and, for a live key, registers it with the provider, before it is stored. */
export async function prepareTemplate(app: App, input: TemplateInput, { tenant }: Caller): Promise<Registered> {
  checkComponents(input.components)
  if (await findTemplateByName(app.db, tenant, input.name, input.language)) throw taken(input)
  if (tenant.environment === 'test') return { ...sandboxVerdict(input.name), providerId: null }
  const answer = await providerOf(app).createTemplate(await channelOf(app, tenant), input)
  if ('id' in answer) return { status: 'PENDING', reason: null, providerId: answer.id }
  throw notTaken(answer)
}

function notTaken({ problem, refused }: { problem: string; refused: boolean }): AppError {
  return refused
    ? new AppError('VALIDATION_ERROR', `the provider refuses the template: ${problem}`)
    : new AppError('PROVIDER_UNAVAILABLE', problem, { retryAfterSeconds: 5 })
}

export async function createTemplate(
  app: App,
  tx: Tx,
  input: TemplateInput,
  caller: Caller,
  { status, reason, providerId }: Registered,
): Promise<Static<typeof TemplateRecord>> {
  const { name, language, category, components } = input
  const { tenant, receivedMs, nowMs } = caller
  const id = newUuid(receivedMs)
  const row = await maybe(
    tx.query(addTemplate, {
      ...tenant,
      id,
      name,
      language,
      category,
      status,
      components: JSON.stringify(components),
      reason,
      providerId,
      at: new Date(nowMs),
    }),
  )
  if (!row) throw taken(input)
  await tellStatus(app, tx, row)
  await record(tx, caller, 'messenger_template.create', idOf('messengerTemplate', id))
  return recordOf(row)
}

function taken({ name, language }: TemplateInput): AppError {
  return new AppError('CONFLICT', `there is a template ${name} in ${language} already: change it, or use another name`)
}

const create = write({
  method: 'POST',
  path: '/v1/messenger/templates',
  operation: 'messenger.createTemplate',
  summary: 'Create a chat template',
  description: 'With a test key it is approved at once, unless its name ends in _pending or _reject.',
  scope: 'messenger:write',
  limit: 'messenger',
  body: TemplateCreate,
  reply: { status: 201, schema: TemplateRecord, location: ({ id }) => `/v1/messenger/templates/${id}` },
  errors: ['CONFLICT', 'PROVIDER_UNAVAILABLE'],
  examples: [
    {
      name: 'An order update',
      body: {
        name: 'order_update',
        language: 'en',
        category: 'UTILITY',
        components: [{ type: 'BODY', text: 'Hello {{1}}, your order {{2}} is on its way.' }],
      },
    },
  ],
  prepare: (app, { body }, caller) => prepareTemplate(app, body, caller),
  handle: (app, tx, { body }, caller, registered) => createTemplate(app, tx, body, caller, registered),
})

const listAll = list({
  path: '/v1/messenger/templates',
  operation: 'messenger.listTemplates',
  summary: 'List chat templates',
  scope: 'messenger:read',
  query: Type.Object({
    ...listQuery,
    name: Type.Optional(Type.String({ maxLength: 512, description: 'Name of the template; one row per language' })),
    status: Type.Optional(
      OneOf(templateStatuses, {
        description: '`PENDING` waits for the provider’s review; only an `APPROVED` one can be sent',
      }),
    ),
    language: Type.Optional(
      Type.String({
        maxLength: 15,
        description: 'Language code exactly as the template has it, such as `en` or `en_US`',
      }),
    ),
  }),
  row: TemplateRecord,
  examples: [{ name: 'Approved ones', query: { status: 'APPROVED' } }],
  async handle(app, { query }, { tenant }) {
    const window = windowOf(query)
    const { name = null, status = null, language = null } = query
    return pageOf(window, await app.db.query(listRows, { ...tenant, name, status, language, ...window }), recordOf)
  },
})

const get = read({
  method: 'GET',
  path: '/v1/messenger/templates/:id',
  operation: 'messenger.getTemplate',
  summary: 'Get a chat template',
  scope: 'messenger:read',
  params: IdParam,
  reply: { status: 200, schema: TemplateRecord },
  errors: ['NOT_FOUND'],
  handle: (app, { params }, { tenant }) => app.db.tx(tenant, async (tx) => recordOf(await find(tx, tenant, params.id))),
})

const change = write({
  method: 'PATCH',
  path: '/v1/messenger/templates/:id',
  operation: 'messenger.changeTemplate',
  summary: 'Update a chat template and submit it for approval',
  scope: 'messenger:write',
  limit: 'messenger',
  params: IdParam,
  body: TemplateChange,
  reply: { status: 200, schema: TemplateRecord },
  errors: ['NOT_FOUND', 'INVALID_STATE', 'PROVIDER_UNAVAILABLE'],
  needs: { operation: 'messenger.createTemplate', id: 'id' },
  examples: [
    { name: 'Another text', body: { components: [{ type: 'BODY', text: 'Hello {{1}}, your order {{2}} has left.' }] } },
  ],
  async prepare(app, { params, body }, { tenant }) {
    checkComponents(body.components)
    const { provider_id: id } = requireChangeable(await find(app.db, tenant, params.id))
    if (id === null) return
    const problem = await providerOf(app).changeTemplate(await channelOf(app, tenant), id, body.components)
    if (problem) throw notTaken(problem)
  },
  async handle(app, tx, { params, body }, caller) {
    const { tenant, nowMs } = caller
    const found = requireChangeable(await find(tx, tenant, params.id))
    const isTest = tenant.environment === 'test'
    const { status, reason } = isTest ? sandboxVerdict(found.name) : { status: 'PENDING' as const, reason: null }
    const changed = await one(
      tx.query(changeTemplate, {
        ...tenant,
        id: found.id,
        status,
        components: JSON.stringify(body.components),
        reason,
        providerId: null,
        at: new Date(nowMs),
      }),
    )
    await tellStatus(app, tx, changed)
    await record(tx, caller, 'messenger_template.change', params.id)
    return recordOf(changed)
  },
})

const remove = write({
  method: 'DELETE',
  path: '/v1/messenger/templates/:id',
  operation: 'messenger.deleteTemplate',
  summary: 'Delete a chat template',
  scope: 'messenger:write',
  limit: 'messenger',
  params: IdParam,
  reply: noContent,
  errors: ['NOT_FOUND', 'PROVIDER_UNAVAILABLE'],
  async prepare(app, { params }, { tenant }) {
    const { name, provider_id: id } = await find(app.db, tenant, params.id)
    if (id === null) return
    const problem = await providerOf(app).deleteTemplate(await channelOf(app, tenant), id, name)
    // A template unknown to the provider counts as deleted there.
    if (problem && !problem.refused) throw notTaken(problem)
  },
  async handle(_app, tx, { params }, caller) {
    const { id } = await find(tx, caller.tenant, params.id)
    await tx.query(deleteRow, { ...caller.tenant, id })
    await record(tx, caller, 'messenger_template.delete', params.id)
    return {}
  },
})

const Decision = Type.Object({
  account_id: Type.String({ maxLength: 64, description: 'Id of the account that owns the template' }),
  environment: Type.Optional(OneOf(['test', 'live'], { description: 'Environment of the template; default `live`' })),
  reason: Type.Optional(
    Type.String({
      maxLength: 500,
      description: 'Reason shown to the customer when it is rejected; default `REJECTED_BY_OPERATOR`',
    }),
  ),
})

const decision = (verb: 'approve' | 'reject', status: TemplateStatus, summary: string): Route =>
  writeAcross({
    method: 'POST',
    path: `/v1/messenger/templates/:id/${verb}`,
    operation: `messenger.${verb}Template`,
    summary,
    scope: 'operator',
    params: IdParam,
    body: Decision,
    reply: { status: 200, schema: TemplateRecord },
    errors: ['NOT_FOUND', 'INVALID_STATE'],
    async handle(app, tx, { params, body }, caller) {
      const account = uuidOf('account', body.account_id)
      if (!account) throw new AppError('NOT_FOUND', 'there is no account with this id')
      const tenant: Tenant = { bucket: bucketOf(account), account, environment: body.environment ?? 'live' }
      const found = await find(tx, tenant, params.id)
      const reason = status === 'REJECTED' ? (body.reason ?? 'REJECTED_BY_OPERATOR') : null
      const decided = await decide(app, tx, found, status, reason)
      if (!decided) throw new AppError('INVALID_STATE', `a template that is ${found.status} cannot become ${status}`)
      await record(tx, caller, `messenger_template.${verb}`, params.id)
      return recordOf(decided)
    },
  })

function requireChangeable(template: TemplateRow): TemplateRow {
  if (!canBecome(template.status, 'PENDING'))
    throw new AppError('INVALID_STATE', `a template that is ${template.status} cannot be changed`)
  return template
}

async function find(tx: Queryable, { bucket, account, environment }: Tenant, id: string): Promise<TemplateRow> {
  const uuid = uuidOf('messengerTemplate', id)
  const row = uuid && (await maybe(tx.query(findTemplate, { bucket, account, environment, id: uuid })))
  if (!row) throw new AppError('NOT_FOUND', 'there is no template with this id; ids of templates begin with tpl_')
  return row
}

function recordOf(row: TemplateRow): Static<typeof TemplateRecord> {
  const { name, language, category, status, components, rejected_reason, quality, created_at, updated_at } = row
  const id = idOf('messengerTemplate', row.id)
  return { id, name, language, category, status, components, rejected_reason, quality, created_at, updated_at }
}

export const templateRoutes: readonly Route[] = [
  create,
  listAll,
  get,
  change,
  remove,
  decision('approve', 'APPROVED', 'Approve a chat template'),
  decision('reject', 'REJECTED', 'Reject a chat template'),
]
