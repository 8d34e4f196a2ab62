// SPDX-License-Identifier: Apache-2.0
// Submission of a stored payout to the provider, and polling until it is over, because callbacks get lost. One that may
// have been sent is sent again only under the same id, to a provider that takes an id once and has said twice, a minute
// apart, that it never heard of it. That must be the provider account that was asked first: another one knows nothing
// of it. While a provider's breaker is open, payouts wait.
import { Type } from 'typebox'
import { idOf } from '../../../kernel/ids.ts'
import { dayMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { suspendedMs } from '../../../platform/work/suspended.ts'
import type { Job, Outcome } from '../../../platform/work.ts'
import { gatewayOf } from '../gateway/gateway.ts'
import { type Addresses, isAnswered, type Outgoing, type OutgoingVerdict, type Sent } from '../providers/provider.ts'
import { callbackUrl } from '../records/callback-address.ts'
import { isInProgress, soon } from '../records/in-progress.ts'
import { days, nextPollMs, type PollSchedule } from '../records/poll-schedule.ts'
import { providerTrace } from '../records/provider-trace.ts'
import { marketOf } from '../records/store.ts'
import { judgeOfBatch } from './judge.ts'
import { begin, missedMs, settle } from './settle.ts'
import { settleOne } from './settle-batch.ts'
import { beginSending, findPayout, markOverdue, moveState, type PayoutRow } from './store.ts'

/** Topics of a payout's callback addresses. */
export const topics = ['result', 'timeout', 'answer'] as const satisfies readonly (keyof Addresses)[]

/** Poll schedule of payouts: in the end once a day. */
export const polls: PollSchedule = [15, 45, 120, 600, 3_600, 21_600, ...days(7)]
/** End of polling: the money stays held until an operator has found out. */
const overdueDays = 7
/** Delay of a payout whose provider is down. */
export const queuedMs = 30_000
/** A provider that so often certainly did not take a payout has refused it. */
const maxTries = 8

const Payload = Type.Object({
  payout: Type.String(),
  /** The request that made it sends it; without that the job does. */
  inline: Type.Boolean(),
})

const common = {
  role: 'carriers',
  payload: Payload,
  retrySeconds: [1, 5, 30, 60, 300],
} as const

export const payoutJob: Job<App, typeof Payload> = {
  ...common,
  lane: 'payments.payout',
  concurrency: 32,
  handle: (app, { tenant, payload }) => look(app, tenant, payload.payout, payload.inline),
}

/**
 * Job of batched payouts that wait for their time or are overdue. They have a lane of their own, so that no single
 * payout waits behind ten thousand, and they share a wallet: more at once would only hold connections.
 */
export const batchedPayoutJob: Job<App, typeof Payload> = {
  ...common,
  lane: 'payments.batched_payout',
  concurrency: 16,
  handle: (app, { tenant, payload }) => look(app, tenant, payload.payout, false),
}

async function look(app: App, tenant: Tenant | null, id: string, inline: boolean): Promise<Outcome> {
  if (!tenant) throw new Error('a payout belongs to an account')
  const stored = await maybe(app.db.query(findPayout, { ...tenant, id }))
  if (!stored) return { kind: 'done' }
  const found = stored.risk === null ? await judgeOfBatch(app, tenant, id) : stored
  const waitMs = found.due_at.getTime() - nowOf(app, found)
  if (found.status === 'pending' && !found.in_review && waitMs > 0) return { kind: 'again', afterMs: waitMs }
  if (found.is_suspended && found.state === 'planned' && !found.in_review)
    return { kind: 'again', afterMs: suspendedMs }
  const payout = found.status === 'pending' ? await begin(app, tenant, id) : found
  // One that waits for a person is given a job when the person has decided.
  return payout.status === 'processing' ? watch(app, tenant, payout, inline) : { kind: 'done' }
}

async function watch(app: App, tenant: Tenant, payout: PayoutRow, inline: boolean): Promise<Outcome> {
  if (isInProgress(payout.state, inline, app.clock.nowMs() - payout.touched_at.getTime())) return soon
  const { after, isHeard } =
    payout.state === 'planned'
      ? { after: await submit(app, tenant, payout, false), isHeard: true }
      : await poll(app, tenant, payout)
  if (after.status !== 'processing') return { kind: 'done' }
  const scale = gatewayOf(app).timeScale(tenant.environment)
  if (after.state === 'planned') return { kind: 'again', afterMs: queuedMs * scale }
  if (nowOf(app, after) - after.due_at.getTime() >= overdueDays * dayMs * scale) return overdue(app, tenant, after)
  return { kind: 'again', afterMs: waitMs(app, after, isHeard, scale) }
}

/** Sends a payout that was not sent yet; gives it as it is then. */
export async function submit(app: App, tenant: Tenant, planned: PayoutRow, inline: boolean): Promise<PayoutRow> {
  const { id } = planned
  const sentBy = gatewayOf(app).accountOf(planned, tenant.environment)
  const payout = await maybe(app.db.query(beginSending, { ...tenant, id, sentBy, at: new Date(app.clock.nowMs()) }))
  if (!payout) return one(app.db.query(findPayout, { ...tenant, id }))
  return afterAsking(app, tenant, payout, await pay(app, tenant, payout), inline)
}

/** Notes what came of asking the provider for a payout; null: it was not asked. Gives the payout as it is then. */
export async function afterAsking(
  app: App,
  tenant: Tenant,
  payout: PayoutRow,
  verdict: OutgoingVerdict | null,
  inline: boolean,
): Promise<PayoutRow> {
  const { id } = payout
  const isQueued = verdict === null || (verdict.kind === 'unavailable' && !inline && payout.tries + 1 < maxTries)
  if (!isQueued) return settle(app, tenant, id, verdict)
  const tries = verdict === null ? 0 : 1
  const at = new Date(app.clock.nowMs())
  await app.db.query(moveState, { ...tenant, id, from: ['sending'], to: 'planned', tries, at })
  return one(app.db.query(findPayout, { ...tenant, id }))
}

/** Asks how it went; gives the payout as it is then, and whether the provider said anything. */
async function poll(app: App, tenant: Tenant, payout: PayoutRow): Promise<{ after: PayoutRow; isHeard: boolean }> {
  const { id } = payout
  const outgoing = gatewayOf(app).outgoing(payout, tenant.environment)
  if (!outgoing) return { after: payout, isHeard: false }
  // The sending node died, and its progress is unknown.
  if (payout.state === 'sending') await settle(app, tenant, id, { kind: 'unknown', reason: 'the node is gone' })
  const isSame = gatewayOf(app).accountOf(payout, tenant.environment) === payout.sent_by
  const isLost = payout.lost && payout.state === 'unknown' && outgoing.repeatable && isSame && !payout.is_suspended
  const told = isLost ? await sendAgain(app, tenant, payout) : await ask(app, tenant, payout, outgoing)
  const isMissing = told.kind === 'missing'
  if (!isSame && (isMissing || payout.lost))
    await askSomebody(
      app,
      tenant,
      payout,
      'payout sent with a provider account that was replaced since: ask the provider about it under the old account',
    )
  const verdict: OutgoingVerdict = isMissing && !isSame ? { kind: 'unknown', reason: 'the account was replaced' } : told
  await settleOne(app, tenant, payout, verdict)
  return { after: await one(app.db.query(findPayout, { ...tenant, id })), isHeard: isAnswered(verdict) }
}

/** Asks how a payout went. */
export function ask(
  app: App,
  tenant: Tenant,
  payout: PayoutRow,
  outgoing: Pick<Outgoing, 'queryPayout'>,
): Promise<OutgoingVerdict> {
  return outgoing.queryPayout(sentOf(app, tenant, payout))
}

/** Sends a payout again under the same id. A refusal now says nothing of the first try. */
async function sendAgain(app: App, tenant: Tenant, { id }: PayoutRow): Promise<OutgoingVerdict> {
  const at = new Date(app.clock.nowMs())
  const payout = await maybe(app.db.query(moveState, { ...tenant, id, from: ['unknown'], to: 'sending', tries: 0, at }))
  const verdict = payout && (await pay(app, tenant, payout))
  return verdict?.kind === 'accepted' ? verdict : { kind: 'unknown', reason: 'sent again' }
}

export async function pay(app: App, tenant: Tenant, payout: PayoutRow): Promise<OutgoingVerdict | null> {
  const { amount: micros, phone, bank, description } = payout
  const order = { ...sentOf(app, tenant, payout), micros, description: description ?? '' }
  const verdict = await gatewayOf(app).pay(payout, tenant.environment, async (carrier) => {
    if (carrier.method === 'mobile_money' && carrier.outgoing && phone !== null)
      return carrier.outgoing.payOut({ ...order, phone })
    if (carrier.method === 'bank_transfer' && bank !== null) return carrier.outgoing.payOut({ ...order, account: bank })
    return { kind: 'unavailable', reason: 'it does not pay there' }
  })
  if (verdict?.kind === 'unknown')
    app.log.warn(
      { payout: idOf('payout', payout.id), reason: verdict.reason },
      'provider did not answer a payout: it is polled for the outcome and not paid twice; check the provider’s status if this repeats',
    )
  return verdict
}

function sentOf(app: App, tenant: Tenant, payout: PayoutRow): Sent {
  const address = (topic: keyof Addresses) => callbackUrl(app, tenant, payout, 'payout', topics.indexOf(topic))
  return {
    ...marketOf(payout),
    trace: providerTrace(app, tenant, idOf('payout', payout.id), Number(payout.clock_offset_ms)),
    id: payout.id,
    addresses: { result: address('result'), timeout: address('timeout'), answer: address('answer') },
  }
}

async function overdue(app: App, tenant: Tenant, payout: PayoutRow): Promise<Outcome> {
  await askSomebody(
    app,
    tenant,
    payout,
    'outcome of a payout unknown after all polls: ask the provider, then settle it (POST /v1/operator/payments/payouts/{id}/settle)',
  )
  return { kind: 'done' }
}

/** Puts a payout on the operator's list, once. */
async function askSomebody(app: App, tenant: Tenant, { id, provider }: PayoutRow, why: string): Promise<void> {
  const marked = await app.db.query(markOverdue, { ...tenant, id, at: new Date(app.clock.nowMs()) })
  if (marked.length > 0) app.log.error({ payout: idOf('payout', id), provider }, why)
}

function waitMs(app: App, { touched_at, missed_at }: PayoutRow, isHeard: boolean, scale: number): number {
  const quietMs = app.clock.nowMs() - touched_at.getTime()
  const pollMs = nextPollMs(polls, quietMs, isHeard, scale) ?? dayMs * scale
  // One that the provider does not know is asked about again as soon as that says something.
  return missed_at === null ? pollMs : Math.min(pollMs, missedMs * scale)
}

function nowOf(app: App, { clock_offset_ms }: PayoutRow): number {
  return app.clock.nowMs() + Number(clock_offset_ms)
}
