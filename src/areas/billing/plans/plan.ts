// SPDX-License-Identifier: Apache-2.0
// Plan: price and interval an account sells. Both are fixed at creation; a new price needs a new plan, so that
// subscribers pay what they agreed to.

import { type Static, Type } from 'typebox'
import { refuseCardNumbers } from '../../../kernel/card.ts'
import { AppError, alreadyUsed, invalid, invalidAt } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { type Currency, currencies, formatMicros, parseAmount } from '../../../kernel/money.ts'
import { currencyOf, currencyTaken } from '../../../ledger/currencies.ts'
import { record } from '../../../platform/api/audit.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one, type Queryable, type Tx } from '../../../platform/db.ts'
import { Amount, AmountIn, At, Metadata, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { intervals } from './calendar.ts'
import { findCode, findPlan, insertPlan, lockPlan, type PlanRow, updatePlan } from './store.ts'

/** Highest price of a period in micros: with any tax it fits an invoice. */
export const maxMicros = 999_999_999_999_000_000n
const taxDecimals = 4
const wholePercent = 100_000_000n

const name = Type.String({
  minLength: 1,
  maxLength: 100,
  rule: 'must have 1 to 100 characters',
  description: 'Name shown on invoices',
})
const description = Type.String({
  maxLength: 500,
  rule: 'must have at most 500 characters',
  description: 'Description for your own pages',
})

export const trialDays = Type.Integer({
  minimum: 0,
  maximum: 730,
  rule: 'must be 0 to 730 days',
  description: 'Trial days before the first charge',
})

export const PlanCreate = Type.Object({
  name,
  amount: AmountIn({ description: 'Price per interval in major units; may be 0' }),
  currency: Type.String({ maxLength: 3, description: 'Currency of all amounts, such as KES' }),
  interval: OneOf(intervals, { description: 'Billing interval' }),
  interval_count: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 365,
      rule: 'must be 1 to 365',
      description: 'Number of intervals in a period; default 1',
    }),
  ),
  trial_days: Type.Optional(trialDays),
  description: Type.Optional(description),
  code: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9][a-z0-9_-]{0,49}$',
      rule: 'must have 1 to 50 small letters, digits, - or _, and begin with a letter or digit',
      description: 'Your own code for the plan; must be unique',
    }),
  ),
  tax_rate: Type.Optional(AmountIn({ description: 'Tax rate in percent, 0 to 100, with at most 4 decimals' })),
  tax_inclusive: Type.Optional(Type.Boolean({ description: 'True if the amounts contain the tax' })),
  setup_fee: Type.Optional(AmountIn({ description: 'Setup fee, charged once with the first period' })),
  metadata: Type.Optional(Metadata),
  active: Type.Optional(Type.Boolean({ description: 'False closes the plan to new subscriptions' })),
})

const settled = Type.Partial(
  Type.Pick(PlanCreate, [
    'amount',
    'currency',
    'interval',
    'interval_count',
    'trial_days',
    'tax_rate',
    'tax_inclusive',
    'setup_fee',
    'code',
  ]),
).properties

/** Fixed fields may be sent back unchanged, as in a whole plan, but not altered. */
export const PlanUpdate = Type.Object({
  name: Type.Optional(name),
  description: Type.Optional(Nullable(description)),
  active: Type.Optional(
    Type.Boolean({ description: 'False closes the plan to new subscriptions; existing ones continue' }),
  ),
  metadata: Type.Optional(Metadata),
  ...settled,
  code: Type.Optional(Nullable(settled.code)),
})

export const Plan = Type.Object(
  {
    plan_id: Type.String({ description: 'Id of the plan, such as `plan_…`' }),
    code: Nullable(Type.String({ description: 'Your own code for the plan, accepted in place of its id' })),
    name: Type.String({ description: 'Name shown on invoices' }),
    description: Nullable(Type.String({ description: 'Description of the plan; null if none' })),
    amount: Amount({ description: 'Price per period, in major units' }),
    currency: Type.String({ description: 'Currency of all amounts, ISO 4217' }),
    interval: OneOf(intervals, { description: 'Unit of the period' }),
    interval_count: Type.Integer({ description: 'Number of these units in a period' }),
    trial_days: Type.Integer({ description: 'Trial days before the first charge' }),
    tax_rate: Amount({ description: 'Rate in percent' }),
    tax_inclusive: Type.Boolean({ description: 'True if the amounts contain the tax' }),
    setup_fee: Amount({ description: 'Setup fee, charged once with the first period' }),
    active: Type.Boolean({ description: 'False closes the plan to new subscriptions' }),
    metadata: Metadata,
    created_at: At({ description: 'Time of creation' }),
  },
  { title: 'BillingPlan' },
)

