// SPDX-License-Identifier: Apache-2.0
// Which providers could take an amount now: those that this installation has an account with, or a simulator of.
import type { App } from '../../platform/app.ts'
import type { Environment } from '../../platform/tenant.ts'
import { gatewayOf } from './gateway.ts'
import { offered, type Provider } from './methods.ts'

export function waysToPay(app: App, environment: Environment, currency: string, micros: bigint): readonly Provider[] {
  const gateway = gatewayOf(app)
  return offered({ currency }).filter(
    (one) => gateway.carrier('mobile_money', one, environment) !== null && takes(one, micros),
  )
}

function takes({ min, max, wholeUnitsOnly }: Provider, micros: bigint): boolean {
  if (wholeUnitsOnly && micros % 1_000_000n !== 0n) return false
  return micros >= BigInt(Math.round(min * 1_000_000)) && micros <= BigInt(max) * 1_000_000n
}
