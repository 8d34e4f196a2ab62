// SPDX-License-Identifier: Apache-2.0
// Group commit. Requests that arrive while a commit is in flight are batched and sent as ONE call of a SQL function
// that takes arrays and returns one verdict per row; callers share an fsync. There is no timer: a free lane sends at
// the end of the current turn of the event loop, a busy one batches meanwhile.
import type pg from 'pg'
import { AppError } from '../kernel/errors.ts'
import { Calls } from './commit/call.ts'
import { type Columns, encodeItems, type PlainColumns, type RowOf } from './commit/row-encoding.ts'
import type { Cell } from './db/cell.ts'
import {
  type Database,
  isLost,
  isMoving,
  isUnavailable,
  one,
  type Statement,
  settled,
  sqlState,
  type Tx,
  type Where,
} from './db.ts'

export type { Columns, PlainColumns, RowOf }

/** SQL function that handles a batch in one commit: `fn(node uuid, items fn_item[])`, one result row per item. */
export interface Operation<Item extends Columns, Verdict extends PlainColumns, W extends Where = 'tenant' | 'home'> {
  readonly name: string
  readonly text: string
  readonly where: W
  readonly takes: Item
  readonly gives: Verdict
}

/** All operations, for the test that has PostgreSQL describe each of them. */
export const operations = new Map<string, Operation<Columns, PlainColumns, Where>>()

/**
 * Declares an operation: the SQL function it calls, the columns of its `_item` type in their order, and of a verdict. A column
 * may hold a whole row of another type, such as `event: eventRow`; then its cell is what `app.outbox.prepare` gives, or null.
 * Each item of a tenant's names its bucket (see `Where` in db.ts).
 */
export const operation = {
  tenant: <Item extends Columns & { bucket: 'smallint' }, Verdict extends PlainColumns>(
    sqlFunction: string,
    takes: Item,
    gives: Verdict,
  ) => declared('tenant', sqlFunction, takes, gives),
  home: <Item extends Columns, Verdict extends PlainColumns>(sqlFunction: string, takes: Item, gives: Verdict) =>
    declared('home', sqlFunction, takes, gives),
  /** Is committed in every cell, by `commitEverywhere`. */
  everywhere: <Item extends Columns, Verdict extends PlainColumns>(sqlFunction: string, takes: Item, gives: Verdict) =>
    declared('everywhere', sqlFunction, takes, gives),
}

function declared<Item extends Columns, Verdict extends PlainColumns, W extends Where>(
  where: W,
  sqlFunction: string,
  takes: Item,
  gives: Verdict,
): Operation<Item, Verdict, W> {
  const made = {
    name: sqlFunction,
    where,
    text: `select ${Object.keys(gives).join()} from ${sqlFunction}($1::uuid, $2::${sqlFunction}_item[])`,
    takes,
    gives,
  }
  operations.set(sqlFunction, made)
  return made
}

/** Runs an operation inside a transaction that does more than the function. */
export function commitIn<Item extends Columns, Verdict extends PlainColumns>(
  tx: Tx,
  node: string,
  operation: Operation<Item, Verdict>,
  item: RowOf<Item>,
): Promise<RowOf<Verdict>> {
  return one(commitAllIn(tx, node, operation, [item]))
}

/** Runs an operation on several items in a transaction; one verdict each. */
export async function commitAllIn<Item extends Columns, Verdict extends PlainColumns>(
  tx: Tx,
  node: string,
  operation: Operation<Item, Verdict>,
  items: readonly RowOf<Item>[],
): Promise<RowOf<Verdict>[]> {
  const { name, text, where } = operation
  const buckets = items.map((item) => Number(item.bucket ?? -1))
  const call: Statement<{ node: string; items: Buffer; buckets: readonly number[] }, RowOf<Verdict>, typeof where> = {
    name,
    text,
    where,
    changes: true,
    joinsHome: false,
    parameters: ['node', 'items'],
  }
  return tx.query(call, { node, buckets, items: encodeItems(operation.takes, items) })
}

/** Delays of what is stored again while the database is away: for a minute. */
const storeAgainMs: readonly number[] = Array(120).fill(500)

/** Stores what must not be lost, again as long as the database is away. It changes nothing the second time. */
export async function surely<T>(store: () => Promise<T>, delaysMs: readonly number[] = storeAgainMs): Promise<T> {
  for (const delayMs of delaysMs)
    try {
      return await store()
    } catch (error) {
      if (!isUnavailable(error)) throw error
      await new Promise((resume) => setTimeout(resume, delayMs))
    }
  return store()
}

/** Batch size limit, and queue limit beyond which callers get 503. */
const maxBatch = 512
const maxWaiting = 20_000
/**
 * Batch size that is sent beside a batch in flight. Otherwise all callers of one commit return at the same moment and
 * form the next, and database and node take turns instead of working in parallel.
 */
