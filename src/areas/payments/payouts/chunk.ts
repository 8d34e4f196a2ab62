// SPDX-License-Identifier: Apache-2.0
// Payouts of one batch, some at a time, by one job: it judges them, marks them, asks the provider for all of them at
// once and stores the answers together. It polls once more after a while; payouts that are not over by then get a job
// of their own. No more are marked than are asked for at once, since those of a dead node must be polled.
import { Type } from 'typebox'
import type { App } from '../../../platform/app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { addJobs } from '../../../platform/work/many.ts'
import { suspendedMs } from '../../../platform/work/suspended.ts'
import type { Job, Outcome } from '../../../platform/work.ts'
import { gatewayOf } from '../gateway/gateway.ts'
import { keepSent } from './handover.ts'
import { judgeBatch } from './judge.ts'
import { findMany, moveStates } from './settle-batch-store.ts'
import type { PayoutRow } from './store.ts'
import { afterAsking, batchedPayoutJob, pay, polls, queuedMs } from './submit.ts'

/** Payouts per job. */
export const chunkSize = 100
/** Payouts judged together, and requests to the provider at once. */
const maxAtOnce = 16

const Payload = Type.Object({ payouts: Type.Array(Type.String(), { maxItems: chunkSize }) })

export const chunkJob: Job<App, typeof Payload> = {
  lane: 'payments.payouts_of_batch',
  role: 'carriers',
  payload: Payload,
  concurrency: 2,
  retrySeconds: [1, 5, 30, 60, 300],
  async handle(app, { tenant, payload }): Promise<Outcome> {
    if (!tenant) throw new Error('a payout belongs to an account')
    const rows = await app.db.query(findMany, { ...tenant, ids: payload.payouts })
    const planned = rows.filter(isPlanned)
    if (planned.length === 0) {
      await handOver(app, tenant, rows.filter(isUnderWay), 0)
      return { kind: 'done' }
    }
    const isSuspended = planned.some(({ is_suspended }) => is_suspended)
    for (let start = 0; start < planned.length && !isSuspended; start += maxAtOnce)
      await send(app, tenant, planned.slice(start, start + maxAtOnce))
    const after = (await app.db.query(findMany, { ...tenant, ids: payload.payouts })).filter(isUnderWay)
    const queued = after.filter(isPlanned)
    const scale = gatewayOf(app).timeScale(tenant.environment)
    const pollMs = polls[0] * 1_000 * scale
    if (after.length === 0) return { kind: 'done' }
    if (queued.length === 0) return { kind: 'again', afterMs: pollMs }
    // Payouts that the provider has do not wait for those that it does not take yet.
    await handOver(
      app,
      tenant,
      after.filter((row) => !isPlanned(row)),
      pollMs,
    )
    const afterMs = isSuspended ? suspendedMs : queuedMs * scale
    return { kind: 'move', place: null, payload: { payouts: queued.map(({ id }) => id) }, afterMs }
  },
}

const isUnderWay = ({ status }: PayoutRow): boolean => status === 'processing'
const isPlanned = ({ status, state }: PayoutRow): boolean => status === 'processing' && state === 'planned'

async function send(app: App, tenant: Tenant, some: readonly PayoutRow[]): Promise<void> {
  const unjudged = some.filter(({ risk }) => risk === null).map(({ id }) => id)
  const judged = [
    ...some.filter(({ risk }) => risk !== null),
    ...(unjudged.length > 0 ? await judgeBatch(app, tenant, unjudged) : []),
  ]
  const ready = judged.filter(isPlanned)
  if (ready.length === 0) return
  const ids = ready.map(({ id }) => id)
  const sentBy = ready.map((payout) => gatewayOf(app).accountOf(payout, tenant.environment) ?? '')
  const at = new Date(app.clock.nowMs())
  const marked = await app.db.query(moveStates, { ...tenant, ids, from: 'planned', to: 'sending', sentBy, at })
  const accepted: string[] = []
  await Promise.all(
    marked.map(async (payout) => {
      keepSent(app, payout)
      const verdict = await pay(app, tenant, payout)
      if (verdict?.kind === 'accepted' || verdict?.kind === 'pending') accepted.push(payout.id)
      else await afterAsking(app, tenant, payout, verdict, false)
    }),
  )
  if (accepted.length > 0)
    await app.db.query(moveStates, {
      ...tenant,
      ids: accepted,
      from: 'sending',
      to: 'accepted',
      sentBy: [],
      at: new Date(app.clock.nowMs()),
    })
}

/** Hands each unfinished payout to a job of its own. One with two jobs, because this node died here, is settled once. */
async function handOver(app: App, tenant: Tenant, rows: readonly PayoutRow[], delayMs: number): Promise<void> {
  if (rows.length === 0) return
  const jobs = rows.map(({ id }) =>
    app.work.prepare(batchedPayoutJob, tenant, { payout: id, inline: false }, { delayMs }),
  )
  await app.db.tx(tenant, async (tx) => {
    await addJobs(tx, jobs)
    if (delayMs === 0) for (const job of jobs) tx.afterCommit(() => app.work.begin(job))
  })
}
