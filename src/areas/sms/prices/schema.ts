// SPDX-License-Identifier: Apache-2.0
// Shapes of what customers ask before they send.
import { Type } from 'typebox'
import { Amount, At, CountryCode, Nullable, OneOf, wholeListQuery } from '../../../platform/schema/fields.ts'

export const BalanceRecord = Type.Object(
  {
    balance: Amount({ description: 'Balance of the wallet, in major units' }),
    currency: Type.String({ description: 'Currency of the amounts, ISO 4217' }),
    reserved: Amount({ description: 'Amount reserved for operations whose outcome is pending' }),
    available: Amount({ description: 'Amount that can be spent' }),
    credit_limit: Amount({ description: 'Maximum amount by which the balance may be negative' }),
    low_balance: Type.Boolean({ description: 'True if it covers fewer than 100 segments' }),
    estimated_segments: Type.Integer({
      description: 'Number of segments to the country of the account that it covers',
    }),
    updated_at: At({ description: 'Time of the last change of the balance' }),
  },
  { title: 'SmsBalance' },
)

export const PricingQuery = Type.Object({
  ...wholeListQuery,
  country: Type.Optional(CountryCode({ description: 'Filter by country; default all with known networks' })),
})

export const PricingReply = Type.Object(
  {
    country: Type.String({ description: 'Country code, ISO 3166, such as KE' }),
    network: Nullable(Type.String({ description: 'Name of the network; null: every other network of the country' })),
    mcc_mnc: Nullable(Type.String({ description: 'Code of the network, such as 63902' })),
    direction: OneOf(['outbound'], { description: 'Direction of the messages; inbound ones are free' }),
    price: Amount({ description: 'Price per segment' }),
    currency: Type.String({ description: 'Currency of the price' }),
    effective_from: Nullable(
      At({
        description: 'Time from which it applies; null in the test environment while the operator has set no price',
      }),
    ),
  },
  { title: 'SmsPrice' },
)

export const LookupReply = Type.Object(
  {
    phone: Type.String({ description: 'Phone number that was looked up' }),
    valid: Type.Boolean({ description: 'True if the number is possible in its numbering plan' }),
    country: Nullable(Type.String({ description: 'Country of the number, ISO 3166' })),
    calling_code: Nullable(Type.String({ description: 'Calling code, such as +254' })),
    national_format: Nullable(Type.String({ description: 'Number in national format' })),
    type: Nullable(Type.String({ description: 'Kind of number: mobile, fixed_line and others' })),
    network: Nullable(Type.String({ description: 'Network of the subscriber, if known' })),
    mcc_mnc: Nullable(Type.String({ description: 'Code of the network, such as 63902' })),
    original_network: Nullable(Type.String({ description: 'Network of the number range' })),
    ported: Nullable(Type.Boolean({ description: 'True if the number was ported; null if not known' })),
    source: OneOf(['prefix', 'mnp'], { description: 'Source: the numbering plan, or the list of ported numbers' }),
    reachable: Nullable(Type.Boolean({ description: 'True if the handset is reachable; null if not checked' })),
    checked_at: At({ description: 'Time of the lookup' }),
  },
  { title: 'SmsLookup' },
)
