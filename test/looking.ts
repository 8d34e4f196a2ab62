// SPDX-License-Identifier: Apache-2.0
// A look into the databases of a world, beside its nodes: with several cells every one is asked, and the rows put together. What
// belongs to no tenant is asked at home alone, and a cell that refuses a bucket is passed over.
import pg from 'pg'
import { isMoving } from '../src/platform/db.ts'
import type { World } from './world.ts'

export function lookInto({ databaseUrl, app }: Pick<World, 'databaseUrl' | 'app'>): pg.Client {
  const cells = app.config.PAMOJA_CELLS.map(({ url }) => new pg.Client({ connectionString: url }))
  const home = new pg.Client({ connectionString: databaseUrl })
  if (cells.length === 0) return home
  const all = [home, ...cells]
  let isOfHome = /^$/
  return Object.assign(new pg.Client(), {
    async connect() {
      await Promise.all(all.map((client) => client.connect()))
      const { rows } = await home.query<{ name: string }>('select t::text as name from platform.home_tables() t')
      isOfHome = new RegExp(`\\b(${rows.map(({ name }) => name.replace('.', '\\.')).join('|')})\\b`)
    },
    async end() {
      await Promise.all(all.map((client) => client.end()))
    },
    async query(text: string, values?: unknown[]) {
      const asked = isOfHome.test(text) ? all.slice(0, 1) : all
      const answers = await Promise.allSettled(asked.map((client) => client.query<pg.QueryResultRow>(text, values)))
      const given = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
      const failed = answers.find((answer) => answer.status === 'rejected' && !isMoving(answer.reason))
      if (failed?.status === 'rejected' || given.length === 0) throw failed ?? new Error('every cell refused it')
      return {
        ...given[0],
        rows:
          isSum.test(text) && !isBroken.test(text)
            ? added(given.flatMap(({ rows }) => rows))
            : given.flatMap(({ rows }) => rows),
        rowCount: given.reduce((total, { rowCount }) => total + (rowCount ?? 0), 0),
      }
    },
  })
}

/** Sums and counts without groups: every cell gives one row of them. */
const isSum = /\b(count|sum)\(/
const isBroken = /\b(group by|having|returning|partition by)\b/

/** One row of the rows of all cells, with their figures added up. */
function added(rows: readonly pg.QueryResultRow[]): pg.QueryResultRow[] {
  const [first, ...others] = rows
  if (first === undefined) return []
  const sum = (name: string): unknown => others.reduce((total, row) => plus(total, row[name]), first[name])
  return [Object.fromEntries(Object.keys(first).map((name) => [name, sum(name)]))]
}

/** Numbers that are too large for a double, and such with a fraction, come as text. */
function plus(a: unknown, b: unknown): unknown {
  if (a === null || b === null) return a ?? b
  if (typeof a === 'number' && typeof b === 'number') return a + b
  if (typeof a !== 'string' || typeof b !== 'string') throw new Error('only figures of several cells are added up')
  const places = Math.max(...[a, b].map((text) => text.split('.')[1]?.length ?? 0))
  const whole = (text: string): bigint =>
    BigInt(text.replace('.', '') + '0'.repeat(places - (text.split('.')[1]?.length ?? 0)))
  const digits = (whole(a) + whole(b)).toString().padStart(places + 1, '0')
  return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`
}

/** Moves the clock of a test account, and nothing that waits for it. */
export async function moveClockAlone(sql: pg.Client, account: string | null, ms: number): Promise<void> {
  for (const table of ['sandbox_clocks', 'held_clocks'])
    await sql.query(`update accounts.${table} set offset_ms = offset_ms + $2::bigint where account_id = $1`, [
      account,
      ms,
    ])
}
