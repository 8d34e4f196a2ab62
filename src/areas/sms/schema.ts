// SPDX-License-Identifier: Apache-2.0
// Shapes of messages as customers send and read them.
import { Type } from 'typebox'
import { e164, e164Rule } from '../../kernel/phone.ts'
import { senderForm, senderLength, senderPattern, senderRule } from '../../kernel/sender.ts'
import { metadataQuery } from '../../platform/metadata-filter.ts'
import {
  Amount,
  At,
  CountryCode,
  dayRangeQuery,
  JudgedApart,
  listQuery,
  Metadata,
  Moment,
  Nullable,
  OneOf,
} from '../../platform/schema.ts'
import { lengthRule, maxCharacters, maxSegments, messageTypes } from './message.ts'

export const maxRecipients = 1_000
const maxBulkMessages = 10_000
const leastValiditySeconds = 60
export const mostValiditySeconds = 172_800
export const mostDaysAhead = 365

export const Phone = (description?: string) =>
  Type.String({ pattern: e164, rule: e164Rule, errorCode: 'INVALID_PHONE', ...(description ? { description } : {}) })

export const Sender = Type.String({
  pattern: senderPattern,
  rule: senderRule,
  description: 'Who it is from: your sender ID or short code',
})

export const Text = Type.String({
  minLength: 1,
  maxLength: maxCharacters,
  sensitive: true,
  rule: lengthRule,
})

const CallbackUrl = Type.String({ rule: 'must be a text', description: 'Told of each change of status; https://' })
const ScheduledAt = Moment({ description: `When to send it: at most ${mostDaysAhead} days ahead` })
const Reference = Type.String({
  minLength: 1,
  maxLength: 64,
  rule: 'must have 1 to 64 characters',
  description: 'Your own id of the message, never used before',
})
const MessageType = OneOf(messageTypes, {
  description: '`otp` goes before everything else, to one recipient; `promotional` after everything else',
})
const BulkType = OneOf(['transactional', 'promotional'])

export const MessageSend = Type.Object({
  // The length of the list is checked by the verb: a rule here could not tell its own code from that of a number.
  to: Type.Union([Phone('One recipient'), Type.Array(JudgedApart(Type.String()))], {
    rule: e164Rule,
    errorCode: 'INVALID_PHONE',
    description: `A number, or a list of 1 to ${maxRecipients}`,
  }),
  from: Sender,
  message: Text,
  callback_url: Type.Optional(CallbackUrl),
  scheduled_at: Type.Optional(ScheduledAt),
  metadata: Type.Optional(Metadata),
  reference: Type.Optional(Reference),
  encoding: Type.Optional(
    OneOf(['auto', 'gsm7', 'ucs2'], { description: "`gsm7` writes ’ as ' and é as e if it must" }),
  ),
  validity: Type.Optional(
    Type.Integer({
      minimum: leastValiditySeconds,
      maximum: mostValiditySeconds,
      rule: `must be a whole number of seconds from ${leastValiditySeconds} to ${mostValiditySeconds}`,
      description: 'Seconds after which it is no longer worth delivering',
    }),
  ),
  type: Type.Optional(MessageType),
  max_segments: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxSegments,
      rule: `must be a whole number from 1 to ${maxSegments}`,
      description: 'Refuse the message if it needs more',
    }),
  ),
  shorten_urls: Type.Optional(
    Type.Boolean({
      default: false,
      rule: 'must be true or false',
      description:
        'True: https:// links become short ones, and the record of the message counts how often they are opened',
    }),
  ),
})

const status = OneOf(['queued', 'sent', 'delivered', 'failed', 'received'])
const encoding = OneOf(['gsm7', 'ucs2'])
const errorCode = Nullable(Type.String({ description: 'Why it failed' }))

const Recipient = Type.Object({
  to: Type.String(),
  message_id: Nullable(Type.String()),
  status,
  segments: Type.Integer(),
  cost: Amount(),
  currency: Type.String(),
  error_code: errorCode,
  existing_id: Type.Optional(Type.String({ description: 'The message that has this reference' })),
})

