// SPDX-License-Identifier: Apache-2.0
// Money that may leave as a payout or a refund: the available amount after debts of lost disputes, without top-ups of
// the last days. Otherwise a stolen card would become money on a phone within a minute, long before its owner
// complains: by a payout, or by the refund of a payment whose money was paid out before. Usage since then is
// taken off the top-ups: that money is gone, and does not hold other money back.
import { AppError } from '../../../kernel/errors.ts'
import { type Currency, formatMoney, least } from '../../../kernel/money.ts'
import { dayMs } from '../../../kernel/time.ts'
import { usedByDay } from '../../../ledger/rollups.ts'
import { lockAvailable } from '../../../ledger/wallets.ts'
import type { App } from '../../../platform/app.ts'
import { statement, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'
import { collectDebts } from './debts.ts'

/** Amount of a UTC day, YYYY-MM-DD. */
interface OfDay {
  readonly day: string
  readonly micros: bigint
}

const sumTopups = statement.tenant<Tenant & { currency: string; since: Date }, OfDay>(
  'payments.topups_by_day',
  `select (completed_at at time zone 'UTC')::date::text as day, sum(amount - refunded)::bigint as micros
     from payments.payments
    where ${mine} and purpose = 'topup' and currency = $currency and completed_at > $since
    group by 1 order by 1`,
)

export interface Payable {
  readonly payable: bigint
  /** Available amount that was topped up lately and not used since. */
  readonly toppedUp: bigint
}

/**
 * Amount that can be paid out of a wallet, locked until this transaction ends: all of it, or no less than is wanted. Throws
 * while something is owed.
 */
export async function lockPayable(
  app: App,
  tx: Tx,
  { tenant, nowMs }: Occasion,
  currency: Currency,
  wanted: bigint,
): Promise<Payable> {
  if (!(await collectDebts(app, tx, tenant, nowMs)))
    throw new AppError(
      'INSUFFICIENT_WALLET_BALANCE',
      'lost disputes have left a debt that is paid first: amount_owed of GET /v1/payments/disputes says how much; top up or wait for payments',
    )
  const available = await lockAvailable(tx, tenant, currency)
  const days = tenant.environment === 'live' ? app.config.PAMOJA_TOPUP_HOLD_DAYS : 0
  if (days === 0 || available === 0n) return { payable: available, toppedUp: 0n }
  const since = new Date(nowMs - days * dayMs)
  const topups = await tx.query(sumTopups, { ...tenant, currency, since })
  const [first] = topups
  if (!first) return { payable: available, toppedUp: 0n }
  const all = least(
    topups.reduce((sum, { micros }) => sum + micros, 0n),
    available,
  )
  // Usage is added up only where it decides: that may take a while, and charges wait for the wallet.
  if (available - all >= wanted) return { payable: available - all, toppedUp: all }
  // The wallet is locked, so that nothing is used meanwhile.
  const used = await usedByDay(tx, tenant, { currency, from: first.day })
  const toppedUp = least(unused(topups, used), available)
  return { payable: available - toppedUp, toppedUp }
}

/**
 * Part of the top-ups that was not used since. Usage takes the oldest top-up first, and none that came on a later day: so it
 * is counted once, and no top-up leaves because of what another one paid for. What was given back counts as never used.
 */
export function unused(topups: readonly OfDay[], used: readonly OfDay[]): bigint {
  let most = 0n
  for (const { day: first } of topups) {
    const since = (all: readonly OfDay[]) =>
      all.reduce((sum, { day, micros }) => (day >= first ? sum + micros : sum), 0n)
    const spent = since(used)
    const left = since(topups) - (spent > 0n ? spent : 0n)
    if (left > most) most = left
  }
  return most
}

/** The end of a sentence that says why not all that is available can leave. */
export function keptBack({ toppedUp: micros }: Payable, currency: Currency): string {
  return micros > 0n ? `; ${formatMoney({ micros, currency })} that were topped up can be used only` : ''
}
