// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { createTestDatabase, type TestDatabase } from '../../test/database.ts'
import { eventually } from '../../test/eventually.ts'
import { runs } from '../../test/properties.ts'
import { AppError } from '../kernel/errors.ts'
import { newUuid } from '../kernel/ids.ts'
import { systemClock } from './clock.ts'
import { Committer, operation } from './commit.ts'
import { Database } from './db.ts'

const nodeId = newUuid(systemClock.nowMs())
let database: TestDatabase
let db: Database
let committer: Committer

before(async () => {
  database = await createTestDatabase()
  await database.sql(functions)
  db = database.connect()
  committer = new Committer(db, nodeId, 2)
})
after(async () => {
  await committer.stop()
  await database.drop()
})

/** Operations that return their input, or fail on demand. */
const functions = `
  create schema trial;
  create table trial.log (name text not null);
  create sequence trial.tries;
  create type trial.echo_item as (a smallint, b int, c bigint, d boolean, e uuid, f text, g jsonb, h bytea, i timestamptz);
  create function trial.echo(node uuid, items trial.echo_item[])
    returns table (a smallint, b int, c bigint, d boolean, e uuid, f text, g text, h bytea, i timestamptz, node uuid)
    language sql as $$ select i.a, i.b, i.c, i.d, i.e, i.f, i.g::text, i.h, i.i, $1 from unnest(items) i $$;
  create type trial.write_item as (name text, fault text);
  create function trial.write(node uuid, items trial.write_item[]) returns table (name text, pid int) language plpgsql as $$
  declare
    fault text := (select i.fault from unnest(items) i where i.fault is not null limit 1);
  begin
    insert into trial.log select i.name from unnest(items) i;
    if fault = 'hang' then perform pg_sleep(60); end if;
    if fault = 'once' and nextval('trial.tries') % 3 <> 0 then raise exception 'again' using errcode = '40P01'; end if;
    if fault = 'always' then raise exception 'again' using errcode = '40001'; end if;
    if fault = 'full' then raise exception 'no space left on device' using errcode = '53100'; end if;
    if fault = 'short' then return; end if;
    if fault = 'bad' then raise exception 'this one is bad'; end if;
    return query select i.name, pg_backend_pid() from unnest(items) i;
  end $$;
  create type trial.prepared_item as (n int);
  create function trial.prepared(node uuid, items trial.prepared_item[]) returns table (n int, statements int) language sql as
    $$ select i.n, (select count(*)::int from pg_prepared_statements) from unnest(items) i $$`

const echo = operation.home(
  'trial.echo',
  {
    a: 'smallint',
    b: 'int',
    c: 'bigint',
    d: 'boolean',
    e: 'uuid',
    f: 'text',
    g: 'jsonb',
    h: 'bytea',
    i: 'timestamptz',
  },
  {
    a: 'smallint',
    b: 'int',
    c: 'bigint',
    d: 'boolean',
    e: 'uuid',
    f: 'text',
    g: 'text',
    h: 'bytea',
    i: 'timestamptz',
    node: 'uuid',
  },
)
const write = operation.home('trial.write', { name: 'text', fault: 'text' }, { name: 'text', pid: 'int' })

/** Gives how many prepared statements its session has. */
const prepared = operation.home('trial.prepared', { n: 'int' }, { n: 'int', statements: 'int' })

const remade = operation.home('trial.remade', { n: 'int' }, { n: 'int' })

const nothing = { a: null, b: null, c: null, d: null, e: null, f: null, g: null, h: null, i: null }

test('every type of column arrives as it was sent', async () => {
  const item = {
    a: -32768,
    b: 2147483647,
    c: -9223372036854775808n,
    d: false,
    e: nodeId,
    f: 'Habari',
    g: '{"a": [1, "x"]}',
    h: Buffer.from([0, 1, 34, 92, 255]),
    i: new Date('2026-03-01T09:15:30.123Z'),
  }
  assert.deepEqual({ ...(await committer.commit(echo, item)) }, { ...item, node: nodeId })
  assert.deepEqual({ ...(await committer.commit(echo, nothing)) }, { ...nothing, node: nodeId })
})

test('an operation is prepared once in each session, also after its first call failed', async () => {
  const own = new Committer(db, nodeId, 1)
  await assert.rejects(own.commit(write, { name: 'first', fault: 'bad' }), /commit trial\.write/)
  for (const name of ['second', 'third']) assert.equal((await own.commit(write, { name, fault: null })).name, name)
  for (const n of [1, 2]) assert.deepEqual({ ...(await own.commit(prepared, { n })) }, { n, statements: 2 })
  await own.stop()
})

