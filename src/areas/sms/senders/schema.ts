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
  countries: Type.Optional(Nullable(CountryList, { description: 'Countries of use; default all' })),
  purpose: Type.String({
    minLength: 1,
    maxLength: 200,
    rule: 'must have 1 to 200 characters',
    description: 'Intended use, reviewed by the operator',
  }),
  sample: Type.String({
    minLength: 1,
    maxLength: maxCharacters,
    rule: lengthRule,
    description: 'Sample message',
  }),
})

const senderFields = {
  id: Type.String({ description: 'Id of the sender, such as `snd_…`' }),
  sender: Type.String({ description: 'Sender shown on handsets' }),
  environment: EnvironmentName({ description: 'Senders of `test` are approved at once and reach no handset' }),
  countries: Nullable(Type.Array(Type.String()), { description: 'Countries of use; null: all' }),
  purpose: Type.String({ description: 'Intended use as you stated it' }),
  sample: Type.String({ description: 'Sample message' }),
  status: OneOf(senderStatuses, { description: 'Status of the review; only `approved` sender ids can be used' }),
  reason: Nullable(Type.String({ description: 'Reason for the rejection' })),
  created_at: At({ description: 'Time of the request' }),
  decided_at: Nullable(At({ description: 'Time of the decision' })),
}

export const SenderRecord = Type.Object(senderFields, { title: 'SmsSenderId' })
