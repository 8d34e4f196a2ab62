// SPDX-License-Identifier: Apache-2.0
// Job that renews one subscription when something is due: the end of a trial or period, a charge or its retry, a
// missing first payment. Each step is one transaction under the subscription's lock and finds out what is due:
// idempotent, also on two nodes at once.

import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import { type Occasion, occasionNow } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { suspendedMs } from '../../../platform/work/suspended.ts'
import type { Job } from '../../../platform/work.ts'
import { holdClock } from '../clock.ts'
import { subscriptionEvents } from '../events.ts'
import { type InvoiceRow, lockInvoice } from '../invoices/store.ts'
import { findPlan } from '../plans/store.ts'
import { beginPeriod } from './bill.ts'
import { end, firstBill } from './cancel.ts'
import { chargeNotAttempted, retry } from './dunning.ts'
import { renewalAlone, save } from './schedule.ts'
import {
  findCollection,
  findSubscription,
  isCollecting,
  lockSubscription,
  nextCollection,
  type SubscriptionRow,
} from './store.ts'
import { endsWithPeriod, nextStepAt, tellSubscription } from './subscription.ts'

/** Steps per run: a clock moved by years has many periods fall due, and other jobs need their turn. */
const stepsAtOnce = 24
/** Jobs claimed into memory beyond those that run. */
const claimedAtOnce = 100
export const retrySeconds = [1, 5, 30, 60, 300, 900, 3_600, 3_600, 21_600, 86_400]

export const renewAloneJob: Job<App, typeof renewalAlone.payload> = {
  ...renewalAlone,
  role: 'timers',
  concurrency: 8,
  retrySeconds,
  calendar: { isSettling: async (app, tenant) => (await one(app.db.query(isCollecting, tenant))).found },
  // Jobs are polled four times a second; without this margin only 32 would run per poll.
  room: () => claimedAtOnce,
  async handle(app, { tenant, payload: { subscription, at } }) {
    if (!tenant) throw new Error('a subscription belongs to an account')
    for (let i = 0; i < stepsAtOnce; i++) {
      const waitMs = await step(app, tenant, subscription, at)
      if (waitMs === null) return { kind: 'done' }
      if (waitMs > 0) return { kind: 'again', afterMs: waitMs }
    }
    return { kind: 'again', afterMs: 0 }
  },
}

/** Does one due step. Returns the delay in milliseconds until the next, or null when another job has it. */
export async function step(app: App, tenant: Tenant, id: string, at: number): Promise<number | null> {
  return app.db.tx(tenant, async (tx) => {
    const { offset_ms, is_suspended } = await one(tx.query(holdClock, tenant))
    // Suspended accounts bill nobody; due steps run after the suspension.
    if (is_suspended) return suspendedMs
    const occasion = occasionNow(app.clock, tenant, offset_ms)
    const seen = await maybe(tx.query(findSubscription, { ...tenant, id }))
    if (!seen?.next_at) return null
    const aheadMs = seen.next_at.getTime() - occasion.nowMs
    if (aheadMs > 0) return seen.next_at.getTime() === at ? aheadMs : null
    const { collection, invoice } = await billDue(tx, occasion, seen)
    const row = await one(tx.query(lockSubscription, { ...tenant, id }))
    // Another run changed what is due.
    if (row.status !== seen.status || row.next_at?.getTime() !== seen.next_at.getTime()) return 0
    if (collection && invoice) await retry(app, tx, occasion, row, invoice, collection)
    else await turn(app, tx, occasion, row, invoice)
    return 0
  })
}

/** Bill to charge now, or the unpaid bill of an incomplete subscription. */
async function billDue(tx: Tx, occasion: Occasion, row: SubscriptionRow) {
  const { tenant, nowMs } = occasion
  const next = await maybe(tx.query(nextCollection, { ...tenant, subscription: row.id }))
  if (!next?.try_at || next.try_at.getTime() > nowMs)
    return { collection: null, invoice: await firstBill(tx, occasion, row) }
  const invoice = await one(tx.query(lockInvoice, { ...tenant, id: next.invoice_id }))
  const { invoice_id } = next
  // The payment may have arrived while this waited for the invoice lock.
  const collection = await maybe(tx.query(findCollection, { ...tenant, subscription: row.id, invoice: invoice_id }))
  return { collection: collection?.try_at && collection.try_at.getTime() <= nowMs ? collection : null, invoice }
}

async function turn(
  app: App,
  tx: Tx,
  occasion: Occasion,
  row: SubscriptionRow,
  invoice: InvoiceRow | null,
): Promise<void> {
  const due = nextStepAt(row)
  if (!due || due.getTime() > occasion.nowMs) await save(app, tx, occasion, row, {})
  else if (row.status === 'trialing' && !row.trial_told) {
    const told = await save(app, tx, occasion, row, { trial_told: true })
    await tellSubscription(app, tx, subscriptionEvents.trialEnding, occasion, told)
  } else if (row.status === 'incomplete') await end(app, tx, occasion, row, 'incomplete', invoice)
  else if (row.cancel_at_period_end) await end(app, tx, occasion, row, row.cancel_reason)
  else if (endsWithPeriod(row)) await end(app, tx, occasion, row, 'max_cycles')
  else await renew(app, tx, occasion, row)
}

async function renew(app: App, tx: Tx, occasion: Occasion, row: SubscriptionRow): Promise<void> {
  const { tenant } = occasion
  const plan = await one(tx.query(findPlan, { ...tenant, id: row.plan_id }))
  const isFirst = row.cycle === 0
  const billed = await beginPeriod(app, tx, occasion, row, plan, { start: row.period_end, isFirst })
  if (!billed) throw new Error('a period was begun without the subscription’s lock')
  const { changes, invoice, refusal } = billed
  const after = await save(app, tx, occasion, row, { ...changes, status: 'active' })
  if (refusal && invoice) {
    const collection = await one(tx.query(findCollection, { ...tenant, subscription: row.id, invoice: invoice.id }))
    await chargeNotAttempted(app, tx, occasion, after, invoice, collection, refusal)
  } else if (!isFirst && (invoice === null || invoice.status === 'paid'))
    await tellSubscription(app, tx, subscriptionEvents.renewed, occasion, after)
}
