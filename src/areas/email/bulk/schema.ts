// SPDX-License-Identifier: Apache-2.0
// Schemas of bulk requests and replies.
import { Type } from 'typebox'
import { Amount, At, JudgedApart, Metadata, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { bulkProgress } from '../events.ts'
import { contentFields, Tags, Variables } from '../schema.ts'

const maxEntries = 10_000

export const Entry = Type.Object({
  email: Type.String({ minLength: 1, maxLength: 320 }),
  name: Type.Optional(Type.String({ maxLength: 200 })),
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
  }),
  batch_size: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, rule: 'must be 1 to 1000; 100 to 500 are advised' }),
  ),
  batch_interval: Type.Optional(Type.Integer({ minimum: 0, maximum: 3600, rule: 'must be 0 to 3600 seconds' })),
  on_error: Type.Optional(
    OneOf(['continue', 'abort'], { description: 'Whether one bad recipient is left out, or refuses all' }),
  ),
})

const Problem = Type.Object({
  index: Type.Integer(),
  email: Type.String(),
  code: Type.String(),
  message: Type.String(),
})

export const BulkAccepted = Type.Object(
  {
    bulk_id: Type.String(),
    status: OneOf(['scheduled', 'queued']),
    total: Type.Integer(),
    accepted: Type.Integer(),
    rejected: Type.Integer(),
    suppressed: Type.Integer(),
    batch_size: Type.Integer(),
    batches: Type.Integer(),
    cost: Amount(),
    currency: Type.String(),
    messages: Type.Array(Type.Object({ email: Type.String(), message_id: Type.String() })),
    errors: Type.Array(Problem),
    warnings: Type.Array(Type.String()),
    timestamp: At(),
  },
  { title: 'EmailBulkAccepted' },
)

const bulkStatuses = ['scheduled', 'queued', 'sending', 'paused', 'completed', 'cancelled'] as const

export const BulkRecord = Type.Object(
  {
    bulk_id: Type.String(),
    status: OneOf(bulkStatuses),
    ...bulkProgress,
    completed_at: Nullable(At()),
    paused_reason: Nullable(OneOf(['bounce_rate', 'complaint_rate', 'request'])),
  },
  { title: 'EmailBulk' },
)
