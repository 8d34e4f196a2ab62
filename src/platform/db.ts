// SPDX-License-Identifier: Apache-2.0
// PostgreSQL access: named statements with named parameters, and transactions. SQL stays SQL; `statement` turns `$name`
// into `$1` once at start and ties the text to its types.
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { errorCode } from '../kernel/error-code.ts'
import { Replica } from './db/replica.ts'
import { Servers } from './db/servers.ts'

export type Value = string | number | bigint | boolean | Date | Buffer | null | readonly string[] | readonly number[]

/**
 * Where a statement runs, once an installation has several databases ("cells") and each bucket lives in one of them:
 *   tenant      where the bucket lives that its parameters name;
 *   home        where the installation keeps what belongs to no tenant: accounts, keys, prices, binds;
 *   everywhere  in every cell: what operators list, chores do, and workers claim.
 */
export type Where = 'tenant' | 'home' | 'everywhere'

/** Named, prepared statement. `P` are its parameters, `R` is a result row. */
export interface Statement<P extends object, R extends object, W extends Where = Where> {
  readonly name: string
  readonly text: string
  readonly where: W
  /** Whether it writes or locks rows. */
  readonly changes: boolean
  /** Joins tenant rows with installation rows, which is impossible between cells. */
  readonly joinsHome: boolean
  /** May be some seconds late, so that a replica answers it where there is one. Never what something is decided on. */
  readonly mayBeLate?: boolean
  /**
   * Planned for each call instead of once: a plan for any value of the parameters cannot know the order of the rows, and reads and
   * sorts all of a tenant's for one page.
   */
  readonly isPlannedEachTime?: boolean
  readonly parameters: readonly (keyof P & string)[]
  /** Types only; never set. */
  readonly row?: R
}

/** All statements, for the test that has PostgreSQL describe each of them. */
export const statements = new Map<string, Statement<never, object>>()

/** Bucket or buckets of a tenant statement; the text need not use them. */
type OfTenant = { readonly bucket: number } | { readonly buckets: readonly number[] }

interface Traits {
  readonly joinsHome?: boolean
  readonly mayBeLate?: boolean
}

/** Declares a statement. `$name` in the text is the parameter `name`, and may occur several times. */
export const statement = {
  tenant: <P extends OfTenant, R extends object>(name: string, text: string, traits?: Traits) =>
    declared<P, R, 'tenant'>('tenant', name, text, traits),
  home: <P extends object, R extends object>(name: string, text: string) => declared<P, R, 'home'>('home', name, text),
  everywhere: <P extends object, R extends object>(name: string, text: string, traits?: Traits) =>
    declared<P, R, 'everywhere'>('everywhere', name, text, traits),
}

const changing = /\b(insert into|update|delete from|merge into|lock table)\b|\bfor (no key )?(update|share)\b|^lock\b/

const orderedByParameter = /\border by case when \$/

function declared<P extends object, R extends object, W extends Where>(
  where: W,
  name: string,
  text: string,
  { joinsHome = false, mayBeLate = false }: Traits = {},
): Statement<P, R, W> {
  if (statements.has(name)) throw new Error(`two statements are named ${name}`)
  const parameters: (keyof P & string)[] = []
  const numbered = text.replace(/\$([a-z][a-zA-Z0-9_]*)/g, (_, parameter: keyof P & string) => {
    if (!parameters.includes(parameter)) parameters.push(parameter)
    return `$${parameters.indexOf(parameter) + 1}`
  })
  const written = numbered.trim()
  const made: Statement<P, R, W> = {
    name,
    text: written,
    where,
    changes: changing.test(written),
    joinsHome,
    mayBeLate,
    isPlannedEachTime: orderedByParameter.test(written),
    parameters,
  }
  if (mayBeLate && made.changes) throw new Error(`${name} writes, and so cannot be late`)
  statements.set(name, made)
  return made
}

/** Runs statements: the pool for single reads, a transaction for what belongs together. */
export interface Queryable {
  query<P extends { [K in keyof P]: Value }, R extends object>(
    statement: Statement<P, R>,
    parameters: NoInfer<P>,
  ): Promise<R[]>
}

declare const insideTransaction: unique symbol

