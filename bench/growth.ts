// SPDX-License-Identifier: Apache-2.0
// Growth: CPU of an accepted text, of a list and of a start, and memory of a node, beside a database that is empty and beside
// one that is full, in turns: 5,000,000 texts with their transfers, 10,000 accounts with an endpoint each, 100,000 prices,
// 1,000,000 customers and as many numbers. `--scale=0.1` makes it a tenth of the texts, customers and numbers; accounts, endpoints
// and prices, all of which a start could read, are never fewer. Rows are copies of one, under ids of their own. The full one is
// measured with autovacuum at work besides. With `--kept=<folder>` the databases stay in that folder: the first run fills them,
// which takes long, and those after it only measure.
import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { type EmbeddedPostgres, startPostgres } from '../src/platform/postgres.ts'
import { Client } from '../test/client.ts'
import { eventually } from '../test/eventually.ts'
import { end, type NodeProcess, residentMb, startNodeProcess } from './children.ts'
import { type Cpu, cpuMeter } from './cpu.ts'
import { openAccounts } from './durable-write.ts'
import { newHome } from './home.ts'
import { load, post } from './load.ts'
import type { Figure } from './report.ts'

const full = { texts: 5_000_000, accounts: 10_000, prices: 100_000, customers: 1_000_000, numbers: 1_000_000 }
const connections = 32
const perStatement = 50_000
/** The moment by which ids are made. */
const atMs = Date.now()
const lists = 100
/** Turns of each database. A start is short, and one differs from the next by more than what grows. */
const turns = 4
const startTurns = 12

/** One database with its node. */
interface Side {
  readonly name: string
  readonly home: string
  readonly postgres: EmbeddedPostgres
  readonly database: pg.Client
  node: NodeProcess
  keys: readonly string[]
}

interface Options {
  readonly short: boolean
  readonly scale: number
  /** Folder in which the databases stay; null for none. */
  readonly kept: string | null
}

export async function growth({ short, scale, kept }: Options): Promise<Figure[]> {
  const durationMs = short ? 1_000 : 4_000
  const isFilled = kept !== null && existsSync(kept)
  let stays = isFilled ? kept : null
  const [empty, full] = [await opened('empty', kept), await opened('full', kept)]
  try {
    for (const side of [empty, full]) await accepting(side, durationMs)
    if (!isFilled) await (short ? fill(full.database, 0.001, 0.001) : fill(full.database, scale))
    const busy = isFilled ? [] : await costs(full, durationMs)
    if (!isFilled) for (const { database } of [full, empty]) await quiet(database)
    stays = kept
    if (kept !== null && !isFilled) return []
    const least = new Map<string, Cost>()
    const inTurns = async (many: number, measured: (side: Side) => Promise<Cost[]>): Promise<void> => {
      for (let turn = 0; turn < (short ? 1 : many); turn++)
        for (const side of [empty, full])
          for (const cost of await measured(side)) {
            const of = `${side.name}: ${cost.what}`
            least.set(of, lesserCost(least.get(of) ?? cost, cost))
          }
    }
    await inTurns(startTurns, starting)
    await inTurns(turns, (side) => costs(side, durationMs))
    const ratio = ({ what, figure }: Cost): Figure => ({
      name: `full / empty, ${what}`,
      value: (least.get(`full: ${what}`)?.figure.value ?? 0) / figure.value,
      unit: '',
    })
    return [
      ...busy.map(({ what, figure }) => ({ ...figure, name: `full, autovacuum at work: ${what}` })),
      ...[...least].map(([name, { figure }]) => ({ ...figure, name })),
      ...[...least].filter(([name]) => name.startsWith('empty')).map(([, cost]) => ratio(cost)),
    ]
  } finally {
    for (const side of [empty, full]) await closed(side, stays)
  }
}

