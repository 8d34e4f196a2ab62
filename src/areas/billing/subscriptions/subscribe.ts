// SPDX-License-Identifier: Apache-2.0
// Creates a subscription: a trial, or the first period with its bill, in one transaction. The payer is charged after the
// commit.

import { type Static, Type } from 'typebox'
import { refuseCardNumbers } from '../../../kernel/card.ts'
import { AppError, alreadyUsed, invalid } from '../../../kernel/errors.ts'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { dayMs, dayOf } from '../../../kernel/time.ts'
import { currencyOf } from '../../../ledger/currencies.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { Day, Metadata, OneOf, OneOfAnyCase } from '../../../platform/schema/fields.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { PaymentCreate, phoneOf, requireUnattended } from '../../payments/area.ts'
import { CustomerIn, customerFacts, customerFor } from '../customers/customer.ts'
import { subscriptionEvents } from '../events.ts'
import {
  type Calendar,
  daysAfter,
  intervalAt,
  nextDayOfMonth,
  onDay,
  startOfDay,
  wallClock,
} from '../plans/calendar.ts'
import { requirePlan, trialDays } from '../plans/plan.ts'
import type { PlanRow } from '../plans/store.ts'
import { beginPeriod, grossOf, undone } from './bill.ts'
import { save } from './schedule.ts'
import { findSubscriptionReference, insertSubscription, type SubscriptionRow, timeZoneOf } from './store.ts'
import { priceOf, tellSubscription, wholeSecond } from './subscription.ts'

/** Limits of how far ahead a subscription may begin, and of how far its anchor may be from today. */
const maxAheadMs = 730 * dayMs
const maxAnchorMs = 3_660 * dayMs

const { phone, phone_number, provider, reference, callback_url } = PaymentCreate.properties

export const quantity = Type.Integer({
  minimum: 1,
  maximum: 1_000_000,
  rule: 'must be 1 to 1000000',
  description: 'Number of units, such as seats; multiplies every amount. Default 1',
})

export const PaymentMethodIn = Type.Object(
  {
    type: OneOfAnyCase(['mobile_money', 'card', 'invoice'], {
      description:
        'Payment method: `mobile_money` prompts the phone for each period, `card` charges a saved card, `invoice` sends the link of each invoice',
    }),
    card_token: Type.Optional(Type.String({ maxLength: 40, description: 'Token of a saved card, such as `tok_…`' })),
    phone,
    phone_number,
    provider,
  },
  { description: 'Payment method of the subscription' },
)

export const SubscriptionCreate = Type.Object({
  plan_id: Type.String({ maxLength: 50, description: 'Id of the plan, such as `plan_…`, or its code' }),
  customer: CustomerIn,
  payment_method: Type.Optional(PaymentMethodIn),
  quantity: Type.Optional(quantity),
  start_date: Type.Optional(Day({ description: 'First day of the subscription; default today' })),
  trial_days: Type.Optional(trialDays),
  billing_anchor: Type.Optional(
    Type.Union([Type.Integer({ minimum: 1, maximum: 31 }), Type.String({ format: 'day' })], {
      rule: 'must be a day of the month from 1 to 31, or a date such as 2026-03-01',
      description: 'Day on which periods begin; a first period that is shorter is charged in proportion',
    }),
  ),
  proration: Type.Optional(
    OneOf(['create_prorations', 'none'], {
      description: 'Proration of changes within a period; `none` neither charges nor credits parts of periods',
    }),
  ),
  cancel_at_period_end: Type.Optional(
    Type.Boolean({ description: 'True ends the subscription at the end of its period' }),
  ),
  max_cycles: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      rule: 'must be 1 to 10000',
      description: 'Number of periods after which it ends',
    }),
  ),
  reference,
  metadata: Type.Optional(Metadata),
  callback_url,
})

export type NewSubscription = Static<typeof SubscriptionCreate>

export async function subscribe(
  app: App,
  tx: Tx,
  input: NewSubscription,
  occasion: Occasion,
): Promise<SubscriptionRow> {
  const { tenant, receivedMs, nowMs } = occasion
  refuseCardNumbers({ metadata: input.metadata })
  const plan = await requireOffered(tx, tenant, input.plan_id)
  const count = input.quantity ?? 1
  const amount = priceOf(plan, count)
  const customer = await customerFor(tx, occasion, input.customer, { needsContact: true })
  const method = methodOf(input.payment_method, input.customer.phone ?? customer.phone)
  await requirePayable(app, tx, tenant, method, { plan, count, withFee: true })
  const { time_zone: timeZone } = await one(tx.query(timeZoneOf, { account: tenant.account }))
  const trialEnd = trialEndOf(input, plan, timeZone, nowMs)
  const start = wholeSecond(nowMs)
  const firstBilled = trialEnd ?? start
  const calendar = calendarFor(plan, input.billing_anchor, firstBilled, timeZone, nowMs)
  const row = await maybe(
    tx.query(insertSubscription, {
      ...{ ...tenant, ...method, id: newUuid(receivedMs), plan_id: plan.id, quantity: count, amount },
      ...{ interval: calendar.interval, interval_count: calendar.intervalCount, time_zone: calendar.timeZone },
      ...{ anchor: calendar.anchor, anchor_day: calendar.anchorDay, max_cycles: input.max_cycles ?? null },
      status: trialEnd ? 'trialing' : method.method === 'invoice' ? 'active' : 'incomplete',
      customer_id: customer.id,
      customer: JSON.stringify(customerFacts(customer)),
      currency: plan.currency,
      proration: input.proration ?? 'create_prorations',
      period_start: start,
      period_end: trialEnd ?? intervalAt(calendar, start).end,
      trial_end: trialEnd,
      cancel_at_period_end: input.cancel_at_period_end ?? false,
      reference: input.reference ?? null,
      callback_url: input.callback_url ?? null,
      metadata: JSON.stringify(input.metadata ?? {}),
      at: new Date(nowMs),
    }),
  )
  if (!row) throw await usedBefore(tx, tenant, input.reference ?? '')
  const begun = trialEnd ? await save(app, tx, occasion, row, {}) : await beginFirst(app, tx, occasion, row, plan)
  await tellSubscription(app, tx, subscriptionEvents.created, occasion, begun)
  return begun
}

