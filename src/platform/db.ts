// SPDX-License-Identifier: Apache-2.0
// PostgreSQL as the areas see it: named statements with named parameters, and one way to open a transaction.
// SQL stays SQL; `statement` only turns `$name` into `$1` once, at start-up, and ties the text to its types.
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { errorCode } from '../kernel/error-code.ts'

export type Value = string | number | bigint | boolean | Date | Buffer | null | readonly string[] | readonly number[]

/**
 * Where a statement runs, once an installation has several databases ("cells") and each bucket lives in one of them:
 *   tenant      where the bucket lives that its parameters name;
 *   home        where the installation keeps what belongs to no tenant: accounts, keys, prices, binds;
 *   everywhere  in every cell: what operators list, chores do, and workers claim.
 */
export type Where = 'tenant' | 'home' | 'everywhere'

/** A named, prepared statement. `P` is what it takes, `R` is one row of what it gives. */
export interface Statement<P extends object, R extends object, W extends Where = Where> {
  readonly name: string
  readonly text: string
  readonly where: W
  /** Changes rows, or locks them. */
  readonly changes: boolean
  /** Joins tenants' rows with those of no tenant, which nobody can do between cells. */
  readonly joinsHome: boolean
  readonly parameters: readonly (keyof P & string)[]
  /** Types only; never set. */
  readonly row?: R
}

/** Every statement of the program, for the test that asks PostgreSQL to describe each of them. */
export const statements = new Map<string, Statement<never, object>>()

/** Whose rows a tenant's statement is about: those of one bucket, or of each item. They need not stand in its text. */
type OfTenant = { readonly bucket: number } | { readonly buckets: readonly number[] }

interface Joins {
  readonly joinsHome?: boolean
}

/** Declares a statement. `$name` in the text is the parameter `name`; the same name may stand several times. */
export const statement = {
  tenant: <P extends OfTenant, R extends object>(name: string, text: string, joins?: Joins) =>
    declared<P, R, 'tenant'>('tenant', name, text, joins),
  home: <P extends object, R extends object>(name: string, text: string) => declared<P, R, 'home'>('home', name, text),
  everywhere: <P extends object, R extends object>(name: string, text: string, joins?: Joins) =>
    declared<P, R, 'everywhere'>('everywhere', name, text, joins),
}

const changing = /\b(insert into|update|delete from|merge into|lock table)\b|\bfor (no key )?(update|share)\b|^lock\b/

