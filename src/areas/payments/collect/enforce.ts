// SPDX-License-Identifier: Apache-2.0
// Applies a fraud decision to a payment: a blocked one is stored as failed, with its event, and no provider is asked; one that
// needs review goes ahead.
import type { Static } from 'typebox'
import type { App } from '../../../platform/app.ts'
import { one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { Assessment, Risk } from '../fraud/assess.ts'
import { refusalOf } from '../fraud/refusal.ts'
import { type Payment, paymentEvents } from '../records/events.ts'
import { fraudEvents } from '../records/fraud-events.ts'
import { toldOf } from '../records/payment.ts'
import { purposeOf } from '../records/purpose.ts'
import { blockPayment, type PaymentRow } from '../records/store.ts'
import { tell } from './settle.ts'

/** A payment that was stored a moment ago and must not go ahead. */
export async function block(
  app: App,
  tx: Tx,
  occasion: Occasion,
  payment: PaymentRow,
  { failureReason }: Assessment,
): Promise<PaymentRow> {
  const at = new Date(occasion.nowMs)
  const after = await one(tx.query(blockPayment, { ...occasion.tenant, id: payment.id, reason: failureReason, at }))
  await tell(app, tx, paymentEvents.failed, occasion, after)
  await purposeOf(after).failed?.(app, tx, occasion, after)
  return after
}

/** Sends the event that asks for a review. Its sequence number follows that of `payment.created`. */
export async function tellReview(app: App, tx: Tx, occasion: Occasion, payment: PaymentRow, risk: Risk): Promise<void> {
  const { livemode, sequence, payment_id, payment: record } = toldOf(payment)
  const { risk_score, risk_level, flags, decision } = risk
  await app.outbox.emit(
    tx,
    fraudEvents.reviewRequired,
    occasion,
    payment_id,
    {
      livemode,
      sequence,
      payment_id,
      payout_id: null,
      risk: { risk_score, risk_level, flags, decision },
      payment: record,
    },
    { callbackUrl: payment.callback_url },
  )
}

/** Refuses a payment that was blocked, once that is stored; gives back every other. */
export function passed<P extends Pick<Static<typeof Payment>, 'payment_id' | 'failure_reason' | 'risk'>>(
  payment: P,
): P {
  const { payment_id, failure_reason, risk } = payment
  const refusal = refusalOf({ payment_id }, failure_reason, risk)
  if (refusal) throw refusal
  return payment
}
