// SPDX-License-Identifier: Apache-2.0
// SQL of campaigns and their recipients.
import { statement } from '../../../platform/db.ts'
import type { Window } from '../../../platform/schema/lists.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'
import type { QuietHours } from './hours.ts'
import type { Channel, ContentOf, ScheduleOf, State } from './schema.ts'

interface VariantRow {
  name: string
  share: number
  content: ContentOf
}

export interface CampaignRow {
  id: string
  name: string
  /** Null for a list of customers. */
  segment_id: string | null
  channels: Channel[]
  content: ContentOf
  variants: VariantRow[]
  schedule: ScheduleOf
  quiet_hours: QuietHours | null
  rate: number | null
  budget: bigint | null
  currency: string
  state: State
  reason: string | null
  spent: bigint
  cursor: string | null
  gathered: boolean
  /** Who asked for the start, which a second person does; as `makerOf` says. */
  asked_by: string | null
  asked_at: Date | null
  /** Entries of the list that named somebody again. */
  duplicates: number
  job: string | null
  started_by: string | null
  started_at: Date | null
  finished_at: Date | null
  created_at: Date
  updated_at: Date
}

/** Recipients that are a customer, by the key: one for each campaign at most. */
const recipientOf = (customer: string): string =>
  `${mine} and campaign_id = any(array(select c.id from customers.campaigns c
      where c.bucket = $bucket and c.account_id = $account and c.environment = $environment)) and customer_id = ${customer}`

const columns = `id, name, segment_id, channels, content, variants, schedule, quiet_hours, rate, budget, currency, state, reason,
  spent, cursor, gathered, asked_by, asked_at, duplicates, job, started_by, started_at, finished_at, created_at, updated_at`

export const findCampaign = statement.tenant<One, CampaignRow>(
  'customers.find_campaign',
  `select ${columns} from customers.campaigns where ${mine} and id = $id`,
)

export const lockCampaign = statement.tenant<One, CampaignRow>(
  'customers.lock_campaign',
  `select ${columns} from customers.campaigns where ${mine} and id = $id for update`,
)

export const listCampaigns = statement.tenant<Tenant & Window & { state: string | null }, CampaignRow>(
  'customers.list_campaigns',
  `select ${columns} from customers.campaigns
    where ${mine} and ($state::text is null or state = $state)
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id limit $limit::int + 1`,
)

/** Settings as statements take them. */
export interface WrittenSettings {
  name: string
  segment: string | null
  channels: readonly string[]
  content: string
  variants: string
  schedule: string
  quietHours: string | null
  rate: number | null
  budget: bigint | null
}

export const insertCampaign = statement.tenant<One & WrittenSettings & { currency: string; at: Date }, CampaignRow>(
  'customers.insert_campaign',
  `insert into customers.campaigns (bucket, account_id, environment, id, name, segment_id, channels, content, variants, schedule,
     quiet_hours, rate, budget, currency, state, created_at, updated_at)
   values ($bucket, $account, $environment, $id, $name, $segment, $channels, $content::jsonb, $variants::jsonb, $schedule::jsonb,
     $quietHours::jsonb, $rate, $budget, $currency, 'draft', $at, $at)
   returning ${columns}`,
)

/** Each change has a later time than the one before, so that the time tells them apart. What was asked for was another draft. */
export const updateCampaign = statement.tenant<One & WrittenSettings & { at: Date }, CampaignRow>(
  'customers.update_campaign',
  `update customers.campaigns
      set name = $name, segment_id = $segment, channels = $channels, content = $content::jsonb, variants = $variants::jsonb,
          schedule = $schedule::jsonb, quiet_hours = $quietHours::jsonb, rate = $rate, budget = $budget, asked_by = null, asked_at = null,
          updated_at = greatest($at::timestamptz, updated_at + interval '1 millisecond')
    where ${mine} and id = $id returning ${columns}`,
)

