// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts'
import type { Database } from '../db.ts'
import { type Migration, MigrationError, migrate, migrationsIn, requireMigrated } from './migrate.ts'

let folder: string
let database: TestDatabase
let db: Database

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pamoja-migrations-'))
})
after(() => rm(folder, { recursive: true, force: true }))
beforeEach(async () => {
  database = await createTestDatabase()
  db = database.connect()
})
afterEach(() => database.drop())

test('files are applied once, in the order of their names', async () => {
  const files = await migrations({
    '0002_b': 'create table t.b (id int)',
    '0001_a': 'create schema t; create table t.a (id int)',
    README: '',
  })
  assert.deepEqual(
    files.map(({ name }) => name),
    ['0001_a', '0002_b'],
  )
  assert.deepEqual(await migrate(db, files), ['0001_a', '0002_b'])
  assert.deepEqual(await migrate(db, files), [])
  const more = [...files, ...(await migrations({ '0003_c': 'create table t.c (id int)' }))]
  assert.deepEqual(await migrate(db, more), ['0003_c'])
  assert.deepEqual(await tables(), ['t.a', 't.b', 't.c'])
})

test('a file that was changed after it was applied is refused, and nothing is touched', async () => {
  await migrate(db, await migrations({ '0001_a': 'create schema t' }))
  const changed = await migrations({ '0001_a': 'create schema t;', '0002_b': 'create table t.b (id int)' })
  await assert.rejects(migrate(db, changed), isRefusal(/0001_a was changed after it was applied/))
  await assert.rejects(requireMigrated(db, changed), isRefusal(/0001_a was changed/))
  assert.deepEqual(await tables(), [])
})

test('a database of a newer version is refused', async () => {
  const both = await migrations({ '0001_a': 'create schema t', '0002_b': 'create table t.b (id int)' })
  await migrate(db, both)
  await assert.rejects(migrate(db, both.slice(0, 1)), isRefusal(/newer version.*0002_b.*update the program/))
})

test('two nodes that start at once apply each file once', async () => {
  // A second run would fail: the schema exists.
  const files = await migrations({
    '0001_a': 'create schema t; select pg_sleep(0.2)',
    '0002_b': 'create table t.b (id int)',
  })
  const applied = await Promise.all([migrate(db, files), migrate(db, files), migrate(database.connect(), files)])
  assert.deepEqual(applied.flat().sort(), ['0001_a', '0002_b'])
  assert.equal(applied.filter((names) => names.length === 2).length, 1)
})

test('a file that fails leaves nothing behind, and what came before it stays', async () => {
  const files = await migrations({
    '0001_a': 'create schema t',
    '0002_b': 'create table t.b (id int); insert into t.b values (1); select 1/0',
    '0003_c': 'create table t.c (id int)',
  })
  await assert.rejects(migrate(db, files), isRefusal(/0002_b failed: division by zero/))
  assert.deepEqual(await tables(), [])
  assert.deepEqual(await names(), ['0001_a'])
  const mended = await migrations({
    '0001_a': 'create schema t',
    '0002_b': 'create table t.b (id int)',
    '0003_c': 'create table t.c (id int)',
  })
  assert.deepEqual(await migrate(db, mended), ['0002_b', '0003_c'])
})

test('a node that may not migrate says what is missing', async () => {
  const files = await migrations({ '0001_a': 'create schema t', '0002_b': 'create table t.b (id int)' })
  await assert.rejects(
    requireMigrated(db, files),
    isRefusal(/lacks the migrations 0001_a, 0002_b: run `npm start -- migrate` first/),
  )
  await migrate(db, files)
  await requireMigrated(db, files)
})

test('a migration may take longer than any request may', async () => {
  const { Database } = await import('../db.ts')
  const hasty = new Database(
    { url: database.url, poolSize: 1, statementTimeoutMs: 50, applicationName: 'test' },
    () => undefined,
  )
  assert.deepEqual(await migrate(hasty, await migrations({ '0001_a': 'select pg_sleep(0.2)' })), ['0001_a'])
  await hasty.close()
})

/** The migrations of a folder that holds these files. */
async function migrations(files: Readonly<Record<string, string>>): Promise<Migration[]> {
  const own = await mkdtemp(join(folder, 'set-'))
  for (const [name, text] of Object.entries(files))
    await writeFile(join(own, /^\d/.test(name) ? `${name}.sql` : name), text)
  return migrationsIn(pathToFileURL(`${own}/`))
}

async function tables(): Promise<string[]> {
  const rows = await database.sql<{ name: string }>(
    `select 't.' || tablename as name from pg_tables where schemaname = 't' order by 1`,
  )
  return rows.map(({ name }) => name)
}

async function names(): Promise<string[]> {
  const rows = await database.sql<{ name: string }>('select name from public.pamoja_migrations order by name')
  return rows.map(({ name }) => name)
}

function isRefusal(pattern: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof MigrationError, String(error))
    assert.match(error.message, pattern)
    return true
  }
}
