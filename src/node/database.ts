// SPDX-License-Identifier: Apache-2.0
// The database of this installation: the one DATABASE_URL names, or the embedded server. The embedded server may be
// shared by several processes and may have outlived the one that started it, so the last to leave stops it.
import { join, resolve } from 'node:path'
import pg from 'pg'
import { type Config, isProduction } from '../config.ts'
import { errorCode } from '../kernel/error-code.ts'
import { StartError } from '../kernel/start-error.ts'
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

export async function startDatabase(config: Config, step: (sentence: string) => void): Promise<StartedDatabase> {
  const home = resolve(config.PAMOJA_HOME)
  await makeDirectory(home, 'PAMOJA_HOME')
  if (config.DATABASE_URL) return external(config.DATABASE_URL, step)
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

export async function prepareSchema(db: Database, schema: Schema, extra?: URL): Promise<void> {
  const files = { ...schemaFiles(migrationsFolder, ...(extra ? [extra] : [])), version: packageVersion() }
  if (schema === 'migrate') await migrate(db, files)
  if (schema === 'require') await requireMigrated(db, files)
}

/** The database alone, for commands that run beside or without a node. */
export async function withDatabase(
  config: Config,
  schema: Schema,
  work: (db: Database) => Promise<void>,
): Promise<void> {
  const { url, release } = await startDatabase(config, () => undefined)
  const options = { url, poolSize: config.PAMOJA_DATABASE_POOL, statementTimeoutMs: 0, applicationName }
  const db = new Database(options, () => undefined)
  try {
    await prepareSchema(db, schema)
    await work(db)
  } finally {
    await db.close()
    await release()
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

/** Rethrow errors that already explain themselves in a sentence, such as unreadable files, as start errors. */
export async function inSentences<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw new StartError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

async function external(url: string, step: (sentence: string) => void): Promise<StartedDatabase> {
  step('Connecting to the database')
  const [found] = await ask<{ version: string; number: number }>(
    url,
    `select current_setting('server_version') as version, current_setting('server_version_num')::int as number`,
  )
  if (found && found.number < oldestServer)
    throw new StartError(`The database in DATABASE_URL is PostgreSQL ${found.version}: use PostgreSQL 15 or later.`)
  return { url, release: async () => undefined }
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

async function ask<Row extends object>(url: string, question: string): Promise<Row[]> {
  const client = new pg.Client({
    connectionString: url,
    application_name: askingName,
    connectionTimeoutMillis: connectWithinMs,
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return (await client.query<Row>(question)).rows
  } finally {
    await client.end().catch(() => undefined)
  }
}
