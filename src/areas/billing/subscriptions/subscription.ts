// SPDX-License-Identifier: Apache-2.0
// Subscription objects of replies and events, and the time of their next renewal step.

import type { Static } from 'typebox'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import { formatMicros } from '../../../kernel/money.ts'
import { dayMs, hourMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Queryable, type Tx } from '../../../platform/db.ts'
import type { EventType, Occasion } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { Subscription, subscriptionEvents } from '../events.ts'
import { noSuchSubscription } from '../invoices/subscription.ts'
import type { Calendar } from '../plans/calendar.ts'
import { maxMicros } from '../plans/plan.ts'
import type { PlanRow } from '../plans/store.ts'
import {
  findSubscription,
  lockSubscription,
  nextSubscriptionSequence,
  type SubscriptionRow,
  type SubscriptionState,
  type SubscriptionStatus,
} from './store.ts'

/** Notice before a trial ends. */
const trialNoticeMs = 3 * dayMs
/** Time limit of the first payment. */
const incompleteMs = 23 * hourMs

export function recordOf(row: SubscriptionRow): Static<typeof Subscription> {
  return {
    subscription_id: idOf('subscription', row.id),
    status: row.status,
    plan_id: idOf('plan', row.plan_id),
    customer: row.customer,
    quantity: row.quantity,
    amount: row.amount,
    currency: row.currency,
    current_period_start: row.period_start,
    current_period_end: row.period_end,
    trial_end: row.trial_end,
    billing_anchor: row.anchor.slice(0, 10),
    next_billing_at: nextBilling(row),
    cancel_at_period_end: row.cancel_at_period_end,
    cancelled_at: row.cancelled_at,
    cancel_reason: row.cancel_reason,
    latest_invoice_id: row.latest_invoice_id && idOf('invoice', row.latest_invoice_id),
    payment_method: { type: row.method, phone: row.phone, provider: row.provider, card_token: row.card_token },
    proration: row.proration,
    cycles: row.cycle,
    max_cycles: row.max_cycles,
    reference: row.reference,
    metadata: row.metadata,
    created_at: row.created_at,
  }
}

/** Next charge, as far as known. */
function nextBilling(row: SubscriptionRow): Date | null {
  const { status, period_end, next_at } = row
  if (status === 'past_due') return next_at
  return (status === 'active' || status === 'trialing') && !endsWithPeriod(row) ? period_end : null
}

export function endsWithPeriod({ cancel_at_period_end, cycle, max_cycles }: SubscriptionRow): boolean {
  return cancel_at_period_end || (max_cycles !== null && cycle >= max_cycles)
}

/** Next renewal step of the subscription itself; retries of its bills come beside it. */
export function nextStepAt(row: SubscriptionRow): Date | null {
  switch (row.status) {
    case 'trialing':
      return row.trial_told ? row.period_end : new Date(row.period_end.getTime() - trialNoticeMs)
    case 'incomplete':
      return new Date(row.created_at.getTime() + incompleteMs)
    case 'active':
      return row.period_end
    case 'past_due':
    case 'paused':
      return row.cancel_at_period_end ? row.period_end : null
    case 'cancelled':
      return null
  }
}

export function calendarOf(row: SubscriptionRow): Calendar {
  const { interval, interval_count: intervalCount, anchor, anchor_day: anchorDay, time_zone: timeZone } = row
  return { interval, intervalCount, anchor, anchorDay, timeZone }
}

/** Price of a quantity of a plan, before tax. */
export function priceOf({ amount }: PlanRow, quantity: number): bigint {
  const micros = amount * BigInt(quantity)
  if (micros > maxMicros) throw invalid('quantity', `is too large: the total exceeds ${formatMicros(maxMicros)}`)
  return micros
}

/** Moment truncated to whole seconds, as all boundaries are. */
export function wholeSecond(ms: number): Date {
  return new Date(Math.floor(ms / 1_000) * 1_000)
}

/** Restarts periods now when unbilled time has passed. */
export function sinceNow({ period_end }: SubscriptionRow, nowMs: number): Partial<SubscriptionState> {
  const now = wholeSecond(nowMs)
  return period_end < now ? { period_end: now } : {}
}

/** Emits a subscription event in the transaction that changed the subscription. */
export async function tellSubscription(
  app: App,
  tx: Tx,
  event: EventType<typeof subscriptionEvents.created.payload>,
  occasion: Occasion,
  row: SubscriptionRow,
): Promise<void> {
  const { tenant } = occasion
  const { sequence } = await one(tx.query(nextSubscriptionSequence, { ...tenant, id: row.id }))
  const subscription = recordOf(row)
  const { subscription_id, status, plan_id, customer, cancelled_at, cancel_reason, metadata } = subscription
  const facts = { subscription_id, status, plan_id, customer, cancelled_at, cancel_reason, metadata }
  const told = { livemode: tenant.environment === 'live', sequence, ...facts, subscription }
  await app.outbox.emit(tx, event, occasion, subscription_id, told, { callbackUrl: row.callback_url })
}

function subscriptionUuid(id: string): string {
  const uuid = uuidOf('subscription', id)
  if (uuid === null) throw noSuchSubscription()
  return uuid
}

export async function requireSubscription(queryable: Queryable, tenant: Tenant, id: string): Promise<SubscriptionRow> {
  const row = await maybe(queryable.query(findSubscription, { ...tenant, id: subscriptionUuid(id) }))
  if (!row) throw noSuchSubscription()
  return row
}

export async function locked(tx: Tx, tenant: Tenant, id: string): Promise<SubscriptionRow> {
  const row = await maybe(tx.query(lockSubscription, { ...tenant, id: subscriptionUuid(id) }))
  if (!row) throw noSuchSubscription()
  return row
}

/** Refuses an action that the status does not allow. */
export function requireStatus({ status }: SubscriptionRow, allowed: readonly SubscriptionStatus[]): void {
  if (!allowed.includes(status))
    throw new AppError('INVALID_STATE', `the subscription is ${status}; required status: ${allowed.join(' or ')}`, {
      extra: { status },
    })
}