const eagerBatch = 64
const maxTries = 4
const reconnectMs = 100

/** Queued item. It has no closure of its own, since the garbage of a batch costs as much as encoding it. */
interface Waiting {
  item: RowOf<Columns>
  tries: number
  /** The row has the operation's declared type; a test compares it with PostgreSQL's description. */
  resolve(row: object): void
  reject(error: unknown): void
}

interface Queue {
  operation: Operation<Columns, PlainColumns, Where>
  waiting: Waiting[]
  inFlight: number
}

export interface CommitStats {
  commits: number
  items: number
}

/** Committer: the queues and lanes of each cell, opened with its first item. */
export class Committer {
  readonly #db: Database
  readonly #nodeId: string
  readonly #lanes: number
  readonly #home: CellCommitter
  readonly #cells = new Map<Cell, CellCommitter>()
  #stopped = false
  readonly stats: CommitStats = { commits: 0, items: 0 }

  constructor(db: Database, nodeId: string, lanes: number) {
    this.#db = db
    this.#nodeId = nodeId
    this.#lanes = lanes
    this.#home = this.#open(db.home)
  }

  /** Adds an item to the next commit of its operation, in the cell of its bucket; resolves with its verdict once durable. */
  commit<Item extends Columns, Verdict extends PlainColumns>(
    operation: Operation<Item, Verdict>,
    item: RowOf<Item>,
  ): Promise<RowOf<Verdict>> {
    if (operation.where === 'home' || this.#db.hasOneCell) return this.#home.commit(operation, item)
    try {
      const cell = this.#db.cellOf(Number(item.bucket))
      return (this.#cells.get(cell) ?? this.#open(cell)).commit(operation, item)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Commits an item in every cell; resolves with their verdicts once all are durable. One that is not opened fails it before. */
  async commitEverywhere<Item extends Columns, Verdict extends PlainColumns>(
    operation: Operation<Item, Verdict, 'everywhere'>,
    item: RowOf<Item>,
  ): Promise<RowOf<Verdict>[]> {
    this.#db.requireEvery()
    return settled(
      this.#db.cells.map(async (cell) => (this.#cells.get(cell) ?? this.#open(cell)).commit(operation, item)),
    )
  }

  /** Refuses new items, commits the queued ones, then closes the lanes. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all([...this.#cells.values()].map((each) => each.stop()))
  }

  waiting(): number {
    return [...this.#cells.values()].reduce((total, each) => total + each.waiting(), 0)
  }

  #open(cell: Cell): CellCommitter {
    if (this.#stopped) throw new AppError('SERVICE_UNAVAILABLE', 'the node is stopping', { retryAfterSeconds: 1 })
    const opened = new CellCommitter(this.#db, cell, this.#nodeId, this.#lanes, this.stats)
    this.#cells.set(cell, opened)
    return opened
  }
}

class CellCommitter {
  readonly #db: Database
  readonly #stats: CommitStats
  readonly #queues = new Map<string, Queue>()
  readonly #ready: Queue[] = []
  readonly #lanes: Lane[]
  readonly #free: Lane[]
  #scheduled = false
  #stopped = false

  constructor(db: Database, cell: Cell, nodeId: string, lanes: number, stats: CommitStats) {
    this.#db = db
    this.#stats = stats
    this.#lanes = Array.from({ length: lanes }, () => new Lane(cell, nodeId))
    this.#free = [...this.#lanes]
  }

  /** Adds an item to the next commit of its operation; resolves with its verdict once durable. */
  commit<Item extends Columns, Verdict extends PlainColumns>(
    operation: Operation<Item, Verdict, Where>,
    item: RowOf<Item>,
  ): Promise<RowOf<Verdict>> {
    return new Promise((resolve, reject) => {
      const queue = this.#queue(operation)
      if (this.#stopped || queue.waiting.length >= maxWaiting) {
        reject(new AppError('SERVICE_UNAVAILABLE', 'too many writes are waiting', { retryAfterSeconds: 1 }))
        return
      }
      queue.waiting.push({ item, tries: 0, resolve, reject })
      this.#offer(queue)
    })
  }

  /** Refuses new items, commits the queued ones, then closes the lanes. */
  async stop(): Promise<void> {
    this.#stopped = true
    while ([...this.#queues.values()].some((queue) => queue.inFlight > 0 || queue.waiting.length > 0))
      await new Promise((resolve) => setImmediate(resolve))
    await Promise.all(this.#lanes.map((lane) => lane.close()))
  }

  waiting(): number {
    let total = 0
    for (const queue of this.#queues.values()) total += queue.waiting.length
    return total
  }

  #queue(operation: Operation<Columns, PlainColumns, Where>): Queue {
    let queue = this.#queues.get(operation.name)
    if (!queue) {
      queue = { operation, waiting: [], inFlight: 0 }
      this.#queues.set(operation.name, queue)
    }
    return queue
  }

  /** Sends a batch that is full enough at once; otherwise the rest of this turn of the event loop may still join. */
  #offer(queue: Queue): void {
    const full = queue.waiting.length >= eagerBatch
    if (queue.waiting.length === 0 || (queue.inFlight > 0 && !full)) return
    if (!this.#ready.includes(queue)) this.#ready.push(queue)
    if (this.#free.length === 0) return
    if (full) this.#pump()
    else if (!this.#scheduled) {
      this.#scheduled = true
      setImmediate(() => {
        this.#scheduled = false
        this.#pump()
      })
    }
  }

  #pump(): void {
    while (this.#free.length > 0) {
      const queue = this.#ready.shift()
      if (!queue) return
      const lane = this.#free.pop()
      if (!lane) return void this.#ready.unshift(queue)
      queue.inFlight++
      const batch = queue.waiting.splice(0, maxBatch)
      void this.#send(lane, queue.operation, batch).finally(() => {
        this.#free.push(lane)
        queue.inFlight--
        this.#offer(queue)
        this.#pump()
      })
    }
  }

  async #send(lane: Lane, operation: Operation<Columns, PlainColumns, Where>, batch: Waiting[]): Promise<void> {
    try {
      const rows = await lane.call(
        operation,
        batch.map(({ item }) => item),
      )
      if (rows.length !== batch.length)
        throw new Error(`${operation.name} gave ${rows.length} rows for ${batch.length} items`)
      this.#stats.commits++
      this.#stats.items += batch.length
      for (let i = 0; i < batch.length; i++) batch[i]?.resolve(rows[i] ?? {})
    } catch (error) {
      await this.#failed(lane, operation, batch, error)
    }
  }

  /**
   * Batch failed. After a lost connection the outcome is unknown: callers get 503 and may retry with their idempotency
   * key. After a deadlock or serialisation failure the batch is retried. Any other error is one bad item, or one whose bucket
   * the cell gave away, found by halving, so that the others do not fail with it.
   */
  async #failed(
    lane: Lane,
    operation: Operation<Columns, PlainColumns, Where>,
    batch: Waiting[],
    error: unknown,
  ): Promise<void> {
    const repeatable =
      ['40001', '40P01'].includes(sqlState(error)) && batch.every((waiting) => ++waiting.tries < maxTries)
    if (repeatable) return this.#send(lane, operation, batch)
    if (isMoving(error)) this.#db.noticeMoved(error)
    if (isLost(error) || (isMoving(error) && batch.length === 1)) {
      for (const waiting of batch) waiting.reject(unavailable(error))
    } else if (batch.length === 1) {
      batch[0]?.reject(new Error(`commit ${operation.name}`, { cause: error }))
    } else {
      const half = Math.ceil(batch.length / 2)
      await this.#send(lane, operation, batch.slice(0, half))
      await this.#send(lane, operation, batch.slice(half))
    }
  }
}

function unavailable(cause: unknown): AppError {
  return new AppError('SERVICE_UNAVAILABLE', 'the database did not confirm the write', { cause, retryAfterSeconds: 1 })
}

/** Lane: a connection opened at first use and reopened when lost. */
class Lane {
  readonly #cell: Cell
  readonly #nodeId: string
  #open: { readonly client: pg.Client; readonly calls: Calls } | null = null
  #failedAt = Number.NEGATIVE_INFINITY

  constructor(cell: Cell, nodeId: string) {
    this.#cell = cell
    this.#nodeId = nodeId
  }

  async call(
    operation: Operation<Columns, PlainColumns, Where>,
    items: readonly RowOf<Columns>[],
  ): Promise<readonly object[]> {
    const { client, calls } = await this.#connected()
    try {
      return await calls.send(client, operation, items, this.#cell.answerMs)
    } catch (error) {
      if (isLost(error)) this.#drop(client)
      throw error
    }
  }

  async close(): Promise<void> {
    await this.#open?.client.end()
    this.#open = null
  }

  async #connected(): Promise<{ readonly client: pg.Client; readonly calls: Calls }> {
    if (this.#open) return this.#open
    const waitMs = this.#failedAt + reconnectMs - performance.now()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    try {
      const client = await this.#cell.connectLane()
      client.on('end', () => this.#drop(client))
      this.#open = { client, calls: new Calls(this.#nodeId, this.#cell.isPreparing) }
      return this.#open
    } catch (error) {
      this.#failedAt = performance.now()
      throw error
    }
  }

  /** An old connection may close long after it was dropped: it must not affect its successor. */
  #drop(client: pg.Client): void {
    if (this.#open?.client === client) this.#open = null
    client.end().catch(() => undefined)
  }
}
