// SPDX-License-Identifier: Apache-2.0
// The carriers this node is connected to, and the routes: the operators' from the database, followed as they change, and
// those of the sandbox. Each bind of the operators is open on one node at a time, which serves the messages for it and says
// whether it can take any; every node has a sandbox of its own. A node that speaks to no carrier follows the routes too,
// because it refuses what none of them leads to.
import { AppError } from '../../../kernel/errors.ts'
import type { App } from '../../../platform/app.ts'
import { atMost } from '../../../platform/concurrency/at-most.ts'
import { Held, type Place } from '../../../platform/connections/held.ts'
import { type Queryable, statement } from '../../../platform/db.ts'
import { Followed } from '../../../platform/nodes/followed.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Environment } from '../../../platform/tenant.ts'
import { returnStrays } from '../../../platform/work/queues.ts'
import type { Job } from '../../../platform/work.ts'
import { type Carrier, type Destination, type Intake, inOrder, type Member, type Route, routeFor } from '../carrier.ts'
import { type Bind, type BindRow, bindColumns, bindOf } from '../carriers/bind.ts'
import { carrierKinds } from '../carriers/kinds.ts'
import { messageCentre } from '../sandbox/message-centre.ts'
import { sharedCentres } from './centres.ts'

/** Reloads interval. Changes are signalled; this is for lost signals. */
const reloadMs = 30_000
/** Interval of the search for binds without a node. */
const takeMs = 500
/** Time that the start waits for carriers: one that is down must not keep the platform down. */
const connectMs = 500
/** Retry-After of refused requests. */
const retrySeconds = 5
/** Prefix of the binds' lease names. */
export const bindLeases = 'sms.bind'
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
  reroute_on_undelivered: boolean
  refund_undelivered: boolean
  when_down: Route['whenDown']
  created_at: Date
  updated_at: Date
}

const loadBinds = statement.home<Record<never, never>, BindRow & { is_up: boolean; last_error: string | null }>(
  'sms.load_binds',
  `select ${bindColumns}, is_up, last_error from sms.binds order by name`,
)

const noteHealth = statement.home<{ name: string; isUp: boolean; lastError: string | null }, { name: string }>(
  'sms.note_health',
  `update sms.binds set is_up = $isUp, last_error = $lastError
    where name = $name and (is_up <> $isUp or last_error is distinct from $lastError)
   returning name`,
)
const maxErrorLength = 500

const loadRoutes = statement.home<Record<never, never>, RouteRow>(
  'sms.load_routes',
  `select id, environment, account_id, country, network, tiers, on_unknown, reroute_on_undelivered, refund_undelivered,
          when_down, created_at, updated_at
     from sms.routes order by id`,
)

/** Messages that wait at binds which no node will have open again wait at none. */
export async function freeStrays(queryable: Queryable, lanes: readonly string[]): Promise<void> {
  const binds = (await queryable.query(loadBinds, {})).filter(({ enabled }) => enabled)
  await returnStrays(queryable, lanes, [...sandboxBinds, ...binds.map(({ name }) => name)])
}

export const networkOf = onePerApp((app) => new Network(app))

interface BindPlace extends Place {
  readonly bind: Bind
}

class Network {
  readonly #app: App
  readonly #followed: Followed
  readonly #held: Held<BindPlace, Carrier>
  #jobs: readonly Job<App>[] = []
  #routes: readonly Route[] = []
  #routeVersions: ReadonlyMap<string, number> = new Map()
  #bindVersions: ReadonlyMap<string, number> = new Map()
  /** Latest status of binds, from the nodes that have them open. */
  #isUp: ReadonlyMap<string, boolean> = new Map()
  #lastErrors: ReadonlyMap<string, string | null> = new Map()
  #centres: ReadonlyMap<string, readonly string[]> = new Map()
  /** Intake of what carriers bring; null while this node speaks to no carrier. */
  #intake: Intake | null = null

