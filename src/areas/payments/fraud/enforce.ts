// SPDX-License-Identifier: Apache-2.0
// What a decision does to a payment: a blocked one is stored as failed and told of, and nobody is asked for it; one that
// somebody should look at goes ahead.
import type { Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { fraudEvents, type Payment, paymentEvents } from '../events.ts'
import { toldOf } from '../payment.ts'
import { purposeOf } from '../purpose.ts'
import { tell } from '../settle.ts'
import { blockPayment, type PaymentRow } from '../store.ts'
import type { Assessment, Risk } from './assess.ts'

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

/** Tells that a person should look at it. The event has the number after that of `payment.created`. */
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

/** The same of a payment as it is stored. */
export function requirePassed({ id, failure_reason, risk }: PaymentRow): void {
  passed({ payment_id: idOf('payment', id), failure_reason, risk })
}

/** What whoever asked is told of something that was blocked; null when it was not. `named` is its id, as customers know it. */
export function refusalOf(
  named: Readonly<Record<string, string>>,
  failureReason: string | null,
  risk: { rule_id?: string | null; risk_score: number } | null,
): AppError | null {
  const rule_id = risk?.rule_id ?? null
  const extra = { ...named, rule_id }
  if (failureReason === 'BLACKLISTED')
    return new AppError('PAYMENT_BLOCKED', 'the other side is on a blacklist', { extra })
  if (failureReason !== 'BLOCKED_BY_RULE') return null
  const why = rule_id === null ? `a risk score of ${risk?.risk_score}` : `the rule ${rule_id}`
  return new AppError('PAYMENT_BLOCKED', `it was blocked by ${why}`, { extra })
}
