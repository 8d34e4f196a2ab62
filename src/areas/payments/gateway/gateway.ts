// SPDX-License-Identifier: Apache-2.0
// The providers that this node speaks to, and how each of them is doing: those that operators entered, followed as they
// change, and for test payments the simulators.
import type { App } from '../../../platform/app.ts'
import type { Breaker } from '../../../platform/connections/breaker.ts'
import { Followed } from '../../../platform/nodes/followed.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Environment } from '../../../platform/tenant.ts'
import { kindOf } from '../carriers/kinds.ts'
import type { Carrier, Surroundings } from '../providers/kind.ts'
import { isAnswered, type OutgoingVerdict, type Verdict } from '../providers/provider.ts'
import { identityOf, selectEntered, settingsOf } from './accounts.ts'
import { providerBreaker } from './breaker.ts'
import { simulatedAccounts } from './simulated.ts'

/** Reloads interval. Changes are signalled; this is for lost signals. */
const reloadMs = 30_000

export const gatewayOf = onePerApp((app) => new Gateway(app))

interface Connected {
  carrier: Carrier
  breaker: Breaker
  /** Breakers of payouts: providers have other machines for them. */
  outgoingBreaker: Breaker
  /** Row that the provider was opened with. */
  version: string
  /** Whose account it is. */
  account: string
}

function connectedTo(carrier: Carrier, version: string, account: string): Connected {
  const opens = account !== simulator
  return { carrier, breaker: providerBreaker({ opens }), outgoingBreaker: providerBreaker({ opens }), version, account }
}

/** A simulator has other secrets after every start, and forgets nothing. */
const simulator = 'simulator'

/** A provider in one of its countries: operators have an account for each. */
interface Named {
  provider: string
  country: string
}

/** Something that goes out, and whose account was chosen to ask for it. */
interface Outbound extends Named {
  sent_by: string | null
}

type CarrierOf<M extends Carrier['method']> = Extract<Carrier, { method: M }>

function serves<M extends Carrier['method']>(carrier: Carrier, method: M): carrier is CarrierOf<M> {
  return carrier.method === method
}

/** Passes a provider's verdict on, and tells its breaker whether it answered. */
async function noted<V extends Verdict | OutgoingVerdict>(breaker: Breaker, asked: Promise<V>): Promise<V> {
  const verdict = await asked
  breaker.record(isAnswered(verdict), performance.now())
  return verdict
}

class Gateway {
  readonly #app: App
  readonly #surroundings: Surroundings
  /** Simulated providers that are connected, and the settings by which. */
  readonly #simulated = new Map<string, { connected: Connected; settings: Readonly<Record<string, string>> }>()
  /** Environment, provider and country -> the one that an operator entered. */
  #entered: ReadonlyMap<string, Connected> = new Map()
  readonly #followed: Followed

  constructor(app: App) {
    this.#app = app
    const what = 'payment providers'
    this.#followed = new Followed(app, { topic: 'payments', everyMs: reloadMs, what, load: () => this.#load() })
    this.#surroundings = { clock: app.clock, http: app.carrierOutbound }
  }

  /** Follows what operators enter. Gives the way to stop. */
  async start(): Promise<() => Promise<void>> {
    await this.#followed.start()
    return () => this.#stop()
  }

  /** Carrier for payments of a method with a provider; null when this installation has no account with it. */
  carrier<M extends Carrier['method']>(method: M, named: Named, environment: Environment): CarrierOf<M> | null {
    const carrier = this.#connected(named, environment)?.carrier
    return carrier && serves(carrier, method) ? carrier : null
  }

  /** Carrier of a provider, of any method; null when this installation has no account with it. */
  speaksTo(named: Named, environment: Environment): Carrier | null {
    return this.#connected(named, environment)?.carrier ?? null
  }

  /** Asks a provider for something new; not while its breaker is open. */
  async ask<M extends Carrier['method']>(
    method: M,
    named: Named,
    environment: Environment,
    what: (carrier: CarrierOf<M>) => Promise<Verdict>,
  ): Promise<Verdict> {
    const carrier = this.carrier(method, named, environment)
    const breaker = this.#connected(named, environment)?.breaker
    if (!carrier || !breaker?.admits(performance.now())) return { kind: 'unavailable', reason: 'it does not answer' }
    return noted(breaker, what(carrier))
  }

  /** Id of the provider account in use now; null when this installation has none. */
  accountOf(named: Named, environment: Environment): string | null {
    return this.#connected(named, environment)?.account ?? null
  }