async function opened(name: string, kept: string | null): Promise<Side> {
  const home = kept !== null && existsSync(kept) ? join(kept, name) : await newHome()
  const postgres = await startPostgres({ dir: join(home, 'postgres') })
  const database = new pg.Client({ connectionString: postgres.url })
  await database.connect()
  const node = await startNodeProcess(settingsOf(home, postgres))
  const operator = new Client(node.url, readFileSync(node.caFile, 'utf8'), node.credentials.operator_key)
  const keys = await openAccounts(operator)
  await makeOneOfEach(node, keys[0] ?? '')
  return { name, home, postgres, database, node, keys }
}

async function closed({ name, database, node, postgres, home }: Side, kept: string | null): Promise<void> {
  await database.end()
  await end(node.child)
  await postgres.stop()
  if (kept === null) return rm(home, { recursive: true, force: true })
  if (home === join(kept, name)) return
  await mkdir(kept, { recursive: true, mode: 0o755 })
  await chmod(kept, 0o755)
  await rename(home, join(kept, name))
}

function settingsOf(home: string, postgres: EmbeddedPostgres): Readonly<Record<string, string>> {
  return { PAMOJA_HOME: home, PAMOJA_RATE_LIMITS: 'off', PAMOJA_ROLES: 'api', DATABASE_URL: postgres.url }
}

interface Cost {
  readonly what: string
  readonly figure: Omit<Figure, 'name'>
}

function lesserCost(a: Cost, b: Cost): Cost {
  return a.figure.value <= b.figure.value ? a : b
}

/** CPU of a start, and memory after it. */
async function starting(side: Side): Promise<Cost[]> {
  await end(side.node.child)
  const meter = cpuMeter()
  side.node = await startNodeProcess(settingsOf(side.home, side.postgres))
  const cpu = meter.per(1)
  const memory = { value: residentMb(side.node.child.pid), unit: 'MB' }
  return [
    { what: 'CPU of a start', figure: { value: served(cpu) / 1e6, unit: 's', cpu } },
    { what: 'memory after a start', figure: memory },
  ]
}

/** CPU and log of an accepted text, and CPU of a list, of all processes but the load. */
async function costs(side: Side, durationMs: number): Promise<Cost[]> {
  const { database, node, keys } = side
  await accepting(side, durationMs / 4)
  const before = await walBytes(database)
  const { cpu, requests } = await accepting(side, durationMs)
  const bytes = ((await walBytes(database)) - before) / requests
  const client = new Client(node.url, readFileSync(node.caFile, 'utf8'), keys[0] ?? '')
  for (let i = 0; i < lists / 2; i++) await client.get('/v1/sms?limit=50')
  const meter = cpuMeter()
  for (let i = 0; i < lists; i++) await client.get('/v1/sms?limit=50')
  const listed = meter.per(lists)
  client.close()
  return [
    { what: 'CPU of an accepted text', figure: { value: served(cpu), unit: 'µs', cpu } },
    { what: 'log of an accepted text', figure: { value: bytes, unit: 'bytes' } },
    { what: 'CPU of a list of 50 texts', figure: { value: served(listed), unit: 'µs', cpu: listed } },
  ]
}

/** CPU of the node and PostgreSQL, without the load. */
function served({ node = 0, PostgreSQL = 0 }: Cpu): number {
  return node + PostgreSQL
}

async function accepting({ node, keys }: Side, durationMs: number) {
  let n = 0
  const next = (): Buffer => {
    const body = JSON.stringify({ to: `+2547${20_111_111 + (n % 100_000)}`, from: 'PAMOJA', message: 'Karibu' })
    return post('/v1/sms/send', keys[n++ % keys.length] ?? '', body)
  }
  const result = await load({ port: node.port, ca: readFileSync(node.caFile, 'utf8'), connections, durationMs, next })
  if (result.statuses['200'] !== result.requests)
    throw new Error(`texts were answered ${JSON.stringify(result.statuses)}`)
  return result
}

async function walBytes(database: pg.Client): Promise<number> {
  const { rows } = await database.query<{ bytes: string }>("select pg_current_wal_insert_lsn() - '0/0' as bytes")
  return Number(rows[0]?.bytes ?? 0)
}

