// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import type pg from 'pg'
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts'
import { runs } from '../../../test/properties.ts'
import { encodeItems, type RowOf, rowType } from './row-encoding.ts'

const columns = {
  a: 'smallint',
  b: 'int',
  c: 'bigint',
  d: 'boolean',
  e: 'uuid',
  f: 'text',
  g: 'jsonb',
  h: 'bytea',
  i: 'timestamptz',
} as const
type Row = RowOf<typeof columns>

let database: TestDatabase
let client: pg.Client

before(async () => {
  database = await createTestDatabase()
  await database.sql(
    `create schema trial;
     create type trial.row as (a smallint, b int, c bigint, d boolean, e uuid, f text, g jsonb, h bytea, i timestamptz)`,
  )
  client = await database.connect().connect()
})
after(async () => {
  await client.end()
  await database.drop()
})

/** Rows as PostgreSQL parsed them, each column printed by PostgreSQL. */
async function understood(items: readonly Partial<Row>[]): Promise<Row[]> {
  const { rows } = await client.query<Row>({
    name: 'understood',
    text: `select a, b, c, d, e, f, g::text as g, h, i from unnest($1::trial.row[])`,
    values: [encodeItems(columns, items)],
  })
  return rows.map((row) => ({ ...row, g: row.g === null ? null : JSON.stringify(JSON.parse(row.g)) }))
}

const text = fc.string({ unit: 'binary', maxLength: 60 }).filter((value) => !value.includes('\u0000'))
const json = fc
  .jsonValue({ stringUnit: 'grapheme' })
  .map((value) => JSON.stringify(value))
  .filter((value) => !value.includes('\\u0000') && !value.includes('e') && !value.includes('-0'))

test('every column of every row arrives as it was given', async () => {
  const item = fc.record({
    a: fc.option(fc.integer({ min: -32_768, max: 32_767 })),
    b: fc.option(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
    c: fc.option(
      fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: -(2n ** 54n), max: 2n ** 54n })),
    ),
    d: fc.option(fc.boolean()),
    e: fc.option(fc.uuid()),
    f: fc.option(text),
    g: fc.option(json),
    h: fc.option(fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes))),
    i: fc.option(
      fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true }),
    ),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(item, { maxLength: 20 }), async (items) => {
      assert.deepEqual((await understood(items)).map(comparable), items.map(comparable))
    }),
    { numRuns: runs(150) },
  )
})

test('a column may hold a whole row, and none', async () => {
  const inner = rowType('trial.row', columns)
  const whole: Row = {
    a: 1,
    b: -2,
    c: 3n,
    d: true,
    e: '0195510a-7b80-7000-8000-000000000001',
    f: 'Habari \u{1F600}'.repeat(20),
    g: '{"a":1}',
    h: Buffer.from('bytes'),
    i: new Date('2026-11-17T00:00:00Z'),
  }
  await database.sql('create type trial.outer as (id int, held trial.row, said text)')
  const given = [
    { id: 1, held: whole, said: 'x' },
    { id: 2, held: null, said: null },
    { id: 3, held: { ...whole, f: null, a: 7 }, said: 'y' },
  ]
  const { rows } = await client.query<{ id: number; none: boolean; held: Row; said: string | null }>(
    `select id, held is null as none, to_json(held) as held, (held).c, said from unnest($1::trial.outer[])`,
    [encodeItems({ id: 'int', held: inner, said: 'text' }, given)],
  )
  assert.deepEqual(
    rows.map(({ id, none, said }) => [id, none, said]),
    [
      [1, false, 'x'],
      [2, true, null],
      [3, false, 'y'],
    ],
  )
  assert.deepEqual([rows[0]?.held.f, rows[0]?.held.b, rows[0]?.held.e], [whole.f, whole.b, whole.e])
  assert.equal(rows[2]?.held.a, 7)
  assert.throws(() => encodeItems({ held: inner }, [{ held: { ...whole, a: 70_000 } }]), /a is not a smallint/)
})

test('the ends of what a type holds arrive', async () => {
  const ends: Partial<Row>[] = [
    { a: -32_768, b: -2_147_483_648, c: -(2n ** 63n), i: new Date('2000-01-01T00:00:00.000Z') },
    { a: 32_767, b: 2_147_483_647, c: 2n ** 63n - 1n, i: new Date('1999-12-31T23:59:59.999Z') },
    { a: -1, b: -1, c: -1n, i: new Date('1970-01-01T00:00:00.001Z') },
    { a: 0, b: 0, c: 0n, d: false, f: '', h: Buffer.alloc(0), i: new Date('9999-12-31T23:59:59.999Z') },
    { a: 256, b: 65_536, c: 2n ** 32n, d: true, e: '00000000-0000-0000-0000-000000000000' },
    { c: 2n ** 53n - 1n, e: 'ffffffff-ffff-ffff-ffff-ffffffffffff' },
    { c: -(2n ** 53n) + 1n, i: new Date('2285-06-05T00:00:00.001Z') },
    { c: 2n ** 53n, i: new Date('2285-06-06T00:00:00.001Z') },
    { c: -(2n ** 53n), i: new Date('1714-01-01T00:00:00.001Z') },
    { c: 2n ** 53n + 1n, f: 'é', g: '"é"' },
    { c: -(2n ** 53n) - 1n, f: 'x'.repeat(31), g: 'null' },
    { f: 'x'.repeat(33), h: Buffer.from([0, 255]) },
    { f: `${'x'.repeat(31)}é` },
    { f: '👋'.repeat(16) },
    { f: '👋'.repeat(17) },
  ]
  const nothing = { a: null, b: null, c: null, d: null, e: null, f: null, g: null, h: null, i: null }
  assert.deepEqual(
    await understood(ends),
    ends.map((one) => ({ ...nothing, ...one })),
  )
})

