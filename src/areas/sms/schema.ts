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
  description: 'Sender: your sender ID or short code, or a number of yours in E.164, such as +254711000099',
})

export const Text = Type.String({
  minLength: 1,
  maxLength: maxCharacters,
  sensitive: true,
  rule: lengthRule,
  description:
    'Text of the message, charged by segment: 160 characters (153 where there are several), or 70 (67) if one is outside GSM 7-bit, such as an emoji',
})

export const CallbackUrl = Type.String({ description: 'URL that receives each change of status, https://' })
export const CallbackEventsWanted = OneOf(callbackEvents, {
  description:
    'Changes sent to `callback_url`: `all`, or `final`, only `delivered` or `failed`; default: the setting of the key or the account',
})
export const ScheduledAt = Moment({ description: `Time to send it, at most ${maxDaysAhead} days ahead` })
export const Reference = Type.String({
  minLength: 1,
  maxLength: 64,
  rule: 'must have 1 to 64 characters',
  description: 'Your own id for the message; must be unique',
})
const MessageType = OneOf(messageTypes, {
  description: '`otp`: highest priority, to one recipient; `promotional`: lowest priority',
})

export const MessageSend = Type.Object({
  // The length of the list is checked by the verb: a rule here could not tell its own code from that of a number.
  to: Type.Union([Phone({ description: 'One recipient' }), Type.Array(JudgedApart(Type.String()))], {
    rule: e164Rule,
    errorCode: 'INVALID_PHONE',
    description: `Recipient, or a list of 1 to ${maxRecipients}`,
  }),
  from: Sender,
  message: Text,
  callback_url: Type.Optional(CallbackUrl),
  callback_events: Type.Optional(CallbackEventsWanted),
  scheduled_at: Type.Optional(ScheduledAt),
  metadata: Type.Optional(Metadata),
  reference: Type.Optional(Reference),
  encoding: Type.Optional(
    OneOf(['auto', 'gsm7', 'ucs2'], { description: "`gsm7` replaces ’ with ' and é with e where necessary" }),
  ),
  validity: Type.Optional(
    Type.Integer({
      minimum: leastValiditySeconds,
      maximum: maxValiditySeconds,
      rule: `must be a whole number of seconds from ${leastValiditySeconds} to ${maxValiditySeconds}`,
      description: 'Seconds after which delivery is no longer attempted',
    }),
  ),
  type: Type.Optional(MessageType),
  max_segments: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxSegments,
      rule: `must be a whole number from 1 to ${maxSegments}`,
      description: 'Maximum number of segments; longer messages are refused',
    }),
  ),
  shorten_urls: Type.Optional(
    Type.Boolean({
      default: false,
      rule: 'must be true or false',
      description: 'True replaces https:// links with short ones and counts their clicks',
    }),
  ),
  fallback: Type.Optional(Fallback),
})

const Status = OneOf(['queued', 'sent', 'delivered', 'failed', 'received'], {
  description: 'Filter by status; `sent`: accepted by the network, `received`: from a handset',
})
const EncodingName = OneOf(['gsm7', 'ucs2'], { description: '`gsm7` has 160 characters in a segment, `ucs2` 70' })
const ErrorCode = Nullable(
  Type.String({ description: 'Error code such as `ABSENT_SUBSCRIBER`; null unless it failed' }),
)

export const Recipient = Type.Object({
  to: Type.String({ description: 'The number in E.164' }),
  message_id: Nullable(Type.String({ description: 'Id of the message, such as `sms_…`; null if it was refused' })),
  status: Status,
  segments: Type.Integer({ description: 'Number of charged segments' }),
  cost: Amount({ description: 'Cost in major units of `currency`; 0 if refused' }),
  currency: Type.String({ description: 'Currency of the cost, ISO 4217' }),
  error_code: ErrorCode,
  existing_id: Type.Optional(Type.String({ description: 'Id of the existing message with this reference' })),
})

export const SendReply = Type.Object(
  {
    status: Status,
    message_id: Type.String({ description: 'Id of the message, or of the batch when `to` is a list' }),
    to: Type.Union([Type.String(), Type.Array(Type.String())], { description: 'Recipient as you sent it' }),
    from: Type.String({ description: 'Sender shown on the handset' }),
    segments: Type.Integer({ description: 'Segments per recipient' }),
    cost: Amount({ description: 'Total cost, in major units of `currency`' }),
    currency: Type.String({ description: 'Currency of the cost, ISO 4217' }),
    timestamp: At({ description: 'Time of acceptance' }),
    encoding: EncodingName,
    country: Nullable(Type.String({ description: 'Country of the number, ISO 3166; null for a list' })),
    network: Nullable(Type.String({ description: 'Network of the number; null for a list or if unknown' })),
    scheduled_at: Nullable(At({ description: 'Scheduled time of sending; null if at once' })),
    messages: Type.Optional(
      Type.Array(Recipient, { description: 'One entry per recipient, in your order; only where `to` is a list' }),
    ),
    accepted: Type.Optional(Type.Integer({ description: 'Recipients that were accepted; only where `to` is a list' })),
    rejected: Type.Optional(
      Type.Integer({ description: 'Recipients that were refused, each with a reason; only where `to` is a list' }),
    ),
  },
  { title: 'SmsSendReply' },
)

