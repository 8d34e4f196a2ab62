// SPDX-License-Identifier: Apache-2.0
// Move of a bucket into another cell while it is used:
//
//   copy    its rows of one moment are copied; what changes after that is kept by a slot
//   follow  a subscription applies it, until the copy is only a little behind
//   hold    the old cell refuses the bucket; when the copy has everything, the new cell admits it
//   flip    home says where the bucket lives now
//   drop    the subscription ends, and the old rows are deleted
//
// The step to be done next is in platform.bucket_moves, and each may be repeated: a command that was killed is run again. Until
// the flip no node writes into the new cell, so a move can also be taken back, by moving the bucket to where it is.
import { setTimeout as pause } from 'node:timers/promises'
import { buckets } from '../../kernel/ids.ts'
import { StartError } from '../../kernel/start-error.ts'
import { type Cell, type Cells, homeName, inTransaction, rowsOf } from './cells.ts'
import {
  caughtUp,
  copyRows,
  forgetChanges,
  lagOf,
  type Replication,
  subscribe,
  unsubscribe,
  whenUnlocked,
} from './replication.ts'
import { requireMovable } from './requirements.ts'

/** How far behind the copy may be when the bucket is held: what is left is applied in a fraction of a second. */
const followedBytes = 8_000_000
/** Nodes read every second where buckets live; one that does not know yet reads the old rows until then. */
const keepOldRowsMs = 3_000
const deletedAtOnce = 5_000
/** Number of the advisory lock of a cell's owners, the same in every version. */
const ownersLock = 7_266_564

type Say = (sentence: string) => void

interface Move {
  from_cell: string
  to_cell: string
  step: 'copy' | 'follow' | 'hold' | 'flip' | 'drop'
}

/** Moves a bucket, or goes on with its move where that stopped. Returns what to tell the operator. */
export async function moveBucket(cells: Cells, bucket: number, to: string, say: Say): Promise<string> {
  const home = await cells.home
  await cells.lock([home], bucket)
  const begun = await moveOf(home, bucket)
  if (begun && begun.from_cell === to && begun.step !== 'drop') return takeBack(cells, bucket, begun)
  if (begun && begun.to_cell !== to)
    throw new StartError(
      `Bucket ${bucket} is on its way from ${begun.from_cell} to ${begun.to_cell} (${begun.step}): finish that first, with \`npm start -- cells move ${bucket} ${begun.to_cell}\`.`,
    )
  const move = begun ?? (await begin(cells, bucket, to))
  if (move === null) return `Bucket ${bucket} lives in ${to} already.`
  const [source, target] = [await cells.open(move.from_cell), await cells.open(move.to_cell)]
  await cells.lock([source, target], bucket)
  const replication = replicationOf(source, target, bucket)
  let { step } = move
  // A slot does not outlive every failover: then the move begins again.
  if (['follow', 'hold'].includes(step) && (await lagOf(replication)) === null) {
    await admitAgain(home, source, bucket)
    step = 'copy'
  }
  if (step === 'copy') await copy(home, replication, bucket, say)
  if (['copy', 'follow'].includes(step)) await follow(home, replication, bucket, say)
  const heldMs = step === 'drop' ? null : await holdAndFlip(home, replication, bucket, say)
  await drop(home, replication, bucket, say)
  return heldMs === null
    ? `Bucket ${bucket} lives in ${to}.`
    : `Bucket ${bucket} lives in ${to}. Its writes were held for ${Math.round(heldMs)} ms.`
}

async function moveOf(home: Cell, bucket: number): Promise<Move | null> {
  const [move] = await rowsOf<Move>(
    home,
    'select from_cell, to_cell, step from platform.bucket_moves where bucket = $1',
    [bucket],
  )
  return move ?? null
}

/** Notes a move that begins; null if the bucket is there already. */
async function begin(cells: Cells, bucket: number, to: string): Promise<Move | null> {
  const home = await cells.home
  const target = await cells.open(to)
  const [place] = await rowsOf<{ cell: string; state: string | null }>(
    home,
    `select coalesce((select cell from platform.buckets where bucket = $1), 'home') as cell,
            (select state from platform.cells where name = $2) as state`,
    [bucket, to],
  )
  const from = place?.cell ?? homeName
  if (from === to) return null
  if (to !== homeName && place?.state !== 'open')
    throw new StartError(
      place?.state === 'draining'
        ? `${to} is being drained: \`npm start -- cells add ${to}\` opens it again.`
        : `${to} is no cell of this installation yet: \`npm start -- cells add ${to}\` first.`,
    )
  await requireMovable(await cells.open(from), target)
  await home.client.query('insert into platform.bucket_moves (bucket, from_cell, to_cell) values ($1, $2, $3)', [
    bucket,
    from,
    to,
  ])
  return { from_cell: from, to_cell: to, step: 'copy' }
}

