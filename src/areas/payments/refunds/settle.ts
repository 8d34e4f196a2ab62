// SPDX-License-Identifier: Apache-2.0
// Applies a verdict to a refund: its state, its payment, the ledger and its event, in one transaction.
// The second verdict changes nothing, so that verdicts may come twice, late and in any order.
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { least } from '../../../kernel/money.ts'
import { currencyOf } from '../../../ledger/currencies.ts'
import { capture, post, postedLegs, release, reverse } from '../../../ledger/wallets.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Queryable, type Tx } from '../../../platform/db.ts'
import { type Occasion, occasionNow } from '../../../platform/events.ts'
import { tenantOf } from '../../../platform/tenant.ts'
import { type FailureReason, isAsAsked, type OutgoingVerdict } from '../providers/provider.ts'
import { paymentEvents, refundEvents } from '../records/events.ts'
import { toldOf } from '../records/payment.ts'
import { purposeOf } from '../records/purpose.ts'
import { type AttemptState, changeRefunded, lockPayment, type PaymentRow } from '../records/store.ts'
import { feePart, payerHasBack, payerHasBackNoMore, refundOf, refundsOf } from './refund.ts'
import {
  findRefund,
  markRefundOverdue,
  moveRefund,
  moveRefundState,
  type RefundRow,
  type RefundStatus,
  returnedFees,
} from './store.ts'

/** Hold of a refund, until it is captured or released. */
export const holdStep = 'refund:hold'
const captureStep = 'refund:capture'
const feeStep = 'refund:fee'
/** Step of a refund that had failed, and given up its hold and its part of the fee, and is completed after all. */
const lateCaptureStep = 'refund:capture_late'
const lateFeeStep = 'refund:fee_late'

const open: readonly RefundStatus[] = ['pending', 'processing']

/** States that the request may be in before a verdict moves it. */
const statesBefore: Readonly<Record<'planned' | 'accepted' | 'unknown' | 'final', readonly AttemptState[]>> = {
  // Nothing was taken, so that nothing was sent.
  planned: ['sending'],
  accepted: ['planned', 'sending', 'unknown'],
  unknown: ['planned', 'sending'],
  final: ['planned', 'sending', 'accepted', 'unknown'],
}

const otherMoney =
  'provider refunded other money than it was asked to: settle the refund by hand (operator/accounts/…/refunds)'
/** Tries of the transaction: the rows that it needs are mostly free by the second one. */
const maxTries = 5

/** Applies a verdict on a refund; once more when the payment's purpose changed at the same moment. */
export async function settleRefund(app: App, refund: RefundRow, verdict: OutgoingVerdict): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      return await app.db.tx(refund, (tx) => applyVerdict(app, tx, refund, verdict))
    } catch (error) {
      const isMet = error instanceof AppError && error.code === 'CONFLICT'
      if (!isMet || tries === maxTries) throw error
    }
}

export async function applyVerdict(app: App, tx: Tx, refund: RefundRow, verdict: OutgoingVerdict): Promise<void> {
  const tenant = tenantOf(refund)
  const payment = await one(tx.query(lockPayment, { ...tenant, id: refund.payment_id }))
  const at = new Date(app.clock.nowMs())
  const stateIs = async (to: keyof typeof statesBefore, providerId: string | null = null): Promise<void> => {
    await tx.query(moveRefundState, { ...tenant, id: refund.id, from: statesBefore[to], to, providerId, at })
  }
  const isToldOther = async (): Promise<boolean> =>
    (await one(tx.query(findRefund, { ...tenant, id: refund.id }))).told_other
  switch (verdict.kind) {
    case 'accepted':
    case 'pending':
      await stateIs('accepted', verdict.kind === 'accepted' ? verdict.providerId : null)
      return void (await moved(app, tx, refund, { from: ['pending'], to: 'processing' }))
    case 'unknown':
    case 'missing':
      await stateIs('unknown')
      return void (await moved(app, tx, refund, { from: ['pending'], to: 'processing' }))
    case 'unavailable':
      return stateIs('planned')
    case 'asked':
      return
    case 'reversed':
      await stateIs('final')
      await failed(app, tx, payment, refund, 'REVERSED_BY_PROVIDER')
      return takenBack(app, tx, payment, refund)
    case 'refused':
      // What it told to have given back in other money stays on the operator's list, and its money held.
      if (await isToldOther()) return
      await stateIs('final')
      await failed(app, tx, payment, refund, verdict.reason)
      return contradicted(app, tx, refund)
    case 'unreadable':
    case 'paid':
      // After other money was told, a bare success confirms nothing.
      if (verdict.kind === 'paid' && verdict.micros === null && (await isToldOther())) return
      if (verdict.kind === 'paid' && isAsAsked(refund, verdict)) {
        await stateIs('final')
        return completed(app, tx, payment, refund, verdict.receipt)
      }
      // A provider that gave something back has it: it is not sent again, whatever is said of it later.
      await stateIs('accepted')
      await moved(app, tx, refund, { from: ['pending'], to: 'processing' })
      return doubtful(app, tx, refund, otherMoney, true)
  }
}

