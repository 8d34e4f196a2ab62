// SPDX-License-Identifier: Apache-2.0
// SQL of conversations.
import { firstBy } from '../../../platform/db/merging.ts'
import { statement } from '../../../platform/db.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'

export const states = ['open', 'snoozed', 'closed'] as const
export const channels = ['sms', 'messenger', 'email'] as const
export type Channel = (typeof channels)[number]

/** Conversation as it is stored. */
export interface StoredConversation {
  id: string
  customer_id: string
  state: (typeof states)[number]
  assignee: string | null
  unread: number
  channel: Channel | null
  address: string | null
  line: string | null
  place: string
  last_text: string | null
  last_direction: 'inbound' | 'outbound' | null
  last_at: Date | null
  waiting_since: Date | null
  snoozed_until: Date | null
  created_at: Date
  updated_at: Date
}

/** Conversation with what a reader knows the customer by. */
export interface ConversationRow extends StoredConversation {
  name: string | null
  phone: string | null
  email: string | null
}

const own = `t.id, t.customer_id, t.state, t.assignee, t.unread, t.channel, t.address, t.line, t.place, t.last_text,
  t.last_direction, t.last_at, t.waiting_since, t.snoozed_until, t.created_at, t.updated_at`

const shown = `select ${own}, c.name, c.phones[1] as phone, c.emails[1] as email
   from customers.conversations t join customers.customers c
     on c.bucket = t.bucket and c.account_id = t.account_id and c.environment = t.environment and c.id = t.customer_id
  where t.bucket = $bucket and t.account_id = $account and t.environment = $environment`

export const findConversation = statement.tenant<One, ConversationRow>(
  'customers.find_conversation',
  `${shown} and t.id = $id`,
)

/** Whether a member, or anybody, is assigned a conversation with a number. */
export const hasConversation = statement.tenant<Tenant & { member: string | null; phone: string }, { known: boolean }>(
  'customers.has_conversation',
  `select exists (
     select 1 from customers.addresses a join customers.conversations t
         on t.bucket = a.bucket and t.account_id = a.account_id and t.environment = a.environment
        and t.customer_id = a.customer_id
      where a.bucket = $bucket and a.account_id = $account and a.environment = $environment
        and a.kind = 'phone' and a.address = $phone and ($member::uuid is null or t.assignee = $member)) as known`,
)

/** Locks a conversation until the transaction ends. */
export const lockConversation = statement.tenant<One, ConversationRow>(
  'customers.lock_conversation',
  `${shown} and t.id = $id for update of t`,
)

export const conversationsOf = statement.tenant<Tenant & { customers: readonly string[] }, ConversationRow>(
  'customers.conversations_of',
  `${shown} and t.customer_id = any($customers::uuid[]) order by t.id for update of t`,
)

/** Begins conversations of an account one at a time, so that a customer never has two. Taken before anything else is locked. */
export const lockBeginnings = statement.tenant<Tenant, object>(
  'customers.lock_conversations',
  `select pg_advisory_xact_lock(hashtextextended('conversations ' || $account::text || $environment::text, $bucket::int))`,
)

export const listConversations = statement.tenant<
  Tenant & {
    state: string | null
    assignee: string | null
    /** Member whose conversations are all that is listed. */
    only: string | null
    unassigned: boolean
    unread: boolean | null
    customer: string | null
    after: string | null
    limit: number
  },
  ConversationRow
>(
  'customers.list_conversations',
  `${shown}
      and t.state = any(case when $state::text is null then array['open', 'snoozed', 'closed'] else array[$state] end)
      and ($assignee::uuid is null or t.assignee = $assignee) and (not $unassigned::boolean or t.assignee is null)
      and ($only::uuid is null or t.assignee = $only)
      and ($unread::boolean is null or (t.unread > 0) = $unread)
      and ($customer::uuid is null or t.customer_id = $customer)
      and ($after::uuid is null or t.place < $after)
    order by t.place desc limit $limit::int + 1`,
)

/** Most conversations that are counted. */
export const maxCounted = 1_000

