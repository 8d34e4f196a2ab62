// SPDX-License-Identifier: Apache-2.0
// Operator routes on plans and their limits.
import { type Static, Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { record } from '../../platform/api/audit.ts'
import { list, type Route, read, writeAcross } from '../../platform/api/route.ts'
import type { Caller } from '../../platform/auth.ts'
import { maybe, one, type Tx } from '../../platform/db.ts'
import { limitNames, PlanLimits } from '../../platform/limits/plan-limits.ts'
import { At, wholeListQuery } from '../../platform/schema/fields.ts'
import { pageOfWhole } from '../../platform/schema/lists.ts'
import { forget } from './keys.ts'
import { accountsOnPlan, findPlan, insertPlan, listPlans, lockPlan, type PlanRow, updatePlanLimits } from './store.ts'

const PlanRecord = Type.Object(
  {
    name: Type.String({ description: 'Name of the plan, as in `plan` of an account' }),
    limits: PlanLimits,
    updated_at: At({ description: 'Time at which its limits last changed' }),
  },
  { title: 'Plan' },
)

const PlanName = Type.String({
  pattern: '^[a-z][a-z0-9_-]{1,39}$',
  rule: 'must have 2 to 40 small letters, digits, - or _',
  description: 'Name of the plan, as in `plan` of an account',
})

const listAllPlans = list({
  path: '/v1/operator/plans',
  operation: 'operator.listPlans',
  summary: 'List plans and their limits',
  scope: 'operator',
  query: Type.Object(wholeListQuery),
  row: PlanRecord,
  examples: [{ name: 'All plans' }],
  handle: async ({ db }, { query }) =>
    pageOfWhole(query, (await db.query(listPlans, {})).map(planRecord), ({ name }) => name),
})

const createPlan = writeAcross({
  method: 'POST',
  path: '/v1/operator/plans',
  operation: 'operator.createPlan',
  summary: 'Create a plan',
  scope: 'operator',
  body: Type.Object({ name: PlanName, limits: PlanLimits }),
  reply: { status: 201, schema: PlanRecord, location: ({ name }) => `/v1/operator/plans/${name}` },
  errors: ['VALIDATION_ERROR', 'CONFLICT'],
  examples: [{ name: 'A plan for charities', body: { name: 'charity', limits: { sms: 200, email: 200 } } }],
  handle: async (_app, tx, { body }, caller) => {
    const made = await maybe(tx.query(insertPlan, { name: body.name, limits: JSON.stringify(body.limits) }))
    if (!made) throw new AppError('CONFLICT', 'a plan of that name exists; change it instead')
    return noted(tx, made, caller, 'plan.create')
  },
})

const getPlan = read({
  method: 'GET',
  path: '/v1/operator/plans/:name',
  operation: 'operator.getPlan',
  summary: 'Get a plan’s limits',
  scope: 'operator',
  params: Type.Object({ name: Type.String({ description: 'Name of the plan' }) }),
  reply: { status: 200, schema: PlanRecord },
  errors: ['NOT_FOUND'],
  handle: async ({ db }, { params }) => {
    const plan = await maybe(db.query(findPlan, { name: params.name }))
    if (!plan) throw noSuchPlan()
    return planRecord(plan)
  },
})

const updatePlan = writeAcross({
  method: 'PATCH',
  path: '/v1/operator/plans/:name',
  operation: 'operator.updatePlan',
  summary: 'Update a plan’s limits',
  scope: 'operator',
  params: Type.Object({ name: Type.String({ description: 'Name of the plan' }) }),
  body: Type.Object({ limits: PlanLimits }),
  reply: { status: 200, schema: PlanRecord },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR'],
  handle: async (app, tx, { params, body }, caller) => {
    const plan = await maybe(tx.query(lockPlan, { name: params.name }))
    if (!plan) throw noSuchPlan()
    const limits = JSON.stringify({ ...plan.limits, ...body.limits })
    const changed = await one(tx.query(updatePlanLimits, { name: plan.name, limits }))
    for (const { id } of await tx.query(accountsOnPlan, { plan: plan.name })) await forget(app, tx, id)
    return noted(tx, changed, caller, 'plan.update')
  },
})

async function noted(tx: Tx, plan: PlanRow, caller: Caller, action: string): Promise<Static<typeof PlanRecord>> {
  await record(tx, caller, action, plan.name, { after: plan })
  return planRecord(plan)
}

function noSuchPlan(): AppError {
  return new AppError('NOT_FOUND', 'there is no plan of that name; GET /v1/operator/plans lists them')
}

function planRecord({ name, limits, updated_at }: PlanRow) {
  return { name, limits: knownLimits(limits), updated_at }
}

/** Limits of areas that exist, in their order. */
export function knownLimits(limits: PlanRow['limits']): Static<typeof PlanLimits> {
  return Object.fromEntries(
    limitNames()
      .filter((area) => area in limits)
      .map((area) => [area, limits[area] ?? null]),
  )
}

export const planRoutes: readonly Route[] = [listAllPlans, createPlan, getPlan, updatePlan]
