// SPDX-License-Identifier: Apache-2.0
// SQL keeps to its room: a statement is named after its schema, an area's SQL names only its own, tenant tables are
// never asked without their bucket, and PostgreSQL accepts every statement and operation against the migrated schema.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { areas } from '../../src/areas.ts'
import { partitionsOf } from '../../src/node/workers.ts'
import { rowTypes } from '../../src/platform/commit/row-encoding.ts'
import { type Columns, operations } from '../../src/platform/commit.ts'
import { statements } from '../../src/platform/db.ts'
import { createMigratedDatabase } from '../database.ts'
import { notes } from '../notes/area.ts'
import { sourceFiles } from './sources.ts'

const database = await createMigratedDatabase()
const db = database.connect()
after(() => database.drop())

/** Schemas below the areas. Every other one is an area's, and has its name. */
const below: Readonly<Record<string, readonly string[]>> = {
  'src/platform': ['platform', 'work', 'events'],
  'src/ledger': ['ledger'],
}

const schemas = (
  await database.sql<{ name: string }>(
    `select nspname as name from pg_namespace
      where nspname !~ '^pg_' and nspname not in ('information_schema', 'public') order by 1`,
  )
).map(({ name }) => name)

interface Table {
  name: string
  schema: string
  /** Columns of the primary key, in its order. */
  columns: string[]
  comment: string | null
  partitioned: boolean
}

const tables = await database.sql<Table>(
  `select c.oid::regclass::text as name, n.nspname as schema, obj_description(c.oid, 'pg_class') as comment,
          c.relkind = 'p' as partitioned,
          array(select a.attname::text
                  from pg_index i cross join unnest(i.indkey::smallint[]) with ordinality as k(attnum, n)
                  join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
                 where i.indrelid = c.oid and i.indisprimary order by k.n) as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any($1) and c.relkind in ('r', 'p') and not c.relispartition`,
  [schemas],
)

/** Reference tables: small, read by every node, replicated in a cluster. All others belong to tenants. */
const reference = new Set(tables.filter(({ comment }) => comment?.startsWith('Reference:')).map(({ name }) => name))

/** Tables named in SQL; a function call, which hides its tables behind its own name, is followed by a parenthesis. */
const named = new RegExp(
  `\\b(?:from|into|update|join|table|using|only)\\s+(?:only\\s+)?(${schemas.join('|')})\\.([a-z_]+)\\b(?!\\()`,
  'g',
)

test('every schema is the platform’s, the ledger’s or an area’s', () => {
  const rooms = [...Object.values(below).flat(), ...areas.map(({ name }) => name), notes.name]
  assert.ok(schemas.length > 10)
  assert.deepEqual(
    schemas.filter((schema) => !rooms.includes(schema)),
    [],
    'give the schema the name of an area in src/areas.ts',
  )
})

test('every table that is cut by time is kept by its area, and nothing else is', () => {
  assert.deepEqual(
    partitionsOf([...areas, notes])
      .map(({ table }) => table)
      .sort(),
    tables
      .filter(({ partitioned }) => partitioned)
      .map(({ name }) => name)
      .sort(),
    'list it under `partitions` in the area.ts of its area',
  )
  for (const area of [...areas, notes])
    for (const { table } of area.partitions ?? [])
      assert.ok(table.startsWith(`${area.name}.`), `${area.name}: ${table}`)
})

test('a statement that touches a tenant table names its bucket', () => {
  const broken = [...statements.values()].filter(({ text }) => {
    return tablesIn(text).some((table) => !reference.has(table)) && !/\bbucket\b/.test(text)
  })
  assert.deepEqual(
    broken.map(({ name }) => name),
    [],
    `ask by bucket, or comment on the table: 'Reference: one row is …' if it belongs to no tenant`,
  )
})

function tablesIn(text: string): string[] {
  return [...text.matchAll(named)].map(([, schema, table]) => `${schema}.${table}`)
}

test('a statement runs where its tables are: with a tenant’s bucket, at home, or everywhere', () => {
  const broken: string[] = []
  for (const { name, text, where, parameters, joinsHome } of statements.values()) {
    const says = (problem: string): unknown => broken.push(`${name} (${where}): ${problem}`)
    const touched = tablesIn(text)
    const home = touched.filter((table) => reference.has(table))
    const tenants = touched.filter((table) => !reference.has(table))
    if (where === 'tenant' && touched.length > 0 && !parameters.some((one) => /^buckets?$/.test(one)))
      says('name the bucket of the tenant, or the buckets of one cell')
    if (where === 'home' && tenants.length > 0) says(`${tenants.join()} belongs to tenants`)
    if (where === 'tenant' && home.length > 0 && !joinsHome) says(`${home.join()} belongs to no tenant`)
    if (where === 'everywhere' && home.length > 0 && tenants.length === 0) says('ask at home')
    if (where === 'everywhere' && home.length > 0 && tenants.length > 0 && !joinsHome)
      says(`say joinsHome: ${home.join()} beside ${tenants.join()}`)
    if (joinsHome && (home.length === 0 || tenants.length === 0)) says('it joins nothing')
  }
  assert.deepEqual(broken, [], 'see `Where` in src/platform/db.ts')
})

