// SPDX-License-Identifier: Apache-2.0
// One node: builds the App value from its parts, opens the doors, starts the workers, and takes it all down again in
// the right order. Reads like a list; every line leads to the file that does it.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { credentialStore } from '../areas/accounts/area.ts'
import { answersOf, Dispatcher } from '../areas/webhooks/area.ts'
import type { Config } from '../config.ts'
import { msOfId, newUuid } from '../kernel/ids.ts'
import { PriceBook } from '../ledger/prices.ts'
import { ledgerPartitions, rollUp } from '../ledger/rollups.ts'
import { verifyLedger } from '../ledger/verify.ts'
import type { App } from '../platform/app.ts'
import { type Area, chargesOf } from '../platform/area.ts'
import { Tokens } from '../platform/auth/tokens.ts'
import { Authenticator, addressList } from '../platform/auth.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { Committer } from '../platform/commit.ts'
import { Database } from '../platform/db.ts'
import { docs } from '../platform/docs.ts'
import { catalogueOf } from '../platform/events/catalogue.ts'
import { Outbox } from '../platform/events.ts'
import { serverIdentity, watchIdentity } from '../platform/http/certificates.ts'
import { readiness } from '../platform/http/health.ts'
import { Idempotency } from '../platform/http/idempotency.ts'
import { createListener, type Listener } from '../platform/http/listener.ts'
import { malformed } from '../platform/http/malformed.ts'
import { refusePlain } from '../platform/http/plain-http.ts'
import { RequestLog } from '../platform/http/request-log.ts'
import { Sockets } from '../platform/http/sockets.ts'
import { Streams } from '../platform/http/streams.ts'
import { createHttp } from '../platform/http.ts'
import { Limits } from '../platform/limits.ts'
import { type AreaListener, openListener, type Place } from '../platform/listeners.ts'
import { createLog, type Logger } from '../platform/log.ts'
import { atMostEvery, Metrics } from '../platform/metrics.ts'
import { Leases } from '../platform/nodes/leases.ts'
import {
  type Chore,
  type Partitioned,
  platformChores,
  platformPartitions,
  runMaintenance,
} from '../platform/nodes/maintenance.ts'
import { joinNodes } from '../platform/nodes/nodes.ts'
import { Signals } from '../platform/nodes/signals.ts'
import { spendersOf } from '../platform/operator/spending.ts'
import type { OutboundPolicy } from '../platform/outbound/customer-urls.ts'
import { hostLookup, Outbound } from '../platform/outbound.ts'
import { Secrets } from '../platform/secrets.ts'
import { placesOf } from '../platform/storage/places.ts'
import { signedFiles } from '../platform/storage/signed-files.ts'
import { Storage } from '../platform/storage.ts'
import { Timeline } from '../platform/timeline.ts'
import { startTracer } from '../platform/tracing.ts'
import type { Waits } from '../platform/waiting.ts'
import { leaseSetting } from '../platform/work/lease.ts'
import { queues } from '../platform/work/queues.ts'
import { Work } from '../platform/work/worker.ts'
import { simulate } from '../simulation/simulation.ts'
import {
  applicationName,
  inSentences,
  prepareSchema,
  rootKeys,
  type StartedDatabase,
  startDatabase,
} from './database.ts'
import { certificatesIn } from './directories.ts'
import { packageVersion } from './version.ts'

const statementTimeoutMs = 30_000
const commitLanes = 2
const finishRequestsMs = 10_000
const finishJobsMs = 10_000
const keyUseFlushMs = 10_000
const ledgerProofMs = 60 * 60_000
const queueLookMs = 5_000
const tokenCareMs = 5 * 60_000

type Stops = (() => Promise<void> | void)[]

export interface NodeOptions {
  config: Config
  areas: readonly Area[]
  clock?: Clock
  /** Migrations beside our own, for the areas of tests and benchmarks. */
  extraMigrations?: URL
  /** The database, if it was started ahead; otherwise it is started here. */
  database?: Promise<StartedDatabase>
  /** Ends the start between two steps. */
  stop?: AbortSignal
  progress?(sentence: string): void
  /** Runs when the addresses are known and taken, before the first request is answered. */
  beforeServing?(node: RunningNode): Promise<void>
}

