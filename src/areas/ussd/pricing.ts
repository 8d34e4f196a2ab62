// SPDX-License-Identifier: Apache-2.0
// Price of a session: the operator's price list, or in the sandbox a placeholder. A live session without a price is
// refused.
import type { AppError } from '../../kernel/errors.ts'
import { type Currency, isCurrency } from '../../kernel/money.ts'
import { placeOf } from '../../kernel/phone.ts'
import { noPrice } from '../../ledger/no-price.ts'
import type { App } from '../../platform/app.ts'
import type { Charges } from '../../platform/area.ts'
import type { Occasion } from '../../platform/events.ts'

const area = 'ussd'
const unit = 'session'

export const ussdCharges: Charges = { [area]: [unit] }

/** Placeholder price of a test session in micros: about 0.4 US cents. */
const placeholderMicros: Readonly<Record<Currency, number>> = {
  KES: 500_000, TZS: 9_375_000, UGX: 13_750_000, RWF: 5_000_000, ETB: 500_000, GHS: 50_000, NGN: 5_625_000,
  ZAR: 68_750, ZMW: 93_750, XOF: 2_312_500, XAF: 2_312_500, EGP: 187_500, MAD: 37_500, DZD: 500_000, TND: 12_500,
  AOA: 3_500_000, BWP: 53_125, BIF: 11_250_000, CVE: 393_750, KMF: 1_750_000, CDF: 10_625_000, DJF: 687_500,
  SZL: 68_750, GMD: 275_000, GNF: 33_125_000, LSL: 68_750, LRD: 750_000, MGA: 17_500_000, MWK: 6_687_500,
  MRU: 156_250, MUR: 175_000, MZN: 250_000, NAD: 68_750, STN: 87_500, SCR: 53_125, SLE: 87_500, SOS: 2_187_500,
  SSP: 5_000_000, ZWG: 106_250, USD: 3_875, EUR: 3_562, GBP: 3_062, ERN: 58_125, LYD: 21_250, SDG: 2_312_500,
} // biome-ignore format: a table reads better dense

/** Price of a session in micros; null for a live one without a price. */
export function sessionPrice(
  app: App,
  { tenant, receivedMs }: Occasion,
  currency: string,
  phone: string,
): bigint | null {
  if (!isCurrency(currency)) throw new Error(`the account has an unknown currency: ${currency}`)
  const { country, network } = placeOf(phone)
  const quoted = app.prices.quote({
    ...{ area, unit, currency, account: tenant.account, atMs: receivedMs },
    ...(country === null ? {} : { country }),
    ...(network === null ? {} : { network }),
  })
  if (quoted) return quoted.micros
  return tenant.environment === 'live' ? null : BigInt(placeholderMicros[currency])
}

export function unpriced(currency: string): AppError {
  return noPrice('sessions with this number', currency)
}
