// SPDX-License-Identifier: Apache-2.0
// Shapes of messages as customers send and read them.
import { Type } from 'typebox'
import { e164Rule } from '../../kernel/phone.ts'
import { textSenderPattern, textSenderRule } from '../../kernel/sender.ts'
import { callbackEvents } from '../../platform/auth.ts'
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
  Phone,
} from '../../platform/schema/fields.ts'
import { Fallback } from './fallback/fallback.ts'
import { lengthRule, maxCharacters, maxSegments, messageTypes } from './message.ts'

export const maxRecipients = 1_000
const leastValiditySeconds = 60
export const maxValiditySeconds = 172_800
export const maxDaysAhead = 365

export const PhoneParam = Type.Object({ phone: Type.String({ description: 'E.164, such as +254711000001' }) })

export const Sender = Type.String({
  pattern: textSenderPattern,
  rule: textSenderRule,
  description: 'Who it is from: your sender ID or short code, or a number of yours in E.164, such as +254711000099',
})

export const Text = Type.String({
  minLength: 1,
  maxLength: maxCharacters,
  sensitive: true,
  rule: lengthRule,
  description:
    'What the handset shows. Each segment is charged: 160 characters (153 where there are several), or 70 (67) if one is outside GSM 7-bit, such as an emoji',
})

