// SPDX-License-Identifier: Apache-2.0
// What a segment costs: the operator's price list, or, where it says nothing, a figure that lets an installation be tried.
import { type Currency, isCurrency } from '../../../kernel/money.ts'
import type { Place } from '../../../kernel/phone.ts'
import type { App } from '../../../platform/app.ts'
import type { Charges } from '../../../platform/area.ts'
import type { Caller } from '../../../platform/auth.ts'

/** Micros of the currency for a segment to anywhere, until the operator sets a price: about 0.6 US cents in each. */
const placeholderMicros: Readonly<Record<Currency, number>> = {
  KES: 800_000, TZS: 15_000_000, UGX: 22_000_000, RWF: 8_000_000, ETB: 800_000, GHS: 80_000, NGN: 9_000_000,
  ZAR: 110_000, ZMW: 150_000, XOF: 3_700_000, XAF: 3_700_000, EGP: 300_000, MAD: 60_000, DZD: 800_000, TND: 20_000,
  AOA: 5_600_000, BWP: 85_000, BIF: 18_000_000, CVE: 630_000, KMF: 2_800_000, CDF: 17_000_000, DJF: 1_100_000,
  SZL: 110_000, GMD: 440_000, GNF: 53_000_000, LSL: 110_000, LRD: 1_200_000, MGA: 28_000_000, MWK: 10_700_000,
  MRU: 250_000, MUR: 280_000, MZN: 400_000, NAD: 110_000, STN: 140_000, SCR: 85_000, SLE: 140_000, SOS: 3_500_000,
  SSP: 8_000_000, ZWG: 170_000, USD: 6_200, EUR: 5_700, GBP: 4_900, ERN: 93_000, LYD: 34_000,
  SDG: 3_700_000,
} // biome-ignore format: a table reads better dense

export function callersCurrency({ principal }: Caller): Currency {
  const { currency } = principal.facts
  if (!isCurrency(currency)) throw new Error(`the account has an unknown currency: ${currency}`)
  return currency
}

/** Micros for one segment to a place, for the caller's account at its present time. */
export function segmentPrice(app: App, caller: Caller, place: Place): bigint {
  return priceOf(
    app,
    { account: caller.tenant.account, currency: callersCurrency(caller), atMs: caller.receivedMs },
    place,
  )
}

/** When the operator's price of a segment came into force; null while there is none. */
export function pricedSince(app: App, caller: Caller, place: Place): Date | null {
  const { account } = caller.tenant
  return app.prices.inForceSince(wanted({ account, currency: callersCurrency(caller), atMs: caller.receivedMs }, place))
}

interface Buyer {
  account: string
  currency: Currency
  atMs: number
}

/** What a segment costs an account that asks nothing just now. */
export function priceOf(app: App, buyer: Buyer, place: Place): bigint {
  return app.prices.quote(wanted(buyer, place))?.micros ?? BigInt(placeholderMicros[buyer.currency])
}

const area = 'sms'
const unit = 'segment'

export const smsCharges: Charges = { [area]: [unit] }

function wanted({ account, currency, atMs }: Buyer, { country, network }: Place) {
  return {
    area,
    unit,
    currency,
    account,
    atMs,
    ...(country === null ? {} : { country }),
    ...(network === null ? {} : { network }),
  }
}
