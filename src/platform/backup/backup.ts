// SPDX-License-Identifier: Apache-2.0
// Backup and restore of all data in the database. Ours, because the embedded server comes without pg_dump; through COPY,
// so that neither side ever holds more than a few blocks in memory. pg-copy-streams does the COPY, because pg itself has
// no streams for it, and so no way to read only as fast as the disk writes.
//
// The file does not hold the secret key, without which the secrets in it are as closed as they are in the database.
// A restored installation does again what was still to be done when the backup was made.
import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import type { Cell } from '../db/cell.ts'
import { type Database, sqlState } from '../db.ts'
import { homeName } from '../moves/cells.ts'
import { requireCell } from '../moves/requirements.ts'
import {
  type BackupBegin,
  BackupError,
  block,
  fileOf,
  formatVersion,
  line,
  type Migrations,
  type Part,
  readBackup,
  type TableBegin,
  writeBackup,
} from './file.ts'
import { beginTogether, prepareSession, sessionsOf } from './moment.ts'

const lockTimeoutMs = 10_000
/** First key of the advisory lock of a file that is being written. */
const fileLock = 7_266_565

/** Tables of running nodes only; a restored database fills its own. */
const transientTables: ReadonlySet<string> = new Set([
  'platform.nodes', // The processes that run.
  'platform.leases', // What each of them is doing; they end by themselves within seconds.
  'platform.sandbox', // Where one of them is reached.
  'platform.rate_slots', // What each of them may admit within the next minute.
])

/**
 * Writes a snapshot of all data to a file, without blocking writers; of several databases to one each, all of the same moment.
 * Returns a sentence for the operator.
 */
export async function backup(db: Database, file: string): Promise<string> {
  const sessions = await sessionsOf(db.cells)
  const cells = sessions.map(({ cell }) => cell.name)
  const id = randomUUID()
  try {
    await requireAlone(sessions[0]?.client, file)
    await beginTogether(sessions)
    const parts = sessions.map(({ cell, client }) => {
      const part = cells.length === 1 ? undefined : { backup: id, cell: cell.name, cells }
      const own = new Map<string, number>()
      return { name: fileOf(file, cell.name, id), own, content: dump(client, own, part) }
    })
    // Home last: with its file the backup is there.
    const sizes = await writeBackup(new Map(parts.toReversed().map(({ name, content }) => [name, content])))
    const counts = new Map<string, number>()
    for (const { own } of parts) addTo(counts, own)
    const written = parts.map(({ name }) => `${name} (${size(sizes.get(name) ?? 0)})`).join(' and ')
    return `Backed up ${amount(counts)} to ${written}. The secret key (PAMOJA_SECRET_KEY, or the file secret-key in PAMOJA_HOME) is not in it: keep a copy of that elsewhere, because the secrets in the backup cannot be opened without it.`
  } finally {
    for (const { client } of sessions) await client.end()
  }
}

/** Refuses a second backup into the same file: one of the two would name a file that the other is still writing. */
async function requireAlone(client: pg.Client | undefined, file: string): Promise<void> {
  const asked = await client?.query<{ mine: boolean }>('select pg_try_advisory_lock($1, hashtext($2)) as mine', [
    fileLock,
    resolve(file),
  ])
  if (asked?.rows[0]?.mine !== true)
    throw new BackupError(`Another backup is being written to ${file}: wait until it has ended. There is no backup.`)
}

/**
 * Restores a file into a migrated database without accounts, completely or not at all; of a backup of several databases each
 * file into its own, which `prepare` migrates. Every file is read twice: a damaged one is found before any database is touched,
 * and the loaded data is checked again before the first commit. Home is committed last.
 */
export async function restore(
  db: Database,
  file: string,
  prepare: (cell: Cell) => Promise<void> = async () => undefined,
): Promise<string> {
  const clients: pg.Client[] = []
  try {
    const home = await open(clients, db, homeName, file)
    const others = await openOthers(clients, db, home, prepare)
    const [totals, loads] = [new Map<string, number>(), new Map<Target, Loaded>()]
    for (const target of [...others, home]) {
      const loaded = await load(target)
      loads.set(target, loaded)
      addTo(totals, loaded.counts)
    }
    // Last, because a rollback does not undo it.
    for (const [{ client }, { sequences }] of loads) await writeSequences(client, sequences)
    for (const { client } of others) await client.query(noteUnfinished, [home.begin.part?.backup])
    for (const { client } of loads.keys()) await client.query('commit')
    for (const { client } of others) await client.query(forgetUnfinished, [home.begin.part?.backup])
    const left = loads.get(home)?.left ?? []
    const omitted = left.length === 0 ? '' : ` Left out, because this version has no use for them: ${left.join(', ')}.`
    return `Restored ${amount(totals)} from ${file}, made at ${home.begin.made_at}.${omitted} Before you start, put the secret key of that installation in place (PAMOJA_SECRET_KEY, or the file secret-key in PAMOJA_HOME).`
  } finally {
    // Transactions that are open end with their connections.
    for (const client of clients) await client.end()
  }
}

