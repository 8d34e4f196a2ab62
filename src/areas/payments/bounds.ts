// SPDX-License-Identifier: Apache-2.0
// What may be paid at once in each currency, in major units, until an operator says otherwise.
import { AppError } from '../../kernel/errors.ts'
import { type Currency, formatMicros } from '../../kernel/money.ts'

/** Over mobile money. */
const bounds: Readonly<Record<Currency, readonly [min: number, max: number]>> = {
  KES: [1, 250_000], TZS: [20, 5_000_000], UGX: [50, 5_000_000], RWF: [20, 2_500_000], ETB: [1, 250_000],
  GHS: [1, 20_000], NGN: [20, 2_500_000], ZAR: [1, 25_000], ZMW: [1, 50_000], XOF: [5, 1_000_000],
  XAF: [5, 1_000_000], EGP: [1, 50_000], MAD: [1, 10_000], DZD: [2, 250_000], TND: [0.5, 5_000],
  AOA: [10, 1_000_000], BWP: [1, 25_000], BIF: [25, 5_000_000], CVE: [1, 200_000], KMF: [5, 500_000],
  CDF: [25, 5_000_000], DJF: [2, 250_000], SZL: [1, 25_000], GMD: [1, 100_000], GNF: [100, 10_000_000],
  LSL: [1, 25_000], LRD: [2, 250_000], MGA: [50, 5_000_000], MWK: [20, 2_500_000], MRU: [1, 50_000],
  MUR: [1, 50_000], MZN: [1, 100_000], NAD: [1, 25_000], STN: [1, 25_000], SCR: [1, 25_000], SLE: [1, 25_000],
  SOS: [5, 1_000_000], SSP: [50, 5_000_000], ZWG: [1, 50_000], USD: [0.5, 2_000], EUR: [0.5, 1_000], GBP: [0.5, 1_000],
} // biome-ignore format: a table reads better dense

/** Cards and banks take more at once than a phone does. */
const largerBy = 10

export function largerBoundsOf(currency: Currency): { min: number; max: number } {
  const [min, max] = bounds[currency]
  return { min, max: max * largerBy }
}

/** Throws when a provider does not take such an amount. */
export function requireWithin(
  provider: string,
  { min, max }: { min: number; max: number },
  { micros, currency }: { micros: bigint; currency: Currency },
): void {
  if (micros < BigInt(Math.round(min * 1_000_000)))
    throw new AppError('AMOUNT_TOO_LOW', `${provider} takes ${currency} ${min} and more`, {
      extra: { min_amount: min, currency },
    })
  if (micros > BigInt(max) * 1_000_000n)
    throw new AppError('AMOUNT_TOO_HIGH', `${provider} takes at most ${currency} ${max}, not ${formatMicros(micros)}`, {
      extra: { max_amount: max, currency },
    })
}

export function boundsOf(currency: Currency): readonly [min: number, max: number] {
  return bounds[currency]
}