export interface RunningNode {
  app: App
  url: string
  port: number
  caFile: string | null
  adminUrl: string
  /** What it is made of. */
  areas: readonly Area[]
  /** Where else it listens, simulators included: name -> URL. */
  listeners: Readonly<Record<string, string>>
  stop(): Promise<void>
}

export async function startNode({
  config,
  areas,
  clock = systemClock,
  extraMigrations,
  progress = () => undefined,
  database = startDatabase(config, progress),
  stop,
  beforeServing,
}: NodeOptions): Promise<RunningNode> {
  const home = resolve(config.PAMOJA_HOME)
  const log = createLog({ level: config.PAMOJA_LOG_LEVEL, pretty: null, file: config.PAMOJA_LOG_FILE })
  const stops: Stops = [() => released(database)]
  try {
    const { url } = await database
    stop?.throwIfAborted()
    const db = new Database(
      {
        url,
        poolSize: config.PAMOJA_DATABASE_POOL,
        waitMs: config.PAMOJA_DATABASE_WAIT_SECONDS * 1_000,
        statementTimeoutMs,
        applicationName,
        sessionSettings: leaseSetting(config.PAMOJA_JOB_LEASE_SECONDS),
      },
      (error) =>
        log.warn(
          { error },
          'idle database connection lost: a new one is opened when needed; check the network to the database if this repeats',
        ),
    )
    stops.push(() => db.close())
    progress('Bringing the tables up to date')
    await prepareSchema(db, config.PAMOJA_MIGRATE ? 'migrate' : 'require', extraMigrations)
    stop?.throwIfAborted()

    progress('Opening the doors')
    const identity = await inSentences(
      serverIdentity({
        dir: join(home, 'tls'),
        ...(config.PAMOJA_TLS_CERT ? { certFile: config.PAMOJA_TLS_CERT } : {}),
        ...(config.PAMOJA_TLS_KEY ? { keyFile: config.PAMOJA_TLS_KEY } : {}),
        now: new Date(clock.nowMs()),
      }),
    )
    const address: { publicUrl: string } = { publicUrl: config.PAMOJA_PUBLIC_URL ?? '' }
    const dispatcher = new Dispatcher(config.PAMOJA_ROLES, answersOf(areas))
    let tellReady: () => void = () => undefined
    const ready = new Promise<void>((resolve) => {
      tellReady = resolve
    })
    const simulators = await simulate(areas, {
      config,
      home,
      clock,
      log,
      caFile: identity.caFile,
      identity,
      ready,
      stops,
    })
    const app = await buildApp({ config, areas, clock, log, db, address, dispatcher, simulators })
    if (app.tracer) stops.push(app.tracer.stop)
    await startWorkers(app, areas, dispatcher, stops)

    const { http, listener, open, drain } = openDoors(app, areas, identity)
    const { port } = await listen(listener, http, config)
    stops.push(drain)
    address.publicUrl ||= `https://localhost:${port}`
    if (config.PAMOJA_TLS_CERT && config.PAMOJA_TLS_KEY)
      stops.push(
        watchIdentity(
          { certFile: config.PAMOJA_TLS_CERT, keyFile: config.PAMOJA_TLS_KEY },
          listener.updateIdentity,
          (error) =>
            log.error(
              { error },
              'new certificate cannot be used, the old one stays: check the files that PAMOJA_TLS_CERT and PAMOJA_TLS_KEY name',
            ),
        ),
      )
    const metrics = await openListener(app, admin, identity)
    // Figures can be read until everything else has stopped.
    stops.splice(1, 0, () => metrics.close(0))
    const opened = await openListeners(app, areas, identity, stops)
    const node = {
      app,
      areas,
      url: app.publicUrl,
      port,
      caFile: identity.caFile,
      adminUrl: metrics.url,
      listeners: { ...Object.fromEntries(app.simulators.addresses), ...opened },
      stop: () => stopAll(stops, log),
    }
    await beforeServing?.(node)
    open()
    tellReady()
    app.work.start(app)
    return node
  } catch (error) {
    await stopAll(stops, log)
    throw error
  }
}

