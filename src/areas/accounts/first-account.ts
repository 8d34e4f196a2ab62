// SPDX-License-Identifier: Apache-2.0
// First start: an account for the operator, with a test key that may do everything, an operator key, and enough play
// money to try things out. Made once; later starts find it.
import { ConfigError } from '../../config.ts'
import { idOf } from '../../kernel/ids.ts'
import type { App } from '../../platform/app.ts'
import { hashOf } from '../../platform/auth.ts'
import { maybe, type Tx } from '../../platform/db.ts'
import { openAccount } from './account.ts'
import { type KeyToStore, storeNewKey } from './keys.ts'
import { keepOwner, type SignIn } from './members/first-member.ts'
import { givePlayMoney } from './play-money.ts'
import { type AccountRow, factsByHash, firstOperator, lockAccounts } from './store.ts'

type Means = Pick<App, 'db' | 'clock'>

export interface FirstAccount {
  accountId: string
  testKey: string
  operatorKey: string
}

/** Finds or makes the first account, and makes a pair of keys for it: a key can only be shown when it is made. */
export async function firstAccount(app: Means, fixedTestKey: string | null): Promise<FirstAccount> {
  return app.db.acrossTx(async (tx) => {
    const row = await operatorAccount(app, tx, 'Demo')
    const testKey = fixedTestKey ? await keepKey(app, tx, row, fixedTestKey) : await newTestKey(app, tx, row)
    await givePlayMoney(app, tx, row, 'KES')
    return { accountId: idOf('account', row.id), testKey, operatorKey: await newOperatorKey(app, tx, row) }
  })
}

/** An operator key alone, for installations that make nothing up. */
export async function operatorKey(app: Means): Promise<{ accountId: string; key: string }> {
  return app.db.acrossTx(async (tx) => {
    const row = await operatorAccount(app, tx, 'Operator')
    return { accountId: idOf('account', row.id), key: await newOperatorKey(app, tx, row) }
  })
}

/**
 * Sets a new password of a member of the operator's account, creating the member if needed: the way in, in production.
 */
export async function ownerOfOperator(app: Means, email: string): Promise<SignIn> {
  const row = await app.db.acrossTx((tx) => operatorAccount(app, tx, 'Operator'))
  return keepOwner(app, row.id, email.toLowerCase())
}

async function operatorAccount(app: Means, tx: Tx, name: string): Promise<AccountRow> {
  await tx.query(lockAccounts, {})
  const found = await maybe(tx.query(firstOperator, {}))
  return found ?? openAccount(app, tx, { name, country: 'KE', currency: 'KES', plan: 'enterprise', operator: true })
}

/** A key that was fixed by the operator may have been stored by an earlier start. */
async function keepKey(app: Means, tx: Tx, row: AccountRow, key: string): Promise<string> {
  const known = await maybe(tx.query(factsByHash, { hash: hashOf(key) }))
  if (!known) return newTestKey(app, tx, row, key)
  if (known.account_id !== row.id || known.revoked_at !== null)
    throw new ConfigError('PAMOJA_TEST_API_KEY was revoked, or belongs to another account: choose another key.')
  return key
}

async function newTestKey(app: Means, tx: Tx, row: AccountRow, key?: string): Promise<string> {
  const wanted = { ...ownKey(row), name: 'Demo test key', scopes: ['*'], ...(key ? { key } : {}) }
  return (await storeNewKey(app, tx, wanted)).key
}

async function newOperatorKey(app: Means, tx: Tx, row: AccountRow): Promise<string> {
  return (
    await storeNewKey(app, tx, { ...ownKey(row), environment: 'live', name: 'Operator key', scopes: ['*', 'operator'] })
  ).key
}

function ownKey(row: AccountRow): Omit<KeyToStore, 'name' | 'scopes'> {
  return { account: row.id, environment: 'test', createdBy: 'system:first-start', expiresAt: null, allowedIps: [] }
}
