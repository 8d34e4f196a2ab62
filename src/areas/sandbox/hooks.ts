// SPDX-License-Identifier: Apache-2.0
// Hooks: addresses that catch what is sent to them, so that webhooks can be tried out without a server of one's own.
import { randomBytes } from 'node:crypto'
import { Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { buckets, firstUuidAt, idOf, newUuid, timeOfUuid, uuidOf } from '../../kernel/ids.ts'
import { dayMs } from '../../kernel/time.ts'
import { record } from '../../platform/api/audit.ts'
import { IdParam, list, type Route, read, write } from '../../platform/api/route.ts'
import type { App } from '../../platform/app.ts'
import { maybe, one, type Queryable } from '../../platform/db.ts'
import type { Chore } from '../../platform/nodes/maintenance.ts'
import { At, listQuery, Nullable } from '../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../platform/schema/lists.ts'
import type { Tenant } from '../../platform/tenant.ts'
import {
  type CaughtRow,
  countHooks,
  deleteHook,
  findHook,
  type HookRow,
  insertHook,
  listCaught,
  listHooks,
  purgeCaught,
} from './store.ts'

const maxHooks = 100
/** Token size: 144 bits cannot be guessed. */
const tokenBytes = 18

const HookCreate = Type.Object({
  secret: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      rule: 'must have 1 to 200 characters',
      sensitive: true,
      description: 'Secret for checking signatures; default: the secrets of webhooks with this URL',
    }),
  ),
})

const HookRecord = Type.Object(
  {
    id: Type.String({ description: 'Id of the hook, such as `hook_…`' }),
    url: Type.String({ description: 'URL for all methods; its query sets the response' }),
    caught: Type.Integer({ description: 'Number of requests so far' }),
    created_at: At({ description: 'Time of creation' }),
  },
  { title: 'SandboxHook' },
)

const CaughtRecord = Type.Object(
  {
    id: Type.String({ description: 'Id of the request, such as `hkr_…`' }),
    method: Type.String({ description: 'HTTP method, such as `POST`' }),
    query: Type.String({ description: 'Query of the URL, which sets the response' }),
    headers: Type.Record(Type.String(), Type.String(), { description: 'Headers of the request' }),
    body: Type.String({ description: 'Body, at most 64 KiB of it' }),
    truncated: Type.Boolean({ description: 'True if the body was truncated' }),
    signature_valid: Nullable(Type.Boolean(), {
      description: 'True if X-Service-Signature is valid; null without a signature, or without a secret to check it',
    }),
    response_status: Nullable(
      Type.Integer({ description: 'Status of the answer; null when the connection was closed' }),
    ),
    received_at: At({ description: 'Time of the request' }),
  },
  { title: 'SandboxHookRequest' },
)

const createHook = write({
  method: 'POST',
  path: '/v1/sandbox/hooks',
  operation: 'sandbox.createHook',
  summary: 'Create a sandbox hook',
  description:
    'Creates a URL that records requests. Its query sets the response: `?status=500`, `?delay=6000` (milliseconds, at most 10 s), `?fail=3` (500 to the first three with this query), `?close=1` (connection closed), `?redirect=https://...` (302). It needs no key: the URL is the secret. The last 1,000 requests are kept for a day.',
  scope: 'sandbox:write',
  body: HookCreate,
  reply: { status: 201, schema: HookRecord, location: ({ id }) => `/v1/sandbox/hooks/${id}` },
  errors: ['CONFLICT'],
  examples: [{ name: 'A hook', body: {} }],
  handle: async (app, tx, { body }, caller) => {
    const { tenant } = caller
    const { count } = await one(tx.query(countHooks, tenant))
    if (count >= maxHooks) throw new AppError('CONFLICT', `the account has ${maxHooks} hooks already: delete one first`)
    const row = { id: newUuid(caller.receivedMs), token: randomBytes(tokenBytes).toString('base64url'), caught: 0 }
    const secret = body.secret === undefined ? null : await app.secrets.seal(tenant, secretPlace(row.id), body.secret)
    await tx.query(insertHook, { ...tenant, id: row.id, token: row.token, secret })
    const made = hookOf(app, row)
    await record(tx, caller, 'sandbox.create_hook', made.id, {})
    return made
  },
})

