// SPDX-License-Identifier: Apache-2.0
// SQL shared by the messenger area.
import { maybe, type Queryable, statement } from '../../platform/db.ts'
import { type Environment, mine, type One, type Tenant } from '../../platform/tenant.ts'
import type { MessageErrors } from './schema.ts'

export interface MessageRow {
  bucket: number
  account_id: string
  environment: Environment
  id: string
  direction: 'outbound' | 'inbound'
  status: 'accepted' | 'sent' | 'delivered' | 'read' | 'failed' | 'received'
  type: string
  recipient: string
  sender: string
  content: Record<string, unknown>
  context_id: string | null
  template: string | null
  language: string | null
  metadata: Record<string, string | number | boolean>
  callback_url: string | null
  fallback: { from: string; message: string; after?: number } | null
  fallback_id: string | null
  unit: string | null
  cost: bigint
  currency: string | null
  provider_id: string | null
  errors: MessageErrors | null
  request_id: string | null
  clock_offset_ms: bigint
  created_at: Date
  sent_at: Date | null
  delivered_at: Date | null
  read_at: Date | null
  failed_at: Date | null
}

const columns = `bucket, account_id, environment, id, direction, status, type, recipient, sender, content, context_id,
  template, language, metadata, callback_url, fallback, fallback_id, unit, cost, currency, provider_id, errors, request_id,
  clock_offset_ms, created_at, sent_at, delivered_at, read_at, failed_at`

const find = statement.tenant<One, MessageRow>(
  'messenger.find_message',
  `select ${columns} from messenger.messages where ${mine} and id = $id`,
)

export function findMessage(queryable: Queryable, tenant: Tenant, id: string): Promise<MessageRow | null> {
  const { bucket, account, environment } = tenant
  return maybe(queryable.query(find, { bucket, account, environment, id }))
}

interface MessageFilter {
  direction: string | null
  status: string | null
  recipient: string | null
  sender: string | null
  type: string | null
  template: string | null
  from: string
  to: string
  since: Date | null
  until: Date | null
  after: string | null
  descending: boolean
  limit: number
}

/** Pages of messages, from a table whose `key` has the order of the list. */
const listing = (name: string, from: string, key: string) =>
  statement.tenant<Tenant & MessageFilter, MessageRow>(
    name,
    `select ${columns} from ${from}
      where ${mine} and ${key} >= $from::uuid and ${key} < $to::uuid
        and ($direction::text is null or direction = $direction) and ($status::text is null or status = $status)
        and ($recipient::text is null or recipient = $recipient) and ($sender::text is null or sender = $sender)
        and ($type::text is null or type = $type) and ($template::text is null or template = $template)
        and ($since::timestamptz is null or created_at >= $since) and ($until::timestamptz is null or created_at < $until)
        and ($after::uuid is null or case when $descending::boolean then ${key} < $after else ${key} > $after end)
      order by case when $descending then ${key} end desc, case when not $descending then ${key} end
      limit $limit::int + 1`,
  )

const list = listing('messenger.list_messages', 'messenger.messages', 'id')

/** Index: failures_pkey. `offset 0` keeps PostgreSQL from reading all messages to join them. */
const listFailed = listing(
  'messenger.list_failed_messages',
  `(select id as failed_id from messenger.failures where ${mine}) f
   cross join lateral (select * from messenger.messages where ${mine} and id = f.failed_id offset 0) m`,
  'failed_id',
)

export function listMessages(queryable: Queryable, filter: Tenant & MessageFilter): Promise<MessageRow[]> {
  return queryable.query(filter.status === 'failed' ? listFailed : list, filter)
}

/** Latest messages with a user in both directions. Indexes: messages_with, messages_from. */
export const threadWith = statement.tenant<Tenant & { phone: string; limit: number }, MessageRow>(
  'messenger.thread_with',
  `select * from (
     (select ${columns} from messenger.messages where ${mine} and recipient = $phone order by id desc limit $limit::int)
     union all
     (select ${columns} from messenger.messages where ${mine} and sender = $phone order by id desc limit $limit::int)) thread
    order by id desc limit $limit::int`,
)

const findOneProviderId = statement.tenant<Tenant & { providerId: string }, { id: string }>(
  'messenger.find_provider_id',
  `select id from messenger.provider_ids where ${mine} and provider_id = $providerId`,
)

/** Message id by the provider's id. */
export async function findByProviderId(
  queryable: Queryable,
  tenant: Tenant,
  providerId: string,
): Promise<string | null> {
  const { bucket, account, environment } = tenant
  return (await maybe(queryable.query(findOneProviderId, { bucket, account, environment, providerId })))?.id ?? null
}

export interface ContactRow {
  phone: string
  name: string | null
  window_expires_at: Date | null
  last_inbound_at: Date | null
  opted_in_at: Date | null
  opted_out_at: Date | null
  source: string | null
  updated_at: Date
}

export const contactColumns =
  'phone, name, window_expires_at, last_inbound_at, opted_in_at, opted_out_at, source, updated_at'

const findOneContact = statement.tenant<Tenant & { phone: string }, ContactRow>(
  'messenger.find_contact',
  `select ${contactColumns} from messenger.contacts where ${mine} and phone = $phone`,
)

export function findContact(queryable: Queryable, tenant: Tenant, phone: string): Promise<ContactRow | null> {
  const { bucket, account, environment } = tenant
  return maybe(queryable.query(findOneContact, { bucket, account, environment, phone }))
}
