// SPDX-License-Identifier: Apache-2.0
// Changes a subscription: plan, quantity, payment method, pause. Unused paid time becomes credit at the old price, and
// the rest of the period is billed at the new one.

import { type Static, Type } from 'typebox'
import { refuseCardNumbers } from '../../../kernel/card.ts'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { Metadata } from '../../../platform/schema/fields.ts'
import { subscriptionEvents } from '../events.ts'
import { wallClock } from '../plans/calendar.ts'
import { findPlan, type PlanRow } from '../plans/store.ts'
import { beginPeriod, billRest, creditUnused, undone } from './bill.ts'
import { leaveToCustomer } from './dunning.ts'
import { save } from './schedule.ts'
import {
  countUnpaid,
  findCollection,
  lockBills,
  noteSubscription,
  type SubscriptionRow,
  type SubscriptionState,
  tryAgain,
} from './store.ts'
import { dayIn, type Method, methodOf, PaymentMethodIn, quantity, requireOffered, requirePayable } from './subscribe.ts'
import {
  locked,
  priceOf,
  requireStatus,
  requireSubscription,
  sinceNow,
  tellSubscription,
  wholeSecond,
} from './subscription.ts'

export const SubscriptionUpdate = Type.Object({
  plan_id: Type.Optional(
    Type.String({ maxLength: 50, description: 'Id or code of the new plan; of the same currency' }),
  ),
  quantity: Type.Optional(quantity),
  payment_method: Type.Optional(PaymentMethodIn),
  cancel_at_period_end: Type.Optional(
    Type.Boolean({ description: 'True ends the subscription at the end of its period' }),
  ),
  metadata: Type.Optional(Metadata),
})

export async function changeSubscription(
  app: App,
  tx: Tx,
  occasion: Occasion,
  id: string,
  input: Static<typeof SubscriptionUpdate>,
): Promise<SubscriptionRow> {
  const bills = await billsToLeave(tx, occasion, id, input)
  const before = await locked(tx, occasion.tenant, id)
  requireStatus(before, ['active', 'trialing', 'past_due', 'paused', 'incomplete'])
  const old = await one(tx.query(findPlan, { ...occasion.tenant, id: before.plan_id }))
  const plan = input.plan_id === undefined ? old : await requireOther(tx, occasion, before, old, input.plan_id)
  const count = input.quantity ?? before.quantity
  const method = input.payment_method ? methodOf(input.payment_method, before.customer.phone ?? null) : before
  // A request that only ends the subscription may lack a working payment method.
  if (input.payment_method || plan.id !== before.plan_id || count !== before.quantity)
    await requirePayable(app, tx, occasion.tenant, method, { plan, count, withFee: before.cycle === 0 })
  const { id: uuid } = before
  const at = new Date(occasion.nowMs)
  let row = before
  refuseCardNumbers({ metadata: input.metadata })
  if (input.metadata !== undefined)
    row = await one(
      tx.query(noteSubscription, { ...occasion.tenant, id: uuid, metadata: JSON.stringify(input.metadata), at }),
    )
  if (input.cancel_at_period_end !== undefined)
    row = await save(app, tx, occasion, row, {
      cancel_at_period_end: input.cancel_at_period_end,
      ...(input.cancel_at_period_end ? {} : { cancel_reason: null }),
    })
  if (input.payment_method) {
    const { method: way, card_token, phone, provider } = method
    row = await pay(app, tx, occasion, row, { method: way, card_token, phone, provider }, bills)
  }
  if (plan.id !== row.plan_id || count !== row.quantity) row = await reprice(app, tx, occasion, row, plan, count)
  return row
}

/** Locks the open bills of a subscription that moves to payment by invoice, before the subscription. */
async function billsToLeave(
  tx: Tx,
  { tenant }: Occasion,
  id: string,
  { payment_method: given }: Static<typeof SubscriptionUpdate>,
): Promise<string[]> {
  if (given?.type.toLowerCase() !== 'invoice') return []
  const { id: subscription } = await requireSubscription(tx, tenant, id)
  return (await tx.query(lockBills, { ...tenant, subscription })).map((bill) => bill.id)
}

/** Changes the payment method: retry failed charges at once; with payment by invoice, send the open bills. */
async function pay(
  app: App,
  tx: Tx,
  occasion: Occasion,
  row: SubscriptionRow,
  method: Method,
  bills: readonly string[],
): Promise<SubscriptionRow> {
  if (method.method === 'invoice' && row.method !== 'invoice')
    return leaveToCustomer(app, tx, occasion, await save(app, tx, occasion, row, method), bills)
  const isOwing = row.status === 'past_due' || row.status === 'incomplete'
  if (isOwing && method.method !== 'invoice')
    await tx.query(tryAgain, { ...occasion.tenant, subscription: row.id, at: new Date(occasion.nowMs) })
  return save(app, tx, occasion, row, method)
}