/** A database that never started needs no release; whoever waited for it has heard why. */
async function released(database: Promise<StartedDatabase>): Promise<void> {
  const started = await database.catch(() => null)
  await started?.release()
}

interface Parts {
  config: Config
  areas: readonly Area[]
  clock: Clock
  log: Logger
  db: Database
  address: { publicUrl: string }
  dispatcher: Dispatcher
  simulators: App['simulators']
}

async function buildApp({ config, areas, clock, log, db, address, dispatcher, simulators }: Parts): Promise<App> {
  const nodeId = newUuid(clock.nowMs())
  const version = packageVersion()
  const signals = new Signals(
    db,
    areas.flatMap((area) => area.topics ?? []),
  )
  const secrets = new Secrets(db, await rootKeys(config))
  await secrets.start()
  const tokens = new Tokens({ db, secrets, clock, issuer: config.PAMOJA_PUBLIC_URL ?? 'pamoja' })
  const committer = new Committer(db, nodeId, commitLanes)
  const jobs = areas.flatMap((area) => area.jobs ?? [])
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT
  const tracer = endpoint ? await startTracer({ endpoint, version, nodeId, log }) : null
  const outbox = new Outbox(dispatcher, tracer)
  const carrierOutbound = new Outbound({ policy: await carrierPolicy(config), lookup: hostLookup })
  const places = await placesOf(config, carrierOutbound, clock)
  return {
    config,
    version,
    nodeId,
    get publicUrl() {
      return address.publicUrl
    },
    clock,
    log,
    metrics: new Metrics(version),
    tracer,
    db,
    signals,
    committer,
    work: new Work<App>({
      ...{ db, committer, clock, log, nodeId, jobs, tracer },
      roles: config.PAMOJA_ROLES,
      leaseSeconds: config.PAMOJA_JOB_LEASE_SECONDS,
    }),
    catalogue: catalogueOf(areas),
    spendByCountry: spendersOf(areas),
    finders: areas.flatMap((area) => area.finders ?? []),
    histories: areas.flatMap((area) => area.histories ?? []),
    outbox,
    courier: dispatcher,
    outbound: new Outbound({ policy: await outboundPolicy(config) }),
    carrierOutbound,
    leases: new Leases({ db, nodeId, log }),
    secrets,
    storage: new Storage({ db, secrets, clock, places, publicUrl: () => address.publicUrl }),
    tokens,
    limits: new Limits({ db, signals, nodeId }),
    idempotency: new Idempotency(db, secrets),
    requestLog: new RequestLog(db, clock, log),
    timeline: new Timeline(db, log, { nowMs: () => clock.nowMs(), keepsLive: config.PAMOJA_TIMELINE_LIVE }),
    authenticator: new Authenticator(credentialStore(db, signals, clock, config, outbox), signals, clock, tokens),
    prices: new PriceBook({ db, signals, log }),
    charges: chargesOf(areas),
    simulators,
    commit: (operation, item) => committer.commit(operation, item),
  }
}

async function outboundPolicy(config: Config): Promise<OutboundPolicy> {
  const { PAMOJA_WEBHOOKS_CA_FILE: caFile } = config
  return {
    production: config.NODE_ENV === 'production',
    allowPrivate: config.PAMOJA_WEBHOOKS_ALLOW_PRIVATE,
    allowHttp: config.PAMOJA_WEBHOOKS_ALLOW_HTTP,
    allowCidrs: config.PAMOJA_WEBHOOKS_ALLOW_CIDRS,
    denyCidrs: config.PAMOJA_WEBHOOKS_DENY_CIDRS,
    extraCa: await certificatesIn(caFile, 'PAMOJA_WEBHOOKS_CA_FILE'),
    proxy: config.PAMOJA_WEBHOOKS_PROXY,
  }
}

