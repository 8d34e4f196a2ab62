// SPDX-License-Identifier: Apache-2.0
// Forward-only migrations: the SQL files of src/migrations in order of their names, each in a transaction of its own,
// one node at a time. A file that was applied may never change: its checksum is held against the stored one.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type pg from 'pg'
import { StartError } from '../../config.ts'
import { type Database, one, type Queryable, statement } from '../db.ts'

/** Any number will do, as long as every version of the program uses the same. */
const lockNumber = 7_266_562

export interface Migration {
  name: string
  text: string
  checksum: string
}

export class MigrationError extends StartError {}

/** Reads the migrations of a folder. */
export function migrationsIn(folder: URL): Migration[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => {
      const text = readFileSync(new URL(file, folder), 'utf8')
      return { name: file.replace(/\.sql$/, ''), text, checksum: createHash('sha256').update(text).digest('hex') }
    })
}

/** Applies what is missing. Gives the names of what was applied. */
export async function migrate(db: Database, migrations: readonly Migration[]): Promise<string[]> {
  const client = await db.connect()
  try {
    await client.query('set statement_timeout = 0')
    await client.query(`select pg_advisory_lock(${lockNumber})`)
    const missing = await pending(client, migrations)
    for (const migration of missing) await apply(client, migration)
    return missing.map(({ name }) => name)
  } finally {
    await client.end()
  }
}

/** Throws when the database is not at the version of this program. */
export async function requireMigrated(db: Database, migrations: readonly Migration[]): Promise<void> {
  const client = await db.connect()
  try {
    const missing = await pending(client, migrations)
    if (missing.length > 0)
      throw new MigrationError(
        `The database lacks the migrations ${missing.map(({ name }) => name).join(', ')}: run \`npm start -- migrate\` first.`,
      )
  } finally {
    await client.end()
  }
}

export interface AppliedMigrations {
  applied: number
  latest: string
  latest_at: Date
}

const countApplied = statement<Record<never, never>, AppliedMigrations>(
  'platform.count_migrations',
  `select count(*)::int as applied, max(name) as latest, max(applied_at) as latest_at from public.pamoja_migrations`,
)

/** How far the schema of a database is. */
export async function appliedMigrations(queryable: Queryable): Promise<AppliedMigrations> {
  return one(queryable.query(countApplied, {}))
}

async function pending(client: pg.Client, migrations: readonly Migration[]): Promise<Migration[]> {
  await client.query(`create table if not exists public.pamoja_migrations
    (name text primary key, checksum text not null, applied_at timestamptz not null default now())`)
  const { rows } = await client.query<{ name: string; checksum: string }>(
    'select name, checksum from public.pamoja_migrations',
  )
  const applied = new Map(rows.map(({ name, checksum }) => [name, checksum]))
  for (const { name, checksum } of migrations)
    if (applied.has(name) && applied.get(name) !== checksum)
      throw new MigrationError(
        `The migration ${name} was changed after it was applied: restore the file, and put the change into a new one.`,
      )
  const unknown = [...applied.keys()].filter((name) => !migrations.some((migration) => migration.name === name))
  if (unknown.length > 0)
    throw new MigrationError(
      `The database was made by a newer version of this program (it has ${unknown.join(', ')}): update the program.`,
    )
  return migrations.filter(({ name }) => !applied.has(name))
}

async function apply(client: pg.Client, { name, text, checksum }: Migration): Promise<void> {
  try {
    await client.query('begin')
    await client.query(text)
    await client.query('insert into public.pamoja_migrations (name, checksum) values ($1, $2)', [name, checksum])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw new MigrationError(`The migration ${name} failed: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    })
  }
}
