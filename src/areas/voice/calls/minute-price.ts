// SPDX-License-Identifier: Apache-2.0
// Price of a call minute: the operator's price list, or in the sandbox a placeholder. A live call without a price is
// refused, since it would cost the operator money. For a number of no country, such as a satellite phone, only a price of
// its prefix counts. Incoming calls are free until the operator sets a price.
import { isCurrency } from '../../../kernel/money.ts'
import { placeOf } from '../../../kernel/phone.ts'
import type { App } from '../../../platform/app.ts'
import type { Charges } from '../../../platform/area.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { telephoneNetworkOf } from '../trunks/telephone-network.ts'

const area = 'voice'

export const voiceCharges: Charges = { [area]: ['minute', 'inbound_minute', 'sip_minute', 'websocket_minute'] }

/** Placeholder price per minute in micros, about five US cents; other currencies use the dollar figure. */
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

/**
 * Price per minute to a number, in micros: by prefix, then country and network; the placeholder in the sandbox, null
 * live.
 */
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

/** Price per minute to a SIP address, which uses the customer's own network. */
export function sipMinutePriceOf(app: App, account: string, currency: string): bigint {
  if (!isCurrency(currency)) throw new Error(`an unknown currency: ${currency}`)
  return app.prices.quote({ area, unit: 'sip_minute', currency, account, atMs: app.clock.nowMs() })?.micros ?? 0n
}

/** Price per minute of a websocket, which is no telephone call: free until the operator sets one. */
export function websocketMinutePriceOf(app: App, account: string, currency: string): bigint {
  if (!isCurrency(currency)) throw new Error(`an unknown currency: ${currency}`)
  return app.prices.quote({ area, unit: 'websocket_minute', currency, account, atMs: app.clock.nowMs() })?.micros ?? 0n
}