/** The rows that the others are copies of. */
async function makeOneOfEach({ url, caFile, credentials }: NodeProcess, key: string): Promise<void> {
  const client = new Client(url, readFileSync(caFile, 'utf8'), key)
  const price = { area: 'sms', unit: 'segment', country: 'LS', amount: 0.8, currency: 'KES' }
  await client.as(credentials.operator_key).post('/v1/operator/prices', price)
  for (const [path, body] of [
    ['/v1/customers', { name: 'Amina' }],
    ['/v1/webhooks', { url: 'https://example.com/hook', events: ['email.opened'] }],
  ] as const) {
    const { status, text } = await client.post(path, body)
    if (status !== 201) throw new Error(`${path} was answered ${status} ${text}`)
  }
  client.close()
}

/** An id of the hour before `$4`, in the order of a number. */
export const idOf = (n: string): string =>
  `(lpad(to_hex($4::bigint - 3600000 + ${n} % 3600000), 12, '0')
     || '7' || lpad(to_hex(${n} % 4096), 3, '0') || '8' || left(md5((${n})::text), 15))::uuid`

async function fill(database: pg.Client, scale: number, settled = 1): Promise<void> {
  const many = (all: number): number => Math.ceil(all * scale)
  const id = idOf('n')
  const [accounts, prices] = [Math.ceil(full.accounts * settled), Math.ceil(full.prices * settled)]
  await copies(database, 'accounts.accounts', accounts, `jsonb_build_object('id', ${id}, 'bucket', n % 256)`)
  const own = `jsonb_build_object('id', ${id}, 'account_id', ${idOf(`(1 + n % ${accounts})`)}, 'bucket', (1 + n % ${accounts}) % 256)`
  await copies(database, 'webhooks.endpoints', accounts, own)
  await copies(database, 'customers.customers', many(full.customers), own)
  await database.query(
    `insert into numbers.owned (environment, number, capability, account_id, bucket, id, shared, created_at, updated_at)
     select 'live', '+254700000000', 'sms', id, bucket, id, false, now(), now() from accounts.accounts limit 1`,
  )
  await copies(
    database,
    'numbers.owned',
    many(full.numbers),
    `${own} || jsonb_build_object('number', '+2557' || 10000000 + n)`,
  )
  const price = `jsonb_build_object('id', ${id}, 'network', 'n' || n, 'revision', 1000000 + n)`
  await copies(database, 'ledger.prices', prices, price)
  // As a chore does within the hour.
  await database.query('select ledger.pack_prices(500, 1000, 7)')
  await copies(database, 'ledger.transfers', many(full.texts), `${own} || jsonb_build_object('source_id', ${id})`)
  const text = `${own} || jsonb_build_object('status', 'delivered', 'recipient', '+2547' || 10000000 + n)`
  await copies(database, 'sms.messages', many(full.texts), text)
}

export async function copies(database: pg.Client, table: string, many: number, changes: string): Promise<void> {
  const { rows } = await database.query<{ row: string; own: string }>(
    `select to_jsonb(t)::text as row, (select string_agg(quote_ident(a.attname), ', ') from pg_attribute a
              where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as own
       from ${table} t limit 1`,
    [table],
  )
  const { row: sample, own } = rows[0] ?? {}
  if (sample === undefined) throw new Error(`${table} has no row to copy`)
  for (let from = 1; from <= many; from += perStatement)
    await database.query(
      `insert into ${table} (${own}) select ${own} from generate_series($1::int, $2::int) n
        cross join lateral jsonb_populate_record(null::${table}, $3::jsonb || ${changes}) r`,
      [from, Math.min(many, from + perStatement - 1), sample, atMs],
    )
}

/** Waits until autovacuum has nothing to do any more. */
export async function quiet(database: pg.Client): Promise<void> {
  const { rows } = await database.query<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c join pg_namespace s on s.oid = c.relnamespace
      where c.relkind = 'r' and s.nspname in ('accounts', 'webhooks', 'customers', 'ledger', 'sms', 'numbers')`,
  )
  for (const { name } of rows) await database.query(`vacuum (analyze) ${name}`)
  await eventually(
    async () => (await database.query('select from pg_stat_progress_vacuum')).rowCount === 0,
    'autovacuum to be done',
    600_000,
  )
}
