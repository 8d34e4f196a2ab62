// SPDX-License-Identifier: Apache-2.0
// Routes of questions before sending: the balance, the price of a segment, and the network of a number.
import type { Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { factsOf, isE164, networks } from '../../../kernel/phone.ts'
import { walletsOf } from '../../../ledger/wallets.ts'
import { list, read } from '../../../platform/api/route.ts'
import { pageOfWhole } from '../../../platform/schema/lists.ts'
import { portabilityOf } from '../ported/number-network.ts'
import { PhoneParam } from '../schema.ts'
import { callersCurrency, listedPrice, pricedSince } from './pricing.ts'
import { BalanceRecord, LookupReply, PricingQuery, PricingReply } from './schema.ts'

/** Segments left below which the balance is low. */
const lowSegments = 100n

export const balance = read({
  method: 'GET',
  path: '/v1/sms/balance',
  operation: 'sms.balance',
  summary: 'Get the wallet balance and the texts it covers',
  scope: 'sms:read',
  reply: { status: 200, schema: BalanceRecord },
  examples: [{ name: 'The balance' }],
  handle: async (app, _, caller) => {
    const currency = callersCurrency(caller)
    const wallet = (await walletsOf(app.db, caller.tenant)).find((one) => one.currency === currency)
    const available = wallet?.availableMicros ?? 0n
    const price = listedPrice(app, caller, { country: caller.principal.facts.country, network: null })
    const segments = price !== null && price > 0n && available > 0n ? available / price : 0n
    return {
      balance: wallet?.balanceMicros ?? 0n,
      currency,
      reserved: wallet?.heldMicros ?? 0n,
      available,
      credit_limit: wallet?.overdraftMicros ?? 0n,
      low_balance: price !== 0n && segments < lowSegments,
      estimated_segments: Number(segments),
      updated_at: wallet?.updatedAt ?? new Date(caller.nowMs),
    }
  },
})

export const pricing = list({
  path: '/v1/sms/pricing',
  operation: 'sms.pricing',
  summary: 'List prices by country and network',
  description: 'In live, only destinations with a price set by the operator; messages to others are refused.',
  scope: 'sms:read',
  query: PricingQuery,
  row: PricingReply,
  examples: [{ name: 'Kenya', query: { country: 'KE' } }],
  handle: async (app, { query }, caller) => {
    const wanted = networks.filter(({ country }) => query.country === undefined || country === query.country)
    const countries = [...new Set([...wanted.map(({ country }) => country), ...(query.country ? [query.country] : [])])]
    const places = countries.flatMap((country) => [
      { country, network: null, mcc_mnc: null },
      ...wanted
        .filter((one) => one.country === country)
        .map(({ network, code }) => ({ country, network, mcc_mnc: code })),
    ])
    const rows = places.flatMap((place): Static<typeof PricingReply>[] => {
      const price = listedPrice(app, caller, place)
      if (price === null) return []
      const since = pricedSince(app, caller, place)
      return [{ ...place, direction: 'outbound', price, currency: callersCurrency(caller), effective_from: since }]
    })
    return pageOfWhole(query, rows, ({ country, network }) => `${country} ${network ?? ''}`)
  },
})

export const lookup = read({
  method: 'GET',
  path: '/v1/sms/lookup/:phone',
  operation: 'sms.lookup',
  summary: 'Look up a number',
  description:
    'Derived from the numbering plans, and from the list of ported numbers if the operator keeps one (`source` is `mnp`).',
  scope: 'sms:read',
  params: PhoneParam,
  reply: { status: 200, schema: LookupReply },
  errors: ['NOT_FOUND'],
  needs: 'nothing',
  handle: async (app, { params }, caller) => {
    const { phone } = params
    if (!isE164(phone)) throw new AppError('NOT_FOUND', 'phone is not E.164, such as +254711000001')
    const { callingCode, nationalFormat, network: _, networkCode: _code, ...facts } = factsOf(phone)
    return {
      phone,
      ...facts,
      calling_code: callingCode,
      national_format: nationalFormat,
      ...(await portabilityOf(app, phone)),
      reachable: null,
      checked_at: new Date(caller.nowMs),
    }
  },
})
