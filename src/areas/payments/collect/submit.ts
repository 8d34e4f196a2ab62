// SPDX-License-Identifier: Apache-2.0
// The job of a payment: sends the stored attempt to the provider, then polls for the outcome until the payment is over,
// because callbacks get lost. An attempt that may have been sent is sent a second time only where the provider has never
// heard of it and takes the same id once.
import { type Static, Type } from 'typebox'
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { operation } from '../../../platform/commit.ts'
import { one } from '../../../platform/db.ts'
import { type Tenant, tenantColumns } from '../../../platform/tenant.ts'
import type { Job, Outcome, Run } from '../../../platform/work.ts'
import { gatewayOf } from '../gateway/gateway.ts'
import { methodOf } from '../methods/payment-methods.ts'
import { isAnswered, isBare, isUncounted, type Verdict } from '../providers/provider.ts'
import { isInProgress, soon } from '../records/in-progress.ts'
import type { NewPayment } from '../records/input.ts'
import { nextPollMs } from '../records/poll-schedule.ts'
import {
  type AttemptRow,
  attemptAndPayment,
  findAttempt,
  findPayment,
  noteSaidPaid,
  open,
  type PaymentRow,
  restartPolls,
} from '../records/store.ts'
import { keepAsked, learningSince, type PaymentAttempt, takeAccepted } from './handover.ts'
import { expire, settle } from './settle.ts'

/** A payment is given up so long after its time, when the provider was asked once more. */
const graceMs = 30_000
/**
 * Wait for the callback that names the paid amount, where a poll does not. Network and load delay it, so the wait is
 * not shortened where the sandbox's time passes faster.
 */
const callbackMs = 10_000

const unheard: Verdict = { kind: 'unknown', reason: 'nobody here speaks to the provider' }

/** Marks an attempt as being sent; only one caller gets `begun`. */
const beginSending = operation.tenant(
  'payments.begin_sending',
  {
    ...tenantColumns,
    id: 'uuid',
    provider_id: 'text',
    at: 'timestamptz',
    job: 'uuid',
    job_attempt: 'int',
    again_ms: 'bigint',
    sent_by: 'text',
  },
  { begun: 'boolean' },
)

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
  retrySeconds: [1, 5, 30, 60, 300],
  async handle(app, run) {
    const { tenant, payload } = run
    if (!tenant) throw new Error('a payment belongs to an account')
    const since = learningSince(app)
    const found = takeAccepted(app, payload.attempt) ?? (await attemptAndPayment(app.db, tenant, payload.attempt))
    if (!found || found.attempt.state === 'final') return { kind: 'done' }
    return watch(app, tenant, found, since, run)
  },
}

async function watch(
  app: App,
  tenant: Tenant,
  { attempt, payment }: PaymentAttempt,
  since: number | null,
  run: Run<Static<typeof Payload>>,
): Promise<Outcome> {
  const { inline } = run.payload
  if (isInProgress(attempt.state, inline, app.clock.nowMs() - attempt.updated_at.getTime())) return soon
  if (attempt.state !== 'planned') return poll(app, tenant, attempt, payment)
  // The provider is not asked for a payment that is over.
  if (isOver(app, tenant, payment, attempt)) {
    await expire(app, tenant, attempt)
    return { kind: 'done' }
  }
  const againMs = methodOf(payment).polls[0] * 1_000 * gatewayOf(app).timeScale(tenant.environment)
  const untilMs = performance.now() + againMs
  const { begun, after } = await sendFirst(app, tenant, { attempt, payment }, since, null, { ...run, againMs })
  // The sender has postponed its job by then, or the job went with the attempt that is over.
  if (begun && (performance.now() < untilMs || !open.includes(after.status))) return { kind: 'settled' }
  return open.includes(after.status) ? { kind: 'again', afterMs: againMs } : { kind: 'done' }
}

/** Polls the provider for the outcome. */
async function poll(app: App, tenant: Tenant, attempt: AttemptRow, payment: PaymentRow): Promise<Outcome> {
  const method = methodOf(payment)
  // The operator may have removed the account: then nothing is heard of it, and its time runs out all the same.
  const told = (await method.query(app, tenant, attempt, payment)) ?? unheard
  const isFirst = attempt.said_paid_at === null && open.includes(payment.status)
  if (isBare(told) && isFirst && !isOver(app, tenant, payment, attempt)) {
    await app.db.query(noteSaidPaid, { ...tenant, id: attempt.id, at: new Date(app.clock.nowMs()) })
    return { kind: 'again', afterMs: callbackMs }
  }
  // An account that replaced the one that was asked does not know its attempts.
  const isReplaced =
    attempt.sent_by !== null && gatewayOf(app).accountOf(attempt, tenant.environment) !== attempt.sent_by
  const isMissing = told.kind === 'missing' && attempt.state !== 'accepted' && !isReplaced
  const isLost = isMissing && method.isRepeatable(app, tenant, attempt)
  let verdict = isLost ? await sendAgain(app, tenant, attempt) : told
  let after = await settle(app, tenant, attempt, verdict, payment)
  if (open.includes(after.status) && isOver(app, tenant, after, attempt)) after = await expire(app, tenant, attempt)
  // A payment that was given up may still be paid, late, unless the provider is told in time.
  if (!open.includes(after.status) && !isAnswer(payment, verdict) && method.withdraw) {
    if (open.includes(payment.status)) await pollAnew(app, tenant, payment)
    verdict = await method.withdraw(app, tenant, attempt)
    after = await settle(app, tenant, attempt, verdict)
  }
  return nextPoll(app, tenant, attempt, after, verdict)
}