/** Conversations of each view of an inbox, counted up to a limit; `only` is whose conversations are all that is counted. */
export const countConversations = statement.tenant<
  Tenant & { me: string | null; only: string | null },
  { mine: number; open: number; unassigned: number; snoozed: number; unread: number }
>(
  'customers.count_conversations',
  `select ${Object.entries({
    mine: `t.state = 'open' and t.assignee = $me::uuid`,
    open: `t.state = 'open'`,
    unassigned: `t.state = 'open' and t.assignee is null`,
    snoozed: `t.state = 'snoozed'`,
    unread: `t.state = 'open' and t.unread > 0`,
  })
    .map(
      ([name, condition]) => `(select count(*)::int from (
         select from customers.conversations t
          where t.bucket = $bucket and t.account_id = $account and t.environment = $environment
            and ($only::uuid is null or t.assignee = $only) and ${condition} limit ${maxCounted}) n) as ${name}`,
    )
    .join(',\n     ')}`,
)

/** Row as statements take it. */
export type Saved = Tenant & {
  id: string
  customer: string
  state: string
  assignee: string | null
  unread: number
  channel: string | null
  address: string | null
  line: string | null
  place: string
  lastText: string | null
  lastDirection: string | null
  lastAt: Date | null
  waitingSince: Date | null
  snoozedUntil: Date | null
  createdAt: Date
  updatedAt: Date
}

export const saveConversation = statement.tenant<Saved, object>(
  'customers.save_conversation',
  `insert into customers.conversations (bucket, account_id, environment, id, customer_id, state, assignee, unread, channel, address,
     line, place, last_text, last_direction, last_at, waiting_since, snoozed_until, created_at, updated_at)
   values ($bucket, $account, $environment, $id, $customer, $state, $assignee, $unread, $channel, $address, $line, $place,
     $lastText, $lastDirection, $lastAt, $waitingSince, $snoozedUntil, $createdAt, $updatedAt)
   on conflict (bucket, account_id, environment, id) do update
     set customer_id = excluded.customer_id, state = excluded.state, assignee = excluded.assignee, unread = excluded.unread,
         channel = excluded.channel, address = excluded.address, line = excluded.line, place = excluded.place,
         last_text = excluded.last_text, last_direction = excluded.last_direction, last_at = excluded.last_at,
         waiting_since = excluded.waiting_since, snoozed_until = excluded.snoozed_until, updated_at = excluded.updated_at`,
)

export const removeConversation = statement.tenant<One, object>(
  'customers.remove_conversation',
  `delete from customers.conversations where ${mine} and id = $id`,
)

export const insertReply = statement.tenant<Tenant & { message: string; conversation: string; author: string }, object>(
  'customers.insert_reply',
  `insert into customers.replies (bucket, account_id, environment, message_id, conversation_id, author)
   values ($bucket, $account, $environment, $message, $conversation, $author) on conflict do nothing`,
)

export const authorsOf = statement.tenant<
  Tenant & { messages: readonly string[] },
  { message_id: string; author: string }
>(
  'customers.authors_of',
  `select message_id, author from customers.replies where ${mine} and message_id = any($messages::text[])`,
)

export const moveReplies = statement.tenant<Tenant & { from: string; into: string }, object>(
  'customers.move_replies',
  `update customers.replies set conversation_id = $into where ${mine} and conversation_id = $from`,
)

/** Takes the events that were not noted yet; those taken before are left out. */
export const takeHeard = statement.tenant<Tenant & { ids: readonly string[] }, { id: string }>(
  'customers.take_heard',
  `delete from customers.heard where ${mine} and id = any($ids::uuid[]) returning id`,
)

export const listHeard = statement.everywhere<
  { buckets: readonly number[]; before: string; limit: number },
  { bucket: number; account_id: string; environment: 'test' | 'live'; id: string }
>(
  'customers.list_heard',
  `select bucket, account_id, environment, id from customers.heard
    where bucket = any($buckets::smallint[]) and id < $before::uuid order by id limit $limit::int`,
  {
    merge: firstBy(
      ({ id }) => id,
      ({ limit }) => limit,
    ),
  },
)
