// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts'
import { migrationsFolder } from '../../node/database.ts'
import type { Database } from '../db.ts'
import { migrate, requireMigrated } from './migrate.ts'
import { MigrationError, type SchemaFiles, schemaFiles } from './schema-files.ts'

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
    files.migrations.map(({ name }) => name),
    ['0001_a', '0002_b'],
  )
  assert.deepEqual(await migrate(db, files), ['0001_a', '0002_b'])
  assert.deepEqual(await migrate(db, files), [])
  files.migrations.push(...(await migrations({ '0003_c': 'create table t.c (id int)' })).migrations)
  assert.deepEqual(await migrate(db, files), ['0003_c'])
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
  const first = { ...both, migrations: both.migrations.slice(0, 1) }
  await assert.rejects(migrate(db, first), isRefusal(/newer version.*0002_b.*update the program/))
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

const schema = { '0001_a': 'create schema if not exists t; create table t.a (id int)' }
const double = (body: string) =>
  `create or replace function t.double(n int) returns int language sql immutable as $$ select ${body} $$;`

test('a function is applied once, and again when its text changes, where it is', async () => {
  const first = await migrations(schema, { 't.double': double('n + n') })
  await migrate(db, first)
  const [made] = await oids('t.double')
  await migrate(db, first)
  assert.equal(await applications('t.double'), 1)
  await migrate(db, await migrations(schema, { 't.double': double('n * 2 + 0') }))
  assert.equal(await applications('t.double'), 2)
  assert.deepEqual(await oids('t.double'), [made])
  assert.deepEqual(await database.sql('select t.double(4)'), [{ double: 8 }])
})

test('a function with other arguments takes the place of the old one', async () => {
  await migrate(db, await migrations(schema, { 't.double': double('n + n') }))
  const other = 'create or replace function t.double(n bigint) returns bigint language sql as $$ select n + n $$;'
  await migrate(db, await migrations(schema, { 't.double': other }))
  assert.equal((await oids('t.double')).length, 1)
  assert.deepEqual(await database.sql('select t.double(4::bigint)'), [{ double: '8' }])
})

test('types that a function takes are made anew with it, and so are other functions that take them', async () => {
  const submit = (columns: string) => `
    -- What it takes.
    create type t.submit_item as (${columns});
    create or replace function t.submit(items t.submit_item[]) returns int language sql as $$ select t.sum(items) $$;`
  const sum = (of: string) =>
    `create or replace function t.sum(items t.submit_item[]) returns int language sql as $$ select sum(${of})::int from unnest(items) i $$;`
  const outdent = (sql: string) => sql.replace(/^ {4}/gm, '')
  await migrate(db, await migrations(schema, { 't.submit': outdent(submit('a int')), 't.sum': sum('1') }))
  assert.deepEqual(await database.sql(`select t.submit(array[row(1)::t.submit_item])`), [{ submit: 1 }])
  await migrate(db, await migrations(schema, { 't.submit': outdent(submit('a int, b int')), 't.sum': sum('1') }))
  assert.deepEqual(await database.sql(`select t.submit(array[row(1, 2)::t.submit_item])`), [{ submit: 1 }])
  await migrate(db, await migrations(schema, { 't.submit': outdent(submit('a int, b int')), 't.sum': sum('i.b') }))
  assert.deepEqual(await database.sql(`select t.submit(array[row(1, 2)::t.submit_item])`), [{ submit: 2 }])
})

test('a function that a migration dropped is made again if there is still a file', async () => {
  await migrate(db, await migrations(schema, { 't.double': double('n + n') }))
  const dropping = { ...schema, '0002_b': 'drop function if exists t.double(int)' }
  await migrate(db, await migrations(dropping, { 't.double': double('n + n') }))
  assert.deepEqual(await database.sql('select t.double(4)'), [{ double: 8 }])
})

test('a function that a migration calls is there before it, with those that it calls itself', async () => {
  const files = await migrations(
    {
      '0001_a': 'create schema if not exists t; create table t.a as select t.four(2) as id; -- t.later() is not called',
    },
    {
      't.four':
        'create or replace function t.four(n int) returns int language sql as $$ select t.double(t.double(n)) $$;',
      't.double': double('n + n'),
      't.later': 'create or replace function t.later() returns setof t.a language sql as $$ select * from t.a $$;',
    },
  )
  await migrate(db, files)
  assert.deepEqual(await database.sql('select * from t.later()'), [{ id: 8 }])
})

test('an older program does not take a function back', async () => {
  const [older, newer] = [
    await migrations(schema, { 't.double': double('n + n') }),
    await migrations(schema, { 't.double': double('n * 2') }),
  ]
  await migrate(db, older)
  await migrate(db, newer)
  for (const start of [migrate, requireMigrated])
    await assert.rejects(start(db, older), isRefusal(/t\.double was replaced by a newer version.*update the program/))
  await requireMigrated(db, newer)
})