export const SendReply = Type.Object(
  {
    status,
    message_id: Type.String({ description: 'The message, or the batch when `to` is a list' }),
    to: Type.Union([Type.String(), Type.Array(Type.String())]),
    from: Type.String(),
    segments: Type.Integer({ description: 'For each recipient' }),
    cost: Amount(),
    currency: Type.String(),
    timestamp: At(),
    encoding,
    country: Nullable(Type.String()),
    network: Nullable(Type.String()),
    scheduled_at: Nullable(At()),
    messages: Type.Optional(Type.Array(Recipient)),
    accepted: Type.Optional(Type.Integer()),
    rejected: Type.Optional(Type.Integer()),
  },
  { title: 'SmsSendReply' },
)

/** An entry of a bulk. */
export const BulkMessage = Type.Object({
  to: Phone('The recipient'),
  message: Text,
  from: Type.Optional(Sender),
  metadata: Type.Optional(Metadata),
  reference: Type.Optional(Reference),
  scheduled_at: Type.Optional(ScheduledAt),
  callback_url: Type.Optional(CallbackUrl),
})

export const BulkSend = Type.Object({
  from: Sender,
  // What is wrong with an entry is said in its own verdict, so entries are checked one by one.
  messages: Type.Array(JudgedApart(BulkMessage), {
    minItems: 1,
    maxItems: maxBulkMessages,
    rule: `must be a list of 1 to ${maxBulkMessages} objects with to and message`,
  }),
  callback_url: Type.Optional(CallbackUrl),
  scheduled_at: Type.Optional(ScheduledAt),
  metadata: Type.Optional(Metadata),
  type: Type.Optional(BulkType),
  allow_partial: Type.Optional(
    Type.Boolean({ default: true, rule: 'must be true or false', description: 'False: one bad entry refuses all' }),
  ),
})

const BulkEntry = Type.Object({
  index: Type.Integer(),
  ...Recipient.properties,
  error: Type.Optional(Type.String()),
})

const batchHead = {
  batch_id: Type.String(),
  status: OneOf(['queued', 'completed', 'cancelled']),
  total: Type.Integer(),
  accepted: Type.Integer(),
  rejected: Type.Integer(),
  segments: Type.Integer(),
  cost: Amount(),
  currency: Type.String(),
  timestamp: At(),
}

export const BulkReply = Type.Object({ ...batchHead, messages: Type.Array(BulkEntry) }, { title: 'SmsBulkReply' })

export const BatchRecord = Type.Object(
  {
    ...batchHead,
    counts: Type.Object({
      queued: Type.Integer(),
      sent: Type.Integer(),
      delivered: Type.Integer(),
      failed: Type.Integer(),
    }),
    metadata: Metadata,
    completed_at: Nullable(At()),
    messages: Type.Optional(Type.Array(BulkEntry)),
    has_more: Type.Optional(Type.Boolean()),
    next_cursor: Type.Optional(Nullable(Type.String())),
  },
  { title: 'SmsBatch' },
)

export const BatchQuery = Type.Object({
  messages: Type.Optional(Type.Boolean({ rule: 'must be true or false', description: 'With a page of its messages' })),
  limit: listQuery.limit,
  cursor: listQuery.cursor,
})

const Change = Type.Object({
  status,
  at: At(),
  error_code: errorCode,
  carrier_code: Nullable(Type.String({ description: 'The operator’s own code' })),
})

export const MessageRecord = Type.Object(
  {
    message_id: Type.String(),
    status,
    direction: OneOf(['outbound', 'inbound']),
    to: Type.String(),
    from: Type.String(),
    message: Nullable(Type.String({ sensitive: true, description: 'Null once it was kept long enough' })),
    segments: Type.Integer(),
    parts: Type.Integer({ description: 'The same as segments' }),
    encoding,
    cost: Amount(),
    price_per_segment: Amount(),
    currency: Type.String(),
    created_at: At(),
    scheduled_at: Nullable(At()),
    sent_at: Nullable(At()),
    delivered_at: Nullable(At()),
    failed_at: Nullable(At()),
    error_code: errorCode,
    error: Nullable(Type.String()),
    metadata: Metadata,
    reference: Nullable(Type.String()),
    country: Nullable(Type.String()),
    network: Nullable(Type.String()),
    attempts: Type.Integer({ description: 'How often it was offered to a carrier' }),
    route: Type.Optional(
      Nullable(Type.String(), { description: 'The bind that took it; only told to keys with the scope operator' }),
    ),
    batch_id: Nullable(Type.String()),
    timeline: Type.Array(Change),
  },
  { title: 'SmsMessage' },
)

