// SPDX-License-Identifier: Apache-2.0
// What a segment costs: the operator's price list, or, where it says nothing, a figure that lets an installation be tried.
import { type Currency, isCurrency } from '../../../kernel/money.ts'
import type { Place } from '../../../kernel/phone.ts'
import { aboutDollars } from '../../../kernel/rough-rates.ts'
import type { App } from '../../../platform/app.ts'
import type { Charges } from '../../../platform/area.ts'
import type { Caller } from '../../../platform/auth.ts'

/** Of a segment to anywhere, until the operator sets a price. */
const placeholderDollarMicros = 6_200n

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
  return app.prices.quote(wanted(buyer, place))?.micros ?? aboutDollars(placeholderDollarMicros, buyer.currency)
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
