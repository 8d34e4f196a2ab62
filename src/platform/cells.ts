// SPDX-License-Identifier: Apache-2.0
// Cells of an installation: which databases it has beside home, and in which of them each bucket lives. The map is kept at home
// and read by every node. A cell is used once it was reached and found to be the one that it is named; until then, and
// while it is away, its accounts alone get 503.

import { buckets } from '../kernel/ids.ts'
import { StartError } from '../kernel/start-error.ts'
import { forgetDecisions, settleDecisions, settlePrepared } from './db/across.ts'
import type { Cell } from './db/cell.ts'
import { type Database, isUnavailable, statement } from './db.ts'
import { releaseHolds } from './moves/release.ts'
import { Followed } from './nodes/followed.ts'
import type { Signals } from './nodes/signals.ts'
import type { Logger } from './telemetry/log.ts'

/** How often the map is read, and prepared transactions of nodes that died are ended, while there are several cells. */
const mapMs = 1_000
const settleMs = 5_000
const forgetMs = 60 * 60_000

const listCells = statement.home<object, { name: string }>(
  'platform.list_cells',
  'select name from platform.cells order by name',
)

const listPlaces = statement.home<object, { bucket: number; cell: string }>(
  'platform.list_places',
  'select bucket, cell from platform.buckets',
)

const listMoving = statement.home<object, { bucket: number }>(
  'platform.list_moving',
  `select bucket from platform.bucket_moves where step <> 'drop' order by bucket`,
)

/** Cells for which nothing keeps the changes of home: their copies of prices, keys and routes grow old. */
const listForgotten = statement.home<object, { name: string }>(
  'platform.list_forgotten_cells',
  `select c.name from platform.cells c
     join pg_database d on d.datname = current_database()
    where not exists (select from pg_replication_slots s
                       where s.slot_name = format('pamoja_%s_home_%s', d.oid, replace(c.name, '-', '_')) and s.wal_status <> 'lost')
    order by c.name`,
)

/** What is done with a database before it is used as a cell, such as bringing its tables up to date. */
export type PrepareCell = (cell: Cell) => Promise<void>

interface Surroundings {
  readonly db: Database
  readonly log: Pick<Logger, 'warn'>
  readonly prepare: PrepareCell
}

export class Cells {
  readonly #db: Database
  readonly #log: Pick<Logger, 'warn'>
  readonly #prepare: PrepareCell
  /** Cells that were found to be what they are named. */
  readonly #checked = new Set<string>()
  readonly #checking = new Set<string>()
  readonly #timers: NodeJS.Timeout[] = []
  /** Buckets that two databases own. */
  #doubled: ReadonlySet<number> = new Set()
  #followed: Followed | null = null
  #isSettling = false
  /** Cells that were found not to follow home, which is told once. */
  #forgotten = ''

  constructor({ db, log, prepare }: Surroundings) {
    this.#db = db
    this.#log = log
    this.#prepare = prepare
  }

