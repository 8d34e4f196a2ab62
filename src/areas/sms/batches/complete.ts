// SPDX-License-Identifier: Apache-2.0
// The end of a batch: a job looks at it, ever more seldom, until none of its messages will change any more, and tells so.
// While one of them is scheduled for later it waits for that, and begins anew then.
import { Type } from 'typebox'
import { idOf } from '../../../kernel/ids.ts'
import { minuteMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { occasionNow } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { Job } from '../../../platform/work.ts'
import { smsEvents } from '../events.ts'
import { maxValiditySeconds } from '../schema.ts'
import { batchState, completeBatch, findBatch } from './store.ts'

export const firstLookMs = 1_000
const maxSeldomMs = 10 * minuteMs
/** Wait for receipts: a day after its validity a message gets none any more. */
const waitSeconds = maxValiditySeconds + 86_400

/** `waited`: how often it had looked when the last of the messages was not due yet. */
const Payload = Type.Object({ batch: Type.String(), waited: Type.Optional(Type.Integer()) })

export const batchJob: Job<App, typeof Payload> = {
  lane: 'sms.batch',
  role: 'timers',
  payload: Payload,
  concurrency: 8,
  retrySeconds: [1, 5, 30, 60, 300, 600],
  async handle(app, { tenant, payload, attempt }) {
    if (!tenant) throw new Error('a batch belongs to an account')
    const { batch, waited = 0 } = payload
    const { open, due_in_ms, offset_ms } = await batchState(app.db, tenant, batch, waitSeconds)
    if (open > 0 && due_in_ms > 0) {
      // No longer than usual: it may be called off meanwhile.
      const afterMs = Math.min(maxSeldomMs, Number(due_in_ms) + firstLookMs)
      return { kind: 'move', place: null, payload: { batch, waited: attempt }, afterMs }
    }
    const looks = Math.min(attempt - waited, 20)
    if (open > 0) return { kind: 'again', afterMs: Math.min(maxSeldomMs, firstLookMs * 1.5 ** looks) }
    await tellCompleted(app, tenant, batch, Number(offset_ms))
    return { kind: 'done' }
  },
}

/**
 * Emits the completion once, however often the job runs. A batch was complete when its last message ended, which is the
 * time that readers saw meanwhile; one that stops waiting for its messages is complete now.
 */
async function tellCompleted(app: App, tenant: Tenant, id: string, clockOffsetMs: number): Promise<void> {
  const occasion = occasionNow(app.clock, tenant, clockOffsetMs)
  await app.db.tx(tenant, async (tx) => {
    const found = await findBatch(tx, tenant, id)
    if (!found) return
    const { timestamp, ...record } = found.record
    const completedAt = record.completed_at ?? new Date(occasion.nowMs)
    if (!(await completeBatch(tx, tenant, id, completedAt))) return
    await app.outbox.emit(tx, smsEvents.batchCompleted, occasion, idOf('smsBatch', id), {
      ...record,
      status: record.status === 'cancelled' ? 'cancelled' : 'completed',
      created_at: timestamp,
      completed_at: completedAt,
    })
  })
}
