// SPDX-License-Identifier: Apache-2.0
// Country in which a bank is asked for money of a currency: where countries share it, the one where this installation has
// an account with a bank.
import { AppError } from '../../../kernel/errors.ts'
import type { Currency, Money } from '../../../kernel/money.ts'
import type { App } from '../../../platform/app.ts'
import type { Environment, Tenant } from '../../../platform/tenant.ts'
import { gatewayOf } from '../gateway/gateway.ts'
import { type BankMarket, bankMarkets, bankProvider, bankTermsOf } from '../providers/banks.ts'
import { requireWithin, type Terms, type Way } from '../providers/terms.ts'

export function bankMarketFor(app: App, environment: Environment, currency: Currency): BankMarket {
  const gateway = gatewayOf(app)
  const markets = bankMarkets({ currency })
  const isTheirs = ({ country }: BankMarket) => gateway.hasAccount({ provider: bankProvider, country }, environment)
  const market = markets.find(isTheirs) ?? markets[0]
  if (!market) throw new Error(`no country has banks for ${currency}`)
  return market
}

/** Market of a bank for an amount, and its terms; throws when no bank takes or sends it. */
export function requireBank(
  app: App,
  tenant: Tenant,
  direction: Way['direction'],
  provider: string | undefined,
  money: Money,
): { provider: string; country: string; terms: Terms } {
  if (provider !== undefined && provider.toLowerCase() !== bankProvider)
    throw new AppError('UNSUPPORTED_PROVIDER', `bank transfers are made by ${bankProvider}`)
  const market = bankMarketFor(app, tenant.environment, money.currency)
  const terms = bankTermsOf(app, tenant, direction, market)
  requireWithin('the bank', terms, money)
  return { provider: bankProvider, country: market.country, terms }
}