/** Operators are trusted with private addresses and plain HTTP, but not with what a cloud tells its machines only. */
async function carrierPolicy(config: Config): Promise<OutboundPolicy> {
  return {
    ...(await outboundPolicy(config)),
    allowHttp: true,
    allowCidrs: ['0.0.0.0/0', '::/0'],
    denyCidrs: ['169.254.0.0/16', 'fe80::/10', 'fd00:ec2::254'],
    proxy: null,
  }
}

/** Starts everything that runs beside requests. Each start pushes its stop; stops run in reverse order. */
async function startWorkers(app: App, areas: readonly Area[], dispatcher: Dispatcher, stops: Stops): Promise<void> {
  await app.signals.start()
  stops.push(() => app.signals.stop())
  await app.tokens.start()
  await app.prices.start()
  stops.push(() => app.prices.stop())
  app.limits.start()
  stops.push(() => app.limits.stop())
  app.requestLog.start()
  stops.push(() => app.requestLog.stop())
  app.timeline.start()
  stops.push(() => app.timeline.stop())
  stops.push(() => app.committer.stop())
  stops.push(() => app.leases.stop())
  stops.push(await joinNodes(app))
  stops.push(noteKeyUse(app))
  stops.push(careForTokens(app))
  const chores = [
    ...platformChores(partitionsOf(areas)),
    ...ledgerChores(app),
    ...areas.flatMap((area) => area.chores ?? []),
  ]
  if (app.config.PAMOJA_ROLES.includes('timers')) stops.push(runMaintenance(app, chores))
  stops.push(() => app.outbound.close())
  stops.push(() => app.carrierOutbound.close())
  for (const one of waitsOf(areas)) one.of(app)
  for (const area of areas) {
    const stop = await area.start?.(app)
    if (stop) stops.push(stop)
  }
  stops.push(() => app.work.stop(finishJobsMs))
  // Before its leases are handed back, so that nobody else delivers what is still under way here.
  dispatcher.start(app)
  stops.push(() => dispatcher.stop())
  watchFigures(app)
}

/** Everything that requests wait for: a node knows it from the start, to hear what others wait for. */
function waitsOf(areas: readonly Area[]): Waits[] {
  return areas.flatMap((area) => area.waits ?? [])
}

/** Every table that is cut by time. */
export function partitionsOf(areas: readonly Pick<Area, 'partitions'>[]): Partitioned[] {
  return [...platformPartitions, ...ledgerPartitions, ...areas.flatMap((area) => area.partitions ?? [])]
}

/** Roll-ups, and every hour a proof of the whole ledger. A problem it finds is the one figure that must wake somebody. */
function ledgerChores({ metrics }: App): Chore[] {
  let problems: number | null = null
  metrics.gauge(
    'pamoja_ledger_imbalance',
    'Problems that the last verification of the ledger found; must be 0.',
    () => problems,
  )
  return [
    { name: 'ledger roll-ups', run: ({ db, clock }) => rollUp(db, clock) },
    {
      name: 'ledger verification',
      everyMs: ledgerProofMs,
      run: async ({ db, log }) => {
        const found = await verifyLedger(db)
        problems = found.problems.length
        if (!found.ok)
          log.error(
            { problems: found.problems.slice(0, 10) },
            'ledger does not add up: run `npm start -- ledger verify` and stop payouts until it adds up',
          )
      },
    },
  ]
}

/** Every node looks after its signing keys: one of them makes the next in time, all of them publish it before it signs. */
function careForTokens(app: App): () => void {
  const timer = setInterval(() => {
    app.tokens
      .rotate()
      .catch((error) =>
        app.log.warn(
          { error },
          'signing keys not rotated: tried again within the hour; check the database if this repeats',
        ),
      )
  }, tokenCareMs)
  timer.unref()
  return () => clearInterval(timer)
}