test('an operation runs where its items are', () => {
  const broken = [...operations.values()].filter(({ where, takes }) => (where === 'tenant') !== 'bucket' in takes)
  assert.deepEqual(
    broken.map(({ name }) => name),
    [],
  )
})

test('jobs are looked up so that no plan can begin with all of them', async () => {
  const functions = await database.sql<{ name: string; text: string }>(
    `select p.oid::regprocedure::text as name, p.prosrc as text from pg_proc p where p.prosrc like '%work.jobs%'`,
  )
  assert.ok(functions.length > 10)
  const broken = [...functions, ...statements.values()].filter(
    ({ text }) => text.includes('work.jobs j') && /\bj\.bucket = \w+\.bucket/.test(text),
  )
  assert.deepEqual(
    broken.map(({ name }) => name),
    [],
    'write j.bucket = any(array[x.bucket]) instead of j.bucket = x.bucket, in a function that sets enable_seqscan = off',
  )
})

test('every tenant table has the bucket in its primary key, and leads it with the bucket unless its comment says why', () => {
  assert.ok(tables.length > 15)
  const broken = tables.filter(({ name, columns, comment }) => {
    const [, leading = 'bucket', alone] = /^Keyed by (\w+)( alone)?: /.exec(comment ?? '') ?? []
    return !reference.has(name) && (columns[0] !== leading || (!alone && !columns.includes('bucket')))
  })
  assert.deepEqual(
    broken.map(({ name, columns }) => `${name} (${columns.join(', ')})`),
    [],
    `begin the key with bucket, or comment on the table: 'Reference: one row is …' if it belongs to no tenant`,
  )
})

test('every table says what one of its rows is', () => {
  const missing: string[] = []
  for (const file of sourceFiles(['src/migrations'], '.sql')) {
    const lines = readFileSync(file, 'utf8').split('\n')
    lines.forEach((line, i) => {
      if (!line.startsWith('create table')) return
      let above = i - 1
      while (lines[above]?.startsWith('--') && !lines[above]?.startsWith('-- One row')) above--
      if (!lines[above]?.startsWith('-- One row')) missing.push(`${file}:${i + 1}`)
    })
  }
  assert.deepEqual(missing, [], 'put "-- One row is ..." above the table')
})

test('an area names only its own schema; what is below the areas names only what is below', () => {
  const broken: string[] = []
  for (const file of sourceFiles(['src']).filter((name) => !name.endsWith('.test.ts'))) {
    const [, room = '', area] = /^(src\/(?:platform|ledger|areas\/(\w+)))\//.exec(file) ?? []
    if (room === '') continue
    const allowed = area === undefined ? below[room] : [area]
    for (const [, schema = ''] of readFileSync(file, 'utf8').matchAll(named))
      if (!allowed?.includes(schema)) broken.push(`${file} names ${schema}`)
  }
  assert.deepEqual(broken, [])
})

test('PostgreSQL accepts every statement', async () => {
  const client = await db.connect()
  const refused: string[] = []
  let i = 0
  for (const { name, text } of statements.values()) {
    if (/^(set|lock)\b/.test(text)) continue
    await client
      .query(`prepare law_${i++} as ${text}`)
      .catch((error: Error) => refused.push(`${name}: ${error.message}`))
  }
  await client.end()
  assert.ok(i > 60, `only ${i} statements were found`)
  assert.deepEqual(refused, [])
})

test('every operation takes and gives what its SQL function does', async () => {
  assert.ok(operations.size >= 3)
  const broken: string[] = []
  for (const { name, takes, gives } of operations.values()) {
    const [row] = await database.sql<{ args: string; result: string }>(
      `select pg_get_function_identity_arguments(p.oid) as args, pg_get_function_result(p.oid) as result
         from pg_proc p where p.oid = $1::regproc`,
      [name],
    )
    if (row?.args !== `node uuid, items ${name}_item[]`)
      broken.push(`${name}(${row?.args}) is not (node uuid, items ${name}_item[])`)
    if (`TABLE(${described(gives).join(', ')})` !== row?.result) broken.push(`${name} gives ${row?.result}`)
    if (described(takes).join() !== (await columnsOf(`${name}_item`)).join())
      broken.push(`${name} takes other columns than ${name}_item`)
  }
  assert.deepEqual(broken, [])
})

test('every row that a column may hold is that of its type', async () => {
  const broken: string[] = []
  // Types of the schema `trial` are made by tests of the platform, which may run in this process.
  const ours = [...rowTypes.values()].filter(({ name }) => !name.startsWith('trial.'))
  for (const { name, columns } of ours)
    if (described(columns).join() !== (await columnsOf(name)).join()) broken.push(name)
  assert.deepEqual(broken, [])
  assert.ok(ours.length >= 5)
})

async function columnsOf(type: string): Promise<string[]> {
  const rows = await database.sql<{ column: string }>(
    `select a.attname || ' ' || format_type(a.atttypid, a.atttypmod) as column
       from pg_attribute a where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped order by a.attnum`,
    [type],
  )
  return rows.map(({ column }) => column)
}

function described(shape: Columns): string[] {
  return Object.entries(shape).map(
    ([column, type]) => `${column} ${typeof type === 'string' ? sqlName(type) : type.name}`,
  )
}

function sqlName(type: string): string {
  return type === 'int' ? 'integer' : type === 'timestamptz' ? 'timestamp with time zone' : type
}
