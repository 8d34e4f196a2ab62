// SPDX-License-Identifier: Apache-2.0
// Replication of some tables, or of some of their rows, from one database into another: the rows of one moment are copied in
// one transaction, and a subscription brings what changes after it. The slot is made before the subscription and marks
// that moment, which also lets both databases be on one server.
import { pipeline } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import { errorCode } from '../../kernel/error-code.ts'
import { StartError } from '../../kernel/start-error.ts'
import { type Cell, inTransaction, rowsOf } from './cells.ts'

export interface Replication {
  readonly from: Cell
  readonly to: Cell
  /** Name of the publication and of the subscription, and the last part of the slot's. */
  readonly name: string
  /** Function that lists the tables. */
  readonly tables: 'platform.tenant_tables()' | 'platform.home_tables()'
  /** The only bucket that is replicated; null for all rows. */
  readonly bucket: number | null
}

/** Settings by which a statement is in no log of the database: the one that subscribes has an address with its password. */
const quiet = [
  ['log_statement', "'none'"],
  ['log_min_duration_statement', '-1'],
  ['log_min_duration_sample', '-1'],
  ['log_min_error_statement', 'panic'],
  ['pg_stat_statements.track_utility', 'off'],
] as const
const pollMs = 20
/** Between looks while writes may be held, and how many looks there are for each at the errors of the other side. */
const hurriedMs = 5
const errorPolls = 50
const lockTriesMs = 100

/** Copies the rows of this moment; whole tables are emptied first. The publication and the slot keep what changes from then on. Returns the number of rows. */
export async function copyRows(replication: Replication): Promise<number> {
  const { from, to, name } = replication
  const tables = await tablesOf(replication)
  const where = filterOf(replication)
  await addPartitions(replication)
  await from.client.query(
    `create publication ${name} for table ${tables.map((table) => `${table}${where}`).join(', ')}
       with (publish_via_partition_root = true)`,
  )
  // Both end with the copy, also when it fails and there is more to be read.
  const [line, reader] = [another(from, { replication: 'database' }), another(from)]
  try {
    await Promise.all([line.connect(), reader.connect()])
    const { rows } = await line.query<{ snapshot_name: string }>(
      `CREATE_REPLICATION_SLOT ${await slotOf(replication.from, replication.to.name, replication.name)} LOGICAL pgoutput (SNAPSHOT 'export')`,
    )
    await reader.query('begin isolation level repeatable read read only')
    await reader.query(`set transaction snapshot '${rows[0]?.snapshot_name}'`)
    await reader.query('savepoint between_tables')
    return await inTransaction(to, async () => {
      await to.client.query('set local session_replication_role = replica')
      if (replication.bucket === null) await to.client.query(`truncate ${tables.join(', ')}`)
      let copied = 0
      for (const table of tables) copied += await copyTable(reader, replication, table)
      return copied
    })
  } catch (error) {
    if (errorCode(error) === '53400')
      throw new StartError(
        `${from.name} has no replication slot left: raise max_replication_slots and max_wal_senders.`,
      )
    throw error
  } finally {
    await Promise.all([line.end(), reader.end()])
  }
}

