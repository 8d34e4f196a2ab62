// SPDX-License-Identifier: Apache-2.0
// Keys of accounts as the operator sees them. The operator also gives keys: above all the first live one, which no test key
// can make in production.
import { Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { uuidOf } from '../../kernel/ids.ts'
import { record } from '../../platform/api/audit.ts'
import { IdParam, type Route, read, writeAcross } from '../../platform/api/route.ts'
import { maybe, one, type Queryable } from '../../platform/db.ts'
import { EnvironmentName, Nullable } from '../../platform/schema/fields.ts'
import { requireAccount } from './account.ts'
import { checkedRanges, grantable } from './key.ts'
import { forget, futureMoment, mannersOf, storeNewKey } from './keys.ts'
import { KeyCreate, KeyRecord, NewKeyRecord } from './schema.ts'
import { findAnyKey, type KeyRow, keyOf, lockAnyKey, updateKey } from './store.ts'

/** The operator gives what the customer may do, and nothing of the operator's. */
const everything: ReadonlySet<string> = new Set(['*'])

const createKeyFor = writeAcross({
  method: 'POST',
  path: '/v1/operator/accounts/:id/api-keys',
  operation: 'operator.createApiKey',
  summary: 'Create an API key for an account',
  scope: 'operator',
  params: IdParam,
  body: Type.Object({
    ...KeyCreate.properties,
    environment: EnvironmentName({
      description: 'Environment of the key; `test` moves no real money and reaches no real phone',
    }),
  }),
  reply: { status: 201, schema: NewKeyRecord, location: ({ id }) => `/v1/operator/api-keys/${id}` },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
  examples: [{ name: 'A live key', body: { name: 'Checkout server', environment: 'live' } }],
  handle: async (app, tx, { params, body }, caller) => {
    const account = await requireAccount(tx, params.id)
    const made = await storeNewKey(app, tx, {
      account: account.id,
      environment: body.environment,
      name: body.name,
      scopes: grantable(body.scopes, everything),
      createdBy: caller.actor,
      expiresAt: futureMoment(body.expires_at, caller.receivedMs),
      allowedIps: checkedRanges(body.allowed_ips ?? []),
      ...mannersOf(body),
    })
    const { name, environment, scopes } = made
    await record(tx, caller, 'apikey.create', made.id, { after: { account: params.id, name, environment, scopes } })
    return made
  },
})

const getKeyOfAny = read({
  method: 'GET',
  path: '/v1/operator/api-keys/:id',
  operation: 'operator.getApiKey',
  summary: 'Get a key of any account',
  scope: 'operator',
  params: IdParam,
  reply: { status: 200, schema: KeyRecord },
  errors: ['NOT_FOUND'],
  needs: { operation: 'auth.whoami', id: 'key_id' },
  handle: async ({ db }, { params }, caller) => keyOf(await keyRow(db, findAnyKey, params.id), caller.receivedMs),
})

const limitKey = writeAcross({
  method: 'PATCH',
  path: '/v1/operator/api-keys/:id',
  operation: 'operator.updateApiKey',
  summary: 'Set the rate limit of an API key',
  scope: 'operator',
  params: IdParam,
  body: Type.Object({
    rate_limit_per_second: Nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 }), {
      rule: 'must be 1 to 1000000, or null for the default of 100',
      description: 'Requests per second, independent of the plan’s limits per minute',
    }),
  }),
  reply: { status: 200, schema: KeyRecord },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
  examples: [{ name: 'A higher rate limit', body: { rate_limit_per_second: 500 } }],
  needs: { operation: 'auth.whoami', id: 'key_id' },
  handle: async (app, tx, { params, body }, caller) => {
    const row = await keyRow(tx, lockAnyKey, params.id)
    const { id, name, scopes, expires_at: expiresAt, allowed_ips: allowedIps, account_id: account } = row
    const kept = { id, account, name, scopes, expiresAt, allowedIps, ...mannersOf(row) }
    const changed = await one(tx.query(updateKey, { ...kept, rateLimit: body.rate_limit_per_second }))
    await record(tx, caller, 'apikey.limit', params.id, {
      before: { rate_limit_per_second: row.rate_limit_per_second },
      after: body,
    })
    await forget(app, tx, account)
    return keyOf(changed, caller.receivedMs)
  },
})

async function keyRow(queryable: Queryable, by: typeof findAnyKey, id: string): Promise<KeyRow> {
  const uuid = uuidOf('apiKey', id)
  const row = uuid && (await maybe(queryable.query(by, { id: uuid })))
  if (!row) throw new AppError('NOT_FOUND', 'there is no such key; key ids begin with key_')
  return row
}

export const operatorKeyRoutes: readonly Route[] = [createKeyFor, getKeyOfAny, limitKey]
