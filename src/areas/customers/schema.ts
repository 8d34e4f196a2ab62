// SPDX-License-Identifier: Apache-2.0
// Shapes of customers in requests and replies.
import { type Static, type TSchema, Type } from 'typebox'
import { At, CountryCode, listQuery, Nullable, OneOf, Phone, TimeZone } from '../../platform/schema/fields.ts'
import { maxAddresses } from './addresses.ts'

export const consentChannels = ['sms', 'messenger', 'email', 'voice'] as const
export const purposes = ['marketing', 'service'] as const

const given = <T extends TSchema>(schema: T, description: string) =>
  Type.Optional(Nullable(schema, { description: `${description}; null removes it` }))

const text = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, rule: `must have 1 to ${maxLength} characters` })

const Language = Type.String({
  pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$',
  maxLength: 35,
  rule: 'must be a language of BCP 47, such as sw or pt-MZ',
})

const Email = Type.String({
  pattern: '^[^@\\s]+@[^@\\s]+$',
  maxLength: 254,
  rule: 'must be an email address',
  errorCode: 'INVALID_EMAIL',
})

export const ExternalId = Type.String({
  minLength: 1,
  maxLength: 128,
  rule: 'must have 1 to 128 characters',
  description: 'Your own id of the customer, unique in the account and environment',
})

export const ConsentIn = Type.Object({
  channel: OneOf(consentChannels, { description: 'Channel of the consent' }),
  purpose: OneOf(purposes, { description: 'Purpose of the consent. Texts and chats keep one consent for both' }),
  state: OneOf(['granted', 'withdrawn', 'unknown'], {
    description: 'State of the consent; `unknown` undoes a `granted` recorded by mistake, but no withdrawal',
  }),
  address: Type.Optional(
    Type.String({ maxLength: 254, description: 'Phone number or address; default all of the channel' }),
  ),
  source: Type.Optional(
    Type.String({ maxLength: 200, rule: 'must have at most 200 characters', description: 'Source of the consent' }),
  ),
})

const fields = {
  name: given(text(200), 'Name of the customer'),
  language: given(Language, 'Preferred language, BCP 47'),
  country: given(CountryCode(), 'Country, ISO 3166'),
  timezone: given(TimeZone(), 'Time zone, IANA'),
  phones: Type.Optional(
    Type.Array(Phone(), {
      maxItems: maxAddresses,
      rule: `must be at most ${maxAddresses} phone numbers`,
      description: 'Phone numbers in E.164, the main one first. Each belongs to one customer',
    }),
  ),
  emails: Type.Optional(
    Type.Array(Email, {
      maxItems: maxAddresses,
      rule: `must be at most ${maxAddresses} email addresses`,
      description: 'Email addresses, the main one first. Each belongs to one customer',
    }),
  ),
  attributes: Type.Optional(
    Type.Record(
      Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_.-]{0,39}$' }),
      Type.Union([Type.String({ maxLength: 500 }), Type.Number(), Type.Boolean(), Type.Null()], {
        rule: 'must be text of at most 500 characters, a number, true, false or null',
      }),
      {
        additionalProperties: false,
        rule: 'must be an object of text, numbers and booleans',
        nameRule: 'must have a name of 1 to 40 letters, digits, _, . or -, that begins with a letter',
        description:
          'Custom attributes: text, numbers, booleans and dates. The first value sets the type. Absent ones are left unchanged; null removes one',
      },
    ),
  ),
  tags: Type.Optional(
    Type.Array(
      Type.String({ pattern: '^[^\\s,]{1,40}$', rule: 'must have 1 to 40 characters without spaces and commas' }),
      {
        maxItems: 20,
        rule: 'must be at most 20 tags',
        description: 'Tags, stored in lower case; replaces the previous list',
      },
    ),
  ),
  consents: Type.Optional(
    Type.Array(ConsentIn, {
      maxItems: 16,
      rule: 'must be at most 16 consents',
      description:
        'Consents to change; others are left unchanged. They are stored as opt-outs, opt-ins and suppressions',
    }),
  ),
}

export const CustomerChange = Type.Object({ external_id: given(ExternalId, 'Your own id for the customer'), ...fields })
export const CustomerPut = Type.Object(fields)
export type Change = Static<typeof CustomerChange>

export const Consent = Type.Object(
  {
    channel: OneOf(consentChannels, { description: 'Channel of the consent' }),
    purpose: OneOf(purposes, { description: 'Purpose of the consent' }),
    state: OneOf(['granted', 'withdrawn'], {
      description: 'State of the consent; purposes without a record are omitted',
    }),
    address: Type.String({ description: 'Number or address of the consent' }),
    from: Nullable(Type.String({ description: 'Sender of the consent; null for all' })),
    source: Nullable(
      Type.String({ description: 'Source of the consent, such as `keyword` or `unsubscribe`, or your own note' }),
    ),
    at: At({ description: 'Time from which it applies' }),
  },
  { title: 'CustomerConsent' },
)

const known = <T extends TSchema>(schema: T, description: string) => Nullable(schema, { description })

export const Customer = Type.Object(
  {
    id: Type.String({ description: 'Id of the customer, such as `cus_…`' }),
    external_id: known(Type.String(), 'Your own id for the customer'),
    name: known(Type.String(), 'Name of the customer'),
    language: known(Type.String(), 'Preferred language, BCP 47'),
    country: known(Type.String(), 'Country, ISO 3166'),
    timezone: known(Type.String(), 'Time zone, IANA'),
    phones: Type.Array(Type.String(), { description: 'Phone numbers in E.164, the main one first' }),
    emails: Type.Array(Type.String(), { description: 'Email addresses in lower case, the main one first' }),
    attributes: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
      description: 'Your own fields',
    }),
    tags: Type.Array(Type.String(), { description: 'Tags, in lower case' }),
    consents: Type.Array(Consent, { description: 'Consents of the customer, by channel and address' }),
    first_seen_at: Nullable(At({ description: 'Time of first contact: a message, a call, a session, a payment' })),
    last_seen_at: Nullable(At({ description: 'Time of last contact, to the minute' })),
    created_at: At({ description: 'Time of creation' }),
    updated_at: At({ description: 'Time of the last change' }),
  },
  { title: 'CustomerRecord' },
)

export const CustomerList = Type.Object({
  ...listQuery,
  phone: Type.Optional(Type.String({ maxLength: 20, description: 'Full number in E.164, such as +254711000001' })),
  email: Type.Optional(Type.String({ maxLength: 254, description: 'Full address, case-insensitive' })),
  external_id: Type.Optional(Type.String({ maxLength: 128, description: 'Your own id for the customer' })),
  tag: Type.Optional(Type.String({ maxLength: 40, description: 'Filter by tag' })),
  q: Type.Optional(
    Type.String({
      minLength: 2,
      maxLength: 100,
      rule: 'must have 2 to 100 characters',
      description:
        'Search text: the beginning of a word of the name, of a number or address, or a complete external_id',
    }),
  ),
  segment: Type.Optional(Type.String({ maxLength: 40, description: 'Filter by id of a segment' })),
  seen_after: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'Filter by last contact: customers seen since this day or RFC 3339 time',
    }),
  ),
})

export const CustomerParam = Type.Object({
  customer_id: Type.String({ description: 'Id of the customer, such as `cus_…`' }),
})
