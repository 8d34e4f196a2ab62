// SPDX-License-Identifier: Apache-2.0
// Membership of cells: one is added empty, with a copy of what belongs to no tenant, which follows home from then on; and one is
// drained, so that it can be taken out.
import { StartError } from '../../kernel/start-error.ts'
import { type Cell, type Cells, givenName, homeName, inTransaction, rowsOf } from './cells.ts'
import { alone, moveBucket } from './move.ts'
import { caughtUp, copyRows, lagOf, type Replication, subscribe, unsubscribe, whenUnlocked } from './replication.ts'
import { requireCell } from './requirements.ts'

type Say = (sentence: string) => void

/** Copy of the home tables in a cell, for the statements and functions there that read them beside rows of tenants. */
export function homeCopies(home: Cell, cell: Cell): Replication {
  return { from: home, to: cell, name: 'pamoja_home', tables: 'platform.home_tables()', bucket: null }
}

/** Adds a migrated database as a cell without buckets, or opens one again. May be repeated. */
export async function addCell(cells: Cells, name: string, say: Say): Promise<string> {
  const home = await cells.home
  const cell = await cells.open(name)
  // Asked first: two names of one database would wait for each other.
  await requireCell(home, cell)
  await cells.lock([home, cell])
  if ((await givenName(cell)) === null) await requireEmpty(cell)
  // The note of a restore that was killed would let another one fill a cell that is in use by then.
  await cell.client.query('delete from platform.decisions where not commits')
  await inTransaction(home, () =>
    home.client.query(`insert into platform.this_cell (name) values ('${homeName}') on conflict do nothing`),
  )
  await alone(cell, () =>
    whenUnlocked(cell, async () => {
      await cell.client.query(
        `insert into platform.this_cell (name, buckets) values ($1, '{}') on conflict (is_one) do nothing`,
        [name],
      )
      await cell.client.query('select platform.own_buckets((select buckets from platform.this_cell))')
    }),
  )
  // Beforehand and at once: a bucket may move from home as well as into it.
  for (const one of [home, cell]) await whenUnlocked(one, () => one.client.query('select sms.take_along()'))
  await copyHome(home, cell, say)
  const { rowCount } = await home.client.query(
    `insert into platform.cells (name) values ($1) on conflict (name) do nothing`,
    [name],
  )
  await home.client.query(`update platform.cells set state = 'open' where name = $1`, [name])
  await home.client.query(`select pg_notify('pamoja', $1)`, [`cells ${name}`])
  return rowCount === 0
    ? `${name} is open.`
    : `${name} is a cell of this installation now. It holds nothing yet: \`npm start -- cells move <bucket> ${name}\` gives it a bucket.`
}

async function requireEmpty(cell: Cell): Promise<void> {
  const tables = await rowsOf<{ name: string }>(cell, 'select name::text from platform.tenant_tables() t(name)')
  const accounts = [...tables.map(({ name }) => name), 'accounts.accounts']
  const [found] = await rowsOf<{ used: boolean }>(
    cell,
    `select ${accounts.map((table) => `exists (select from ${table})`).join(' or ')} as used`,
  )
  if (found?.used !== false)
    throw new StartError(
      `The database of ${cell.name} holds accounts or their data: a cell begins with an empty database. Nothing was changed.`,
    )
}

/** Makes the copy and lets it follow. One that follows is left as it is. */
async function copyHome(home: Cell, cell: Cell, say: Say): Promise<void> {
  const copies = homeCopies(home, cell)
  if (await isComplete(copies)) return
  say(`Copying what belongs to no tenant from ${homeName} to ${cell.name}`)
  await unsubscribe(copies)
  await copyRows(copies)
  await subscribe(copies)
  await caughtUp(copies, 'now')
}

