// SPDX-License-Identifier: Apache-2.0
// Schemas of email requests and replies.

import { Type } from 'typebox'
import { IdParam } from '../../platform/api/route.ts'
import { Amount, At, listQuery, Metadata, Moment, Nullable, OneOf } from '../../platform/schema/fields.ts'

export const maxMessageBytes = 25 * 1024 * 1024
export const maxRecipients = 50
/** Recipients parsed, above the limit, so that too many differ from malformed ones. */
const maxNamed = 1_000
export const mostTtlSeconds = 259_200

const Address = Type.String({
  minLength: 1,
  maxLength: 320,
  rule: 'must be an address such as amina@shop.example',
  errorCode: 'INVALID_EMAIL',
})
const Addresses = (most: number, maxItems = most) =>
  Type.Union([Address, Type.Array(Address, { minItems: 1, maxItems })], {
    rule: `must be an address, or 1 to ${most} of them`,
  })

export const Tags = Type.Array(
  Type.String({ pattern: '^[A-Za-z0-9_.-]{1,64}$', rule: 'must be 1 to 64 letters, digits, _ . -' }),
  { maxItems: 10, rule: 'must be at most 10 tags' },
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
  }),
  content: Type.String({ description: 'Base64', sensitive: true }),
  contentType: Type.Optional(
    Type.String({
      maxLength: 127,
      pattern: '^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+$',
      rule: 'must be a media type such as application/pdf',
    }),
  ),
  disposition: Type.Optional(OneOf(['attachment', 'inline'])),
  content_id: Type.Optional(
    Type.String({ pattern: '^[A-Za-z0-9@._-]{1,100}$', rule: 'must be 1 to 100 letters, digits, @ . _ -' }),
  ),
})

const Tracking = Type.Object({
  opens: Type.Optional(Type.Boolean({ description: 'true unless given' })),
  clicks: Type.Optional(Type.Boolean({ description: 'true unless given' })),
})

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
    Type.String({ minLength: 1, maxLength: 2 * 1024 * 1024, rule: 'must be 1 character to 2 MiB', sensitive: true }),
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
  attachments: Type.Optional(Type.Array(Attachment, { maxItems: 20, rule: 'must be at most 20 attachments' })),
  tracking: Type.Optional(Tracking),
  reply_to: Type.Optional(Addresses(5)),
  headers: Type.Optional(
    Type.Record(Type.String(), Type.String({ maxLength: 2048 }), {
      maxProperties: 20,
      rule: 'must be at most 20 headers of at most 2 KiB',
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
  to: Addresses(maxRecipients, maxNamed),
  cc: Type.Optional(Type.Array(Address, { maxItems: maxNamed, description: 'Who gets a copy, for all to see' })),
  bcc: Type.Optional(Type.Array(Address, { maxItems: maxNamed, description: 'Who gets a copy that nobody sees' })),
  ttl: Type.Optional(Type.Integer({ minimum: 60, maximum: mostTtlSeconds, rule: 'must be 60 to 259200 seconds' })),
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
    message_id: Type.String(),
    status: OneOf(['scheduled', 'queued', 'failed']),
    from: Type.String(),
    to: Type.Union([Type.String(), Type.Array(Type.String())]),
    scheduled_at: Nullable(At()),
    recipients: Type.Integer(),
    suppressed: Type.Array(Type.String()),
    reason: Nullable(Type.String()),
    cost: Amount(),
    currency: Type.String(),
    warnings: Type.Array(Type.String()),
    timestamp: At(),
  },
  { title: 'EmailAccepted' },
)

const statusWords = ['scheduled', 'queued', 'sent', 'delivered', 'bounced', 'failed', 'cancelled'] as const

export const TlsLevelWord = Nullable(OneOf(['plain', 'encrypted', 'mta_sts', 'dane']), {
  description: 'How the server was known: not at all, by any certificate, or by the one that MTA-STS or DANE asks for',
})

const RecipientRecord = Type.Object({
  email: Type.String(),
  type: OneOf(['to', 'cc', 'bcc']),
  status: OneOf(statusWords),
  attempts: Type.Integer(),
  smtp_code: Nullable(Type.Integer()),
  enhanced_code: Nullable(Type.String()),
  smtp_response: Nullable(Type.String()),
  mx: Nullable(Type.String()),
  tls: Nullable(Type.String()),
  tls_level: TlsLevelWord,
  bounce_type: Nullable(OneOf(['hard', 'soft'])),
  reason: Nullable(Type.String()),
  delivered_at: Nullable(At()),
})

export const EmailRecord = Type.Object(
  {
    message_id: Type.String(),
    status: OneOf(statusWords),
    from: Type.String(),
    to: Type.Union([Type.String(), Type.Array(Type.String())]),
    cc: Type.Array(Type.String()),
    bcc: Type.Array(Type.String()),
    subject: Type.String(),
    template: Nullable(Type.String()),
    bulk_id: Nullable(Type.String()),
    stream: OneOf(['transactional', 'bulk']),
    tags: Type.Array(Type.String()),
    metadata: Metadata,
    tracking: Type.Object({ opens: Type.Boolean(), clicks: Type.Boolean() }),
    reference: Nullable(Type.String()),
    scheduled_at: Nullable(At()),
    created_at: At(),
    sent_at: Nullable(At()),
    delivered_at: Nullable(At()),
    opened_at: Nullable(At()),
    clicked_at: Nullable(At()),
    open_count: Type.Integer(),
    click_count: Type.Integer(),
    attempts: Type.Integer(),
    next_attempt_at: Nullable(At()),
    reason: Nullable(Type.String()),
    size: Type.Integer(),
    cost: Amount(),
    currency: Type.String(),
    recipients: Type.Array(RecipientRecord),
  },
  { title: 'Email' },
)

export const EmailList = Type.Object({
  ...listQuery,
  status: Type.Optional(OneOf(statusWords)),
  recipient: Type.Optional(Type.String({ maxLength: 320 })),
  sender: Type.Optional(Type.String({ maxLength: 320 })),
  tag: Type.Optional(Type.String({ maxLength: 64 })),
  bulk_id: Type.Optional(Type.String({ maxLength: 40 })),
  template: Type.Optional(Type.String({ maxLength: 100 })),
  reference: Type.Optional(Type.String({ maxLength: 100 })),
  from: Type.Optional(Type.String({ maxLength: 40, description: 'First day, or an RFC 3339 time' })),
  to: Type.Optional(Type.String({ maxLength: 40, description: 'Last day, or an RFC 3339 time' })),
})

export const MessageParam = Type.Object({ message_id: IdParam.properties.id })
