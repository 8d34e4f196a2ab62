// SPDX-License-Identifier: Apache-2.0
// A refund as customers read it, what follows from it, and the arithmetic of fees that go back with it.
import type { Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import { type Currency, currencies, divideHalfEven, least } from '../../../kernel/money.ts'
import type { App } from '../../../platform/app.ts'
import { one, type Queryable, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { Refund } from '../records/events.ts'
import { recordOf, sentenceOf } from '../records/payment.ts'
import { purposeOf } from '../records/purpose.ts'
import type { PaymentRow } from '../records/store.ts'
import { backWithPayer, newestRefunds, type RefundRow } from './store.ts'

/** Refunds shown with their payment; the list of its refunds has all. */
const shownRefunds = 100

export function refundOf(row: RefundRow, { amount, refunded }: Pick<PaymentRow, 'amount' | 'refunded'>) {
  const shown: Static<typeof Refund> = {
    refund_id: idOf('refund', row.id),
    payment_id: idOf('payment', row.payment_id),
    status: row.status,
    amount: row.amount,
    currency: row.currency,
    reason: row.reason,
    amount_refunded: refunded,
    amount_refundable: amount - refunded,
    provider_reference: row.provider_reference,
    failure_reason: row.failure_reason,
    failure_message: sentenceOf(row.failure_reason),
    description: row.description,
    reference: row.reference,
    metadata: row.metadata,
    created_at: row.created_at,
    completed_at: row.completed_at,
  }
  return shown
}

/** The newest refunds of a payment. */
export async function refundsOf(queryable: Queryable, payment: PaymentRow): Promise<Static<typeof Refund>[]> {
  if (payment.status !== 'completed') return []
  const { bucket, account_id: account, environment, id } = payment
  const rows = await queryable.query(newestRefunds, { bucket, account, environment, payment: id, limit: shownRefunds })
  return rows.map((row) => refundOf(row, payment))
}

/** A payment with its refunds, and with what it is for. */
export async function recordWithRefunds(queryable: Queryable, payment: PaymentRow) {
  const shown = await purposeOf(payment).shown?.(queryable, payment)
  return { ...recordOf(payment, await refundsOf(queryable, payment)), ...shown }
}

/**
 * Tells a payment's purpose that its payer got money back, by a refund or a dispute. A bank may take back what was
 * refunded before: no more counts than was paid.
 */
export async function payerHasBack(
  app: App,
  tx: Tx,
  occasion: Occasion,
  payment: PaymentRow,
  { id, amount }: Pick<RefundRow, 'id' | 'amount'>,
): Promise<void> {
  const { refunded } = purposeOf(payment)
  if (!refunded) return
  const { amount: all } = await one(tx.query(backWithPayer, { ...occasion.tenant, payment: payment.id }))
  const total = least(all, payment.amount)
  const before = least(all - amount, payment.amount)
  if (total > before) await refunded(app, tx, occasion, payment, { id, amount: total - before, total })
}

/** Tells a payment's purpose that money which its payer had got back has been returned to us. */
export async function payerHasBackNoMore(
  app: App,
  tx: Tx,
  occasion: Occasion,
  payment: PaymentRow,
  { id, amount }: Pick<RefundRow, 'id' | 'amount'>,
): Promise<void> {
  const { refundTakenBack } = purposeOf(payment)
  if (!refundTakenBack) return
  const { amount: rest } = await one(tx.query(backWithPayer, { ...occasion.tenant, payment: payment.id }))
  const total = least(rest + amount, payment.amount)
  const left = least(rest, payment.amount)
  if (total > left) await refundTakenBack(app, tx, occasion, payment, { id, amount: total - left, total })
}

/** The part of a payment's fee that belongs to so much of it: to the minor unit, ties to even. */
export function feePart({ amount, fee }: Pick<PaymentRow, 'amount' | 'fee'>, micros: bigint, currency: Currency) {
  const minorUnit = 10n ** BigInt(6 - currencies[currency])
  return divideHalfEven(fee * micros, amount * minorUnit) * minorUnit
}

export function refundUuid(id: string): string {
  const uuid = uuidOf('refund', id)
  if (uuid === null) throw noSuchRefund()
  return uuid
}

export function noSuchRefund(): AppError {
  return new AppError('NOT_FOUND', 'there is no such refund; the ids of refunds begin with re_')
}