test('no items are an empty array', async () => {
  const { rows } = await client.query('select cardinality($1::trial.row[]) as n', [encodeItems(columns, [])])
  assert.equal(rows[0].n, 0)
})

test('a UUID in capitals is the same UUID', async () => {
  const e = '0188BAC7-4AFA-78AA-BC3B-BD1EEF28D881'
  assert.equal((await understood([{ e }]))[0]?.e, e.toLowerCase())
})

test('half of a surrogate pair becomes U+FFFD', async () => {
  const texts = ['\ud83d', 'a\udc4b', '\ud83d'.repeat(40), `${'x'.repeat(40)}\udc4b`]
  const rows = await understood(texts.map((f) => ({ f })))
  assert.deepEqual(
    rows.map(({ f }) => f),
    texts.map((value) => value.replaceAll(/[\ud800-\udfff]/g, '\ufffd')),
  )
})

test('large texts and bytes arrive, and small ones after them', async () => {
  const large = { f: 'é'.repeat(1_500_000), g: JSON.stringify('x'.repeat(3_000_000)), h: Buffer.alloc(2_000_000, 7) }
  for (const items of [[large], [{ f: 'small' }, large, { f: 'small again' }], [{ f: 'small' }]]) {
    const rows = await understood(items)
    assert.deepEqual(
      rows.map(({ f, h }) => [f?.length, h?.length]),
      items.map((one) => [one.f.length, 'h' in one ? one.h.length : undefined]),
    )
  }
})

test('more than PostgreSQL takes at once is refused here', () => {
  const f = 'x'.repeat(90 * 1024 * 1024)
  assert.throws(() => encodeItems(columns, [{ f }]), /more than 268435456 bytes/)
  assert.ok(encodeItems(columns, [{ f: 'small' }]).length < 200, 'and nothing is left of it')
})

test('what a column cannot hold is refused with the name of the column', () => {
  const wrong: [keyof Row, unknown][] = [
    ['a', 32_768],
    ['a', -32_769],
    ['a', 1.5],
    ['a', Number.NaN],
    ['a', '1'],
    ['b', 2_147_483_648],
    ['b', -2_147_483_649],
    ['b', 0.5],
    ['b', Number.POSITIVE_INFINITY],
    ['b', 1n],
    ['c', 2n ** 63n],
    ['c', -(2n ** 63n) - 1n],
    ['c', 1],
    ['d', 'true'],
    ['d', 1],
    ['e', ''],
    ['e', '0188bac74afa78aabc3bbd1eef28d881'],
    ['e', '0188bac7-4afa-78aa-bc3b-bd1eef28d88'],
    ['e', '0188bac7-4afa-78aa-bc3b-bd1eef28d88g'],
    ['e', 'g188bac7-4afa-78aa-bc3b-bd1eef28d881'],
    ['e', '0188bac7-4afa-78aa-bc3b-bd1eef28d88é'],
    ['e', '0188bac7 4afa-78aa-bc3b-bd1eef28d881'],
    ['f', 1],
    ['f', Buffer.from('x')],
    ['g', { a: 1 }],
    ['h', 'x'],
    ['i', new Date(Number.NaN)],
    ['i', '2026-03-01T09:15:30Z'],
  ]
  for (const [column, value] of wrong) {
    const item: Partial<Row> = {}
    Object.assign(item, { [column]: value })
    assert.throws(() => encodeItems(columns, [item]), {
      name: 'RangeError',
      message: `${column} is not a ${columns[column]}, or none that PostgreSQL holds`,
    })
  }
})

test('what only PostgreSQL can refuse it refuses, as it does in a text', async () => {
  const refused: [string, string, unknown][] = [
    ['22021', 'text', 'a\u0000b'],
    ['22P05', 'jsonb', '"\\u0000"'],
    ['22P02', 'jsonb', '{'],
    ['22P02', 'jsonb', ''],
    ['22008', 'timestamptz', new Date(-8_640_000_000_000_000)],
  ]
  for (const [code, type, value] of refused) {
    const item: Partial<Row> = {}
    Object.assign(item, { [type === 'text' ? 'f' : type === 'jsonb' ? 'g' : 'i']: value })
    await assert.rejects(understood([item]), { code })
  }
})

function comparable(row: Row): object {
  return { ...row, g: row.g === null ? null : sorted(JSON.parse(row.g)) }
}

/** Value with sorted object keys: PostgreSQL keeps them in its own order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (value === null || typeof value !== 'object') return value
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner)])
}