export const EstimateReply = Type.Object(
  {
    segments: Type.Integer({ description: 'Segments per recipient' }),
    encoding: EncodingName,
    length: Type.Integer({ description: 'Number of characters in your text' }),
    units_used: Type.Integer({ description: 'Length in septets (`gsm7`) or UTF-16 units (`ucs2`)' }),
    units_left: Type.Integer({ description: 'Units left in the last segment' }),
    non_gsm: Type.Array(Type.String(), { description: 'Characters that make it UCS-2' }),
    suggestion: Nullable(Type.String({ description: 'The text with replacements that need fewer segments' })),
    suggestion_segments: Nullable(Type.Integer({ description: 'Segments of the suggestion; null if there is none' })),
    cost: Amount({ description: 'Total cost, in major units of `currency`' }),
    currency: Type.String({ description: 'Currency of the cost, ISO 4217' }),
    recipients: Type.Integer({ description: 'Number of recipients' }),
  },
  { title: 'SmsEstimate' },
)

const Change = Type.Object({
  status: Status,
  at: At({ description: 'Time of the status' }),
  error_code: ErrorCode,
  carrier_code: Nullable(Type.String({ description: 'Error code of the network' })),
})

export const MessageRecord = Type.Object(
  {
    message_id: Type.String({ description: 'Id of the message, such as `sms_…`' }),
    status: Status,
    direction: OneOf(['outbound', 'inbound'], { description: '`outbound` from you, `inbound` from a handset' }),
    to: Type.String({ description: 'Recipient: a number, or your short code' }),
    from: Type.String({ description: 'Sender: yours, or a handset' }),
    message: Nullable(
      Type.String({ sensitive: true, description: 'Text of the message; null after the retention period' }),
    ),
    segments: Type.Integer({ description: 'Number of charged segments' }),
    parts: Type.Integer({ description: 'Alias of segments' }),
    encoding: EncodingName,
    cost: Amount({ description: 'Amount in major units of `currency`; 0 if it failed before the network accepted it' }),
    price_per_segment: Amount({ description: 'Amount in major units of `currency`' }),
    currency: Type.String({ description: 'Currency of cost and price' }),
    created_at: At({ description: 'Time it was accepted or received' }),
    scheduled_at: Nullable(At({ description: 'Scheduled time of sending; null if at once' })),
    sent_at: Nullable(At({ description: 'Time of acceptance by the network' })),
    delivered_at: Nullable(At({ description: 'Time of delivery to the handset, as the network reports' })),
    failed_at: Nullable(At({ description: 'Time of failure' })),
    error_code: ErrorCode,
    error: Nullable(Type.String({ description: 'Human-readable explanation' })),
    fallback_message_id: Type.Optional(
      Nullable(Type.String(), {
        description: 'Id of the message on the fallback channel; only for messages with a fallback',
      }),
    ),
    metadata: Metadata,
    reference: Nullable(Type.String({ description: 'Your own id for the object' })),
    country: Nullable(Type.String({ description: 'Country of the number, ISO 3166' })),
    network: Nullable(Type.String({ description: 'Network of the number, if known' })),
    attempts: Type.Integer({ description: 'Number of times it was offered to a carrier' }),
    route: Type.Optional(
      Nullable(Type.String(), { description: 'Bind that accepted it; only for keys with the scope `operator`' }),
    ),
    batch_id: Nullable(Type.String({ description: 'Id of the bulk or list it was sent with' })),
    timeline: Type.Array(Change, { description: 'Status history, oldest first' }),
  },
  { title: 'SmsMessage' },
)

export const ShortLink = Type.Object({
  url: Type.String({ description: 'Target of the link' }),
  short_url: Type.String({ description: 'Short URL in the text' }),
  clicks: Type.Integer({ description: 'Number of clicks' }),
  first_clicked_at: Nullable(At({ description: 'Time of the click; null until it is opened' })),
  last_clicked_at: Nullable(At({ description: 'Time of the click; null until it is opened' })),
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
      description: 'Full number in E.164, such as +254711000001; for inbound messages your number or short code',
    }),
  ),
  from: Type.Optional(
    Type.String({
      maxLength: 20,
      description: 'Sender exactly as it was sent, such as `ACME`; for inbound messages the handset in E.164',
    }),
  ),
  direction: Type.Optional(
    OneOf(['outbound', 'inbound'], {
      description: '`outbound`: sent by you; `inbound`: sent by handsets; default both',
    }),
  ),
  ...dayRangeQuery,
  from_date: Type.Optional(
    Type.String({ maxLength: 40, description: 'First day or moment; used where start_date is absent' }),
  ),
  to_date: Type.Optional(
    Type.String({ maxLength: 40, description: 'Last day or moment; used where end_date is absent' }),
  ),
  batch_id: Type.Optional(
    Type.String({ maxLength: 40, description: 'Filter by id of a bulk or list, such as `smb_…`' }),
  ),
  scheduled: Type.Optional(
    Type.Boolean({
      rule: 'must be true or false',
      description: 'True lists only scheduled messages, false leaves them out',
    }),
  ),
  error_code: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'Error code, such as `ABSENT_SUBSCRIBER`; `DLR_TIMEOUT` also finds messages without a report',
    }),
  ),
  reference: Type.Optional(Type.String({ maxLength: 64, description: 'Your own id for the message' })),
  country: Type.Optional(CountryCode({ description: 'Country of the number on the other side' })),
  q: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Part of the text, case-insensitive' })),
  ...metadataQuery,
})
