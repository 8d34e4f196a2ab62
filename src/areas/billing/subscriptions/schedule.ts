// SPDX-License-Identifier: Apache-2.0
// Stores a subscription together with the job for its next due moment, in one commit. A moved sandbox clock brings the
// job forward, so that no scan for due subscriptions is needed.

import { Type } from 'typebox'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { NewJob } from '../../../platform/work.ts'
import { holdClock } from '../clock.ts'
import { nextCollection, type SubscriptionRow, type SubscriptionState, saveSubscription } from './store.ts'
import { nextStepAt } from './subscription.ts'

const payload = Type.Object({
  subscription: Type.String(),
  /** Due time in milliseconds; a job whose time no longer matches is superseded by another. */
  at: Type.Integer(),
})

/** Job for the next due moment of a subscription; those of one account run in batches. */
export const renewal = { lane: 'billing.renew', payload }
/** Job for due work beyond a plain period, such as a charge: one subscription at a time. */
export const renewalAlone = { lane: 'billing.renew_alone', payload }

/** Updates a subscription whose row is locked or new. */
export async function save(
  app: App,
  tx: Tx,
  { tenant, nowMs }: Occasion,
  row: SubscriptionRow,
  changes: Partial<SubscriptionState>,
): Promise<SubscriptionRow> {
  const wanted = { ...row, ...changes }
  const nextAt = await dueAt(tx, tenant, wanted)
  const after = await maybe(
    tx.query(saveSubscription, { ...tenant, ...wanted, from: row.status, nextAt, at: new Date(nowMs) }),
  )
  if (!after) throw new Error('a subscription was changed without its lock')
  if (nextAt !== null && nextAt.getTime() !== row.next_at?.getTime()) await waitFor(app, tx, tenant, row.id, nextAt)
  return after
}

async function dueAt(tx: Tx, tenant: Tenant, row: SubscriptionRow): Promise<Date | null> {
  if (row.status === 'cancelled') return null
  const collection = await maybe(tx.query(nextCollection, { ...tenant, subscription: row.id }))
  const own = nextStepAt(row)
  const tried = collection?.try_at ?? null
  return own && tried ? new Date(Math.min(own.getTime(), tried.getTime())) : (own ?? tried)
}

async function waitFor(app: App, tx: Tx, tenant: Tenant, subscription: string, at: Date): Promise<void> {
  const { offset_ms } = await one(tx.query(holdClock, tenant))
  const delayMs = Math.max(0, at.getTime() - app.clock.nowMs() - Number(offset_ms))
  const job = jobAt(app, tenant, delayMs === 0 ? renewalAlone : renewal, subscription, at, delayMs)
  await app.work.add(tx, job)
  if (delayMs === 0) tx.afterCommit(() => app.work.begin(job))
}

/** Job for a subscription at a due time. */
export function jobAt(
  app: App,
  tenant: Tenant,
  lane: typeof renewal,
  subscription: string,
  at: Date,
  delayMs: number,
): NewJob {
  return app.work.prepare(lane, tenant, { subscription, at: at.getTime() }, { delayMs })
}