const hooksList = list({
  path: '/v1/sandbox/hooks',
  operation: 'sandbox.listHooks',
  summary: 'List sandbox hooks',
  scope: 'sandbox:read',
  query: Type.Object(listQuery),
  row: HookRecord,
  examples: [{ name: 'All of them' }],
  handle: async (app, { query }, { tenant }) => {
    const window = windowOf(query)
    return pageOf(window, await app.db.query(listHooks, { ...tenant, ...window }), (row) => hookOf(app, row))
  },
})

const getHook = read({
  method: 'GET',
  path: '/v1/sandbox/hooks/:id',
  operation: 'sandbox.getHook',
  summary: 'Get a sandbox hook',
  scope: 'sandbox:read',
  params: IdParam,
  reply: { status: 200, schema: HookRecord },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant }) => hookOf(app, await existing(app.db, tenant, params.id)),
})

const removeHook = write({
  method: 'DELETE',
  path: '/v1/sandbox/hooks/:id',
  operation: 'sandbox.deleteHook',
  summary: 'Delete a sandbox hook',
  scope: 'sandbox:write',
  params: IdParam,
  reply: {
    status: 200,
    schema: Type.Object({
      id: Type.String({ description: 'Id of the hook' }),
      deleted: Type.Boolean({ description: 'Always true' }),
    }),
  },
  errors: ['NOT_FOUND'],
  handle: async (_app, tx, { params }, caller) => {
    const { id } = await existing(tx, caller.tenant, params.id)
    await tx.query(deleteHook, { ...caller.tenant, id })
    await record(tx, caller, 'sandbox.delete_hook', params.id, {})
    return { id: idOf('hook', id), deleted: true }
  },
})

const caughtList = list({
  path: '/v1/sandbox/hooks/:id/requests',
  operation: 'sandbox.listHookRequests',
  summary: 'List the requests of a sandbox hook',
  scope: 'sandbox:read',
  params: IdParam,
  query: Type.Object(listQuery),
  row: CaughtRecord,
  errors: ['NOT_FOUND'],
  handle: async ({ db }, { params, query }, { tenant }) => {
    const { id } = await existing(db, tenant, params.id)
    const window = windowOf(query)
    return pageOf(window, await db.query(listCaught, { ...tenant, ...window, hook: id }), caughtOf)
  },
})

export const hookRoutes: readonly Route[] = [createHook, hooksList, getHook, removeHook, caughtList]

export const hookChores: readonly Chore[] = [
  {
    name: 'sandbox hooks',
    run: async ({ db, clock }) => {
      await db.query(purgeCaught, { buckets, before: firstUuidAt(clock.nowMs() - dayMs) })
    },
  },
]

export function hookUrl({ publicUrl }: Pick<App, 'publicUrl'>, token: string): string {
  return `${publicUrl}/h/${token}`
}

export function secretPlace(hook: string): string {
  return `sandbox.hooks.secret:${hook}`
}

async function existing(queryable: Queryable, tenant: Tenant, id: string): Promise<HookRow> {
  const uuid = uuidOf('hook', id)
  const row = uuid && (await maybe(queryable.query(findHook, { ...tenant, id: uuid })))
  if (!row) throw new AppError('NOT_FOUND', 'there is no such hook; hook ids begin with hook_')
  return row
}

function hookOf(app: App, { id, token, caught }: HookRow) {
  return { id: idOf('hook', id), url: hookUrl(app, token), caught, created_at: timeOfUuid(id) }
}

function caughtOf({ id, ...row }: CaughtRow) {
  return { id: idOf('hookRequest', id), ...row, received_at: timeOfUuid(id) }
}
