// SPDX-License-Identifier: Apache-2.0
// SQL of messages with their recipients, for reading.
import { maybe, type Queryable, statement } from '../../platform/db.ts'
import type { ShownBounds, Window } from '../../platform/schema/lists.ts'
import type { One, Tenant } from '../../platform/tenant.ts'
import type { TlsLevel } from './delivery/destinations.ts'
import type { Status } from './delivery/load.ts'

export interface RecipientRow {
  email: string
  name: string | null
  type: 'to' | 'cc' | 'bcc'
  status: Status
  attempts: number
  smtp_code: number | null
  enhanced_code: string | null
  smtp_response: string | null
  mx: string | null
  tls: string | null
  tls_level: TlsLevel | null
  bounce_type: 'hard' | 'soft' | null
  reason: string | null
  sent_at: string | null
  delivered_at: string | null
  next_attempt_at: string | null
  opened_at: string | null
  clicked_at: string | null
  open_count: number
  click_count: number
}

export interface MessageRow {
  id: string
  status: Status
  sender: string
  subject: string
  stream: 'transactional' | 'bulk'
  content_id: string
  template: string | null
  bulk_id: string | null
  variables: Record<string, unknown> | null
  tags: string[]
  metadata: string
  track_opens: boolean
  track_clicks: boolean
  callback_url: string | null
  reference: string | null
  size: number
  cost: bigint
  currency: string
  reason: string | null
  scheduled_at: Date | null
  created_at: Date
  each: RecipientRow[]
}

const columns = `m.id, m.status, m.sender, m.subject, m.stream, m.content_id, m.template, m.bulk_id, m.variables, m.tags, m.metadata, m.track_opens,
       m.track_clicks, m.callback_url, m.reference, m.size, m.cost, m.currency, m.reason, m.scheduled_at, m.created_at,
       (select jsonb_agg(to_jsonb(r) order by r.number) from email.recipients r
         where r.bucket = m.bucket and r.account_id = m.account_id and r.environment = m.environment and r.message_id = m.id) as each`

const find = statement.tenant<One, MessageRow>(
  'email.find_message',
  `select ${columns} from email.messages m
    where m.bucket = $bucket and m.account_id = $account and m.environment = $environment and m.id = $id`,
)

export async function findMessage(queryable: Queryable, tenant: Tenant, id: string): Promise<MessageRow | null> {
  return maybe(queryable.query(find, { ...tenant, id }))
}

export interface MessageFilter extends ShownBounds {
  status: string | null
  recipient: string | null
  sender: string | null
  tag: string | null
  bulk: string | null
  template: string | null
  reference: string | null
}

/** Pages of messages, from a table whose `key` has the order of the list. */
const listing = (name: string, from: string, key: string) =>
  statement.tenant<Tenant & MessageFilter & Window, MessageRow>(
    name,
    `select ${columns} from ${from}
      where m.bucket = $bucket and m.account_id = $account and m.environment = $environment and ${key} >= $from and ${key} < $to
        and ($since::timestamptz is null or m.created_at >= $since) and ($until::timestamptz is null or m.created_at < $until)
        and ($status::text is null or m.status = $status) and ($sender::text is null or strpos(m.sender, $sender) > 0)
        and ($tag::text is null or $tag = any(m.tags)) and ($bulk::uuid is null or m.bulk_id = $bulk)
        and ($template::text is null or m.template = $template) and ($reference::text is null or m.reference = $reference)
        and ($recipient::text is null or exists (
              select from email.recipients f
               where f.bucket = $bucket and f.account_id = $account and f.environment = $environment and f.email = $recipient
                 and f.message_id = m.id))
        and ($after::uuid is null or (case when $descending::boolean then ${key} < $after else ${key} > $after end))
      order by case when $descending then ${key} end desc, ${key}
      limit $limit::int + 1`,
  )

const list = listing('email.list_messages', 'email.messages m', 'm.id')

/** Messages found by another table. `offset 0` keeps PostgreSQL from reading all messages to join them. */
const found = `cross join lateral (select * from email.messages
  where bucket = $bucket and account_id = $account and environment = $environment and id = f.id offset 0) m`

/** Index: failures_pkey. */
const listFailed = listing(
  'email.list_failed_messages',
  `(select id from email.failures where bucket = $bucket and account_id = $account and environment = $environment) f ${found}`,
  'f.id',
)

/** Index: recipients_by_address. An address may stand in a message twice. */
const listOfRecipient = listing(
  'email.list_messages_of_recipient',
  `(select r.message_id as id from email.recipients r
     where r.bucket = $bucket and r.account_id = $account and r.environment = $environment and r.email = $recipient
       and not exists (select from email.recipients o
                        where o.bucket = $bucket and o.account_id = $account and o.environment = $environment
                          and o.email = $recipient and o.message_id = r.message_id and o.number < r.number)) f ${found}`,
  'f.id',
)

export async function listMessages(
  queryable: Queryable,
  tenant: Tenant,
  window: Window,
  filter: MessageFilter,
): Promise<MessageRow[]> {
  const { recipient, status } = filter
  const isFailed = status === 'failed' || status === 'bounced'
  const wanted = recipient !== null ? listOfRecipient : isFailed ? listFailed : list
  return queryable.query(wanted, { ...tenant, ...window, ...filter })
}
