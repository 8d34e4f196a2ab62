// SPDX-License-Identifier: Apache-2.0
// The ways to pay and to be paid, as customers read them: who offers them, between which bounds, for what, and how they are
// doing.
import { type Static, Type } from 'typebox'
import { cardBrands } from '../../../kernel/card.ts'
import { enabledCurrencies } from '../../../ledger/currencies.ts'
import { list } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import { Amount, OneOf, wholeListQuery } from '../../../platform/schema/fields.ts'
import { pageOfWhole } from '../../../platform/schema/lists.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { gatewayOf } from '../gateway/gateway.ts'
import { bankMarkets, bankProvider, bankTermsOf } from '../providers/banks.ts'
import type { Terms } from '../providers/terms.ts'
import { cardCountry, cardProvider, cardTermsOf } from './card.ts'
import { logoUrl } from './logos.ts'
import { mobileTermsOf, offered } from './mobile-money-providers.ts'

const Method = Type.Object(
  {
    method: OneOf(['mobile_money', 'card', 'bank_transfer'], { description: 'Value of `method` in a payment' }),
    provider: Type.String({ description: 'Value of `provider` in a payment' }),
    name: Type.String({ description: 'Name known to payers' }),
    countries: Type.Array(Type.String(), { description: 'Countries of its payers' }),
    currencies: Type.Array(Type.String(), { description: 'Currencies that it accepts' }),
    directions: Type.Unsafe<readonly ('in' | 'out')[]>(
      Type.Array(OneOf(['in', 'out']), {
        description: 'Supported directions: payments (`in`), payouts (`out`) or both',
      }),
    ),
    min_amount: Type.Optional(
      Amount({ description: 'Minimum amount, if there is one currency; for cards if `currency` is given' }),
    ),
    max_amount: Type.Optional(Amount({ description: 'Maximum amount of a payment' })),
    whole_units_only: Type.Boolean({ description: 'True if amounts have no decimals' }),
    fee: Type.Optional(
      Type.Object(
        {
          percent: Amount({ description: 'Percent of the amount' }),
          fixed: Amount({ description: 'Fixed part of the fee, in major units' }),
          currency: Type.String({ description: 'Currency of `fixed`' }),
        },
        { description: 'Fee of a collection, or with `direction=out` of a payout' },
      ),
    ),
    status: OneOf(['up', 'degraded', 'down'], { description: 'Status; `down`: payments are currently refused' }),
    logo_url: Type.String({ description: 'URL of the logo, an image for checkout pages' }),
    ussd_code: Type.Optional(Type.String({ description: 'USSD code that a payer dials to see pending approvals' })),
    confirms_on: Type.Optional(
      OneOf(['phone', 'page'], { description: 'Place of the confirmation: the phone, or the page at `redirect_url`' }),
    ),
    brands: Type.Optional(Type.Array(OneOf(cardBrands), { description: 'Accepted brands of cards' })),
    supports_3ds: Type.Optional(Type.Boolean({ description: 'True if 3-D Secure is supported' })),
    banks: Type.Optional(
      Type.Array(
        Type.Object({
          bank_code: Type.String({ description: 'Bank code used in payouts' }),
          name: Type.String({ description: 'Name of the bank' }),
        }),
        { description: 'Supported banks' },
      ),
    ),
  },
  { title: 'PaymentMethod' },
)

export const methods = list({
  path: '/v1/payments/methods',
  operation: 'payments.methods',
  summary: 'List payment methods',
  scope: 'payments:read',
  query: Type.Object({
    ...wholeListQuery,
    currency: Type.Optional(
      Type.String({
        maxLength: 3,
        description: 'Filter by currency, such as KES; adds the fee and limits of cards',
      }),
    ),
    country: Type.Optional(
      Type.String({
        maxLength: 2,
        description: 'Filter by country, such as KE; cards are always included',
      }),
    ),
    direction: Type.Optional(
      OneOf(['in', 'out'], {
        description: '`out` lists payout methods, with the fee and limits of payouts; default: payment methods',
      }),
    ),
  }),
  row: Method,
  examples: [{ name: 'In Kenya', query: { country: 'KE' } }],
  handle: async (app, { query }, { tenant }) => {
    const banks = await bankRows(app, query, tenant)
    const rows = [...mobileRows(app, query, tenant), ...cardRows(app, query, tenant), ...banks]
    return pageOfWhole(query, rows, ({ method, provider, countries, currencies }) =>
      [method, provider, countries[0], currencies[0]].join(' '),
    )
  },
})