test('a program of an older version does not replace a function that it never had', async () => {
  const newer = { ...(await migrations(schema, { 't.double': double('n * 2') })), version: '1.10.0' }
  const older = { ...(await migrations(schema, { 't.double': double('n + n') })), version: '1.9.3' }
  const starts = await Promise.allSettled([migrate(db, newer), migrate(database.connect(), older)])
  // Whichever had the lock first: the newer one started, and its text is the one that stays.
  assert.equal(starts[0].status, 'fulfilled')
  await requireMigrated(db, newer)
  for (const start of [migrate, requireMigrated])
    await assert.rejects(start(db, older), isRefusal(/t\.double was (made by version 1\.10\.0|replaced by a newer)/))
  await migrate(db, { ...older, functions: newer.functions })
  await migrate(db, { ...(await migrations(schema, { 't.double': double('2 * n') })), version: '1.10.1' })
  await assert.rejects(migrate(db, { ...older, version: '1.10.0' }), isRefusal(/t\.double was/))
})

test('a list of functions from before versions were kept is read and goes on', async () => {
  const files = { ...(await migrations(schema, { 't.double': double('n + n') })), version: '1.0.0' }
  await migrate(db, files)
  await database.sql('alter table public.pamoja_functions drop column version')
  await requireMigrated(db, files)
  await migrate(db, { ...(await migrations(schema, { 't.double': double('n * 2') })), version: '1.1.0' })
  await assert.rejects(
    migrate(db, { ...(await migrations(schema, { 't.double': double('n') })), version: '1.0.0' }),
    isRefusal(/t\.double was made by version 1\.1\.0 of this program, and this is 1\.0\.0: update the program/),
  )
})

test('a node that may not migrate leaves a database as it is', async () => {
  await assert.rejects(requireMigrated(db, await migrations(schema, { 't.double': double('n') })), /lacks the migr/)
  assert.deepEqual(await database.sql(`select tablename from pg_tables where schemaname = 'public'`), [])
})

test('a function that fails leaves all of them as they were', async () => {
  await migrate(db, await migrations(schema, { 't.double': double('n + n') }))
  const broken = await migrations(schema, {
    't.double': double('n * 2'),
    't.triple': 'create or replace function t.triple(n nothing) returns int language sql as $$ select 1 $$;',
  })
  await assert.rejects(requireMigrated(db, broken), isRefusal(/lacks the functions t\.double, t\.triple: run/))
  await assert.rejects(migrate(db, broken), isRefusal(/t\.triple failed: type nothing does not exist/))
  assert.equal(await applications('t.double'), 1)
})

test('a file that holds another function than its name says is refused', async () => {
  await assert.rejects(migrations(schema, { 't.twice': double('n') }), isRefusal(/functions\/t\.twice\.sql must hold/))
})

test('a database of the numbered history is taken over, if it has all of it', async () => {
  const files = schemaFiles(migrationsFolder)
  const baseline = files.migrations.filter(({ name }) => name.startsWith('2026-11-16_'))
  await migrate(db, files)
  const before = await names()
  await database.sql(`delete from public.pamoja_migrations where name like '2026-11-16%'`)
  await database.sql(`drop table public.pamoja_functions`)
  await database.sql(`insert into public.pamoja_migrations values ('0001_platform', 'x'), ('0002_ledger', 'y')`)
  await assert.rejects(migrate(db, files), isRefusal(/first start the version that brings 0079_collections_by_account/))
  await database.sql(`insert into public.pamoja_migrations values ('0079_collections_by_account', 'z')`)
  await assert.rejects(requireMigrated(db, files), isRefusal(new RegExp(`lacks the migrations ${baseline[0]?.name}`)))
  assert.deepEqual(await migrate(db, files), [])
  assert.deepEqual(await names(), before)
  await requireMigrated(db, files)
})

/** Migrations and functions of a folder with these files. */
async function migrations(
  files: Readonly<Record<string, string>>,
  functions: Readonly<Record<string, string>> = {},
): Promise<SchemaFiles> {
  const own = await mkdtemp(join(folder, 'set-'))
  await mkdir(join(own, 'functions'))
  for (const [name, text] of Object.entries(files))
    await writeFile(join(own, /^\d/.test(name) ? `${name}.sql` : name), text)
  for (const [name, text] of Object.entries(functions)) await writeFile(join(own, 'functions', `${name}.sql`), text)
  return schemaFiles(pathToFileURL(`${own}/`))
}

/** Oids of the functions of a name. */
async function oids(name: string): Promise<number[]> {
  const rows = await database.sql<{ oid: number }>(
    `select p.oid from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname || '.' || p.proname = $1`,
    [name],
  )
  return rows.map(({ oid }) => oid)
}

/** Number of texts of a function the database has seen. */
async function applications(name: string): Promise<number> {
  return (await database.sql('select 1 from public.pamoja_functions where name = $1', [name])).length
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
