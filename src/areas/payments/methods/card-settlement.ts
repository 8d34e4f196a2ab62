// SPDX-License-Identifier: Apache-2.0
// Money that a payer has paid by card and the acquirer has not yet paid to us: it is the account's, and cannot be spent
// until then. How long that takes is for the operator to say; test money is there at once.
import { Type } from 'typebox'
import { dayMs } from '../../../kernel/time.ts'
import { currencyOf } from '../../../ledger/currencies.ts'
import { post } from '../../../ledger/wallets.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, type Queryable, statement, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'
import type { Job } from '../../../platform/work.ts'
import { purposeOf } from '../records/purpose.ts'
import type { PaymentRow } from '../records/store.ts'

/** Ledger account of money that the acquirer still keeps. */
export const pendingAccount = 'pending'

const insertSettlement = statement.tenant<
  Tenant & { payment: string; purpose: string; amount: bigint; currency: string; dueAt: Date },
  object
>(
  'payments.insert_settlement',
  `insert into payments.settlements (bucket, account_id, environment, payment_id, purpose, amount, currency, due_at)
   values ($bucket, $account, $environment, $payment, $purpose, $amount, $currency, $dueAt)`,
)

const takeSettlement = statement.tenant<
  Tenant & { payment: string },
  { purpose: string; amount: bigint; currency: string }
>(
  'payments.take_settlement',
  `delete from payments.settlements
    where ${mine} and payment_id = $payment
   returning purpose, amount, currency`,
)

const findSettlement = statement.tenant<Tenant & { payment: string }, { amount: bigint }>(
  'payments.find_settlement',
  `select amount from payments.settlements where ${mine} and payment_id = $payment`,
)

const sumSettlements = statement.tenant<Tenant, { currency: string; amount: bigint }>(
  'payments.sum_settlements',
  `select currency, sum(amount)::bigint as amount from payments.settlements
    where ${mine} group by currency`,
)

/** Time for which the acquirer keeps card money; zero for other methods. */
export function settlementMs(
  app: App,
  payment: Pick<PaymentRow, 'method' | 'environment' | 'purpose' | 'details'>,
): number {
  const { method, environment } = payment
  if (method !== 'card' || environment !== 'live' || purposeOf(payment).isOwn) return 0
  return app.config.PAMOJA_CARD_SETTLEMENT_DAYS * dayMs
}

/** Notes what is pending of a payment, in the transaction that posts it there, and when it will be paid. */
export async function notePending(app: App, tx: Tx, occasion: Occasion, payment: PaymentRow): Promise<void> {
  const { tenant, receivedMs } = occasion
  const { id, purpose, currency, amount, fee } = payment
  // The fee may have been all of it.
  if (amount === fee) return
  const delayMs = settlementMs(app, payment)
  const dueAt = new Date(receivedMs + delayMs)
  await tx.query(insertSettlement, { ...tenant, payment: id, purpose, amount: amount - fee, currency, dueAt })
  await app.work.add(tx, app.work.prepare(settlementJob, tenant, { payment: id }, { delayMs }))
}

const Payload = Type.Object({ payment: Type.String() })

/** Moves what was pending into the wallet. */
export const settlementJob: Job<App, typeof Payload> = {
  lane: 'payments.settlement',
  role: 'timers',
  payload: Payload,
  concurrency: 8,
  retrySeconds: [1, 5, 30, 60, 300],
  async handle(app, { tenant, payload: { payment } }) {
    if (!tenant) throw new Error('a payment belongs to an account')
    await app.db.tx(tenant, async (tx) => {
      const pending = await maybe(tx.query(takeSettlement, { ...tenant, payment }))
      if (!pending) return
      const { purpose, amount: micros } = pending
      const leg = { debit: pendingAccount, credit: 'wallet', micros, currency: currencyOf(pending.currency) }
      await post(tx, tenant, { sourceId: payment, step: `${purpose}:release` }, [leg], app.clock.nowMs())
    })
    return { kind: 'done' }
  },
}

/** Amount of one payment that is pending. */
export async function pendingOfPayment(queryable: Queryable, tenant: Tenant, payment: string): Promise<bigint> {
  return (await maybe(queryable.query(findSettlement, { ...tenant, payment })))?.amount ?? 0n
}

/** Pending amounts, by currency. */
export async function pendingOf(queryable: Queryable, tenant: Tenant): Promise<ReadonlyMap<string, bigint>> {
  const rows = await queryable.query(sumSettlements, { ...tenant })
  return new Map(rows.map(({ currency, amount }) => [currency, amount]))
}
