// SPDX-License-Identifier: Apache-2.0
// Delivery of call events to the event_url, in order: each waits until the previous was accepted. The call's node
// starts at once; a job retries for a day.
import { Type } from 'typebox'
import { dayMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { One, Tenant } from '../../../platform/tenant.ts'
import type { Job, NewJob } from '../../../platform/work.ts'
import { ask } from '../ask.ts'
import { findCall, tellCall, untold } from '../store.ts'
import { isOver } from './call.ts'

const patienceMs = dayMs
const lookEveryMs = 15_000
const retryMs = [5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000]

/** Deliveries in progress by call id; later events join the running one. */
const telling = onePerApp(() => new Map<string, Promise<boolean>>())

export function deliverEventsSoon(app: App, call: One, clockOffsetMs: number): void {
  void tell(app, call, clockOffsetMs).catch((error) =>
    app.log.warn({ error }, 'event of a call not sent at once: it is delivered from the outbox; nothing to do'),
  )
}

/** Delivers pending events; true when none is left. */
function tell(app: App, call: One, clockOffsetMs: number): Promise<boolean> {
  const running = telling(app)
  const before = running.get(call.id) ?? Promise.resolve(true)
  const run = before.catch(() => false).then(() => tellAll(app, call, clockOffsetMs))
  running.set(call.id, run)
  const forget = () => {
    if (running.get(call.id) === run) running.delete(call.id)
  }
  run.then(forget, forget)
  return run
}

async function tellAll(app: App, call: One, clockOffsetMs: number): Promise<boolean> {
  const row = await maybe(app.db.query(findCall, call))
  if (!row?.event_url) return true
  const nowMs = app.clock.nowMs() + clockOffsetMs
  for (const { sequence, at, body } of await app.db.query(untold, { ...call, told: row.told })) {
    const method = row.plan.event_method ?? 'POST'
    const asking = { name: 'voice.event', url: row.event_url, method, body, isRetried: false }
    const reply = await ask(app, call, { ...asking, clockOffsetMs })
    const isGivenUp = nowMs - at.getTime() > patienceMs
    if (reply.kind === 'failed' && !isGivenUp) return false
    await app.db.query(tellCall, { ...call, told: sequence })
  }
  return true
}

const Payload = Type.Object({ call: Type.String(), clockOffsetMs: Type.Number() })

/** Job that delivers a call's events until the call has ended and all are delivered. */
export const tellJob: Job<App, typeof Payload> = {
  lane: 'voice.tell',
  role: 'dispatch',
  payload: Payload,
  concurrency: 64,
  retrySeconds: [5, 30, 120],
  async handle(app, { tenant, payload, attempt }) {
    if (!tenant) throw new Error('a call belongs to an account')
    const call = { ...tenant, id: payload.call }
    const isTold = await tell(app, call, payload.clockOffsetMs)
    const row = await maybe(app.db.query(findCall, call))
    if (!row || (isTold && isOver(row.status) && row.told >= row.sequence)) return { kind: 'done' }
    const afterMs = isTold ? lookEveryMs : (retryMs[Math.min(attempt, retryMs.length) - 1] ?? lookEveryMs)
    return { kind: 'again', afterMs }
  },
}

/** Job that delivers a call's events, for the transaction that accepts the call. */
export function deliverEventsJob(app: App, tenant: Tenant, call: string, clockOffsetMs: number, delayMs = 0): NewJob {
  return app.work.prepare(tellJob, tenant, { call, clockOffsetMs }, { delayMs: delayMs + lookEveryMs })
}
