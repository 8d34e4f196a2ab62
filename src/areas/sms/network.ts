// SPDX-License-Identifier: Apache-2.0
// The carriers this node is connected to, and the routes: the operators' from the database, followed as they change, and
// those of the sandbox. Every node with the role `carriers` opens sessions of its own, so a bind's sessions and rate are
// per node.
import type { App } from '../../platform/app.ts'
import { statement } from '../../platform/db.ts'
import type { Environment } from '../../platform/tenant.ts'
import { type Bind, type BindRow, bindColumns, bindOf } from './bind.ts'
import { type Carrier, type Intake, type Member, type Route, routeFor } from './carrier.ts'
import { carrierKinds } from './carriers/kinds.ts'
import { onePerApp } from './gather.ts'
import type { Stored } from './outcome.ts'

/** Changes are told; this is for what was not heard. */
const reloadMs = 30_000
/** How long the start waits for carriers: one that is down must not keep the platform down. */
const connectMs = 500
const sandboxBinds = ['sandbox-1', 'sandbox-2'] as const
const sandboxWindow = 100

export interface RouteRow {
  id: string
  environment: Environment
  account_id: string | null
  country: string | null
  network: string | null
  tiers: Member[][]
  on_unknown: Route['onUnknown']
  created_at: Date
  updated_at: Date
}

const loadBinds = statement<Record<never, never>, BindRow>(
  'sms.load_binds',
  `select ${bindColumns} from sms.binds where enabled order by name`,
)

const loadRoutes = statement<Record<never, never>, RouteRow>(
  'sms.load_routes',
  `select id, environment, account_id, country, network, tiers, on_unknown, created_at, updated_at
     from sms.routes order by id`,
)

export const networkOf = onePerApp((app) => new Network(app))

class Network {
  readonly #app: App
  readonly #carriers = new Map<string, { carrier: Carrier; version: string }>()
  #routes: readonly Route[] = []
  #routeVersions: ReadonlyMap<string, number> = new Map()
  #bindVersions: ReadonlyMap<string, number> = new Map()
  #intake: Intake | null = null
  #timer: NodeJS.Timeout | null = null
  #loading: Promise<void> | null = null
  #isStale = false

  constructor(app: App) {
    this.#app = app
  }

  /** Whether test messages can be sent from here. */
  get hasSandbox(): boolean {
    return this.#app.simulators.smsc !== null
  }

  carrier(name: string): Carrier | null {
    return this.#carriers.get(name)?.carrier ?? null
  }

  /** How a bind is doing on this node; null when it is not used here. */
  state(name: string): Pick<Carrier, 'sessions' | 'pending' | 'ratePerSecond' | 'lastError'> | null {
    return this.carrier(name)
  }

  /** Whether this node has read the latest change of a route. */
  isInForce({ id, updated_at }: Pick<RouteRow, 'id' | 'updated_at'>): boolean {
    return this.#routeVersions.get(id) === updated_at.getTime()
  }

  /** The same of a bind; one that is not enabled is in force nowhere. */
  uses({ name, updated_at }: Pick<BindRow, 'name' | 'updated_at'>): boolean {
    return this.#bindVersions.get(name) === updated_at.getTime()
  }

  routeFor({ environment, account_id: account, country, network }: Stored): Route | null {
    return routeFor(this.#routes, { environment, account, country, network })
  }

  /** Connects to every carrier and keeps following the operators' changes. Gives the way to stop. */
  async start(intake: Intake): Promise<() => Promise<void>> {
    this.#intake = intake
    const { signals, metrics } = this.#app
    signals.on('sms', () => this.reload())
    signals.onGap(() => this.reload())
    metrics.gauges('pamoja_sms_sessions', 'Open sessions of this node with carriers.', ['bind'], async () =>
      this.#figures(({ sessions }) => sessions),
    )
    metrics.gauges('pamoja_sms_pending', 'Parts that wait for a carrier or its answer.', ['bind'], async () =>
      this.#figures(({ pending }) => pending),
    )
    await this.#load()
    this.#timer = setInterval(() => this.reload(), reloadMs)
    this.#timer.unref()
    return () => this.#stop()
  }

  /** Looks for changes; those that come while it looks are looked for afterwards. */
  reload(): void {
    if (this.#intake === null) return
    this.#isStale = true
    this.#loading ??= this.#reloadAll().finally(() => {
      this.#loading = null
    })
  }