/** Whether a copy of home follows it without errors, with every table that this version has. */
export async function isComplete(copies: Replication): Promise<boolean> {
  if ((await lagOf(copies)) === null) return false
  const [row] = await rowsOf<{ published: boolean }>(
    copies.from,
    `select array(select name::oid from platform.home_tables() t(name) order by 1)
            = array(select prrelid from pg_publication_rel r join pg_publication p on p.oid = r.prpubid
                     where p.pubname = $1 order by 1) as published`,
    [copies.name],
  )
  const [there] = await rowsOf<{ subscribed: boolean }>(
    copies.to,
    `select exists (select from pg_subscription s join pg_database d on d.oid = s.subdbid
                     where s.subname = $1 and s.subenabled and d.datname = current_database()
                       and not exists (select from pg_stat_subscription_stats t
                                        where t.subid = s.oid and t.apply_error_count > 0)) as subscribed`,
    [copies.name],
  )
  return row?.published === true && there?.subscribed === true
}

/** Moves every bucket out of a cell. A cell that is empty already is taken out of the installation. */
export async function drainCell(cells: Cells, name: string, say: Say): Promise<string> {
  const home = await cells.home
  await cells.lock([home])
  const [was] = await rowsOf<{ state: string }>(home, 'select state from platform.cells where name = $1', [name])
  if (!was) throw new StartError(`${name} is no cell that can be drained: \`npm start -- cells list\` shows them.`)
  await home.client.query(`update platform.cells set state = 'draining' where name = $1`, [name])
  const left = await bucketsOf(home, name)
  if (left.length === 0 && was.state === 'draining') return takeOut(cells, name)
  for (const { bucket, to } of left) say(await moveBucket(cells, bucket, to ?? (await emptiest(home, name)), say))
  return `${name} holds no bucket any more: run this again to take it out of the installation.`
}

/** Buckets in a cell or on their way into it, and where those that move are going; null: to be chosen. */
async function bucketsOf(home: Cell, name: string): Promise<{ bucket: number; to: string | null }[]> {
  return rowsOf(
    home,
    `select b.bucket::int as bucket, m.to_cell as to from platform.buckets b left join platform.bucket_moves m using (bucket)
      where b.cell = $1
     union
     select m.bucket::int, case when m.step in ('copy', 'follow') then m.from_cell else m.to_cell end
       from platform.bucket_moves m where m.to_cell = $1
     order by 1`,
    [name],
  )
}

/** The cell with the fewest buckets, home among them. */
async function emptiest(home: Cell, besides: string): Promise<string> {
  const [row] = await rowsOf<{ name: string }>(
    home,
    `select c.name
       from (select name from platform.cells where state = 'open' and name <> $1 union all select 'home') c
      order by case when c.name = 'home' then 256 - (select count(*) from platform.buckets where cell <> 'home')
                    else (select count(*) from platform.buckets where cell = c.name) end, c.name
      limit 1`,
    [besides],
  )
  return row?.name ?? homeName
}

async function takeOut(cells: Cells, name: string): Promise<string> {
  const [home, cell] = [await cells.home, await cells.open(name)]
  await cells.lock([cell])
  const [move] = await rowsOf<{ bucket: number; from_cell: string; to_cell: string }>(
    home,
    'select bucket::int, from_cell, to_cell from platform.bucket_moves where $1 in (from_cell, to_cell) order by 1 limit 1',
    [name],
  )
  if (move)
    throw new StartError(
      `Bucket ${move.bucket} is still on its way from ${move.from_cell} to ${move.to_cell}: finish that first, with \`npm start -- cells move ${move.bucket} ${move.to_cell}\`.`,
    )
  const prepared = await rowsOf(cell, `select from pg_prepared_xacts where database = current_database()`)
  if (prepared.length > 0)
    throw new StartError(`${name} has transactions that are not decided: a node ends them within seconds. Try again.`)
  await unsubscribe(homeCopies(home, cell))
  await home.client.query('delete from platform.cells where name = $1', [name])
  await home.client.query(`select pg_notify('pamoja', $1)`, [`cells ${name}`])
  return `${name} is no cell any more: take it out of PAMOJA_CELLS on every node.`
}
