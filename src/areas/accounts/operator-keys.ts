// SPDX-License-Identifier: Apache-2.0
// Keys that the operator gives to an account: above all its first live key, which no test key can make in production.
import { Type } from 'typebox'
import { record } from '../../platform/audit.ts'
import { maybe } from '../../platform/db.ts'
import { IdParam, type Route, write } from '../../platform/route.ts'
import { EnvironmentName } from '../../platform/schema.ts'
import { accountUuid, noSuchAccount } from './account.ts'
import { checkedRanges, grantable } from './key.ts'
import { futureMoment, storeNewKey } from './keys.ts'
import { KeyCreate, NewKeyRecord } from './schema.ts'
import { findAccount } from './store.ts'

/** The operator gives what the customer may do, and nothing of the operator's. */
const everything: ReadonlySet<string> = new Set(['*'])

const createKeyFor = write({
  method: 'POST',
  path: '/v1/operator/accounts/:id/api-keys',
  operation: 'operator.createApiKey',
  summary: 'Make a key for an account, such as its first live key',
  scope: 'operator',
  params: IdParam,
  body: Type.Object({ ...KeyCreate.properties, environment: EnvironmentName() }),
  reply: { status: 201, schema: NewKeyRecord, location: ({ id }) => `/v1/api-keys/${id}` },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
  examples: [{ name: 'The first live key', body: { name: 'Checkout server', environment: 'live' } }],
  handle: async (app, tx, { params, body }, caller) => {
    const account = await maybe(tx.query(findAccount, { id: accountUuid(params.id) }))
    if (!account) throw noSuchAccount()
    const made = await storeNewKey(app, tx, {
      account: account.id,
      environment: body.environment,
      name: body.name,
      scopes: grantable(body.scopes, everything),
      createdBy: caller.actor,
      expiresAt: futureMoment(body.expires_at, caller.receivedMs),
      allowedIps: checkedRanges(body.allowed_ips ?? []),
    })
    const { name, environment, scopes } = made
    await record(tx, caller, 'apikey.create', made.id, { after: { account: params.id, name, environment, scopes } })
    return made
  },
})

export const operatorKeyRoutes: readonly Route[] = [createKeyFor]