test('an operation whose types were made anew is prepared again', async () => {
  const own = new Committer(db, nodeId, 1)
  const anew = (n: number) => own.commit(remade, { n })
  const make = `create type trial.remade_item as (n int);
    create function trial.remade(node uuid, items trial.remade_item[]) returns table (n int) language sql as
      $$ select i.n from unnest(items) i $$`
  await database.sql(make)
  assert.equal((await anew(1)).n, 1)
  await database.sql(`begin; drop function trial.remade; drop type trial.remade_item; ${make}; commit`)
  await assert.rejects(anew(2), /commit trial\.remade/)
  assert.equal((await anew(3)).n, 3)
  await own.stop()
})

test('nothing is prepared behind a pooler that keeps no statements', async () => {
  const { url } = database
  const settings = { url, directUrl: url, poolSize: 1, statementTimeoutMs: 0, applicationName: 'pooled' }
  const pooled = new Database(settings, () => undefined)
  const own = new Committer(pooled, nodeId, 1)
  for (const n of [1, 2]) assert.deepEqual({ ...(await own.commit(prepared, { n })) }, { n, statements: 0 })
  await own.stop()
  await pooled.close()
})

test('texts arrive whatever is in them', async () => {
  const texts = [
    '',
    ' ',
    '"',
    '""',
    '\\',
    '\\\\',
    '\\"',
    '"\\',
    '\n',
    '\r\n\t',
    ',',
    '(',
    ')',
    '()',
    '{',
    '}',
    '{}',
    '","',
    ')","(',
    'NULL',
    'null',
    '\\x41',
    "'",
    "''",
    '$1',
    '%s',
    'é',
    'Habari 👋🏽',
    '\u2028',
    '\u0001\u001f\u007f',
    'a'.repeat(10_000),
    '"'.repeat(1_000),
    '\\'.repeat(1_001),
  ]
  const rows = await Promise.all(
    texts.map((f) => committer.commit(echo, { ...nothing, f, h: Buffer.from(f), g: JSON.stringify({ f }) })),
  )
  for (const [n, row] of rows.entries()) {
    assert.equal(row.f, texts[n])
    assert.equal(row.h?.toString(), texts[n])
    assert.deepEqual(JSON.parse(row.g ?? ''), { f: texts[n] })
  }
})

