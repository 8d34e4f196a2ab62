// SPDX-License-Identifier: Apache-2.0
// List of the cells of an installation: their buckets, their size, how far their copies of home are behind, and what moves.
import { buckets as allBuckets } from '../../kernel/ids.ts'
import { StartError } from '../../kernel/start-error.ts'
import { type Cell, type Cells, homeName, rowsOf } from './cells.ts'
import { homeCopies, isComplete } from './members.ts'
import { lagOf } from './replication.ts'

interface Member {
  name: string
  state: string
  buckets: number[]
}

/** Lines for an operator. */
export async function listCells(cells: Cells): Promise<string> {
  const home = await cells.home
  const members = await membersOf(home)
  const rows = [['cell', 'state', 'buckets', 'size', 'copy of home behind by']]
  for (const member of members) rows.push(await lineOf(cells, home, member))
  const moves = await rowsOf<{ line: string }>(
    home,
    `select format('Bucket %s moves from %s to %s: %s since %s UTC.', bucket, from_cell, to_cell, step,
                   to_char(step_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS')) as line
       from platform.bucket_moves order by bucket`,
  )
  const unused = cells.names.filter((name) => !members.some((member) => member.name === name))
  return [
    ...inColumns(rows),
    ...moves.map(({ line }) => line),
    ...unused.map((name) => `${name} is in PAMOJA_CELLS only: \`npm start -- cells add ${name}\` makes it a cell.`),
  ].join('\n')
}

async function membersOf(home: Cell): Promise<Member[]> {
  const members = await rowsOf<Member>(
    home,
    `select c.name, c.state, array(select b.bucket::int from platform.buckets b where b.cell = c.name order by 1) as buckets
       from platform.cells c order by c.added_at, c.name`,
  )
  const away = new Set(members.flatMap(({ buckets }) => buckets))
  const buckets = allBuckets.filter((bucket) => !away.has(bucket))
  return [{ name: homeName, state: 'open', buckets }, ...members]
}

async function lineOf(cells: Cells, home: Cell, { name, state, buckets }: Member): Promise<string[]> {
  const beginning = [name, state, ranges(buckets)]
  try {
    const cell = await cells.open(name)
    const [size] = await rowsOf<{ size: string }>(
      cell,
      'select pg_size_pretty(pg_database_size(current_database())) as size',
    )
    return [...beginning, size?.size ?? '', name === homeName ? '' : await copyOf(home, cell)]
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    return [...beginning, 'not reached', error.message]
  }
}

async function copyOf(home: Cell, cell: Cell): Promise<string> {
  const copies = homeCopies(home, cell)
  if (!(await isComplete(copies))) return `does not follow: npm start -- cells add ${cell.name}`
  return `${Math.ceil(((await lagOf(copies)) ?? 0) / 1024)} kB`
}

/** Numbers with the runs among them in short: 0-6, 8. */
function ranges(numbers: readonly number[]): string {
  const runs: [first: number, last: number][] = []
  for (const number of numbers) {
    const run = runs.at(-1)
    if (run && run[1] === number - 1) run[1] = number
    else runs.push([number, number])
  }
  return runs.length === 0 ? 'none' : runs.map(([a, b]) => (a === b ? `${a}` : `${a}-${b}`)).join(',')
}

function inColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows.reduce<number[]>((most, row) => row.map((text, i) => Math.max(text.length, most[i] ?? 0)), [])
  return rows.map((row) =>
    row
      .map((text, i) => text.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