/** Notes who asked for the start of a draft. */
export const askForStart = statement.tenant<One & { by: string; at: Date }, CampaignRow>(
  'customers.ask_for_campaign',
  `update customers.campaigns set asked_by = $by, asked_at = $at, updated_at = greatest($at::timestamptz, updated_at + interval '1 millisecond')
    where ${mine} and id = $id returning ${columns}`,
)

/** Forgets who asked for the start of a draft, which one person may start now. */
export const forgetAsked = statement.tenant<One, object>(
  'customers.forget_who_asked',
  `update customers.campaigns set asked_by = null, asked_at = null where ${mine} and id = $id`,
)

export const moveCampaign = statement.tenant<
  One & {
    state: State
    reason: string | null
    job: string | null
    startedBy: string | null
    startedAt: Date | null
    finishedAt: Date | null
    at: Date
  },
  CampaignRow
>(
  'customers.move_campaign',
  `update customers.campaigns
      set state = $state, reason = $reason, job = $job, started_by = $startedBy, started_at = $startedAt, finished_at = $finishedAt,
          updated_at = $at
    where ${mine} and id = $id returning ${columns}`,
)

export const noteGathered = statement.tenant<One & { cursor: string | null; gathered: boolean }, object>(
  'customers.note_gathered',
  `update customers.campaigns set cursor = $cursor, gathered = $gathered where ${mine} and id = $id`,
)

export const spendCampaign = statement.tenant<One & { cost: bigint }, object>(
  'customers.spend_campaign',
  `update customers.campaigns set spent = spent + $cost where ${mine} and id = $id`,
)

export const noteDuplicates = statement.tenant<One & { duplicates: number }, object>(
  'customers.note_campaign_duplicates',
  `update customers.campaigns set duplicates = $duplicates where ${mine} and id = $id`,
)

export const deleteRecipients = statement.tenant<One, object>(
  'customers.delete_campaign_recipients',
  `delete from customers.campaign_recipients where ${mine} and campaign_id = $id`,
)

/** Customers that ids stand for, one for each that is found: who was merged is whom they were merged into. */
export const standFor = statement.tenant<Tenant & { ids: readonly string[] }, { id: string }>(
  'customers.stand_for',
  `select coalesce(c.merged_into, c.id) as id from unnest($ids::uuid[]) w(id)
     join customers.customers c on c.bucket = $bucket and c.account_id = $account and c.environment = $environment and c.id = w.id
      and c.erased_at is null`,
)

/** Addresses among these at which somebody got the campaign already. */
export const reachedAt = statement.tenant<One & { addresses: readonly string[] }, { address: string }>(
  'customers.reached_at',
  `select r.address from unnest($addresses::text[]) w(address)
    cross join lateral (
      select o.address from customers.campaign_recipients o
       where o.bucket = $bucket and o.account_id = $account and o.environment = $environment and o.campaign_id = $id
         and o.address = w.address limit 1) r`,
)

/** Customers as recipients, each once; who was merged is whom they were merged into. */
export const insertRecipients = statement.tenant<
  One & { customers: readonly string[]; dues: readonly string[] },
  { customer_id: string }
>(
  'customers.insert_campaign_recipients',
  `insert into customers.campaign_recipients as r (bucket, account_id, environment, campaign_id, customer_id, state, due_at)
   select distinct on (coalesce(c.merged_into, c.id)) $bucket::smallint, $account::uuid, $environment::text, $id::uuid,
          coalesce(c.merged_into, c.id), 'waiting', w.due
     from unnest($customers::uuid[], $dues::timestamptz[]) w(customer, due)
     join customers.customers c on c.bucket = $bucket and c.account_id = $account and c.environment = $environment and c.id = w.customer
      and c.erased_at is null
   on conflict (bucket, account_id, environment, campaign_id, customer_id) do update set due_at = excluded.due_at where r.state = 'waiting'
   returning customer_id`,
)

