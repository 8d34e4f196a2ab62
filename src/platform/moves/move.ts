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
import { bucketCount, buckets } from '../../kernel/ids.ts'
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
import { type Connected, requireMovable } from './requirements.ts'

/** How far behind the copy may be when the bucket is about to be held. */
const followedBytes = 8_000_000
/** Before that the copy catches up as often as this, unless it has done so in a moment: what is left then is applied in another. */
const catchUps = { most: 5, shortMs: 100 }
/** Nodes read every second where buckets live; one that does not know yet reads the old rows until then. */
const keepOldRowsMs = 3_000
const deletedAtOnce = 5_000
/** For how long transactions that are writing are waited for, before the bucket is held and while it is. */
const writersMs = { before: 180_000, held: 10_000 }
const writersPollMs = 5
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
  if (move.step !== 'drop') for (const cell of [source, target]) await guard(cell)
  let { step } = move
  // A slot does not outlive every failover: then the move begins again.
  if (['follow', 'hold'].includes(step) && (await lagOf(replication)) === null) {
    await admitAgain(home, source, bucket)
    step = 'copy'
  }
  if (step === 'copy') await copy(home, replication, bucket, say)
  if (['copy', 'follow'].includes(step)) await follow(home, replication, bucket, say)
  const held = step === 'drop' ? null : await holdAndFlip(home, replication, bucket, say)
  await drop(home, replication, bucket, say)
  return [`Bucket ${bucket} lives in ${to}.`, held].filter((sentence) => sentence !== null).join(' ')
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

/** Returns how long writes of the bucket were held, and what for. */
async function holdAndFlip(home: Cell, replication: Replication, bucket: number, say: Say): Promise<string> {
  const { from, to } = replication
  // The bucket is held by neither where a command was killed between the two: then only little is left to be done.
  const isGivenAway = (await ownedBy(to)).includes(bucket) && !(await ownedBy(from)).includes(bucket)
  // Elsewhere it is not to be refused while what is slow is done again.
  if (!isGivenAway) await admit(from, bucket)
  say('Holding writes')
  if (!isGivenAway) await prepareHold(replication)
  const times = [performance.now()]
  const passed = (): number => times.push(performance.now())
  await refuse(from, bucket)
  passed()
  say('Waiting for the last changes')
  await caughtUp(replication, 'now')
  passed()
  say('Admitting the bucket')
  await give(to, bucket)
  passed()
  say('Telling every node')
  await home.client.query(
    `with placed as (
       insert into platform.buckets as b (bucket, cell) values ($1, $2)
         on conflict (bucket) do update set cell = excluded.cell, epoch = b.epoch + 1, moved_at = now()
       where b.cell <> excluded.cell
     ), moved as (
       update platform.bucket_moves set step = 'drop', step_at = now() where bucket = $1
     )
     select pg_notify('pamoja', $3)`,
    [bucket, to.name, `cells ${bucket}`],
  )
  passed()
  const [writers, changes, admitting, telling] = times.slice(1).map((time, i) => Math.round(time - (times[i] ?? time)))
  const all = Math.round((times.at(-1) ?? 0) - (times[0] ?? 0))
  return `Its writes were held for ${all} ms: ${writers} for transactions to end, ${changes} for the last changes, ${admitting} to admit it, ${telling} to tell the nodes.`
}

/**
 * Does beforehand what is slow, so that the other cell has the bucket soon once it is held: long transactions end, the copy comes
 * close, and sequences go on behind the numbers that were drawn until then.
 */
