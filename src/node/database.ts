// SPDX-License-Identifier: Apache-2.0
// The database of this installation: the one DATABASE_URL names, or the embedded server. The embedded server may be
// shared by several processes and may have outlived the one that started it, so the last to leave stops it.
import { join, resolve } from 'node:path'
import pg from 'pg'
import { serversIn } from '../config/setting.ts'
import { type Config, isProduction } from '../config.ts'
import { errorCode } from '../kernel/error-code.ts'
import { StartError } from '../kernel/start-error.ts'
import { Cells } from '../platform/cells.ts'
import type { Cell } from '../platform/db/cell.ts'
import { migrate, requireMigrated } from '../platform/db/migrate.ts'
import { schemaFiles } from '../platform/db/schema-files.ts'
import { Database } from '../platform/db.ts'
import { type EmbeddedPostgres, type PostgresOptions, startPostgres } from '../platform/postgres.ts'
import { root } from '../platform/program/root.ts'
import { loadRootKeys, type RootKeys } from '../platform/secrets/root-keys.ts'
import { Secrets } from '../platform/secrets.ts'
import { makeDirectory } from './directories.ts'
import { packageVersion } from './version.ts'

export interface StartedDatabase {
  url: string
  /** Says that this process is done with it. Its own connections must be closed by then. */
  release(): Promise<void>
}

/** The name of every connection that uses the database. One that only asks a question has another. */
export const applicationName = 'pamoja'
const askingName = 'pamoja-asking'
const oldestServer = 150_000
const connectWithinMs = 5_000
/** Startup parameter of the first question: a pooler refuses or drops it. */
const askedTimeoutMs = 4_321

export async function startDatabase(config: Config, step: (sentence: string) => void): Promise<StartedDatabase> {
  const home = resolve(config.PAMOJA_HOME)
  await makeDirectory(home, 'PAMOJA_HOME')
  if (config.DATABASE_URL) return external(config, config.DATABASE_URL, step)
  const dir = join(home, 'postgres')
  const strict = isProduction(config)
  const options = { dir, ownAccount: strict, guarded: strict }
  const postgres = await startPostgres(options, step)
  const watch = keepRunning(options, postgres)
  return {
    url: postgres.url,
    async release() {
      const current = await watch.end()
      if (!(await isUsedByOthers(postgres.url))) await current.stop()
    },
  }
}

const watchMs = 500
const maxChecks = 10
const betweenChecksMs = 100

