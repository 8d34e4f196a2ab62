// SPDX-License-Identifier: Apache-2.0
// Shapes of the numbers that customers receive on.
import { Type } from 'typebox'
import { DialectName } from '../../../platform/outbound/dialect-url.ts'
import { At, Nullable } from '../../../platform/schema/fields.ts'
import { Text } from '../schema.ts'

const maxKeywords = 50
const WebhookUrl = Type.String({ description: 'https://; signed with your callback secret' })

export const Keywords = Type.Array(
  Type.Object({
    keyword: Type.String({
      minLength: 1,
      maxLength: 30,
      rule: 'must have 1 to 30 characters',
      description: 'What the message begins with, in any case; the longest one wins',
    }),
    webhook_url: Type.Optional(Nullable(WebhookUrl)),
    dialect: Type.Optional(DialectName),
    auto_reply: Type.Optional(Nullable(Text, { description: 'Sent back at once; costs what a message costs' })),
  }),
  {
    maxItems: maxKeywords,
    rule: `must list at most ${maxKeywords} keywords`,
    description: 'What becomes of messages by their first word; a list replaces the one before',
  },
)

const rules = {
  keywords: Type.Optional(Keywords),
  default_webhook_url: Type.Optional(
    Nullable(WebhookUrl, { description: 'For messages whose keyword has no webhook_url' }),
  ),
  dialect: Type.Optional(DialectName),
}

export const InboundNumber = Type.String({
  pattern: '^(\\+[1-9]\\d{6,14}|\\d{3,8})$',
  rule: 'must be a short code of 3 to 8 digits, or E.164 such as +254711000001',
  description: 'The short code or number that handsets write to',
})

export const NumberCreate = Type.Object({ number: InboundNumber, ...rules })
export const NumberChange = Type.Object(rules)

export const NumberRecord = Type.Object(
  {
    number: Type.String({ description: 'What handsets write to' }),
    shared: Type.Boolean({ description: 'Others have keywords on it too' }),
    keywords: Type.Array(
      Type.Object({
        keyword: Type.String({ description: 'What the message begins with' }),
        webhook_url: Nullable(Type.String({ description: 'Where they are posted; null: to `default_webhook_url`' })),
        dialect: DialectName,
        auto_reply: Nullable(Type.String({ description: 'What is sent back; null: nothing' })),
      }),
      { description: 'What becomes of messages by their first word' },
    ),
    default_webhook_url: Nullable(
      Type.String({ description: 'For messages whose keyword has no webhook_url; null: only webhooks are told' }),
    ),
    dialect: DialectName,
    created_at: At({ description: 'When it was taken' }),
    updated_at: At({ description: 'When it was last changed' }),
  },
  { title: 'SmsNumber' },
)

export const NumberDeleted = Type.Object(
  {
    id: Type.String({ description: 'The number again' }),
    number: Type.String({ description: 'What handsets wrote to' }),
    deleted: Type.Literal(true, { description: 'True: it is given up' }),
  },
  { title: 'SmsNumberDeleted' },
)

export const NumberParam = Type.Object({ number: Type.String({ description: 'As it was taken, such as 22141' }) })
