// SPDX-License-Identifier: Apache-2.0
// Shapes of what customers ask before they send.
import { Type } from 'typebox'
import { Amount, At, CountryCode, Nullable, OneOf, wholeListQuery } from '../../../platform/schema/fields.ts'

export const BalanceRecord = Type.Object(
  {
    balance: Amount({ description: 'Of the wallet, in major units' }),
    currency: Type.String({ description: 'Of the amounts' }),
    reserved: Amount({ description: 'Set aside for what is not certain yet' }),
    available: Amount({ description: 'What can be spent' }),
    credit_limit: Amount({ description: 'How far the balance may go below zero' }),
    low_balance: Type.Boolean({ description: 'Fewer than a hundred segments are left' }),
    estimated_segments: Type.Integer({ description: 'How many segments to the country of the account that buys' }),
    updated_at: At({ description: 'When the balance last changed' }),
  },
  { title: 'SmsBalance' },
)

export const PricingQuery = Type.Object({
  ...wholeListQuery,
  country: Type.Optional(
    CountryCode({ description: 'Only this country; all that there are networks of unless given' }),
  ),
})

export const PricingReply = Type.Object(
  {
    country: Type.String({ description: 'ISO 3166, such as KE' }),
    network: Nullable(Type.String({ description: 'Null: every other network of the country' })),
    mcc_mnc: Nullable(Type.String({ description: 'Code of the network, such as 63902' })),
    direction: OneOf(['outbound'], { description: 'Messages that come in cost nothing' }),
    price: Amount({ description: 'Per segment' }),
    currency: Type.String({ description: 'Of the price' }),
    effective_from: Nullable(
      At({ description: 'Since when; null in the test environment while the operator has set no price' }),
    ),
  },
  { title: 'SmsPrice' },
)

export const LookupReply = Type.Object(
  {
    phone: Type.String({ description: 'The number that was asked for' }),
    valid: Type.Boolean({ description: 'Whether such a number can exist' }),
    country: Nullable(Type.String({ description: 'Where it belongs, ISO 3166' })),
    calling_code: Nullable(Type.String({ description: 'Such as +254' })),
    national_format: Nullable(Type.String({ description: 'As it is written there' })),
    type: Nullable(Type.String({ description: 'mobile, fixed_line and others' })),
    network: Nullable(Type.String({ description: 'Whose customer it is, as far as that is known' })),
    mcc_mnc: Nullable(Type.String({ description: 'Code of the network, such as 63902' })),
    original_network: Nullable(Type.String({ description: 'Whose range the number is from' })),
    ported: Nullable(Type.Boolean({ description: 'Null: not known' })),
    source: OneOf(['prefix', 'mnp'], { description: 'The numbering plan, or the list of ported numbers' }),
    reachable: Nullable(Type.Boolean({ description: 'Null: not asked' })),
    checked_at: At({ description: 'When it was looked up' }),
  },
  { title: 'SmsLookup' },
)
