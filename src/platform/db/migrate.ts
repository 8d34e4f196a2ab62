// SPDX-License-Identifier: Apache-2.0
// Forward-only migrations: the SQL files of src/migrations by name, each in its own transaction, one node at a time;
// then the changed functions, all in one. An applied migration may never change: its checksum is compared. A function
// that a migration calls is applied before it.
import type pg from 'pg'
import { one, type Queryable, statement } from '../db.ts'
import { applyFunctions, changedFunctions, makeFunctionList } from './functions.ts'
import { calledBy, hasTable, type Migration, MigrationError, type SchemaFiles } from './schema-files.ts'
import { isHistory, takeOver } from './takeover.ts'

/** Database that is migrated: one cell. */
type Connectable = { connect(): Promise<pg.Client> }

/** Advisory lock number, the same in every version. */
const lockNumber = 7_266_562

/** Applies what is missing or changed. Returns the names of applied migrations. */
export async function migrate(db: Connectable, files: SchemaFiles): Promise<string[]> {
  const client = await db.connect()
  try {
    await client.query('set statement_timeout = 0')
    await client.query(`select pg_advisory_lock(${lockNumber})`)
    await makeMigrationList(client)
    await makeFunctionList(client)
    await takeOver(client, files.migrations)
    const missing = await pending(client, files.migrations)
    await changedFunctions(client, files)
    for (const migration of missing) await apply(client, migration, files)
    await inTransaction(client, () => applyFunctions(client, files))
    return missing.map(({ name }) => name)
  } finally {
    await client.end()
  }
}

/** Throws when the database is not at this program's version. */
export async function requireMigrated(db: Connectable, files: SchemaFiles): Promise<void> {
  const client = await db.connect()
  try {
    requireNone('migrations', await pending(client, files.migrations))
    requireNone('functions', await changedFunctions(client, files))
  } finally {
    await client.end()
  }
}

export interface AppliedMigrations {
  applied: number
  latest: string
  latest_at: Date
}

const countApplied = statement.home<Record<never, never>, AppliedMigrations>(
  'platform.count_migrations',
  `select count(*)::int as applied, max(name) as latest, max(applied_at) as latest_at from public.pamoja_migrations`,
)

/** Applied migrations of a database. */
export async function appliedMigrations(queryable: Queryable): Promise<AppliedMigrations> {
  return one(queryable.query(countApplied, {}))
}

function requireNone(kind: 'migrations' | 'functions', missing: readonly { name: string }[]): void {
  if (missing.length > 0)
    throw new MigrationError(
      `The database lacks the ${kind} ${missing.map(({ name }) => name).join(', ')}: run \`npm start -- migrate\` first.`,
    )
}

async function makeMigrationList(client: pg.Client): Promise<void> {
  await client.query(`create table if not exists public.pamoja_migrations
    (name text primary key, checksum text not null, applied_at timestamptz not null default now())`)
}

/** Pending migrations, after a check of the applied ones. */
async function pending(client: pg.Client, migrations: readonly Migration[]): Promise<Migration[]> {
  if (!(await hasTable(client, 'public.pamoja_migrations'))) return [...migrations]
  const { rows } = await client.query<{ name: string; checksum: string }>(
    'select name, checksum from public.pamoja_migrations',
  )
  const applied = new Map(rows.map(({ name, checksum }) => [name, checksum]))
  for (const { name, checksum } of migrations)
    if (applied.has(name) && applied.get(name) !== checksum)
      throw new MigrationError(
        `The migration ${name} was changed after it was applied: restore the file, and put the change into a new one.`,
      )
  const unknown = [...applied.keys()].filter(
    (name) => !isHistory(name, migrations) && !migrations.some((migration) => migration.name === name),
  )
  if (unknown.length > 0)
    throw new MigrationError(
      `The database was made by a newer version of this program (it has ${unknown.join(', ')}): update the program.`,
    )
  return migrations.filter(({ name }) => !applied.has(name))
}

async function apply(client: pg.Client, { name, text, checksum }: Migration, files: SchemaFiles): Promise<void> {
  try {
    await inTransaction(client, async () => {
      await applyFunctions(client, { ...files, functions: calledBy(text, files.functions) })
      await client.query(text)
      await client.query('insert into public.pamoja_migrations (name, checksum) values ($1, $2)', [name, checksum])
    })
  } catch (error) {
    throw new MigrationError(`The migration ${name} failed: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    })
  }
}

async function inTransaction(client: pg.Client, work: () => Promise<void>): Promise<void> {
  try {
    await client.query('begin')
    await work()
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}
