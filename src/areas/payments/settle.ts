// SPDX-License-Identifier: Apache-2.0
// What a verdict does to a payment: its state, the ledger and what is told of it, in one transaction. Whoever comes second
// changes nothing, so that verdicts may come twice, late and in any order.
import { AppError } from '../../kernel/errors.ts'
import { idOf } from '../../kernel/ids.ts'
import { isCurrency } from '../../kernel/money.ts'
import { post } from '../../ledger/wallets.ts'
import type { App } from '../../platform/app.ts'
import { maybe, one, type Tx } from '../../platform/db.ts'
import type { EventType, Occasion } from '../../platform/events.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { paymentEvents } from './events.ts'
import { noteFate } from './fraud/assess.ts'
import { noSuchPayment, toldOf } from './payment.ts'
import type { FailureReason, PaymentDetails, Verdict } from './provider.ts'
import { purposeOf } from './purpose.ts'
import { newReceipt } from './receipts/address.ts'
import {
  type AttemptRow,
  attemptOfPayment,
  lockPayment,
  moveAttempt,
  movePayment,
  noteReceipt,
  open,
  type PaymentRow,
  type Status,
} from './store.ts'
import { waitingOf } from './waiting.ts'

/** A success that the provider itself confirmed also revives a payment that was given up. */
const givenUp: readonly Status[] = ['expired', 'cancelled', 'failed']

/** What an attempt may have been before it is what a verdict makes it. */
const attemptsBefore = {
  accepted: ['planned', 'sending', 'unknown'],
  unknown: ['planned', 'sending'],
  final: ['planned', 'sending', 'accepted', 'unknown'],
} as const

/** Applies what is known of an attempt; gives the payment as it is then. */
export async function settle(app: App, tenant: Tenant, attempt: AttemptRow, verdict: Verdict): Promise<PaymentRow> {
  return app.db.tx(async (tx) => {
    const payment = await one(tx.query(lockPayment, { ...tenant, id: attempt.payment_id }))
    const at = new Date(app.clock.nowMs())
    const attemptIs = async (to: 'accepted' | 'unknown' | 'final', providerId: string | null = null): Promise<void> => {
      const from = attemptsBefore[to]
      await tx.query(moveAttempt, { ...tenant, id: attempt.id, from, to, providerId, at })
    }
    switch (verdict.kind) {
      case 'accepted':
      case 'pending':
        await attemptIs('accepted', verdict.kind === 'accepted' ? verdict.providerId : null)
        return moved(app, tx, payment, attempt, {
          from: ['pending'],
          to: 'processing',
          ...(verdict.kind === 'accepted' && verdict.details ? { details: verdict.details } : {}),
        })
      case 'action':
        await attemptIs('accepted', verdict.providerId)
        return moved(app, tx, payment, attempt, {
          from: ['pending'],
          to: 'requires_action',
          details: verdict.details,
        })
      case 'authorised':
        await attemptIs('accepted')
        return moved(app, tx, payment, attempt, {
          from: ['pending', 'requires_action'],
          to: 'processing',
          details: verdict.details,
          expiresAt: verdict.until,
        })
      case 'unknown':
      case 'missing':
        await attemptIs('unknown')
        return payment
      case 'unavailable':
        await attemptIs('final')
        return moved(app, tx, payment, attempt, { from: open, to: 'failed', reason: 'PROVIDER_UNAVAILABLE' })
      case 'refused':
        await attemptIs('final')
        return moved(app, tx, payment, attempt, {
          from: open,
          to: verdict.reason === 'USER_CANCELLED' ? 'cancelled' : 'failed',
          reason: verdict.reason,
        })
      case 'paid':
        await attemptIs('final')
        return verdict.micros === null || verdict.micros === payment.amount
          ? paid(app, tx, payment, attempt, verdict.receipt)
          : mismatched(app, tx, payment, attempt, verdict.micros, verdict.receipt)
    }
  })
}

/** Withdraws a payment that nobody was asked for yet, or whose payer has not decided, or whose money is only set aside. */
export async function cancel(app: App, tx: Tx, tenant: Tenant, id: string): Promise<PaymentRow> {
  const payment = await maybe(tx.query(lockPayment, { ...tenant, id }))
  if (!payment) throw noSuchPayment()
  // A payment that was blocked has none.
  const attempt = await maybe(tx.query(attemptOfPayment, { ...tenant, payment: id }))
  const { status, details } = payment
  const isUndecided =
    status === 'requires_action' || (status === 'processing' && typeof details.authorised_until === 'string')
  const isUnsent = attempt && open.includes(status) && !isUndecided && (await withdrawn(app, tx, tenant, attempt))
  if (!attempt || (!isUnsent && !isUndecided))
    throw new AppError('INVALID_STATE', `the payment is ${payment.status}; the payer may have been asked already`, {
      extra: { status: payment.status },
    })
  return moved(app, tx, payment, attempt, { from: open, to: 'cancelled' })
}

/** The time is over, and nobody has heard of a success. */
export async function expire(app: App, tenant: Tenant, attempt: AttemptRow): Promise<PaymentRow> {
  return app.db.tx(async (tx) => {
    const payment = await one(tx.query(lockPayment, { ...tenant, id: attempt.payment_id }))
    if (attempt.state === 'planned' && !(await withdrawn(app, tx, tenant, attempt))) return payment
    return moved(app, tx, payment, attempt, { from: open, to: 'expired', reason: 'TRANSACTION_TIMEOUT' })
  })
}

/** Whether an attempt that nobody sent will not be sent by anybody. */
async function withdrawn(app: App, tx: Tx, tenant: Tenant, { id }: AttemptRow): Promise<boolean> {
  const at = new Date(app.clock.nowMs())
  const from = ['planned'] as const
  return (await tx.query(moveAttempt, { ...tenant, id, from, to: 'final', providerId: null, at })).length > 0
}