  /** Paying half of a provider's carrier; null when payouts are not set up with it. */
  outgoing(named: Named, environment: Environment): Carrier['outgoing'] {
    return this.#connected(named, environment)?.carrier.outgoing ?? null
  }

  /**
   * Asks a provider to pay out. Null, and nothing was sent, while its breaker is open, or when the provider account has
   * changed: the payout waits.
   */
  async pay(
    named: Outbound,
    environment: Environment,
    what: (carrier: Carrier) => Promise<OutgoingVerdict>,
  ): Promise<OutgoingVerdict | null> {
    const connected = this.#connected(named, environment)
    if (!connected?.carrier.outgoing || connected.account !== named.sent_by) return null
    if (!connected.outgoingBreaker.admits(performance.now())) return null
    return noted(connected.outgoingBreaker, what(connected.carrier))
  }

  /** Asks a provider for a refund; not while its breaker is open, or when the provider account has changed. */
  async giveBack(
    named: Outbound,
    environment: Environment,
    what: (carrier: Carrier) => Promise<OutgoingVerdict>,
  ): Promise<OutgoingVerdict> {
    const connected = this.#connected(named, environment)
    if (connected && connected.account !== named.sent_by)
      return { kind: 'unavailable', reason: 'the account was replaced' }
    if (!connected?.outgoingBreaker.admits(performance.now()))
      return { kind: 'unavailable', reason: 'it does not answer' }
    return noted(connected.outgoingBreaker, what(connected.carrier))
  }

  status(named: Named, environment: Environment, direction: 'in' | 'out' = 'in'): 'up' | 'degraded' | 'down' {
    const connected = this.#connected(named, environment)
    return (direction === 'out' ? connected?.outgoingBreaker : connected?.breaker)?.status ?? 'down'
  }

  /** Whether an operator has an account with a provider, in whichever country. */
  isEntered(provider: string, environment: Environment): boolean {
    return [...this.#entered.keys()].some((name) => name.startsWith(`${environment} ${provider} `))
  }

  /** Whether an operator has an account with a provider in one of its countries. */
  hasAccount({ provider, country }: Named, environment: Environment): boolean {
    return this.#entered.has(`${environment} ${provider} ${country}`)
  }

  /** Factor by which a payment's time passes faster than real time. */
  timeScale(environment: Environment): number {
    return environment === 'test' ? this.#app.config.PAMOJA_SANDBOX_TIME_SCALE : 1
  }

  #connected({ provider, country }: Named, environment: Environment): Connected | undefined {
    const entered = this.#entered.get(`${environment} ${provider} ${country}`)
    return entered ?? (environment === 'test' ? this.#simulatedBy(provider) : undefined)
  }

  /** Opens the carrier with its first use, so that a node opens only those that it needs. */
  #simulatedBy(provider: string): Connected | undefined {
    const settings = simulatedAccounts(this.#app)[provider]
    const kind = kindOf(provider)
    if (!settings || !kind) return undefined
    const known = this.#simulated.get(provider)
    if (known?.settings === settings) return known.connected
    // Another node's simulators are used now.
    void known?.connected.carrier.stop()
    const connected = connectedTo(kind.connect(settings, this.#surroundings), '', simulator)
    this.#simulated.set(provider, { connected, settings })
    return connected
  }

  async #load(): Promise<void> {
    const { db, log } = this.#app
    const before = this.#entered
    const now = new Map<string, Connected>()
    for (const row of await db.query(selectEntered, {})) {
      const kind = kindOf(row.provider)
      if (!row.enabled || !kind) continue
      const name = `${row.environment} ${row.provider} ${row.country}`
      try {
        const settings = await settingsOf(this.#app, row)
        const version = JSON.stringify(settings)
        const known = before.get(name)
        const isSame = known?.version === version
        const connect = () =>
          connectedTo(kind.connect(settings, this.#surroundings), version, identityOf(kind, settings))
        now.set(name, isSame ? known : connect())
      } catch (error) {
        log.error(
          { error, provider: row.provider },
          'secrets of a payment provider cannot be decrypted: the provider is not used; enter them again (PATCH /v1/operator/payments/providers)',
        )
      }
    }
    this.#entered = now
    // A replaced carrier finishes its requests; closing is not waited for.
    for (const [name, { carrier }] of before) if (now.get(name)?.carrier !== carrier) void carrier.stop()
  }

  async #stop(): Promise<void> {
    await this.#followed.stop()
    const simulated = [...this.#simulated.values()].map(({ connected }) => connected)
    const all = [...simulated, ...this.#entered.values()]
    await Promise.all(all.map(({ carrier }) => carrier.stop()))
  }
}
