// SPDX-License-Identifier: Apache-2.0
// Job of a bulk: releases batches as fast as the plan allows, pauses on too many bounces or complaints, and completes
// the bulk.
import { Type } from 'typebox'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { hourMs, minuteMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { one, statement, type Tx } from '../../../platform/db.ts'
import { type Occasion, occasionNow } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { Job, Outcome } from '../../../platform/work.ts'
import { bulkJob } from '../delivery/deliver.ts'
import { emailEvents } from '../events.ts'
import { type BulkRow, changeBulk, countsOf, dispatchBatch, findBulk, lockBulk, recordOf } from './store.ts'

const pausedLookMs = 2_000
const judgedFrom = 200
const maxHardBounces = 0.1
const maxComplaints = 0.003

const Payload = Type.Object({ bulk: Type.String(), batch: Type.Integer() })

const standing = statement.home<
  { account: string; environment: string },
  { clock_offset_ms: bigint; most: number | null }
>(
  'email.bulk_standing',
  `select accounts.clock_offset_ms($account::uuid, $environment::text) as clock_offset_ms, accounts.limit_of($account, 'email') as most`,
)

export const batchJob: Job<App, typeof Payload> = {
  lane: 'email.batch',
  role: 'dispatch',
  payload: Payload,
  concurrency: 16,
  retrySeconds: [1, 5, 30, 120, 600],
  async handle(app, { tenant, payload }): Promise<Outcome> {
    if (!tenant) throw new Error('a bulk belongs to an account')
    const row = await findBulk(app.db, tenant, payload.bulk)
    if (!row || row.status === 'completed' || row.status === 'cancelled') return { kind: 'done' }
    if (row.status === 'paused') return { kind: 'again', afterMs: pausedLookMs }
    const { clock_offset_ms, most } = await one(
      app.db.query(standing, { account: tenant.account, environment: tenant.environment }),
    )
    const occasion = occasionNow(app.clock, tenant, clock_offset_ms)
    if (await pausedByItself(app, tenant, row)) return { kind: 'again', afterMs: pausedLookMs }
    if (payload.batch < row.batches) {
      await sendBatch(app, tenant, row, payload.batch, occasion)
      return {
        kind: 'move',
        place: null,
        payload: { ...payload, batch: payload.batch + 1 },
        afterMs: waitMs(row, payload.batch, most),
      }
    }
    return (await completed(app, tenant, row, occasion))
      ? { kind: 'done' }
      : { kind: 'again', afterMs: lookAgainMs(row, occasion) }
  },
}

/** Delay before the next batch: as requested, or by the plan's limit of messages a minute. */
function waitMs({ batch_interval, batch_size, batches }: BulkRow, batch: number, most: number | null): number {
  if (batch + 1 >= batches) return 100
  return Math.max(batch_interval * 1000, most === null || most === 0 ? 0 : Math.ceil((batch_size / most) * minuteMs))
}

function lookAgainMs({ created_at }: BulkRow, { nowMs }: Occasion): number {
  const ageMs = nowMs - created_at.getTime()
  return ageMs < minuteMs ? 500 : ageMs < hourMs ? 10_000 : 5 * minuteMs
}

async function sendBatch(
  app: App,
  tenant: Tenant,
  row: BulkRow,
  batch: number,
  { nowMs, receivedMs }: Occasion,
): Promise<void> {
  const from = batch * row.batch_size
  await app.db.tx(tenant, async (tx) => {
    const locked = await lockBulk(tx, tenant, row.id)
    if (!locked || !['scheduled', 'queued', 'sending'].includes(locked.status)) return
    const jobs = Array.from({ length: row.batch_size }, () => newUuid(receivedMs))
    await tx.query(dispatchBatch, {
      ...tenant,
      bulk: row.id,
      from,
      to: from + row.batch_size,
      jobs,
      lane: bulkJob.lane,
    })
    const startedAt = locked.started_at ?? new Date(nowMs)
    await tx.query(changeBulk, {
      ...tenant,
      id: row.id,
      status: 'sending',
      reason: locked.paused_reason,
      batchesSent: Math.max(locked.batches_sent, batch + 1),
      startedAt,
      completedAt: null,
    })
    tx.afterCommit(() => app.work.poke())
  })
}

/** Pauses a bulk on too many bounces or complaints: a bad list would harm the sender's reputation. */
async function pausedByItself(app: App, tenant: Tenant, row: BulkRow): Promise<boolean> {
  if (row.status !== 'sending' || row.paused_reason !== null) return false
  const counts = await countsOf(app.db, tenant, row.id)
  const over = counts.delivered + counts.bounced
  if (over < judgedFrom || counts.queued === 0) return false
  const reason =
    counts.hard / over > maxHardBounces
      ? 'bounce_rate'
      : counts.complained / over > maxComplaints
        ? 'complaint_rate'
        : null
  if (reason === null) return false
  await app.db.tx(tenant, async (tx) => {
    const locked = await lockBulk(tx, tenant, row.id)
    if (locked?.status === 'sending') await setStatus(tx, tenant, locked, 'paused', reason)
  })
  return true
}

export async function setStatus(
  tx: Tx,
  tenant: Tenant,
  row: BulkRow,
  status: BulkRow['status'],
  reason: BulkRow['paused_reason'],
): Promise<BulkRow> {
  return one(
    tx.query(changeBulk, {
      ...tenant,
      id: row.id,
      status,
      reason,
      batchesSent: row.batches_sent,
      startedAt: row.started_at,
      completedAt: row.completed_at,
    }),
  )
}

async function completed(app: App, tenant: Tenant, row: BulkRow, occasion: Occasion): Promise<boolean> {
  return app.db.tx(tenant, async (tx) => {
    const locked = await lockBulk(tx, tenant, row.id)
    if (!locked || locked.status === 'cancelled' || locked.status === 'completed') return true
    const counts = await countsOf(tx, tenant, row.id)
    // A relayed message stays `sent` until a report, which may never come.
    if (counts.queued + counts.under_way > 0) return false
    await finishBulk(app, tx, tenant, locked, 'completed', occasion)
    return true
  })
}

/** Completes a bulk and emits its event. */
export async function finishBulk(
  app: App,
  tx: Tx,
  tenant: Tenant,
  row: BulkRow,
  status: 'completed' | 'cancelled',
  occasion: Occasion,
): Promise<BulkRow> {
  const at = new Date(occasion.nowMs)
  const done = await one(
    tx.query(changeBulk, {
      ...tenant,
      id: row.id,
      status,
      reason: null,
      batchesSent: row.batches_sent,
      startedAt: row.started_at,
      completedAt: at,
    }),
  )
  const shown = recordOf(done, await countsOf(tx, tenant, row.id))
  await app.outbox.emit(tx, emailEvents.bulkCompleted, occasion, idOf('emailBulk', row.id), {
    ...shown,
    status,
    completed_at: at,
    paused_reason: null,
  })
  return done
}