  async #reloadAll(): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false
      await this.#load().catch((error) => this.#app.log.warn({ error }, 'binds and routes could not be read'))
    }
  }

  async #load(): Promise<void> {
    const { db } = this.#app
    const [binds, routes] = await Promise.all([db.query(loadBinds, {}), db.query(loadRoutes, {})])
    const wanted = [...this.#sandbox(), ...(await Promise.all(binds.map((row) => this.#bindOf(row)))).flat()]
    const names = new Set(wanted.map(({ bind }) => bind.name))
    const changed = wanted.filter(({ bind, version }) => this.#carriers.get(bind.name)?.version !== version)
    const leaving = [...this.#carriers].filter(
      ([name]) => !names.has(name) || changed.some(({ bind }) => bind.name === name),
    )
    for (const [name, { carrier }] of leaving) {
      this.#carriers.delete(name)
      // What it has under way is answered first; nobody waits for that here.
      void carrier.stop()
    }
    this.#bindVersions = new Map(binds.map(({ name, updated_at }) => [name, updated_at.getTime()]))
    this.#routeVersions = new Map(routes.map(({ id, updated_at }) => [id, updated_at.getTime()]))
    this.#routes = [...routes.map(routeOf), ...(this.hasSandbox ? [sandboxRoute] : [])]
    await Promise.all(changed.map(({ bind, version }) => this.#open(bind, version)))
  }

  async #open(bind: Bind, version: string): Promise<void> {
    const carrier = this.#carrierOf(bind)
    if (carrier === null) return
    this.#carriers.set(bind.name, { carrier, version })
    let timer: NodeJS.Timeout | undefined
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, connectMs)
    })
    await Promise.race([carrier.start(), enough])
    clearTimeout(timer)
  }

  /** Null when it cannot be opened: that must not keep the others from being used. */
  #carrierOf(bind: Bind): Carrier | null {
    const { log, carrierOutbound: http } = this.#app
    if (this.#intake === null) return null
    try {
      const kind = carrierKinds.get(bind.kind)
      if (!kind) throw new Error(`there is no kind of carrier called ${bind.kind}`)
      return kind.open(bind, { intake: this.#intake, log, http, publicUrl: () => this.#app.publicUrl })
    } catch (error) {
      log.error({ error, bind: bind.name }, 'a bind cannot be used; change its settings')
      return null
    }
  }

  /** None when its secret cannot be opened. */
  async #bindOf(row: BindRow): Promise<{ bind: Bind; version: string }[]> {
    try {
      const bind = await bindOf(this.#app, row)
      return [{ bind, version: JSON.stringify(bind) }]
    } catch (error) {
      this.#app.log.error({ error, bind: row.name }, 'the password of a bind cannot be opened; set it again')
      return []
    }
  }

  #sandbox(): { bind: Bind; version: string }[] {
    const { smsc } = this.#app.simulators
    if (smsc === null) return []
    const { host, port, password } = smsc
    return sandboxBinds.map((name) => ({
      bind: {
        name,
        kind: 'smpp',
        window: sandboxWindow,
        ratePerSecond: null,
        responseTimeoutSeconds: 10,
        token: '',
        settings: { host, port, system_id: name, password },
      },
      version: String(port),
    }))
  }

  #figures(figure: (carrier: Carrier) => number): { labels: { bind: string }; value: number }[] {
    return [...this.#carriers].map(([bind, { carrier }]) => ({ labels: { bind }, value: figure(carrier) }))
  }

  async #stop(): Promise<void> {
    this.#intake = null
    if (this.#timer) clearInterval(this.#timer)
    await this.#loading
    await Promise.all([...this.#carriers.values()].map(({ carrier }) => carrier.stop()))
    this.#carriers.clear()
  }
}

/** Test messages go to the first bind; the second is there to take over. An operator's route for tests comes before it. */
const sandboxRoute: Route = {
  id: 'sandbox',
  environment: 'test',
  account: null,
  country: null,
  network: null,
  tiers: sandboxBinds.map((bind) => [{ bind, weight: 1 }]),
  onUnknown: 'maybe_twice',
}

function routeOf({ id, environment, account_id: account, country, network, tiers, on_unknown }: RouteRow): Route {
  return { id, environment, account, country, network, tiers, onUnknown: on_unknown }
}

/** Whether a carrier is the sandbox's: what it brings belongs to test environments. */
export function isSandbox(carrier: string): boolean {
  return sandboxBinds.some((name) => name === carrier)
}
