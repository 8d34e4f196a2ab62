// SPDX-License-Identifier: Apache-2.0
// Storing a subscription, and the job that looks at it when something is due. Both commit together, and the job of a test
// account falls due earlier when its clock is moved: no scan has to find what is due, however much it is at once.

import { Type } from 'typebox'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { NewJob } from '../../../platform/work.ts'
import { holdClock } from '../clock.ts'
import { nextCollection, type SubscriptionRow, type SubscriptionState, saveSubscription } from './store.ts'
import { lookAt } from './subscription.ts'

const payload = Type.Object({
  subscription: Type.String(),
  /** The moment it waits for, in milliseconds: when that is another one by then, another job waits for it. */
  at: Type.Integer(),
})

/** Waits for the moment at which something of a subscription is due. Those of one account are looked at together. */
export const renewal = { lane: 'billing.renew', payload }
/** What is due now and is more than another whole period on a new bill, such as a charge: looked at by itself. */
export const renewalAlone = { lane: 'billing.renew_alone', payload }

/** Stores what changed of a subscription, whose row is locked or new. */
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
    tx.query(saveSubscription, {
      ...tenant,
      id: row.id,
      from: row.status,
      status: wanted.status,
      plan: wanted.plan_id,
      quantity: wanted.quantity,
      amount: wanted.amount,
      method: wanted.method,
      cardToken: wanted.card_token,
      phone: wanted.phone,
      provider: wanted.provider,
      interval: wanted.interval,
      intervalCount: wanted.interval_count,
      anchor: wanted.anchor,
      anchorDay: wanted.anchor_day,
      cycle: wanted.cycle,
      maxCycles: wanted.max_cycles,
      start: wanted.period_start,
      end: wanted.period_end,
      paidFrom: wanted.paid_from,
      paidAmount: wanted.paid_amount,
      trialTold: wanted.trial_told,
      cancelAtPeriodEnd: wanted.cancel_at_period_end,
      cancelledAt: wanted.cancelled_at,
      cancelReason: wanted.cancel_reason,
      latestInvoice: wanted.latest_invoice_id,
      nextAt,
      at: new Date(nowMs),
    }),
  )
  if (!after) throw new Error('a subscription was changed without its lock')
  if (nextAt !== null && nextAt.getTime() !== row.next_at?.getTime()) await waitFor(app, tx, tenant, row.id, nextAt)
  return after
}

async function dueAt(tx: Tx, tenant: Tenant, row: SubscriptionRow): Promise<Date | null> {
  if (row.status === 'cancelled') return null
  const collection = await maybe(tx.query(nextCollection, { ...tenant, subscription: row.id }))
  const own = lookAt(row)
  const tried = collection?.try_at ?? null
  return own && tried ? new Date(Math.min(own.getTime(), tried.getTime())) : (own ?? tried)
}

async function waitFor(app: App, tx: Tx, tenant: Tenant, subscription: string, at: Date): Promise<void> {
  const { account, environment } = tenant
  const { offset_ms } = await one(tx.query(holdClock, { account, environment }))
  const delayMs = Math.max(0, at.getTime() - app.clock.nowMs() - Number(offset_ms))
  const job = jobAt(app, tenant, delayMs === 0 ? renewalAlone : renewal, subscription, at, delayMs)
  await app.work.add(tx, job)
  if (delayMs === 0) tx.afterCommit(() => app.work.begin(job))
}

/** The job that looks at a subscription at a moment, which is so far away. */
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
