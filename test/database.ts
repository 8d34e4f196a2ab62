// SPDX-License-Identifier: Apache-2.0
// A database of its own for each test file: on the server the test run started, on DATABASE_URL's, or on one started here.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { Database } from '../src/platform/db.ts'
import { startPostgres } from '../src/platform/postgres.ts'

const migrations = new URL('../../src/migrations/', import.meta.url)

export interface TestDatabase {
  url: string
  /** Runs plain SQL, for setting up and looking. */
  sql<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>
  /** A pool as the program uses it; closed by `drop`. */
  connect(): Database
  drop(): Promise<void>
}

/** Makes a database and runs the named migrations in it (none by default). */
export async function createTestDatabase(files: readonly string[] = []): Promise<TestDatabase> {
  const given = process.env.PAMOJA_TEST_DATABASE_URL
  const server = given ? { url: given, stop: async () => undefined } : await ownServer()
  const name = `pamoja_test_${randomBytes(6).toString('hex')}`
  await run(server.url, `create database ${name}`)
  const url = server.url.replace(/^([a-z]+:\/\/[^/]*\/)[^?]*/, `$1${name}`)
  const pools: Database[] = []
  for (const file of files) await run(url, readFileSync(new URL(file, migrations), 'utf8'))
  return {
    url,
    sql: (text, values) => run(url, text, values),
    connect() {
      const pool = new Database(
        { url, poolSize: 10, statementTimeoutMs: 30_000, applicationName: 'test' },
        () => undefined,
      )
      pools.push(pool)
      return pool
    },
    async drop() {
      await Promise.all(pools.map((pool) => pool.close()))
      await run(server.url, `drop database if exists ${name} with (force)`)
      await server.stop()
    },
  }
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

async function ownServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-test-'))
  // The database may run as another user, who must be able to come in.
  await chmod(dir, 0o755)
  const postgres = await startPostgres({ dir, settings: { shared_buffers: '64MB' } })
  return {
    url: postgres.url,
    async stop() {
      await postgres.stop()
      await rm(dir, { recursive: true, force: true })
    },
  }
}
