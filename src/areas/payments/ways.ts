// SPDX-License-Identifier: Apache-2.0
// Who could take an amount now: those that this installation has an account with, or a simulator of.

import { isCurrency } from '../../kernel/money.ts'
import type { App } from '../../platform/app.ts'
import type { Environment } from '../../platform/tenant.ts'
import { bankMarkets, bankProvider } from './bank/banks.ts'
import { largerBoundsOf } from './bounds.ts'
import { cardCountry, cardProvider } from './cards/method.ts'
import { gatewayOf } from './gateway.ts'
import { offered, type Provider } from './methods.ts'

export function waysToPay(app: App, environment: Environment, currency: string, micros: bigint): readonly Provider[] {
  const gateway = gatewayOf(app)
  return offered({ currency }).filter(
    (one) => gateway.carrier('mobile_money', one, environment) !== null && takes(one, micros),
  )
}

/** Whether a bank gives out a one-time account for an amount. */
export function takesTransfers(app: App, environment: Environment, currency: string, micros: bigint): boolean {
  const [market] = bankMarkets({ currency })
  if (!market || !isWithin(currency, micros)) return false
  const { country } = market
  return gatewayOf(app).carrier('bank_transfer', { provider: bankProvider, country }, environment) !== null
}

/** Whether an acquirer charges an amount to cards. */
export function takesCards(app: App, environment: Environment, currency: string, micros: bigint): boolean {
  const named = { provider: cardProvider, country: cardCountry }
  return isWithin(currency, micros) && gatewayOf(app).carrier('card', named, environment) !== null
}

function isWithin(currency: string, micros: bigint): boolean {
  if (!isCurrency(currency)) return false
  return takes({ ...largerBoundsOf(currency), wholeUnitsOnly: false }, micros)
}

function takes(
  { min, max, wholeUnitsOnly }: Pick<Provider, 'min' | 'max' | 'wholeUnitsOnly'>,
  micros: bigint,
): boolean {
  if (wholeUnitsOnly && micros % 1_000_000n !== 0n) return false
  return micros >= BigInt(Math.round(min * 1_000_000)) && micros <= BigInt(max) * 1_000_000n
}
