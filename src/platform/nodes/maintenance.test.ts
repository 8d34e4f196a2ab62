// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts'
import { doChores, eventually, startWorld, type World } from '../../../test/world.ts'
import { areas } from '../../areas.ts'
import { firstUuidAt, newUuid } from '../../kernel/ids.ts'
import { dayMs, hourMs } from '../../kernel/time.ts'
import { partitionsOf } from '../../node/workers.ts'
import type { App } from '../app.ts'
import { systemClock } from '../clock.ts'
import { Database } from '../db.ts'
import { LeaseLostError } from './leases.ts'
import { type Chore, isDue, platformChores, runMaintenance } from './maintenance.ts'

let world: World
let sql: TestDatabase['sql']
let db: Database

before(async () => {
  world = await startWorld()
  db = new Database(
    { url: world.databaseUrl, poolSize: 2, statementTimeoutMs: 30_000, applicationName: 'test' },
    () => undefined,
  )
  const client = await db.connect()
  sql = async (text, values) => (await client.query(text, values)).rows
  stopClient = () => client.end()
  // The node's own first round is over when it released its lease.
  await eventually(
    async () =>
      (await sql(`select 1 from platform.leases where name = 'maintenance' and expires_at <= now()`)).length > 0,
    'the first round',
  )
})
let stopClient: () => Promise<void>
after(async () => {
  await stopClient()
  await db.close()
  await world.stop()
})

const nowMs = systemClock.nowMs()
/** Storage parameters of partitions whose rows are final. */
const frozenSoon = [
  'autovacuum_freeze_min_age=0',
  'autovacuum_vacuum_insert_scale_factor=0',
  'autovacuum_vacuum_insert_threshold=20000',
]

test('partitions are made ahead of time', async () => {
  const today = await partitions('platform.requests')
  // The tables may be from yesterday, if midnight was a moment ago.
  assert.deepEqual(
    today.map(({ from }) => from).filter((from) => from !== day(0)),
    ['MINVALUE', day(1), day(2), day(3)],
  )
  await sql(
    `drop table platform.requests_${day(2).replaceAll('-', '')}, platform.requests_${day(3).replaceAll('-', '')}`,
  )
  await doChores(world.app, [chore('partitions')])
  assert.deepEqual(
    (await partitions('platform.requests')).slice(-3).map(({ from, to }) => [from, to]),
    [
      [day(1), day(2)],
      [day(2), day(3)],
      [day(3), day(4)],
    ],
  )
})

test('a partition that is made later has the storage parameters of the default one', async () => {
  const optionsOf = async (table: string): Promise<string[]> =>
    (await sql<{ reloptions: string[] }>('select reloptions from pg_class where oid = $1::regclass', [table])).flatMap(
      ({ reloptions }) => reloptions,
    )
  const [last] = (await partitions('email.contents')).slice(-1)
  assert.ok(last)
  const name = `email.contents_${last.from.replaceAll('-', '')}`
  await sql(`drop table ${name}`)
  await doChores(world.app, [chore('partitions')])
  assert.deepEqual((await optionsOf(name)).sort(), [...frozenSoon, 'fillfactor=100', 'toast_tuple_target=8160'])
})

test('what changes on the way of a text stands at the end of its row, in a partition that is made later too', async () => {
  const [last] = (await partitions('sms.messages')).slice(-1)
  assert.ok(last)
  await sql(`drop table sms.messages_${last.from.replaceAll('-', '')}`)
  await doChores(world.app, [chore('partitions')])
  const leaves = await sql<{ name: string; columns: string[] }>(
    `select i.inhrelid::regclass::text as name, array_agg(a.attname::text order by a.attnum) as columns
       from pg_inherits i join pg_attribute a on a.attrelid = i.inhrelid and a.attnum > 0 and not a.attisdropped
      where i.inhparent = 'sms.messages'::regclass group by 1`,
  )
  assert.ok(leaves.length > 2)
  const changing = [
    'sent_at',
    'route',
    'attempts',
    'under_way',
    'delivered_parts',
    'status',
    'delivered_at',
    'failed_at',
  ]
  for (const { name, columns } of leaves)
    assert.deepEqual(columns.slice(-11), [...changing, 'late_at', 'error_code', 'carrier_code'], name)
})