function noteKeyUse(app: App): () => Promise<void> {
  const flush = async (): Promise<void> => {
    await app.authenticator
      .noteUses()
      .catch((error) =>
        app.log.warn({ error }, 'last use of API keys not stored: tried again; check the database if this repeats'),
      )
  }
  const timer = setInterval(() => void flush(), keyUseFlushMs)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await flush()
  }
}

function watchFigures({ metrics, db, committer, work, requestLog, timeline, outbox }: App): void {
  // What happens in every channel is told by events, so that they are its figures too.
  outbox.onCommitted((_tenant, { row, status, nowMs, clockOffsetMs }) => {
    const madeMs = msOfId(row.resource_id)
    const ageMs = madeMs === null ? 0 : Math.max(0, nowMs - clockOffsetMs - madeMs)
    metrics.event(row.type, status, ageMs / 1000)
  })
  metrics.gauge('pamoja_db_pool_connections', 'Connections of the pool.', () => db.stats().total)
  metrics.gauge('pamoja_db_pool_waiting', 'Callers waiting for a connection.', () => db.stats().waiting)
  metrics.gauge('pamoja_commit_waiting', 'Writes waiting for a group commit.', () => committer.waiting())
  metrics.total('pamoja_commit_items_total', 'Writes committed since the start.', () => committer.stats.items)
  metrics.total('pamoja_commit_commits_total', 'Group commits since the start.', () => committer.stats.commits)
  metrics.gauge('pamoja_work_running', 'Jobs running on this node.', () => work.load().running)
  metrics.gauge('pamoja_work_waiting', 'Born-leased jobs waiting on this node.', () => work.load().waiting)
  metrics.total(
    'pamoja_request_log_dropped_total',
    'Request log lines that were not written.',
    () => requestLog.dropped,
  )
  metrics.total('pamoja_timeline_dropped_total', 'Frames of timelines that were not written.', () => timeline.dropped)
  const lanes = atMostEvery(queueLookMs, () => queues(db))
  metrics.gauges(
    'pamoja_work_queue_jobs',
    'Jobs in the table, of all nodes, by what they wait for.',
    ['lane', 'state'],
    async () =>
      (await lanes()).flatMap(({ lane, due, running, scheduled, failed }) => [
        { labels: { lane, state: 'due' }, value: due },
        { labels: { lane, state: 'running' }, value: running },
        { labels: { lane, state: 'scheduled' }, value: scheduled },
        { labels: { lane, state: 'failed' }, value: failed },
      ]),
  )
  metrics.gauges('pamoja_work_queue_oldest_seconds', 'How long the oldest due job has waited.', ['lane'], async () =>
    (await lanes()).map(({ lane, oldest_seconds }) => ({ labels: { lane }, value: oldest_seconds })),
  )
}

interface Doors {
  http: FastifyInstance
  listener: Listener
  /** Answers the requests that came so far, and from then on all. */
  open(): void
  drain(): Promise<void>
}