/**
 * Note in a database beside home that it was filled and home perhaps not, because the restore was killed between the two. The next
 * one fills it again. Only home's own decisions count.
 */
const noteUnfinished = 'insert into platform.decisions (id, commits) values ($1, false) on conflict (id) do nothing'
const forgetUnfinished = 'delete from platform.decisions where id = $1 and not commits'

async function isUnfinished(client: pg.Client, backup: string): Promise<boolean> {
  const { rowCount } = await client.query('select from platform.decisions where id = $1 and not commits', [backup])
  return rowCount === 1
}

/** A database that is restored into, empty and locked, and its file, which is intact. */
interface Target {
  readonly name: string
  readonly client: pg.Client
  readonly file: string
  readonly begin: BackupBegin
  readonly tables: ReadonlyMap<string, Table>
}

async function open(
  clients: pg.Client[],
  database: Pick<Cell, 'connect'>,
  name: string,
  file: string,
  prepare: (client: pg.Client) => Promise<void> = async () => undefined,
  backup: string | null = null,
): Promise<Target> {
  const client = await database.connect()
  clients.push(client)
  await prepare(client)
  await client.query('begin')
  await prepareSession(client)
  const tables = await ourTables(client)
  await lock(client, name, tables)
  if (backup === null || !(await isUnfinished(client, backup))) await requireEmpty(client, name, tables)
  const { begin } = await readBackup(file)
  await requireVersion(client, begin.migrations)
  return { name, client, file, begin, tables: new Map(tables.map((table) => [table.name, table])) }
}

/** Opens the databases that a backup has beside home. */
async function openOthers(
  clients: pg.Client[],
  db: Database,
  { begin: { part }, file, client: home }: Target,
  prepare: (cell: Cell) => Promise<void>,
): Promise<Target[]> {
  const others: Target[] = []
  if (part === undefined) return others
  if (part.cell !== homeName)
    throw new BackupError(`${file} is the part of ${part.cell}: name the file of home. Nothing was restored.`)
  for (const name of part.cells.filter((one) => one !== homeName)) {
    const cell = db.further.get(name)
    if (!cell)
      throw new BackupError(
        `The backup is of several databases: add ${name} to PAMOJA_CELLS, with an empty one. Nothing was restored.`,
      )
    await cell.find()
    const prepared = async (client: pg.Client): Promise<void> => {
      // What two names of one database would wait for is locked already.
      await requireCell({ name: homeName, client: home }, { name, client })
      await prepare(cell)
    }
    const other = await open(clients, cell, name, fileOf(file, name, part.backup), prepared, part.backup)
    if (other.begin.part?.backup !== part.backup || other.begin.part.cell !== name)
      throw new BackupError(`${other.file} belongs to another backup than ${file}. Nothing was restored.`)
    others.push(other)
  }
  return others
}

interface Table {
  /** Schema and name as in the file, without quotes. */
  name: string
  schema: string
  /** Quoted for SQL. */
  quoted: string
  columns: string[]
  partitions: { name: string; bounds: string }[]
}

const ourSchemas = `select oid from pg_namespace where nspname not in ('public', 'information_schema') and nspname !~ '^pg_'`

/** All our tables, except those of extensions. Partitions belong to their table. */
async function ourTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(`
    select n.nspname || '.' || c.relname as name, n.nspname as schema, format('%I.%I', n.nspname, c.relname) as quoted,
           array(select a.attname::text from pg_attribute a
                  where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
                  order by a.attnum) as columns,
           (select coalesce(json_agg(json_build_object('name', p.relname, 'bounds', pg_get_expr(p.relpartbound, p.oid))
                                     order by p.relname), '[]')
              from pg_inherits i join pg_class p on p.oid = i.inhrelid
             where i.inhparent = c.oid and p.relispartition) as partitions
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and not c.relispartition and n.oid in (${ourSchemas})
       and not exists (select from pg_depend d
                        where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
     order by 1`)
  return rows
}

async function appliedMigrations(client: pg.Client): Promise<Migrations> {
  const { rows } = await client.query<Migrations[number]>(
    'select name, checksum from public.pamoja_migrations order by name',
  )
  return rows
}