async function copyTable(reader: pg.Client, replication: Replication, table: string): Promise<number> {
  const { from, to } = replication
  const [described] = await rowsOf<{ columns: string }>(
    from,
    `select string_agg(quote_ident(attname), ', ' order by attnum) as columns from pg_attribute
      where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table],
  )
  const columns = described?.columns ?? ''
  const rows = reader.query(copyTo(`copy (select ${columns} from ${table}${filterOf(replication)}) to stdout`))
  await pipeline(rows, to.client.query(copyFrom(`copy ${table} (${columns}) from stdin`)))
  // What has been read is unlocked at once, for those who make and drop partitions meanwhile.
  await reader.query('rollback to savepoint between_tables')
  return rows.rowCount
}

/** Lets the changes follow, from the moment of the copy on. */
export async function subscribe(replication: Replication): Promise<void> {
  const { from, to, name } = replication
  if ((await rowsOf(to, ownSubscription, [name])).length > 0) return
  for (const [setting, value] of quiet) await to.client.query(`set ${setting} = ${value}`)
  try {
    await to.client.query(
      `create subscription ${name} connection ${pg.escapeLiteral(from.url)} publication ${name}
         with (create_slot = false, slot_name = ${await slotOf(replication.from, replication.to.name, replication.name)}, copy_data = false, streaming = off,
               synchronous_commit = 'on')`,
    )
  } catch (error) {
    if (error instanceof Error && /could not connect/.test(error.message))
      throw new StartError(
        `The database of ${to.name} cannot reach that of ${from.name}, from which it is to follow changes: ${error.message}. The address must hold from every database, and pg_hba.conf must let it in.`,
        { cause: error },
      )
    throw error
  } finally {
    for (const [setting] of quiet) await to.client.query(`reset ${setting}`)
  }
}

const ownSubscription = `select subenabled from pg_subscription
  where subname = $1 and subdbid = (select oid from pg_database where datname = current_database())`

/** Ends it, however far it had come: subscription, slot and publication. Rows stay. */
export async function unsubscribe(replication: Replication): Promise<void> {
  const { from, to, name } = replication
  if ((await rowsOf(to, ownSubscription, [name])).length > 0) {
    await to.client.query(`alter subscription ${name} disable`)
    await to.client.query(`alter subscription ${name} set (slot_name = none)`)
    await to.client.query(`drop subscription ${name}`)
  }
  await forgetChanges(from, to.name, name)
}

/** Ends it where it reads, which needs the other side no more: nothing of the log is kept for it. */
export async function forgetChanges(from: Cell, to: string, name: string): Promise<void> {
  await dropSlot(from, await slotOf(from, to, name))
  await from.client.query(`drop publication if exists ${name}`)
}

async function dropSlot(from: Cell, slot: string): Promise<void> {
  for (;;) {
    const [row] = await rowsOf<{ active_pid: number | null }>(
      from,
      'select active_pid from pg_replication_slots where slot_name = $1',
      [slot],
    )
    if (!row) return
    if (row.active_pid !== null) await from.client.query('select pg_terminate_backend($1)', [row.active_pid])
    try {
      await from.client.query('select pg_drop_replication_slot($1)', [slot])
    } catch (error) {
      // 55006 still in use, 42704 gone by itself.
      if (!['55006', '42704'].includes(errorCode(error))) throw error
      await pause(pollMs)
    }
  }
}

/** Bytes of log that the copy is behind; null if nothing is kept for it, or no longer all. */
export async function lagOf(replication: Replication): Promise<number | null> {
  const [row] = await rowsOf<{ lag: number | null }>(
    replication.from,
    `select pg_wal_lsn_diff(pg_current_wal_flush_lsn(), confirmed_flush_lsn)::float8 as lag
       from pg_replication_slots where slot_name = $1 and wal_status <> 'lost'`,
    [await slotOf(replication.from, replication.to.name, replication.name)],
  )
  return row?.lag ?? null
}

/** Waits until the copy has stored everything up to this moment, or is less than `bytes` behind. */
export async function caughtUp(replication: Replication, bytes: number | 'now'): Promise<void> {
  const { from, to, name } = replication
  const slot = await slotOf(from, to.name, name)
  const [end] = await rowsOf<{ lsn: string }>(from, 'select pg_current_wal_flush_lsn()::text as lsn')
  for (let polls = 1; ; polls++) {
    const [row] = await rowsOf<{ isThere: boolean; lag: number }>(
      from,
      `select confirmed_flush_lsn >= $2::pg_lsn as "isThere",
              pg_wal_lsn_diff(pg_current_wal_flush_lsn(), confirmed_flush_lsn)::float8 as lag
         from pg_replication_slots where slot_name = $1 and wal_status <> 'lost'`,
      [slot, end?.lsn],
    )
    if (!row) throw new StartError(`The replication slot ${slot} of ${from.name} is gone: run the command again.`)
    if (bytes === 'now' ? row.isThere : row.lag < bytes) return
    if (polls % errorPolls === 0) await requireNoErrors(to, name)
    await pause(bytes === 'now' ? hurriedMs : pollMs)
  }
}

async function requireNoErrors(to: Cell, name: string): Promise<void> {
  const [row] = await rowsOf<{ errors: number }>(
    to,
    `select t.apply_error_count::int as errors
       from pg_subscription s join pg_stat_subscription_stats t on t.subid = s.oid
       join pg_database d on d.oid = s.subdbid and d.datname = current_database()
      where s.subname = $1`,
    [name],
  )
  if (row && row.errors > 0)
    throw new StartError(
      `${to.name} cannot apply what follows (subscription ${name}, ${row.errors} attempts): its reason is in the log of that database. Correct it and run the command again.`,
    )
}

/** Partitions that the source has and the target lacks, unless another one there has their rows. */
async function addPartitions({ from, to, tables }: Replication): Promise<void> {
  const there = await rowsOf<{ name: string; parent: string; bounds: string; options: string | null }>(
    from,
    `select c.oid::regclass::text as name, i.inhparent::regclass::text as parent, pg_get_expr(c.relpartbound, c.oid) as bounds,
            array_to_string(c.reloptions, ', ') as options
       from ${tables} t(name) join pg_inherits i on i.inhparent = t.name join pg_class c on c.oid = i.inhrelid
      order by 1`,
  )
  const here = await rowsOf<{ name: string }>(
    to,
    `select i.inhrelid::regclass::text as name from ${tables} t(name) join pg_inherits i on i.inhparent = t.name`,
  )
  const known = new Set(here.map(({ name }) => name))
  for (const { name, parent, bounds, options } of there) {
    if (known.has(name)) continue
    const text = `create table ${name} (like ${parent}_default including all)${options ? ` with (${options})` : ''};
      alter table ${parent} attach partition ${name} ${bounds}`
    await unlessOverlapping(() => whenUnlocked(to, () => to.client.query(text)))
  }
}

async function unlessOverlapping(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (errorCode(error) !== '42P17') throw error
  }
}

/** Repeats what waits for locks of others, half a second each time, so that nobody waits behind it for longer. */
export async function whenUnlocked<T>(cell: Cell, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await inTransaction(cell, async () => {
        await cell.client.query(`set local lock_timeout = 500`)
        return work()
      })
    } catch (error) {
      if (!['55P03', '40P01'].includes(errorCode(error))) throw error
      if (tries >= 300)
        throw new StartError(
          `Tables of ${cell.name} are held by another transaction, such as a backup: wait until it has ended, and run the command again.`,
          { cause: error },
        )
      await pause(lockTriesMs)
    }
  }
}

async function tablesOf({ from, tables }: Replication): Promise<string[]> {
  return (await rowsOf<{ name: string }>(from, `select name::text from ${tables} t(name)`)).map(({ name }) => name)
}

function filterOf({ bucket }: Replication): string {
  return bucket === null ? '' : ` where (bucket = ${bucket})`
}

/** Slots belong to the server, which may have several databases of ours. */
async function slotOf(from: Cell, to: string, name: string): Promise<string> {
  const [row] = await rowsOf<{ oid: string }>(
    from,
    'select oid::text from pg_database where datname = current_database()',
  )
  return `pamoja_${row?.oid}_${name.replace('pamoja_', '')}_${to.replaceAll('-', '_')}`
}

/** Another connection to a cell; the types of pg lack the parameter by which it speaks the protocol of replication. */
function another({ client }: Cell, parameters: { replication?: 'database' } = {}): pg.Client {
  const { host, port, user, password, database, ssl } = client
  const made = new pg.Client({ host, port, user, password, database, ssl, ...parameters })
  made.on('error', () => undefined)
  return made
}
