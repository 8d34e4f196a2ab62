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
        rows: given.flatMap(({ rows }) => rows),
        rowCount: given.reduce((total, { rowCount }) => total + (rowCount ?? 0), 0),
      }
    },
  })
}

/** Moves the clock of a test account, and nothing that waits for it. */
export async function moveClockAlone(sql: pg.Client, account: string | null, ms: number): Promise<void> {
  for (const table of ['sandbox_clocks', 'held_clocks'])
    await sql.query(`update accounts.${table} set offset_ms = offset_ms + $2::bigint where account_id = $1`, [
      account,
      ms,
    ])
}
