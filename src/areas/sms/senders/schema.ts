// SPDX-License-Identifier: Apache-2.0
// Shapes of sender ids.
import { Type } from 'typebox'
import { At, CountryCode, EnvironmentName, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { lengthRule, maxCharacters } from '../message.ts'
import { Sender } from '../schema.ts'

const maxCountries = 250

export const senderStatuses = ['pending', 'approved', 'rejected'] as const

export const CountryList = Type.Array(CountryCode(), {
  minItems: 1,
  maxItems: maxCountries,
  rule: `must list 1 to ${maxCountries} countries`,
})

export const SenderCreate = Type.Object({
  sender: Sender,
  countries: Type.Optional(Nullable(CountryList, { description: 'Where it is used; all countries unless given' })),
  purpose: Type.String({
    minLength: 1,
    maxLength: 200,
    rule: 'must have 1 to 200 characters',
    description: 'What you will send with it; the operator reads it before approving',
  }),
  sample: Type.String({
    minLength: 1,
    maxLength: maxCharacters,
    rule: lengthRule,
    description: 'A message as you will send it',
  }),
})

const senderFields = {
  id: Type.String({ description: 'Id of the sender, such as `snd_…`' }),
  sender: Type.String({ description: 'What handsets show as `from`' }),
  environment: EnvironmentName({ description: 'Senders of `test` are approved at once and reach no handset' }),
  countries: Nullable(Type.Array(Type.String()), { description: 'Null: all of them' }),
  purpose: Type.String({ description: 'What you said you send with it' }),
  sample: Type.String({ description: 'The example that you gave' }),
  status: OneOf(senderStatuses, { description: 'Messages go out with an `approved` one only' }),
  reason: Nullable(Type.String({ description: 'Why it was rejected' })),
  created_at: At({ description: 'When it was asked for' }),
  decided_at: Nullable(At({ description: 'When it was approved or rejected' })),
}

export const SenderRecord = Type.Object(senderFields, { title: 'SmsSenderId' })
