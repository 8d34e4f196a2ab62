// SPDX-License-Identifier: Apache-2.0
// Schemas of email requests and replies.

import { Type } from 'typebox'
import { IdParam } from '../../platform/api/route.ts'
import { Amount, At, listQuery, Metadata, Moment, Nullable, OneOf } from '../../platform/schema/fields.ts'

export const maxMessageBytes = 25 * 1024 * 1024
export const maxRecipients = 50
/** Recipients parsed, above the limit, so that too many differ from malformed ones. */
const maxNamed = 1_000
export const maxTtlSeconds = 259_200

const Address = Type.String({
  minLength: 1,
  maxLength: 320,
  rule: 'must be an address such as amina@shop.example',
  errorCode: 'INVALID_EMAIL',
})
const Addresses = (description: string, most: number, maxItems = most) =>
  Type.Union([Address, Type.Array(Address, { minItems: 1, maxItems })], {
    rule: `must be an address, or 1 to ${most} of them`,
    description,
  })

export const Tags = Type.Array(
  Type.String({ pattern: '^[A-Za-z0-9_.-]{1,64}$', rule: 'must be 1 to 64 letters, digits, _ . -' }),
  { maxItems: 10, rule: 'must be at most 10 tags', description: 'Tags for filtering lists and statistics' },
)

export const Variables = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Values for {{placeholders}}, at most 64 KiB and 8 levels',
})

export const Attachment = Type.Object({
  filename: Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: '^[^/\\\\\\x00-\\x1f\\x7f]+$',
    rule: 'must be 1 to 255 characters without / and \\',
    description: 'File name shown to readers; kinds that mail servers refuse, such as .exe, are refused',
  }),
  content: Type.String({ description: 'Content in base64', sensitive: true }),
  contentType: Type.Optional(
    Type.String({
      maxLength: 127,
      pattern: '^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+$',
      rule: 'must be a media type such as application/pdf',
      description: 'Content type; derived from the ending of the file name by default',
    }),
  ),
  disposition: Type.Optional(
    OneOf(['attachment', 'inline'], {
      description: '`inline` for a picture in the HTML; default `attachment`',
    }),
  ),
  content_id: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9@._-]{1,100}$',
      rule: 'must be 1 to 100 letters, digits, @ . _ -',
      description: 'Content id used in the HTML: `<img src="cid:logo">` for `logo`',
    }),
  ),
})

const Tracking = Type.Object(
  {
    opens: Type.Optional(Type.Boolean({ description: 'True counts opens; default true' })),
    clicks: Type.Optional(Type.Boolean({ description: 'True counts clicks; default true' })),
  },
  { description: 'Open and click tracking' },
)

/** Fields shared by messages and bulks. */
export const contentFields = {
  from: Type.String({
    minLength: 1,
    maxLength: 320,
    description: 'Sender as `a@b.c` or `Name <a@b.c>`, of a verified domain',
    rule: 'must be an address such as Shop <shop@shop.example>',
    errorCode: 'INVALID_EMAIL',
  }),
  subject: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 998,
      pattern: '^[^\\r\\n]*$',
      rule: 'must be 1 to 998 characters in one line',
      description: 'Subject; optional if the template has one',
    }),
  ),
  html: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2 * 1024 * 1024,
      rule: 'must be 1 character to 2 MiB',
      sensitive: true,
      description: 'HTML body with {{placeholders}} for `variables`; one of html, text and template is required',
    }),
  ),
  text: Type.Optional(
    Type.String({
      maxLength: 1024 * 1024,
      rule: 'must be at most 1 MiB',
      sensitive: true,
      description: 'Plain-text body; default: generated from the HTML. Empty: no text part',
    }),
  ),
  template: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'Name or id of a template' })),
  variables: Type.Optional(Variables),
  attachments: Type.Optional(
    Type.Array(Attachment, {
      maxItems: 20,
      rule: 'must be at most 20 attachments',
      description: 'Attachments; the whole message is at most 25 MiB',
    }),
  ),
  tracking: Type.Optional(Tracking),
  reply_to: Type.Optional(Addresses('Address for replies; default `from`', 5)),
  headers: Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: 2048 }), {
      maxProperties: 20,
      rule: 'must be at most 20 headers of at most 2 KiB',
      description:
        'Custom headers such as `X-Order: 1042`; only X-*, List-*, References, In-Reply-To, Auto-Submitted, Precedence and Feedback-ID may be set',
    }),
  ),
  tags: Type.Optional(Tags),
  metadata: Type.Optional(Metadata),
  scheduled_at: Type.Optional(Moment({ description: 'Time to send it, 1 minute to 30 days ahead' })),
  unsubscribe: Type.Optional(Type.Boolean({ description: 'True adds an unsubscribe link; default true for `bulk`' })),
  callback_url: Type.Optional(
    Type.String({ maxLength: 2048, description: 'URL that receives the events of the message' }),
  ),
}

