// SPDX-License-Identifier: Apache-2.0
// The providers that this node speaks to. Test payments go to the simulators.
import type { App } from '../../platform/app.ts'
import type { Environment } from '../../platform/tenant.ts'
import { DarajaCarrier } from './carriers/daraja.ts'
import type { MobileMoney } from './provider.ts'

const gateways = new WeakMap<App, Gateway>()

export function gatewayOf(app: App): Gateway {
  let gateway = gateways.get(app)
  if (!gateway) {
    gateway = new Gateway(app)
    gateways.set(app, gateway)
  }
  return gateway
}

class Gateway {
  readonly #app: App
  readonly #sandbox = new Map<string, MobileMoney>()

  constructor(app: App) {
    this.#app = app
    const { daraja } = app.simulators
    if (daraja) this.#sandbox.set('mpesa', new DarajaCarrier(daraja, app.clock))
  }

  /** Null when nobody here speaks to it. */
  provider(name: string, environment: Environment): MobileMoney | null {
    return environment === 'test' ? (this.#sandbox.get(name) ?? null) : null
  }

  /** How much faster than in earnest a payment's time passes. */
  timeScale(environment: Environment): number {
    return environment === 'test' ? this.#app.config.PAMOJA_SANDBOX_TIME_SCALE : 1
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#sandbox.values()].map((provider) => provider.stop()))
  }
}