/** Gives up a refund that was never sent. */
export async function giveUp(app: App, refund: RefundRow, reason: FailureReason): Promise<void> {
  const tenant = tenantOf(refund)
  await app.db.tx(tenant, async (tx) => {
    const payment = await one(tx.query(lockPayment, { ...tenant, id: refund.payment_id }))
    const moving = { ...tenant, id: refund.id, from: ['planned'] as const, to: 'final' as const, providerId: null }
    const isMine = (await tx.query(moveRefundState, { ...moving, at: new Date(app.clock.nowMs()) })).length > 0
    if (isMine) await failed(app, tx, payment, refund, reason)
  })
}

async function completed(
  app: App,
  tx: Tx,
  payment: PaymentRow,
  refund: RefundRow,
  providerReference: string | null,
): Promise<void> {
  const { fee_returned: hadBack, amount: micros } = refund
  // It usually has its part of the fee already; not if it was made before the operator returned fees.
  const feeReturned = hadBack > 0n ? hadBack : await feeOf(app, tx, payment, micros, payment.refunded - micros)
  const after = await moved(app, tx, refund, { from: open, to: 'completed', providerReference, feeReturned })
  if (!after) return toldAgain(app, tx, refund)
  const { tenant, receivedMs } = occasionOf(app, refund)
  if (hadBack === 0n) await returnFee(tx, after, receivedMs)
  const { id, amount } = after
  const hold = { sourceId: id, step: holdStep }
  const verdict = await capture(tx, tenant, hold, captureStep, amount, floatOf(after), receivedMs)
  if (verdict !== 'captured') throw new Error(`the money of ${idOf('refund', id)} is not held: ${verdict}`)
  await givenBack(app, tx, payment, after, 0n)
}

/**
 * A refund that failed here has happened all the same, as a person found out. Nothing is held for it any more: the wallet
 * pays it now, or it stays as it is.
 */
export async function completeAfterAll(app: App, tx: Tx, refund: RefundRow, receipt: string | null): Promise<void> {
  const { tenant, receivedMs } = occasionOf(app, refund)
  const payment = await one(tx.query(lockPayment, { ...tenant, id: refund.payment_id }))
  const feeReturned = await feeOf(app, tx, payment, refund.amount, payment.refunded)
  const move = { from: ['failed'], to: 'completed', providerReference: receipt, feeReturned } as const
  const after = await moved(app, tx, refund, move)
  if (!after) throw new Error(`${idOf('refund', refund.id)} has not failed`)
  const { id: sourceId, amount: micros, currency } = after
  const leg = { debit: 'wallet', credit: floatOf(after), micros, currency: currencyOf(currency) }
  await returnFee(tx, after, receivedMs, lateFeeStep)
  const verdict = await post(tx, tenant, { sourceId, step: lateCaptureStep }, [leg], receivedMs)
  if (verdict === 'insufficient')
    throw new AppError('INSUFFICIENT_WALLET_BALANCE', 'the wallet of the account does not cover the refunded amount')
  if (verdict === 'replayed')
    throw new AppError('INVALID_STATE', 'the refund was completed before, and reversed since', {
      extra: { status: refund.status },
    })
  await givenBack(app, tx, payment, after, micros)
}

/**
 * The payer had the money, and the provider has taken it back: the wallet has it again without the fee that had come with it,
 * and the payment can be refunded once more. Told as a refund that failed.
 */
