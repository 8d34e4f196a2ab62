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

const Attachment = Type.Object({
  filename: Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: '^[^/\\\\\\x00-\\x1f\\x7f]+$',
    rule: 'must be 1 to 255 characters without / and \\',
    description: 'What readers see; files that mail servers refuse, such as .exe, are refused',
  }),
  content: Type.String({ description: 'Base64', sensitive: true }),
  contentType: Type.Optional(
    Type.String({
      maxLength: 127,
      pattern: '^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+$',
      rule: 'must be a media type such as application/pdf',
      description: 'By the ending of the file name unless given',
    }),
  ),
  disposition: Type.Optional(
    OneOf(['attachment', 'inline'], {
      description: '`inline` for a picture that the html shows; `attachment` unless given',
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
    opens: Type.Optional(Type.Boolean({ description: 'Whether opening is counted; true unless given' })),
    clicks: Type.Optional(Type.Boolean({ description: 'Whether links are counted; true unless given' })),
  },
  { description: 'What is counted of readers' },
)

/** Fields shared by messages and bulks. */
export const contentFields = {
  from: Type.String({
    minLength: 1,
    maxLength: 320,
    description: '`a@b.c` or `Name <a@b.c>`, of a verified domain',
    rule: 'must be an address such as Shop <shop@shop.example>',
    errorCode: 'INVALID_EMAIL',
  }),
  subject: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 998,
      pattern: '^[^\\r\\n]*$',
      rule: 'must be 1 to 998 characters in one line',
      description: 'Unless the template has it',
    }),
  ),
  html: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2 * 1024 * 1024,
      rule: 'must be 1 character to 2 MiB',
      sensitive: true,
      description: 'With {{placeholders}} for `variables`; one of html, text and template is needed',
    }),
  ),
  text: Type.Optional(
    Type.String({
      maxLength: 1024 * 1024,
      rule: 'must be at most 1 MiB',
      sensitive: true,
      description: 'Made from the html unless given; empty: no text part',
    }),
  ),
  template: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'Name or id of a template' })),
  variables: Type.Optional(Variables),
  attachments: Type.Optional(
    Type.Array(Attachment, {
      maxItems: 20,
      rule: 'must be at most 20 attachments',
      description: 'Files that go with it; the whole message is at most 25 MiB',
    }),
  ),
  tracking: Type.Optional(Tracking),
  reply_to: Type.Optional(Addresses('Where answers go; to `from` unless given', 5)),
  headers: Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: 2048 }), {
      maxProperties: 20,
      rule: 'must be at most 20 headers of at most 2 KiB',
      description:
        'Such as `X-Order: 1042`; only X-*, List-*, References, In-Reply-To, Auto-Submitted, Precedence and Feedback-ID may be set',
    }),
  ),
  tags: Type.Optional(Tags),
  metadata: Type.Optional(Metadata),
  scheduled_at: Type.Optional(Moment({ description: '1 minute to 30 days ahead' })),
  unsubscribe: Type.Optional(
    Type.Boolean({ description: 'Whether it carries a way to unsubscribe; true for `bulk` unless given' }),
  ),
  callback_url: Type.Optional(Type.String({ maxLength: 2048, description: 'Told of what becomes of the message' })),
}

export const EmailSend = Type.Object({
  ...contentFields,
  to: Addresses(
    'Who gets it, each also as `Name <a@b.c>`; to, cc and bcc together are at most 50',
    maxRecipients,
    maxNamed,
  ),
  cc: Type.Optional(Type.Array(Address, { maxItems: maxNamed, description: 'Who gets a copy, for all to see' })),
  bcc: Type.Optional(Type.Array(Address, { maxItems: maxNamed, description: 'Who gets a copy that nobody sees' })),
  ttl: Type.Optional(
    Type.Integer({
      minimum: 60,
      maximum: maxTtlSeconds,
      rule: 'must be 60 to 259200 seconds',
      description: 'Seconds for which delivery is tried; three days unless given',
    }),
  ),
  stream: Type.Optional(
    OneOf(['transactional', 'bulk'], { description: '`bulk` is what people may unsubscribe from' }),
  ),
  strict: Type.Optional(Type.Boolean({ description: 'Refuses a message whose placeholders have no value' })),
  reference: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'Your own id of the message, never used before' }),
  ),
})

export const EmailAccepted = Type.Object(
  {
    message_id: Type.String({ description: 'Id of the message, such as `em_…`' }),
    status: OneOf(['scheduled', 'queued', 'failed'], { description: '`failed` if every recipient is suppressed' }),
    from: Type.String({ description: 'As readers see it' }),
    to: Type.Union([Type.String(), Type.Array(Type.String())], {
      description: 'As you sent it; copies are not repeated',
    }),
    scheduled_at: Nullable(At({ description: 'When it will go out; null if at once' })),
    recipients: Type.Integer({ description: 'To how many it goes, without those that are suppressed' }),
    suppressed: Type.Array(Type.String(), {
      description: 'Addresses left out because they bounced, complained or unsubscribed',
    }),
    reason: Nullable(Type.String({ description: '`suppressed` if nobody is left to send to' })),
    cost: Amount({ description: 'In major units of `currency`' }),
    currency: Type.String({ description: 'Of the cost' }),
    warnings: Type.Array(Type.String(), { description: 'What will look wrong, such as placeholders without a value' }),
    timestamp: At({ description: 'When it was accepted' }),
  },
  { title: 'EmailAccepted' },
)

