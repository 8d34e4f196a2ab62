// SPDX-License-Identifier: Apache-2.0
// A SQL function has one place: the file under its own name. Migrations are named by date and area, so that branches do
// not collide.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { migrationsFolder } from '../../src/node/database.ts'
import { schemaFiles } from '../../src/platform/db/schema-files.ts'
import { createMigratedDatabase } from '../database.ts'
import { notesMigrations } from '../notes/area.ts'

const { migrations, functions } = schemaFiles(migrationsFolder, notesMigrations)
const database = await createMigratedDatabase()
after(() => database.drop())

test('every function of the database is that of its file', async () => {
  const made = await database.sql<{ name: string }>(
    `select n.nspname || '.' || p.proname as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname !~ '^pg_' and n.nspname not in ('information_schema', 'public')`,
  )
  assert.deepEqual(
    made.map(({ name }) => name).sort(),
    functions.map(({ name }) => name).sort(),
    'put each function into functions/<schema>.<name>.sql, and drop the others in a migration',
  )
})

test('a migration makes no function', () => {
  const broken = migrations.filter(({ text }) => /^create (or replace )?function/m.test(text))
  assert.deepEqual(
    broken.map(({ name }) => name),
    [],
    'put the function into functions/<schema>.<name>.sql',
  )
})

test('a migration is named by its date and area', () => {
  const broken = migrations.filter(({ name }) => !/^\d{4}-\d{2}-\d{2}_[a-z0-9_]+$/.test(name))
  assert.deepEqual(
    broken.map(({ name }) => name),
    [],
    'name it such as 2026-11-17_ussd.sql',
  )
})

/** First day of the rule: earlier migrations stay as they were applied. */
const checkedSince = '2026-11-19'
/** Tables of few rows, which are read at once. */
const small: readonly string[] = ['voice.trunks']

test('a check of a table that has rows does not read them while the table is locked', async () => {
  const broken = migrations
    .filter(({ name }) => name >= checkedSince)
    .flatMap(({ name, text }) => {
      const others = new Set([...small, ...[...text.matchAll(/^create table (\S+)/gm)].map(([, table]) => table)])
      return [...text.replaceAll(/--.*$/gm, '').matchAll(/^alter table (\S+)[^;]*;/gm)]
        .filter(([, table]) => !others.has(table))
        .filter(
          ([change]) => (change.match(/\bcheck\s*\(/g) ?? []).length > (change.match(/\bnot valid\b/g) ?? []).length,
        )
        .map(() => name)
    })
  assert.deepEqual(broken, [], 'add it as `constraint … check (…) not valid`, and validate it in the next migration')
  const unread = await database.sql<{ name: string }>(
    'select conname as name from pg_constraint where not convalidated',
  )
  assert.deepEqual(unread, [], 'validate each constraint in a migration of its own')
})