function replicationOf(from: Cell, to: Cell, bucket: number): Replication {
  return { from, to, name: nameOf(bucket), tables: 'platform.tenant_tables()', bucket }
}

function nameOf(bucket: number): string {
  return `pamoja_bucket_${bucket}`
}

async function copy(home: Cell, replication: Replication, bucket: number, say: Say): Promise<void> {
  const { from, to } = replication
  say(`Copying bucket ${bucket} from ${from.name} to ${to.name}`)
  // An earlier attempt may have come to any point: all of it is taken back.
  await emptyTarget(replication, bucket, say)
  const rows = await copyRows(replication)
  say(`Copied ${rows} rows`)
  await next(home, bucket, 'follow')
}

async function follow(home: Cell, replication: Replication, bucket: number, say: Say): Promise<void> {
  await subscribe(replication)
  say('Following what has changed since')
  await caughtUp(replication, followedBytes)
  await next(home, bucket, 'hold')
}

/** Returns for how long the bucket was held, in milliseconds. */
async function holdAndFlip(home: Cell, replication: Replication, bucket: number, say: Say): Promise<number> {
  const { from, to } = replication
  say('Holding writes')
  // Once the bucket is held the other cell is to have it soon, so what is slow to begin with is done before.
  await caughtUp(replication, followedBytes)
  const sequences = await sequencesOf(from)
  const since = performance.now()
  await refuse(from, bucket)
  say('Waiting for the last changes')
  await caughtUp(replication, 'now')
  say('Admitting the bucket')
  await whenUnlocked(to, () => passSequences(to, sequences))
  await admit(to, bucket)
  say('Telling every node')
  await inTransaction(home, async () => {
    await home.client.query(
      `insert into platform.buckets as b (bucket, cell) values ($1, $2)
         on conflict (bucket) do update set cell = excluded.cell, epoch = b.epoch + 1, moved_at = now()
       where b.cell <> excluded.cell`,
      [bucket, to.name],
    )
    await next(home, bucket, 'drop')
    await home.client.query(`select pg_notify('pamoja', $1)`, [`cells ${bucket}`])
  })
  return performance.now() - since
}

async function drop(home: Cell, replication: Replication, bucket: number, say: Say): Promise<void> {
  say('Deleting the old rows')
  await unsubscribe(replication)
  const [row] = await rowsOf<{ sinceMs: number }>(
    home,
    `select 1000 * extract(epoch from now() - step_at)::float8 as "sinceMs" from platform.bucket_moves where bucket = $1`,
    [bucket],
  )
  await pause(Math.max(0, keepOldRowsMs - (row?.sinceMs ?? 0)))
  await removeRows(replication.from, bucket, say)
  await home.client.query('delete from platform.bucket_moves where bucket = $1', [bucket])
}

/** Takes back a move before the flip. The old cell admits the bucket first, whether the new one can be reached or not. */
async function takeBack(cells: Cells, bucket: number, { from_cell, to_cell }: Move): Promise<string> {
  const [home, source] = [await cells.home, await cells.open(from_cell)]
  await cells.lock([source], bucket)
  await admitAgain(home, source, bucket)
  await forgetChanges(source, to_cell, nameOf(bucket))
  const target = await cells.open(to_cell)
  await cells.lock([target], bucket)
  await emptyTarget(replicationOf(source, target, bucket), bucket, () => undefined)
  await home.client.query('delete from platform.bucket_moves where bucket = $1', [bucket])
  return `The move of bucket ${bucket} to ${to_cell} is taken back: it lives in ${from_cell}, as before.`
}

async function admitAgain(home: Cell, source: Cell, bucket: number): Promise<void> {
  await admit(source, bucket)
  await next(home, bucket, 'copy')
}

async function emptyTarget(replication: Replication, bucket: number, say: Say): Promise<void> {
  const { to } = replication
  await unsubscribe(replication)
  if ((await ownedBy(to)).includes(bucket)) await refuse(to, bucket)
  await removeRows(to, bucket, say)
}

async function next(home: Cell, bucket: number, step: Move['step']): Promise<void> {
  await home.client.query('update platform.bucket_moves set step = $2, step_at = now() where bucket = $1', [
    bucket,
    step,
  ])
}

/**
 * Lets every table of a cell refuse a bucket, one after the other: what began before in a table has ended when it is the next
 * one's turn, and what touches one that refuses fails as a whole. The last commit brings all of that to the disk.
 */