/** Time of the next poll, after the provider has given this verdict. */
async function nextPoll(
  app: App,
  tenant: Tenant,
  attempt: AttemptRow,
  payment: PaymentRow,
  verdict: Verdict,
): Promise<Outcome> {
  if (isAnswer(payment, verdict)) return { kind: 'done' }
  const leftMs = untilOverMs(app, tenant, payment, attempt)
  // The payer has approved: the account number or the expiry is awaited.
  if (verdict.kind === 'authorised') return { kind: 'again', afterMs: leftMs }
  const { updated_at } = await one(app.db.query(findAttempt, { ...tenant, id: attempt.id }))
  const quietMs = app.clock.nowMs() - updated_at.getTime()
  const scale = gatewayOf(app).timeScale(tenant.environment)
  const pollMs = nextPollMs(methodOf(payment).polls, quietMs, isAnswered(verdict), scale)
  // Wake no later than `expires_at`.
  if (open.includes(payment.status) && leftMs > 0)
    return { kind: 'again', afterMs: Math.min(pollMs ?? leftMs, leftMs) + 1 }
  return pollMs === null ? { kind: 'done' } : { kind: 'again', afterMs: pollMs }
}

/** Whether a verdict decides a payment. Money of which nobody can tell how much it is does not: the payment's time runs on. */
function isAnswer(payment: PaymentRow, verdict: Verdict): boolean {
  return verdict.kind === 'refused' || (verdict.kind === 'paid' && !isUncounted(payment, verdict))
}

/** Sends an attempt that was not sent yet; gives the payment as it is then. `since`: see handover.ts. */
export async function submit(
  app: App,
  tenant: Tenant,
  attempt: PaymentAttempt,
  since: number | null,
  input: NewPayment | null,
): Promise<PaymentRow> {
  return (await sendFirst(app, tenant, attempt, since, input, null)).after
}

/** `job` is the run of the job that sends, if one does, and after how long it polls the provider. */
async function sendFirst(
  app: App,
  tenant: Tenant,
  { attempt, payment }: PaymentAttempt,
  since: number | null,
  input: NewPayment | null,
  job: (Pick<Run<unknown>, 'id' | 'attempt'> & { readonly againMs: number }) | null,
): Promise<{ begun: boolean; after: PaymentRow }> {
  const { id } = attempt
  const sentBy = gatewayOf(app).accountOf(attempt, tenant.environment)
  const { begun } = await app.commit(beginSending, {
    ...tenant,
    id,
    provider_id: methodOf(payment).isKnownByAttempt(app, tenant, attempt) ? id : null,
    at: new Date(app.clock.nowMs()),
    job: job?.id ?? null,
    job_attempt: job?.attempt ?? null,
    again_ms: job && BigInt(Math.round(job.againMs)),
    sent_by: sentBy,
  })
  if (!begun) return { begun: false, after: payment }
  const isCalledBack = payment.method === 'mobile_money'
  const tell = isCalledBack ? keepAsked(app, since, { attempt, payment }) : () => undefined
  try {
    const verdict = await send(app, tenant, attempt, payment, input)
    const after = await settle(app, tenant, attempt, verdict, payment)
    tell(takenAs({ ...attempt, sent_by: sentBy }, verdict, after))
    return { begun: true, after }
  } finally {
    tell(null)
  }
}

/** The attempt once the provider has taken it, with its payment; null when it has not, or not for certain. */
function takenAs(attempt: AttemptRow, verdict: Verdict, payment: PaymentRow): PaymentAttempt | null {
  // Kept data of an answer was stored sealed, and is read from the database.
  if (verdict.kind !== 'accepted' || verdict.keeps || payment.status !== 'processing') return null
  const provider_id = attempt.provider_id ?? verdict.providerId
  return { payment, attempt: Object.assign({}, attempt, { state: 'accepted', provider_id } as const) }
}

/** Sends an attempt again, if the payer may still be asked. A refusal now says nothing of the first try. */
async function sendAgain(app: App, tenant: Tenant, attempt: AttemptRow): Promise<Verdict> {
  const payment = await one(app.db.query(findPayment, { ...tenant, id: attempt.payment_id }))
  if (!open.includes(payment.status) || isOver(app, tenant, payment, attempt)) return { kind: 'missing' }
  await pollAnew(app, tenant, payment)
  const verdict = await send(app, tenant, attempt, payment, null)
  return verdict.kind === 'unavailable' ? { kind: 'unknown', reason: verdict.reason } : verdict
}

async function send(
  app: App,
  tenant: Tenant,
  attempt: AttemptRow,
  payment: PaymentRow,
  input: NewPayment | null,
): Promise<Verdict> {
  const verdict = await methodOf(payment).send(app, tenant, attempt, payment, input)
  if (verdict.kind === 'unknown')
    app.log.warn(
      { payment: idOf('payment', payment.id), reason: verdict.reason },
      'provider did not answer a payment: it is polled for the outcome and not charged twice; check the provider’s status if this repeats',
    )
  return verdict
}

/** Something is asked of the provider that was not asked before, or is asked again. */
async function pollAnew(app: App, tenant: Tenant, { id }: PaymentRow): Promise<void> {
  await app.db.query(restartPolls, { ...tenant, payment: id, at: new Date(app.clock.nowMs()) })
}

function isOver(app: App, tenant: Tenant, payment: PaymentRow, attempt: AttemptRow): boolean {
  return untilOverMs(app, tenant, payment, attempt) <= 0
}

function untilOverMs(app: App, tenant: Tenant, payment: PaymentRow, { clock_offset_ms }: AttemptRow): number {
  const nowMs = app.clock.nowMs() + Number(clock_offset_ms)
  return payment.expires_at.getTime() + graceMs * gatewayOf(app).timeScale(tenant.environment) - nowMs
}
