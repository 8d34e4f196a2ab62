// SPDX-License-Identifier: Apache-2.0
// A database of its own for each test file: on the server the test run started, on DATABASE_URL's, or on one started here.
// A test run migrates one database, and those of the files are copies of it.
import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { Config } from '../src/config.ts'
import { migrationsFolder, prepareSchema } from '../src/node/database.ts'
import { migrate } from '../src/platform/db/migrate.ts'
import { schemaFiles } from '../src/platform/db/schema-files.ts'
import { Database } from '../src/platform/db.ts'
import { startPostgres } from '../src/platform/postgres.ts'

/** Settings by which databases of a server follow each other. */
const replicating = {
  ...{ wal_level: 'logical', max_replication_slots: '100', max_wal_senders: '100' },
  ...{ max_logical_replication_workers: '100', max_worker_processes: '120' },
} as const

/**
 * Settings of a server for tests alone. It does not wait for the disk: what it holds may be lost with the machine, not with a
 * process. Its databases may be cells of one installation.
 */
export const serverSettings = {
  ...{ fsync: 'off', full_page_writes: 'off', max_prepared_transactions: '50' },
  ...(process.env.PAMOJA_TEST_CELLS === undefined ? {} : replicating),
} as const

export interface TestDatabase {
  url: string
  /** Further databases of the installation. */
  cells: Config['PAMOJA_CELLS']
  /** Runs plain SQL, for setting up and looking. */
  sql<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>
  /** A pool as the program uses it; closed by `drop`. */
  connect(): Database
  /** Another database on the same server with all that this one holds, which nobody may be connected to; its pools end. */
  copy(): Promise<TestDatabase>
  drop(): Promise<void>
}

/** Makes a database with the tables and functions of some areas (none by default). */
export async function createTestDatabase(areas: readonly string[] = []): Promise<TestDatabase> {
  const database = await create(await chooseServer(), 'template1')
  const { migrations, functions } = schemaFiles(migrationsFolder)
  const own = {
    migrations: migrations.filter(({ name }) => areas.some((area) => name.endsWith(`_${area}`))),
    functions: functions.filter(({ name }) => areas.some((area) => name.startsWith(`${area}.`))),
  }
  if (areas.length > 0) await withPool(database.url, (pool) => migrate(pool, own))
  return database
}

/** Makes a database with all migrations, those of the notes too. */
export async function createMigratedDatabase(): Promise<TestDatabase> {
  const template = process.env.PAMOJA_TEST_TEMPLATE
  if (template) return create(await chooseServer(), template)
  const database = await createTestDatabase()
  await migrateAll(database.url)
  return database
}

/**
 * Makes the databases of an installation: one, or with PAMOJA_TEST_CELLS=2 two on one server, of which the second has the buckets
 * of odd numbers.
 */
export async function createInstallation(): Promise<TestDatabase> {
  return process.env.PAMOJA_TEST_CELLS === undefined ? createMigratedDatabase() : createTwoCells()
}

/** Makes two databases that are one installation, on a server of their own unless that of the test run can do it. */
export async function createTwoCells(): Promise<TestDatabase> {
  const server = process.env.PAMOJA_TEST_CELLS === undefined ? await ownServer(replicating) : await chooseServer()
  const isShared = server.url === process.env.PAMOJA_TEST_DATABASE_URL
  const template = (isShared && process.env.PAMOJA_TEST_TEMPLATE) || (await createTemplate(server.url)).name
  const stays = { url: server.url, stop: async () => undefined }
  const [home, east] = [await create(stays, template), await create(stays, template)]
  const { joinCells } = await import('./two-cells.ts')
  const leave = await joinCells(home, east)
  return {
    ...home,
    cells: [{ name: 'east', url: east.url }],
    async drop() {
      await leave()
      await east.drop()
      await home.drop()
      await server.stop()
    },
  }
}

/** Makes, once for a test run, what `createMigratedDatabase` copies. */
export async function createTemplate(serverUrl: string): Promise<{ name: string; drop(): Promise<void> }> {
  const name = `pamoja_template_${randomBytes(6).toString('hex')}`
  await run(serverUrl, `create database ${name}`)
  await migrateAll(inServer(serverUrl, name))
  return { name, drop: async () => void (await run(serverUrl, `drop database ${name}`)) }
}

async function migrateAll(url: string): Promise<void> {
  // Read here, since the small tests that need a database do not need half of the program.
  const { notesMigrations } = await import('./notes/area.ts')
  await withPool(url, (pool) => prepareSchema(pool, 'migrate', notesMigrations))
}

async function withPool(url: string, work: (pool: Database) => Promise<unknown>): Promise<void> {
  const pool = new Database({ url, poolSize: 1, statementTimeoutMs: 0, applicationName: 'test' }, () => undefined)
  await work(pool)
  await pool.close()
}

interface Server {
  url: string
  stop(): Promise<void>
}

async function create(server: Server, template: string): Promise<TestDatabase> {
  const name = `pamoja_test_${randomBytes(6).toString('hex')}`
  // Copied as files: writing everything to the log instead, as PostgreSQL does by itself, is three times the work.
  await run(server.url, `create database ${name} template ${template} strategy file_copy`)
  const url = inServer(server.url, name)
  const pools: Database[] = []
  return {
    url,
    cells: [],
    sql: (text, values) => run(url, text, values),
    connect() {
      const pool = new Database(
        { url, poolSize: 10, statementTimeoutMs: 30_000, applicationName: 'test' },
        () => undefined,
      )
      pools.push(pool)
      return pool
    },
    async copy() {
      await Promise.all(pools.splice(0).map((pool) => pool.close()))
      return create({ url: server.url, stop: async () => undefined }, name)
    },
    async drop() {
      await Promise.all(pools.map((pool) => pool.close()))
      await run(server.url, `drop database if exists ${name} with (force)`)
      await server.stop()
    },
  }
}

function inServer(serverUrl: string, name: string): string {
  return serverUrl.replace(/^([a-z]+:\/\/[^/]*\/)[^?]*/, `$1${name}`)
}

async function run<Row extends object>(url: string, text: string, values?: unknown[]): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(text, values)).rows
  } finally {
    await client.end()
  }
}

async function chooseServer(): Promise<Server> {
  const given = process.env.PAMOJA_TEST_DATABASE_URL
  return given ? { url: given, stop: async () => undefined } : ownServer()
}

async function ownServer(more: Readonly<Record<string, string>> = {}): Promise<Server> {
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-test-'))
  // The database may run as another user, who must be able to come in.
  await chmod(dir, 0o755)
  const postgres = await startPostgres({ dir, settings: { ...serverSettings, ...more, shared_buffers: '64MB' } })
  return {
    url: postgres.url,
    async stop() {
      await postgres.stop()
      await rm(dir, { recursive: true, force: true })
    },
  }
}
