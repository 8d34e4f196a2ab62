// SPDX-License-Identifier: Apache-2.0
// Routes of subscriptions.
import { type Static, Type } from 'typebox'
import { nilUuid, uuidOf } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import { list, type Need, type Route, read, write } from '../../../platform/api/route.ts'
import type { Caller } from '../../../platform/auth.ts'
import type { Tx } from '../../../platform/db.ts'
import { askedMetadata, metadataQuery } from '../../../platform/metadata/filter.ts'
import { checkCallback } from '../../../platform/outbound/callback-url.ts'
import { dayRangeQuery, listQuery } from '../../../platform/schema/fields.ts'
import { pageOf, shownBounds, windowOf } from '../../../platform/schema/lists.ts'
import { Subscription, subscriptionStatus } from '../events.ts'
import { planUuid } from '../plans/plan.ts'
import { cancelSubscription } from './cancel.ts'
import { changeSubscription, pauseSubscription, resumeSubscription, SubscriptionUpdate } from './change.ts'
import { listSubscriptions, type SubscriptionRow } from './store.ts'
import { SubscriptionCreate, subscribe } from './subscribe.ts'
import { recordOf, requireSubscription } from './subscription.ts'

const SubscriptionParam = Type.Object({
  subscription_id: Type.String({ description: 'Id of the subscription, such as `sub_…`' }),
})
const reply = { status: 200, schema: Subscription } as const

/** Errors of a charge. */
const payable = [
  'VALIDATION_ERROR',
  'INVALID_PHONE',
  'INVALID_CARD',
  'UNSUPPORTED_METHOD',
  'UNSUPPORTED_PROVIDER',
  'AMOUNT_TOO_LOW',
  'AMOUNT_TOO_HIGH',
  'NOT_FOUND',
  'INVALID_STATE',
  'PAYMENT_BLOCKED',
] as const

const create = write({
  method: 'POST',
  path: '/v1/billing/subscriptions',
  operation: 'billing.createSubscription',
  summary: 'Create a subscription',
  description:
    'Starts with a trial, if the plan has one; otherwise the first period is billed at once. With `mobile_money` or `card` the subscription is incomplete until the first payment, for at most 23 hours.',
  scope: 'billing:write',
  limit: 'payments',
  body: SubscriptionCreate,
  reply: {
    status: 201,
    schema: Subscription,
    location: ({ subscription_id }: Static<typeof Subscription>) => `/v1/billing/subscriptions/${subscription_id}`,
  },
  errors: [...payable, 'INVALID_URL', 'DUPLICATE_REFERENCE'],
  examples: [
    {
      name: 'A subscription to internet-20, paid by phone',
      body: {
        plan_id: 'internet-20',
        customer: { name: 'Asha', email: 'asha@example.com' },
        payment_method: { type: 'mobile_money', phone: '+254700000001' },
      },
    },
  ],
  needs: { operation: 'billing.createPlan' },
  prepare: (app, { body }, caller) => checkCallback(app, caller.tenant, body.callback_url),
  handle: async (app, tx, { body }, caller) =>
    recorded(tx, caller, 'subscription.create', await subscribe(app, tx, body, caller)),
})

/** Subscription without a first bill in progress, so that it can be changed. */
const aSubscription: Need = {
  operation: 'billing.createSubscription',
  id: 'subscription_id',
  body: { plan_id: 'internet-20', customer: { email: 'asha@example.com' }, proration: 'none' },
}

const get = read({
  method: 'GET',
  path: '/v1/billing/subscriptions/:subscription_id',
  operation: 'billing.getSubscription',
  summary: 'Get a subscription',
  scope: 'billing:read',
  params: SubscriptionParam,
  reply,
  errors: ['NOT_FOUND'],
  needs: aSubscription,
  handle: async (app, { params }, { tenant }) =>
    recordOf(await requireSubscription(app.db, tenant, params.subscription_id)),
})

const subscriptions = list({
  path: '/v1/billing/subscriptions',
  operation: 'billing.listSubscriptions',
  summary: 'List subscriptions',
  scope: 'billing:read',
  query: Type.Object({
    ...listQuery,
    ...dayRangeQuery,
    status: Type.Optional(subscriptionStatus),
    plan_id: Type.Optional(
      Type.String({ maxLength: 50, description: 'Id of the plan, such as `plan_…`, or its code' }),
    ),
    customer_id: Type.Optional(Type.String({ maxLength: 40, description: 'Filter by customer, such as `cus_…`' })),
    reference: Type.Optional(
      Type.String({ maxLength: 100, description: 'Filter by your own id for the subscription' }),
    ),
    ...metadataQuery,
  }),
  row: Subscription,
  errors: ['INVALID_DATE_RANGE'],
  examples: [{ name: 'Subscriptions past due', query: { status: 'past_due' } }],
  handle: async (app, { query }, caller) => {
    const { tenant } = caller
    const window = windowOf(query)
    const rows = await app.db.query(listSubscriptions, {
      ...tenant,
      ...window,
      ...shownBounds(query, caller),
      status: query.status ?? null,
      plan: query.plan_id === undefined ? null : ((await planUuid(app.db, tenant, query.plan_id)) ?? nilUuid),
      customer: query.customer_id === undefined ? null : (uuidOf('customer', query.customer_id) ?? nilUuid),
      reference: query.reference ?? null,
      metadata: askedMetadata(query),
    })
    return pageOf(window, rows, recordOf)
  },
})