async function* dump(client: pg.Client, counts: Map<string, number>, part: Part | undefined): AsyncGenerator<Buffer> {
  const migrations = await appliedMigrations(client)
  const { rows: moments } = await client.query<{ now: Date }>('select now()')
  yield line({
    pamoja_backup: formatVersion,
    made_at: moments[0]?.now.toISOString() ?? '',
    migrations,
    ...(part && { part }),
  })
  await client.query('savepoint between_tables')
  for (const { name, quoted, columns, partitions } of await ourTables(client)) {
    if (transientTables.has(name)) continue
    yield line({ table: name, columns, partitions })
    const rows = client.query(copyTo(`copy (select ${list(columns)} from ${quoted}) to stdout`))
    // The loop below throws errors; if it is left early the stream still reports its connection's end.
    rows.on('error', () => undefined)
    for await (const chunk of rows) yield* block(chunk)
    yield line({ bytes: 0 })
    // Keep the snapshot but release the table lock, so that partitions can be created and dropped.
    await client.query('rollback to savepoint between_tables')
    counts.set(name, rows.rowCount)
  }
  await client.query('commit')
  await refuseIfMigrated(client, migrations)
  yield line({ rows: Object.fromEntries(counts), sequences: await readSequences(client) })
}

/** Refuses if a migration ran: a table it rewrote looks empty to an older snapshot. */
async function refuseIfMigrated(client: pg.Client, before: Migrations): Promise<void> {
  if (beyond(await appliedMigrations(client), before).length > 0)
    throw new BackupError('The database was migrated while it was backed up: start the backup again.')
}

/** Sequences have no snapshot; read last, they are past every number in the rows. */
async function readSequences(client: pg.Client): Promise<Record<string, string>> {
  const { rows } = await client.query<{ name: string; value: string }>(`
    select format('%I.%I', schemaname, sequencename) as name, last_value::text as value from pg_sequences
     where last_value is not null and schemaname::regnamespace::oid in (${ourSchemas})`)
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}

async function lock(client: pg.Client, name: string, tables: readonly Table[]): Promise<void> {
  try {
    await client.query(`set local lock_timeout = ${lockTimeoutMs}`)
    await client.query(`lock table ${tables.map(({ quoted }) => quoted).join(', ')} in access exclusive mode`)
    await client.query('set local lock_timeout = 0')
  } catch (error) {
    if (sqlState(error) !== '55P03') throw error
    throw new BackupError(`${named(name)} is in use: stop every node, then restore. Nothing was restored.`, {
      cause: error,
    })
  }
}

/** Refuses a database with accounts or their data; other rows come from migrations and nodes. */
async function requireEmpty(client: pg.Client, name: string, tables: readonly Table[]): Promise<void> {
  const tests = tables.flatMap(({ name: table, quoted, columns }) => {
    if (table === 'accounts.accounts') return [`exists (select from ${quoted})`]
    return columns.includes('account_id') ? [`exists (select from ${quoted} where account_id is not null)`] : []
  })
  const { rows } = await client.query<{ used: boolean }>(`select ${['false', ...tests].join(' or ')} as used`)
  if (rows[0]?.used !== false)
    throw new BackupError(
      `${named(name)} already holds accounts or their data: restore into an empty one. Nothing was restored.`,
    )
}

function named(cell: string): string {
  return cell === homeName ? 'The database' : `The database of ${cell}`
}

async function requireVersion(client: pg.Client, theirs: Migrations): Promise<void> {
  const ours = await appliedMigrations(client)
  const [added, missing] = [beyond(theirs, ours), beyond(ours, theirs)]
  if (added.length > 0)
    throw new BackupError(
      `The backup was made by a newer or another version of this program (it has ${added.join(', ')}): restore it with that version. Nothing was restored.`,
    )
  if (missing.length > 0)
    throw new BackupError(
      `The backup was made by an older version of this program (it lacks ${missing.join(', ')}): restore it with that version, then migrate with this one. Nothing was restored.`,
    )
}

/** Migrations of the first that the second lacks or has with another checksum. */
function beyond(first: Migrations, second: Migrations): string[] {
  const known = new Map(second.map(({ name, checksum }) => [name, checksum]))
  return first.filter(({ name, checksum }) => known.get(name) !== checksum).map(({ name }) => name)
}

interface Loaded {
  counts: ReadonlyMap<string, number>
  left: readonly string[]
  sequences: Readonly<Record<string, string>>
}

async function load(target: Target): Promise<Loaded> {
  try {
    return await loadRows(target)
  } catch (error) {
    if (/^2[23]/.test(sqlState(error)) && error instanceof Error)
      throw new BackupError(
        `The rows in ${target.file} do not fit the database (${error.message}). Nothing was restored.`,
        { cause: error },
      )
    throw error
  }
}

