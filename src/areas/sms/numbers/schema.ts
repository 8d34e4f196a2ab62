// SPDX-License-Identifier: Apache-2.0
// Shapes of the numbers that customers receive on.
import { Type } from 'typebox'
import { DialectName } from '../../../platform/outbound/dialect-url.ts'
import { At, Nullable } from '../../../platform/schema/fields.ts'
import { Text } from '../schema.ts'

const maxKeywords = 50
const WebhookUrl = Type.String({ description: 'Webhook URL, https://; signed with your callback secret' })

export const Keywords = Type.Array(
  Type.Object({
    keyword: Type.String({
      minLength: 1,
      maxLength: 30,
      rule: 'must have 1 to 30 characters',
      description: 'First characters of the message, case-insensitive; the longest match wins',
    }),
    webhook_url: Type.Optional(Nullable(WebhookUrl)),
    dialect: Type.Optional(DialectName),
    auto_reply: Type.Optional(Nullable(Text, { description: 'Reply sent at once; charged as a message' })),
  }),
  {
    maxItems: maxKeywords,
    rule: `must list at most ${maxKeywords} keywords`,
    description: 'Handling of messages by their first word; replaces the previous list',
  },
)

const rules = {
  keywords: Type.Optional(Keywords),
  default_webhook_url: Type.Optional(
    Nullable(WebhookUrl, { description: 'Webhook URL for messages whose keyword has none' }),
  ),
  dialect: Type.Optional(DialectName),
}

export const InboundNumber = Type.String({
  pattern: '^(\\+[1-9]\\d{6,14}|\\d{3,8})$',
  rule: 'must be a short code of 3 to 8 digits, or E.164 such as +254711000001',
  description: 'Short code or number that handsets write to',
})

export const NumberCreate = Type.Object({ number: InboundNumber, ...rules })
export const NumberChange = Type.Object(rules)

export const NumberRecord = Type.Object(
  {
    number: Type.String({ description: 'Number or code that handsets write to' }),
    shared: Type.Boolean({ description: 'True if other accounts have keywords on it' }),
    keywords: Type.Array(
      Type.Object({
        keyword: Type.String({ description: 'Beginning of the message' }),
        webhook_url: Nullable(
          Type.String({ description: 'Webhook URL for messages with the keyword; null: `default_webhook_url`' }),
        ),
        dialect: DialectName,
        auto_reply: Nullable(Type.String({ description: 'Automatic reply; null for none' })),
      }),
      { description: 'Handling of messages by their first word' },
    ),
    default_webhook_url: Nullable(
      Type.String({
        description: 'Webhook URL for messages whose keyword has none; null: they are sent to webhooks only',
      }),
    ),
    dialect: DialectName,
    created_at: At({ description: 'Time it was added' }),
    updated_at: At({ description: 'Time of the last change' }),
  },
  { title: 'SmsNumber' },
)

export const NumberDeleted = Type.Object(
  {
    id: Type.String({ description: 'Same value as `phone`' }),
    number: Type.String({ description: 'Released number' }),
    deleted: Type.Literal(true, { description: 'Always true' }),
  },
  { title: 'SmsNumberDeleted' },
)

export const NumberParam = Type.Object({
  number: Type.String({ description: 'Inbound number as registered, such as 22141' }),
})