const change = write({
  method: 'PATCH',
  path: '/v1/billing/subscriptions/:subscription_id',
  operation: 'billing.updateSubscription',
  summary: 'Update a subscription',
  description:
    'A new price applies at once: the unused part of the paid period becomes credit of the customer, and the rest of the period is billed. This is refused with `CONFLICT` while the invoice of the period is unpaid. With `proration` `none` it applies from the next period on. A new interval starts a new period. A new payment method is charged at once if the last charge failed; with `invoice` the customer is sent the open invoice.',
  scope: 'billing:write',
  limit: 'payments',
  params: SubscriptionParam,
  body: SubscriptionUpdate,
  reply,
  errors: [...payable, 'CONFLICT'],
  examples: [{ name: 'Another quantity', body: { quantity: 2 } }],
  needs: aSubscription,
  handle: async (app, tx, { params, body }, caller) =>
    recorded(
      tx,
      caller,
      'subscription.update',
      await changeSubscription(app, tx, caller, params.subscription_id, body),
    ),
})

const cancelling = {
  at_period_end: Type.Optional(
    Type.Boolean({ description: 'True cancels at the end of the paid period; default now' }),
  ),
  reason: Type.Optional(
    Type.String({
      maxLength: 500,
      rule: 'must have at most 500 characters',
      description: 'Note kept with the subscription',
    }),
  ),
  prorate: Type.Optional(
    Type.Boolean({
      description:
        'True credits the unused part of the paid period to the customer, if no invoice is open; default false',
    }),
  ),
}

const cancel = write({
  method: 'DELETE',
  path: '/v1/billing/subscriptions/:subscription_id',
  operation: 'billing.cancelSubscription',
  summary: 'Cancel a subscription',
  description: 'Open invoices stay due, but are no longer collected. A cancelled subscription is returned unchanged.',
  scope: 'billing:write',
  limit: 'payments',
  params: SubscriptionParam,
  query: Type.Object(cancelling),
  body: Type.Object(cancelling),
  reply,
  errors: ['NOT_FOUND', 'VALIDATION_ERROR', 'INVALID_STATE'],
  needs: aSubscription,
  handle: async (app, tx, { params, query, body }, caller) => {
    const given = { ...query, ...body }
    const row = await cancelSubscription(app, tx, caller, params.subscription_id, {
      atPeriodEnd: given.at_period_end ?? false,
      reason: given.reason ?? null,
      prorates: given.prorate ?? false,
    })
    return recorded(tx, caller, 'subscription.cancel', row)
  },
})

const pause = write({
  method: 'POST',
  path: '/v1/billing/subscriptions/:subscription_id/pause',
  operation: 'billing.pauseSubscription',
  summary: 'Pause a subscription',
  scope: 'billing:write',
  limit: 'payments',
  params: SubscriptionParam,
  reply,
  errors: ['NOT_FOUND', 'INVALID_STATE'],
  needs: aSubscription,
  handle: async (app, tx, { params }, caller) =>
    recorded(tx, caller, 'subscription.pause', await pauseSubscription(app, tx, caller, params.subscription_id)),
})

const resume = write({
  method: 'POST',
  path: '/v1/billing/subscriptions/:subscription_id/resume',
  operation: 'billing.resumeSubscription',
  summary: 'Resume a subscription',
  description: 'A billed period continues. If it has ended, a new period starts now and ends on its regular date.',
  scope: 'billing:write',
  limit: 'payments',
  params: SubscriptionParam,
  reply,
  errors: ['NOT_FOUND', 'INVALID_STATE'],
  needs: aSubscription,
  handle: async (app, tx, { params }, caller) =>
    recorded(tx, caller, 'subscription.resume', await resumeSubscription(app, tx, caller, params.subscription_id)),
})

async function recorded(tx: Tx, caller: Caller, action: string, row: SubscriptionRow) {
  const subscription = recordOf(row)
  const { subscription_id, status, plan_id, quantity, cancel_at_period_end } = subscription
  await record(tx, caller, action, subscription_id, { after: { status, plan_id, quantity, cancel_at_period_end } })
  return subscription
}

export const subscriptionRoutes: readonly Route[] = [create, subscriptions, get, change, cancel, pause, resume]