  constructor(app: App) {
    this.#app = app
    this.#followed = new Followed(app, {
      ...{ topic: 'sms', everyMs: reloadMs, what: 'binds and routes', load: () => this.#load() },
      between: { everyMs: takeMs, run: () => this.#look() },
    })
    this.#held = new Held(app, {
      leases: bindLeases,
      make: ({ bind }) => this.#carrierOf(bind),
      begin: (name, carrier) => this.#begin(name, carrier),
      close: (carrier) => carrier.stop(),
      leave: (name) => this.#leave(name),
      abandoned: () => this.#freeStrays(),
    })
  }

  /** Whether test messages can be sent from here. */
  get hasSandbox(): boolean {
    return messageCentre.of(this.#app) !== null
  }

  carrier(name: string): Carrier | null {
    return this.#held.get(name)
  }

  /** Whether a carrier that is not here is somewhere else, or will be. */
  isElsewhere(name: string): boolean {
    const isKnown = this.#intake === null ? this.#isUp.get(name) === true : this.#held.isWanted(name)
    return isKnown && this.carrier(name) === null
  }

  /** The binds whose messages a bind may bring receipts for: itself first, then those that lead to the same message centre. */
  sharers(name: string): readonly string[] {
    return this.#centres.get(name) ?? [name]
  }

  /** State of a bind on this node; null when it is not open here. */
  state(name: string): Pick<Carrier, 'isUp' | 'sessions' | 'pending' | 'ratePerSecond' | 'lastError'> | null {
    return this.carrier(name)
  }

  /** Health of the carriers as known here, without their names, which are the operator's. */
  health(): string {
    const known = [...this.#isUp]
    const down = known.filter(([name, isUp]) => !(this.carrier(name)?.isUp ?? isUp))
    return down.length === 0 ? 'ok' : `${down.length} of ${known.length} carriers cannot be reached`
  }

  /** Whether this node has read the latest change of a route. */
  isInForce({ id, updated_at }: Pick<RouteRow, 'id' | 'updated_at'>): boolean {
    return this.#routeVersions.get(id) === updated_at.getTime()
  }

  /** Whether a bind's version is in force here; one that is disabled is in force nowhere. */
  uses({ name, updated_at }: Pick<BindRow, 'name' | 'updated_at'>): boolean {
    return this.#bindVersions.get(name) === updated_at.getTime()
  }

  routeFor(destination: Destination): Route | null {
    return routeFor(this.#routes, destination)
  }

  /** The countries that routes over a bind lead to, as far as they name one. */
  countriesOver(name: string): string[] {
    const isOver = ({ tiers }: Route): boolean => tiers.some((tier) => tier.some(({ bind }) => bind === name))
    return [
      ...new Set(this.#routes.flatMap((route) => (route.country !== null && isOver(route) ? [route.country] : []))),
    ]
  }

  /** Why nothing is accepted for a destination now; null: it is. Whether the sandbox takes a test message is known where one is. */
  problem(destination: Destination, isForNow: boolean): AppError | null {
    const route = this.routeFor(destination)
    const mayBeElsewhere = destination.environment === 'test' && !this.hasSandbox
    if (!route)
      return mayBeElsewhere
        ? null
        : new AppError('NO_ROUTE', `no route leads to ${destination.country ?? 'this number'}`)
    const isClosed =
      isForNow && route.whenDown === 'refuse' && !route.tiers.flat().some(({ bind }) => this.#canTake(bind))
    return isClosed
      ? new AppError('PROVIDER_UNAVAILABLE', 'no carrier is available for this number at the moment', {
          retryAfterSeconds: retrySeconds,
        })
      : null
  }

  /** The carriers of a route that are this node's and can take nothing now. */
  down(route: Route): string[] {
    return route.tiers.flat().flatMap(({ bind }) => (this.carrier(bind)?.isUp === false ? [bind] : []))
  }

  /** The first carrier of a route that can take a message, as far as this node knows; null: none can now. */
  choose(route: Route, tried: readonly string[] = []): string | null {
    for (const name of inOrder(route, Math.random))
      if (!tried.includes(name) && (this.carrier(name)?.isUp || this.isElsewhere(name))) return name
    return null
  }

  /** Follows the routes without opening binds. Returns the way to stop. */
  async follow(): Promise<() => Promise<void>> {
    await this.#followed.start()
    return () => this.#stop()
  }

  /** Opens the carriers that are this node’s, with the `jobs` of their messages, and follows what changes. Gives the way to stop. */
  async start(intake: Intake, jobs: readonly Job<App>[]): Promise<() => Promise<void>> {
    this.#intake = intake
    this.#jobs = jobs
    const { metrics } = this.#app
    metrics.gauges('pamoja_sms_sessions', 'Open sessions of this node with carriers.', ['bind'], async () =>
      this.#figures(({ sessions }) => sessions),
    )
    metrics.gauges('pamoja_sms_pending', 'Parts that wait for a carrier or its answer.', ['bind'], async () =>
      this.#figures(({ pending }) => pending),
    )
    return this.follow()
  }

  /** Takes over binds whose node is gone, and stores the state of those open here. */
  async #look(): Promise<void> {
    await this.#held.openFree()
    await this.#tellHealth()
  }

  async #load(): Promise<void> {
    const { db } = this.#app
    const [all, routes] = await Promise.all([db.query(loadBinds, {}), db.query(loadRoutes, {})])
    const binds = all.filter(({ enabled }) => enabled)
    const places = this.#intake === null ? [] : [...this.#sandbox(), ...(await this.#openable(binds))]
    // Receipts of messages over a disabled bind still come over the other binds of its centre.
    this.#centres = sharedCentres(all)
    this.#isUp = new Map(binds.map(({ name, is_up }) => [name, is_up]))
    this.#lastErrors = new Map(binds.map(({ name, last_error }) => [name, last_error]))
    this.#bindVersions = new Map(binds.map(({ name, updated_at }) => [name, updated_at.getTime()]))
    this.#routeVersions = new Map(routes.map(({ id, updated_at }) => [id, updated_at.getTime()]))
    this.#routes = [...routes.map(routeOf), ...(this.hasSandbox ? [sandboxRoute] : [])]
    await this.#held.want(places)
  }

  async #begin(name: string, carrier: Carrier): Promise<void> {
    for (const job of this.#jobs) this.#app.work.serve(job, name)
    await atMost(connectMs, carrier.start(), undefined)
  }

  /** State of the binds open here, for every node. */
  async #tellHealth(): Promise<void> {
    const { db, signals } = this.#app
    for (const [name, carrier] of this.#held.opened()) {
      const { isUp } = carrier
      // A carrier's text may hold anything.
      const lastError = carrier.lastError?.replaceAll('\u0000', '').slice(0, maxErrorLength) ?? null
      const isAsBefore = this.#isUp.get(name) === isUp
      if (isSandbox(name) || (isAsBefore && this.#lastErrors.get(name) === lastError)) continue
      const changed = await db.query(noteHealth, { name, isUp, lastError })
      this.#isUp = new Map(this.#isUp).set(name, isUp)
      this.#lastErrors = new Map(this.#lastErrors).set(name, lastError)
      if (changed.length > 0 && !isAsBefore) await signals.send(db, 'sms', name)
    }
  }

  #canTake(name: string): boolean {
    return this.carrier(name)?.isUp ?? this.#isUp.get(name) ?? false
  }

  /** Leaves the messages of a bind to the node that opens it next. */
  async #leave(name: string): Promise<void> {
    await Promise.all(this.#jobs.map((job) => this.#app.work.leave(job, name)))
  }

  /** Moves the messages of binds that no node will open again. A chore does the rest if this node dies. */
  async #freeStrays(): Promise<void> {
    const { db, log } = this.#app
    await freeStrays(
      db,
      this.#jobs.map(({ lane }) => lane),
    ).catch((error) =>
      log.warn(
        { error },
        'messages of a removed bind not moved: retried with the next refresh; check the database if this repeats',
      ),
    )
  }

  /** Carrier of a bind; null when it cannot be opened, so that the others still work. */
  #carrierOf(bind: Bind): Carrier | null {
    const { log, carrierOutbound: http } = this.#app
    if (this.#intake === null) return null
    try {
      const kind = carrierKinds.get(bind.kind)
      if (!kind) throw new Error(`there is no kind of carrier called ${bind.kind}`)
      return kind.open(bind, {
        ...{ intake: this.#intake, log, http },
        isOurs: () => this.#held.isOurs(bind.name),
        publicUrl: () => this.#app.publicUrl,
      })
    } catch (error) {
      log.error({ error, bind: bind.name }, 'bind cannot be opened: change its settings (PATCH /v1/operator/sms/binds)')
      return null
    }
  }

  async #openable(rows: readonly BindRow[]): Promise<BindPlace[]> {
    return (await Promise.all(rows.map((row) => this.#bindOf(row)))).flat()
  }

  /** Bind to open; none when its secret cannot be decrypted. */
  async #bindOf(row: BindRow): Promise<BindPlace[]> {
    try {
      const bind = await bindOf(this.#app, row)
      return [{ name: row.name, bind, version: JSON.stringify(bind) }]
    } catch (error) {
      this.#app.log.error(
        { error, bind: row.name },
        'password of a bind cannot be decrypted: the bind is not used; set it again (PATCH /v1/operator/sms/binds)',
      )
      return []
    }
  }

  #sandbox(): BindPlace[] {
    const smsc = messageCentre.of(this.#app)
    if (smsc === null) return []
    const { host, port, password } = smsc
    return sandboxBinds.map((name) => ({
      name,
      isLocal: true,
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
    return [...this.#held.opened()].map(([bind, carrier]) => ({ labels: { bind }, value: figure(carrier) }))
  }

  async #stop(): Promise<void> {
    await this.#followed.stop()
    await this.#held.stop()
    if (this.#intake === null) return
    this.#intake = null
    // A node that gets the signal takes them over at once.
    await this.#app.signals.send(this.#app.db, 'sms', 'left').catch(() => undefined)
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
  rerouteOnUndelivered: false,
  refundUndelivered: false,
  whenDown: 'queue',
}

function routeOf({ id, environment, account_id: account, country, network, tiers, ...row }: RouteRow): Route {
  return {
    ...{ id, environment, account, country, network, tiers },
    onUnknown: row.on_unknown,
    rerouteOnUndelivered: row.reroute_on_undelivered,
    refundUndelivered: row.refund_undelivered,
    whenDown: row.when_down,
  }
}

/** Whether a carrier is the sandbox's: what it brings belongs to test environments. */
export function isSandbox(carrier: string): boolean {
  return sandboxBinds.some((name) => name === carrier)
}
