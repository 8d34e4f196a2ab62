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
    description: '`a@b.c` or `Name <a@b.c>`; repeated addresses are left out',
  }),
  name: Type.Optional(Type.String({ maxLength: 200, description: 'Name of the recipient in the header To' })),
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
    description: 'Recipients; each receives a separate message, rendered with its variables',
  }),
  batch_size: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      rule: 'must be 1 to 1000; 100 to 500 are advised',
      description: 'Messages sent together; default 250',
    }),
  ),
  batch_interval: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 3600,
      rule: 'must be 0 to 3600 seconds',
      description: 'Seconds from one batch to the next; default 0',
    }),
  ),
  on_error: Type.Optional(
    OneOf(['continue', 'abort'], {
      description: 'Handling of invalid recipients: skip them, or refuse the whole request',
    }),
  ),
})

const Problem = Type.Object({
  index: Type.Integer({ description: 'Position in your list, from 0' }),
  email: Type.String({ description: 'The address as you gave it' }),
  code: Type.String({ description: 'Error code such as INVALID_EMAIL or DUPLICATE_RECIPIENT' }),
  message: Type.String({ description: 'Human-readable explanation' }),
})

export const BulkAccepted = Type.Object(
  {
    bulk_id: Type.String({ description: 'Id of the bulk, such as `emb_…`' }),
    status: OneOf(['scheduled', 'queued'], { description: '`scheduled` if it begins later' }),
    total: Type.Integer({ description: 'Recipients in the request' }),
    accepted: Type.Integer({ description: 'Accepted messages' }),
    rejected: Type.Integer({ description: 'Number of invalid recipients, listed in `errors`' }),
    suppressed: Type.Integer({ description: 'Recipients skipped because they bounced, complained or unsubscribed' }),
    suppressed_recipients: Type.Array(
      Type.Object({
        email: Type.String({ description: 'Address that was left out' }),
        reason: Type.String({ description: 'Reason for the suppression, such as `hard_bounce`' }),
      }),
      { description: 'Recipients that were left out, at most 1,000' },
    ),
    batch_size: Type.Integer({ description: 'Number of messages in a batch' }),
    batches: Type.Integer({ description: 'Number of batches' }),
    cost: Amount({ description: 'Total cost, in major units of `currency`' }),
    currency: Type.String({ description: 'Currency of the cost, ISO 4217' }),
    messages: Type.Array(
      Type.Object({
        email: Type.String({ description: 'Recipient address' }),
        message_id: Type.String({ description: 'Id of the message, such as `em_…`' }),
      }),
      {
        description: 'Ids of the messages',
      },
    ),
    errors: Type.Array(Problem, { description: 'Errors by recipient' }),
    warnings: Type.Array(Type.String(), { description: 'Warnings about the request' }),
    timestamp: At({ description: 'Time of acceptance' }),
  },
  { title: 'EmailBulkAccepted' },
)

const bulkStatuses = ['scheduled', 'queued', 'sending', 'paused', 'completed', 'cancelled'] as const

export const BulkRecord = Type.Object(
  {
    bulk_id: Type.String({ description: 'Id of the bulk, such as `emb_…`' }),
    status: OneOf(bulkStatuses, { description: '`completed` once every batch was sent' }),
    ...bulkProgress,
    completed_at: Nullable(At({ description: 'Time at which it ended; null until then' })),
    paused_reason: Nullable(
      OneOf(['bounce_rate', 'complaint_rate', 'request'], {
        description: 'Reason for the pause: too many bounces or complaints, or your request; null unless it is paused',
      }),
    ),
  },
  { title: 'EmailBulk' },
)
