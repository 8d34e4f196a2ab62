// SPDX-License-Identifier: Apache-2.0
// Mobile money providers by currency, from the facts of those that have a carrier.
import { AppError, invalidAt } from '../../../kernel/errors.ts'
import type { Currency, Money } from '../../../kernel/money.ts'
import { factsOf } from '../../../kernel/phone.ts'
import type { App } from '../../../platform/app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { kinds } from '../carriers/kinds.ts'
import { isMobile, type MobileFacts } from '../providers/facts.ts'
import { requireWithin, type Terms, termsOf, type Way } from '../providers/terms.ts'

export interface Provider
  extends Pick<MobileFacts, 'provider' | 'name' | 'confirmsOn' | 'expirySeconds' | 'wholeUnitsOnly'> {
  readonly alsoCalled: readonly string[]
  readonly country: string
  readonly currency: Currency
  /** The network whose subscribers have accounts with it; null where it has to be named. */
  readonly network: string | null
  /** USSD code to see what waits for approval. */
  readonly ussdCode: string | null
}

/** Mobile-money providers, one for each of their countries. */
const providers: readonly Provider[] = kinds
  .flatMap(({ facts }) => (isMobile(facts) ? [facts] : []))
  .flatMap(({ provider, name, confirmsOn, expirySeconds, wholeUnitsOnly, alsoCalled = [], places }) =>
    places.map(([country, currency, network, ussdCode]) => ({
      ...{ provider, name, confirmsOn, expirySeconds, wholeUnitsOnly, alsoCalled },
      ...{ country, currency, network, ussdCode },
    })),
  )

/** Countries that share a currency, with a provider or without. Every other currency offered is that of one country. */
const sharedBy: Readonly<Partial<Record<Currency, readonly string[]>>> = {
  XAF: ['CF', 'CG', 'CM', 'GA', 'GQ', 'TD'],
  XOF: ['BF', 'BJ', 'CI', 'GW', 'ML', 'NE', 'SN', 'TG'],
}

/** Name of a provider of mobile money as people call it, and whether its payers are sent to a page; null for any other. */
export function providerNamed(provider: string): { name: string; confirmsOnPage: boolean } | null {
  const [first, ...others] = providers.filter((one) => one.provider === provider)
  return first
    ? { name: first.name, confirmsOnPage: [first, ...others].some(({ confirmsOn }) => confirmsOn === 'page') }
    : null
}

/** Countries of a provider. */
export function countriesOf(provider: string): readonly string[] {
  return providers.filter((one) => one.provider === provider).map(({ country }) => country)
}

/** Providers that match a customer's query. */
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
  if (!facts.valid) throw new AppError('INVALID_PHONE', 'phone is not a valid number')
  const offered = providers.filter((one) => one.currency === currency)
  if (offered.length === 0) throw new AppError('UNSUPPORTED_METHOD', `mobile money is not offered in ${currency}`)
  if (!offered.some(({ country }) => country === facts.country)) {
    if (facts.country !== null && sharedBy[currency]?.includes(facts.country))
      throw new AppError('UNSUPPORTED_PROVIDER', 'no provider of this installation serves the country of phone')
    throw new AppError('INVALID_PHONE', `phone is not a number of a country that pays in ${currency}`)
  }
  const wanted = named?.toLowerCase()
  const found = offered.find(
    ({ provider, alsoCalled, country, network }) =>
      country === facts.country &&
      (wanted === undefined ? network === facts.network : provider === wanted || alsoCalled.includes(wanted)),
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