export const EmailSend = Type.Object({
  ...contentFields,
  to: Addresses(
    'Recipients, each also as `Name <a@b.c>`; to, cc and bcc together are at most 50',
    maxRecipients,
    maxNamed,
  ),
  cc: Type.Optional(Type.Array(Address, { maxItems: maxNamed, description: 'Recipients of a copy, visible to all' })),
  bcc: Type.Optional(
    Type.Array(Address, {
      maxItems: maxNamed,
      description: 'Recipients of a blind copy, hidden from other recipients',
    }),
  ),
  ttl: Type.Optional(
    Type.Integer({
      minimum: 60,
      maximum: maxTtlSeconds,
      rule: 'must be 60 to 259200 seconds',
      description: 'Seconds for which delivery is tried; default three days',
    }),
  ),
  stream: Type.Optional(
    OneOf(['transactional', 'bulk'], { description: '`bulk` for mail that recipients can unsubscribe from' }),
  ),
  strict: Type.Optional(Type.Boolean({ description: 'True refuses a message with placeholders that have no value' })),
  reference: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'Your own id for the message; must be unique' }),
  ),
})

export const EmailAccepted = Type.Object(
  {
    message_id: Type.String({ description: 'Id of the message, such as `em_…`' }),
    status: OneOf(['scheduled', 'queued', 'failed'], { description: '`failed` if every recipient is suppressed' }),
    from: Type.String({ description: 'Sender as shown to readers' }),
    to: Type.Union([Type.String(), Type.Array(Type.String())], {
      description: 'Recipients as you sent them, without cc and bcc',
    }),
    scheduled_at: Nullable(At({ description: 'Scheduled time of sending; null if at once' })),
    recipients: Type.Integer({ description: 'Number of recipients, without those that are suppressed' }),
    suppressed: Type.Array(Type.String(), {
      description: 'Addresses skipped because they bounced, complained or unsubscribed',
    }),
    reason: Nullable(
      Type.String({ description: 'Reason for the status; `suppressed` if all recipients are suppressed' }),
    ),
    cost: Amount({ description: 'Amount in major units of `currency`' }),
    currency: Type.String({ description: 'Currency of the cost, ISO 4217' }),
    warnings: Type.Array(Type.String(), {
      description: 'Warnings about the message, such as placeholders without a value',
    }),
    timestamp: At({ description: 'Time of acceptance' }),
  },
  { title: 'EmailAccepted' },
)

const statusWords = ['scheduled', 'queued', 'sent', 'delivered', 'bounced', 'failed', 'cancelled'] as const

export const TlsLevelWord = Nullable(OneOf(['plain', 'encrypted', 'mta_sts', 'dane']), {
  description: 'Verification of the server: none, any certificate, or the one that MTA-STS or DANE requires',
})

const RecipientRecord = Type.Object({
  email: Type.String({ description: 'Email address' }),
  type: OneOf(['to', 'cc', 'bcc'], { description: 'Field of the address: to, cc or bcc' }),
  status: OneOf(statusWords, { description: 'Processing status' }),
  attempts: Type.Integer({ description: 'Number of delivery attempts' }),
  smtp_code: Nullable(Type.Integer({ description: 'Last SMTP code of the server, such as 250' })),
  enhanced_code: Nullable(Type.String({ description: 'Enhanced status code, such as 5.1.1' })),
  smtp_response: Nullable(Type.String({ description: 'Last reply of the server' })),
  mx: Nullable(Type.String({ description: 'Receiving mail server' })),
  tls: Nullable(Type.String({ description: 'TLS version, such as TLSv1.3; null without encryption' })),
  tls_level: TlsLevelWord,
  bounce_type: Nullable(
    OneOf(['hard', 'soft'], { description: '`hard` for an address that does not exist; it is then suppressed' }),
  ),
  reason: Nullable(Type.String({ description: 'Reason for the failure' })),
  delivered_at: Nullable(At({ description: 'Time of acceptance by the server' })),
})