/** The embedded server belongs to this program: when it dies it is started again, at the same address. */
function keepRunning(options: PostgresOptions, started: EmbeddedPostgres): { end(): Promise<EmbeddedPostgres> } {
  let current = started
  let starting: Promise<void> | null = null
  const timer = setInterval(() => {
    if (starting || isAlive(current.pid)) return
    starting = startPostgres(options)
      .then((again) => {
        current = again
      })
      // The reason is in the server's own log and in every 503; the next check tries again.
      .catch(() => undefined)
      .finally(() => {
        starting = null
      })
  }, watchMs)
  timer.unref()
  return {
    async end() {
      clearInterval(timer)
      await starting
      return current
    },
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
}

/** Treatment of a database of another version: bring it up to date, refuse it, or leave it. */
export type Schema = 'migrate' | 'require' | 'as it is'

export const migrationsFolder = new URL('src/migrations/', root)

export async function prepareSchema(db: Pick<Cell, 'connect'>, schema: Schema, extra?: URL): Promise<void> {
  const files = { ...schemaFiles(migrationsFolder, ...(extra ? [extra] : [])), version: packageVersion() }
  if (schema === 'migrate') {
    await migrate(db, files)
    await guardNewTables(db)
  }
  if (schema === 'require') await requireMigrated(db, files)
}

/** A cell refuses buckets that are not its own in tables that a migration made, too. */
async function guardNewTables(db: Pick<Cell, 'connect'>): Promise<void> {
  const client = await db.connect()
  try {
    await client.query(
      `select platform.own_buckets_in(t) from platform.tenant_tables() t
        where to_regprocedure('platform.owns_bucket(bigint)') is not null and exists (select from platform.this_cell where buckets is not null)`,
    )
  } finally {
    await client.end()
  }
}

/** The database alone, for commands that run beside or without a node. */
export async function withDatabase(
  config: Config,
  schema: Schema,
  work: (db: Database) => Promise<void>,
): Promise<void> {
  const { url, release } = await startDatabase(config, () => undefined)
  // A command may take longer than any request, and has the database to itself: it needs no pooler.
  const direct = { url: config.PAMOJA_DATABASE_DIRECT_URL ?? url }
  const options = {
    ...direct,
    cells: config.PAMOJA_CELLS,
    poolSize: config.PAMOJA_DATABASE_POOL,
    statementTimeoutMs: 0,
    applicationName,
  }
  const db = new Database(options, () => undefined)
  try {
    await db.find()
    const prepare = (cell: Cell): Promise<void> => prepareSchema(cell, schema)
    await prepare(db.home)
    if (schema !== 'as it is' || (await knowsCells(db))) {
      await new Cells({ db, log: silent, prepare }).open()
      requireOpened(db)
    }
    await work(db)
  } finally {
    await db.close()
    await release()
  }
}

const silent = { warn: () => undefined }

/** Refuses to do in some cells what a command says of the installation. */
function requireOpened({ unopened }: Database): void {
  if (unopened.length > 0)
    throw new StartError(
      `The database ${unopened.join(' and ')} of PAMOJA_CELLS cannot be reached, and the command is about all of them: run it again when it can.`,
    )
}

/** Whether a database is of a version that may have cells. */
async function knowsCells(db: Database): Promise<boolean> {
  const client = await db.connect()
  try {
    const { rows } = await client.query(`select where to_regclass('platform.cells') is not null`)
    return rows.length > 0
  } finally {
    await client.end()
  }
}

/** The secrets of an installation, for the commands that need them. */
export async function openSecrets(config: Config, db: Database): Promise<Secrets> {
  return new Secrets(db, await rootKeys(config))
}

export function rootKeys(config: Config): Promise<RootKeys> {
  const file = join(resolve(config.PAMOJA_HOME), 'secret-key')
  return inSentences(loadRootKeys({ value: config.PAMOJA_SECRET_KEY, file, allowCreate: !isProduction(config) }))
}

/** Rethrows errors that already explain themselves in a sentence, such as unreadable files, as start errors. */
export async function inSentences<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw new StartError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

async function external(config: Config, url: string, step: (sentence: string) => void): Promise<StartedDatabase> {
  step('Connecting to the database')
  const direct = config.PAMOJA_DATABASE_DIRECT_URL
  const found = await firstAnswer(direct ?? url, config)
  if (found.number < oldestServer)
    throw new StartError(`The database in DATABASE_URL is PostgreSQL ${found.version}: use PostgreSQL 15 or later.`)
  if (!found.isDirect) throw new StartError(direct === null ? poolerWithoutDirect : directIsPooled)
  return { url, release: async () => undefined }
}

const poolerWithoutDirect =
  'DATABASE_URL leads through a pooler that drops session settings: set PAMOJA_DATABASE_DIRECT_URL to the database itself, for LISTEN, migrations and locks.'
const directIsPooled =
  'PAMOJA_DATABASE_DIRECT_URL leads through a pooler too: set it to the database itself, which keeps a session for each connection.'

/** Refuses a pooler and a direct address that lead to two databases. Asked when sessions of the pooler have their settings. */
export async function requireSameDatabase(config: Config): Promise<void> {
  const { DATABASE_URL: url, PAMOJA_DATABASE_DIRECT_URL: direct } = config
  if (url === null || direct === null) return
  const [pooled, found] = await Promise.all([firstAnswer(url, config, null), firstAnswer(direct, config)])
  if (pooled.identity !== found.identity) throw new StartError(twoDatabases)
}

const twoDatabases = 'DATABASE_URL and PAMOJA_DATABASE_DIRECT_URL lead to two databases: correct one of them.'

interface Found {
  version: string
  number: number
  /** Cluster and database, the same by every address. */
  identity: string
  /** Whether startup parameters reach the database: a pooler refuses or drops them. */
  isDirect: boolean
}

/** What the first server that answers says of itself. */
async function firstAnswer(
  url: string,
  { PAMOJA_DATABASE_WAIT_SECONDS: waitSeconds }: Config,
  timeoutMs: number | null = askedTimeoutMs,
): Promise<Found> {
  const question = `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
                           (select system_identifier || ' ' || d.oid from pg_control_system(), pg_database d
                             where d.datname = current_database()) as identity,
                           current_setting('statement_timeout') = '${askedTimeoutMs}ms' as "isDirect"`
  try {
    const asked = serversIn(url).map((one) => ask<Found>(one, question, { waitMs: waitSeconds * 1_000, timeoutMs }))
    const [found] = await Promise.any(asked)
    if (!found) throw new Error('the database gave no version')
    return found
  } catch (error) {
    const [first = error] = error instanceof AggregateError ? error.errors : []
    // 08P01 protocol violation: PgBouncer's word for parameters that it does not know.
    if (first instanceof Error && /unsupported startup parameter/.test(first.message))
      return { version: '', number: oldestServer, identity: '', isDirect: false }
    throw first
  }
}

/**
 * Whether other processes are connected. PostgreSQL may not have noticed yet that our own connections are closed, so it
 * is asked a few times. A server that does not answer counts as unused.
 */
async function isUsedByOthers(url: string): Promise<boolean> {
  const users = `select 1 as found from pg_stat_activity where application_name = '${applicationName}' limit 1`
  for (let check = 1; ; check++) {
    const isUsed = await ask(url, users).then(
      (rows) => rows.length > 0,
      () => false,
    )
    if (!isUsed || check === maxChecks) return isUsed
    await new Promise((resolve) => setTimeout(resolve, betweenChecksMs))
  }
}

async function ask<Row extends object>(
  url: string,
  question: string,
  { waitMs = connectWithinMs, timeoutMs = null }: { waitMs?: number; timeoutMs?: number | null } = {},
): Promise<Row[]> {
  const client = new pg.Client({
    connectionString: url,
    ...(timeoutMs === null ? {} : { statement_timeout: timeoutMs }),
    application_name: askingName,
    connectionTimeoutMillis: waitMs,
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return (await client.query<Row>(question)).rows
  } finally {
    await client.end().catch(() => undefined)
  }
}
