// SPDX-License-Identifier: Apache-2.0
// Who could take an amount now: those that this installation has an account with, or a simulator of.
import { isCurrency } from '../../../kernel/money.ts'
import type { App } from '../../../platform/app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { bankProvider, bankTermsOf } from '../bank/banks.ts'
import { bankMarketFor } from '../bank/market.ts'
import { cardCountry, cardProvider, cardTermsOf } from '../cards/method.ts'
import { mobileTermsOf, offered, type Provider } from '../mobile-money/providers.ts'
import { gatewayOf } from './gateway.ts'
import { isWithin } from './terms.ts'

export function waysToPay(app: App, tenant: Tenant, currency: string, micros: bigint): readonly Provider[] {
  const gateway = gatewayOf(app)
  return offered({ currency }).filter(
    (one) =>
      gateway.carrier('mobile_money', one, tenant.environment) !== null &&
      !(one.wholeUnitsOnly && micros % 1_000_000n !== 0n) &&
      isWithin(mobileTermsOf(app, tenant, 'in', one), micros),
  )
}

/** Whether a bank gives out a one-time account for an amount. */
export function takesTransfers(app: App, tenant: Tenant, currency: string, micros: bigint): boolean {
  if (!isCurrency(currency)) return false
  const market = bankMarketFor(app, tenant.environment, currency)
  if (!isWithin(bankTermsOf(app, tenant, 'in', market), micros)) return false
  const named = { provider: bankProvider, country: market.country }
  return gatewayOf(app).carrier('bank_transfer', named, tenant.environment) !== null
}

/** Whether an acquirer charges an amount to cards. */
export function takesCards(app: App, tenant: Tenant, currency: string, micros: bigint): boolean {
  if (!isCurrency(currency) || !isWithin(cardTermsOf(app, tenant, currency), micros)) return false
  const named = { provider: cardProvider, country: cardCountry }
  return gatewayOf(app).carrier('card', named, tenant.environment) !== null
}
