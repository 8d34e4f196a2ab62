// SPDX-License-Identifier: Apache-2.0
// Ways that could take an amount now: the providers that this installation has an account with, or a simulator of.

import { isCurrency } from '../../../kernel/money.ts'
import type { App } from '../../../platform/app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { gatewayOf } from '../gateway/gateway.ts'
import { bankProvider, bankTermsOf } from '../providers/banks.ts'
import { isWithin } from '../providers/terms.ts'
import { bankMarketFor } from './bank-market.ts'
import { cardCountry, cardProvider, cardTermsOf } from './card.ts'
import type { PaymentMethod } from './method.ts'
import { mobileTermsOf, offered, type Provider } from './mobile-money-providers.ts'

/** Ways to pay an amount. */
export interface WaysToPay {
  readonly phones: readonly Provider[]
  readonly bank: boolean
  readonly card: boolean
}

/** The ways that can take an amount now; those that are not wanted are not asked for. */
export function waysToPay(
  app: App,
  tenant: Tenant,
  amount: { readonly currency: string; readonly micros: bigint },
  wants: (method: PaymentMethod['name']) => boolean,
): WaysToPay {
  const { currency, micros } = amount
  return {
    phones: wants('mobile_money') ? takersOfMobileMoney(app, tenant, currency, micros) : [],
    bank: wants('bank_transfer') && takesTransfers(app, tenant, currency, micros),
    card: wants('card') && takesCards(app, tenant, currency, micros),
  }
}

function takersOfMobileMoney(app: App, tenant: Tenant, currency: string, micros: bigint): readonly Provider[] {
  const gateway = gatewayOf(app)
  return offered({ currency }).filter(
    (one) =>
      gateway.carrier('mobile_money', one, tenant.environment) !== null &&
      !(one.wholeUnitsOnly && micros % 1_000_000n !== 0n) &&
      isWithin(mobileTermsOf(app, tenant, 'in', one), micros),
  )
}

/** Whether a bank gives out a one-time account for an amount. */
function takesTransfers(app: App, tenant: Tenant, currency: string, micros: bigint): boolean {
  if (!isCurrency(currency)) return false
  const market = bankMarketFor(app, tenant.environment, currency)
  if (!isWithin(bankTermsOf(app, tenant, 'in', market), micros)) return false
  const named = { provider: bankProvider, country: market.country }
  return gatewayOf(app).carrier('bank_transfer', named, tenant.environment) !== null
}

/** Whether an acquirer charges an amount to cards. */
function takesCards(app: App, tenant: Tenant, currency: string, micros: bigint): boolean {
  if (!isCurrency(currency) || !isWithin(cardTermsOf(app, tenant, currency), micros)) return false
  const named = { provider: cardProvider, country: cardCountry }
  return gatewayOf(app).carrier('card', named, tenant.environment) !== null
}