async function paid(
  app: App,
  tx: Tx,
  payment: PaymentRow,
  attempt: AttemptRow,
  receipt: string | null,
): Promise<PaymentRow> {
  const late = givenUp.includes(payment.status)
  const after = await moved(app, tx, payment, attempt, {
    from: late ? givenUp : open,
    to: 'completed',
    providerReference: receipt,
    late,
  })
  const { provider, amount, fee } = payment
  const legs = [
    { debit: `float:${provider}`, credit: 'wallet', micros: amount - fee },
    { debit: `float:${provider}`, credit: 'revenue:payment_fees', micros: fee },
  ]
  if (after !== payment) {
    await postLegs(app, tx, payment, 'settle', legs)
    await purposeOf(after).completed?.(app, tx, occasionOf(app, after, attempt), after)
  }
  if (after !== payment || receipt === null) return after
  const { bucket, account_id: account, environment, id } = payment
  return (await maybe(tx.query(noteReceipt, { bucket, account, environment, id, receipt }))) ?? payment
}

/** Money came, but not what was asked for: it is kept apart until somebody has looked at it. */
async function mismatched(
  app: App,
  tx: Tx,
  payment: PaymentRow,
  attempt: AttemptRow,
  micros: bigint,
  receipt: string | null,
): Promise<PaymentRow> {
  const after = await moved(app, tx, payment, attempt, {
    from: open,
    to: 'failed',
    reason: 'AMOUNT_MISMATCH',
    providerReference: receipt,
  })
  const { provider } = payment
  app.log.error(
    { payment: idOf('payment', payment.id), provider },
    'a provider collected another amount than was asked for',
  )
  // It was believed before: the books must be looked at by somebody.
  if (after === payment) return payment
  await postLegs(app, tx, payment, 'mismatch', [{ debit: `float:${provider}`, credit: `suspense:${provider}`, micros }])
  return after
}

async function postLegs(
  app: App,
  tx: Tx,
  { bucket, account_id: account, environment, id, purpose, currency }: PaymentRow,
  step: string,
  legs: readonly { debit: string; credit: string; micros: bigint }[],
): Promise<void> {
  if (!isCurrency(currency)) throw new Error(`a payment in an unknown currency: ${currency}`)
  const moving = legs.filter(({ micros }) => micros > 0n).map((leg) => ({ ...leg, currency }))
  await post(
    tx,
    { bucket, account, environment },
    { sourceId: id, step: `${purpose}:${step}` },
    moving,
    app.clock.nowMs(),
  )
}

interface Move {
  from: readonly Status[]
  to: Status
  reason?: FailureReason
  providerReference?: string | null
  late?: boolean
  details?: PaymentDetails
  expiresAt?: Date
}

/** The payment after the move, or the very same when it cannot make it. */
async function moved(
  app: App,
  tx: Tx,
  payment: PaymentRow,
  attempt: AttemptRow,
  { from, to, reason, providerReference = null, late = false, details = {}, expiresAt }: Move,
): Promise<PaymentRow> {
  const occasion = occasionOf(app, payment, attempt)
  const event = eventOf(to)
  const redirectUrl = to === 'requires_action' ? details.redirect_url : undefined
  const after = await maybe(
    tx.query(movePayment, {
      ...occasion.tenant,
      id: payment.id,
      from,
      to,
      reason: reason ?? null,
      providerReference,
      late,
      details: JSON.stringify(details),
      expiresAt: expiresAt ?? null,
      told: event || redirectUrl ? 1 : 0,
      ...(to === 'completed' ? newReceipt(app, payment) : { receiptToken: null, receiptUrl: null }),
      at: new Date(occasion.nowMs),
    }),
  )
  if (!after) return payment
  tx.afterCommit(() => waitingOf(app).over(after))
  if (event) {
    await tell(app, tx, event, occasion, after)
    await noteFate(tx, occasion, [after.id], after.status)
  }
  if (redirectUrl !== undefined) await tellAction(app, tx, occasion, after, redirectUrl)
  if (event === paymentEvents.failed) await purposeOf(after).failed?.(app, tx, occasion, after)
  return after
}

/** What is told of a payment that comes to a state. */
function eventOf(status: Status): typeof paymentEvents.completed | null {
  if (status === 'completed') return paymentEvents.completed
  return open.includes(status) ? null : paymentEvents.failed
}

/** Now, by the real clock and by the account's. */
function occasionOf(app: App, payment: PaymentRow, { clock_offset_ms }: AttemptRow): Occasion {
  const { bucket, account_id: account, environment, request_id: requestId } = payment
  const receivedMs = app.clock.nowMs()
  const nowMs = receivedMs + Number(clock_offset_ms)
  return { tenant: { bucket, account, environment }, receivedMs, nowMs, requestId }
}

export async function tell(
  app: App,
  tx: Tx,
  event: EventType<typeof paymentEvents.created.payload>,
  occasion: Occasion,
  payment: PaymentRow,
): Promise<void> {
  const callbackUrl = payment.callback_url
  await app.outbox.emit(tx, event, occasion, idOf('payment', payment.id), toldOf(payment), { callbackUrl })
}

async function tellAction(
  app: App,
  tx: Tx,
  occasion: Occasion,
  payment: PaymentRow,
  redirect_url: string,
): Promise<void> {
  const told = { ...toldOf(payment), redirect_url }
  const callbackUrl = payment.callback_url
  await app.outbox.emit(tx, paymentEvents.requiresAction, occasion, idOf('payment', payment.id), told, { callbackUrl })
}