async function prepareHold(replication: Replication): Promise<void> {
  const { from, to } = replication
  await writersEnd(from, writersMs.before)
  for (let tries = 0, tookMs = Number.POSITIVE_INFINITY; tries < catchUps.most && tookMs > catchUps.shortMs; tries++) {
    const sinceMs = performance.now()
    await caughtUp(replication, 'now')
    tookMs = performance.now() - sinceMs
  }
  const sequences = await sequencesOf(from)
  await whenUnlocked(to, () => passSequences(to, sequences))
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
 * Lets a cell refuse a bucket: at once for whatever begins, and then waits for the transactions that were writing. If one of them
 * does not end, the cell admits the bucket again.
 */
async function refuse(cell: Cell, bucket: number): Promise<void> {
  await own(cell, `array_remove(c.buckets, ${bucket}::smallint)`)
  try {
    await writersEnd(cell, writersMs.held)
  } catch (error) {
    await give(cell, bucket)
    throw error
  }
  // What they committed without waiting for the disk is on it with this.
  await cell.client.query(`select pg_logical_emit_message(true, 'pamoja', '')`)
}

export async function admit(cell: Connected, bucket: number): Promise<void> {
  if (!(await ownedBy(cell)).includes(bucket)) await give(cell, bucket)
}

/**
 * Lets a cell admit a bucket that was held. Nobody could extend the leases of its jobs meanwhile: those that are being run must not
 * be begun by another node.
 */
async function give(cell: Connected, bucket: number): Promise<void> {
  await own(
    cell,
    `array(select one from unnest(c.buckets) one union select ${bucket}::smallint order by 1)`,
    `update work.jobs set run_at = now() + work.lease()
      where bucket = ${bucket} and owner is not null and run_at < now() + work.lease()`,
  )
}

/** Changes which buckets a cell owns, in one message, which is one transaction. Commands that are about others do so before or after. */
async function own({ client }: Connected, owned: string, and = ''): Promise<void> {
  await client.query(
    `select pg_advisory_xact_lock(${ownersLock});
     select platform.admit_buckets(${owned})
       from (select coalesce(buckets, array(select n::smallint from generate_series(0, ${bucketCount - 1}) n)) as buckets
               from platform.this_cell) c;
     ${and}`,
  )
}

/** Lets the tables of a cell ask which buckets it owns: once for each, one after the other, waiting for nobody for long. */
function guard(cell: Cell): Promise<void> {
  return alone(cell, async () => {
    // As this version has it: what tables ask may be of an older one.
    await own(cell, 'c.buckets')
    const unguarded = await rowsOf<{ name: string }>(
      cell,
      `select name::text from platform.tenant_tables() t(name)
        where not exists (select from pg_constraint where conrelid = name and conname = 'own_bucket'
                             and pg_get_constraintdef(oid) like '%owns_bucket%')`,
    )
    for (const { name } of unguarded)
      await whenUnlocked(cell, () => cell.client.query('select platform.own_buckets_in($1::regclass)', [name]))
  })
}

/** Transactions that have changed rows of tenants and go on, prepared ones too; subscriptions and these commands are let in anyway. */
const writing = `select distinct l.virtualtransaction as id
  from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
 where l.mode = 'RowExclusiveLock' and l.granted
   and l.relation in (select coalesce(p.relid, t.name) from platform.tenant_tables() t(name)
                        left join pg_partition_tree(t.name) p on true
                      union all select name from platform.tenant_tables() t(name))
   and not exists (select from pg_stat_activity a
                    where a.pid = l.pid and (a.backend_type ~ '^logical replication' or a.application_name = 'pamoja-cells'))`

/** Waits until every transaction that is writing now has ended. */
async function writersEnd(cell: Cell, withinMs: number): Promise<void> {
  let left = (await rowsOf<{ id: string }>(cell, writing)).map(({ id }) => id)
  const until = performance.now() + withinMs
  while (left.length > 0) {
    if (performance.now() > until)
      throw new StartError(
        `A transaction in ${cell.name} has been writing for too long: wait until it has ended, and run the command again.`,
      )
    await pause(writersPollMs)
    const still = new Set((await rowsOf<{ id: string }>(cell, writing)).map(({ id }) => id))
    left = left.filter((id) => still.has(id))
  }
}

/** Commands that are about other buckets change what this cell owns before or after. */
export async function alone(cell: Connected, work: () => Promise<void>): Promise<void> {
  await cell.client.query(`select pg_advisory_lock(${ownersLock})`)
  try {
    await work()
  } finally {
    await cell.client.query(`select pg_advisory_unlock(${ownersLock})`)
  }
}

async function ownedBy(cell: Connected): Promise<readonly number[]> {
  const [row] = await rowsOf<{ buckets: number[] | null }>(cell, 'select buckets from platform.this_cell')
  if (!row) throw new StartError(`${cell.name} is no cell yet: \`npm start -- cells add <name>\` first.`)
  return row.buckets ?? buckets
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
