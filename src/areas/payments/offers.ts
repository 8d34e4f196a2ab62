// SPDX-License-Identifier: Apache-2.0
// The ways to pay and to be paid, as customers read them: who offers them, between which bounds, for what, and how they are
// doing.
import { type Static, Type } from 'typebox'
import { cardBrands } from '../../kernel/card.ts'
import { currencies, isCurrency } from '../../kernel/money.ts'
import type { App } from '../../platform/app.ts'
import { list } from '../../platform/route.ts'
import { OneOf } from '../../platform/schema.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { bankFeeBasisPoints, bankMarkets, bankProvider } from './bank/banks.ts'
import { largerBoundsOf } from './bounds.ts'
import { cardCountry, cardFeeBasisPoints, cardProvider } from './cards/method.ts'
import { gatewayOf } from './gateway.ts'
import { feeBasisPoints, offered } from './methods.ts'
import { payoutFeeBasisPoints } from './payouts/payout.ts'

const Method = Type.Object(
  {
    method: OneOf(['mobile_money', 'card', 'bank_transfer']),
    provider: Type.String(),
    name: Type.String(),
    countries: Type.Array(Type.String()),
    currencies: Type.Array(Type.String()),
    directions: Type.Unsafe<readonly ('in' | 'out')[]>(Type.Array(OneOf(['in', 'out']))),
    min_amount: Type.Optional(Type.Number({ description: 'In the one currency' })),
    max_amount: Type.Optional(Type.Number()),
    whole_units_only: Type.Boolean(),
    fee: Type.Object(
      { percent: Type.Number(), fixed: Type.Number(), currency: Type.Optional(Type.String()) },
      { description: 'Of a collection, or with `direction=out` of a payout' },
    ),
    status: OneOf(['up', 'degraded', 'down']),
    ussd_code: Type.Optional(Type.String({ description: 'What a payer dials to see what waits for approval' })),
    brands: Type.Optional(Type.Array(OneOf(cardBrands))),
    supports_3ds: Type.Optional(Type.Boolean()),
    banks: Type.Optional(Type.Array(Type.Object({ code: Type.String(), name: Type.String() }))),
  },
  { title: 'PaymentMethod' },
)

export const methods = list({
  path: '/v1/payments/methods',
  operation: 'payments.methods',
  summary: 'List the ways to pay',
  scope: 'payments:read',
  query: Type.Object({
    currency: Type.Optional(Type.String({ maxLength: 3 })),
    country: Type.Optional(Type.String({ maxLength: 2 })),
    direction: Type.Optional(OneOf(['in', 'out'])),
  }),
  row: Method,
  examples: [{ name: 'In Kenya', query: { country: 'KE' } }],
  handle: async (app, { query }, { tenant }) => ({
    rows: [...mobileRows(app, query, tenant), ...cardRows(app, query, tenant), ...(await bankRows(app, query, tenant))],
    nextCursor: null,
  }),
})

type MethodQuery = { currency?: string; country?: string; direction?: 'in' | 'out' }

function mobileRows(app: App, query: MethodQuery, { environment }: Tenant): Static<typeof Method>[] {
  return offered(query).flatMap((one) => {
    const paysOut = gatewayOf(app).outgoing(one, environment) !== null
    if (query.direction === 'out' && !paysOut) return []
    const basisPoints = query.direction === 'out' ? payoutFeeBasisPoints : feeBasisPoints
    return {
      method: 'mobile_money' as const,
      provider: one.provider,
      name: one.name,
      countries: [one.country],
      currencies: [one.currency],
      directions: paysOut ? (['in', 'out'] as const) : (['in'] as const),
      min_amount: one.min,
      max_amount: one.max,
      whole_units_only: one.wholeUnitsOnly,
      fee: { percent: Number(basisPoints) / 100, fixed: 0, currency: one.currency },
      status: gatewayOf(app).status(one, environment, query.direction),
      ussd_code: one.ussdCode,
    }
  })
}

/** Cards come from any country, and pay in every currency. */
function cardRows(app: App, { currency, direction }: MethodQuery, { environment }: Tenant): Static<typeof Method>[] {
  if (direction === 'out') return []
  const only = currency?.toUpperCase()
  if (only !== undefined && !isCurrency(only)) return []
  const bounds = only && largerBoundsOf(only)
  const named = { provider: cardProvider, country: cardCountry }
  return [
    {
      method: 'card',
      provider: cardProvider,
      name: 'Cards',
      countries: [],
      currencies: only ? [only] : Object.keys(currencies),
      directions: ['in'],
      ...(bounds ? { min_amount: bounds.min, max_amount: bounds.max } : {}),
      whole_units_only: false,
      fee: { percent: Number(cardFeeBasisPoints) / 100, fixed: 0, ...(only ? { currency: only } : {}) },
      status: gatewayOf(app).status(named, environment),
      brands: [...cardBrands],
      supports_3ds: true,
    },
  ]
}

async function bankRows(app: App, query: MethodQuery, { environment }: Tenant): Promise<Static<typeof Method>[]> {
  const gateway = gatewayOf(app)
  const paysOut = (country: string) => gateway.outgoing({ provider: bankProvider, country }, environment) !== null
  const basisPoints = query.direction === 'out' ? payoutFeeBasisPoints : bankFeeBasisPoints
  const markets = bankMarkets(query).filter(({ country }) => query.direction !== 'out' || paysOut(country))
  return Promise.all(
    markets.map(async ({ country, currency }) => {
      const named = { provider: bankProvider, country }
      const { min, max } = largerBoundsOf(currency)
      return {
        method: 'bank_transfer' as const,
        provider: bankProvider,
        name: 'Bank transfer',
        countries: [country],
        currencies: [currency],
        directions: paysOut(country) ? (['in', 'out'] as const) : (['in'] as const),
        min_amount: min,
        max_amount: max,
        whole_units_only: false,
        fee: { percent: Number(basisPoints) / 100, fixed: 0, currency },
        status: gateway.status(named, environment, query.direction),
        banks: [...((await gateway.carrier('bank_transfer', named, environment)?.banks()) ?? [])],
      }
    }),
  )
}
