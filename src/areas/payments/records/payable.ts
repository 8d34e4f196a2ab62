// SPDX-License-Identifier: Apache-2.0
// Money that may leave as a payout or a refund: the available amount after debts of lost disputes, without top-ups of
// the last days. Otherwise a stolen card would become money on a phone within a minute, long before its owner
// complains: by a payout, or by the refund of a payment whose money was paid out before.
import { AppError } from '../../../kernel/errors.ts'
import { type Currency, formatMoney, least } from '../../../kernel/money.ts'
import { dayMs } from '../../../kernel/time.ts'
import { lockAvailable } from '../../../ledger/wallets.ts'
import type { App } from '../../../platform/app.ts'
import { one, statement, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'
import { collectDebts } from './debts.ts'

const sumTopups = statement.tenant<Tenant & { currency: string; since: Date }, { amount: bigint }>(
  'payments.sum_topups',
  `select coalesce(sum(amount - refunded), 0)::bigint as amount from payments.payments
    where ${mine} and purpose = 'topup' and currency = $currency and completed_at > $since`,
)

export interface Payable {
  readonly payable: bigint
  /** Available amount that was topped up lately. */
  readonly toppedUp: bigint
}

/** Amount that can be paid out of a wallet, locked until this transaction ends. Throws while something is owed. */
export async function lockPayable(app: App, tx: Tx, { tenant, nowMs }: Occasion, currency: Currency): Promise<Payable> {
  if (!(await collectDebts(app, tx, tenant, nowMs)))
    throw new AppError(
      'INSUFFICIENT_WALLET_BALANCE',
      'lost disputes have left a debt that is paid first: amount_owed of GET /v1/payments/disputes says how much; top up or wait for payments',
    )
  const available = await lockAvailable(tx, tenant, currency)
  const days = tenant.environment === 'live' ? app.config.PAMOJA_TOPUP_HOLD_DAYS : 0
  if (days === 0 || available === 0n) return { payable: available, toppedUp: 0n }
  const since = new Date(nowMs - days * dayMs)
  const { amount } = await one(tx.query(sumTopups, { ...tenant, currency, since }))
  const toppedUp = least(amount, available)
  return { payable: available - toppedUp, toppedUp }
}

/** The end of a sentence that says why not all that is available can leave. */
export function keptBack({ toppedUp: micros }: Payable, currency: Currency): string {
  return micros > 0n ? `; ${formatMoney({ micros, currency })} that were topped up can be used only` : ''
}