test('any text, number, moment and bytes come back from a batch, each to its own caller', async () => {
  const text = fc.string({ unit: 'binary', maxLength: 40 }).filter((value) => !value.includes('\u0000'))
  const tricky = fc.string({
    unit: fc.constantFrom('"', '\\', ',', '(', ')', '{', '}', '\n', 'a', 'é', '👋'),
    maxLength: 30,
  })
  const item = fc.record({
    a: fc.option(fc.integer({ min: -32768, max: 32767 })),
    b: fc.option(fc.integer()),
    c: fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
    d: fc.option(fc.boolean()),
    e: fc.option(fc.uuid()),
    f: fc.option(fc.oneof(text, tricky)),
    g: fc.constant(null),
    h: fc.option(fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes))),
    i: fc.option(fc.date({ min: new Date('1970-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(item, { minLength: 1, maxLength: 20 }), async (items) => {
      const rows = await Promise.all(items.map((one) => committer.commit(echo, one)))
      assert.deepEqual(
        rows.map((row) => ({ ...row })),
        items.map((one) => ({ ...one, node: nodeId })),
      )
    }),
    { numRuns: runs(60) },
  )
})

test('writes that come together share a commit', async () => {
  const before = { ...committer.stats }
  const rows = await Promise.all(
    Array.from({ length: 300 }, (_, n) => committer.commit(write, { name: `together-${n}`, fault: null })),
  )
  assert.deepEqual(
    rows.map(({ name }) => name),
    Array.from({ length: 300 }, (_, n) => `together-${n}`),
  )
  assert.equal(committer.stats.items - before.items, 300)
  // Two batches leave at once, as soon as they are large enough; the rest waits for the first of them.
  assert.ok(committer.stats.commits - before.commits <= 4, `${committer.stats.commits - before.commits} commits`)
  assert.equal(await written('together-%'), 300)
})

test('one bad item fails alone; its neighbours are written once', async () => {
  const names = Array.from({ length: 50 }, (_, n) => `beside-${n}`)
  const results = await Promise.allSettled(
    names.map((name, n) => committer.commit(write, { name, fault: n === 17 ? 'bad' : null })),
  )
  assert.deepEqual(
    results.flatMap(({ status }, n) => (status === 'rejected' ? [n] : [])),
    [17],
  )
  const [, reason] = [null, results[17]?.status === 'rejected' ? results[17].reason : null]
  assert.equal(reason.message, 'commit trial.write')
  assert.match(reason.cause.message, /this one is bad/)
  assert.equal(await written('beside-%'), 49)
})

test('a text that PostgreSQL cannot hold fails alone', async () => {
  const results = await Promise.allSettled(
    ['fine', 'not\u0000fine', 'fine too'].map((name) => committer.commit(write, { name: `nul-${name}`, fault: null })),
  )
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
})

test('a number that PostgreSQL cannot hold fails alone', async () => {
  const results = await Promise.allSettled([1, 32_768, 3].map((a) => committer.commit(echo, { ...nothing, a })))
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
})

test('a deadlock is nobody’s business: the batch is sent again', async () => {
  const { name } = await committer.commit(write, { name: 'deadlock', fault: 'once' })
  assert.equal(name, 'deadlock')
  assert.equal(await written('deadlock'), 1)
})

test('a write that conflicts again and again is given up', async () => {
  await assert.rejects(committer.commit(write, { name: 'conflict', fault: 'always' }), /commit trial\.write/)
  assert.equal(await written('conflict'), 0)
})

test('a function that loses a verdict is an error, not somebody else’s answer', async () => {
  await assert.rejects(committer.commit(write, { name: 'short', fault: 'short' }), ({ cause }) =>
    /gave 0 rows for 1 items/.test(cause.message),
  )
})

test('a full disk gives 503, and everything works as soon as there is room', async () => {
  for (let round = 0; round < 5; round++) {
    await assert.rejects(committer.commit(write, { name: 'full', fault: 'full' }), isUnavailable)
    // The dropped connection closes meanwhile; the new one must survive it.
    for (let n = 0; n < 20; n++) await committer.commit(write, { name: `room-${round}-${n}`, fault: null })
  }
  assert.equal(await written('full'), 0)
  assert.equal(await written('room-%'), 100)
})

test('a lost connection gives 503, and the next commit works', async () => {
  const lost = assert.rejects(committer.commit(write, { name: 'lost', fault: 'hang' }), isUnavailable)
  await eventually(async () => {
    const ended = await database.sql<{ ended: boolean }>(
      `select pg_terminate_backend(pid) as ended from pg_stat_activity
        where datname = current_database() and state = 'active' and wait_event = 'PgSleep'`,
    )
    return ended.length > 0
  }, 'the write to hang')
  await lost
  const { name } = await committer.commit(write, { name: 'after the loss', fault: null })
  assert.equal(name, 'after the loss')
  assert.equal(await written('lost'), 0)
})

test('a hanging operation does not hold up another', async () => {
  const hanging = assert.rejects(committer.commit(write, { name: 'hangs', fault: 'hang' }), isUnavailable)
  const { f } = await committer.commit(echo, { ...nothing, f: 'passes' })
  assert.equal(f, 'passes')
  await eventually(
    async () =>
      (
        await database.sql<object>(
          `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
        )
      ).length > 0,
    'the write to hang',
  )
  await hanging
})

test('more writes than may wait are told to come back, and the others are written', async () => {
  const own = new Committer(db, nodeId, 1)
  const results = await Promise.allSettled(
    // 64 leave at once, 20,000 may wait.
    Array.from({ length: 20_069 }, (_, n) => own.commit(write, { name: `flood-${n}`, fault: null })),
  )
  const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  assert.equal(refused.length, 5)
  assert.ok(refused.every(isUnavailable))
  assert.equal(await written('flood-%'), 20_064)
  await own.stop()
})

test('a committer that stops finishes what it was given and takes no more', async () => {
  const own = new Committer(db, nodeId, 1)
  const given = Array.from({ length: 10 }, (_, n) => own.commit(write, { name: `last-${n}`, fault: null }))
  await own.stop()
  assert.equal((await Promise.all(given)).length, 10)
  assert.equal(await written('last-%'), 10)
  await assert.rejects(own.commit(write, { name: 'late', fault: null }), isUnavailable)
})

function isUnavailable(error: unknown): boolean {
  assert.ok(error instanceof AppError, String(error))
  assert.equal(error.code, 'SERVICE_UNAVAILABLE')
  assert.equal(error.extras.retryAfterSeconds, 1)
  return true
}

async function written(like: string): Promise<number> {
  const [row] = await database.sql<{ count: number }>(
    'select count(*)::int as count from trial.log where name like $1',
    [like],
  )
  return row?.count ?? 0
}
