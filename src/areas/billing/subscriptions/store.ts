// SPDX-License-Identifier: Apache-2.0
// SQL of subscriptions. Changes lock the row first; the invoice it collects is locked before it, as confirmed payments
// do. `billing/area.ts` has the lock order.
import { stored } from '../../../platform/db/stored.ts'
import { statement } from '../../../platform/db.ts'
import { carriesMetadata } from '../../../platform/metadata/filter.ts'
import type { ShownBounds } from '../../../platform/schema/lists.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'
import type { Interval } from '../plans/calendar.ts'

export type SubscriptionStatus = 'trialing' | 'incomplete' | 'active' | 'past_due' | 'paused' | 'cancelled'

/** Fields of a subscription that change. */
export interface SubscriptionState {
  status: SubscriptionStatus
  plan_id: string
  quantity: number
  amount: bigint
  method: 'mobile_money' | 'card' | 'invoice'
  card_token: string | null
  phone: string | null
  provider: string | null
  interval: Interval
  interval_count: number
  anchor: string
  anchor_day: number
  cycle: number
  max_cycles: number | null
  period_start: Date
  period_end: Date
  paid_from: Date
  paid_amount: bigint
  trial_told: boolean
  cancel_at_period_end: boolean
  cancelled_at: Date | null
  cancel_reason: string | null
  latest_invoice_id: string | null
}

export interface SubscriptionRow extends SubscriptionState {
  id: string
  customer_id: string
  customer: Record<string, string>
  currency: string
  proration: 'create_prorations' | 'none'
  time_zone: string
  trial_end: Date | null
  next_at: Date | null
  reference: string | null
  callback_url: string | null
  metadata: Record<string, string | number | boolean>
  created_at: Date
}

export interface CollectionRow {
  invoice_id: string
  renews: boolean
  payment_id: string | null
  failures: number
  failed_at: Date | null
  try_at: Date | null
}

type Collecting = Tenant & { subscription: string; invoice: string }

const columns = `id, status, plan_id, customer_id, customer, quantity, amount, currency, method, card_token, phone, provider,
  proration, interval, interval_count, anchor, anchor_day, time_zone, cycle, max_cycles, period_start, period_end, paid_from, paid_amount,
  trial_end, trial_told, cancel_at_period_end, cancelled_at, cancel_reason, latest_invoice_id, next_at, reference, callback_url,
  metadata, created_at`

/** Columns that a new subscription comes with. */
const begun =
  stored(`status, plan_id, customer_id, customer::jsonb, quantity, amount, currency, method, card_token, phone, provider,
  proration, interval, interval_count, anchor, anchor_day, time_zone, max_cycles, period_start, period_end, trial_end,
  cancel_at_period_end, reference, callback_url, metadata::jsonb`)

type Begun = Omit<SubscriptionRow, keyof Later | 'id' | 'customer' | 'metadata' | 'next_at' | 'created_at'>
/** Columns that only a subscription that has begun has. */
type Later = Pick<
  SubscriptionState,
  'cycle' | 'paid_from' | 'paid_amount' | 'trial_told' | 'cancelled_at' | 'cancel_reason' | 'latest_invoice_id'
>

/** Inserts a subscription; no row when the reference was used before. */
export const insertSubscription = statement.tenant<
  One & Begun & { customer: string; metadata: string; at: Date },
  SubscriptionRow
>(
  'billing.insert_subscription',
  `insert into billing.subscriptions (bucket, account_id, environment, id, ${begun.names}, cycle, paid_from, paid_amount,
     created_at, updated_at)
   values ($bucket, $account, $environment, $id, ${begun.values}, 0, $period_start, 0, $at, $at)
   on conflict (bucket, account_id, environment, reference) where reference is not null do nothing
   returning ${columns}`,
)

export const findSubscription = statement.tenant<One, SubscriptionRow>(
  'billing.find_subscription',
  `select ${columns} from billing.subscriptions where ${mine} and id = $id`,
)

/** Locks a subscription until the transaction ends. */
export const lockSubscription = statement.tenant<One, SubscriptionRow>(
  'billing.lock_subscription',
  `select ${columns} from billing.subscriptions where ${mine} and id = $id for update`,
)

/** Locks those of the subscriptions that are not locked elsewhere (skip locked). */
export const lockSubscriptions = statement.tenant<Tenant & { ids: readonly string[] }, SubscriptionRow>(
  'billing.lock_subscriptions',
  `select ${columns} from billing.subscriptions where ${mine} and id = any($ids::uuid[]) order by id for update skip locked`,
)

export const findSubscriptionReference = statement.tenant<
  Tenant & { reference: string },
  { id: string; status: SubscriptionStatus }
