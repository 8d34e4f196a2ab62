// SPDX-License-Identifier: Apache-2.0
// PostgreSQL access: statements, transactions and dedicated connections, each in the cell where its rows are. With one
// database, which is most installations, every cell is `home`.
import type pg from 'pg'
import { AppError } from '../kernel/errors.ts'
import { bucketCount, buckets } from '../kernel/ids.ts'
import { Enlisted } from './db/across.ts'
import { Cell, type CellOptions, copied, run, within } from './db/cell.ts'
import { isMoving, isReadOnly, isUnanswered } from './db/failures.ts'
import { Replica } from './db/replica.ts'
import { bucketsIn, type Statement, type Value } from './db/statement.ts'
import {
  type AcrossTx,
  answerMsOf,
  beginWith,
  Done,
  isCopied,
  type Place,
  type Queryable,
  requireBuckets,
  requirePlace,
  type Tx,
  type TxOptions,
  transactionOf,
} from './db/transaction.ts'

export { isLost, isMoving, isUnavailable, refusesWrites, sqlState, temporaryFailure } from './db/failures.ts'
export { type Statement, statement, statements, type Value, type Where } from './db/statement.ts'
export type { AcrossTx, Queryable, Tx } from './db/transaction.ts'

/** Wait for copies of home in other cells, and how soon they are asked, each time half as often: to ask is dearer than to copy. */
const copiedWithinMs = 1_000
const copyPollMs = { first: 3, most: 50 }
/** Connections for cached lookups, and for reads of home inside a transaction of another cell. */
const besideSize = 1
const besideSizeOfMany = 4

export interface DatabaseOptions extends Omit<CellOptions, 'besideSize'> {
  /** Standby for statements that may be late. */
  replicaUrl?: string | undefined
  /** Further databases, of which those are used that `place` names. */
  cells?: readonly { readonly name: string; readonly url: string }[]
}

export interface AcrossOptions extends TxOptions {
  /** The one cell in which its statements for everywhere run. */
  only?: Cell
}

/** Where buckets live that are not at home: bucket → name of the cell. */
export type Places = ReadonlyMap<number, string>

/** The databases of an installation, as one: pools for reads and transactions, and dedicated connections. */
export class Database implements Queryable {
  readonly home: Cell
  /** Further cells that are configured, by name. */
  readonly further: ReadonlyMap<string, Cell>
  /** Cells in use, home first. */
  #cells: readonly Cell[]
  /** Cell of each bucket; null with one cell. */
  #places: readonly (Cell | null)[] | null = null
  #own: ReadonlyMap<Cell, readonly number[]> = new Map()
  #unopened: readonly string[] = []
  /** Whether buckets live in a cell that is not opened. */
  #isPartial = false
  readonly #replica: Replica | null
  #lateReads = 0
  readonly #movedListeners: (() => void)[] = []
  /** Transactions over several cells in progress, and those that wait: each takes at most one connection of each cell. */
  #acrossFree: number
  readonly #acrossWaiting: (() => void)[] = []

  constructor(options: DatabaseOptions, onIdleError: (error: Error) => void) {
    const { cells = [], replicaUrl, poolSize: max, statementTimeoutMs: statement_timeout } = options
    const size = cells.length === 0 ? besideSize : besideSizeOfMany
    this.home = new Cell('home', { ...options, besideSize: size }, onIdleError)
    this.#cells = [this.home]
    this.further = new Map(
      cells.map(({ name, url }) => {
        const own = { ...options, url, directUrl: undefined, besideSize: size }
        return [name, new Cell(name, own, onIdleError)]
      }),
    )
    this.#acrossFree = max
    this.#replica =
      replicaUrl === undefined
        ? null
        : new Replica(
            { ...this.home.anyConnection(), connectionString: replicaUrl, statement_timeout, max },
            onIdleError,
          )
  }

  /** Whether statements at home are prepared under their names, or parsed each time. */
  get isPreparing(): boolean {
    return this.home.isPreparing
  }

  /** Cells in use, home first. */
  get cells(): readonly Cell[] {
    return this.#cells
  }

  /** Whether the installation has no cell but home. */
  get hasOneCell(): boolean {
    return this.#places === null
  }

