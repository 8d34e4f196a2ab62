// SPDX-License-Identifier: Apache-2.0
// Shapes of a bulk and of what became of it.
import { Type } from 'typebox'
import {
  Amount,
  At,
  JudgedApart,
  listQuery,
  Metadata,
  Nullable,
  OneOf,
  Phone,
} from '../../../platform/schema/fields.ts'
import {
  CallbackEventsWanted,
  CallbackUrl,
  MessageRecord,
  Recipient,
  Reference,
  ScheduledAt,
  Sender,
  ShortLink,
  Text,
} from '../schema.ts'

const maxMessages = 10_000

/** An entry of a bulk. */
export const BulkMessage = Type.Object({
  to: Phone({ description: 'Recipient address' }),
  message: Text,
  from: Type.Optional(Sender),
  metadata: Type.Optional(Metadata),
  reference: Type.Optional(Reference),
  scheduled_at: Type.Optional(ScheduledAt),
  callback_url: Type.Optional(CallbackUrl),
  callback_events: Type.Optional(CallbackEventsWanted),
})

export const BulkSend = Type.Object({
  from: Sender,
  // Each entry has a verdict of its own, so entries are checked one by one.
  messages: Type.Array(JudgedApart(BulkMessage), {
    minItems: 1,
    maxItems: maxMessages,
    rule: `must be a list of 1 to ${maxMessages} objects with to and message`,
    description:
      'Messages, each checked and charged on its own; `from`, `scheduled_at` and `callback_url` of the bulk are the defaults',
  }),
  callback_url: Type.Optional(CallbackUrl),
  callback_events: Type.Optional(CallbackEventsWanted),
  scheduled_at: Type.Optional(ScheduledAt),
  metadata: Type.Optional(Metadata),
  type: Type.Optional(
    OneOf(['transactional', 'promotional'], {
      description: '`promotional` is sent by day, with the lowest priority',
    }),
  ),
  allow_partial: Type.Optional(
    Type.Boolean({
      default: true,
      rule: 'must be true or false',
      description: 'False refuses the whole request if one entry is invalid',
    }),
  ),
})

const BulkEntry = Type.Object({
  index: Type.Integer({ description: 'Position in your list, from 0' }),
  ...Recipient.properties,
  error: Type.Optional(Type.String({ description: 'Reason for the refusal, in words' })),
})

const batchHead = {
  batch_id: Type.String({ description: 'Id of the bulk, such as `smb_…`' }),
  status: OneOf(['queued', 'completed', 'cancelled'], {
    description: '`completed` once every message is delivered or failed',
  }),
  total: Type.Integer({ description: 'Entries in the request' }),
  accepted: Type.Integer({ description: 'Messages accepted for sending' }),
  rejected: Type.Integer({ description: 'Entries that were refused' }),
  segments: Type.Integer({ description: 'Segments of all messages' }),
  cost: Amount({ description: 'Total cost, in major units of `currency`' }),
  currency: Type.String({ description: 'Currency of the cost, ISO 4217' }),
  timestamp: At({ description: 'Time of acceptance' }),
}

export const BulkReply = Type.Object(
  {
    ...batchHead,
    messages: Type.Array(BulkEntry, { description: 'One entry for each of your list, in order' }),
  },
  { title: 'SmsBulkReply' },
)

export const BatchRecord = Type.Object(
  {
    ...batchHead,
    counts: Type.Object(
      {
        queued: Type.Integer({ description: 'Messages not sent yet' }),
        sent: Type.Integer({ description: 'Accepted by the network, without a report so far' }),
        delivered: Type.Integer({ description: 'Messages delivered to the handset' }),
        failed: Type.Integer({ description: 'Messages that failed' }),
      },
      { description: 'Messages by status' },
    ),
    metadata: Metadata,
    completed_at: Nullable(
      At({
        description: 'Time of completion; null until every message is delivered, failed, or past the time for reports',
      }),
    ),
    messages: Type.Optional(Type.Array(BulkEntry, { description: 'One entry for each of your list, in order' })),
    has_more: Type.Optional(Type.Boolean({ description: 'True if there are further entries' })),
    next_cursor: Type.Optional(Nullable(Type.String({ description: 'Cursor of the next entries' }))),
  },
  { title: 'SmsBatch' },
)

export const BatchQuery = Type.Object({
  messages: Type.Optional(
    Type.Boolean({ rule: 'must be true or false', description: 'Includes a page of its messages' }),
  ),
  limit: listQuery.limit,
  cursor: listQuery.cursor,
})

/** A message or, when the id is that of a batch, all of it as if it were one: `to` is a list, and `counts` are there too. */
export const Found = Type.Partial(
  Type.Object({
    ...MessageRecord.properties,
    ...BatchRecord.properties,
    status: Type.String({ description: 'Status of the message, or of the batch' }),
    to: Type.Union([Type.String(), Type.Array(Type.String())], { description: 'Recipient, or all of the batch' }),
    batch_id: MessageRecord.properties.batch_id,
    links: Type.Array(ShortLink, { description: 'The short links in its text, if it was sent with shorten_urls' }),
  }),
  {
    title: 'SmsMessageOrBatch',
  },
)
