// SPDX-License-Identifier: Apache-2.0
// Shapes of what customers ask before they send.
import { Type } from 'typebox'
import { Amount, At, CountryCode, Nullable, OneOf, wholeListQuery } from '../../../platform/schema/fields.ts'

export const BalanceRecord = Type.Object(
  {
    balance: Amount(),
    currency: Type.String(),
    reserved: Amount(),
    available: Amount(),
    credit_limit: Amount(),
    low_balance: Type.Boolean({ description: 'Fewer than a hundred segments are left' }),
    estimated_segments: Type.Integer({ description: 'How many segments to the country of the account that buys' }),
    updated_at: At(),
  },
  { title: 'SmsBalance' },
)

export const PricingQuery = Type.Object({ ...wholeListQuery, country: Type.Optional(CountryCode()) })

export const PricingReply = Type.Object(
  {
    country: Type.String(),
    network: Nullable(Type.String({ description: 'Null: every other network of the country' })),
    mcc_mnc: Nullable(Type.String()),
    direction: OneOf(['outbound']),
    price: Amount({ description: 'Per segment' }),
    currency: Type.String(),
    effective_from: Nullable(
      At({ description: 'Since when; null in the test environment while the operator has set no price' }),
    ),
  },
  { title: 'SmsPrice' },
)

export const LookupReply = Type.Object(
  {
    phone: Type.String(),
    valid: Type.Boolean({ description: 'Whether such a number can exist' }),
    country: Nullable(Type.String()),
    calling_code: Nullable(Type.String()),
    national_format: Nullable(Type.String()),
    type: Nullable(Type.String({ description: 'mobile, fixed_line and others' })),
    network: Nullable(Type.String()),
    mcc_mnc: Nullable(Type.String()),
    original_network: Nullable(Type.String({ description: 'Whose range the number is from' })),
    ported: Nullable(Type.Boolean({ description: 'Null: not known' })),
    source: OneOf(['prefix', 'mnp'], { description: 'The numbering plan, or the list of ported numbers' }),
    reachable: Nullable(Type.Boolean({ description: 'Null: not asked' })),
    checked_at: At(),
  },
  { title: 'SmsLookup' },
)