export const CallbackUrl = Type.String({ description: 'Told of each change of status; https://' })
export const CallbackEventsWanted = OneOf(callbackEvents, {
  description:
    'What `callback_url` is told: `all` changes of status, or `final`, only `delivered` or `failed`; as the key or the account has it unless given',
})
export const ScheduledAt = Moment({ description: `When to send it: at most ${maxDaysAhead} days ahead` })
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
  to: Type.Union([Phone({ description: 'One recipient' }), Type.Array(JudgedApart(Type.String()))], {
    rule: e164Rule,
    errorCode: 'INVALID_PHONE',
    description: `A number, or a list of 1 to ${maxRecipients}`,
  }),
  from: Sender,
  message: Text,
  callback_url: Type.Optional(CallbackUrl),
  callback_events: Type.Optional(CallbackEventsWanted),
  scheduled_at: Type.Optional(ScheduledAt),
  metadata: Type.Optional(Metadata),
  reference: Type.Optional(Reference),
  encoding: Type.Optional(
    OneOf(['auto', 'gsm7', 'ucs2'], { description: "`gsm7` writes ’ as ' and é as e if it must" }),
  ),
  validity: Type.Optional(
    Type.Integer({
      minimum: leastValiditySeconds,
      maximum: maxValiditySeconds,
      rule: `must be a whole number of seconds from ${leastValiditySeconds} to ${maxValiditySeconds}`,
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

const Status = OneOf(['queued', 'sent', 'delivered', 'failed', 'received'], {
  description: '`queued`, `sent` (the network has it), `delivered`, `failed`, or `received` from a handset',
})
const EncodingName = OneOf(['gsm7', 'ucs2'], { description: '`gsm7` has 160 characters in a segment, `ucs2` 70' })
const ErrorCode = Nullable(
  Type.String({ description: 'Why it failed, such as `ABSENT_SUBSCRIBER`; null unless it did' }),
)

export const Recipient = Type.Object({
  to: Type.String({ description: 'The number in E.164' }),
  message_id: Nullable(Type.String({ description: 'Id of the message, such as `sms_…`; null if it was refused' })),
  status: Status,
  segments: Type.Integer({ description: 'What it is charged for' }),
  cost: Amount({ description: 'In major units of `currency`; 0 if it was refused' }),
  currency: Type.String({ description: 'Of the cost' }),
  error_code: ErrorCode,
  existing_id: Type.Optional(Type.String({ description: 'The message that has this reference' })),
})

export const SendReply = Type.Object(
  {
    status: Status,
    message_id: Type.String({ description: 'The message, or the batch when `to` is a list' }),
    to: Type.Union([Type.String(), Type.Array(Type.String())], { description: 'As you sent it' }),
    from: Type.String({ description: 'The sender that the handset shows' }),
    segments: Type.Integer({ description: 'For each recipient' }),
    cost: Amount({ description: 'Of all recipients, in major units of `currency`' }),
    currency: Type.String({ description: 'Of the cost' }),
    timestamp: At({ description: 'When it was accepted' }),
    encoding: EncodingName,
    country: Nullable(Type.String({ description: 'Where the number belongs, ISO 3166; null for a list' })),
    network: Nullable(Type.String({ description: 'Network of the number, as far as it is known; null for a list' })),
    scheduled_at: Nullable(At({ description: 'When it will go out; null if at once' })),
    messages: Type.Optional(
      Type.Array(Recipient, { description: 'One entry for each recipient, in your order; only where `to` is a list' }),
    ),
    accepted: Type.Optional(Type.Integer({ description: 'Recipients that will get it; only where `to` is a list' })),
    rejected: Type.Optional(
      Type.Integer({ description: 'Recipients that will not, and why is said of each; only where `to` is a list' }),
    ),
  },
  { title: 'SmsSendReply' },
)

export const EstimateReply = Type.Object(
  {
    segments: Type.Integer({ description: 'For each recipient' }),
    encoding: EncodingName,
    length: Type.Integer({ description: 'Characters of your text' }),
    units_used: Type.Integer({ description: 'Septets, or UTF-16 units' }),
    units_left: Type.Integer({ description: 'Until another segment is needed' }),
    non_gsm: Type.Array(Type.String(), { description: 'Characters that make it UCS-2' }),
    suggestion: Nullable(Type.String({ description: 'The text with replacements that need fewer segments' })),
    suggestion_segments: Nullable(
      Type.Integer({ description: 'Segments of the suggestion; null where there is none' }),
    ),
    cost: Amount({ description: 'Of all recipients, in major units of `currency`' }),
    currency: Type.String({ description: 'Of the cost' }),
    recipients: Type.Integer({ description: 'Numbers that it would go to' }),
  },
  { title: 'SmsEstimate' },
)

const Change = Type.Object({
  status: Status,
  at: At({ description: 'When it became so' }),
  error_code: ErrorCode,
  carrier_code: Nullable(Type.String({ description: 'The network’s own code' })),
})

export const MessageRecord = Type.Object(
  {
    message_id: Type.String({ description: 'Id of the message, such as `sms_…`' }),
    status: Status,
    direction: OneOf(['outbound', 'inbound'], { description: '`outbound` from you, `inbound` from a handset' }),
    to: Type.String({ description: 'Who has it: a number, or your short code' }),
    from: Type.String({ description: 'Who wrote it: your sender, or a handset' }),
    message: Nullable(Type.String({ sensitive: true, description: 'Null once it was kept long enough' })),
    segments: Type.Integer({ description: 'What it is charged for' }),
    parts: Type.Integer({ description: 'The same as segments' }),
    encoding: EncodingName,
    cost: Amount({ description: 'In major units of `currency`; 0 if it failed before the network had it' }),
    price_per_segment: Amount({ description: 'In major units of `currency`' }),
    currency: Type.String({ description: 'Of cost and price' }),
    created_at: At({ description: 'When it was accepted or came in' }),
    scheduled_at: Nullable(At({ description: 'When it was to go out; null if at once' })),
    sent_at: Nullable(At({ description: 'When the network took it' })),
    delivered_at: Nullable(At({ description: 'When the handset had it, as the network reports' })),
    failed_at: Nullable(At({ description: 'When it became clear that it will not arrive' })),
    error_code: ErrorCode,
    error: Nullable(Type.String({ description: 'The same in words' })),
    fallback_message_id: Type.Optional(
      Nullable(Type.String(), { description: 'What it became over another channel; only where it was to go on' }),
    ),
    metadata: Metadata,
    reference: Nullable(Type.String({ description: 'Your own id of it' })),
    country: Nullable(Type.String({ description: 'Where the number belongs, ISO 3166' })),
    network: Nullable(Type.String({ description: 'Network of the number, as far as it is known' })),
    attempts: Type.Integer({ description: 'How often it was offered to a carrier' }),
    route: Type.Optional(
      Nullable(Type.String(), { description: 'The bind that took it; only told to keys with the scope operator' }),
    ),
    batch_id: Nullable(Type.String({ description: 'The bulk or list it was sent with' })),
    timeline: Type.Array(Change, { description: 'What became of it, oldest first' }),
  },
  { title: 'SmsMessage' },
)

export const ShortLink = Type.Object({
  url: Type.String({ description: 'Where it leads' }),
  short_url: Type.String({ description: 'What stands in the text' }),
  clicks: Type.Integer({ description: 'How often it was opened' }),
  first_clicked_at: Nullable(At({ description: 'Null until it is opened' })),
  last_clicked_at: Nullable(At({ description: 'Null until it is opened' })),
})

export const MessageChange = Type.Object({
  scheduled_at: Type.Optional(ScheduledAt),
  message: Type.Optional(Text),
  metadata: Type.Optional(Metadata),
})

export const MessageList = Type.Object({
  ...listQuery,
  status: Type.Optional(Status),
  to: Type.Optional(
    Type.String({
      maxLength: 20,
      description: 'Whole number in E.164, such as +254711000001; of inbound messages your number or short code',
    }),
  ),
  from: Type.Optional(
    Type.String({
      maxLength: 20,
      description: 'Sender exactly as it was sent, such as `ACME`; of inbound messages the handset in E.164',
    }),
  ),
  direction: Type.Optional(
    OneOf(['outbound', 'inbound'], {
      description: '`outbound`: only what you sent; `inbound`: only what handsets sent; both unless given',
    }),
  ),
  ...dayRangeQuery,
  from_date: Type.Optional(
    Type.String({ maxLength: 40, description: 'First day or moment, where start_date is none' }),
  ),
  to_date: Type.Optional(Type.String({ maxLength: 40, description: 'Last day or moment, where end_date is none' })),
  batch_id: Type.Optional(
    Type.String({ maxLength: 40, description: 'Id of the bulk or list they were sent with, such as `smb_…`' }),
  ),
  scheduled: Type.Optional(
    Type.Boolean({
      rule: 'must be true or false',
      description: 'Only messages that wait for their time, or none of them',
    }),
  ),
  error_code: Type.Optional(
    Type.String({
      maxLength: 40,
      description:
        'Why they failed, such as `ABSENT_SUBSCRIBER`; `DLR_TIMEOUT` also finds those that no report came for',
    }),
  ),
  reference: Type.Optional(Type.String({ maxLength: 64, description: 'Your own id of the message' })),
  country: Type.Optional(CountryCode({ description: 'Country of the number on the other side' })),
  q: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Part of the text, in any case' })),
  ...metadataQuery,
})