async function loadRows({ client, file, begin, tables }: Target): Promise<Loaded> {
  const counts = new Map<string, number>()
  const left: string[] = []
  const foreignKeys = await dropForeignKeys(client)
  const { summary } = await readBackup(file, async (given, rows) => {
    const table = tables.get(given.table)
    if (!table || transientTables.has(given.table)) left.push(given.table)
    else counts.set(given.table, await fill(client, table, given, rows))
  })
  for (const [name, count] of counts)
    if (summary.rows[name] !== count)
      throw new BackupError(
        `${file} has ${count} rows of ${name} and should have ${summary.rows[name]}. Nothing was restored.`,
      )
  for (const add of foreignKeys) await client.query(add)
  await freeJobs(client, counts)
  // Analyze, or the planner takes every table for empty.
  for (const name of counts.keys()) await client.query(`analyze ${tables.get(name)?.quoted}`)
  // Its tables refuse the buckets of others again.
  if (begin.part !== undefined)
    await client.query('select platform.own_buckets(buckets) from platform.this_cell where buckets is not null')
  return { counts, left, sequences: summary.sequences }
}

/** Drops the foreign keys, so that the order of tables does not matter. Returns the SQL to recreate them. */
async function dropForeignKeys(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ drop: string; add: string }>(`
    select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop,
           format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as add
      from pg_constraint where contype = 'f' and conparentid = 0 and connamespace in (${ourSchemas})`)
  for (const { drop } of rows) await client.query(drop)
  return rows.map(({ add }) => add)
}

/** Replaces the rows of a table, with triggers disabled. */
async function fill(client: pg.Client, table: Table, given: TableBegin, rows: AsyncIterable<Buffer>): Promise<number> {
  const unknown = given.columns.find((column) => !table.columns.includes(column))
  if (unknown !== undefined)
    throw new BackupError(`The table ${table.name} of this database has no column ${unknown}. Nothing was restored.`)
  await rebuildPartitions(client, table, given)
  await client.query(`truncate ${table.quoted}`)
  await client.query(`alter table ${table.quoted} disable trigger user`)
  const sink = client.query(copyFrom(`copy ${table.quoted} (${list(given.columns)}) from stdin`))
  await pipeline(rows, sink)
  await client.query(`alter table ${table.quoted} enable trigger user`)
  return sink.rowCount
}

/**
 * Recreates a table's partitions as in the file. Otherwise old rows would share one partition, kept until the youngest
 * expires, and rows beyond the prepared months would land in the default partition, which blocks creating their own.
 */
async function rebuildPartitions(client: pg.Client, table: Table, given: TableBegin): Promise<void> {
  const partition = (name: string): string => `${pg.escapeIdentifier(table.schema)}.${pg.escapeIdentifier(name)}`
  if (given.partitions.length === 0) return
  const [own] = table.partitions.filter(({ name }) => !name.endsWith('_default'))
  const like = own ? partition(own.name) : table.quoted
  // The order of columns and the storage parameters are those that this version gives to partitions.
  const model = partition('model_of_partitions')
  const { rows } = await client.query<{ stored: string }>(
    `select coalesce('with (' || array_to_string(reloptions, ', ') || ')', '') as stored from pg_class where oid = $1::regclass`,
    [like],
  )
  await client.query(`create table ${model} (like ${like} including all)`)
  for (const { name } of table.partitions) await client.query(`drop table ${partition(name)}`)
  for (const { name, bounds } of given.partitions)
    await client.query(`create table ${partition(name)} (like ${model} including all) ${rows[0]?.stored ?? ''};
      alter table ${table.quoted} attach partition ${partition(name)} ${bounds}`)
  await client.query(`drop table ${model}`)
}

/** Releases the leases of jobs: their nodes are gone. */
async function freeJobs(client: pg.Client, counts: ReadonlyMap<string, number>): Promise<void> {
  if (counts.has('work.jobs'))
    await client.query('update work.jobs set owner = null, run_at = least(run_at, now()) where owner is not null')
}

async function writeSequences(client: pg.Client, sequences: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(sequences))
    await client.query('select setval(to_regclass($1), $2::bigint) where to_regclass($1) is not null', [name, value])
}

function list(columns: readonly string[]): string {
  return columns.map(pg.escapeIdentifier).join(', ')
}

function addTo(totals: Map<string, number>, counts: ReadonlyMap<string, number>): void {
  for (const [table, rows] of counts) totals.set(table, (totals.get(table) ?? 0) + rows)
}

function amount(counts: ReadonlyMap<string, number>): string {
  const rows = [...counts.values()].reduce((sum, count) => sum + count, 0)
  return `${counted(counts.size, 'table')}, ${counted(rows, 'row')}`
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}

function size(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB']
  const step = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1)
  return `${(bytes / 1000 ** step).toFixed(step === 0 ? 0 : 1)} ${units[step]}`
}
