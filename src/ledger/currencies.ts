// SPDX-License-Identifier: Apache-2.0
// Currencies of an installation: all the code knows, except those that may be under embargo, which the operator must
// enable. Stored amounts are always readable.
import { dormantCurrencies } from '../config.ts'
import { AppError, invalid, invalidAt } from '../kernel/errors.ts'
import { type Currency, currencies, isCurrency, parseAmount } from '../kernel/money.ts'
import type { App } from '../platform/app.ts'

type Means = Pick<App, 'config'>

export function enabledCurrencies(app: Means): Currency[] {
  return Object.keys(currencies)
    .filter(isCurrency)
    .filter((code) => isEnabled(app, code))
}

/** Codes that people write for currencies whose code is another. */
const everyday: Readonly<Record<string, string>> = {
  BIR: 'ETB',
  CFA: 'XOF or XAF',
  FRW: 'RWF',
  GHC: 'GHS',
  KSH: 'KES',
  LEO: 'SLE',
  TSH: 'TZS',
  USH: 'UGX',
  ZMK: 'ZMW',
}

/** Currency of a request, in either case; throws for one that is not enabled, naming the field. */
export function currencyTaken(app: Means, given: string, field: string | null = null): Currency {
  const currency = given.toUpperCase()
  if (isCurrency(currency) && isEnabled(app, currency)) return currency
  const meant = everyday[currency]
  const message = `${given.slice(0, 10)} is not a currency of this service${meant ? `; did you mean ${meant}?` : ''}`
  if (field === null) throw new AppError('UNSUPPORTED_CURRENCY', message)
  throw new AppError('UNSUPPORTED_CURRENCY', `${field}: ${message}`, {
    fields: [{ field, code: 'UNSUPPORTED_CURRENCY', message }],
  })
}

/** Currency by code, in either case, enabled or not, for stored amounts. */
export function currencyOf(code: string): Currency {
  const currency = code.toUpperCase()
  if (!isCurrency(currency)) throw new AppError('UNSUPPORTED_CURRENCY', `${code} is not a currency of this service`)
  return currency
}

/** Amount of a field in micros; throws when malformed or zero. */
export function microsOf(field: string, given: number | string, currency: Currency): bigint {
  const micros = parseAmount(given, currencies[currency])
  if (typeof micros !== 'bigint') throw invalidAt(field, `${currency} ${micros.problem}`)
  if (micros === 0n) throw invalid(field, 'must be more than 0')
  return micros
}

function isEnabled({ config }: Means, currency: Currency): boolean {
  const dormant = dormantCurrencies.find((code) => code === currency)
  return dormant === undefined || config.PAMOJA_CURRENCIES_ON.includes(dormant)
}