export async function takenBack(app: App, tx: Tx, payment: PaymentRow, refund: RefundRow): Promise<void> {
  const { tenant, nowMs, receivedMs } = occasionOf(app, refund)
  const { id, amount, fee_returned: fee } = await one(tx.query(findRefund, { ...tenant, id: refund.id }))
  const reason = 'REVERSED_BY_PROVIDER'
  const after = await moved(app, tx, refund, { from: ['completed'], to: 'failed', reason, feeReturned: 0n })
  if (!after) return
  const isTaken = async (step: string): Promise<boolean> =>
    (await postedLegs(tx, tenant, { sourceId: id, step })).length > 0
  const isLate = await isTaken(lateCaptureStep)
  await reverse(tx, tenant, { sourceId: id, step: isLate ? lateCaptureStep : captureStep }, receivedMs)
  const feePaidBy = (await isTaken(lateFeeStep)) ? lateFeeStep : feeStep
  if (fee > 0n) await reverse(tx, tenant, { sourceId: id, step: feePaidBy }, receivedMs)
  const back = { ...tenant, id: payment.id, by: -amount, told: 0, at: new Date(nowMs) }
  // A late one has failed before, with its event.
  await tellFailed(app, tx, await one(tx.query(changeRefunded, back)), after, reason, isLate ? 2 : 1)
  await payerHasBackNoMore(app, tx, occasionOf(app, after), payment, after)
}

/** Whether a refund was taken back before, and given again since. */
export async function wasTakenBack(db: Queryable, { id: sourceId, ...refund }: RefundRow): Promise<boolean> {
  const legs = (step: string) => postedLegs(db, tenantOf(refund), { sourceId, step })
  return (await legs(captureStep)).length > 0 && (await legs(lateCaptureStep)).length > 0
}

/** Consequences of money that went back. `by` is what the payment's refunds grow by; mostly it was counted before. */
async function givenBack(app: App, tx: Tx, payment: PaymentRow, refund: RefundRow, by: bigint): Promise<void> {
  const occasion = occasionOf(app, refund)
  const { tenant, nowMs } = occasion
  const counted = await maybe(tx.query(changeRefunded, { ...tenant, id: payment.id, by, told: 1, at: new Date(nowMs) }))
  if (!counted)
    throw new AppError(
      'REFUND_EXCEEDS_PAYMENT',
      'the refund exceeds the refundable amount, because of other refunds of the payment',
    )
  await tellRefunded(app, tx, counted, refund)
  await payerHasBack(app, tx, occasion, payment, refund)
}

/** Repeated or contradicting result: after a recorded failure, the payer has money that the wallet has back, too. */
async function toldAgain(app: App, tx: Tx, refund: RefundRow): Promise<void> {
  const { status } = await one(tx.query(findRefund, { ...tenantOf(refund), id: refund.id }))
  if (status === 'failed')
    await doubtful(
      app,
      tx,
      refund,
      'provider completed a refund that was recorded as failed, so the payer may have the money twice: compare with the provider and settle by hand',
    )
}

/** A failure is reported: for a completed refund that contradicts the earlier report. */
async function contradicted(app: App, tx: Tx, refund: RefundRow): Promise<void> {
  const { status } = await one(tx.query(findRefund, { ...tenantOf(refund), id: refund.id }))
  if (status === 'completed')
    await doubtful(
      app,
      tx,
      refund,
      'provider reports a completed refund as failed: compare with the provider and settle by hand',
    )
}

/** Marks it as doubtful: an operator has to settle it, and no money moves until then. */
export async function doubtful(
  app: App,
  db: Queryable,
  refund: RefundRow,
  why: string,
  toldOther = false,
): Promise<void> {
  const { id, provider } = refund
  const { tenant, nowMs } = occasionOf(app, refund)
  const isNews = (await db.query(markRefundOverdue, { ...tenant, id, toldOther, at: new Date(nowMs) })).length > 0
  if (isNews) app.log.error({ refund: idOf('refund', id), provider }, why)
}