type MethodQuery = { currency?: string; country?: string; direction?: 'in' | 'out' }

function mobileRows(app: App, query: MethodQuery, tenant: Tenant): Static<typeof Method>[] {
  const { environment } = tenant
  return offered(query).flatMap((one) => {
    const paysOut = gatewayOf(app).outgoing(one, environment) !== null
    if (query.direction === 'out' && !paysOut) return []
    return {
      method: 'mobile_money' as const,
      provider: one.provider,
      name: one.name,
      countries: [one.country],
      currencies: [one.currency],
      directions: paysOut ? (['in', 'out'] as const) : (['in'] as const),
      ...shownTerms(mobileTermsOf(app, tenant, query.direction ?? 'in', one), one.currency),
      whole_units_only: one.wholeUnitsOnly,
      status: gatewayOf(app).status(one, environment, query.direction),
      logo_url: logoUrl(app, one.provider),
      confirms_on: one.confirmsOn,
      ...(one.ussdCode === null ? {} : { ussd_code: one.ussdCode }),
    }
  })
}

function shownTerms({ percent, fixed, min, max }: Terms, currency: string) {
  return { min_amount: min, max_amount: max, fee: { percent, fixed, currency } }
}

/** Cards come from any country, and pay in every currency. */
function cardRows(app: App, { currency, direction }: MethodQuery, tenant: Tenant): Static<typeof Method>[] {
  if (direction === 'out') return []
  const taken = enabledCurrencies(app)
  const only = taken.find((one) => one === currency?.toUpperCase())
  if (currency !== undefined && only === undefined) return []
  const named = { provider: cardProvider, country: cardCountry }
  return [
    {
      method: 'card',
      provider: cardProvider,
      name: 'Cards',
      countries: [],
      currencies: only ? [only] : taken,
      directions: ['in'],
      ...(only ? shownTerms(cardTermsOf(app, tenant, only), only) : {}),
      whole_units_only: false,
      status: gatewayOf(app).status(named, tenant.environment),
      logo_url: logoUrl(app, cardProvider),
      brands: [...cardBrands],
      supports_3ds: true,
    },
  ]
}

async function bankRows(app: App, query: MethodQuery, tenant: Tenant): Promise<Static<typeof Method>[]> {
  const { environment } = tenant
  const gateway = gatewayOf(app)
  const paysOut = (country: string) => gateway.outgoing({ provider: bankProvider, country }, environment) !== null
  const taken = enabledCurrencies(app)
  const markets = bankMarkets(query).filter(
    ({ country, currency }) => taken.includes(currency) && (query.direction !== 'out' || paysOut(country)),
  )
  return Promise.all(
    markets.map(async ({ country, currency }) => {
      const named = { provider: bankProvider, country }
      return {
        method: 'bank_transfer' as const,
        provider: bankProvider,
        name: 'Bank transfer',
        countries: [country],
        currencies: [currency],
        directions: paysOut(country) ? (['in', 'out'] as const) : (['in'] as const),
        ...shownTerms(bankTermsOf(app, tenant, query.direction ?? 'in', { country, currency }), currency),
        whole_units_only: false,
        status: gateway.status(named, environment, query.direction),
        logo_url: logoUrl(app, bankProvider),
        banks: ((await gateway.carrier('bank_transfer', named, environment)?.banks()) ?? []).map(({ code, name }) => ({
          bank_code: code,
          name,
        })),
      }
    }),
  )
}