export const dueRecipients = statement.tenant<One & { at: Date; limit: number }, { customer_id: string }>(
  'customers.due_campaign_recipients',
  `select customer_id from customers.campaign_recipients
    where ${mine} and campaign_id = $id and state = 'waiting' and due_at <= $at order by due_at, customer_id limit $limit::int`,
)

/** Recipients among these that still wait, kept from being merged away. */
export const lockWaiting = statement.tenant<One & { customers: readonly string[] }, { customer_id: string }>(
  'customers.lock_waiting_recipients',
  `select customer_id from customers.campaign_recipients
    where ${mine} and campaign_id = $id and customer_id = any($customers::uuid[]) and state = 'waiting'
    order by customer_id for update`,
)

export const nextDue = statement.tenant<One, { due_at: Date | null; waiting: boolean }>(
  'customers.next_campaign_due',
  `select min(due_at) as due_at, min(due_at) is not null as waiting from customers.campaign_recipients
    where ${mine} and campaign_id = $id and state = 'waiting'`,
)

export const listRecipients = statement.tenant<One & { after: string | null; limit: number }, { customer_id: string }>(
  'customers.list_campaign_recipients',
  `select customer_id from customers.campaign_recipients
    where ${mine} and campaign_id = $id and ($after::uuid is null or customer_id > $after) order by customer_id limit $limit::int`,
)

/** Outcome of recipients: sent, left out, or waiting for a later time. */
export const settleRecipients = statement.tenant<
  One & {
    customers: readonly string[]
    states: readonly string[]
    reasons: readonly string[]
    channels: readonly string[]
    variants: readonly number[]
    addresses: readonly string[]
    messages: readonly string[]
    costs: readonly string[]
    dues: readonly string[]
    at: Date
  },
  object
>(
  'customers.settle_campaign_recipients',
  `update customers.campaign_recipients r
      set state = s.state, reason = nullif(s.reason, ''), channel = nullif(s.channel, ''), variant = s.variant,
          address = nullif(s.address, ''), message_id = nullif(s.message, '')::uuid, cost = s.cost::bigint,
          due_at = coalesce(nullif(s.due, '')::timestamptz, r.due_at), sent_at = case when s.state = 'sent' then $at::timestamptz end
     from unnest($customers::uuid[], $states::text[], $reasons::text[], $channels::text[], $variants::smallint[], $addresses::text[],
                 $messages::text[], $costs::text[], $dues::text[]) s(customer, state, reason, channel, variant, address, message, cost, due)
    where r.bucket = $bucket and r.account_id = $account and r.environment = $environment and r.campaign_id = $id
      and r.customer_id = s.customer`,
)

export const insertBatches = statement.tenant<
  One & { batches: readonly string[]; channels: readonly string[]; variants: readonly number[] },
  object
>(
  'customers.insert_campaign_batches',
  `insert into customers.campaign_batches (bucket, account_id, environment, campaign_id, batch_id, channel, variant)
   select $bucket::smallint, $account::uuid, $environment::text, $id::uuid, b.batch, b.channel, b.variant
     from unnest($batches::uuid[], $channels::text[], $variants::smallint[]) b(batch, channel, variant)`,
)

export const listBatches = statement.tenant<One, { batch_id: string; channel: Channel; variant: number }>(
  'customers.list_campaign_batches',
  `select batch_id, channel, variant from customers.campaign_batches where ${mine} and campaign_id = $id`,
)

export const countRecipients = statement.tenant<
  One,
  { state: string; reason: string | null; channel: Channel | null; variant: number | null; count: number; cost: bigint }
>(
  'customers.count_campaign_recipients',
  `select state, reason, channel, variant, count(*)::int as count, sum(cost)::bigint as cost
     from customers.campaign_recipients where ${mine} and campaign_id = $id group by state, reason, channel, variant`,
)