/**
 * Transaction in progress. A function that takes one cannot be called without it, and cannot open its own. A tenant's
 * transaction runs that tenant's statements and reads home tables, of which every cell would have a copy.
 */
export interface Tx extends Queryable {
  readonly [insideTransaction]: true
  query<P extends { [K in keyof P]: Value }, R extends object>(
    statement: Statement<P, R, 'tenant' | 'home'>,
    parameters: NoInfer<P>,
  ): Promise<R[]>
  /**
   * Appends rows of a tenant with COPY, which costs half of what an insert does. Rows are lines with a tab between their fields,
   * see `copyField`.
   */
  copyIn(bucket: number, table: string, columns: readonly string[], rows: readonly string[]): Promise<void>
  /** Runs a callback after the commit; never after a rollback. */
  afterCommit(run: () => void): void
}

/** Transaction over several tenants, or over a tenant and the installation. */
export interface AcrossTx extends Tx {
  query<P extends { [K in keyof P]: Value }, R extends object>(
    statement: Statement<P, R>,
    parameters: NoInfer<P>,
  ): Promise<R[]>
}

/** Place of a transaction: a bucket's cell, home, or both. */
type Place = number | 'home' | 'across'

const defaultWaitMs = 5_000
/** Connections for cached lookups. */
const besideSize = 1
/** TCP keep-alive delay of an idle connection. */
const keepAliveMs = 10_000
/** Grace added to the statement timeout before a reply is given up: a host that vanished sends none. */
const answerGraceMs = 5_000

export interface DatabaseOptions {
  /** Address of the database, or of a pooler in front of it when `directUrl` is given. May name several hosts. */
  url: string
  /**
   * Address of the database itself, for what keeps a session: LISTEN, migrations, locks, cursors. Given when `url` leads
   * through a pooler in transaction mode, which is then sent no startup parameters.
   */
  directUrl?: string | undefined
  /** Whether the pooler keeps prepared statements. Without a pooler they are always used. */
  poolerPrepares?: boolean
  /** Standby for statements that may be late. */
  replicaUrl?: string | undefined
  poolSize: number
  /** Timeout for a free connection of the pool or for opening one. */
  waitMs?: number
  statementTimeoutMs: number
  applicationName: string
  /** Session settings, such as `pamoja.job_lease`: names and values without spaces. */
  sessionSettings?: Readonly<Record<string, string>>
}

export interface TxOptions {
  lockTimeoutMs?: number
  statementTimeoutMs?: number
}

/** Database: a pool for reads and transactions, and dedicated connections. */
export class Database implements Queryable {
  readonly #pool: pg.Pool
  /**
   * Second pool, held for one statement at a time, so that transactions that hold all other connections cannot deadlock
   * on it.
   */
  readonly #beside: pg.Pool
  readonly #options: DatabaseOptions
  readonly #servers: Servers
  readonly #directServers: Servers
  readonly #replica: Replica | null
  #lateReads = 0
  /** Whether statements are prepared under their names, or parsed each time. */
  readonly isPreparing: boolean
  /**
   * Reply timeout of a statement; 0 for none. Dedicated connections, and transactions with their own timeout, are
   * exempt.
   */
  readonly answerMs: number