test('rows that are final are frozen by the first vacuum, in every partition there is and will be', async () => {
  const tables = partitionsOf(areas)
  for (const { table, period } of tables) {
    const [last] = (await partitions(table)).slice(-1)
    assert.ok(last, `${table} has partitions of a ${period}`)
    await sql(`drop table ${table}_${last.from.replaceAll('-', '')}`)
  }
  await doChores(world.app, [chore('partitions')])
  for (const { table, fill = 100 } of tables) {
    const leaves = await sql<{ name: string; reloptions: string[] | null }>(
      `select c.oid::regclass::text as name, c.reloptions from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = $1::regclass`,
      [table],
    )
    assert.ok(leaves.length > 2)
    for (const { name, reloptions } of leaves)
      assert.deepEqual(
        (reloptions ?? []).filter((option) => option.startsWith('autovacuum')).sort(),
        fill === 100 ? frozenSoon : [],
        name,
      )
  }
})

test('a node that slept through the end of its lease makes no partitions', async () => {
  const last = `platform.requests_${day(3).replaceAll('-', '')}`
  await sql(`drop table ${last}`)
  const lease = await world.app.leases.tryAcquire('asleep', 60)
  assert.ok(lease)
  // As if another node had taken over meanwhile.
  await sql(`update platform.leases set epoch = epoch + 1 where name = 'asleep'`)
  await assert.rejects(chore('partitions').run(world.app, lease), LeaseLostError)
  assert.deepEqual(await sql('select to_regclass($1) as made', [last]), [{ made: null }])
  await doChores(world.app, [chore('partitions')])
  assert.notDeepEqual(await sql('select to_regclass($1) as made', [last]), [{ made: null }])
})

test('rows that came before their partition move into it when it is made', async () => {
  const id = firstUuidAt(Date.parse(`${day(3)}T12:00:00Z`))
  await sql(`drop table platform.requests_${day(3).replaceAll('-', '')}`)
  await sql(`${insertRequest} values (1, $1, 'live', $2, $1, 'GET', '/v1/x', 200, 1, '::1')`, [newUuid(nowMs), id])
  assert.equal((await sql('select 1 from platform.requests_default')).length, 1)
  await doChores(world.app, [chore('partitions')])
  assert.equal((await sql('select 1 from platform.requests_default')).length, 0)
  assert.equal(
    (await sql(`select 1 from platform.requests_${day(3).replaceAll('-', '')} where id = $1`, [id])).length,
    1,
  )
  assert.equal((await sql('select 1 from platform.requests where id = $1', [id])).length, 1)
})

test('a table that is divided by another column than its id has its rows moved by that', async () => {
  const months = (await partitions('ledger.transfers')).map(({ to }) => to)
  const [soon = '', late = ''] = months.slice(-2)
  const last = `ledger.transfers_${soon.replaceAll('-', '')}`
  await sql(`drop table ${last}`)
  // A row about last month that moved in the month after, and the reverse, which no clock should produce.
  const within = firstUuidAt(Date.parse(`${late}T00:00:00Z`) - 1)
  const beyond = firstUuidAt(Date.parse(`${late}T00:00:00Z`))
  for (const [source, id] of [
    [within, beyond],
    [beyond, within],
  ])
    await sql(
      `insert into ledger.transfers (bucket, account_id, environment, source_id, step, leg, id, debit, credit, amount, currency)
       values (1, $1, 'test', $2, 'x', 0, $3, 'wallet', 'revenue:sms', 1, 'KES')`,
      [newUuid(nowMs), source, id],
    )
  await doChores(world.app, [chore('partitions')])
  assert.deepEqual(await sql(`select source_id from ${last}`), [{ source_id: within }])
  assert.deepEqual(await sql('select source_id from ledger.transfers_default'), [{ source_id: beyond }])
  await sql('delete from ledger.transfers where source_id = any($1)', [[within, beyond]])
})

test('partitions are dropped when all of their rows are too old, and not a day earlier', async () => {
  const id = newUuid(nowMs)
  await sql(`${insertRequest} values (1, $1, 'live', $2, $1, 'GET', '/v1/kept', 200, 1, '::1')`, [newUuid(nowMs), id])
  const there = async (): Promise<number> => (await sql('select 1 from platform.requests where id = $1', [id])).length
  await doChores(inDays(30), [chore('partitions')])
  assert.equal(await there(), 1)
  const audited = await sql('select 1 from platform.audit')
  await doChores(inDays(32), [chore('partitions')])
  assert.equal(await there(), 0)
  assert.ok(audited.length > 0)
  assert.equal((await sql('select 1 from platform.audit')).length, audited.length, 'the audit log is kept')
  await doChores(world.app, [chore('partitions')])
  await sql(`${insertRequest} values (1, $1, 'live', $2, $1, 'GET', '/v1/kept', 200, 1, '::1')`, [newUuid(nowMs), id])
  assert.equal((await sql('select 1 from platform.requests_default')).length, 0, 'today has its partition again')
})

