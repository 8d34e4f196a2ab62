// SPDX-License-Identifier: Apache-2.0
// Price of a message per recipient: the operator's price list, or in the sandbox a placeholder. A live message without
// a price is refused.
import { type Currency, isCurrency } from '../../kernel/money.ts'
import { noPrice } from '../../ledger/no-price.ts'
import type { App } from '../../platform/app.ts'
import type { Charges } from '../../platform/area.ts'
import type { Caller } from '../../platform/auth.ts'
import type { Tenant } from '../../platform/tenant.ts'

const area = 'email'
const unit = 'message'

export const emailCharges: Charges = { [area]: [unit] }

/** Placeholder price in micros: about 0.04 US cents. */
const placeholderMicros: Readonly<Record<Currency, number>> = {
  KES: 52_000, TZS: 1_000_000, UGX: 1_500_000, RWF: 560_000, ETB: 52_000, GHS: 5_000, NGN: 600_000,
  ZAR: 7_000, ZMW: 10_000, XOF: 240_000, XAF: 240_000, EGP: 20_000, MAD: 4_000, DZD: 52_000, TND: 1_300,
  AOA: 370_000, BWP: 5_500, BIF: 1_200_000, CVE: 41_000, KMF: 180_000, CDF: 1_100_000, DJF: 71_000,
  SZL: 7_000, GMD: 28_000, GNF: 3_400_000, LSL: 7_000, LRD: 78_000, MGA: 1_800_000, MWK: 690_000,
  MRU: 16_000, MUR: 18_000, MZN: 26_000, NAD: 7_000, STN: 9_000, SCR: 5_500, SLE: 9_000, SOS: 230_000,
  SSP: 520_000, ZWG: 11_000, USD: 400, EUR: 370, GBP: 320, ERN: 6_000, LYD: 2_200,
  SDG: 240_000,
} // biome-ignore format: a table reads better dense

export function callersCurrency({ principal }: Pick<Caller, 'principal'>): Currency {
  const { currency } = principal.facts
  if (!isCurrency(currency)) throw new Error(`the account has an unknown currency: ${currency}`)
  return currency
}

/** Price of a message; throws for a live one without a price. */
export function priceOf(app: App, { account, environment }: Tenant, currency: Currency, atMs: number): bigint {
  const quoted = app.prices.quote({ area, unit, currency, account, atMs })
  if (!quoted && environment === 'live') throw noPrice('messages', currency)
  return quoted?.micros ?? BigInt(placeholderMicros[currency])
}
