// SPDX-License-Identifier: Apache-2.0
// Connections of a command to the cells of an installation: each is opened when it is first needed, and refused if its address
// leads to another cell than its name says.
import pg from 'pg'
import { errorCode } from '../../kernel/error-code.ts'
import { bucketCount } from '../../kernel/ids.ts'
import { StartError } from '../../kernel/start-error.ts'
import { Database, isUnavailable } from '../db.ts'

/** Name of the cell of DATABASE_URL. */
export const homeName = 'home'

const lockWaitMs = 30_000
/** First key of the advisory locks, the same in every version. */
export const lockSpace = 7_266_563

/** A connection to a cell, and the address by which other databases reach it. */
export interface Cell {
  readonly name: string
  readonly url: string
  readonly client: pg.Client
}

export class Cells {
  readonly #urls: ReadonlyMap<string, string>
  readonly #opened = new Map<string, Promise<Cell>>()
  readonly #databases: Database[] = []
  readonly #locked = new Set<string>()

  /** `urls` are those of all cells, by their names, home among them. */
  constructor(urls: ReadonlyMap<string, string>) {
    this.#urls = urls
  }

  get home(): Promise<Cell> {
    return this.open(homeName)
  }

  get names(): readonly string[] {
    return [...this.#urls.keys()]
  }

  open(name: string): Promise<Cell> {
    const there = this.#opened.get(name)
    if (there) return there
    const opening = this.#open(name)
    this.#opened.set(name, opening)
    return opening
  }

  /**
   * Waits until no other command works on a bucket, or, without one, on the list of cells. Asked in each database, because the
   * statements of a command that was killed may go on for a while.
   */
  async lock(cells: readonly Cell[], bucket = bucketCount): Promise<void> {
    for (const { name, client } of cells) {
      const key = `${name} ${bucket}`
      if (this.#locked.has(key)) continue
      try {
        await client.query(`set lock_timeout = ${lockWaitMs}`)
        await client.query('select pg_advisory_lock($1, $2)', [lockSpace, bucket])
        await client.query('set lock_timeout = 0')
      } catch (error) {
        if (errorCode(error) !== '55P03') throw error
        throw new StartError(
          `Another command is still busy with ${bucket === bucketCount ? 'the cells' : `bucket ${bucket}`} in ${name}: wait until it has ended.`,
        )
      }
      this.#locked.add(key)
    }
  }

  async close(): Promise<void> {
    const opened = await Promise.allSettled(this.#opened.values())
    for (const one of opened) if (one.status === 'fulfilled') await one.value.client.end()
    await Promise.all(this.#databases.map((database) => database.close()))
  }

  async #open(name: string): Promise<Cell> {
    const url = this.#urls.get(name)
    if (url === undefined)
      throw new StartError(
        `PAMOJA_CELLS names no cell ${name}: add ${name}=postgres://user:password@host/database to it, here and on every node.`,
      )
    const database = new Database(
      { url, poolSize: 1, statementTimeoutMs: 0, applicationName: 'pamoja-cells' },
      () => undefined,
    )
    this.#databases.push(database)
    const cell = { name, url, client: await this.#connected(database, name) }
    await requireName(cell)
    return cell
  }

  async #connected(database: Database, name: string): Promise<pg.Client> {
    try {
      await database.find()
      return await database.connect()
    } catch (error) {
      const reason = error instanceof Error ? error.message || errorCode(error) : String(error)
      if (name !== homeName && (isUnavailable(error) || error instanceof pg.DatabaseError))
        throw new StartError(`The cell ${name} cannot be reached: ${reason}`, { cause: error })
      throw error
    }
  }
}

/** Rows of a statement about which nothing is known beforehand. */
export async function rowsOf<Row extends object>(
  { client }: Pick<Cell, 'client'>,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  return (await client.query<Row>(text, [...values])).rows
}

/** The name that a database has been given; null before it is a cell. */
export async function givenName(cell: Cell): Promise<string | null> {
  const [there] = await rowsOf<{ there: boolean }>(
    cell,
    `select to_regclass('platform.this_cell') is not null as there`,
  )
  if (!there?.there) return null
  const [row] = await rowsOf<{ name: string }>(cell, 'select name from platform.this_cell')
  return row?.name ?? null
}

async function requireName(cell: Cell): Promise<void> {
  const name = await givenName(cell)
  if (name !== null && name !== cell.name)
    throw new StartError(
      cell.name === homeName
        ? `DATABASE_URL leads to the cell ${name}, not to home: correct it.`
        : `The address of ${cell.name} in PAMOJA_CELLS leads to ${name === homeName ? 'the home database' : `the cell ${name}`}: correct it.`,
    )
}

export async function inTransaction<T>({ client }: Cell, work: () => Promise<T>): Promise<T> {
  await client.query('begin')
  try {
    const result = await work()
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}
