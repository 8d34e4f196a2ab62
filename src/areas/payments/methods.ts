// SPDX-License-Identifier: Apache-2.0
// Which providers take which currency, between which bounds, and what a collection costs. Only those that this program
// speaks to are here.
import { AppError } from '../../kernel/errors.ts'
import { type Currency, currencies, divideHalfEven, formatMicros } from '../../kernel/money.ts'
import { factsOf } from '../../kernel/phone.ts'

export interface Provider {
  readonly provider: string
  readonly name: string
  readonly country: string
  readonly currency: Currency
  /** The network whose subscribers have accounts with it. */
  readonly network: string
  /** Major units. */
  readonly min: number
  readonly max: number
  readonly wholeUnitsOnly: boolean
  /** What a payer dials to see what waits for approval. */
  readonly ussdCode: string
}

const providers: readonly Provider[] = [
  {
    provider: 'mpesa',
    name: 'M-Pesa',
    country: 'KE',
    currency: 'KES',
    network: 'Safaricom',
    min: 1,
    max: 250_000,
    wholeUnitsOnly: true,
    ussdCode: '*334#',
  },
]

/** Those that a customer asks for. */
export function offered({ currency, country }: { currency?: string; country?: string }): readonly Provider[] {
  return providers.filter(
    (one) =>
      (currency === undefined || one.currency === currency.toUpperCase()) &&
      (country === undefined || one.country === country.toUpperCase()),
  )
}

/** Of a collection over mobile money: hundredths of a percent, until the operator sets prices. */
export const feeBasisPoints = 150n

/** What a collection costs the account, to the minor unit, ties to even. */
export function feeOf(micros: bigint, currency: Currency): bigint {
  const minorUnit = 10n ** BigInt(6 - currencies[currency])
  return divideHalfEven(micros * feeBasisPoints, 10_000n * minorUnit) * minorUnit
}

/** The provider that takes such a payment; throws when there is none. */
export function requireCollectable(
  currency: Currency,
  phone: string,
  named: string | undefined,
  micros: bigint,
): Provider {
  const provider = providerFor(currency, phone, named)
  requireBounds(provider, micros)
  return provider
}

/** The provider that a payment goes to: the one that was named, or the one of the payer's network. */
function providerFor(currency: Currency, phone: string, named: string | undefined): Provider {
  const facts = factsOf(phone)
  if (!facts.valid) throw new AppError('INVALID_PHONE', 'phone is not a number that is in use anywhere')
  const offered = providers.filter((one) => one.currency === currency)
  if (offered.length === 0) throw new AppError('UNSUPPORTED_METHOD', `mobile money is not offered in ${currency}`)
  if (!offered.some(({ country }) => country === facts.country))
    throw new AppError('INVALID_PHONE', `phone is not a number of a country that pays in ${currency}`)
  const wanted = named?.toLowerCase()
  const found = offered.find(
    ({ provider, country, network }) =>
      country === facts.country && (wanted === undefined ? network === facts.network : provider === wanted),
  )
  if (!found) {
    const names = offered.map(({ provider }) => provider).join(', ')
    throw new AppError('UNSUPPORTED_PROVIDER', `${currency} is collected by ${names}`)
  }
  return found
}

/** Throws when the provider does not take such an amount. */
function requireBounds({ provider, min, max, wholeUnitsOnly, currency }: Provider, micros: bigint): void {
  if (wholeUnitsOnly && micros % 1_000_000n !== 0n)
    throw new AppError('VALIDATION_ERROR', `amount: provider ${provider} takes whole ${currency}`)
  if (micros < BigInt(Math.round(min * 1_000_000)))
    throw new AppError('AMOUNT_TOO_LOW', `${provider} takes ${currency} ${min} and more`, {
      extra: { min_amount: min, currency },
    })
  if (micros > BigInt(max) * 1_000_000n)
    throw new AppError('AMOUNT_TOO_HIGH', `${provider} takes at most ${currency} ${max}, not ${formatMicros(micros)}`, {
      extra: { max_amount: max, currency },
    })
}