export const countUnsubscribed = statement.tenant<One & { at: Date }, { count: number }>(
  'customers.count_campaign_unsubscribed',
  `select count(*)::int as count from customers.campaign_recipients r
    where r.bucket = $bucket and r.account_id = $account and r.environment = $environment and r.campaign_id = $id and r.state = 'sent'
      and case r.channel
            when 'email' then exists (select from email.withdrawals($bucket::smallint, $account, $environment, $at) w
                                       where w.address = r.address and w.at >= r.sent_at)
            when 'sms' then exists (select from sms.withdrawals($bucket::smallint, $account, $environment) w
                                     where w.address = r.address and w.at >= r.sent_at)
            else exists (select from messenger.wishes($bucket::smallint, $account, $environment) w
                          where w.address = r.address and not w.granted) end`,
)

export const chatsOf = statement.tenant<One, { message_id: string; variant: number }>(
  'customers.chats_of_campaign',
  `select message_id, variant from customers.campaign_recipients
    where ${mine} and campaign_id = $id and channel = 'messenger' and state = 'sent'`,
)

/** Gives what a customer gets of campaigns to another: who has it already gets nothing twice. */
export const moveRecipients = statement.tenant<Tenant & { from: string; into: string }, object>(
  'customers.move_campaign_recipients',
  `with gone as (
     delete from customers.campaign_recipients where ${recipientOf('$from::uuid')} returning *)
   insert into customers.campaign_recipients as r (bucket, account_id, environment, campaign_id, customer_id, state, due_at, reason, channel,
     variant, address, message_id, cost, sent_at)
   select g.bucket, g.account_id, g.environment, g.campaign_id, $into::uuid, g.state, g.due_at, g.reason, g.channel, g.variant, g.address,
     g.message_id, g.cost, g.sent_at from gone g
   on conflict (bucket, account_id, environment, campaign_id, customer_id) do update
     set state = excluded.state, reason = excluded.reason, channel = excluded.channel, variant = excluded.variant,
         address = excluded.address, message_id = excluded.message_id, cost = excluded.cost, sent_at = excluded.sent_at
     where r.state <> 'sent' and excluded.state = 'sent'`,
)

/** Takes a customer out of campaigns: whoever waits, or was left out, is no recipient any more. */
export const eraseRecipient = statement.tenant<One, { n: number }>(
  'customers.erase_campaign_recipient',
  `with gone as (
     delete from customers.campaign_recipients where ${recipientOf('$id')} and state <> 'sent' returning 1)
   select count(*)::int as n from gone`,
)

/** Takes the address out of what campaigns sent to a customer. */
export const emptyRecipient = statement.tenant<One, { n: number }>(
  'customers.empty_campaign_recipient',
  `with emptied as (
     update customers.campaign_recipients set address = null
      where ${recipientOf('$id')} and state = 'sent' and address is not null returning 1)
   select count(*)::int as n from emptied`,
)

/** Chat of a recipient that was handed over; without an address once the person was erased. */
export const findChat = statement.tenant<
  One & { customer: string },
  { address: string | null; message_id: string; variant: number; cost: bigint }
>(
  'customers.find_campaign_chat',
  `select address, message_id, variant, cost from customers.campaign_recipients
    where ${mine} and campaign_id = $id and customer_id = $customer and state = 'sent' and channel = 'messenger'`,
)

export const refuseChat = statement.tenant<One & { customer: string; reason: string }, { cost: bigint }>(
  'customers.refuse_campaign_chat',
  `with refused as (
     select bucket, account_id, environment, campaign_id, customer_id, cost from customers.campaign_recipients
      where ${mine} and campaign_id = $id and customer_id = $customer and state = 'sent' and channel = 'messenger' for update)
   update customers.campaign_recipients r set state = 'left_out', reason = $reason, message_id = null, cost = 0, sent_at = null
     from refused f
    where r.bucket = f.bucket and r.account_id = f.account_id and r.environment = f.environment and r.campaign_id = f.campaign_id
      and r.customer_id = f.customer_id
   returning f.cost`,
)
