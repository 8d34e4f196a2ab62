// SPDX-License-Identifier: Apache-2.0
// Cells for tests: databases of one server that can replicate, the commands of an operator on them, and writers that follow the
// map as nodes do: from a copy of it that they read again when a cell refuses a bucket.
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { newUuid } from '../src/kernel/ids.ts'
import { prepareSchema } from '../src/node/database.ts'
import { Database } from '../src/platform/db.ts'
import { startPostgres } from '../src/platform/postgres.ts'
import { serverSettings } from './database.ts'
import { type Ended, Program } from './program.ts'

/** What a server of cells needs beside PostgreSQL's own settings. */
export const replicating = {
  wal_level: 'logical',
  max_prepared_transactions: '50',
  max_replication_slots: '20',
  max_wal_senders: '20',
  max_worker_processes: '32',
  max_logical_replication_workers: '16',
}

export interface CellServer {
  /** Address of a migrated database of its own; those of one name are one database. */
  url(name: string): string
  sql<Row extends object>(name: string, text: string, values?: unknown[]): Promise<Row[]>
  /** Begins a command; home is the database `home`, the cells are all others. */
  command(...args: string[]): Program
  /** Runs a command that has to do what it is asked. */
  run(...args: string[]): Promise<Ended>
  /** The server's log. */
  log(): Promise<string>
  stop(): Promise<void>
}

