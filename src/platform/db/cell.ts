// SPDX-License-Identifier: Apache-2.0
// Cell: one database with its pools and dedicated connections. An installation has one, or several that share its tenants.
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { isLost, isReadOnly } from './failures.ts'
import { Servers } from './servers.ts'
import type { Statement, Value } from './statement.ts'

const defaultWaitMs = 5_000
/** TCP keep-alive delay of an idle connection. */
const keepAliveMs = 10_000
/** Grace added to the statement timeout before a reply is given up: a host that vanished sends none. */
const answerGraceMs = 5_000

export interface CellOptions {
  /** Address of the database, or of a pooler in front of it when `directUrl` is given. May name several hosts. */
  url: string
  /**
   * Address of the database itself, for what keeps a session: LISTEN, migrations, locks, cursors. Given when `url` leads
   * through a pooler in transaction mode, which is then sent no startup parameters.
   */
  directUrl?: string | undefined
  /** Whether the pooler keeps prepared statements. Without a pooler they are always used. */
  poolerPrepares?: boolean
  poolSize: number
  /** Connections of the second pool. */
  besideSize: number
  /** Timeout for a free connection of the pool or for opening one. */
  waitMs?: number
  statementTimeoutMs: number
  applicationName: string
  /** Session settings, such as `pamoja.job_lease`: names and values without spaces. */
  sessionSettings?: Readonly<Record<string, string>>
}

export class Cell {
  readonly name: string
  readonly pool: pg.Pool
  /**
   * Second pool, held for one statement at a time, so that transactions that hold all other connections cannot deadlock
   * on it.
   */
  readonly beside: pg.Pool
  /** Third pool, for transactions over several cells, so that those of one cell never wait for them. */
  readonly across: pg.Pool
  readonly #options: CellOptions
  readonly #servers: Servers
  readonly #directServers: Servers
  /** Whether statements are prepared under their names, or parsed each time. */
  readonly isPreparing: boolean
  /**
   * Reply timeout of a statement; 0 for none. Dedicated connections, and transactions with their own timeout, are
   * exempt.
   */
  readonly answerMs: number

  constructor(name: string, options: CellOptions, onIdleError: (error: Error) => void) {
    this.name = name
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
    this.pool = pool(options.poolSize)
    this.beside = pool(options.besideSize)
    this.across = pool(options.poolSize)
  }

  query<P extends { [K in keyof P]: Value }, R extends object>(
    statement: Statement<P, R>,
    parameters: P,
  ): Promise<R[]> {
    return this.noticing(run(this.pool, this, statement, parameters))
  }

  queryBeside<P extends { [K in keyof P]: Value }, R extends object>(
    statement: Statement<P, R>,
    parameters: P,
  ): Promise<R[]> {
    return this.noticing(run(this.beside, this, statement, parameters))
  }

  /** Buckets that the database admits at this moment; null: all. */
  async admitted(): Promise<readonly number[] | null> {
    const { rows } = await this.noticing(
      this.beside.query<{ buckets: number[] | null }>('select buckets from platform.this_cell'),
    )
    return rows[0]?.buckets ?? null
  }

  /** Finds the server that takes writes, where the address names several. */
  async find(): Promise<void> {
    await Promise.all([this.#servers.find(), this.#directServers.find()])
  }

  /** Connection to the database itself, with a session of its own. The caller ends it. */
  async connect(): Promise<pg.Client> {
    return this.#opened(new pg.Client(this.#directConnection()))
  }

  /** Connection outside the pool for a commit lane, whose statements keep nothing in the session. The caller ends it. */
  async connectLane(): Promise<pg.Client> {
    return this.#opened(new pg.Client(this.#connection()))
  }

  async close(): Promise<void> {
    await Promise.all([this.pool.end(), this.beside.end(), this.across.end()])
  }

  async #opened(client: pg.Client): Promise<pg.Client> {
    client.on('error', () => client.end().catch(() => undefined))
    await this.noticing(client.connect())
    return client
  }

  /** Passes a result on; a failure that tells of a lost server starts the search for another. */
  async noticing<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      this.notice(error)
      throw error
    }
  }

  notice(error: unknown): void {
    if (!isLost(error) && !isReadOnly(error)) return
    this.#servers.lost()
    this.#directServers.lost()
  }

  get #waitMs(): number {
    return this.#options.waitMs ?? defaultWaitMs
  }

  /** Connection as the pool uses it: through the pooler, if there is one. */
  #connection(): pg.ClientConfig {
    if (this.#options.directUrl === undefined) return this.#directConnection()
    return { ...this.anyConnection(), connectionString: this.#servers.url }
  }

  #directConnection(): pg.ClientConfig {
    const { statementTimeoutMs, sessionSettings, directUrl } = this.#options
    // Said even when it is none: behind a pooler the role has a timeout of its own.
    const none = directUrl !== undefined && statementTimeoutMs === 0 ? { statement_timeout: '0' } : {}
    const settings = Object.entries({ ...none, ...sessionSettings })
    return {
      ...this.anyConnection(),
      connectionString: this.#directServers.url,
      statement_timeout: statementTimeoutMs,
      ...(settings.length > 0 ? { options: settings.map(([name, value]) => `-c ${name}=${value}`).join(' ') } : {}),
    }
  }

  /** Settings of every connection, to whatever server. */
  anyConnection(): pg.ClientConfig {
    return {
      application_name: this.#options.applicationName,
      connectionTimeoutMillis: this.#waitMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveMs,
      types: { getTypeParser },
    }
  }
}

export function answerWithin(statementTimeoutMs: number): number {
  return statementTimeoutMs === 0 ? 0 : statementTimeoutMs + answerGraceMs
}

/** Query with a reply timeout, which the types of pg lack. */
export function within(answerMs: number, query: pg.QueryConfig): pg.QueryConfig {
  const limited: pg.QueryConfig & { query_timeout: number } = { ...query, query_timeout: answerMs }
  return limited
}

/** How statements are asked: reply timeout, and whether they are prepared. */
export interface Asking {
  readonly answerMs: number
  readonly isPreparing: boolean
}

export async function run<P extends { [K in keyof P]: Value }, R extends object>(
  client: pg.Pool | pg.ClientBase,
  { answerMs, isPreparing }: Asking,
  { name, text, isPlannedEachTime, parameters: order }: Statement<P, R>,
  parameters: P,
): Promise<R[]> {
  const values = order.map((parameter) => written(parameters[parameter]))
  const result = await client.query<R>(
    within(answerMs, { ...(isPreparing && !isPlannedEachTime ? { name } : {}), text, values }),
  )
  return result.rows
}

/** A list of texts as PostgreSQL writes an array, where none needs an escape and none is null: pg would search each of them twice. */
function written(value: Value): Value {
  if (!Array.isArray(value) || value.length === 0 || !value.every((one) => typeof one === 'string')) return value
  return /["\\]/.test(value.join('')) ? value : `{"${value.join('","')}"}`
}

export async function copied(
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

/**
 * Type parsers: bigint is money and becomes a BigInt; counters are cast to int in SQL. Dates stay text: a day has no
 * time zone.
 */
export function getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (oid === pg.types.builtins.INT8) return BigInt
  if (oid === pg.types.builtins.DATE) return String
  return pg.types.getTypeParser(oid, format ?? 'text')
}
