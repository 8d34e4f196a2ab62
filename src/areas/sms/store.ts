// SPDX-License-Identifier: Apache-2.0
// Stored messages as the API reads and changes them.
import { maybe, one, type Queryable, statement, type Tx } from '../../platform/db.ts'
import { carriesMetadata } from '../../platform/metadata/filter.ts'
import type { Window } from '../../platform/schema/lists.ts'
import { mine, type Tenant } from '../../platform/tenant.ts'
import type { MessageType } from './message.ts'

/** The customer's own notes on a message. */
export type Notes = Record<string, string | number | boolean>

export interface MessageRow {
  id: string
  direction: 'outbound' | 'inbound'
  status: 'queued' | 'sent' | 'delivered' | 'failed' | 'received'
  recipient: string
  sender: string
  body: string | null
  encoding: 'gsm7' | 'ucs2'
  segments: number
  unit_price: bigint
  cost: bigint
  currency: string | null
  charges: number
  country: string | null
  network: string | null
  type: MessageType
  validity: number
  metadata: Notes
  reference: string | null
  callback_url: string | null
  batch_id: string | null
  batch_index: number | null
  scheduled_at: Date | null
  created_at: Date
  sent_at: Date | null
  delivered_at: Date | null
  failed_at: Date | null
  late_at: Date | null
  error_code: string | null
  carrier_code: string | null
  attempts: number
  /** The bind that took it. */
  route: string | null
  request_id: string | null
}

export const messageColumns = `id, direction, status, recipient, sender, body, encoding, segments, unit_price, cost, currency, charges, country,
       network, type, validity, metadata, reference, callback_url, batch_id, batch_index, scheduled_at, created_at, sent_at, delivered_at,
       failed_at, late_at, error_code, carrier_code, attempts, route, request_id`

const find = statement.tenant<Tenant & { id: string }, MessageRow>(
  'sms.find_message',
  `select ${messageColumns} from sms.messages
    where ${mine} and id = $id`,
)

export interface MessageFilter {
  /** Bounds on ids, and what was asked for by the account's own clock. */
  from: string
  to: string
  since: Date | null
  until: Date | null
  status: string | null
  recipient: string | null
  sender: string | null
  direction: string | null
  batch: string | null
  scheduled: boolean | null
  errorCode: string | null
  reference: string | null
  /** The account's own time: by it a message without a receipt has waited too long. */
  now: Date
  country: string | null
  text: string | null
  /** JSON object of texts. */
  metadata: string | null
}

/** Pages of messages, from a table whose `key` has the order of the list. */
const listing = (name: string, from: string, key: string) =>
  statement.tenant<Tenant & MessageFilter & { after: string | null; descending: boolean; limit: number }, MessageRow>(
    name,
    `select ${messageColumns} from ${from}
      where ${mine} and ${key} >= $from and ${key} < $to
        and ($since::timestamptz is null or created_at >= $since) and ($until::timestamptz is null or created_at < $until)
        and ($status::text is null or status = $status)
        and ($recipient::text is null or recipient = $recipient)
        and ($sender::text is null or sender = $sender)
        and ($direction::text is null or direction = $direction)
        and ($batch::uuid is null or batch_id = $batch)
        and ($scheduled::boolean is null or (scheduled_at is not null and status = 'queued') = $scheduled)
        and ($errorCode::text is null or error_code = $errorCode
             or ($errorCode = 'DLR_TIMEOUT' and status = 'sent'
                 and sent_at + validity * interval '1 second' + interval '1 day' < $now::timestamptz))
        and ($reference::text is null or reference = $reference)
        and ($country::text is null or country = $country)
        and ($text::text is null or strpos(lower(body), lower($text)) > 0)
        and ${carriesMetadata()}
        and ($after::uuid is null or (case when $descending::boolean then ${key} < $after else ${key} > $after end))
      order by case when $descending then ${key} end desc, ${key}
      limit $limit::int + 1`,
  )

const list = listing('sms.list_messages', 'sms.messages', 'id')

