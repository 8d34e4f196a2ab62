// SPDX-License-Identifier: Apache-2.0
// Price of a segment: the operator's price list. Where it has none, the test environment has a default that lets an
// installation be tried; a live text without a configured price is refused, and so is one to a number without a
// country.
import { AppError } from '../../../kernel/errors.ts'
import { type Currency, isCurrency } from '../../../kernel/money.ts'
import type { Place } from '../../../kernel/phone.ts'
import { aboutDollars } from '../../../kernel/rough-rates.ts'
import type { App } from '../../../platform/app.ts'
import type { Charges } from '../../../platform/area.ts'
import type { Caller } from '../../../platform/auth.ts'
import type { Tenant } from '../../../platform/tenant.ts'

/** Price of a test segment to anywhere, until the operator sets one. */
const placeholderDollarMicros = 6_200n

export function callersCurrency({ principal }: Caller): Currency {
  const { currency } = principal.facts
  if (!isCurrency(currency)) throw new Error(`the account has an unknown currency: ${currency}`)
  return currency
}

/** Micros for one segment to a place, for the caller's account at its present time; refuses where there is no price. */
export function segmentPrice(app: App, caller: Caller, place: Place): bigint {
  const price = priceOf(app, buyerOf(caller), place)
  if (price instanceof AppError) throw price
  return price
}

/** Price of a segment in the price list; null where there is none. */
export function listedPrice(app: App, caller: Caller, place: Place): bigint | null {
  const price = priceOf(app, buyerOf(caller), place)
  return price instanceof AppError ? null : price
}

/** When the operator's price of a segment came into force; null while there is none. */
export function pricedSince(app: App, caller: Caller, place: Place): Date | null {
  return app.prices.inForceSince(wanted(buyerOf(caller), place))
}

interface Buyer {
  tenant: Tenant
  currency: Currency
  atMs: number
}

function buyerOf(caller: Caller): Buyer {
  return { tenant: caller.tenant, currency: callersCurrency(caller), atMs: caller.receivedMs }
}

/** Price of a segment for an account outside a request, or why there is none. */
export function priceOf(app: App, buyer: Buyer, place: Place): bigint | AppError {
  const isLive = buyer.tenant.environment === 'live'
  if (isLive && place.country === null)
    return new AppError('COUNTRY_NOT_ENABLED', 'the number belongs to no country; live texts require one')
  const quoted = app.prices.quote(wanted(buyer, place))
  if (quoted) return quoted.micros
  return isLive
    ? new AppError(
        'COUNTRY_NOT_ENABLED',
        `texts to ${place.country} have no price in ${buyer.currency} yet; the operator sets it under /v1/operator/prices`,
      )
    : aboutDollars(placeholderDollarMicros, buyer.currency)
}

const area = 'sms'
const unit = 'segment'

export const smsCharges: Charges = { [area]: [unit] }

function wanted({ tenant: { account }, currency, atMs }: Buyer, { country, network }: Place) {
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