test('partitions begin at midnight UTC, wherever the database stands', async () => {
  const own = await createTestDatabase(['platform', 'work', 'events'])
  try {
    for (const [table, period, ahead] of [
      ['platform.requests', 'day', 370],
      ['platform.audit', 'month', 13],
    ] as const) {
      await own.sql(
        `set timezone = 'Europe/Berlin'; select platform.ensure_partitions('${table}', '${period}', ${ahead})`,
      )
      const found = await partitions(table, own.sql)
      assert.equal(found.length, ahead + 1)
      for (const [n, { to }] of found.entries()) {
        assert.match(to, period === 'day' ? /^\d{4}-\d\d-\d\d$/ : /^\d{4}-\d\d-01$/)
        assert.equal(found[n + 1]?.from ?? to, to, 'without a gap')
      }
    }
  } finally {
    await own.drop()
  }
})

test('idempotency keys are kept for a day and an hour', async () => {
  const account = newUuid(nowMs)
  for (const hours of [1, 24, 26])
    await sql(
      `insert into platform.idempotency (bucket, account_id, environment, key, request_hash, created_at)
       values (1, $1, 'test', $2, 'x', now() - $3::int * interval '1 hour')`,
      [account, `${hours} hours`, hours],
    )
  await doChores(world.app, [chore('retention of idempotency keys')])
  const left = await sql<{ key: string }>(
    'select key from platform.idempotency where account_id = $1 order by created_at desc',
    [account],
  )
  assert.deepEqual(
    left.map(({ key }) => key),
    ['1 hours', '24 hours'],
  )
})

test('test requests are kept for a week, live ones longer', async () => {
  const account = newUuid(nowMs)
  for (const environment of ['test', 'live'])
    for (const days of [6, 8])
      await sql(`${insertRequest} values (1, $1, $2, $3, $1, 'GET', $4, 200, 1, '::1')`, [
        account,
        environment,
        firstUuidAt(nowMs - days * dayMs),
        `${environment} ${days}`,
      ])
  await doChores(world.app, [chore('retention of test requests')])
  const left = await sql<{ path: string }>('select path from platform.requests where account_id = $1 order by path', [
    account,
  ])
  assert.deepEqual(
    left.map(({ path }) => path),
    ['live 6', 'live 8', 'test 6'],
  )
})

test('nodes that have not been heard of for a day are forgotten', async () => {
  const [gone, slow] = [newUuid(nowMs), newUuid(nowMs)]
  await sql(
    `insert into platform.nodes (id, host, version, roles, seen_at) values ($1, 'a', '1', '{}', now() - interval '25 hours'),
    ($2, 'b', '1', '{}', now() - interval '1 hour')`,
    [gone, slow],
  )
  await doChores(world.app, [chore('retention of nodes')])
  assert.deepEqual(await sql('select id from platform.nodes where id = any($1)', [[gone, slow]]), [{ id: slow }])
})

test('however much there is to remove, it goes in statements that have the time for it', async (t) => {
  await sql(`create function pg_temp.at_most() returns trigger language plpgsql as $$
    begin if (select count(*) from gone) > 10000 then raise exception 'too many at once'; end if; return null; end $$`)
  for (const table of ['idempotency', 'requests'])
    await sql(`create trigger at_most after delete on platform.${table} referencing old table as gone
               for each statement execute function pg_temp.at_most()`)
  t.after(() => sql(`drop trigger at_most on platform.idempotency; drop trigger at_most on platform.requests`))
  const account = newUuid(nowMs)
  await sql(
    `insert into platform.idempotency (bucket, account_id, environment, key, request_hash, created_at)
     select n % 256, $1, 'test', n::text, 'x', now() - interval '2 days' from generate_series(1, 20001) n`,
    [account],
  )
  await sql(
    `${insertRequest} select n % 256, $1, 'test', ($2 || lpad(to_hex(n), 12, '0'))::uuid, $1, 'GET', '/', 200, 1, '::1'
       from generate_series(1, 20001) n`,
    [account, firstUuidAt(nowMs - 8 * dayMs).slice(0, 24)],
  )
  await doChores(world.app, [chore('retention of idempotency keys')])
  await doChores(world.app, [chore('retention of test requests')])
  for (const table of ['idempotency', 'requests'])
    assert.deepEqual(await sql(`select from platform.${table} where account_id = $1`, [account]), [])
})

