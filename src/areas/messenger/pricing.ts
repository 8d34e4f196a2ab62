// SPDX-License-Identifier: Apache-2.0
// Price of a message: the operator's price list by category. By default replies to users are free and sandbox templates
// cost a placeholder; a live template without a price is refused.
import { type Currency, isCurrency } from '../../kernel/money.ts'
import { placeOf } from '../../kernel/phone.ts'
import { aboutDollars } from '../../kernel/rough-rates.ts'
import { noPrice } from '../../ledger/no-price.ts'
import type { App } from '../../platform/app.ts'
import type { Charges } from '../../platform/area.ts'
import type { Tenant } from '../../platform/tenant.ts'

export type Unit = 'service' | 'utility' | 'marketing' | 'authentication'

export const messengerCharges: Charges = { messenger: ['service', 'utility', 'marketing', 'authentication'] }

const placeholderDollarMicros: Readonly<Record<Unit, bigint>> = {
  service: 0n,
  utility: 8_000n,
  marketing: 22_000n,
  authentication: 8_000n,
}

export interface Price {
  readonly cost: bigint
  readonly currency: Currency
  readonly country: string | null
}

export function priceOf(
  app: App,
  { currency, tenant, receivedMs }: { currency: string; tenant: Tenant; receivedMs: number },
  unit: Unit,
  to: string,
): Price {
  if (!isCurrency(currency)) throw new Error(`the account has an unknown currency: ${currency}`)
  const { country } = placeOf(to)
  const wanted = { area: 'messenger', unit, currency, account: tenant.account, atMs: receivedMs }
  const quoted = app.prices.quote(country === null ? wanted : { ...wanted, country })
  if (!quoted && tenant.environment === 'live' && unit !== 'service')
    throw noPrice(`${unit} templates to this number`, currency)
  return { cost: quoted?.micros ?? aboutDollars(placeholderDollarMicros[unit], currency), currency, country }
}
