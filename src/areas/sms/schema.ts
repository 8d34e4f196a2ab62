// SPDX-License-Identifier: Apache-2.0
// Shapes of messages as customers send and read them.
import { Type } from 'typebox'
import { e164, e164Rule } from '../../kernel/phone.ts'
import { senderPattern, senderRule } from '../../kernel/sender.ts'
import { metadataQuery } from '../../platform/metadata/filter.ts'
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
} from '../../platform/schema/fields.ts'
import { Fallback } from './fallback/fallback.ts'
import { lengthRule, maxCharacters, maxSegments, messageTypes } from './message.ts'

export const maxRecipients = 1_000
const leastValiditySeconds = 60
export const mostValiditySeconds = 172_800
export const mostDaysAhead = 365

export const Phone = (description?: string) =>
  Type.String({ pattern: e164, rule: e164Rule, errorCode: 'INVALID_PHONE', ...(description ? { description } : {}) })

export const PhoneParam = Type.Object({ phone: Type.String({ description: 'E.164, such as +254711000001' }) })

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

export const CallbackUrl = Type.String({ description: 'Told of each change of status; https://' })
export const ScheduledAt = Moment({ description: `When to send it: at most ${mostDaysAhead} days ahead` })
export const Reference = Type.String({
  minLength: 1,
  maxLength: 64,
  rule: 'must have 1 to 64 characters',
  description: 'Your own id of the message, never used before',
})
const MessageType = OneOf(messageTypes, {
  description: '`otp` goes before everything else, to one recipient; `promotional` after everything else',
})

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
  fallback: Type.Optional(Fallback),
})

const Status = OneOf(['queued', 'sent', 'delivered', 'failed', 'received'])
const EncodingName = OneOf(['gsm7', 'ucs2'])
const ErrorCode = Nullable(Type.String({ description: 'Why it failed' }))

export const Recipient = Type.Object({
  to: Type.String(),
  message_id: Nullable(Type.String()),
  status: Status,
  segments: Type.Integer(),
  cost: Amount(),
  currency: Type.String(),
  error_code: ErrorCode,
  existing_id: Type.Optional(Type.String({ description: 'The message that has this reference' })),
})

export const SendReply = Type.Object(
  {
    status: Status,
    message_id: Type.String({ description: 'The message, or the batch when `to` is a list' }),
    to: Type.Union([Type.String(), Type.Array(Type.String())]),
    from: Type.String(),
    segments: Type.Integer({ description: 'For each recipient' }),
    cost: Amount(),
    currency: Type.String(),
    timestamp: At(),
    encoding: EncodingName,
    country: Nullable(Type.String()),
    network: Nullable(Type.String()),
    scheduled_at: Nullable(At()),
    messages: Type.Optional(Type.Array(Recipient)),
    accepted: Type.Optional(Type.Integer()),
    rejected: Type.Optional(Type.Integer()),
  },
  { title: 'SmsSendReply' },
)

export const EstimateReply = Type.Object(
  {
    segments: Type.Integer({ description: 'For each recipient' }),
    encoding: EncodingName,
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

const Change = Type.Object({
  status: Status,
  at: At(),
  error_code: ErrorCode,
  carrier_code: Nullable(Type.String({ description: 'The operator’s own code' })),
})

export const MessageRecord = Type.Object(
  {
    message_id: Type.String(),
    status: Status,
    direction: OneOf(['outbound', 'inbound']),
    to: Type.String(),
    from: Type.String(),
    message: Nullable(Type.String({ sensitive: true, description: 'Null once it was kept long enough' })),
    segments: Type.Integer(),
    parts: Type.Integer({ description: 'The same as segments' }),
    encoding: EncodingName,
    cost: Amount(),
    price_per_segment: Amount(),
    currency: Type.String(),
    created_at: At(),
    scheduled_at: Nullable(At()),
    sent_at: Nullable(At()),
    delivered_at: Nullable(At()),
    failed_at: Nullable(At()),
    error_code: ErrorCode,
    error: Nullable(Type.String()),
    fallback_message_id: Type.Optional(
      Nullable(Type.String(), { description: 'What it became over another channel; only where it was to go on' }),
    ),
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

export const MessageChange = Type.Object({
  scheduled_at: Type.Optional(ScheduledAt),
  message: Type.Optional(Text),
  metadata: Type.Optional(Metadata),
})

export const MessageList = Type.Object({
  ...listQuery,
  status: Type.Optional(Status),
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
