// SPDX-License-Identifier: Apache-2.0
// Invoice totals. Each line is rounded to the currency's minor unit, ties to even, and sums are sums of rounded lines.
// An invoice discount is split over the lines by largest remainder, so that the shares add up and each line's tax is on
// the discounted amount.
import { invalidAt } from '../../../kernel/errors.ts'
import {
  type Currency,
  currencies,
  divideHalfEven,
  formatMicros,
  maxMicros,
  parseAmount,
} from '../../../kernel/money.ts'

const million = 1_000_000n
/** A hundred percent, in millionths of a percent. */
const wholePercent = 100n * million
const quantityDecimals = 6
const percentDecimals = 4

type Decimal = number | string
export type Discount = { percent: Decimal } | { amount: Decimal }

/** Invoice line of a request. */
export interface NewItem {
  description: string
  /** 1 unless given. */
  quantity?: Decimal
  unit_amount: Decimal
  /** Percent. */
  tax_rate?: Decimal
  /** Discount as an amount, or as a percentage or amount object. */
  discount?: Decimal | Discount
}

/** Calculated invoice line. Quantity and rate are in millionths, the rest in micros. */
export interface Item {
  description: string
  quantity: bigint
  unitAmount: bigint
  taxRate: bigint
  /** Quantity times unit amount. */
  amount: bigint
  /** The line's own discount plus its share of the invoice discount. */
  discount: bigint
  tax: bigint
}

export interface Figures {
  items: readonly Item[]
  subtotal: bigint
  discountTotal: bigint
  taxTotal: bigint
  total: bigint
}

export interface Reckoning {
  currency: Currency
  items: readonly NewItem[]
  discount?: Discount
  /** Whether amounts include tax. */
  taxInclusive: boolean
}

export function reckon({ currency, items, discount, taxInclusive }: Reckoning): Figures {
  const minorUnit = 10n ** BigInt(6 - currencies[currency])
  const lines = items.map((item, i) => lineOf(item, `items[${i}]`, currency, minorUnit))
  const nets = lines.map(({ amount, discount: own }) => amount - own)
  const net = sum(nets)
  const whole = discount === undefined ? 0n : discountOf(discount, 'discount', net, currency, minorUnit)
  const shares = split(whole / minorUnit, nets)
  const reckoned = lines.map((line, i): Item => {
    const share = (shares[i] ?? 0n) * minorUnit
    const tax = taxOn(line.amount - line.discount - share, line.taxRate, taxInclusive, minorUnit)
    return { ...line, discount: line.discount + share, tax }
  })
  const subtotal = sum(reckoned.map(({ amount }) => amount))
  const discountTotal = sum(reckoned.map((item) => item.discount))
  const taxTotal = sum(reckoned.map(({ tax }) => tax))
  const total = subtotal - discountTotal + (taxInclusive ? 0n : taxTotal)
  if (subtotal > maxMicros || total > maxMicros)
    throw invalidAt('items', `come to more than ${currency} ${formatMicros(maxMicros)}`)
  return { items: reckoned, subtotal, discountTotal, taxTotal, total }
}

/** Splits an amount in proportion to weights by largest remainder; the parts add up exactly, earlier ones win ties. */
export function split(whole: bigint, weights: readonly bigint[]): bigint[] {
  const weight = sum(weights)
  if (weight === 0n) return weights.map(() => 0n)
  const parts = weights.map((one) => (whole * one) / weight)
  const left = Number(whole - sum(parts))
  const byRemainder = weights
    .map((one, i) => ({ i, remainder: (whole * one) % weight }))
    .sort((a, b) => (a.remainder === b.remainder ? a.i - b.i : a.remainder > b.remainder ? -1 : 1))
  const lucky = new Set(byRemainder.slice(0, left).map(({ i }) => i))
  return parts.map((part, i) => (lucky.has(i) ? part + 1n : part))
}

function lineOf(item: NewItem, place: string, currency: Currency, minorUnit: bigint): Omit<Item, 'tax'> {
  const quantity = decimalOf(item.quantity ?? 1, `${place}.quantity`, quantityDecimals)
  if (quantity === 0n) throw invalidAt(`${place}.quantity`, 'must be more than 0')
  const unitAmount = amountOf(item.unit_amount, `${place}.unit_amount`, currency)
  const taxRate = percentOf(item.tax_rate ?? 0, `${place}.tax_rate`)
  const amount = divideHalfEven(quantity * unitAmount, million * minorUnit) * minorUnit
  const { discount: given = 0 } = item
  const wanted = typeof given === 'object' ? given : { amount: given }
  const discount = discountOf(wanted, `${place}.discount`, amount, currency, minorUnit)
  return { description: item.description, quantity, unitAmount, taxRate, amount, discount }
}

function discountOf(given: Discount, place: string, of: bigint, currency: Currency, minorUnit: bigint): bigint {
  if ('percent' in given) {
    const percent = percentOf(given.percent, `${place}.percent`)
    return divideHalfEven(of * percent, wholePercent * minorUnit) * minorUnit
  }
  const amount = amountOf(given.amount, place, currency)
  if (amount > of) throw invalidAt(place, `must be at most ${formatMicros(of)}, what it is taken from`)
  return amount
}

/** Tax on a net amount. With inclusive prices it is net − net / (1 + rate). */
function taxOn(net: bigint, rate: bigint, inclusive: boolean, minorUnit: bigint): bigint {
  return divideHalfEven(net * rate, (inclusive ? wholePercent + rate : wholePercent) * minorUnit) * minorUnit
}

function amountOf(given: Decimal, place: string, currency: Currency): bigint {
  const micros = parseAmount(given, currencies[currency])
  if (typeof micros !== 'bigint') throw invalidAt(place, `${currency} ${micros.problem}`)
  return micros
}

function percentOf(given: Decimal, place: string): bigint {
  const percent = decimalOf(given, place, percentDecimals)
  if (percent > wholePercent) throw invalidAt(place, 'must be at most 100 percent')
  return percent
}

function decimalOf(given: Decimal, place: string, decimals: number): bigint {
  const found = parseAmount(given, decimals)
  if (typeof found !== 'bigint') throw invalidAt(place, found.problem)
  return found
}

function sum(parts: readonly bigint[]): bigint {
  return parts.reduce((all, one) => all + one, 0n)
}