async function beginFirst(app: App, tx: Tx, occasion: Occasion, row: SubscriptionRow, plan: PlanRow) {
  const how = { start: row.period_start, isFirst: true, isExpected: true }
  const billed = await beginPeriod(app, tx, occasion, row, plan, how)
  if (!billed) throw new Error('a new subscription had a period already')
  if (billed.refusal) throw undone(billed.refusal)
  const isPaid = billed.invoice === null || billed.invoice.status === 'paid'
  return save(app, tx, occasion, row, { ...billed.changes, ...(isPaid ? { status: 'active' } : {}) })
}

/** Plan open for subscriptions, or the one the subscription has. */
export async function requireOffered(tx: Tx, tenant: Tenant, id: string, has?: PlanRow): Promise<PlanRow> {
  const plan = await requirePlan(tx, tenant, id)
  if (!plan.active && plan.id !== has?.id)
    throw new AppError('INVALID_STATE', 'the plan is closed to new subscriptions', { extra: { status: 'inactive' } })
  return plan
}

export type Method = Pick<SubscriptionRow, 'method' | 'card_token' | 'phone' | 'provider'>

/** Payment method of a subscription; by default the customer's phone. */
export function methodOf(given: Static<typeof PaymentMethodIn> | undefined, customersPhone: string | null): Method {
  const type = given?.type.toLowerCase() ?? 'invoice'
  if (given === undefined || type === 'invoice')
    return { method: 'invoice', card_token: null, phone: null, provider: null }
  if (type === 'card') {
    if (given.card_token === undefined) throw invalid('payment_method.card_token', 'is required with type card')
    return { method: 'card', card_token: given.card_token, phone: null, provider: null }
  }
  const asked = phoneOf(given, 'payment_method.') ?? customersPhone
  if (asked === null) throw invalid('payment_method.phone', 'is required if the customer has none')
  return { method: 'mobile_money', card_token: null, phone: asked, provider: given.provider?.toLowerCase() ?? null }
}

/** Refuses a payment method that cannot be charged. */
export async function requirePayable(
  app: App,
  tx: Tx,
  tenant: Tenant,
  payer: Method,
  { plan, count, withFee }: { plan: PlanRow; count: number; withFee: boolean },
): Promise<void> {
  const currency = currencyOf(plan.currency)
  const each = grossOf({ currency, quantity: count }, plan, false)
  const first = withFee ? grossOf({ currency, quantity: count }, plan, true) : each
  for (const micros of new Set([each, first])) {
    if (micros === 0n) continue
    await requireUnattended(app, tx, tenant, payer, { currency, micros })
  }
}

/** Time until which nothing is charged: the end of the trial or the start date; null when that is now. */
function trialEndOf(input: NewSubscription, plan: PlanRow, timeZone: string, nowMs: number): Date | null {
  const now = wholeSecond(nowMs)
  const given = input.start_date === undefined ? now : startOfDay(input.start_date, timeZone)
  if (input.start_date !== undefined && input.start_date < wallClock(now, timeZone).slice(0, 10))
    throw invalid('start_date', 'must not be in the past')
  if (given.getTime() > nowMs + maxAheadMs) throw invalid('start_date', 'must be within 730 days')
  const start = new Date(Math.max(given.getTime(), now.getTime()))
  const days = input.trial_days ?? plan.trial_days
  const end = days > 0 ? daysAfter(start, days, timeZone) : start
  return end > now ? end : null
}

function calendarFor(
  plan: PlanRow,
  given: NewSubscription['billing_anchor'],
  firstBilled: Date,
  timeZone: string,
  nowMs: number,
): Calendar {
  const { interval, interval_count: intervalCount } = plan
  const wall = wallClock(firstBilled, timeZone)
  const every = { interval, intervalCount, timeZone }
  if (given === undefined) return { ...every, anchor: wall, anchorDay: dayIn(wall) }
  if (typeof given === 'number') {
    if (interval !== 'month' && interval !== 'year')
      throw invalid('billing_anchor', 'must be a date: a day of the month is for plans by the month or year')
    return { ...every, anchor: nextDayOfMonth(wall, given), anchorDay: given }
  }
  if (given < dayOf(new Date(nowMs - maxAnchorMs)) || given > dayOf(new Date(nowMs + maxAnchorMs)))
    throw invalid('billing_anchor', 'must be within ten years')
  return { ...every, anchor: onDay(wall, given), anchorDay: dayIn(given) }
}

/** Day of the month of a date or wall clock time. */
export function dayIn(date: string): number {
  return Number(date.slice(8, 10))
}

async function usedBefore(tx: Tx, tenant: Tenant, used: string): Promise<AppError> {
  const { id, status } = await one(tx.query(findSubscriptionReference, { ...tenant, reference: used }))
  return alreadyUsed(`the reference ${used}`, idOf('subscription', id), status)
}
