// SPDX-License-Identifier: Apache-2.0
// Shapes of opt-outs.
import { Type } from 'typebox'
import { senderForm, senderLength } from '../../../kernel/sender.ts'
import { At, listQuery, Nullable, OneOf, Phone } from '../../../platform/schema/fields.ts'

export const OptOutCreate = Type.Object({
  phone: Phone({ description: 'Who does not want messages' }),
  from: Type.Optional(
    Type.String({
      pattern: `^(${senderForm}|\\+?[0-9]{3,15}|\\*)$`,
      rule: `must be a sender of ${senderLength}, a number, or *`,
      description: 'The sender it is about, in any case; all of them unless given',
    }),
  ),
  reason: Type.Optional(
    Type.String({
      maxLength: 200,
      rule: 'must have at most 200 characters',
      description: 'A note for yourself, such as how they asked',
    }),
  ),
})

export const OptOutRecord = Type.Object(
  {
    phone: Type.String({ description: 'Who does not want messages' }),
    from: Type.String({ description: 'The sender it is about, a number without its plus; `*` for all' }),
    reason: Nullable(Type.String({ description: 'Your note' })),
    source: OneOf(['keyword', 'api', 'import', 'carrier'], {
      description: 'By a word such as STOP, by request, from a file, or as the carrier told us',
    }),
    created_at: At({ description: 'When it was recorded' }),
  },
  { title: 'SmsOptOut' },
)

export const OptOutList = Type.Object({
  ...listQuery,
  phone: Type.Optional(Type.String({ maxLength: 20, description: 'Whole number in E.164, such as +254711000001' })),
})

/** Opt-outs and blocks of a number; a number without any is not found. */
export const OptOutFound = Type.Object(
  {
    ...OptOutRecord.properties,
    opt_outs: Type.Array(OptOutRecord, { description: 'All of the number; the fields beside are those of the first' }),
  },
  { title: 'SmsOptOutOfNumber' },
)

export const OptOutRemoved = Type.Object(
  {
    id: Type.String({ description: 'The number again' }),
    phone: Type.String({ description: 'Who gets messages again' }),
    deleted: Type.Literal(true, { description: 'True: none is left' }),
    removed: Type.Integer({ description: 'How many opt-outs there were' }),
  },
  { title: 'SmsOptOutRemoved' },
)