function declared<P extends object, R extends object, W extends Where>(
  where: W,
  name: string,
  text: string,
  { joinsHome = false }: Joins = {},
): Statement<P, R, W> {
  if (statements.has(name)) throw new Error(`two statements are named ${name}`)
  const parameters: (keyof P & string)[] = []
  const numbered = text.replace(/\$([a-z][a-zA-Z0-9]*)/g, (_, parameter: keyof P & string) => {
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
    parameters,
  }
  statements.set(name, made)
  return made
}

/** What can run a statement: the pool for single reads, a transaction for everything that belongs together. */
export interface Queryable {
  query<P extends { [K in keyof P]: Value }, R extends object>(statement: Statement<P, R>, parameters: P): Promise<R[]>
}

declare const insideTransaction: unique symbol

/**
 * A transaction in progress. A function that takes one cannot be called without it, and cannot open its own. One of a tenant
 * runs the statements of that tenant, and reads what is kept at home, of which every cell would have a copy.
 */
export interface Tx extends Queryable {
  readonly [insideTransaction]: true
  query<P extends { [K in keyof P]: Value }, R extends object>(
    statement: Statement<P, R, 'tenant' | 'home'>,
    parameters: P,
  ): Promise<R[]>
  /** Runs something once the transaction is durable; never when it is not. */
  afterCommit(run: () => void): void
}

/** A transaction over several tenants, or over a tenant and the installation. */
export interface AcrossTx extends Tx {
  query<P extends { [K in keyof P]: Value }, R extends object>(statement: Statement<P, R>, parameters: P): Promise<R[]>
}

/** Where a transaction runs: in a bucket's cell, at home, or over both. */
type Place = number | 'home' | 'across'

const defaultWaitMs = 5_000
/** Enough for what is kept in memory once it was looked up. */
const besideSize = 2
/** How long an idle connection says nothing before it is asked whether the other side is still there. */
const keepAliveMs = 10_000
/** How much longer than a statement may take its answer is waited for: a host that vanished never says so. */
const answerGraceMs = 5_000

export interface DatabaseOptions {
  url: string
  poolSize: number
  /** How long a connection is waited for: one of the pool that is free, or a new one to be open. */
  waitMs?: number
  statementTimeoutMs: number
  applicationName: string
  /** Settings of every session, such as `pamoja.job_lease`: names and values without spaces. */
  sessionSettings?: Readonly<Record<string, string>>
}

export interface TxOptions {
  lockTimeoutMs?: number
  statementTimeoutMs?: number
}

/** The database: a pool for reads and transactions, and dedicated connections for whoever needs one of its own. */
export class Database implements Queryable {
  readonly #pool: pg.Pool
  /** Never held for longer than a statement, so that transactions which hold all of the others do not wait for one another. */
  readonly #beside: pg.Pool
  readonly #options: DatabaseOptions
  /**
   * How long a statement's answer is waited for; 0 is for ever. What is read or written over a connection of its own, and what
   * allows itself more time, is not held to it.
   */
  readonly answerMs: number

  constructor(options: DatabaseOptions, onIdleError: (error: Error) => void) {
    this.#options = options
    this.answerMs = answerWithin(options.statementTimeoutMs)
    const pool = (max: number): pg.Pool =>
      new pg.Pool({ ...this.#connection(), max, idleTimeoutMillis: 30_000 }).on('error', onIdleError)
    this.#pool = pool(options.poolSize)
    this.#beside = pool(besideSize)
  }

  async query<P extends { [K in keyof P]: Value }, R extends object>(
    statement: Statement<P, R>,
    parameters: P,
  ): Promise<R[]> {
    return run(this.#pool, this.answerMs, statement, parameters)
  }

  /**
   * A statement of its own that somebody may need who has a transaction open, such as the reading of a key. As a `query` it
   * would wait for a connection, and so might everybody who has one.
   */
  async queryBeside<P extends { [K in keyof P]: Value }, R extends object>(
    statement: Statement<P, R>,
    parameters: P,
  ): Promise<R[]> {
    return run(this.#beside, this.answerMs, statement, parameters)
  }

  /**
   * Runs `work` in one transaction of a tenant: committed when it returns, rolled back when it throws. With a time for locks, a
   * statement that has to wait longer for somebody else fails. A time for statements stands in place of the usual one.
   */
  tx<T>({ bucket }: { readonly bucket: number }, work: (tx: Tx) => Promise<T>, options?: TxOptions): Promise<T> {
    return this.#tx(bucket, work, options)
  }

  /** A transaction over what belongs to no tenant. */
  homeTx<T>(work: (tx: Tx) => Promise<T>, options?: TxOptions): Promise<T> {
    return this.#tx('home', work, options)
  }

  /**
   * A transaction over rows of several tenants, or of a tenant and the installation. Only one database can do that: whoever
   * cuts this one into cells has to find another way for each of these.
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
    const client = await this.#pool.connect()
    // A connection that is lost fails its statements; without a listener Node would end the whole program for it.
    client.on('error', ignore)
    let broken: Error | undefined
    const afterwards: (() => void)[] = []
    try {
      await client.query(within(answerMs, { text: begin }))
      const result = await work(transaction(client, answerMs, afterwards, place))
      await client.query(within(answerMs, { text: 'commit' }))
      for (const run of afterwards) run()
      return result
    } catch (error) {
      // A connection that cannot even roll back is not given to anyone else.
      if (isUnanswered(error)) broken = error
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

  /** Appends rows to a table in one go. They are on their way to the disk when this returns, not necessarily there. */
  async copyIn(table: string, columns: readonly string[], rows: readonly string[]): Promise<void> {
    const client = await this.#pool.connect()
    client.on('error', ignore)
    let broken: Error | undefined
    try {
      await client.query(within(this.answerMs, { text: 'set synchronous_commit = off' }))
      const copy = copyFrom(`copy ${table} (${columns.join()}) from stdin`)
      // The stream itself is what pg asks how long it may take.
      await pipeline([rows.join('')], client.query(Object.assign(copy, { query_timeout: this.answerMs })))
      await client.query(within(this.answerMs, { text: 'reset synchronous_commit' }))
    } catch (error) {
      broken = error instanceof Error ? error : new Error(String(error))
      throw error
    } finally {
      client.off('error', ignore)
      client.release(broken)
    }
  }

  /** A connection outside the pool, for a commit lane, a listener or a bulk copy. The caller ends it. */
  async connect(): Promise<pg.Client> {
    const client = new pg.Client(this.#connection())
    client.on('error', () => client.end().catch(() => undefined))
    await client.connect()
    return client
  }

  stats(): { total: number; idle: number; waiting: number } {
    return { total: this.#pool.totalCount, idle: this.#pool.idleCount, waiting: this.#pool.waitingCount }
  }

  async close(): Promise<void> {
    await Promise.all([this.#pool.end(), this.#beside.end()])
  }

  #connection(): pg.ClientConfig {
    const settings = Object.entries(this.#options.sessionSettings ?? {})
    return {
      connectionString: this.#options.url,
      application_name: this.#options.applicationName,
      connectionTimeoutMillis: this.#options.waitMs ?? defaultWaitMs,
      statement_timeout: this.#options.statementTimeoutMs,
      ...(settings.length > 0 ? { options: settings.map(([name, value]) => `-c ${name}=${value}`).join(' ') } : {}),
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

/** A query whose answer is waited for so long; the types of pg do not know that one can say so. */
export function within(answerMs: number, query: pg.QueryConfig): pg.QueryConfig {
  const limited: pg.QueryConfig & { query_timeout: number } = { ...query, query_timeout: answerMs }
  return limited
}

/** Its connection is of no use to anybody: it waits for an answer that does not come. */
function isUnanswered(error: unknown): error is Error {
  return error instanceof Error && error.message === 'Query read timeout'
}

/** The one row a statement must give. */
export async function one<R>(rows: Promise<R[]>): Promise<R> {
  const [row] = await rows
  if (row === undefined) throw new Error('a statement that always gives a row gave none')
  return row
}

export async function maybe<R>(rows: Promise<R[]>): Promise<R | null> {
  return (await rows)[0] ?? null
}

/** True when the database is out of reach, restarting or full, rather than unhappy with what it was asked. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = errorCode(error)
  if (/^(08|53|57P0|58)/.test(code)) return true
  if (unreachable.has(code)) return true
  return unreachableMessages.test(error.message) || (error.cause !== undefined && isUnavailable(error.cause))
}

/** True when the database answers, and has no room for what it is to store, or may not store anything. */
export function refusesWrites(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ['53100', '58030', '25006'].includes(sqlState(error)) || refusesWrites(error.cause)
}

/** Why the database gave up something that may well succeed in a moment; null: it did not, or for another reason. */
export function passingTrouble(error: unknown): string | null {
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

/** The SQLSTATE of a database error, or an empty text. */
export function sqlState(error: unknown): string {
  return error instanceof pg.DatabaseError ? (error.code ?? '') : ''
}

async function run<P extends { [K in keyof P]: Value }, R extends object>(
  client: pg.Pool | pg.ClientBase,
  answerMs: number,
  { name, text, parameters: order }: Statement<P, R>,
  parameters: P,
): Promise<R[]> {
  const values = order.map((parameter) => parameters[parameter])
  const result = await client.query<R>(within(answerMs, { name, text, values }))
  return result.rows
}

function transaction(client: pg.ClientBase, answerMs: number, afterwards: (() => void)[], place: Place): AcrossTx {
  const own: Omit<AcrossTx, typeof insideTransaction> = {
    query: async (statement, parameters) => {
      requirePlace(place, statement, parameters)
      return run(client, answerMs, statement, parameters)
    },
    afterCommit: (later) => void afterwards.push(later),
  }
  return Object.assign(own, mark)
}

/** Between cells a row that is written where it does not live is lost without a word, so this fails while there is one. */
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

/** The mark exists for the compiler only; nothing reads it. */
const mark: Pick<Tx, typeof insideTransaction> = Object.create(null)

/** bigint is money here, so it becomes a BigInt; counters are cast to int in the SQL. Dates stay text: a day has no zone. */
function getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (oid === pg.types.builtins.INT8) return BigInt
  if (oid === pg.types.builtins.DATE) return String
  return pg.types.getTypeParser(oid, format ?? 'text')
}