export const EmailRecord = Type.Object(
  {
    message_id: Type.String({ description: 'Id of the message, such as `em_…`' }),
    status: OneOf(statusWords, { description: 'Status over all recipients' }),
    from: Type.String({ description: 'Sender as shown to readers' }),
    to: Type.Union([Type.String(), Type.Array(Type.String())], {
      description: 'Recipient address, or a list of addresses',
    }),
    cc: Type.Array(Type.String(), { description: 'Recipients of a copy, visible to all' }),
    bcc: Type.Array(Type.String(), { description: 'Recipients of a blind copy, hidden from other recipients' }),
    subject: Type.String({ description: 'Subject as it was given, or as its template has it' }),
    template: Nullable(Type.String({ description: 'Name of its template' })),
    bulk_id: Nullable(Type.String({ description: 'Id of the bulk that contains it' })),
    stream: OneOf(['transactional', 'bulk'], { description: '`bulk` for mail that recipients can unsubscribe from' }),
    tags: Type.Array(Type.String(), { description: 'Tags for filtering lists and statistics' }),
    metadata: Metadata,
    tracking: Type.Object(
      {
        opens: Type.Boolean({ description: 'True if opens are counted' }),
        clicks: Type.Boolean({ description: 'True if clicks are counted' }),
      },
      { description: 'Open and click tracking' },
    ),
    reference: Nullable(Type.String({ description: 'Your own id for the object' })),
    scheduled_at: Nullable(At({ description: 'Scheduled time of sending; null if at once' })),
    created_at: At({ description: 'Time of acceptance' }),
    sent_at: Nullable(At({ description: 'Time of the first delivery attempt' })),
    delivered_at: Nullable(At({ description: 'Time of acceptance by the last recipient’s server' })),
    opened_at: Nullable(At({ description: 'Time of the first open' })),
    clicked_at: Nullable(At({ description: 'Time of the first click' })),
    open_count: Type.Integer({ description: 'Number of opens; only mail clients that load pictures are counted' }),
    click_count: Type.Integer({ description: 'Number of clicks on its links' }),
    attempts: Type.Integer({ description: 'Number of delivery attempts' }),
    next_attempt_at: Nullable(At({ description: 'Time of the next attempt; null if there is none' })),
    reason: Nullable(Type.String({ description: 'Reason for the failure' })),
    size: Type.Integer({ description: 'Bytes of the whole message' }),
    cost: Amount({ description: 'Amount in major units of `currency`' }),
    currency: Type.String({ description: 'Currency of the cost, ISO 4217' }),
    recipients: Type.Array(RecipientRecord, { description: 'Recipients, with the outcome for each' }),
  },
  { title: 'Email' },
)

export const EmailList = Type.Object({
  ...listQuery,
  status: Type.Optional(OneOf(statusWords, { description: 'Status of the message over all its recipients' })),
  recipient: Type.Optional(
    Type.String({
      maxLength: 320,
      description: 'Full address in `to`, `cc` or `bcc`, case-sensitive',
    }),
  ),
  sender: Type.Optional(
    Type.String({
      maxLength: 320,
      description: 'Part of `from`, case-sensitive: a name, an address or `@example.com`',
    }),
  ),
  tag: Type.Optional(Type.String({ maxLength: 64, description: 'Filter by tag' })),
  bulk_id: Type.Optional(Type.String({ maxLength: 40, description: 'Filter by id of a bulk, such as `emb_…`' })),
  template: Type.Optional(Type.String({ maxLength: 100, description: 'Filter by name of the template, not its id' })),
  reference: Type.Optional(Type.String({ maxLength: 100, description: 'Your own id for the message' })),
  from: Type.Optional(Type.String({ maxLength: 40, description: 'First day, or an RFC 3339 time' })),
  to: Type.Optional(Type.String({ maxLength: 40, description: 'Last day, or an RFC 3339 time' })),
})

export const MessageParam = Type.Object({ message_id: IdParam.properties.id })
