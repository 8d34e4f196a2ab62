// SPDX-License-Identifier: Apache-2.0
// Routes of plans.
import { type Static, Type } from 'typebox'
import { list, type Route, read, write } from '../../../platform/api/route.ts'
import { listQuery } from '../../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import { changePlan, createPlan, Plan, PlanCreate, PlanUpdate, planOf, requirePlan } from './plan.ts'
import { listPlans } from './store.ts'

const PlanParam = Type.Object({
  plan_id: Type.String({ description: 'Id of the plan, such as `plan_…`, or its code' }),
})

const create = write({
  method: 'POST',
  path: '/v1/billing/plans',
  operation: 'billing.createPlan',
  summary: 'Create a subscription plan',
  description: 'Price and interval cannot be changed: create another plan for another price.',
  scope: 'billing:write',
  limit: 'payments',
  body: PlanCreate,
  reply: {
    status: 201,
    schema: Plan,
    location: ({ plan_id }: Static<typeof Plan>) => `/v1/billing/plans/${plan_id}`,
  },
  errors: ['VALIDATION_ERROR', 'UNSUPPORTED_CURRENCY', 'DUPLICATE_REFERENCE'],
  examples: [
    {
      name: 'Every month',
      body: { name: 'Internet 20 Mbit/s', amount: 1500, currency: 'KES', interval: 'month', code: 'internet-20' },
    },
  ],
  handle: (app, tx, { body }, caller) => createPlan(app, tx, body, caller),
})

const get = read({
  method: 'GET',
  path: '/v1/billing/plans/:plan_id',
  operation: 'billing.getPlan',
  summary: 'Get a subscription plan',
  scope: 'billing:read',
  params: PlanParam,
  reply: { status: 200, schema: Plan },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant }) => planOf(await requirePlan(app.db, tenant, params.plan_id)),
})

const change = write({
  method: 'PATCH',
  path: '/v1/billing/plans/:plan_id',
  operation: 'billing.updatePlan',
  summary: 'Update a plan’s name or availability',
  description: 'Price and interval may be given, but are refused with 422 if they differ.',
  scope: 'billing:write',
  limit: 'payments',
  params: PlanParam,
  body: PlanUpdate,
  reply: { status: 200, schema: Plan },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
  examples: [{ name: 'Close the plan to new subscriptions', body: { active: false } }],
  handle: (_app, tx, { params, body }, caller) => changePlan(tx, params.plan_id, body, caller),
})

const plans = list({
  path: '/v1/billing/plans',
  operation: 'billing.plans',
  summary: 'List subscription plans',
  scope: 'billing:read',
  query: Type.Object({
    ...listQuery,
    active: Type.Optional(Type.Boolean({ description: 'True lists plans open for subscription, false closed ones' })),
    currency: Type.Optional(Type.String({ maxLength: 3, description: 'Filter by currency, such as KES' })),
    code: Type.Optional(Type.String({ maxLength: 50, description: 'Filter by your own code of the plan' })),
  }),
  row: Plan,
  examples: [{ name: 'Active plans', query: { active: true } }],
  handle: async (app, { query }, { tenant }) => {
    const window = windowOf(query)
    const rows = await app.db.query(listPlans, {
      ...tenant,
      ...window,
      active: query.active ?? null,
      currency: query.currency?.toUpperCase() ?? null,
      code: query.code ?? null,
    })
    return pageOf(window, rows, planOf)
  },
})

export const planRoutes: readonly Route[] = [create, plans, get, change]