const statusWords = ['scheduled', 'queued', 'sent', 'delivered', 'bounced', 'failed', 'cancelled'] as const

export const TlsLevelWord = Nullable(OneOf(['plain', 'encrypted', 'mta_sts', 'dane']), {
  description: 'How the server was known: not at all, by any certificate, or by the one that MTA-STS or DANE asks for',
})

const RecipientRecord = Type.Object({
  email: Type.String({ description: 'The address' }),
  type: OneOf(['to', 'cc', 'bcc'], { description: 'Where it stood' }),
  status: OneOf(statusWords, { description: 'How far it came' }),
  attempts: Type.Integer({ description: 'How often delivery was tried' }),
  smtp_code: Nullable(Type.Integer({ description: 'What the server last answered, such as 250' })),
  enhanced_code: Nullable(Type.String({ description: 'Such as 5.1.1' })),
  smtp_response: Nullable(Type.String({ description: 'The line it answered with' })),
  mx: Nullable(Type.String({ description: 'The server it was given to' })),
  tls: Nullable(Type.String({ description: 'The version, such as TLSv1.3; null without encryption' })),
  tls_level: TlsLevelWord,
  bounce_type: Nullable(
    OneOf(['hard', 'soft'], { description: '`hard` for an address that does not exist; it is then suppressed' }),
  ),
  reason: Nullable(Type.String({ description: 'Why it was not delivered' })),
  delivered_at: Nullable(At({ description: 'When the server took it' })),
})

export const EmailRecord = Type.Object(
  {
    message_id: Type.String({ description: 'Id of the message, such as `em_…`' }),
    status: OneOf(statusWords, { description: 'How far it came, of all recipients together' }),
    from: Type.String({ description: 'As readers see it' }),
    to: Type.Union([Type.String(), Type.Array(Type.String())], { description: 'One address, or a list' }),
    cc: Type.Array(Type.String(), { description: 'Who got a copy, for all to see' }),
    bcc: Type.Array(Type.String(), { description: 'Who got a copy that nobody sees' }),
    subject: Type.String({ description: 'As it was given, or as its template has it' }),
    template: Nullable(Type.String({ description: 'Name of the template it was made from' })),
    bulk_id: Nullable(Type.String({ description: 'The bulk it belongs to' })),
    stream: OneOf(['transactional', 'bulk'], { description: '`bulk` is what people may unsubscribe from' }),
    tags: Type.Array(Type.String(), { description: 'Tags for filtering lists and statistics' }),
    metadata: Metadata,
    tracking: Type.Object(
      {
        opens: Type.Boolean({ description: 'Whether opening is counted' }),
        clicks: Type.Boolean({ description: 'Whether links are counted' }),
      },
      { description: 'What is counted of readers' },
    ),
    reference: Nullable(Type.String({ description: 'Your own id of it' })),
    scheduled_at: Nullable(At({ description: 'When it was to go out; null if at once' })),
    created_at: At({ description: 'When it was accepted' }),
    sent_at: Nullable(At({ description: 'When it was first offered to a server' })),
    delivered_at: Nullable(At({ description: 'When the last recipient’s server took it' })),
    opened_at: Nullable(At({ description: 'When it was first opened' })),
    clicked_at: Nullable(At({ description: 'When a link was first followed' })),
    open_count: Type.Integer({ description: 'How often it was opened, as far as pictures are shown' }),
    click_count: Type.Integer({ description: 'How often its links were followed' }),
    attempts: Type.Integer({ description: 'How often delivery was tried' }),
    next_attempt_at: Nullable(At({ description: 'When it is tried again; null if it is not' })),
    reason: Nullable(Type.String({ description: 'Why it was not delivered' })),
    size: Type.Integer({ description: 'Bytes of the whole message' }),
    cost: Amount({ description: 'In major units of `currency`' }),
    currency: Type.String({ description: 'Of the cost' }),
    recipients: Type.Array(RecipientRecord, { description: 'What became of it, for each of them' }),
  },
  { title: 'Email' },
)

export const EmailList = Type.Object({
  ...listQuery,
  status: Type.Optional(
    OneOf(statusWords, { description: 'How far the message came, of all its recipients together' }),
  ),
  recipient: Type.Optional(
    Type.String({
      maxLength: 320,
      description: 'Whole address, in the case it was given in, whether in `to`, `cc` or `bcc`',
    }),
  ),
  sender: Type.Optional(
    Type.String({
      maxLength: 320,
      description: 'Part of `from`, in the case it was given in: a name, an address or `@example.com`',
    }),
  ),
  tag: Type.Optional(Type.String({ maxLength: 64, description: 'One of the tags that the message was sent with' })),
  bulk_id: Type.Optional(
    Type.String({ maxLength: 40, description: 'Id of the bulk they were sent with, such as `emb_…`' }),
  ),
  template: Type.Optional(
    Type.String({ maxLength: 100, description: 'Name of the template they were made from, not its id' }),
  ),
  reference: Type.Optional(
    Type.String({ maxLength: 100, description: 'Your own id of the message, which at most one has' }),
  ),
  from: Type.Optional(Type.String({ maxLength: 40, description: 'First day, or an RFC 3339 time' })),
  to: Type.Optional(Type.String({ maxLength: 40, description: 'Last day, or an RFC 3339 time' })),
})

export const MessageParam = Type.Object({ message_id: IdParam.properties.id })
