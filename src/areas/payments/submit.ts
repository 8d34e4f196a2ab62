// SPDX-License-Identifier: Apache-2.0
// From the stored intent to the provider, and after it until the payment is over: the provider is asked again and again,
// because callbacks get lost. An attempt that may have been sent is sent a second time only where the provider has never
// heard of it and takes the same id once.
import { Type } from 'typebox'
import { idOf } from '../../kernel/ids.ts'
import type { App } from '../../platform/app.ts'
import { maybe, one } from '../../platform/db.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { Job, Outcome } from '../../platform/work.ts'
import { callbackUrl } from './callbacks.ts'
import { gatewayOf } from './gateway.ts'
import type { Verdict } from './provider.ts'
import { expire, settle } from './settle.ts'
import {
  type AttemptRow,
  countPoll,
  findAttempt,
  findPayment,
  marketOf,
  moveAttempt,
  open,
  type PaymentRow,
} from './store.ts'

export const firstPollSeconds = 10
/** When the provider is asked how it went: seconds after the attempt was made. */
const pollSeconds = [firstPollSeconds, 20, 35, 60, 90, 120, 150, 300, 900, 3_600, 21_600, 86_400, 259_200]
/** A payment is given up so long after its time, when the provider was asked once more. */
const graceMs = 30_000
/** By then whoever accepted a payment has begun to send it, or is dead; and whoever began has heard, or is dead. */
const plannedMs = 10_000
const sendingMs = 40_000
/** How soon a job comes back that found somebody else at work. */
const patienceMs = 1_000

const Payload = Type.Object({
  attempt: Type.String(),
  /** The request that made it sends it; without that the job does. */
  inline: Type.Boolean(),
})

export const watchJob: Job<App, typeof Payload> = {
  lane: 'payments.watch',
  role: 'carriers',
  payload: Payload,
  concurrency: 64,
  leaseSeconds: 15,
  retrySeconds: [1, 5, 30, 60, 300],
  async handle(app, { tenant, payload }) {
    if (!tenant) throw new Error('a payment belongs to an account')
    const attempt = await maybe(app.db.query(findAttempt, { ...tenant, id: payload.attempt }))
    if (!attempt || attempt.state === 'final') return { kind: 'done' }
    return watch(app, tenant, attempt, payload.inline)
  },
}

async function watch(app: App, tenant: Tenant, attempt: AttemptRow, inline: boolean): Promise<Outcome> {
  const quietMs = app.clock.nowMs() - attempt.updated_at.getTime()
  const isAtWork =
    (attempt.state === 'planned' && inline && quietMs < plannedMs) ||
    (attempt.state === 'sending' && quietMs < sendingMs)
  if (isAtWork) return { kind: 'again', afterMs: patienceMs }
  if (attempt.state === 'planned') {
    const payment = await one(app.db.query(findPayment, { ...tenant, id: attempt.payment_id }))
    // Nobody is asked for a payment that is over.
    if (isOver(app, tenant, payment, attempt)) {
      await expire(app, tenant, attempt)
      return { kind: 'done' }
    }
    await submit(app, tenant, attempt)
    return { kind: 'again', afterMs: nextPollMs(app, tenant, { ...attempt, polls: 0 }) }
  }
  const provider = gatewayOf(app).provider(attempt, tenant.environment)
  if (!provider) return { kind: 'again', afterMs: patienceMs }
  // Whoever was sending it is gone, and nobody knows how far it came.
  const unheard: Verdict = { kind: 'unknown', reason: 'the node that sent it is gone' }
  const { provider_id } = attempt
  const told = provider_id === null ? unheard : await provider.query(provider_id, marketOf(attempt))
  const isLost = told.kind === 'missing' && provider.repeatable && attempt.state !== 'accepted'
  const verdict = isLost ? await sendAgain(app, tenant, attempt) : told
  let payment = await settle(app, tenant, attempt, verdict)
  await app.db.query(countPoll, { ...tenant, id: attempt.id })
  if (open.includes(payment.status) && isOver(app, tenant, payment, attempt))
    payment = await expire(app, tenant, attempt)
  const isAnswered = verdict.kind === 'paid' || verdict.kind === 'refused'
  if (isAnswered || attempt.polls + 1 >= pollSeconds.length) return { kind: 'done' }
  return { kind: 'again', afterMs: nextPollMs(app, tenant, { ...attempt, polls: attempt.polls + 1 }) }
}

/** Sends an attempt that nobody sent yet; gives the payment as it is then. */
export async function submit(app: App, tenant: Tenant, attempt: AttemptRow): Promise<PaymentRow> {
  const payment = await one(app.db.query(findPayment, { ...tenant, id: attempt.payment_id }))
  const at = new Date(app.clock.nowMs())
  const isKnownByAttempt = gatewayOf(app).provider(attempt, tenant.environment)?.knownByAttempt === true
  const sending = {
    ...tenant,
    id: attempt.id,
    from: ['planned'] as const,
    to: 'sending' as const,
    providerId: isKnownByAttempt ? attempt.id : null,
    at,
  }
  if ((await app.db.query(moveAttempt, sending)).length === 0) return payment
  return settle(app, tenant, attempt, await collect(app, tenant, attempt, payment))
}

/** Once more, if the payer may still be asked. That it was not taken now does not say that it was not before. */
async function sendAgain(app: App, tenant: Tenant, attempt: AttemptRow): Promise<Verdict> {
  const payment = await one(app.db.query(findPayment, { ...tenant, id: attempt.payment_id }))
  if (!open.includes(payment.status) || isOver(app, tenant, payment, attempt)) return { kind: 'missing' }
  const verdict = await collect(app, tenant, attempt, payment)
  return verdict.kind === 'unavailable' ? { kind: 'unknown', reason: verdict.reason } : verdict
}

async function collect(app: App, tenant: Tenant, attempt: AttemptRow, payment: PaymentRow): Promise<Verdict> {
  const { amount: micros, phone, reference, description } = payment
  if (phone === null) throw new Error('a stored payment cannot be sent')
  const collection = {
    ...marketOf(attempt),
    attempt: attempt.id,
    micros,
    phone,
    reference: reference ?? idOf('payment', payment.id).slice(-12),
    description: description ?? '',
    callbackUrl: callbackUrl(app, tenant, attempt),
  }
  const verdict = await gatewayOf(app).ask(attempt, tenant.environment, (carrier) => carrier.collect(collection))
  if (verdict.kind === 'unknown')
    app.log.warn({ payment: idOf('payment', payment.id), reason: verdict.reason }, 'a provider did not answer')
  return verdict
}

function isOver(app: App, tenant: Tenant, payment: PaymentRow, { clock_offset_ms }: AttemptRow): boolean {
  const nowMs = app.clock.nowMs() + Number(clock_offset_ms)
  return nowMs >= payment.expires_at.getTime() + graceMs * gatewayOf(app).timeScale(tenant.environment)
}

function nextPollMs(app: App, { environment }: Tenant, { polls, created_at, clock_offset_ms }: AttemptRow): number {
  const seconds = pollSeconds[Math.min(polls, pollSeconds.length - 1)] ?? 0
  const dueMs = created_at.getTime() + seconds * 1_000 * gatewayOf(app).timeScale(environment)
  return Math.max(100, dueMs - (app.clock.nowMs() + Number(clock_offset_ms)))
}