  /** Reads where buckets live and opens the cells. A cell that cannot be reached is tried again while the node runs. */
  async open(): Promise<void> {
    const names = (await this.#db.query(listCells, {})).map(({ name }) => name)
    const missing = names.filter((name) => this.#db.further.get(name) === undefined)
    if (missing.length > 0)
      throw new StartError(
        `The tenants of this installation are divided among several databases: add ${missing.join(' and ')} to PAMOJA_CELLS, as at the other nodes.`,
      )
    await Promise.all(names.map((name) => this.#check(name)))
    await this.#read()
    if (names.length === 0) return
    await this.#findDoubled()
    if (this.#doubled.size > 0) await this.#read()
    await this.#settle()
  }

  /** Follows the map. With one database that is a listener and nothing more. */
  async start(signals: Signals, log: Pick<Logger, 'warn'>): Promise<void> {
    const load = async (): Promise<void> => {
      if (this.#doubled.size > 0) await this.#findDoubled()
      await this.#read()
    }
    const followed = new Followed({ signals, log }, { topic: 'cells', everyMs: forgetMs, what: 'cells', load })
    this.#followed = followed
    const again = (): void => void followed.read().catch(() => undefined)
    this.#db.onMoved(again)
    await followed.start()
    const whileSeveral = (everyMs: number, work: () => void): void => {
      this.#timers.push(setInterval(() => this.#db.hasOneCell || work(), everyMs).unref())
    }
    if (this.#db.further.size === 0) return
    whileSeveral(mapMs, again)
    whileSeveral(settleMs, () => void this.#settle())
    whileSeveral(forgetMs, () => void this.#forget().catch(() => undefined))
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await this.#followed?.stop()
  }

  get #others(): readonly Cell[] {
    return this.#db.cells.slice(1)
  }

  /** A cell that is not opened may have transactions that wait for their decisions. */
  async #forget(): Promise<void> {
    if (this.#db.unopened.length === 0) await forgetDecisions(this.#db.home, this.#others)
  }

  async #read(): Promise<void> {
    const names = (await this.#db.query(listCells, {})).map(({ name }) => name)
    if (names.length === 0) return this.#db.place([], new Map())
    const rows = await this.#db.query(listPlaces, {})
    const places = new Map(rows.flatMap(({ bucket, cell }) => (cell === 'home' ? [] : [[bucket, cell] as const])))
    for (const name of names) if (!this.#checked.has(name)) void this.#checkAgain(name)
    this.#db.place(names, places, (name) => this.#checked.has(name), this.#doubled)
  }

  /**
   * Finds buckets that two databases own, as when one was restored from before a move. Nobody knows which rows are the right ones,
   * so their accounts get 503 until one of the two gives them up. What moves lives in its old cell until the flip.
   */
  async #findDoubled(): Promise<void> {
    const moving = (await this.#db.query(listMoving, {})).map(({ bucket }) => bucket)
    const owned = await Promise.all(
      this.#db.cells.map(async (cell) => (await cell.admitted().catch(() => [])) ?? buckets),
    )
    const doubled = buckets.filter(
      (bucket) => owned.filter((of) => of.includes(bucket)).length > 1 && !moving.includes(bucket),
    )
    if (doubled.some((bucket) => !this.#doubled.has(bucket)))
      this.#log.warn(
        { buckets: doubled },
        'buckets are owned by two databases: their accounts get 503; see which of the two was restored, and have it refuse them',
      )
    this.#doubled = new Set(doubled)
  }

  /** Checks a cell while the node runs; the map is read once more when it is opened. */
  async #checkAgain(name: string): Promise<void> {
    try {
      await this.#check(name)
      if (this.#checked.has(name)) await this.#followed?.read()
    } catch (error) {
      this.#warn(name, error)
    }
  }

  async #check(name: string): Promise<void> {
    const cell = this.#db.further.get(name)
    if (!cell || this.#checking.has(name)) return
    this.#checking.add(name)
    try {
      await cell.find()
      await settlePrepared(this.#db.home, cell)
      await this.#prepare(cell)
      await requireName(cell)
      this.#checked.add(name)
    } catch (error) {
      if (error instanceof StartError) throw error
      this.#warn(name, error)
    } finally {
      this.#checking.delete(name)
    }
  }

  #warn(cell: string, error: unknown): void {
    this.#log.warn({ error, cell }, 'cell not opened: its accounts get 503 until it is; check its database')
  }

  async #settle(): Promise<void> {
    if (this.#isSettling) return
    this.#isSettling = true
    await Promise.all([this.#release(), this.#findForgotten(), ...this.#others.map((cell) => this.#settleIn(cell))])
    this.#isSettling = false
  }

  async #findForgotten(): Promise<void> {
    const rows = await this.#db.query(listForgotten, {}).catch(() => null)
    const names = rows?.map(({ name }) => name) ?? []
    if (rows !== null && names.length > 0 && names.join() !== this.#forgotten)
      this.#log.warn(
        { cells: names },
        'databases do not follow home, so prices, keys and routes grow old there: `npm start -- cells add <name>` makes their copies anew',
      )
    if (rows !== null) this.#forgotten = names.join()
  }

  async #release(): Promise<void> {
    try {
      const released = await releaseHolds(this.#db.home, (name) => this.#others.find((cell) => cell.name === name))
      if (released.length > 0)
        this.#log.warn(
          { buckets: released },
          'buckets admitted again whose moves had stopped while they were held: `npm start -- cells move` goes on with them',
        )
    } catch (error) {
      if (!isUnavailable(error))
        this.#log.warn(
          { error },
          'buckets that are held by no command not admitted: tried again; see `npm start -- cells list`',
        )
    }
  }

  async #settleIn(cell: Cell): Promise<void> {
    try {
      const ended = await settleDecisions(this.#db.home, cell)
      if (ended > 0)
        this.#log.warn(
          { ended, cell: cell.name },
          'transactions over several cells ended for nodes that stopped in them: nothing to do unless this repeats often',
        )
    } catch (error) {
      // A cell that is away is told of by the checks of /readyz.
      if (!isUnavailable(error))
        this.#log.warn(
          { error, cell: cell.name },
          'transactions over several cells not ended: tried again; check the database of the cell',
        )
    }
  }
}

/** Refuses a database that is another cell than it is named, or none. */
async function requireName(cell: Cell): Promise<void> {
  const { rows } = await cell.beside.query<{ name: string }>('select name from platform.this_cell')
  const [row] = rows
  if (row?.name === cell.name) return
  const found = row ? `is ${row.name}` : 'is no cell of an installation'
  throw new StartError(`The database that PAMOJA_CELLS names ${cell.name} ${found}: correct its URL.`)
}