export const ShortLink = Type.Object({
  url: Type.String({ description: 'Where it leads' }),
  short_url: Type.String({ description: 'What stands in the text' }),
  clicks: Type.Integer({ description: 'How often it was opened' }),
  first_clicked_at: Nullable(At()),
  last_clicked_at: Nullable(At()),
})

/** A message or, when the id is that of a batch, a batch. */
export const Found = Type.Partial(
  Type.Object({
    ...MessageRecord.properties,
    ...BatchRecord.properties,
    status: Type.String(),
    batch_id: MessageRecord.properties.batch_id,
    links: Type.Array(ShortLink, { description: 'The short links in its text, if it was sent with shorten_urls' }),
  }),
  {
    title: 'SmsMessageOrBatch',
  },
)

export const MessageChange = Type.Object({
  scheduled_at: Type.Optional(ScheduledAt),
  message: Type.Optional(Text),
  metadata: Type.Optional(Metadata),
})

export const MessageList = Type.Object({
  ...listQuery,
  status: Type.Optional(status),
  to: Type.Optional(Type.String({ maxLength: 20 })),
  from: Type.Optional(Type.String({ maxLength: 20 })),
  direction: Type.Optional(OneOf(['outbound', 'inbound'])),
  ...dayRangeQuery,
  from_date: Type.Optional(
    Type.String({ maxLength: 40, description: 'First day or moment, where start_date is none' }),
  ),
  to_date: Type.Optional(Type.String({ maxLength: 40, description: 'Last day or moment, where end_date is none' })),
  batch_id: Type.Optional(Type.String({ maxLength: 40 })),
  scheduled: Type.Optional(
    Type.Boolean({
      rule: 'must be true or false',
      description: 'Only messages that wait for their time, or none of them',
    }),
  ),
  error_code: Type.Optional(Type.String({ maxLength: 40 })),
  reference: Type.Optional(Type.String({ maxLength: 64, description: 'Your own id of the message' })),
  country: Type.Optional(CountryCode()),
  q: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Part of the text, in any case' })),
  ...metadataQuery,
})

export const BalanceRecord = Type.Object(
  {
    balance: Amount(),
    currency: Type.String(),
    reserved: Amount(),
    available: Amount(),
    credit_limit: Amount(),
    low_balance: Type.Boolean({ description: 'Fewer than a hundred segments are left' }),
    estimated_segments: Type.Integer({ description: 'How many segments to the country of the account that buys' }),
    updated_at: At(),
  },
  { title: 'SmsBalance' },
)

export const EstimateReply = Type.Object(
  {
    segments: Type.Integer({ description: 'For each recipient' }),
    encoding,
    length: Type.Integer({ description: 'Characters' }),
    units_used: Type.Integer({ description: 'Septets, or UTF-16 units' }),
    units_left: Type.Integer({ description: 'Until another segment is needed' }),
    non_gsm: Type.Array(Type.String(), { description: 'Characters that make it UCS-2' }),
    suggestion: Nullable(Type.String({ description: 'The text with replacements that need fewer segments' })),
    suggestion_segments: Nullable(Type.Integer()),
    cost: Amount(),
    currency: Type.String(),
    recipients: Type.Integer(),
  },
  { title: 'SmsEstimate' },
)

export const AnalyticsQuery = Type.Object({
  from_date: Type.Optional(Type.String({ maxLength: 40, description: 'First day, UTC; 30 days ago unless given' })),
  to_date: Type.Optional(Type.String({ maxLength: 40, description: 'Last day, UTC; today unless given' })),
  country: Type.Optional(CountryCode()),
})

