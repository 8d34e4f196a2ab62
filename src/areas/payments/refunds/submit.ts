// SPDX-License-Identifier: Apache-2.0
// Submission of a stored refund to the provider, and polling until its outcome is certain. One that may have been sent
// is sent again only where the provider never heard of it and takes an id once. It never fails by time alone, unless
// the provider was never asked: money that may have left stays set aside.
import { Type } from 'typebox'
import { idOf } from '../../../kernel/ids.ts'
import { dayMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one } from '../../../platform/db.ts'
import { traced } from '../../../platform/outbound/provider-http.ts'
import { tenantOf } from '../../../platform/tenant.ts'
import type { Job, Outcome } from '../../../platform/work.ts'
import { gatewayOf } from '../gateway/gateway.ts'
import { isAnswered, type OutgoingVerdict, type RefundOrder } from '../providers/provider.ts'
import { isInProgress, soon } from '../records/in-progress.ts'
import { days, nextPollMs, type PollSchedule } from '../records/poll-schedule.ts'
import { providerTrace } from '../records/provider-trace.ts'
import { attemptOfPayment, findPayment, marketOf } from '../records/store.ts'
import { addressesOf } from './addresses.ts'
import { askForRefund, refunderOf } from './refund-carrier.ts'
import { doubtful, giveUp, settleRefund } from './settle.ts'
import { beginRefund, countRefundPoll, findRefund, type RefundRow } from './store.ts'

/** Poll schedule of refunds. */
export const polls: PollSchedule = [10, 20, 45, 120, 600, 3_600, 21_600, ...days(7)]
/** A provider that takes nothing is asked again so often, and for so long. */
const retrySeconds = 15
const giveUpMs = dayMs

const Payload = Type.Object({
  refund: Type.String(),
  /** The request that made it sends it; without that the job does. */
  inline: Type.Boolean(),
})

export const refundJob: Job<App, typeof Payload> = {
  lane: 'payments.refund',
  role: 'carriers',
  payload: Payload,
  concurrency: 32,
  retrySeconds: [1, 5, 30, 60, 300],
  async handle(app, { tenant, payload }) {
    if (!tenant) throw new Error('a refund belongs to an account')
    const refund = await maybe(app.db.query(findRefund, { ...tenant, id: payload.refund }))
    if (!refund || refund.state === 'final') return { kind: 'done' }
    return watch(app, refund, payload.inline)
  },
}

async function watch(app: App, refund: RefundRow, inline: boolean): Promise<Outcome> {
  const isFirst = refund.polls === 0
  if (isInProgress(refund.state, inline && isFirst, app.clock.nowMs() - refund.state_at.getTime())) return soon
  const tenant = tenantOf(refund)
  let isHeard = true
  if (refund.state === 'planned') {
    if (ageMs(app, refund) > giveUpMs) {
      await giveUp(app, refund, 'PROVIDER_UNAVAILABLE')
      return { kind: 'done' }
    }
    await submitRefund(app, refund)
  } else isHeard = await look(app, refund)
  await app.db.query(countRefundPoll, { ...tenant, id: refund.id })
  const after = await one(app.db.query(findRefund, { ...tenant, id: refund.id }))
  if (after.state === 'final') return { kind: 'done' }
  const scale = gatewayOf(app).timeScale(tenant.environment)
  if (after.state === 'planned') return { kind: 'again', afterMs: retrySeconds * 1_000 * scale }
  const afterMs = nextPollMs(polls, app.clock.nowMs() - after.state_at.getTime(), isHeard, scale)
  if (afterMs !== null) return { kind: 'again', afterMs }
  // It is polled for a few days more, and then only a person can find out; the money stays set aside.
  const reason = 'the provider does not say what became of it'
  await doubtful(app, app.db, after, `of a refund ${reason}; ask it`)
  return { kind: 'retry', reason, afterMs: dayMs * scale }
}