test('what cannot be removed keeps nothing else from being removed', async (t) => {
  await sql(
    `create function pg_temp.refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$`,
  )
  await sql(
    'create trigger refuse before delete on platform.idempotency for each statement execute function pg_temp.refuse()',
  )
  t.after(() => sql('drop trigger refuse on platform.idempotency'))
  const [id, account] = [firstUuidAt(nowMs - 8 * dayMs), newUuid(nowMs)]
  await sql(`${insertRequest} values (1, $1, 'test', $2, $1, 'GET', '/', 200, 1, '::1')`, [account, id])
  const stop = runMaintenance(world.app, chores)
  await eventually(
    async () => (await sql('select from platform.requests where account_id = $1', [account])).length === 0,
    'the request to go',
  )
  await stop()
})

test('one chore that fails does not keep the others from being done', async () => {
  const done: string[] = []
  const stop = runMaintenance(world.app, [
    { name: 'fails', run: () => Promise.reject(new Error('no')) },
    { name: 'works', run: async () => void done.push('works') },
  ])
  await eventually(async () => done.length > 0, 'the chore')
  await stop()
  assert.deepEqual(done, ['works'])
})

test('only one node keeps house at a time, and stopping waits for it to finish', async () => {
  let release: () => void = () => undefined
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const done: string[] = []
  const stopFirst = runMaintenance(world.app, [
    {
      name: 'long',
      run: async () => {
        done.push('begun')
        await held
        done.push('ended')
      },
    },
  ])
  await eventually(async () => done.length > 0, 'the first to begin')
  const stopSecond = runMaintenance(world.app, [{ name: 'other', run: async () => void done.push('other') }])
  await stopSecond()
  assert.deepEqual(done, ['begun'])
  const stopped = stopFirst()
  release()
  await stopped
  assert.deepEqual(done, ['begun', 'ended'])
})

test('a chore is done no more often than it asks for', async () => {
  let runs = 0
  const stop = runMaintenance(world.app, [{ name: 'once', everyMs: hourMs, run: async () => void runs++ }])
  await eventually(async () => runs > 0, 'the chore')
  await stop()
  assert.equal(runs, 1)
})

test('a chore is done in the round that is nearest to its time', () => {
  for (const [everyMs, sinceMs, expected] of [
    [10_000, 9_998, true],
    [10_000, 4_000, false],
    [30_000, 20_001, false],
    [30_000, 29_990, true],
    [undefined, 599_000, true],
    [undefined, 590_000, false],
  ] as const)
    assert.equal(isDue({ name: 'some', run: async () => undefined, ...(everyMs && { everyMs }) }, sinceMs), expected)
})

const chores = platformChores(partitionsOf(areas))
const insertRequest = `insert into platform.requests (bucket, account_id, environment, id, key_id, method, path, status, duration_us, ip)`

function chore(name: string): Chore {
  const found = chores.find((candidate) => candidate.name === name)
  if (!found) throw new Error(`there is no chore ${name}`)
  return found
}

/** App with its clock a number of days ahead. */
function inDays(days: number): App {
  return Object.assign(Object.create(world.app), { clock: { nowMs: () => systemClock.nowMs() + days * dayMs } })
}

/** UTC day a number of days from now. */
function day(ahead: number): string {
  return new Date(nowMs + ahead * dayMs).toISOString().slice(0, 10)
}

/** Bounds of a table's partitions as days. */
async function partitions(table: string, ask: TestDatabase['sql'] = sql): Promise<{ from: string; to: string }[]> {
  const rows = await ask<{ bound: string }>(
    `select pg_get_expr(c.relpartbound, c.oid) as bound from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = $1::regclass and pg_get_expr(c.relpartbound, c.oid) <> 'DEFAULT' order by c.relname`,
    [table],
  )
  return rows.map(({ bound }) => {
    const [from = '', to = ''] = [...bound.matchAll(/\('?([^')]+)'?\)/g)].map(([, value = '']) =>
      value === 'MINVALUE' ? value : momentOf(value),
    )
    return { from, to }
  })
}

/** Time in a UUIDv7; the day alone at midnight. */
function momentOf(uuid: string): string {
  return new Date(Number.parseInt(uuid.replaceAll('-', '').slice(0, 12), 16))
    .toISOString()
    .replace('T00:00:00.000Z', '')
}
