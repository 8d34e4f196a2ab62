// SPDX-License-Identifier: Apache-2.0
// Payers of the sandbox that wait for a PIN instead of deciding by their number, per account. Cached until an account
// changes it.
import type { App } from '../../../platform/app.ts'
import { maybe, type Queryable, statement, type Tx } from '../../../platform/db.ts'
import { ToldCache } from '../../../platform/nodes/told-cache.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Tenant } from '../../../platform/tenant.ts'

export const everybody = '*'
/** Accounts that a node remembers; a test installation has fewer. */
const maxAccounts = 10_000
const goodForMs = 60_000
/** Topic of the signal that an account changed its list. */
const changed = 'payers'

const find = statement.tenant<{ bucket: number; account: string }, { by_hand: string[] }>(
  'payments.find_sandbox_payers',
  'select by_hand from payments.sandbox_payers where bucket = $bucket and account_id = $account',
)

const put = statement.tenant<{ bucket: number; account: string; byHand: readonly string[] }, object>(
  'payments.put_sandbox_payers',
  `insert into payments.sandbox_payers (bucket, account_id, by_hand) values ($bucket, $account, $byHand)
   on conflict (bucket, account_id) do update set by_hand = excluded.by_hand`,
)

const known = onePerApp((app) => {
  const lists = new ToldCache<readonly string[]>(app.signals, { most: maxAccounts, goodForMs })
  app.signals.on('payments', (what) => {
    if (what === changed) lists.forgetAll()
  })
  return lists
})

/** Whether a payer's prompt waits for an answer by hand; never in live. */
export async function answersByHand(app: App, tenant: Tenant, phone: string): Promise<boolean> {
  if (tenant.environment !== 'test') return false
  const numbers = await known(app).of(tenant.account, () => read(app, tenant))
  return numbers.includes(phone) || numbers.includes(everybody)
}

/** On a connection of its own: payments ask inside their transactions, and may hold all others while they wait for this. */
async function read({ db }: App, { bucket, account }: Tenant): Promise<readonly string[]> {
  return (await maybe(db.queryBeside(find, { bucket, account })))?.by_hand ?? []
}

export async function readByHand(db: Queryable, { bucket, account }: Tenant): Promise<readonly string[]> {
  return (await maybe(db.query(find, { bucket, account })))?.by_hand ?? []
}

export async function keepByHand(
  app: App,
  tx: Tx,
  { bucket, account }: Tenant,
  byHand: readonly string[],
): Promise<void> {
  await tx.query(put, { bucket, account, byHand })
  await app.signals.send(tx, 'payments', changed)
  // This node obeys at once, without waiting to hear of it.
  tx.afterCommit(() => known(app).forgetAll())
}