async function reprice(
  app: App,
  tx: Tx,
  occasion: Occasion,
  row: SubscriptionRow,
  plan: PlanRow,
  count: number,
): Promise<SubscriptionRow> {
  requireStatus(row, ['active', 'trialing'])
  const changes = { plan_id: plan.id, quantity: count, amount: priceOf(plan, count) }
  const isSameInterval = plan.interval === row.interval && plan.interval_count === row.interval_count
  const every = { interval: plan.interval, interval_count: plan.interval_count }
  if (row.status === 'trialing') return save(app, tx, occasion, row, { ...changes, ...every })
  const now = wholeSecond(occasion.nowMs)
  // An ended period must be billed at its old price first.
  if (row.period_end <= now) throw new AppError('CONFLICT', 'the subscription is being renewed; try again shortly')
  if (row.proration === 'none')
    return save(app, tx, occasion, row, {
      ...changes,
      ...(isSameInterval ? {} : { ...every, ...anchoredAtEnd(row) }),
    })
  await requirePaid(tx, occasion, row)
  await creditUnused(tx, occasion, row, now)
  const priced = {
    ...row,
    ...changes,
    ...(isSameInterval ? {} : { ...every, ...anchoredAt(row, now), ...oneMore(row) }),
  }
  const billed = isSameInterval
    ? await billRest(app, tx, occasion, priced, plan, now)
    : await beginPeriod(app, tx, occasion, priced, plan, { start: now, isExpected: true })
  if (!billed) throw new Error('a period was begun without the subscription’s lock')
  if (billed.refusal) throw undone(billed.refusal)
  return save(app, tx, occasion, row, { ...stateOf(priced), ...billed.changes })
}

/** Requires the current bill to be paid before its unused part becomes credit. */
async function requirePaid(
  tx: Tx,
  { tenant }: Occasion,
  { id: subscription, paid_amount, latest_invoice_id: invoice }: SubscriptionRow,
): Promise<void> {
  if (paid_amount === 0n || invoice === null) return
  if (!(await maybe(tx.query(findCollection, { ...tenant, subscription, invoice })))) return
  const invoice_id = idOf('invoice', invoice)
  throw new AppError('CONFLICT', `the invoice for this period, ${invoice_id}, must be paid or voided first`, {
    extra: { invoice_id },
  })
}

type Anchored = Pick<SubscriptionState, 'anchor' | 'anchor_day'>

/** Anchor periods at this moment. */
function anchoredAt({ time_zone }: SubscriptionRow, at: Date): Anchored {
  const anchor = wallClock(at, time_zone)
  return { anchor, anchor_day: dayIn(anchor) }
}

/** Anchor periods at the end of the current one, keeping the anchor day where the month is too short. */
function anchoredAtEnd(row: SubscriptionRow): Anchored {
  const { interval, anchor_day, period_end } = row
  const anchored = anchoredAt(row, period_end)
  return interval === 'month' || interval === 'year' ? { ...anchored, anchor_day } : anchored
}

/** The new period replaces the shortened one, which counts as a cycle too. */
function oneMore({ max_cycles }: SubscriptionRow): Pick<SubscriptionState, 'max_cycles'> {
  return { max_cycles: max_cycles === null ? null : max_cycles + 1 }
}

function stateOf(row: SubscriptionRow) {
  const { plan_id, quantity: count, amount, interval, interval_count, anchor, anchor_day, max_cycles } = row
  return { plan_id, quantity: count, amount, interval, interval_count, anchor, anchor_day, max_cycles }
}

async function requireOther(
  tx: Tx,
  { tenant }: Occasion,
  { currency }: SubscriptionRow,
  old: PlanRow,
  id: string,
): Promise<PlanRow> {
  const plan = await requireOffered(tx, tenant, id, old)
  if (plan.currency !== currency)
    throw invalid(
      'plan_id',
      `must be a plan in ${currency}, the currency of the subscription; this one is in ${plan.currency}`,
    )
  return plan
}

/** Pauses a subscription: nothing is billed meanwhile. */
export async function pauseSubscription(app: App, tx: Tx, occasion: Occasion, id: string): Promise<SubscriptionRow> {
  const row = await locked(tx, occasion.tenant, id)
  requireStatus(row, ['active'])
  return save(app, tx, occasion, row, { status: 'paused' })
}

/**
 * Resumes a subscription: the billed period continues, or a new one begins if it is over. An owed charge that failed
 * meanwhile is retried at once, before anything more is billed.
 */
export async function resumeSubscription(app: App, tx: Tx, occasion: Occasion, id: string): Promise<SubscriptionRow> {
  const { tenant, nowMs } = occasion
  const row = await locked(tx, tenant, id)
  requireStatus(row, ['paused'])
  const { failed } = await one(tx.query(countUnpaid, { ...tenant, subscription: row.id }))
  if (failed === 0) return save(app, tx, occasion, row, { status: 'active', ...sinceNow(row, nowMs) })
  await tx.query(tryAgain, { ...tenant, subscription: row.id, at: new Date(nowMs) })
  const owing = await save(app, tx, occasion, row, { status: 'past_due' })
  await tellSubscription(app, tx, subscriptionEvents.pastDue, occasion, owing)
  return owing
}
