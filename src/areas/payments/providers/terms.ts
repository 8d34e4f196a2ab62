// SPDX-License-Identifier: Apache-2.0
// Terms of taking an amount or paying it out: what it costs the account, and how little and how much goes at
// once. They are on the operator's price list, as `percent`, `fixed`, `min` and `max` of each method; these here hold until
// an operator says otherwise.
import { AppError } from '../../../kernel/errors.ts'
import { type Currency, currencies, divideHalfEven, formatMicros, type Money } from '../../../kernel/money.ts'
import type { PriceSource } from '../../../platform/app.ts'
import type { Charges } from '../../../platform/area.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Tenant } from '../../../platform/tenant.ts'

type MethodName = 'mobile_money' | 'card' | 'bank_transfer'

/** Provider, method and direction that terms are for. */
export interface Way {
  readonly direction: 'in' | 'out'
  readonly method: MethodName
  readonly provider: string
  readonly country: string
}

/** Terms of a provider, in micros of a percent and of the currency. */
export interface Terms {
  readonly percent: bigint
  readonly fixed: bigint
  readonly min: bigint
  readonly max: bigint
}

const usualPercents: Readonly<Record<MethodName, bigint>> = {
  mobile_money: 1_500_000n,
  card: 2_900_000n,
  bank_transfer: 1_000_000n,
}
const usualPayoutPercent = 500_000n

/** Least and most of one payment over mobile money, in major units. */
const usualBounds: Readonly<Record<Currency, readonly [min: number, max: number]>> = {
  KES: [1, 250_000], TZS: [20, 5_000_000], UGX: [50, 5_000_000], RWF: [20, 2_500_000], ETB: [1, 250_000],
  GHS: [1, 20_000], NGN: [20, 2_500_000], ZAR: [1, 25_000], ZMW: [1, 50_000], XOF: [5, 1_000_000],
  XAF: [5, 1_000_000], EGP: [1, 50_000], MAD: [1, 10_000], DZD: [2, 250_000], TND: [0.5, 5_000],
  AOA: [10, 1_000_000], BWP: [1, 25_000], BIF: [25, 5_000_000], CVE: [1, 200_000], KMF: [5, 500_000],
  CDF: [25, 5_000_000], DJF: [2, 250_000], SZL: [1, 25_000], GMD: [1, 100_000], GNF: [100, 10_000_000],
  LSL: [1, 25_000], LRD: [2, 250_000], MGA: [50, 5_000_000], MWK: [20, 2_500_000], MRU: [1, 50_000],
  MUR: [1, 50_000], MZN: [1, 100_000], NAD: [1, 25_000], STN: [1, 25_000], SCR: [1, 25_000], SLE: [1, 25_000],
  SOS: [5, 1_000_000], SSP: [50, 5_000_000], ZWG: [1, 50_000], USD: [0.5, 2_000], EUR: [0.5, 1_000], GBP: [0.5, 1_000],
  ERN: [1, 25_000], LYD: [0.5, 10_000], SDG: [50, 5_000_000],
} // biome-ignore format: a table reads better dense

/** Cards and banks take more at once than a phone does. */
const largerBy = 10n

const unitsOf = (methods: readonly MethodName[]): string[] =>
  methods.flatMap((method) => ['percent', 'fixed', 'min', 'max'].map((term) => `${method}.${term}`))

export const paymentCharges: Charges = {
  payments: unitsOf(['mobile_money', 'card', 'bank_transfer']),
  payouts: unitsOf(['mobile_money', 'bank_transfer']),
}

export function termsOf(
  { prices, clock }: { prices: Pick<PriceSource, 'quote'>; clock: Clock },
  { account }: Pick<Tenant, 'account'>,
  { direction, method, provider, country }: Way,
  currency: Currency,
): Terms {
  const area = direction === 'in' ? 'payments' : 'payouts'
  const atMs = clock.nowMs()
  const said = (term: keyof Terms): bigint | undefined =>
    prices.quote({ area, unit: `${method}.${term}`, currency, account, country, network: provider, atMs })?.micros
  const [min, max] = usualBounds[currency]
  const most = BigInt(max) * 1_000_000n
  return {
    percent: said('percent') ?? (direction === 'in' ? usualPercents[method] : usualPayoutPercent),
    fixed: said('fixed') ?? 0n,
    min: said('min') ?? BigInt(min * 1_000_000),
    max: said('max') ?? (method === 'mobile_money' ? most : most * largerBy),
  }
}

/** Fee of an amount, to the minor unit, ties to even. */
export function feeOf({ percent, fixed }: Terms, { micros, currency }: Money): bigint {
  const minorUnit = 10n ** BigInt(6 - currencies[currency])
  const hundredMillion = 100_000_000n
  return divideHalfEven(micros * percent + fixed * hundredMillion, hundredMillion * minorUnit) * minorUnit
}

/** Fee of a collection: never more than was collected. */
export function collectionFeeOf(terms: Terms, money: Money): bigint {
  const fee = feeOf(terms, money)
  if (fee > money.micros) return money.micros
  return fee
}

export function isWithin({ min, max }: Terms, micros: bigint): boolean {
  return micros >= min && micros <= max
}

/** Requires an amount within the terms. */
export function requireWithin(name: string, { min, max }: Terms, { micros, currency }: Money): void {
  if (micros < min)
    throw new AppError('AMOUNT_TOO_LOW', `${name} takes ${currency} ${formatMicros(min)} and more`, {
      extra: { min_amount: Number(formatMicros(min)), currency },
    })
  if (micros > max)
    throw new AppError(
      'AMOUNT_TOO_HIGH',
      `${name} takes at most ${currency} ${formatMicros(max)}, not ${formatMicros(micros)}`,
      {
        extra: { max_amount: Number(formatMicros(max)), currency },
      },
    )
}
