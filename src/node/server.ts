// SPDX-License-Identifier: Apache-2.0
// One node: builds the App value from its parts, opens the doors, starts the workers, and takes it all down again in
// the right order. Reads like a list; every line leads to the file that does it.
import { join, resolve } from 'node:path'
import { answersOf, Dispatcher } from '../areas/webhooks/area.ts'
import type { Config } from '../config.ts'
import type { App } from '../platform/app.ts'
import type { Area } from '../platform/area.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { Database } from '../platform/db.ts'
import { type ServerIdentity, serverIdentity, watchIdentity } from '../platform/http/certificates.ts'
import { openListener } from '../platform/program/listeners.ts'
import { createLog, type Logger } from '../platform/telemetry/log.ts'
import { leaseSetting } from '../platform/work/lease.ts'
import { simulate } from '../simulation/simulation.ts'
import { buildApp } from './build-app.ts'
import { applicationName, inSentences, prepareSchema, type StartedDatabase, startDatabase } from './database.ts'
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
    progress('Bringing the tables up to date')
    await prepareSchema(db, config.PAMOJA_MIGRATE ? 'migrate' : 'require', extraMigrations)
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

    const doors = await openDoors(app, areas, identity)
    stops.push(doors.drain)
    address.publicUrl ||= `https://localhost:${doors.port}`
    watchCertificate(app, doors, stops)
    const metrics = await openListener(app, admin, identity)
    // Figures can be read until everything else has stopped.
    stops.splice(1, 0, () => metrics.close(0))
    const opened = await openListeners(app, areas, identity, stops)
    const node = {
      app,
      areas,
      url: app.publicUrl,
      port: doors.port,
      caFile,
      adminUrl: metrics.url,
      listeners: { ...Object.fromEntries(app.simulators.addresses), ...opened },
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

/** Release the database. One that never started needs no release; its failure was reported by the start. */
async function released(database: Promise<StartedDatabase>): Promise<void> {
  const started = await database.catch(() => null)
  await started?.release()
}

function openDatabase(url: string, config: Config, log: Logger): Database {
  return new Database(
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

/** Use new certificates when their files change. */
function watchCertificate({ config, log }: App, doors: Doors, stops: Stops): void {
  const { PAMOJA_TLS_CERT: certFile, PAMOJA_TLS_KEY: keyFile } = config
  if (!certFile || !keyFile) return
  const watch = watchIdentity({ certFile, keyFile }, doors.updateIdentity, (error) =>
    log.error(
      { error },
      'new certificate cannot be used, the old one stays: check the files that PAMOJA_TLS_CERT and PAMOJA_TLS_KEY name',
    ),
  )
  stops.push(watch)
}

/** Promise that simulators wait for before they call the node. */
function readySignal(): { promise: Promise<void>; tell(): void } {
  let tell: () => void = () => undefined
  const promise = new Promise<void>((resolve) => {
    tell = resolve
  })
  return { promise, tell: () => tell() }
}