async function failed(app: App, tx: Tx, payment: PaymentRow, refund: RefundRow, reason: FailureReason): Promise<void> {
  const after = await moved(app, tx, refund, { from: open, to: 'failed', reason, feeReturned: 0n })
  if (!after) return
  const { tenant, nowMs, receivedMs } = occasionOf(app, refund)
  const verdict = await release(tx, tenant, { sourceId: refund.id, step: holdStep })
  if (verdict !== 'released') throw new Error(`the money of ${idOf('refund', refund.id)} is not held: ${verdict}`)
  if (refund.fee_returned > 0n) await reverse(tx, tenant, { sourceId: refund.id, step: feeStep }, receivedMs)
  const back = { ...tenant, id: payment.id, by: -refund.amount, told: 0, at: new Date(nowMs) }
  await tellFailed(app, tx, await one(tx.query(changeRefunded, back)), after, reason, 1)
  await purposeOf(payment).refundFailed?.(app, tx, occasionOf(app, after), payment, refund.id)
}

/** Ledger account from which a refund's money leaves. */
function floatOf({ way, provider }: RefundRow): string {
  return way === 'refund' ? `float:${provider}` : `float_out:${provider}`
}

/**
 * Part of the fee that goes back with a refund, so that all refunds of a payment return at most the whole fee. `before`
 * is the sum of the others that did not fail. When some of them fail later, the rest may have a cent more or less than
 * their part: the next refund makes up for it.
 */
export async function feeOf(app: App, tx: Tx, payment: PaymentRow, amount: bigint, before: bigint): Promise<bigint> {
  if (app.config.PAMOJA_REFUND_FEES !== 'proportional') return 0n
  const { fees } = await one(tx.query(returnedFees, { ...tenantOf(payment), payment: payment.id }))
  const missing = feePart(payment, before + amount, currencyOf(payment.currency)) - fees
  return missing > 0n ? least(missing, amount) : 0n
}

/** Brings into the wallet what a refund has of the fee. */
export async function returnFee(tx: Tx, refund: RefundRow, atMs: number, step = feeStep): Promise<void> {
  const { id: sourceId, fee_returned: micros, currency } = refund
  if (micros === 0n) return
  const leg = { debit: 'revenue:payment_fees', credit: 'wallet', micros, currency: currencyOf(currency) }
  await post(tx, tenantOf(refund), { sourceId, step }, [leg], atMs)
}

interface Move {
  from: readonly RefundStatus[]
  to: RefundStatus
  reason?: FailureReason
  providerReference?: string | null
  feeReturned?: bigint
}

/** The refund after the move; null when it cannot make it. */
async function moved(
  app: App,
  tx: Tx,
  refund: RefundRow,
  { from, to, reason, providerReference = null, feeReturned }: Move,
): Promise<RefundRow | null> {
  const { tenant, nowMs } = occasionOf(app, refund)
  return maybe(
    tx.query(moveRefund, {
      ...tenant,
      id: refund.id,
      from,
      to,
      reason: reason ?? null,
      providerReference,
      feeReturned: feeReturned ?? null,
      at: new Date(nowMs),
    }),
  )
}

async function tellRefunded(app: App, tx: Tx, payment: PaymentRow, row: RefundRow): Promise<void> {
  const refund = refundOf(row, payment)
  const told = toldOf(payment, await refundsOf(tx, payment))
  const { amount_refunded, refund_status } = told.payment
  const payload = { ...told, refund_id: refund.refund_id, amount_refunded, refund_status, refund }
  const { callback_url: callbackUrl } = payment
  const occasion = occasionOf(app, row)
  await app.outbox.emit(tx, paymentEvents.refunded, occasion, told.payment_id, payload, { callbackUrl })
}

async function tellFailed(
  app: App,
  tx: Tx,
  payment: PaymentRow,
  row: RefundRow,
  failure_reason: FailureReason,
  sequence: number,
): Promise<void> {
  const refund = refundOf(row, payment)
  const { refund_id, payment_id, amount, currency } = refund
  const payload = {
    livemode: row.environment === 'live',
    // Only a failed refund has an event of its own: a completed one is part of its payment's event.
    sequence,
    refund_id,
    payment_id,
    status: 'failed' as const,
    amount,
    currency,
    failure_reason,
    refund,
  }
  const { callback_url: callbackUrl } = payment
  await app.outbox.emit(tx, refundEvents.failed, occasionOf(app, row), refund_id, payload, { callbackUrl })
}

function occasionOf(app: App, refund: RefundRow): Occasion {
  return occasionNow(app.clock, tenantOf(refund), refund.clock_offset_ms, refund.request_id)
}