const figures = {
  messages: Type.Integer(),
  queued: Type.Integer(),
  sent: Type.Integer({ description: 'Taken by the operator, and nothing heard since' }),
  delivered: Type.Integer(),
  failed: Type.Integer(),
  delivery_rate: Nullable(Type.Number({ description: 'Delivered, of those that are delivered or failed: 0 to 1' })),
  segments: Type.Integer(),
  cost: Amount({ description: 'Without what was given back' }),
}

const seconds = Nullable(Type.Number(), { description: 'From the operator to the handset' })

export const AnalyticsReply = Type.Object(
  {
    from_date: Type.String(),
    to_date: Type.String(),
    currency: Type.String(),
    ...figures,
    latency_seconds: Type.Object({ p50: seconds, p95: seconds, p99: seconds }),
    countries: Type.Array(Type.Object({ country: Nullable(Type.String()), ...figures })),
    errors: Type.Array(Type.Object({ error_code: Type.String(), messages: Type.Integer() })),
  },
  { title: 'SmsAnalytics' },
)

export const PricingQuery = Type.Object({ country: Type.Optional(CountryCode()) })

export const PricingReply = Type.Object(
  {
    country: Type.String(),
    network: Nullable(Type.String({ description: 'Null: every other network of the country' })),
    mcc_mnc: Nullable(Type.String()),
    direction: OneOf(['outbound']),
    price: Amount({ description: 'Per segment' }),
    currency: Type.String(),
    effective_from: Nullable(At({ description: 'Since when; null while the operator has set no price' })),
  },
  { title: 'SmsPrice' },
)

export const PhoneParam = Type.Object({ phone: Type.String({ description: 'E.164, such as +254711000001' }) })

export const LookupReply = Type.Object(
  {
    phone: Type.String(),
    valid: Type.Boolean({ description: 'Whether such a number can exist' }),
    country: Nullable(Type.String()),
    calling_code: Nullable(Type.String()),
    national_format: Nullable(Type.String()),
    type: Nullable(Type.String({ description: 'mobile, fixed_line and others' })),
    network: Nullable(Type.String()),
    mcc_mnc: Nullable(Type.String()),
    original_network: Nullable(Type.String({ description: 'Whose range the number is from' })),
    ported: Nullable(Type.Boolean({ description: 'Null: not known' })),
    source: OneOf(['prefix', 'mnp'], { description: 'The numbering plan, or the list of ported numbers' }),
    reachable: Nullable(Type.Boolean({ description: 'Null: not asked' })),
    checked_at: At(),
  },
  { title: 'SmsLookup' },
)

export const OptOutCreate = Type.Object({
  phone: Phone('Who does not want messages'),
  from: Type.Optional(
    Type.String({
      pattern: `^(${senderForm}|\\+?[0-9]{3,15}|\\*)$`,
      rule: `must be a sender of ${senderLength}, a number, or *`,
      description: 'The sender it is about, in any case; all of them unless given',
    }),
  ),
  reason: Type.Optional(Type.String({ maxLength: 200, rule: 'must have at most 200 characters' })),
})

export const OptOutRecord = Type.Object(
  {
    phone: Type.String(),
    from: Type.String({ description: 'The sender it is about, a number without its plus; `*` for all' }),
    reason: Nullable(Type.String()),
    source: OneOf(['keyword', 'api', 'import', 'carrier']),
    created_at: At(),
  },
  { title: 'SmsOptOut' },
)

export const OptOutList = Type.Object({ ...listQuery, phone: Type.Optional(Type.String({ maxLength: 20 })) })

/** Everything that stands in the way of a number; one that nothing stands in the way of is not found. */
export const OptOutFound = Type.Object(
  { ...OptOutRecord.properties, opt_outs: Type.Array(OptOutRecord) },
  { title: 'SmsOptOutOfNumber' },
)

export const OptOutRemoved = Type.Object(
  {
    id: Type.String({ description: 'The number again' }),
    phone: Type.String(),
    deleted: Type.Literal(true),
    removed: Type.Integer({ description: 'How many opt-outs there were' }),
  },
  { title: 'SmsOptOutRemoved' },
)