>(
  'billing.find_subscription_reference',
  `select id, status from billing.subscriptions where ${mine} and reference = $reference`,
)

export const listSubscriptions = statement.tenant<
  Tenant &
    ShownBounds & {
      status: string | null
      plan: string | null
      customer: string | null
      reference: string | null
      metadata: string | null
      after: string | null
      descending: boolean
      limit: number
    },
  SubscriptionRow
>(
  'billing.list_subscriptions',
  `select ${columns} from billing.subscriptions
    where ${mine} and id >= $from::uuid and id < $to::uuid
      and ($since::timestamptz is null or created_at >= $since) and ($until::timestamptz is null or created_at < $until)
      and ($status::text is null or status = $status) and ($plan::uuid is null or plan_id = $plan)
      and ($customer::uuid is null or customer_id = $customer) and ($reference::text is null or reference = $reference)
      and ${carriesMetadata()}
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

/** Columns that change, those of SubscriptionState. */
const state =
  stored(`status, plan_id, quantity, amount, method, card_token, phone, provider, interval, interval_count, anchor,
  anchor_day, cycle, max_cycles, period_start, period_end, paid_from, paid_amount, trial_told, cancel_at_period_end, cancelled_at,
  cancel_reason, latest_invoice_id`)

/** Updates a subscription, guarded by the status it was read with. */
export const saveSubscription = statement.tenant<
  One & SubscriptionState & { from: SubscriptionStatus; nextAt: Date | null; at: Date },
  SubscriptionRow
>(
  'billing.save_subscription',
  `update billing.subscriptions set ${state.set}, next_at = $nextAt, updated_at = $at
    where ${mine} and id = $id and status = $from
   returning ${columns}`,
)

/** Updates a subscription's metadata. */
export const noteSubscription = statement.tenant<One & { metadata: string; at: Date }, SubscriptionRow>(
  'billing.note_subscription',
  `update billing.subscriptions set metadata = $metadata::jsonb, updated_at = $at where ${mine} and id = $id
   returning ${columns}`,
)

/** Next event sequence number of a subscription. */
export const nextSubscriptionSequence = statement.tenant<One, { sequence: number }>(
  'billing.count_told_of_subscription',
  `update billing.subscriptions set sequence = sequence + 1 where ${mine} and id = $id returning sequence`,
)

/** Inserts a period; no row when it exists. */
export const insertPeriod = statement.tenant<
  Tenant & { subscription: string; cycle: number; start: Date; end: Date },
  object
>(
  'billing.insert_period',
  `insert into billing.periods (bucket, account_id, environment, subscription_id, cycle, starts_at, ends_at)
   values ($bucket, $account, $environment, $subscription, $cycle, $start, $end)
   on conflict do nothing returning cycle`,
)

/** Inserts periods; returns only new ones. */
export const insertPeriods = statement.tenant<Tenant & { periods: string }, { subscription_id: string }>(
  'billing.insert_periods',
  `insert into billing.periods (bucket, account_id, environment, subscription_id, cycle, starts_at, ends_at)
   select $bucket, $account, $environment, n.subscription_id, n.cycle, n.starts_at, n.ends_at
     from jsonb_to_recordset($periods::jsonb)
            as n (subscription_id uuid, cycle int, starts_at timestamptz, ends_at timestamptz)
   on conflict do nothing returning subscription_id`,
)

/** Advances active, locked subscriptions to their next period. */
export const advanceSubscriptions = statement.tenant<Tenant & { periods: string; at: Date }, { id: string }>(
  'billing.advance_subscriptions',
  `update billing.subscriptions s
      set cycle = n.cycle, period_start = n.starts_at, period_end = n.ends_at, paid_from = n.starts_at,
          paid_amount = n.paid_amount, latest_invoice_id = n.invoice_id, next_at = n.next_at, updated_at = $at
     from jsonb_to_recordset($periods::jsonb) as n (subscription_id uuid, cycle int, starts_at timestamptz,
            ends_at timestamptz, paid_amount bigint, invoice_id uuid, next_at timestamptz)
    where s.bucket = $bucket and s.account_id = $account and s.environment = $environment and s.id = n.subscription_id
      and s.status = 'active' and s.cycle = n.cycle - 1
   returning s.id`,
)

const collectionColumns = 'invoice_id, renews, payment_id, failures, failed_at, try_at'

export const insertCollection = statement.tenant<
  Collecting & { renews: boolean; payment: string | null; tryAt: Date | null },
  object
>(
  'billing.insert_collection',
  `insert into billing.collections (bucket, account_id, environment, subscription_id, invoice_id, renews, payment_id, try_at)
   values ($bucket, $account, $environment, $subscription, $invoice, $renews, $payment, $tryAt)`,
)

export const insertCollections = statement.tenant<Tenant & { collections: string }, object>(
  'billing.insert_collections',
  `insert into billing.collections (bucket, account_id, environment, subscription_id, invoice_id, renews, try_at)
   select $bucket, $account, $environment, n.subscription_id, n.invoice_id, true, n.try_at
     from jsonb_to_recordset($collections::jsonb) as n (subscription_id uuid, invoice_id uuid, try_at timestamptz)`,
)

/** Subscriptions that have a bill to collect. */
export const withCollections = statement.tenant<Tenant & { ids: readonly string[] }, { subscription_id: string }>(
  'billing.with_collections',
  `select distinct subscription_id from billing.collections
    where ${mine} and subscription_id = any($ids::uuid[]) and try_at is not null`,
)

/** Next collection to try. */
export const nextCollection = statement.tenant<Tenant & { subscription: string }, CollectionRow>(
  'billing.next_collection',
  `select ${collectionColumns} from billing.collections
    where ${mine} and subscription_id = $subscription and try_at is not null order by try_at, invoice_id limit 1`,
)

/** Whether a charge is in progress. */
export const isCollecting = statement.tenant<Tenant, { found: boolean }>(
  'billing.is_collecting',
  `select exists (select from billing.collections where ${mine} and payment_id is not null) as found`,
)

/** Collection of the first bill of an incomplete subscription. */
export const firstCollection = statement.tenant<Tenant & { subscription: string }, CollectionRow>(
  'billing.first_collection',
  `select ${collectionColumns} from billing.collections
    where ${mine} and subscription_id = $subscription order by invoice_id limit 1`,
)

export const findCollection = statement.tenant<Collecting, CollectionRow>(
  'billing.find_collection',
  `select ${collectionColumns} from billing.collections
    where ${mine} and subscription_id = $subscription and invoice_id = $invoice`,
)

export const saveCollection = statement.tenant<
  Collecting & { payment: string | null; failures: number; failedAt: Date | null; tryAt: Date | null },
  object
>(
  'billing.save_collection',
  `update billing.collections set payment_id = $payment, failures = $failures, failed_at = $failedAt, try_at = $tryAt
    where ${mine} and subscription_id = $subscription and invoice_id = $invoice`,
)

/** Retries collections that are not in progress, at the earliest allowed time. */
export const tryAgain = statement.tenant<Tenant & { subscription: string; at: Date }, object>(
  'billing.try_again',
  `update billing.collections set try_at = $at
    where ${mine} and subscription_id = $subscription and payment_id is null`,
)

/** Locks the open bills of a subscription without a charge in progress, until the transaction ends. */
export const lockBills = statement.tenant<Tenant & { subscription: string }, { id: string }>(
  'billing.lock_bills',
  `select id from billing.invoices
    where ${mine} and status = 'open'
      and id in (select invoice_id from billing.collections
                  where ${mine} and subscription_id = $subscription and payment_id is null)
    order by id for update`,
)

/** Leaves bills without a charge in progress to the customer. */
export const leaveBills = statement.tenant<
  Tenant & { subscription: string; invoices: readonly string[] },
  { invoice_id: string }
>(
  'billing.leave_bills',
  `update billing.collections set failures = 0, failed_at = null, try_at = null
    where ${mine} and subscription_id = $subscription and invoice_id = any($invoices::uuid[]) and payment_id is null
   returning invoice_id`,
)

export const endCollection = statement.tenant<Collecting, CollectionRow>(
  'billing.end_collection',
  `delete from billing.collections where ${mine} and subscription_id = $subscription and invoice_id = $invoice
   returning ${collectionColumns}`,
)

export const endCollections = statement.tenant<Tenant & { subscription: string }, { invoice_id: string }>(
  'billing.end_collections',
  `delete from billing.collections where ${mine} and subscription_id = $subscription returning invoice_id`,
)

export const countUnpaid = statement.tenant<Tenant & { subscription: string }, { unpaid: number; failed: number }>(
  'billing.count_unpaid',
  `select count(*)::int as unpaid, (count(*) filter (where failures > 0))::int as failed
     from billing.collections where ${mine} and subscription_id = $subscription`,
)

export const timeZoneOf = statement.home<{ account: string }, { time_zone: string }>(
  'billing.time_zone_of',
  'select accounts.timezone_of($account::uuid) as time_zone',
)

/** Dunning settings of the account; null where not set. */
export const dunningOf = statement.home<{ account: string }, { days: number[] | null; end: string | null }>(
  'billing.dunning_of',
  `select (select s.value from accounts.with_setting('dunning_days') s where s.account_id = $account) as days,
          (select s.value #>> '{}' from accounts.with_setting('dunning_end') s where s.account_id = $account) as end`,
)