function openDoors(app: App, areas: readonly Area[], identity: { key: string; cert: string }): Doors {
  const trustedProxies = addressList(app.config.PAMOJA_TRUSTED_PROXIES)
  if (!trustedProxies) throw new Error('PAMOJA_TRUSTED_PROXIES is empty')
  const isApi = app.config.PAMOJA_ROLES.includes('api')
  const routes = isApi ? areas.flatMap((area) => area.routes) : []
  const hooks = isApi ? [signedFiles, ...areas.flatMap((area) => area.hooks ?? [])] : []
  const state = { draining: false }
  let early: (() => void)[] | null = []
  const open = (): void => {
    const waiting = early ?? []
    early = null
    for (const answer of waiting) answer()
  }
  const streams = new Streams()
  app.metrics.gauge('pamoja_http_streams', 'Streams that somebody reads.', () => streams.size)
  const sockets = new Sockets(app, isApi ? areas.flatMap((area) => area.sockets ?? []) : [], trustedProxies)
  app.metrics.gauge('pamoja_http_sockets', 'Websockets that are open.', () => sockets.size)
  const holder: { listener?: Listener } = {}
  const http = createHttp({
    app,
    routes,
    hooks,
    streams,
    trustedProxies,
    serverFactory: (handler) => {
      holder.listener = createListener({
        identity,
        handler: (request, response) => {
          if (early) early.push(() => handler(request, response))
          else handler(request, response)
        },
        trustedProxies,
        allowHttpFromLoopback: app.config.PAMOJA_ALLOW_HTTP === 'loopback',
        refusePlain: refusePlain(app),
        malformed: malformed(app),
        upgrade: (request, socket, head) => void sockets.upgrade(request, socket, head),
        onProblem: (error) =>
          app.log.warn(
            { error },
            'connection not accepted: the client sees it closed; check the limit of open files if this repeats',
          ),
      })
      return holder.listener.server
    },
  })
  http.get('/healthz', { config: { open: true, probe: true } }, async () => ({
    status: 'ok',
    version: app.version,
    uptime: Math.floor(process.uptime()),
  }))
  http.get('/readyz', { config: { open: true, probe: true } }, async (_request, reply) => {
    const found = await readiness(app, areas, state.draining)
    return reply.code(found.status === 'unavailable' ? 503 : 200).send(found)
  })
  http.get('/.well-known/jwks.json', { config: { open: true } }, async () => app.tokens.jwks())
  docs(http, app, areas)
  const { listener } = holder
  if (!listener) throw new Error('the HTTP server was not made')
  return {
    http,
    listener,
    open,
    async drain() {
      state.draining = true
      open()
      streams.close()
      sockets.close()
      for (const one of waitsOf(areas)) one.of(app).stop()
      const deadline = setTimeout(() => listener.destroyAll(), finishRequestsMs)
      await listener.close()
      clearTimeout(deadline)
      await http.close()
    },
  }
}

async function listen(listener: Listener, http: FastifyInstance, config: Config): Promise<AddressInfo> {
  await http.ready()
  return listener.listen(config.PAMOJA_PORT, config.PAMOJA_HOST)
}

/** Prometheus metrics, on a port that customers do not reach. */
const admin: Pick<AreaListener, 'name' | 'scheme' | 'host' | 'port' | 'open'> = {
  name: 'admin',
  scheme: 'http',
  host: 'PAMOJA_ADMIN_HOST',
  port: 'PAMOJA_ADMIN_PORT',
  async open({ metrics }, { host, port }) {
    const server = createServer((request, response) => {
      if (request.url?.split('?')[0] !== '/metrics') return void response.writeHead(404).end()
      metrics.text().then(
        (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
        () => response.writeHead(500).end(),
      )
    })
    server.listen(port, host)
    await once(server, 'listening')
    const address = server.address()
    return {
      port: typeof address === 'object' && address ? address.port : port,
      close: () =>
        new Promise((done) => {
          server.closeAllConnections()
          server.close(() => done())
        }),
    }
  },
}

/** Opens what areas listen on beside the API, where the node has the role for it. Gives their addresses by name. */
async function openListeners(
  app: App,
  areas: readonly Area[],
  identity: Place['identity'],
  stops: Stops,
): Promise<Record<string, string>> {
  const addresses: Record<string, string> = {}
  for (const listener of areas.flatMap((area) => area.listeners ?? [])) {
    if (!app.config.PAMOJA_ROLES.includes(listener.role)) continue
    const opened = await openListener(app, listener, identity)
    stops.push(() => opened.close(finishRequestsMs))
    addresses[listener.name] = opened.url
  }
  return addresses
}

/** Last started, first stopped. One failure does not keep the rest from stopping. */
async function stopAll(stops: Stops, log: Logger): Promise<void> {
  for (const stop of stops.splice(0).reverse())
    await Promise.resolve(stop()).catch((error) =>
      log.warn(
        { error },
        'a part of the node did not stop cleanly: leases it held run out by themselves; nothing to do',
      ),
    )
  log.flush()
}
