// SPDX-License-Identifier: Apache-2.0
// One node: builds the App value from its parts, opens the doors, starts the workers, and takes it all down again in
// the right order. Reads like a list; every line leads to the file that does it.
import { X509Certificate } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import { join, resolve } from 'node:path'
import { answersOf, Dispatcher } from '../areas/webhooks/area.ts'
import type { Config } from '../config.ts'
import type { App } from '../platform/app.ts'
import type { Area } from '../platform/area.ts'
import { Cells } from '../platform/cells.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import type { Cell } from '../platform/db/cell.ts'
import { keepRoleSettings, type RoleSettings } from '../platform/db/role-settings.ts'
import { Database } from '../platform/db.ts'
import { type ServerIdentity, serverIdentity, watchIdentity } from '../platform/http/certificates.ts'
import type { NodeAddress } from '../platform/nodes/sandbox.ts'
import { openListener } from '../platform/program/listeners.ts'
import { createLog, type Logger } from '../platform/telemetry/log.ts'
import { leaseSetting } from '../platform/work/lease.ts'
import { simulate } from '../simulation/simulation.ts'
import { buildApp } from './build-app.ts'
import {
  applicationName,
  inSentences,
  prepareSchema,
  requireSameDatabase,
  type StartedDatabase,
  startDatabase,
} from './database.ts'
import { type Doors, openDoors } from './doors.ts'
import { admin, openListeners } from './listeners.ts'
import { type Stops, stopAll } from './stops.ts'
import { startWorkers } from './workers.ts'

const statementTimeoutMs = 30_000

export interface NodeOptions {
  config: Config
  areas: readonly Area[]
  clock?: Clock
  /** Migrations beside our own, for the areas of tests and benchmarks. */
  extraMigrations?: URL
  /** Database that was started ahead; without it, it is started here. */
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
  areas: readonly Area[]
  /** Addresses beside the API, simulators included: name -> URL. */
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
    const db = openDatabase(url, config, log)
    stops.push(() => db.close())
    await db.find()
    if (config.PAMOJA_DATABASE_DIRECT_URL !== null) await keepRoleSettings(db, roleSettings(config))
    await requireSameDatabase(config)
    progress('Bringing the tables up to date')
    const prepare = (cell: Cell): Promise<void> =>
      prepareSchema(cell, config.PAMOJA_MIGRATE ? 'migrate' : 'require', extraMigrations)
    await prepare(db.home)
    const cells = new Cells({ db, log, prepare })
    await cells.open()
    stop?.throwIfAborted()

    progress('Opening the doors')
    const identity = await inSentences(identityIn(home, config, clock))
    const { caFile } = identity
    const ready = readySignal()
    const simulators = await simulate(areas, {
      ...{ config, home, clock, log, caFile, identity, stops },
      ready: ready.promise,
    })
    const address: { publicUrl: string } = { publicUrl: config.PAMOJA_PUBLIC_URL ?? '' }
    const dispatcher = new Dispatcher(config.PAMOJA_ROLES, answersOf(areas))
    const app = await buildApp({ config, areas, clock, log, db, address, dispatcher, simulators })
    if (app.tracer) stops.push(app.tracer.stop)
    await startWorkers(app, areas, dispatcher, stops)
    await cells.start(app.signals, log)
    stops.push(() => cells.stop())

    const doors = await openDoors(app, areas, identity)
    stops.push(doors.drain)
    address.publicUrl ||= `https://localhost:${doors.port}`
    stops.push(() => app.sandbox.leave())
    await app.sandbox.announce(nodeAddress(config, doors.port, identity.cert))
    const metrics = await openListener(app, admin, identity)
    // Figures can be read until everything else has stopped.
    stops.splice(1, 0, () => metrics.close(0))
    const opened = await openListeners(app, areas, identity, stops)
    watchCertificate(app, doors, opened.updateIdentity, stops)
    const node = {
      app,
      areas,
      url: app.publicUrl,
      port: doors.port,
      caFile,
      adminUrl: metrics.url,
      listeners: { ...Object.fromEntries(app.simulators.addresses), ...opened.addresses },
      stop: () => stopAll(stops, log),
    }
    await beforeServing?.(node)
    doors.open()
    ready.tell()
    app.work.start(app)
    return node
  } catch (error) {
    await stopAll(stops, log)
    throw error
  }
}

/** Releases the database. One that never started needs no release; its failure was reported by the start. */
async function released(database: Promise<StartedDatabase>): Promise<void> {
  const started = await database.catch(() => null)
  await started?.release()
}

function openDatabase(url: string, config: Config, log: Logger): Database {
  return new Database(
    {
      url,
      directUrl: config.PAMOJA_DATABASE_DIRECT_URL ?? undefined,
      poolerPrepares: config.PAMOJA_DATABASE_POOLER_PREPARES,
      replicaUrl: config.PAMOJA_DATABASE_REPLICA_URL ?? undefined,
      cells: config.PAMOJA_CELLS,
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
}

/** Settings of every session that a pooler opens. */
function roleSettings(config: Config): RoleSettings {
  const lease = { 'pamoja.job_lease': null, ...leaseSetting(config.PAMOJA_JOB_LEASE_SECONDS) }
  return { statement_timeout: `${statementTimeoutMs}ms`, ...lease }
}

/** Certificate of the configuration, or one of the installation's own authority. */
function identityIn(home: string, config: Config, clock: Clock): Promise<ServerIdentity> {
  return serverIdentity({
    dir: join(home, 'tls'),
    ...(config.PAMOJA_TLS_CERT ? { certFile: config.PAMOJA_TLS_CERT } : {}),
    ...(config.PAMOJA_TLS_KEY ? { keyFile: config.PAMOJA_TLS_KEY } : {}),
    now: new Date(clock.nowMs()),
  })
}

/** Uses new certificates when their files change. */
function watchCertificate(app: App, doors: Doors, updateOthers: Doors['updateIdentity'], stops: Stops): void {
  const { config, log } = app
  const { PAMOJA_TLS_CERT: certFile, PAMOJA_TLS_KEY: keyFile } = config
  if (!certFile || !keyFile) return
  const update: Doors['updateIdentity'] = (identity) => {
    doors.updateIdentity(identity)
    updateOthers(identity)
    app.sandbox.announce(nodeAddress(config, doors.port, identity.cert)).catch(() => undefined)
  }
  const watch = watchIdentity({ certFile, keyFile }, update, (error) =>
    log.error(
      { error },
      'new certificate cannot be used, the old one stays: check the files that PAMOJA_TLS_CERT and PAMOJA_TLS_KEY name',
    ),
  )
  stops.push(watch)
}

/** Address at which other nodes reach this one. */
function nodeAddress({ PAMOJA_NODE_HOST: told, PAMOJA_HOST: own }: Config, port: number, cert: string): NodeAddress {
  const isEverywhere = own === '0.0.0.0' || own === '::'
  const host = told ?? (isEverywhere ? firstAddress() : own)
  const { fingerprint256: fingerprint } = new X509Certificate(cert)
  return { url: `https://${host.includes(':') ? `[${host}]` : host}:${port}`, fingerprint }
}

/** First address of this machine that others can reach. */
function firstAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  const others = all.filter(({ internal }) => !internal)
  return (others.find(({ family }) => family === 'IPv4') ?? others[0])?.address ?? '127.0.0.1'
}

/** Promise that simulators wait for before they call the node. */
function readySignal(): { promise: Promise<void>; tell(): void } {
  let tell: () => void = () => undefined
  const promise = new Promise<void>((resolve) => {
    tell = resolve
  })
  return { promise, tell: () => tell() }
}