/** Sends a refund to the provider for the first time. */
export async function submitRefund(app: App, refund: RefundRow): Promise<void> {
  const tenant = tenantOf(refund)
  const { dispute_status } = await one(app.db.query(findPayment, { ...tenant, id: refund.payment_id }))
  // The payer's bank has given the money back while the refund waited: it is not paid twice.
  if (dispute_status === 'open' || dispute_status === 'lost') return giveUp(app, refund, 'REVERSED_BY_PROVIDER')
  const order = await orderOf(app, refund)
  const sentBy = gatewayOf(app).accountOf(refund, refund.environment)
  const begun = await maybe(
    app.db.query(beginRefund, { ...tenant, id: refund.id, sentBy, at: new Date(app.clock.nowMs()) }),
  )
  if (begun) await settleRefund(app, begun, await send(app, begun, order))
}

/** Asks the provider how it went, and sends it again where that is safe; gives whether it said or took anything. */
async function look(app: App, refund: RefundRow): Promise<boolean> {
  const order = await orderOf(app, refund)
  const carrier = refunderOf(app, refund, refund.environment)
  if (!carrier) return false
  const told = await traced(refundTrace(app, refund), () => carrier.queryRefund(order))
  const isMissing = told.kind === 'missing' && refund.state !== 'accepted'
  // An account that replaced the one that was asked does not know its refunds.
  if (isMissing && gatewayOf(app).accountOf(refund, refund.environment) !== refund.sent_by) {
    await doubtful(
      app,
      app.db,
      refund,
      'refund sent with a provider account that was replaced since: ask the provider about it under the old account',
    )
    await settleRefund(app, refund, { kind: 'unknown', reason: 'the account was replaced' })
    return false
  }
  const isLost = isMissing && carrier.repeatable
  const verdict = isLost ? await send(app, refund, order) : told
  // A refusal now does not say that it was not taken before.
  const isUnsent = verdict.kind === 'unavailable'
  await settleRefund(app, refund, isUnsent ? { kind: 'unknown', reason: verdict.reason } : verdict)
  return isAnswered(verdict)
}

async function send(app: App, refund: RefundRow, order: RefundOrder): Promise<OutgoingVerdict> {
  const verdict = await askForRefund(app, refund, refund.environment, (carrier) =>
    traced(refundTrace(app, refund), () => carrier.refund(order)),
  )
  if (verdict.kind === 'unknown' || verdict.kind === 'unavailable')
    app.log.warn(
      { refund: idOf('refund', refund.id), reason: verdict.reason },
      'provider did not take a refund: it is retried by its job; check the provider’s status if this repeats',
    )
  return verdict
}

/** A refund is told in the timeline of its payment. */
export function refundTrace(app: App, refund: RefundRow) {
  return providerTrace(app, tenantOf(refund), idOf('payment', refund.payment_id), Number(refund.clock_offset_ms))
}

/** Order to the provider. */
export async function orderOf(app: App, refund: RefundRow): Promise<RefundOrder> {
  const tenant = tenantOf(refund)
  const payment = await one(app.db.query(findPayment, { ...tenant, id: refund.payment_id }))
  const attempt = await one(app.db.query(attemptOfPayment, { ...tenant, payment: payment.id }))
  return {
    ...marketOf(attempt),
    id: refund.id,
    addresses: addressesOf(app, refund),
    micros: refund.amount,
    payment: { micros: payment.amount, providerId: attempt.provider_id, receipt: payment.provider_reference },
    phone: payment.phone,
    reference: refund.reference ?? idOf('refund', refund.id).slice(-12),
    description: refund.description ?? '',
    providerId: refund.provider_id,
  }
}

/** Age of a refund, by its account's clock. */
function ageMs(app: App, { created_at, clock_offset_ms, environment }: RefundRow): number {
  const nowMs = app.clock.nowMs() + Number(clock_offset_ms)
  return (nowMs - created_at.getTime()) / gatewayOf(app).timeScale(environment)
}
