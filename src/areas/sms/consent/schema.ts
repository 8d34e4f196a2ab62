// SPDX-License-Identifier: Apache-2.0
// Shapes of opt-outs.
import { Type } from 'typebox'
import { senderForm, senderLength } from '../../../kernel/sender.ts'
import { At, listQuery, Nullable, OneOf, Phone } from '../../../platform/schema/fields.ts'

export const OptOutCreate = Type.Object({
  phone: Phone({ description: 'Phone number that opted out' }),
  from: Type.Optional(
    Type.String({
      pattern: `^(${senderForm}|\\+?[0-9]{3,15}|\\*)$`,
      rule: `must be a sender of ${senderLength}, a number, or *`,
      description: 'Sender to opt out of, case-insensitive; default all',
    }),
  ),
  reason: Type.Optional(
    Type.String({
      maxLength: 200,
      rule: 'must have at most 200 characters',
      description: 'Internal note, such as the way they opted out',
    }),
  ),
})

export const OptOutRecord = Type.Object(
  {
    phone: Type.String({ description: 'Phone number that opted out' }),
    from: Type.String({ description: 'Sender that it opted out of, a number without its plus; `*` for all' }),
    reason: Nullable(Type.String({ description: 'Internal note; null if none' })),
    source: OneOf(['keyword', 'api', 'import', 'carrier'], {
      description: 'Source: a keyword such as STOP, a request, a file, or the carrier',
    }),
    created_at: At({ description: 'Time at which it was recorded' }),
  },
  { title: 'SmsOptOut' },
)

export const OptOutList = Type.Object({
  ...listQuery,
  phone: Type.Optional(Type.String({ maxLength: 20, description: 'Full number in E.164, such as +254711000001' })),
})

/** Opt-outs and blocks of a number; a number without any is not found. */
export const OptOutFound = Type.Object(
  {
    ...OptOutRecord.properties,
    opt_outs: Type.Array(OptOutRecord, {
      description: 'All opt-outs of the number; the other fields describe the first',
    }),
  },
  { title: 'SmsOptOutOfNumber' },
)

export const OptOutRemoved = Type.Object(
  {
    id: Type.String({ description: 'Same value as `phone`' }),
    phone: Type.String({ description: 'Phone number that receives messages again' }),
    deleted: Type.Literal(true, { description: 'True if no opt-out is left' }),
    removed: Type.Integer({ description: 'Number of opt-outs removed' }),
  },
  { title: 'SmsOptOutRemoved' },
)
