// SPDX-License-Identifier: Apache-2.0
// Routes of an account's own affairs: who am I, tokens, the account, its keys, usage, limits and logs.
import { Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { idOf, nilUuid, timeOfUuid, uuidOf } from '../../kernel/ids.ts'
import { auditEntries } from '../../platform/api/audit.ts'
import { IdParam, list, type Route, read, writeAcross } from '../../platform/api/route.ts'
import { findRequest, type LoggedRequest, listRequests } from '../../platform/http/logged-requests.ts'
import { Deleted, EnvironmentName, listQuery } from '../../platform/schema/fields.ts'
import { idBounds, pageOf, windowOf } from '../../platform/schema/lists.ts'
import { changeAccount, currentAccount } from './account.ts'
import { actorNames, type Maker, makersOf } from './actors.ts'
import { changeKey, createKey, deleteKey, getKey, prepareKey, prepareRotation, rotateKey } from './keys.ts'
import {
  AccountRecord,
  AccountUpdate,
  AuditQuery,
  AuditRecord,
  KeyCreate,
  KeyRecord,
  KeyRotate,
  KeyUpdate,
  LimitsReply,
  LogQuery,
  LogRecord,
  NewKeyRecord,
  TokenReply,
  TokenRequest,
  UsageQuery,
  UsageReply,
  WhoAmI,
} from './schema.ts'
import { keyOf, listKeys } from './store.ts'
import { issueToken } from './token.ts'
import { limitsOf, usage } from './usage.ts'

const whoAmI = read({
  method: 'GET',
  path: '/v1/auth/whoami',
  operation: 'auth.whoami',
  summary: 'Get the account, environment and scopes of a credential',
  description: 'Accepts any credential and changes nothing: a good first request.',
  scope: 'any',
  reply: { status: 200, schema: WhoAmI },
  examples: [{ name: 'The calling credential' }],
  handle: async (_app, _input, { principal }) => ({
    account_id: principal.accountId,
    environment: principal.tenant.environment,
    key_id: principal.keyId,
    scopes: [...principal.scopes],
    plan: principal.facts.plan,
  }),
})

const createToken = read({
  method: 'POST',
  path: '/v1/auth/token',
  operation: 'auth.token',
  summary: 'Create a short-lived access token',
  description:
    'OAuth 2 client credentials are accepted as a form too: `client_id` is the key id and `client_secret` the key.',
  scope: 'any',
  form: true,
  keyInForm: true,
  body: TokenRequest,
  reply: { status: 200, schema: TokenReply },
  errors: ['VALIDATION_ERROR'],
  examples: [
    { name: 'A token for reading messages only', body: { scope: 'sms:read', expires_in: 600, subject: 'dashboard' } },
  ],
  handle: (app, { body }, caller) => issueToken(app, body, caller),
})

const getAccount = read({
  method: 'GET',
  path: '/v1/account',
  operation: 'account.get',
  summary: 'Get your account',
  scope: 'account:read',
  reply: { status: 200, schema: AccountRecord },
  examples: [{ name: 'Your account' }],
  handle: (app, _input, caller) => currentAccount(app.db, caller),
})

const updateAccount = writeAcross({
  method: 'PATCH',
  path: '/v1/account',
  operation: 'account.update',
  summary: 'Update your account’s name, time zone or settings',
  description: 'Null unsets a setting.',
  scope: 'account:write',
  body: AccountUpdate,
  reply: { status: 200, schema: AccountRecord },
  errors: ['VALIDATION_ERROR', 'INVALID_URL'],
  examples: [
    { name: 'Set a default sender', body: { timezone: 'Africa/Nairobi', settings: { default_sender: 'ACME' } } },
  ],
  prepare: async (app, { body }, { tenant }) => {
    const url = body.settings?.email_webhook_url ?? null
    if (url !== null) await app.outbound.checkUrl(url, 'webhook', tenant.environment, 'settings.email_webhook_url')
  },
  handle: (app, tx, { body }, caller) => changeAccount(app, tx, body, caller),
})

const listApiKeys = list({
  path: '/v1/api-keys',
  operation: 'apiKeys.list',
  summary: 'List your API keys',
  scope: 'keys:read',
  query: Type.Object({
    ...listQuery,
    environment: Type.Optional(
      EnvironmentName({
        description: 'Filter by environment; default both. A test credential sees test keys only',
      }),
    ),
  }),
  row: KeyRecord,
  examples: [{ name: 'The newest keys', query: { limit: 10 } }],
  handle: async ({ db }, { query }, caller) => {
    const window = windowOf(query)
    const { account, environment: own } = caller.tenant
    // Test credentials see test things only, so that to them there is no live key.
    if (own === 'test' && query.environment === 'live') return pageOf(window, [], (row: never) => row)
    const environment = own === 'test' ? own : (query.environment ?? null)
    const rows = await db.query(listKeys, { account, environment, ...window })
    return pageOf(window, rows, (row) => keyOf(row, caller.receivedMs))
  },
})

const createApiKey = writeAcross({
  method: 'POST',
  path: '/v1/api-keys',
  operation: 'apiKeys.create',
  summary: 'Create an API key',
  description:
    'The key is shown only in this reply. A key cannot grant scopes that it lacks; in production a test key cannot create a live key.',
  scope: 'keys:write',
  body: KeyCreate,
  reply: { status: 201, schema: NewKeyRecord, location: ({ id }) => `/v1/api-keys/${id}` },
  errors: ['VALIDATION_ERROR', 'FORBIDDEN'],
  examples: [
    { name: 'A key for sending only', body: { name: 'Checkout server', scopes: ['sms:write', 'wallet:read'] } },
  ],
  prepare: (app, { body }, caller) => prepareKey(app, body, caller),
  handle: (app, tx, { body }, caller, doorKey) => createKey(app, tx, body, caller, doorKey),
})

const getApiKey = read({
  method: 'GET',
  path: '/v1/api-keys/:id',
  operation: 'apiKeys.get',
  summary: 'Get an API key',
  scope: 'keys:read',
  params: IdParam,
  reply: { status: 200, schema: KeyRecord },
  errors: ['NOT_FOUND'],
  handle: (app, { params }, caller) => getKey(app.db, params.id, caller),
})

const updateApiKey = writeAcross({
  method: 'PATCH',
  path: '/v1/api-keys/:id',
  operation: 'apiKeys.update',
  summary: 'Update an API key’s name, scopes or addresses',
  scope: 'keys:write',
  params: IdParam,
  body: KeyUpdate,
  reply: { status: 200, schema: KeyRecord },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR', 'CONFLICT'],
  examples: [{ name: 'Restrict the key to an office network', body: { allowed_ips: ['127.0.0.0/8', '::1'] } }],
  handle: (app, tx, { params, body }, caller) => changeKey(app, tx, params.id, body, caller),
})

const deleteApiKey = writeAcross({
  method: 'DELETE',
  path: '/v1/api-keys/:id',
  operation: 'apiKeys.revoke',
  summary: 'Revoke an API key',
  scope: 'keys:write',
  params: IdParam,
  reply: { status: 200, schema: Deleted },
  errors: ['NOT_FOUND'],
  handle: (app, tx, { params }, caller) => deleteKey(app, tx, params.id, caller),
})

const rotateApiKey = writeAcross({
  method: 'POST',
  path: '/v1/api-keys/:id/rotate',
  operation: 'apiKeys.rotate',
  summary: 'Rotate an API key',
  description: 'The new key has the permissions of the old one. It is shown only in this reply.',
  scope: 'keys:write',
  params: IdParam,
  body: KeyRotate,
  reply: { status: 201, schema: NewKeyRecord, location: ({ id }) => `/v1/api-keys/${id}` },
  errors: ['NOT_FOUND', 'CONFLICT', 'FORBIDDEN'],
  examples: [{ name: 'A grace period of one hour', body: { grace_period: 3600 } }],
  prepare: (app, { params }, caller) => prepareRotation(app, params.id, caller),
  handle: (app, tx, { params, body }, caller, doorKey) => rotateKey(app, tx, params.id, body, caller, doorKey),
})

const getUsage = read({
  method: 'GET',
  path: '/v1/usage',
  operation: 'usage.get',
  summary: 'Get requests and cost by day and area',
  description:
    '`rows` counts requests, `spend` their cost; both are grouped by `group_by`. By country at most 92 days. Includes the current state of the limits.',
  scope: 'account:read',
  query: UsageQuery,
  reply: { status: 200, schema: UsageReply },
  errors: ['INVALID_DATE_RANGE'],
  examples: [{ name: 'By day and area', query: { group_by: ['day', 'area'] } }],
  handle: (app, { query }, caller) => usage(app, query, caller),
})

const getLimits = read({
  method: 'GET',
  path: '/v1/limits',
  operation: 'limits.get',
  summary: 'Get rate limits and remaining requests',
  scope: 'account:read',
  reply: { status: 200, schema: LimitsReply },
  examples: [{ name: 'Remaining requests' }],
  handle: (app, _input, caller) => limitsOf(app, caller),
})

const listLogs = list({
  path: '/v1/logs',
  operation: 'logs.list',
  summary: 'List API requests',
  description: 'Kept for 7 days in test and 30 days in live. Secrets and message texts are masked.',
  scope: 'logs:read',
  query: LogQuery,
  row: LogRecord,
  errors: ['INVALID_DATE_RANGE'],
  examples: [{ name: 'Refused requests', query: { status: 422, limit: 20 } }],
  handle: async ({ db, requestLog }, { query }, { tenant }) => {
    const window = windowOf(query)
    await requestLog.flush()
    const rows = await listRequests(db, tenant, window, {
      ...idBounds(query),
      status: query.status ?? null,
      operation: query.operation ?? null,
      method: query.method ?? null,
      key: query.key_id === undefined ? null : (uuidOf('apiKey', query.key_id) ?? nilUuid),
    })
    const makerOf = await makersOf(
      db,
      tenant.account,
      rows.map(({ key_id }) => key_id),
    )
    return pageOf(window, rows, (row) => logRecord(row, makerOf(row.key_id)))
  },
})

const getLog = read({
  method: 'GET',
  path: '/v1/logs/:request_id',
  operation: 'logs.get',
  summary: 'Get an API request',
  scope: 'logs:read',
  params: Type.Object({ request_id: Type.String({ description: 'X-Request-Id of the response' }) }),
  reply: { status: 200, schema: LogRecord },
  errors: ['NOT_FOUND'],
  needs: { operation: 'logs.list', id: 'data.0.request_id' },
  handle: async ({ db, requestLog }, { params }, { tenant }) => {
    const uuid = uuidOf('request', params.request_id)
    // The latest lines may still be buffered; a reader should find them.
    await requestLog.flush()
    const found = uuid && (await findRequest(db, tenant, uuid))
    if (!found)
      throw new AppError('NOT_FOUND', 'there is no such request, or it is past retention; request ids begin with req_')
    return logRecord(found, (await makersOf(db, tenant.account, [found.key_id]))(found.key_id))
  },
})

const listAuditLog = list({
  path: '/v1/audit-log',
  operation: 'auditLog.list',
  summary: 'List audit log entries',
  scope: 'account:read',
  query: AuditQuery,
  row: AuditRecord,
  errors: ['INVALID_DATE_RANGE'],
  examples: [{ name: 'Changes to keys', query: { action: 'apikey.create' } }],
  handle: async ({ db }, { query }, { tenant }) => {
    const window = windowOf(query)
    const filter = { ...idBounds(query), action: query.action ?? null, target: query.target ?? null }
    const entries = (await auditEntries(db, tenant, window, filter)).map(({ actor: who, ...entry }) => {
      const [type = '', ...rest] = who.split(':')
      return { ...entry, actor: { type, id: rest.join(':') } }
    })
    const names = await actorNames(
      db,
      tenant.account,
      entries.map(({ actor }) => actor),
    )
    return pageOf(window, entries, ({ id, actor, ...entry }) => ({
      ...{ id: idOf('audit', id), at: timeOfUuid(id) },
      ...{ actor: { ...actor, name: names.get(actor.id) ?? null }, ...entry },
    }))
  },
})

function logRecord({ id, key_id: _, duration_us, ...row }: LoggedRequest, maker: Maker) {
  return {
    request_id: idOf('request', id),
    at: timeOfUuid(id),
    duration_ms: duration_us / 1000,
    ...maker,
    ...row,
  }
}

export const routes: readonly Route[] = [
  whoAmI,
  createToken,
  getAccount,
  updateAccount,
  listApiKeys,
  createApiKey,
  getApiKey,
  updateApiKey,
  deleteApiKey,
  rotateApiKey,
  getUsage,
  getLimits,
  listLogs,
  getLog,
  listAuditLog,
]