export async function startCells(
  names: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<CellServer> {
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-cells-'))
  await chmod(dir, 0o755)
  const postgres = await startPostgres({
    dir,
    settings: { ...serverSettings, ...replicating, shared_buffers: '64MB', ...settings },
  })
  const url = (name: string): string => postgres.url.replace(/^([a-z]+:\/\/[^/]*\/)[^?]*/, `$1${name}`)
  const sql = async <Row extends object>(name: string, text: string, values: unknown[] = []): Promise<Row[]> => {
    const client = new pg.Client({ connectionString: url(name) })
    await client.connect()
    try {
      return (await client.query<Row>(text, values)).rows
    } finally {
      await client.end()
    }
  }
  await sql('pamoja', 'create database home')
  const pool = new Database(
    { url: url('home'), poolSize: 1, statementTimeoutMs: 0, applicationName: 'test' },
    () => undefined,
  )
  await prepareSchema(pool, 'migrate')
  await pool.close()
  for (const name of names) await sql('pamoja', `create database ${name} template home strategy file_copy`)
  const environment = {
    PAMOJA_HOME: join(dir, 'home'),
    DATABASE_URL: url('home'),
    PAMOJA_CELLS: names.map((name) => `${name}=${url(name)}`).join(' '),
  }
  const command = (...args: string[]): Program => new Program({ args: ['cells', ...args], environment })
  return {
    url,
    sql,
    command,
    async run(...args) {
      const ended = await command(...args).ended
      if (ended.code !== 0) throw new Error(`cells ${args.join(' ')}: ${ended.code} ${ended.sentence}`)
      return ended
    },
    async log() {
      const [version = ''] = (await readdir(dir)).filter((name) => /^\d+$/.test(name))
      return readFile(join(dir, version, 'postgres.log'), 'utf8')
    },
    async stop() {
      await postgres.stop()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

const account = '00000000-0000-7000-8000-000000000001'

/** Rows of a bucket to begin with. */
export async function fill(server: CellServer, cell: string, bucket: number, rows: number, bytes = 300): Promise<void> {
  await server.sql(
    cell,
    `insert into events.events (bucket, account_id, environment, id, type, resource_id, body)
     select $1, $2, 'live', platform.uuid_at(now() - n * interval '1 second'), 'trial', 'old', repeat('b', $4)
       from generate_series(1, $3) n`,
    [bucket, account, rows, bytes],
  )
}

/** A client that writes into one bucket, one transaction after the other, and remembers which were acknowledged. */
export class Writer {
  readonly acknowledged: string[] = []
  /** Longest time between two acknowledged transactions, in milliseconds. */
  longestGapMs = 0
  refusals = 0
  readonly #server: CellServer
  readonly #bucket: number
  readonly #clients = new Map<string, pg.Client>()
  #cell = 'home'
  #stopped = false
  readonly #running: Promise<void>

  constructor(server: CellServer, bucket: number) {
    this.#server = server
    this.#bucket = bucket
    this.#running = this.#run()
    // Told by stop(), which everybody calls.
    this.#running.catch(() => undefined)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running
    for (const client of this.#clients.values()) await client.end()
  }

  async #run(): Promise<void> {
    await this.#readMap()
    let last = performance.now()
    while (!this.#stopped) {
      const id = await this.#write()
      if (id === null) continue
      const now = performance.now()
      if (this.acknowledged.length > 0) this.longestGapMs = Math.max(this.longestGapMs, now - last)
      last = now
      this.acknowledged.push(id)
    }
  }

  /** One transaction: an event, a job that takes the place of the one before, and one more on the balance. */
  async #write(): Promise<string | null> {
    const client = await this.#client(this.#cell)
    const id = newUuid(Date.now())
    try {
      await client.query('begin')
      const owner = [this.#bucket, account]
      // The deletion comes first every other time: it has to be refused by itself.
      const before = this.acknowledged.at(-1)
      if (before !== undefined)
        await client.query('delete from work.jobs where bucket = $1 and id = $2', [this.#bucket, before])
      await client.query(
        `insert into ledger.wallets (bucket, account_id, environment, currency, balance) values ($1, $2, 'live', 'KES', 1)
           on conflict (bucket, account_id, environment, currency) do update set balance = wallets.balance + 1`,
        owner,
      )
      await client.query(
        `insert into events.events (bucket, account_id, environment, id, type, resource_id, body)
         values ($1, $2, 'live', $3, 'trial', 'new', '{}')`,
        [...owner, id],
      )
      await client.query(
        `insert into work.jobs (bucket, id, lane, run_at, attempt, payload) values ($1, $2, 'trial', now(), 0, '{}')`,
        [this.#bucket, id],
      )
      await client.query('commit')
      return id
    } catch (error) {
      await client.query('rollback')
      if (!(error instanceof pg.DatabaseError) || error.code !== '23514' || error.constraint !== 'own_bucket')
        throw error
      this.refusals++
      await this.#readMap()
      return null
    }
  }

  async #readMap(): Promise<void> {
    const { rows } = await (await this.#client('home')).query<{ cell: string }>(
      'select cell from platform.buckets where bucket = $1',
      [this.#bucket],
    )
    this.#cell = rows[0]?.cell ?? 'home'
  }

  async #client(cell: string): Promise<pg.Client> {
    const there = this.#clients.get(cell)
    if (there) return there
    const client = new pg.Client({ connectionString: this.#server.url(cell) })
    // A lost connection fails its statements; without a listener Node would exit.
    client.on('error', () => undefined)
    await client.connect()
    this.#clients.set(cell, client)
    return client
  }
}

/** What the database of a cell holds of a bucket. */
export interface Held {
  events: string[]
  balance: number
  jobs: string[]
}

export async function heldIn(server: CellServer, cell: string, bucket: number): Promise<Held> {
  const [held] = await server.sql<Held>(
    cell,
    `select array(select id::text from events.events where bucket = $1 and resource_id = 'new' order by 1) as events,
            coalesce((select sum(balance) from ledger.wallets where bucket = $1), 0)::int as balance,
            array(select id::text from work.jobs where bucket = $1 order by 1) as jobs`,
    [bucket],
  )
  return held ?? { events: [], balance: 0, jobs: [] }
}

/** Tables of a cell that have rows of a bucket. */
export async function tablesWith(server: CellServer, cell: string, bucket: number): Promise<string[]> {
  const tables = await server.sql<{ name: string }>(cell, 'select name::text from platform.tenant_tables() t(name)')
  const found: string[] = []
  for (const { name } of tables)
    if ((await server.sql(cell, `select from ${name} where bucket = $1 limit 1`, [bucket])).length > 0) found.push(name)
  return found
}