  /** Names of cells of the installation that could not be opened yet. */
  get unopened(): readonly string[] {
    return this.#unopened
  }

  /**
   * Uses these cells beside home, with buckets where they live. Statements of buckets in those that are not opened, and of
   * `refused` ones, are refused, and so are statements for everywhere then.
   */
  place(
    names: readonly string[],
    places: Places,
    isOpened: (name: string) => boolean = () => true,
    refused: ReadonlySet<number> = new Set(),
  ): void {
    if (names.length === 0 && places.size === 0) {
      this.#cells = [this.home]
      this.#places = null
      this.#unopened = []
      this.#isPartial = false
      return
    }
    this.#cells = [this.home, ...names.filter(isOpened).flatMap((name) => this.further.get(name) ?? [])]
    const opened = new Set(this.#cells.map(({ name }) => name))
    this.#unopened = [...new Set([...names, ...places.values()])].filter((name) => !opened.has(name))
    this.#places = Array.from({ length: bucketCount }, (_, bucket) => {
      const name = places.get(bucket) ?? 'home'
      if (refused.has(bucket)) return null
      return this.#cells.find((cell) => cell.name === name) ?? null
    })
    this.#isPartial = this.#places.includes(null)
    const own = new Map<Cell, number[]>(this.#cells.map((cell) => [cell, []]))
    for (const [bucket, cell] of this.#places.entries()) if (cell) own.get(cell)?.push(bucket)
    this.#own = own
  }

  /** Buckets of a cell. Beside them it may have rows of one that is on its way in or out, which nobody may see or touch. */
  bucketsIn(cell: Cell): readonly number[] {
    return this.#places === null ? buckets : (this.#own.get(cell) ?? [])
  }

  /** Called when a cell refused a bucket that is no longer its own. */
  onMoved(listener: () => void): void {
    this.#movedListeners.push(listener)
  }

  cellOf(bucket: number): Cell {
    if (this.#places === null) return this.home
    const cell = bucket === -1 ? this.home : this.#places[bucket]
    if (cell) return cell
    throw unreachable('the database of this account cannot be reached')
  }

  /** Whether the cell of a bucket is opened, so that `cellOf` gives it. */
  isPlaced(bucket: number): boolean {
    return !this.#isPartial || bucket === -1 || this.#places?.[bucket] != null
  }

  /** Refuses to do for some cells what is about all of them. */
  requireEvery(): void {
    if (this.#unopened.length > 0)
      throw unreachable(
        `the database of ${this.#unopened.join(' and ')} cannot be reached, and this is about all of them`,
      )
  }

  /** Items by the cells of their buckets; refused if one of them is away. */
  apart<T>(items: readonly T[], bucketOf: (item: T) => number): readonly (readonly T[])[] {
    for (const item of items) this.cellOf(bucketOf(item))
    return this.separate(items, bucketOf)
  }

  /** Items by the cells of their buckets, those of cells that are away too: what is asked about them fails by itself. */
  separate<T>(items: readonly T[], bucketOf: (item: T) => number): readonly (readonly T[])[] {
    if (this.#places === null) return items.length === 0 ? [] : [items]
    const parts = new Map<Cell | null, T[]>()
    for (const item of items) {
      const bucket = bucketOf(item)
      const cell = bucket === -1 ? this.home : (this.#places[bucket] ?? null)
      const part = parts.get(cell)
      if (part) part.push(item)
      else parts.set(cell, [item])
    }
    return [...parts.values()]
  }

  async query<P extends { [K in keyof P]: Value }, R extends object>(
    statement: Statement<P, R>,
    parameters: P,
  ): Promise<R[]> {
    if (this.#places !== null) return this.#routed(statement, parameters, (cell, own) => cell.query(statement, own))
    const late = statement.mayBeLate ? await this.#late(statement, parameters) : null
    return late ?? this.home.query(statement, parameters)
  }

  /** Rows of the cells that answered a statement for everywhere, and the failure of one that did not. With one cell it is thrown. */
  async queryReached<P extends { [K in keyof P]: Value }, R extends object>(
    statement: Statement<P, R, 'everywhere'>,
    parameters: P,
  ): Promise<{ rows: R[]; failure: unknown }> {
    if (this.#places === null) return { rows: await this.query(statement, parameters), failure: null }
    const answers = await Promise.allSettled(
      this.#cells.map((cell) => cell.query(statement, this.#ownOf(cell, parameters))),
    )
    return {
      rows: answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : [])),
      failure: answers.find((answer) => answer.status === 'rejected')?.reason ?? (this.#isPartial ? partial() : null),
    }
  }

  /**
   * Asks every cell that a statement is about; one that is away, or not opened, fails it when all others have answered. A statement
   * for everywhere that names some buckets is asked where they are.
   */
  async #routed<P extends { [K in keyof P]: Value }, R extends object>(
    statement: Statement<P, R>,
    parameters: P,
    ask: (cell: Cell, own: P) => Promise<R[]>,
    { isInside = false, only }: { isInside?: boolean; only?: Cell | undefined } = {},
  ): Promise<R[]> {
    const isForAll = statement.where === 'everywhere' && only === undefined && !namesBuckets(parameters)
    const [cell = this.home, ...others] =
      statement.where !== 'everywhere' ? this.#cellsOf(statement, parameters) : this.#everywhere(parameters, only)
    try {
      if (others.length === 0) {
        const rows = await ask(cell, this.#ownOf(cell, parameters))
        if (isForAll && this.#isPartial) throw partial()
        if (isCopied(statement) && !isInside) await this.#whenCopied()
        return rows
      }
      const answers = await settled([cell, ...others].map((each) => ask(each, this.#ownOf(each, parameters))))
      if (isForAll && this.#isPartial) throw partial()
      return merged(statement, parameters, answers)
    } catch (error) {
      this.noticeMoved(error)
      throw error
    }
  }

  #everywhere(parameters: object, only: Cell | undefined): readonly Cell[] {
    if (only) return [only]
    return namesBuckets(parameters) ? this.#distinctCells(parameters.buckets) : this.#cells
  }

  #distinctCells(named: readonly number[]): readonly Cell[] {
    return [...new Set(named.map((bucket) => this.cellOf(bucket)))]
  }

  /** Parameters for a cell: all buckets are its own. */
  #ownOf<P extends object>(cell: Cell, parameters: P): P {
    return 'buckets' in parameters && parameters.buckets === buckets
      ? { ...parameters, buckets: this.bucketsIn(cell) }
      : parameters
  }

  #cellsOf({ name, where }: Statement<never, object>, parameters: object): readonly Cell[] {
    if (where === 'home') return [this.home]
    const cells = this.#distinctCells(bucketsIn(parameters))
    if (cells.length > 1) throw new Error(`${name} is about several cells at once: see \`apart\` in db.ts`)
    return cells
  }

  /** Tells the listeners of `onMoved` where a failure says that a bucket is elsewhere. */
  noticeMoved(error: unknown): void {
    if (isMoving(error)) for (const moved of this.#movedListeners) moved()
  }

  /** Rows as the replica has them; null when the database has to be asked. */
  async #late<P extends { [K in keyof P]: Value }, R extends object>(
    statement: Statement<P, R>,
    parameters: P,
  ): Promise<R[] | null> {
    if (!(await this.#replica?.follows()) || !this.#replica) return null
    try {
      const rows = await run(
        this.#replica.pool,
        { answerMs: this.home.answerMs, isPreparing: true },
        statement,
        parameters,
      )
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
    if (this.#places === null) return this.home.queryBeside(statement, parameters)
    return this.#routed(statement, parameters, (cell, own) => cell.queryBeside(statement, own))
  }

  /**
   * Runs `work` in a transaction of a tenant: committed when it returns, rolled back when it throws. Options set a lock
   * timeout and a statement timeout.
   */
  tx<T>({ bucket }: { readonly bucket: number }, work: (tx: Tx) => Promise<T>, options?: TxOptions): Promise<T> {
    return this.#txIn(this.cellOf(bucket), bucket, work, options)
  }

  /** Transaction over installation rows. */
  homeTx<T>(work: (tx: Tx) => Promise<T>, options?: TxOptions): Promise<T> {
    return this.#txIn(this.home, 'home', work, options)
  }

  /**
   * Transaction over rows of several tenants, or of a tenant and the installation. With several cells it takes part in
   * those that it asks, and is committed in two phases where it changed more than one.
   */
  acrossTx<T>(work: (tx: AcrossTx) => Promise<T>, options?: AcrossOptions): Promise<T> {
    return this.#places === null ? this.#txIn(this.home, 'across', work, options) : this.#txAcross(work, options)
  }

  async #txIn<T>(cell: Cell, place: Place, work: (tx: AcrossTx) => Promise<T>, options: TxOptions = {}): Promise<T> {
    const answerMs = answerMsOf(cell, options)
    const done = new Done()
    const client = await cell.noticing(cell.pool.connect())
    // A lost connection fails its statements; without a listener Node would exit.
    client.on('error', ignore)
    let broken: Error | undefined
    let result: T
    try {
      await client.query(within(answerMs, { text: beginWith(options) }))
      result = await work(this.#transaction(cell, client, answerMs, done, place))
      await client.query(within(answerMs, { text: 'commit' }))
    } catch (error) {
      cell.notice(error)
      this.noticeMoved(error)
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
    await this.#after(done)
    return result
  }

  async #txAcross<T>(work: (tx: AcrossTx) => Promise<T>, options: AcrossOptions = {}): Promise<T> {
    const answerMs = answerMsOf(this.home, options)
    await this.#acrossTurn()
    const enlisted = new Enlisted(this.home, beginWith(options), answerMs)
    const done = new Done()
    let result: T
    try {
      result = await work(this.#transactionAcross(enlisted, answerMs, done, options.only))
      await enlisted.commit()
    } catch (error) {
      this.noticeMoved(error)
      await enlisted.rollback(error)
      throw error
    } finally {
      await enlisted.release()
      this.#acrossEnded()
    }
    await this.#after(done)
    return result
  }

  /** What comes after the commit of a transaction, when its connections are free for others. */
  async #after({ changedHome, callbacks }: Done): Promise<void> {
    if (changedHome) await this.#whenCopied()
    for (const run of callbacks) run()
  }

  /**
   * Waits until the cells have copied what was written at home, so that who changed it finds it changed everywhere. A cell that is
   * away or far behind is not waited for.
   */
  async #whenCopied(): Promise<void> {
    if (this.#cells.length === 1) return
    const untilMs = performance.now() + copiedWithinMs
    try {
      const { rows: now } = await this.home.beside.query<{ lsn: string }>(
        'select pg_current_wal_flush_lsn()::text as lsn',
      )
      for (let pollMs = copyPollMs.first; performance.now() < untilMs; pollMs = Math.min(2 * pollMs, copyPollMs.most)) {
        const { rows } = await this.home.beside.query<{ behind: number }>(
          `select count(*)::int as behind from pg_replication_slots
            where active and confirmed_flush_lsn < $1::pg_lsn and slot_name like
                  (select 'pamoja\\_' || oid || '\\_home\\_%' from pg_database where datname = current_database())`,
          [now[0]?.lsn],
        )
        if (rows[0]?.behind === 0) return
        await new Promise((resolve) => setTimeout(resolve, pollMs))
      }
    } catch {
      // It is written, whatever became of the question.
    }
  }

  async #acrossTurn(): Promise<void> {
    if (this.#acrossFree > 0) this.#acrossFree--
    else await new Promise<void>((resolve) => this.#acrossWaiting.push(resolve))
  }

  #acrossEnded(): void {
    const next = this.#acrossWaiting.shift()
    if (next) next()
    else this.#acrossFree++
  }

  #transaction(cell: Cell, client: pg.ClientBase, answerMs: number, done: Done, place: Place): AcrossTx {
    const asking = { answerMs, isPreparing: cell.isPreparing }
    return transactionOf({
      query: async (statement, parameters) => {
        requirePlace(place, statement, parameters)
        done.notice(statement)
        if (cell === this.home || statement.where !== 'home') return run(client, asking, statement, parameters)
        if (!statement.isAtCommit) return this.home.queryBeside(statement, parameters)
        done.callbacks.push(() => void this.home.queryBeside(statement, parameters).catch(ignore))
        return []
      },
      copyIn: async (bucket, table, columns, rows) => {
        requireBuckets(place, `a copy into ${table}`, [bucket])
        await copied(client, asking.answerMs, table, columns, rows)
      },
      apart: (items, bucketOf) => this.apart(items, bucketOf),
      afterCommit: (later) => void done.callbacks.push(later),
    })
  }

  #transactionAcross(enlisted: Enlisted, answerMs: number, done: Done, only?: Cell): AcrossTx {
    return transactionOf({
      query: (statement, parameters) => {
        done.notice(statement)
        const ask = async (cell: Cell, own: typeof parameters) =>
          run(await enlisted.in(cell), { answerMs, isPreparing: cell.isPreparing }, statement, own)
        return this.#routed(statement, parameters, ask, { isInside: true, only })
      },
      copyIn: async (bucket, table, columns, rows) => {
        await copied(await enlisted.in(this.cellOf(bucket)), answerMs, table, columns, rows)
      },
      apart: (items, bucketOf) => this.apart(items, bucketOf),
      afterCommit: (later) => void done.callbacks.push(later),
    })
  }

  /** Appends rows with COPY. They are written asynchronously: a crash may lose them. The first column is the bucket. */
  async copyIn(table: string, columns: readonly string[], rows: readonly string[]): Promise<void> {
    const parts = this.apart(rows, (row) => Number.parseInt(row, 10))
    await settled(
      parts.map((part) => {
        const cell = this.#places === null ? this.home : this.cellOf(Number.parseInt(part[0] ?? '-1', 10))
        return this.#copyInto(cell, table, columns, part)
      }),
    )
  }

  async #copyInto(cell: Cell, table: string, columns: readonly string[], rows: readonly string[]): Promise<void> {
    const client = await cell.noticing(cell.pool.connect())
    client.on('error', ignore)
    let broken: Error | undefined
    try {
      await client.query(within(cell.answerMs, { text: 'begin; set local synchronous_commit = off' }))
      await copied(client, cell.answerMs, table, columns, rows)
      await client.query(within(cell.answerMs, { text: 'commit' }))
    } catch (error) {
      broken = error instanceof Error ? error : new Error(String(error))
      this.noticeMoved(error)
      throw error
    } finally {
      client.off('error', ignore)
      client.release(broken)
    }
  }

  /** Finds the server that takes writes, where the address names several. */
  async find(): Promise<void> {
    await this.home.find()
  }

  /** Connection to home itself, with a session of its own, for a listener, migrations or a bulk copy. The caller ends it. */
  async connect(): Promise<pg.Client> {
    return this.home.connect()
  }

  stats(): { total: number; idle: number; waiting: number } {
    const pools = this.#cells.map(({ pool }) => pool)
    const sum = (of: (pool: pg.Pool) => number): number => pools.reduce((total, pool) => total + of(pool), 0)
    return {
      total: sum(({ totalCount }) => totalCount),
      idle: sum(({ idleCount }) => idleCount),
      waiting: sum(({ waitingCount }) => waitingCount),
    }
  }

  async close(): Promise<void> {
    const cells = [this.home, ...this.further.values()]
    await Promise.all([...cells.map((cell) => cell.close()), this.#replica?.pool.end()])
  }
}

const ignore = (): void => undefined

function unreachable(detail: string): AppError {
  return new AppError('SERVICE_UNAVAILABLE', detail, { retryAfterSeconds: 1 })
}

function partial(): AppError {
  return unreachable('a database with some of the accounts cannot be reached')
}

/** Whether a statement for everywhere is about some buckets, such as those of the rows it looks up. */
function namesBuckets(parameters: object): parameters is { buckets: readonly number[] } {
  return 'buckets' in parameters && parameters.buckets !== buckets && Array.isArray(parameters.buckets)
}

/** Results of all, once all have ended; the first failure, if any. */
export async function settled<T>(works: readonly Promise<T>[]): Promise<T[]> {
  const results = await Promise.allSettled(works)
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
}

function merged<P extends { [K in keyof P]: Value }, R extends object>(
  statement: Statement<P, R>,
  parameters: P,
  answers: readonly R[][],
): R[] {
  const rows = answers.flat()
  return statement.merge ? statement.merge(rows, parameters) : rows
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