  constructor(options: DatabaseOptions, onIdleError: (error: Error) => void) {
    this.#options = options
    this.answerMs = answerWithin(options.statementTimeoutMs)
    this.#servers = new Servers(options.url, options.applicationName)
    this.#directServers =
      options.directUrl === undefined ? this.#servers : new Servers(options.directUrl, options.applicationName)
    this.isPreparing = options.directUrl === undefined || options.poolerPrepares === true
    const connection = (): pg.ClientConfig => this.#connection()
    // The address is chosen for each new connection: it may have moved.
    const Client = class extends pg.Client {
      constructor() {
        super(connection())
      }
    }
    const pool = (max: number): pg.Pool =>
      new pg.Pool({ Client, connectionTimeoutMillis: this.#waitMs, max, idleTimeoutMillis: 30_000 }).on(
        'error',
        onIdleError,
      )
    this.#pool = pool(options.poolSize)
    this.#beside = pool(besideSize)
    const { replicaUrl, poolSize: max, statementTimeoutMs: statement_timeout } = options
    this.#replica =
      replicaUrl === undefined
        ? null
        : new Replica({ ...this.#anyConnection(), connectionString: replicaUrl, statement_timeout, max }, onIdleError)
  }

  async query<P extends { [K in keyof P]: Value }, R extends object>(
    statement: Statement<P, R>,
    parameters: P,
  ): Promise<R[]> {
    const late = statement.mayBeLate ? await this.#late(statement, parameters) : null
    return late ?? this.#noticing(run(this.#pool, this, statement, parameters))
  }

  /** Rows as the replica has them; null when the database has to be asked. */
  async #late<P extends { [K in keyof P]: Value }, R extends object>(
    statement: Statement<P, R>,
    parameters: P,
  ): Promise<R[] | null> {
    if (!(await this.#replica?.follows()) || !this.#replica) return null
    try {
      const rows = await run(this.#replica.pool, { answerMs: this.answerMs, isPreparing: true }, statement, parameters)
      this.#lateReads++
      return rows
    } catch {
      // Gone, behind a migration, or in conflict with what it replays: whatever it is, the database knows.
      this.#replica.avoid()
      return null
    }
  }

  /** Reads that a replica answered. */
  get lateReads(): number {
    return this.#lateReads
  }

  /**
   * Runs a statement on the second pool, for callers with an open transaction, such as loading a key. With `query` all
   * of them might wait for a connection.
   */
  async queryBeside<P extends { [K in keyof P]: Value }, R extends object>(
    statement: Statement<P, R>,
    parameters: P,
  ): Promise<R[]> {
    return this.#noticing(run(this.#beside, this, statement, parameters))
  }

  /**
   * Runs `work` in a transaction of a tenant: committed when it returns, rolled back when it throws. Options set a lock
   * timeout and a statement timeout.
   */
  tx<T>({ bucket }: { readonly bucket: number }, work: (tx: Tx) => Promise<T>, options?: TxOptions): Promise<T> {
    return this.#tx(bucket, work, options)
  }

  /** Transaction over installation rows. */
  homeTx<T>(work: (tx: Tx) => Promise<T>, options?: TxOptions): Promise<T> {
    return this.#tx('home', work, options)
  }

  /**
   * Transaction over rows of several tenants, or of a tenant and the installation. Only a single database can do that:
   * cells would need another way for each caller.
   */
  acrossTx<T>(work: (tx: AcrossTx) => Promise<T>, options?: TxOptions): Promise<T> {
    return this.#tx('across', work, options)
  }

  async #tx<T>(
    place: Place,
    work: (tx: AcrossTx) => Promise<T>,
    { lockTimeoutMs, statementTimeoutMs }: TxOptions = {},
  ): Promise<T> {
    const answerMs = statementTimeoutMs === undefined ? this.answerMs : answerWithin(statementTimeoutMs)
    const begin = [
      'begin',
      ...(lockTimeoutMs === undefined ? [] : [`set local lock_timeout = ${lockTimeoutMs}`]),
      ...(statementTimeoutMs === undefined ? [] : [`set local statement_timeout = ${statementTimeoutMs}`]),
    ].join('; ')
    const client = await this.#noticing(this.#pool.connect())
    // A lost connection fails its statements; without a listener Node would exit.
    client.on('error', ignore)
    let broken: Error | undefined
    const afterwards: (() => void)[] = []
    try {
      await client.query(within(answerMs, { text: begin }))
      const result = await work(transaction(client, { answerMs, isPreparing: this.isPreparing }, afterwards, place))
      await client.query(within(answerMs, { text: 'commit' }))
      for (const run of afterwards) run()
      return result
    } catch (error) {
      this.#notice(error)
      // A connection that cannot roll back is discarded, and one to a server that takes no writes any more.
      if (isUnanswered(error) || isReadOnly(error)) broken = error
      else
        await client.query(within(answerMs, { text: 'rollback' })).catch((failure: Error) => {
          broken = failure
        })
      throw error
    } finally {
      client.off('error', ignore)
      client.release(broken)
    }
  }

  /** Appends rows with COPY. They are written asynchronously: a crash may lose them. */
  async copyIn(table: string, columns: readonly string[], rows: readonly string[]): Promise<void> {
    const client = await this.#noticing(this.#pool.connect())
    client.on('error', ignore)
    let broken: Error | undefined
    try {
      await client.query(within(this.answerMs, { text: 'begin; set local synchronous_commit = off' }))
      await copied(client, this.answerMs, table, columns, rows)
      await client.query(within(this.answerMs, { text: 'commit' }))
    } catch (error) {
      broken = error instanceof Error ? error : new Error(String(error))
      throw error
    } finally {
      client.off('error', ignore)
      client.release(broken)
    }
  }

  /** Finds the server that takes writes, where the address names several. */
  async find(): Promise<void> {
    await Promise.all([this.#servers.find(), this.#directServers.find()])
  }

  /** Connection to the database itself, with a session of its own, for a listener, migrations or a bulk copy. The caller ends it. */
  async connect(): Promise<pg.Client> {
    return this.#opened(new pg.Client(this.#directConnection()))
  }

  /** Connection outside the pool for a commit lane, whose statements keep nothing in the session. The caller ends it. */
  async connectLane(): Promise<pg.Client> {
    return this.#opened(new pg.Client(this.#connection()))
  }

  stats(): { total: number; idle: number; waiting: number } {
    return { total: this.#pool.totalCount, idle: this.#pool.idleCount, waiting: this.#pool.waitingCount }
  }

  async close(): Promise<void> {
    await Promise.all([this.#pool.end(), this.#beside.end(), this.#replica?.pool.end()])
  }

  async #opened(client: pg.Client): Promise<pg.Client> {
    client.on('error', () => client.end().catch(() => undefined))
    await this.#noticing(client.connect())
    return client
  }

  /** Passes a result on; a failure that tells of a lost server starts the search for another. */
  async #noticing<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      this.#notice(error)
      throw error
    }
  }

  #notice(error: unknown): void {
    if (!isUnavailable(error) && !isReadOnly(error)) return
    this.#servers.lost()
    this.#directServers.lost()
  }

  get #waitMs(): number {
    return this.#options.waitMs ?? defaultWaitMs
  }

  /** Connection as the pool uses it: through the pooler, if there is one. */
  #connection(): pg.ClientConfig {
    if (this.#options.directUrl === undefined) return this.#directConnection()
    return { ...this.#anyConnection(), connectionString: this.#servers.url }
  }

  #directConnection(): pg.ClientConfig {
    const { statementTimeoutMs, sessionSettings, directUrl } = this.#options
    // Said even when it is none: behind a pooler the role has a timeout of its own.
    const none = directUrl !== undefined && statementTimeoutMs === 0 ? { statement_timeout: '0' } : {}
    const settings = Object.entries({ ...none, ...sessionSettings })
    return {
      ...this.#anyConnection(),
      connectionString: this.#directServers.url,
      statement_timeout: statementTimeoutMs,
      ...(settings.length > 0 ? { options: settings.map(([name, value]) => `-c ${name}=${value}`).join(' ') } : {}),
    }
  }

  #anyConnection(): pg.ClientConfig {
    return {
      application_name: this.#options.applicationName,
      connectionTimeoutMillis: this.#waitMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveMs,
      types: { getTypeParser },
    }
  }
}

const ignore = (): void => undefined

function answerWithin(statementTimeoutMs: number): number {
  return statementTimeoutMs === 0 ? 0 : statementTimeoutMs + answerGraceMs
}

/** Query with a reply timeout, which the types of pg lack. */
export function within(answerMs: number, query: pg.QueryConfig): pg.QueryConfig {
  const limited: pg.QueryConfig & { query_timeout: number } = { ...query, query_timeout: answerMs }
  return limited
}

/** Whether the connection timed out and must be discarded. */
function isUnanswered(error: unknown): error is Error {
  return error instanceof Error && error.message === 'Query read timeout'
}

/** Whether the server refused a write because it is a standby now. */
function isReadOnly(error: unknown): error is Error {
  return sqlState(error) === '25006'
}

/** The single row of a statement. */
export async function one<R>(rows: Promise<R[]>): Promise<R> {
  const [row] = await rows
  if (row === undefined) throw new Error('a statement that always gives a row gave none')
  return row
}

export async function maybe<R>(rows: Promise<R[]>): Promise<R | null> {
  return (await rows)[0] ?? null
}

/** Whether the database is unreachable, restarting or full, as opposed to an error in the statement. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = errorCode(error)
  if (/^(08|53|57P0|58)/.test(code)) return true
  if (unreachable.has(code)) return true
  return unreachableMessages.test(error.message) || (error.cause !== undefined && isUnavailable(error.cause))
}

/** Whether the database is up but refuses writes: disk full or read-only. */
export function refusesWrites(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ['53100', '58030', '25006'].includes(sqlState(error)) || refusesWrites(error.cause)
}

/** Reason of a temporary failure that a retry may solve; null otherwise. */
export function temporaryFailure(error: unknown): string | null {
  return passing.get(sqlState(error)) ?? null
}

const passing = new Map([
  ['40001', 'another request changed the same at the same time'],
  ['40P01', 'it and another request waited for each other'],
  ['55P03', 'another request held what it needs'],
  ['57014', 'the database took too long over it'],
])

const unreachable = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
])
const unreachableMessages =
  /Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed|server closed the connection|Connection ended|Query read timeout/i

/** SQLSTATE of a database error, or an empty string. */
export function sqlState(error: unknown): string {
  return error instanceof pg.DatabaseError ? (error.code ?? '') : ''
}

/** How statements are asked: reply timeout, and whether they are prepared. */
interface Asking {
  readonly answerMs: number
  readonly isPreparing: boolean
}

async function run<P extends { [K in keyof P]: Value }, R extends object>(
  client: pg.Pool | pg.ClientBase,
  { answerMs, isPreparing }: Asking,
  { name, text, isPlannedEachTime, parameters: order }: Statement<P, R>,
  parameters: P,
): Promise<R[]> {
  const values = order.map((parameter) => parameters[parameter])
  const result = await client.query<R>(
    within(answerMs, { ...(isPreparing && !isPlannedEachTime ? { name } : {}), text, values }),
  )
  return result.rows
}

async function copied(
  client: pg.ClientBase,
  answerMs: number,
  table: string,
  columns: readonly string[],
  rows: readonly string[],
): Promise<void> {
  const copy = copyFrom(`copy ${table} (${columns.join()}) from stdin`)
  // pg reads the query timeout from the stream.
  await pipeline([rows.join('')], client.query(Object.assign(copy, { query_timeout: answerMs })))
}

function transaction(client: pg.ClientBase, asking: Asking, afterwards: (() => void)[], place: Place): AcrossTx {
  const own: Omit<AcrossTx, typeof insideTransaction> = {
    query: async (statement, parameters) => {
      requirePlace(place, statement, parameters)
      return run(client, asking, statement, parameters)
    },
    copyIn: async (bucket, table, columns, rows) => {
      requireBuckets(place, `a copy into ${table}`, [bucket])
      await copied(client, asking.answerMs, table, columns, rows)
    },
    afterCommit: (later) => void afterwards.push(later),
  }
  return Object.assign(own, mark)
}

/** Check that a statement runs at its place: between cells, a row written elsewhere would be lost silently. */
function requirePlace(place: Place, { name, where, changes }: Statement<never, object>, parameters: object): void {
  if (place === 'across') return
  if (where === 'tenant') return requireBuckets(place, name, bucketsIn(parameters))
  const isHere = where === 'home' && (place === 'home' || !changes)
  if (!isHere) throw new Error(`${name} runs ${where}, and not in this transaction: see acrossTx in db.ts`)
}

function requireBuckets(place: Place, what: string, buckets: readonly number[]): void {
  if (place === 'across' || buckets.every((bucket) => bucket === place)) return
  throw new Error(`${what} is about buckets ${buckets.join()}, and this is a transaction of ${place}`)
}

function bucketsIn(parameters: { readonly bucket?: number; readonly buckets?: readonly number[] }): readonly number[] {
  return parameters.buckets ?? [parameters.bucket ?? -1]
}

/** The mark exists for the compiler only. */
const mark: Pick<Tx, typeof insideTransaction> = Object.create(null)

/**
 * Type parsers: bigint is money and becomes a BigInt; counters are cast to int in SQL. Dates stay text: a day has no
 * time zone.
 */
function getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (oid === pg.types.builtins.INT8) return BigInt
  if (oid === pg.types.builtins.DATE) return String
  return pg.types.getTypeParser(oid, format ?? 'text')
}
