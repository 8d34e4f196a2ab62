// SPDX-License-Identifier: Apache-2.0
// SQL of plans.
import { stored } from '../../../platform/db/stored.ts'
import { statement } from '../../../platform/db.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'
import type { Interval } from './calendar.ts'

export interface PlanRow {
  id: string
  code: string | null
  name: string
  description: string | null
  amount: bigint
  currency: string
  interval: Interval
  interval_count: number
  trial_days: number
  tax_rate: bigint
  tax_inclusive: boolean
  setup_fee: bigint
  active: boolean
  metadata: Record<string, string | number | boolean>
  created_at: Date
}

const columns = `id, code, name, description, amount, currency, interval, interval_count, trial_days, tax_rate, tax_inclusive,
  setup_fee, active, metadata, created_at`

const written =
  stored(`code, name, description, amount, currency, interval, interval_count, trial_days, tax_rate, tax_inclusive,
  setup_fee, active, metadata::jsonb`)

/** Inserts a plan; no row when the code was used before. */
export const insertPlan = statement.tenant<
  One & Omit<PlanRow, 'metadata' | 'created_at'> & { metadata: string; at: Date },
  PlanRow
>(
  'billing.insert_plan',
  `insert into billing.plans (bucket, account_id, environment, id, ${written.names}, created_at)
   values ($bucket, $account, $environment, $id, ${written.values}, $at)
   on conflict (bucket, account_id, environment, code) where code is not null do nothing
   returning ${columns}`,
)

export const findPlan = statement.tenant<One, PlanRow>(
  'billing.find_plan',
  `select ${columns} from billing.plans where ${mine} and id = $id`,
)

export const findPlans = statement.tenant<Tenant & { ids: readonly string[] }, PlanRow>(
  'billing.find_plans',
  `select ${columns} from billing.plans where ${mine} and id = any($ids::uuid[])`,
)

export const findCode = statement.tenant<Tenant & { code: string }, { id: string; active: boolean }>(
  'billing.find_plan_code',
  `select id, active from billing.plans where ${mine} and code = $code`,
)

/** Locks a plan until the transaction ends. */
export const lockPlan = statement.tenant<One, PlanRow>(
  'billing.lock_plan',
  `select ${columns} from billing.plans where ${mine} and id = $id for update`,
)

export const updatePlan = statement.tenant<
  One & { name: string; description: string | null; active: boolean; metadata: string },
  PlanRow
>(
  'billing.update_plan',
  `update billing.plans set name = $name, description = $description, active = $active, metadata = $metadata::jsonb
    where ${mine} and id = $id
   returning ${columns}`,
)

export const listPlans = statement.tenant<
  Tenant & {
    active: boolean | null
    currency: string | null
    code: string | null
    after: string | null
    descending: boolean
    limit: number
  },
  PlanRow
>(
  'billing.list_plans',
  `select ${columns} from billing.plans
    where ${mine} and ($active::boolean is null or active = $active) and ($currency::text is null or currency = $currency)
      and ($code::text is null or code = $code)
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)