export async function createPlan(
  app: App,
  tx: Tx,
  input: Static<typeof PlanCreate>,
  caller: Caller,
): Promise<Static<typeof Plan>> {
  const { tenant, receivedMs, nowMs } = caller
  refuseCardNumbers({ name: input.name, description: input.description, metadata: input.metadata })
  const currency = currencyTaken(app, input.currency)
  const code = input.code ?? null
  const row = await maybe(
    tx.query(insertPlan, {
      ...tenant,
      id: newUuid(receivedMs),
      code,
      name: input.name,
      description: input.description ?? null,
      amount: amountOf('amount', input.amount, currency),
      currency,
      interval: input.interval,
      interval_count: input.interval_count ?? 1,
      trial_days: input.trial_days ?? 0,
      tax_rate: taxRateOf(input.tax_rate ?? 0),
      tax_inclusive: input.tax_inclusive ?? false,
      setup_fee: amountOf('setup_fee', input.setup_fee ?? 0, currency),
      active: input.active ?? true,
      metadata: JSON.stringify(input.metadata ?? {}),
      at: new Date(nowMs),
    }),
  )
  if (!row) throw await usedBefore(tx, tenant, code ?? '')
  const plan = planOf(row)
  await record(tx, caller, 'plan.create', plan.plan_id, { after: editable(row) })
  return plan
}

export async function changePlan(
  tx: Tx,
  name: string,
  input: Static<typeof PlanUpdate>,
  caller: Caller,
): Promise<Static<typeof Plan>> {
  const { tenant } = caller
  const { id } = await requirePlan(tx, tenant, name)
  const before = await one(tx.query(lockPlan, { ...tenant, id }))
  requireSettled(before, input)
  refuseCardNumbers({ name: input.name, description: input.description, metadata: input.metadata })
  const after = await one(
    tx.query(updatePlan, {
      ...tenant,
      id: before.id,
      name: input.name ?? before.name,
      description: input.description === undefined ? before.description : input.description,
      active: input.active ?? before.active,
      metadata: JSON.stringify(input.metadata ?? before.metadata),
    }),
  )
  await record(tx, caller, 'plan.update', idOf('plan', id), { before: editable(before), after: editable(after) })
  return planOf(after)
}

/** Refuses changes to fixed fields. */
function requireSettled(plan: PlanRow, input: Static<typeof PlanUpdate>): void {
  const currency = currencyOf(plan.currency)
  const given = {
    amount: input.amount === undefined ? undefined : amountOf('amount', input.amount, currency),
    setup_fee: input.setup_fee === undefined ? undefined : amountOf('setup_fee', input.setup_fee, currency),
    tax_rate: input.tax_rate === undefined ? undefined : taxRateOf(input.tax_rate),
    currency: input.currency?.toUpperCase(),
    interval: input.interval,
    interval_count: input.interval_count,
    trial_days: input.trial_days,
    tax_inclusive: input.tax_inclusive,
    code: input.code,
  }
  for (const [field, value] of Object.entries(given)) {
    const [, known] = Object.entries(plan).find(([name]) => name === field) ?? []
    if (value === undefined || value === known) continue
    throw invalid(field, 'cannot be changed: create another plan')
  }
}

/** Finds a plan by id or by the account's own code. */
export async function requirePlan(queryable: Queryable, tenant: Tenant, name: string): Promise<PlanRow> {
  const id = await planUuid(queryable, tenant, name)
  const row = id === undefined ? null : await maybe(queryable.query(findPlan, { ...tenant, id }))
  if (!row) throw noSuchPlan()
  return row
}

/** UUID of a plan by id or code; undefined when unknown. */
export async function planUuid(queryable: Queryable, tenant: Tenant, name: string): Promise<string | undefined> {
  return uuidOf('plan', name) ?? (await maybe(queryable.query(findCode, { ...tenant, code: name })))?.id
}

export function planOf({ id, ...row }: PlanRow): Static<typeof Plan> {
  return { plan_id: idOf('plan', id), ...row }
}

function noSuchPlan(): AppError {
  return new AppError(
    'NOT_FOUND',
    'there is no such plan; it is named by its id, which begins with plan_, or by its code',
  )
}

async function usedBefore(tx: Tx, tenant: Tenant, code: string): Promise<AppError> {
  const { id, active } = await one(tx.query(findCode, { ...tenant, code }))
  return alreadyUsed(`the code ${code}`, idOf('plan', id), active ? 'active' : 'inactive')
}

/** Amount that may be zero. */
function amountOf(field: string, given: number | string, currency: Currency): bigint {
  const micros = parseAmount(given, currencies[currency])
  if (typeof micros !== 'bigint') throw invalidAt(field, `${currency} ${micros.problem}`)
  if (micros > maxMicros) throw invalid(field, `must be at most ${formatMicros(maxMicros)}`)
  return micros
}

/** Tax rate in millionths of a percent. */
function taxRateOf(given: number | string): bigint {
  const rate = parseAmount(given, taxDecimals)
  if (typeof rate !== 'bigint') throw invalid('tax_rate', rate.problem)
  if (rate > wholePercent) throw invalid('tax_rate', 'must be at most 100')
  return rate
}

function editable({ name, description, active, metadata }: PlanRow): object {
  return { name, description, active, metadata }
}
