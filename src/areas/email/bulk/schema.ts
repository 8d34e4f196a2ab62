// SPDX-License-Identifier: Apache-2.0
// Schemas of bulk requests and replies.
import { Type } from 'typebox'
import { Amount, At, JudgedApart, Metadata, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { bulkProgress } from '../events.ts'
import { contentFields, Tags, Variables } from '../schema.ts'

const maxEntries = 10_000

export const Entry = Type.Object({
  email: Type.String({
    minLength: 1,
    maxLength: 320,
    description: '`a@b.c` or `Name <a@b.c>`; one that stands earlier in the list is left out',
  }),
  name: Type.Optional(Type.String({ maxLength: 200, description: 'What the recipient is called in the message’s To' })),
  variables: Type.Optional(Variables),
  metadata: Type.Optional(Metadata),
  tags: Type.Optional(Tags),
})

export const BulkSend = Type.Object({
  ...contentFields,
  recipients: Type.Array(JudgedApart(Entry), {
    minItems: 1,
    maxItems: maxEntries,
    rule: 'must be 1 to 10000 recipients',
    description: 'Each gets a message of its own, made with its variables',
  }),
  batch_size: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      rule: 'must be 1 to 1000; 100 to 500 are advised',
      description: 'Messages that go out together; 250 unless given',
    }),
  ),
  batch_interval: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 3600,
      rule: 'must be 0 to 3600 seconds',
      description: 'Seconds from one batch to the next; 0 unless given',
    }),
  ),
  on_error: Type.Optional(
    OneOf(['continue', 'abort'], { description: 'Whether one bad recipient is left out, or refuses all' }),
  ),
})

const Problem = Type.Object({
  index: Type.Integer({ description: 'Position in your list, from 0' }),
  email: Type.String({ description: 'The address as you gave it' }),
  code: Type.String({ description: 'Such as INVALID_EMAIL or DUPLICATE_RECIPIENT' }),
  message: Type.String({ description: 'The same in words' }),
})

export const BulkAccepted = Type.Object(
  {
    bulk_id: Type.String({ description: 'Id of the bulk, such as `emb_…`' }),
    status: OneOf(['scheduled', 'queued'], { description: '`scheduled` if it begins later' }),
    total: Type.Integer({ description: 'Recipients that you gave' }),
    accepted: Type.Integer({ description: 'Messages that will go out' }),
    rejected: Type.Integer({ description: 'Recipients with a mistake, which `errors` names' }),
    suppressed: Type.Integer({ description: 'Recipients left out because they bounced, complained or unsubscribed' }),
    suppressed_recipients: Type.Array(
      Type.Object({
        email: Type.String({ description: 'The address that was left out' }),
        reason: Type.String({ description: 'Why it is on the suppression list, such as `hard_bounce`' }),
      }),
      { description: 'Who was left out, at most 1,000' },
    ),
    batch_size: Type.Integer({ description: 'Messages in a part' }),
    batches: Type.Integer({ description: 'In how many parts it goes out' }),
    cost: Amount({ description: 'Of all messages, in major units of `currency`' }),
    currency: Type.String({ description: 'Of the cost' }),
    messages: Type.Array(
      Type.Object({
        email: Type.String({ description: 'The recipient' }),
        message_id: Type.String({ description: 'Id of the message, such as `em_…`' }),
      }),
      {
        description: 'The id of each message',
      },
    ),
    errors: Type.Array(Problem, { description: 'What is wrong with which recipient' }),
    warnings: Type.Array(Type.String(), { description: 'What you may want to change next time' }),
    timestamp: At({ description: 'When it was accepted' }),
  },
  { title: 'EmailBulkAccepted' },
)

const bulkStatuses = ['scheduled', 'queued', 'sending', 'paused', 'completed', 'cancelled'] as const

export const BulkRecord = Type.Object(
  {
    bulk_id: Type.String({ description: 'Id of the bulk, such as `emb_…`' }),
    status: OneOf(bulkStatuses, { description: '`completed` once every part went out' }),
    ...bulkProgress,
    completed_at: Nullable(At({ description: 'When it ended; null until then' })),
    paused_reason: Nullable(
      OneOf(['bounce_rate', 'complaint_rate', 'request'], {
        description: 'Too many bounces or complaints, or your request; null unless it is paused',
      }),
    ),
  },
  { title: 'EmailBulk' },
)
