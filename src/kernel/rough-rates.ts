// SPDX-License-Identifier: Apache-2.0
// Rough exchange rates to the dollar, for default prices until an operator sets real ones, so that an installation can
// be tried.
import type { Currency } from './money.ts'

/** Micros of each currency for 6,200 micros of a US dollar. */
const rates: Readonly<Record<Currency, number>> = {
  KES: 800_000, TZS: 15_000_000, UGX: 22_000_000, RWF: 8_000_000, ETB: 800_000, GHS: 80_000, NGN: 9_000_000,
  ZAR: 110_000, ZMW: 150_000, XOF: 3_700_000, XAF: 3_700_000, EGP: 300_000, MAD: 60_000, DZD: 800_000, TND: 20_000,
  AOA: 5_600_000, BWP: 85_000, BIF: 18_000_000, CVE: 630_000, KMF: 2_800_000, CDF: 17_000_000, DJF: 1_100_000,
  SZL: 110_000, GMD: 440_000, GNF: 53_000_000, LSL: 110_000, LRD: 1_200_000, MGA: 28_000_000, MWK: 10_700_000,
  MRU: 250_000, MUR: 280_000, MZN: 400_000, NAD: 110_000, STN: 140_000, SCR: 85_000, SLE: 140_000, SOS: 3_500_000,
  SSP: 8_000_000, ZWG: 170_000, USD: 6_200, EUR: 5_700, GBP: 4_900, ERN: 93_000, LYD: 34_000,
  SDG: 3_700_000,
} // biome-ignore format: a table reads better dense

/** Micros of the currency for so many micros of a dollar. */
export function aboutDollars(micros: bigint, currency: Currency): bigint {
  return (BigInt(rates[currency]) * micros) / BigInt(rates.USD)
}
