// SPDX-License-Identifier: Apache-2.0
// The providers that this node speaks to, and how each of them is doing. Test payments go to the simulators.
import type { App } from '../../platform/app.ts'
import type { Environment } from '../../platform/tenant.ts'
import { Breaker } from './breaker.ts'
import { DarajaCarrier } from './carriers/daraja.ts'
import type { MobileMoney, Verdict } from './provider.ts'

const gateways = new WeakMap<App, Gateway>()

export function gatewayOf(app: App): Gateway {
  let gateway = gateways.get(app)
  if (!gateway) {
    gateway = new Gateway(app)
    gateways.set(app, gateway)
  }
  return gateway
}

interface Connected {
  carrier: MobileMoney
  breaker: Breaker
}

class Gateway {
  readonly #app: App
  readonly #sandbox = new Map<string, Connected>()

  constructor(app: App) {
    this.#app = app
    const { daraja } = app.simulators
    const carriers = daraja ? [new DarajaCarrier(daraja, app.clock)] : []
    for (const carrier of carriers) this.#sandbox.set(carrier.provider, { carrier, breaker: new Breaker() })
  }

  /** Null when nobody here speaks to it. */
  provider(name: string, environment: Environment): MobileMoney | null {
    return this.#connected(name, environment)?.carrier ?? null
  }

  /** Asks a provider for something new; not at all while it does not answer anybody. */
  async ask(
    name: string,
    environment: Environment,
    what: (carrier: MobileMoney) => Promise<Verdict>,
  ): Promise<Verdict> {
    const connected = this.#connected(name, environment)
    if (!connected?.breaker.admits(performance.now())) return { kind: 'unavailable', reason: 'it does not answer' }
    const verdict = await what(connected.carrier)
    const answered = verdict.kind !== 'unknown' && verdict.kind !== 'unavailable'
    connected.breaker.record(answered, performance.now())
    return verdict
  }

  status(name: string, environment: Environment): 'up' | 'degraded' | 'down' {
    return this.#connected(name, environment)?.breaker.status ?? 'down'
  }

  /** How much faster than in earnest a payment's time passes. */
  timeScale(environment: Environment): number {
    return environment === 'test' ? this.#app.config.PAMOJA_SANDBOX_TIME_SCALE : 1
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#sandbox.values()].map(({ carrier }) => carrier.stop()))
  }

  #connected(name: string, environment: Environment): Connected | undefined {
    return environment === 'test' ? this.#sandbox.get(name) : undefined
  }
}
