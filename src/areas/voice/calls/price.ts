// SPDX-License-Identifier: Apache-2.0
// What a minute of a call costs: the operator's price list, or, where it says nothing, a figure that lets an installation be
// tried in the sandbox. A live call to where nobody has set a price is not placed: it would cost the operator more than it
// brings. To a number of no country, such as a satellite's, only a price of its prefix counts, not one for anywhere. Calls that
// come in cost nothing until the operator sets a price for them.
import { isCurrency } from '../../../kernel/money.ts'
import { placeOf } from '../../../kernel/phone.ts'
import type { App } from '../../../platform/app.ts'
import type { Charges } from '../../../platform/area.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { telephoneNetworkOf } from '../trunks/telephone-network.ts'

const area = 'voice'

export const voiceCharges: Charges = { [area]: ['minute', 'inbound_minute', 'sip_minute'] }

/** Micros of a minute to anywhere in a few currencies, about five US cents; others have the figure of the dollar. */
const placeholderMicros: Readonly<Record<string, bigint>> = {
  KES: 6_000_000n,
  NGN: 75_000_000n,
  ZAR: 900_000n,
  GHS: 600_000n,
  TZS: 125_000_000n,
  UGX: 180_000_000n,
  RWF: 70_000_000n,
  ETB: 6_000_000n,
  XOF: 30_000_000n,
  XAF: 30_000_000n,
  EGP: 2_500_000n,
}
const dollarMicros = 50_000n

/** Micros of a minute to a number: by its prefix, by country and network; in the sandbox the placeholder, live null. */
export function minutePriceOf(app: App, { account, environment }: Tenant, currency: string, to: string): bigint | null {
  if (!isCurrency(currency)) throw new Error(`an unknown currency: ${currency}`)
  const rate = telephoneNetworkOf(app).trunks.rateOf(to, currency)
  if (rate !== null) return rate
  const { country, network } = placeOf(to)
  if (country === null && environment === 'live') return null
  const price = app.prices.quote({
    area,
    unit: 'minute',
    currency,
    account,
    atMs: app.clock.nowMs(),
    ...(country === null ? {} : { country }),
    ...(network === null ? {} : { network }),
  })
  if (price) return price.micros
  return environment === 'live' ? null : (placeholderMicros[currency] ?? dollarMicros)
}

export function inboundPriceOf(app: App, account: string, currency: string): bigint {
  if (!isCurrency(currency)) throw new Error(`an unknown currency: ${currency}`)
  return app.prices.quote({ area, unit: 'inbound_minute', currency, account, atMs: app.clock.nowMs() })?.micros ?? 0n
}

/** Calls to a SIP address go over nobody's network but the customer's, and cost what the operator says. */
export function sipMinutePriceOf(app: App, account: string, currency: string): bigint {
  if (!isCurrency(currency)) throw new Error(`an unknown currency: ${currency}`)
  return app.prices.quote({ area, unit: 'sip_minute', currency, account, atMs: app.clock.nowMs() })?.micros ?? 0n
}
