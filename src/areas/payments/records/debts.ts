// SPDX-License-Identifier: Apache-2.0
// Debts that lost disputes leave: they are taken from what is in the wallet before anything is paid out or refunded.
import { idOf } from '../../../kernel/ids.ts'
import { least } from '../../../kernel/money.ts'
import { currencyOf } from '../../../ledger/currencies.ts'
import { lockAvailable, post } from '../../../ledger/wallets.ts'
import type { App } from '../../../platform/app.ts'
import { statement, type Tx } from '../../../platform/db.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'

/** Ledger account of debts from lost disputes that wallets did not cover. */
export const owedAccount = 'receivable:disputes'

const lockDebts = statement.tenant<Tenant, { id: string; owed: bigint; currency: string }>(
  'payments.lock_debts',
  `select id, owed, currency from payments.disputes where ${mine} and owed > 0 order by currency, id for update`,
)

const payDebt = statement.tenant<One & { amount: bigint; at: Date }, object>(
  'payments.pay_debt',
  `update payments.disputes set owed = owed - $amount, updated_at = $at where ${mine} and id = $id`,
)

/**
 * Collects debts from an account's wallets, as far as they cover them; returns whether none is left. Lock order:
 * disputes, then wallets by currency, as every caller that posts to several.
 */
export async function collectDebts(app: App, tx: Tx, tenant: Tenant, nowMs: number): Promise<boolean> {
  let isPaid = true
  for (const { id, owed, ...money } of await tx.query(lockDebts, { ...tenant })) {
    const currency = currencyOf(money.currency)
    const amount = least(owed, await lockAvailable(tx, tenant, currency))
    isPaid &&= amount === owed
    if (amount === 0n) continue
    // The debt before names the step, since it shrinks each time.
    const step = { sourceId: id, step: `dispute:owed:${owed}` }
    const leg = { debit: 'wallet', credit: owedAccount, micros: amount, currency }
    const verdict = await post(tx, tenant, step, [leg], app.clock.nowMs())
    if (verdict !== 'posted') throw new Error(`the ledger says ${verdict} of a debt of ${idOf('dispute', id)}`)
    await tx.query(payDebt, { ...tenant, id, amount, at: new Date(nowMs) })
  }
  return isPaid
}
