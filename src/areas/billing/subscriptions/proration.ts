// SPDX-License-Identifier: Apache-2.0
// Proration: the price of part of a period, by the second, in micros, rounded to the minor unit with ties to even.
// Credits for unused time round the same way, so that a change is off by at most one minor unit.
import { type Currency, currencies, divideHalfEven } from '../../../kernel/money.ts'
import type { Period } from '../plans/calendar.ts'

/** Price of the part of a period from `from` to `to`. */
export function priceOfPart(micros: bigint, currency: Currency, whole: Period, from: Date, to: Date): bigint {
  const minorUnit = 10n ** BigInt(6 - currencies[currency])
  const part = secondsBetween(from < whole.start ? whole.start : from, to > whole.end ? whole.end : to)
  const all = secondsBetween(whole.start, whole.end)
  if (part <= 0n) return 0n
  if (part >= all) return micros
  return divideHalfEven(micros * part, all * minorUnit) * minorUnit
}

/** Whole seconds between two moments. */
function secondsBetween(from: Date, to: Date): bigint {
  return BigInt(Math.floor(to.getTime() / 1_000) - Math.floor(from.getTime() / 1_000))
}
