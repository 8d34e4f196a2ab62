// SPDX-License-Identifier: Apache-2.0
// Which providers of mobile money take which currency. Only those that this program speaks to are here.
import { AppError, invalidAt } from '../../../kernel/errors.ts'
import type { Currency, Money } from '../../../kernel/money.ts'
import { factsOf } from '../../../kernel/phone.ts'
import type { App } from '../../../platform/app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { requireWithin, type Terms, termsOf, type Way } from '../providers/terms.ts'

export interface Provider {
  readonly provider: string
  readonly name: string
  readonly country: string
  readonly currency: Currency
  /** The network whose subscribers have accounts with it. */
  readonly network: string
  readonly wholeUnitsOnly: boolean
  /** What a payer dials to see what waits for approval. */
  readonly ussdCode: string
}

type Row = readonly [country: string, currency: Currency, network: string, ussdCode: string]

const providers: readonly Provider[] = [
  ...inCountries('mpesa', 'M-Pesa', [['KE', 'KES', 'Safaricom', '*334#']], { wholeUnitsOnly: true }),
  ...inCountries('mtn_momo', 'MTN MoMo', [
    ['UG', 'UGX', 'MTN', '*165#'],
    ['RW', 'RWF', 'MTN', '*182#'],
    ['GH', 'GHS', 'MTN', '*170#'],
    ['ZM', 'ZMW', 'MTN', '*115#'],
    ['CM', 'XAF', 'MTN Cameroon', '*126#'],
    ['CG', 'XAF', 'MTN', '*105#'],
    ['BJ', 'XOF', 'MTN', '*880#'],
    ['CI', 'XOF', 'MTN', '*133#'],
    ['SZ', 'SZL', 'Swazi MTN', '*007#'],
    ['GN', 'GNF', 'Areeba', '*440#'],
    ['LR', 'LRD', 'Lonestar Cell', '*156#'],
  ]),
  ...inCountries('airtel_money', 'Airtel Money', [
    ['KE', 'KES', 'Airtel', '*334#'],
    ['UG', 'UGX', 'Airtel', '*185#'],
    ['TZ', 'TZS', 'Airtel', '*150*60#'],
    ['ZM', 'ZMW', 'Airtel', '*115#'],
    ['RW', 'RWF', 'Airtel', '*182#'],
    ['MW', 'MWK', 'Airtel', '*211#'],
    ['CD', 'CDF', 'Airtel', '*501#'],
    ['MG', 'MGA', 'Airtel', '*436#'],
    ['GA', 'XAF', 'Airtel', '*150#'],
  ]),
]

/** Who shares a currency, with a provider or without. Of the others that are offered each is the money of one country. */
const sharedBy: Readonly<Partial<Record<Currency, readonly string[]>>> = {
  XAF: ['CF', 'CG', 'CM', 'GA', 'GQ', 'TD'],
  XOF: ['BF', 'BJ', 'CI', 'GW', 'ML', 'NE', 'SN', 'TG'],
}

/** As people call a provider of mobile money. */
export function nameOfProvider(provider: string): string | undefined {
  return providers.find((known) => known.provider === provider)?.name
}

function inCountries(
  provider: string,
  name: string,
  rows: readonly Row[],
  { wholeUnitsOnly = false }: { wholeUnitsOnly?: boolean } = {},
): Provider[] {
  return rows.map(([country, currency, network, ussdCode]) => ({
    provider,
    name,
    country,
    currency,
    network,
    wholeUnitsOnly,
    ussdCode,
  }))
}

/** Where a provider is. */
export function countriesOf(provider: string): readonly string[] {
  return providers.filter((one) => one.provider === provider).map(({ country }) => country)
}

/** Those that a customer asks for. */
export function offered({ currency, country }: { currency?: string; country?: string }): readonly Provider[] {
  return providers.filter(
    (one) =>
      (currency === undefined || one.currency === currency.toUpperCase()) &&
      (country === undefined || one.country === country.toUpperCase()),
  )
}

/** The provider that takes such an amount from a phone, or pays it to one, and on what terms; throws when there is none. */
export function requireProvider(
  app: App,
  tenant: Tenant,
  direction: Way['direction'],
  { phone, provider: named }: { phone: string; provider?: string | undefined },
  money: Money,
): Provider & { terms: Terms } {
  const found = providerFor(money.currency, phone, named)
  const { provider, wholeUnitsOnly } = found
  const terms = mobileTermsOf(app, tenant, direction, found)
  // Half a shilling is too little before it is no whole one.
  requireWithin(provider, terms, money)
  if (wholeUnitsOnly && money.micros % 1_000_000n !== 0n)
    throw invalidAt('amount', `provider ${provider} takes whole ${money.currency}`)
  return { ...found, terms }
}

export function mobileTermsOf(
  app: App,
  tenant: Pick<Tenant, 'account'>,
  direction: Way['direction'],
  { provider, country, currency }: Provider,
): Terms {
  return termsOf(app, tenant, { direction, method: 'mobile_money', provider, country }, currency)
}

/** The provider that a payment goes to: the one that was named, or the one of the payer's network. */
export function providerFor(currency: Currency, phone: string, named: string | undefined): Provider {
  const facts = factsOf(phone)
  if (!facts.valid) throw new AppError('INVALID_PHONE', 'phone is not a number that is in use anywhere')
  const offered = providers.filter((one) => one.currency === currency)
  if (offered.length === 0) throw new AppError('UNSUPPORTED_METHOD', `mobile money is not offered in ${currency}`)
  if (!offered.some(({ country }) => country === facts.country)) {
    if (facts.country !== null && sharedBy[currency]?.includes(facts.country))
      throw new AppError('UNSUPPORTED_PROVIDER', 'no provider that is spoken to here serves the country of phone')
    throw new AppError('INVALID_PHONE', `phone is not a number of a country that pays in ${currency}`)
  }
  const wanted = named?.toLowerCase()
  const found = offered.find(
    ({ provider, country, network }) =>
      country === facts.country && (wanted === undefined ? network === facts.network : provider === wanted),
  )
  if (!found) {
    const there = offered.filter(({ country }) => country === facts.country).map(({ provider }) => provider)
    const instead = `for this number and ${currency} there are: ${there.join(', ')}`
    throw new AppError(
      'UNSUPPORTED_PROVIDER',
      wanted === undefined
        ? `provider must be named, because the network of phone has none; ${instead}`
        : `provider is not one that serves phone; ${instead}`,
    )
  }
  return found
}
