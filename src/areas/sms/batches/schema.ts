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
  to: Phone({ description: 'The recipient' }),
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
      'Each entry is judged and charged for itself; `from`, `scheduled_at` and `callback_url` of the bulk hold where an entry has none',
  }),
  callback_url: Type.Optional(CallbackUrl),
  callback_events: Type.Optional(CallbackEventsWanted),
  scheduled_at: Type.Optional(ScheduledAt),
  metadata: Type.Optional(Metadata),
  type: Type.Optional(
    OneOf(['transactional', 'promotional'], {
      description: '`promotional` goes out by day, and after everything else',
    }),
  ),
  allow_partial: Type.Optional(
    Type.Boolean({ default: true, rule: 'must be true or false', description: 'False: one bad entry refuses all' }),
  ),
})

const BulkEntry = Type.Object({
  index: Type.Integer({ description: 'Place in your list, from 0' }),
  ...Recipient.properties,
  error: Type.Optional(Type.String({ description: 'Why it was refused, in words' })),
})

const batchHead = {
  batch_id: Type.String({ description: 'Id of the bulk, such as `smb_…`' }),
  status: OneOf(['queued', 'completed', 'cancelled'], {
    description: '`completed` once every message is delivered or failed',
  }),
  total: Type.Integer({ description: 'Entries that you sent' }),
  accepted: Type.Integer({ description: 'Messages that go out' }),
  rejected: Type.Integer({ description: 'Entries that were refused' }),
  segments: Type.Integer({ description: 'Of all messages' }),
  cost: Amount({ description: 'Of all messages, in major units of `currency`' }),
  currency: Type.String({ description: 'Of the cost' }),
  timestamp: At({ description: 'When it was accepted' }),
}

export const BulkReply = Type.Object(
  {
    ...batchHead,
    messages: Type.Array(BulkEntry, { description: 'One entry for each of your list, in its order' }),
  },
  { title: 'SmsBulkReply' },
)

export const BatchRecord = Type.Object(
  {
    ...batchHead,
    counts: Type.Object(
      {
        queued: Type.Integer({ description: 'Not sent yet' }),
        sent: Type.Integer({ description: 'Taken by the network, without a report so far' }),
        delivered: Type.Integer({ description: 'On the handset' }),
        failed: Type.Integer({ description: 'Will not arrive' }),
      },
      { description: 'Messages by status' },
    ),
    metadata: Metadata,
    completed_at: Nullable(
      At({ description: 'Null until every message is delivered or failed, or no report can come any more' }),
    ),
    messages: Type.Optional(Type.Array(BulkEntry, { description: 'One entry for each of your list, in its order' })),
    has_more: Type.Optional(Type.Boolean({ description: 'Whether there are further entries' })),
    next_cursor: Type.Optional(Nullable(Type.String({ description: 'Leads to the next entries' }))),
  },
  { title: 'SmsBatch' },
)

export const BatchQuery = Type.Object({
  messages: Type.Optional(Type.Boolean({ rule: 'must be true or false', description: 'With a page of its messages' })),
  limit: listQuery.limit,
  cursor: listQuery.cursor,
})

/** A message or, when the id is that of a batch, all of it as if it were one: `to` is a list, and `counts` are there too. */
export const Found = Type.Partial(
  Type.Object({
    ...MessageRecord.properties,
    ...BatchRecord.properties,
    status: Type.String({ description: 'Of the message, or of the batch' }),
    to: Type.Union([Type.String(), Type.Array(Type.String())], { description: 'One number, or all of the batch' }),
    batch_id: MessageRecord.properties.batch_id,
    links: Type.Array(ShortLink, { description: 'The short links in its text, if it was sent with shorten_urls' }),
  }),
  {
    title: 'SmsMessageOrBatch',
  },
)
