// SPDX-License-Identifier: Apache-2.0
// Money is a bigint count of micros (millionths of the major unit) and a currency. Every ISO minor unit is a whole number
// of micros, and so are usage prices finer than a cent. JSON numbers are read from, and written as, their decimal text:
// no amount ever passes through floating-point arithmetic.

/** ISO 4217 code -> number of decimals of its minor unit. */
export const currencies = {
  KES: 2, TZS: 2, UGX: 0, RWF: 0, ETB: 2, GHS: 2, NGN: 2, ZAR: 2, ZMW: 2, XOF: 0, XAF: 0, EGP: 2, MAD: 2, DZD: 2,
  TND: 3, AOA: 2, BWP: 2, BIF: 0, CVE: 2, KMF: 0, CDF: 2, DJF: 0, SZL: 2, GMD: 2, GNF: 0, LSL: 2, LRD: 2, MGA: 2,
  MWK: 2, MRU: 2, MUR: 2, MZN: 2, NAD: 2, STN: 2, SCR: 2, SLE: 2, SOS: 2, SSP: 2, ZWG: 2, USD: 2, EUR: 2, GBP: 2,
  ERN: 2, LYD: 3, SDG: 2,
} as const // biome-ignore format: a table reads better dense

export type Currency = keyof typeof currencies

export function isCurrency(text: string): text is Currency {
  return Object.hasOwn(currencies, text)
}

export interface Money {
  readonly micros: bigint
  readonly currency: Currency
}

/** The finest step a usage price may have: a micro. */
export const microDecimals = 6

/** The most that is ever taken as one amount; the rest of a bigint is room for fees and for money that cannot be refused. */
export const maxMicros = 9_000_000_000_000_000_000n

/**
 * Reads an amount of major units: a JSON number, or its decimal text. Returns micros, or a sentence that says what is
 * wrong. A double holds any decimal of up to 15 significant digits exactly, so its shortest text is what the customer wrote.
 */
export function parseAmount(value: number | string, decimals: number): bigint | { problem: string } {
  const text = String(value)
  const match = /^(\d{1,13})(?:\.(\d+))?$/.exec(text)
  if (!match)
    return {
      problem: 'takes a plain decimal number such as 100 or 0.5, with at most 13 digits before the point and no sign',
    }
  const [, whole = '0', fraction = ''] = match
  if (fraction.length > decimals)
    return { problem: decimals === 0 ? 'allows no decimals' : `allows ${decimals} decimals` }
  if ((whole + fraction).replace(/^0+/, '').length > 15) return { problem: 'takes at most 15 significant digits' }
  const micros = BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(microDecimals, '0'))
  return micros > maxMicros ? { problem: `takes at most ${formatMicros(maxMicros)}` } : micros
}

/** Writes micros as a JSON number: plain decimals, no trailing zeros. */
export function formatMicros(micros: bigint): string {
  const negative = micros < 0n
  const digits = (negative ? -micros : micros).toString().padStart(microDecimals + 1, '0')
  const whole = digits.slice(0, -microDecimals)
  const fraction = digits.slice(-microDecimals).replace(/0+$/, '')
  return `${negative ? '-' : ''}${whole}${fraction ? `.${fraction}` : ''}`
}

/** An amount as a person reads it: `KES 12.50`. */
export function formatMoney({ micros, currency }: Money): string {
  const text = formatMicros(micros)
  const [whole = '0', fraction = ''] = text.split('.')
  const decimals = currencies[currency]
  return `${currency} ${whole}${decimals || fraction ? `.${fraction.padEnd(decimals, '0')}` : ''}`
}

/** `numerator / denominator`, rounded to the nearest integer, ties to the even one. */
export function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator
  const twice = (numerator % denominator) * 2n
  const size = twice < 0n ? -twice : twice
  const bound = denominator < 0n ? -denominator : denominator
  if (size < bound || (size === bound && quotient % 2n === 0n)) return quotient
  return numerator < 0n === denominator < 0n ? quotient + 1n : quotient - 1n
}

export function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