/** Index: failures_pkey. `offset 0` keeps PostgreSQL from reading all messages to join them. */
const listFailed = listing(
  'sms.list_failed_messages',
  `(select id as failed_id from sms.failures where ${mine}) f
   cross join lateral (select * from sms.messages where ${mine} and id = f.failed_id offset 0) m`,
  'failed_id',
)

const referenced = statement.tenant<Tenant & { reference: string }, { message_id: string }>(
  'sms.message_named',
  `select message_id from sms.references
    where ${mine} and reference = $reference`,
)

/** A message whose job was taken away, how long that had still to wait, and the encoding that was asked for, if one was. */
export interface TakenBack extends MessageRow {
  waits_ms: bigint
  wanted_encoding: MessageRow['encoding'] | null
}

const takeBack = statement.tenant<Tenant & { id: string }, TakenBack>(
  'sms.take_back',
  `select ${messageColumns}, waits_ms, wanted_encoding
     from sms.take_back($bucket::smallint, $account::uuid, $environment::text, $id::uuid) t
    cross join lateral (select (t.message).*) m`,
)

const cancel = statement.tenant<Tenant & { id: string; at: Date }, MessageRow>(
  'sms.cancel_message',
  `update sms.messages set status = 'failed', failed_at = $at, error_code = 'CANCELLED'
    where ${mine} and id = $id
   returning ${messageColumns}`,
)

const change = statement.tenant<
  Tenant & {
    id: string
    body: string | null
    encoding: string
    segments: number
    unitPrice: bigint
    cost: bigint
    charges: number
    metadata: string
    scheduledAt: Date | null
    job: string
  },
  MessageRow
>(
  'sms.change_message',
  `update sms.messages
      set body = $body, encoding = $encoding, segments = $segments, unit_price = $unitPrice, cost = $cost,
          charges = $charges, metadata = $metadata::jsonb,
          scheduled_at = $scheduledAt, job = $job
    where ${mine} and id = $id
   returning ${messageColumns}`,
)

export async function findMessage(queryable: Queryable, tenant: Tenant, id: string): Promise<MessageRow | null> {
  return maybe(queryable.query(find, { ...tenant, id }))
}

export async function listMessages(
  queryable: Queryable,
  tenant: Tenant,
  window: Window,
  filter: MessageFilter,
): Promise<MessageRow[]> {
  const { status, errorCode } = filter
  // A receipt that never came is an error of messages that were sent.
  const isFailed = status === 'failed' || (errorCode !== null && errorCode !== 'DLR_TIMEOUT')
  return queryable.query(isFailed ? listFailed : list, { ...tenant, ...window, ...filter })
}

/** The UUID of the message that was given a reference. */
export async function messageNamed(queryable: Queryable, tenant: Tenant, reference: string): Promise<string | null> {
  return (await maybe(queryable.query(referenced, { ...tenant, reference })))?.message_id ?? null
}

/** A message that is certain not to have been submitted, and now will not be; null when it may be out already. */
export async function takeBackMessage(tx: Tx, tenant: Tenant, id: string): Promise<TakenBack | null> {
  return maybe(tx.query(takeBack, { ...tenant, id }))
}

export async function cancelMessage(tx: Tx, tenant: Tenant, id: string, at: Date): Promise<MessageRow> {
  return one(tx.query(cancel, { ...tenant, id, at }))
}

export async function changeMessage(
  tx: Tx,
  tenant: Tenant,
  { id, body, encoding, segments, unit_price, cost, charges, metadata, scheduled_at }: MessageRow,
  job: string,
): Promise<MessageRow> {
  return one(
    tx.query(change, {
      ...tenant,
      id,
      body,
      encoding,
      segments,
      unitPrice: unit_price,
      cost,
      charges,
      metadata: JSON.stringify(metadata),
      scheduledAt: scheduled_at,
      job,
    }),
  )
}

/** The step of the ledger under which a message's present price was taken. */
export function chargeStep({ id, charges }: MessageRow): { sourceId: string; step: string } {
  return { sourceId: id, step: charges === 1 ? 'charge' : `charge:${charges}` }
}