function refuse(cell: Cell, bucket: number): Promise<void> {
  return alone(cell, async () => {
    const owned = (await ownedBy(cell)).filter((one) => one !== bucket)
    await note(cell, owned)
    await inEveryTable(cell, owned)
    await note(cell, owned)
  })
}

/** Lets every table of a cell admit a bucket, before the cell says that it owns it. */
function admit(cell: Cell, bucket: number): Promise<void> {
  return alone(cell, async () => {
    const owned = await ownedBy(cell)
    if (owned.includes(bucket)) return
    const after = [...owned, bucket].sort((a, b) => a - b)
    await inEveryTable(cell, after)
    await note(cell, after)
  })
}

/** Commands that move other buckets change what this cell owns before or after. */
async function alone(cell: Cell, work: () => Promise<void>): Promise<void> {
  await cell.client.query(`select pg_advisory_lock(${ownersLock})`)
  try {
    await work()
  } finally {
    await cell.client.query(`select pg_advisory_unlock(${ownersLock})`)
  }
}

async function ownedBy(cell: Cell): Promise<readonly number[]> {
  const [row] = await rowsOf<{ buckets: number[] | null }>(cell, 'select buckets from platform.this_cell')
  if (!row) throw new StartError(`${cell.name} is no cell yet: \`npm start -- cells add <name>\` first.`)
  return row.buckets ?? buckets
}

async function note({ client }: Cell, owned: readonly number[]): Promise<void> {
  await client.query('update platform.this_cell set buckets = $1, epoch = epoch + 1', [owned])
}

async function inEveryTable(cell: Cell, owned: readonly number[]): Promise<void> {
  for (const { name } of await rowsOf<{ name: string }>(
    cell,
    'select name::text from platform.tenant_tables() t(name)',
  ))
    await whenUnlocked(cell, async () => {
      await cell.client.query('set local synchronous_commit = off')
      await cell.client.query('select platform.own_buckets_in($1::regclass, $2::smallint[])', [name, owned])
    })
}

/** Deletes the rows of a bucket from a cell that does not admit it, a few at a time, jobs first. */
async function removeRows(cell: Cell, bucket: number, say: Say): Promise<void> {
  const leaves = await rowsOf<{ name: string }>(
    cell,
    `select coalesce(l.relid, t.name)::regclass::text as name
       from platform.tenant_tables() t(name) left join pg_partition_tree(t.name) l on true
      where l.isleaf is not false order by t.name <> 'work.jobs'::regclass, 1`,
  )
  let gone = 0
  for (const { name } of leaves)
    for (let rows = deletedAtOnce; rows === deletedAtOnce; gone += rows)
      rows = await inTransaction(cell, async () => {
        await requireNotOwned(cell, bucket)
        await cell.client.query('set local session_replication_role = replica')
        const { rowCount } = await cell.client.query(
          `delete from ${name} where ctid = any(array(select ctid from ${name} where bucket = $1 limit ${deletedAtOnce}))`,
          [bucket],
        )
        return rowCount ?? 0
      })
  if (gone > 0) say(`Deleted ${gone} rows of bucket ${bucket} in ${cell.name}`)
}

async function requireNotOwned(cell: Cell, bucket: number): Promise<void> {
  const [row] = await rowsOf<{ owned: boolean }>(
    cell,
    'select $1 = any(buckets) is not false as owned from platform.this_cell for share',
    [bucket],
  )
  if (row?.owned !== false) throw new Error(`bucket ${bucket} lives in ${cell.name}: its rows are not deleted there`)
}

interface Sequence {
  name: string
  last: string
}

async function sequencesOf(cell: Cell): Promise<Sequence[]> {
  return rowsOf<Sequence>(
    cell,
    `select format('%I.%I', schemaname, sequencename) as name, last_value::text as last from pg_sequences
      where last_value is not null and schemaname not in ('public', 'information_schema') and schemaname !~ '^pg_'`,
  )
}

/** Room for numbers that are drawn at the source after they were read, and here while they are passed. */
const sequenceRoom = 100_000n

/** Lets sequences go on behind the numbers that moved rows may have, with at least half of the room. */
async function passSequences(cell: Cell, sequences: readonly Sequence[]): Promise<void> {
  for (const { name, last } of sequences)
    await cell.client.query(`select setval($1, $2::bigint) where (select last_value from ${name}) < $3::bigint`, [
      name,
      BigInt(last) + sequenceRoom,
      BigInt(last) + sequenceRoom / 2n,
    ])
}
