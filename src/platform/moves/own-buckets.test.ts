// SPDX-License-Identifier: Apache-2.0
// A database refuses the buckets that live in another cell, whoever writes, and lets in what a subscription copies.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { createMigratedDatabase, type TestDatabase } from '../../../test/database.ts'
import { eventually } from '../../../test/eventually.ts'
import { notesMigrations } from '../../../test/notes/area.ts'
import { migrationsFolder, prepareSchema } from '../../node/database.ts'
import { schemaFiles } from '../db/schema-files.ts'

const account = '00000000-0000-7000-8000-000000000001'
const refusal = { code: '23514', constraint: 'own_bucket' }

let database: TestDatabase
let client: pg.Client

before(async () => {
  database = await createMigratedDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query(`insert into platform.this_cell (name) values ('home')`)
  await addEvent(7)
  await addJob(7)
  await client.query('select platform.own_buckets($1)', [[0, 8, 255]])
})

after(async () => {
  await client.end()
  await database.drop()
})

function addEvent(bucket: number): Promise<pg.QueryResult> {
  return client.query(
    `insert into events.events (bucket, account_id, environment, id, type, resource_id, body)
     values ($1, $2, 'live', platform.uuid_at(now()), 'trial', 'r', '{}')`,
    [bucket, account],
  )
}

function addJob(bucket: number): Promise<pg.QueryResult> {
  return client.query(
    `insert into work.jobs (bucket, id, lane, run_at, attempt, payload) values ($1, gen_random_uuid(), 'trial', now(), 0, '{}')`,
    [bucket],
  )
}

test('every table of tenants, and every partition, refuses them', async () => {
  const { rows } = await client.query(
    `select t.name::text from platform.tenant_tables() t(name) left join pg_partition_tree(t.name) l on true
      where not exists (select from pg_constraint where conrelid = coalesce(l.relid, t.name) and conname = 'own_bucket')
         or not exists (select from pg_trigger where tgrelid = coalesce(l.relid, t.name) and tgname = 'own_bucket')`,
  )
  assert.deepEqual(rows, [])
})

test('what it owns is written, up to the last bucket', async () => {
  for (const bucket of [0, 8, 255]) {
    await addEvent(bucket)
    await addJob(bucket)
    assert.equal((await client.query('delete from work.jobs where bucket = $1', [bucket])).rowCount, 1)
  }
})

test('a bucket of another cell is neither inserted nor updated nor deleted, in partitions either', async () => {
  await assert.rejects(addEvent(7), refusal)
  await assert.rejects(addJob(9), refusal)
  await assert.rejects(client.query(`update events.events set body = '' where bucket = 7`), refusal)
  await assert.rejects(client.query('update work.jobs set attempt = 1 where bucket = 7'), refusal)
  await assert.rejects(client.query('delete from events.events where bucket = 7'), refusal)
  await assert.rejects(client.query('delete from work.jobs where bucket = 7'), refusal)
  // Rows of several buckets are refused together.
  await assert.rejects(client.query('delete from events.events where bucket = any($1)', [[7, 8]]), refusal)
  const { rows } = await client.query('select from events.events where bucket = 7')
  assert.equal(rows.length, 1, 'reading is not refused')
})

test('a partition that is made later refuses them too', async () => {
  await client.query(`select platform.ensure_partitions('events.events', 'month', 12)`)
  await assert.rejects(
    client.query(
      `insert into events.events (bucket, account_id, environment, id, type, resource_id, body)
       values (7, $1, 'live', platform.uuid_at(now() + interval '10 months'), 'trial', 'r', '{}')`,
      [account],
    ),
    refusal,
  )
})

test('a table that a later version brings refuses them from the migration on', async () => {
  await client.query('create schema later; create table later.things (bucket smallint not null)')
  await client.query('insert into later.things values (7)')
  await prepareSchema(database.connect(), 'migrate', notesMigrations)
  await assert.rejects(client.query('insert into later.things values (7)'), refusal)
  await client.query('insert into later.things values (8)')
  await client.query('drop schema later cascade')
})

test('partitions of texts that are made anew refuse them, and whoever writes texts meanwhile is waited for', async () => {
  const text = schemaFiles(migrationsFolder).migrations.find(({ name }) => name === '2026-11-19_sms_partitions')?.text
  assert.ok(text)
  const addText = (asked: pg.Client, bucket: number, months = 0) =>
    asked.query(
      `insert into sms.messages
         (bucket, account_id, environment, id, direction, status, recipient, sender, encoding, segments, created_at)
       values ($1, $2, 'live', platform.uuid_at(now() + $3 * interval '1 month'), 'outbound', 'queued', '+254711000001', 'X',
               'gsm7', 1, now())`,
      [bucket, account, months],
    )
  const other = new pg.Client({ connectionString: database.url })
  await other.connect()
  // As a statement that has begun, and has not come to its partition yet.
  await other.query('begin; lock table only sms.messages in row exclusive mode')
  const migrated = client.query(text)
  const waits = `select from pg_locks where not granted and relation = 'sms.messages'::regclass`
  await eventually(async () => (await other.query(waits)).rowCount === 1, 'the migration to wait')
  await addText(other, 8)
  await other.query('commit')
  await migrated
  await addText(other, 8, 1)
  await assert.rejects(addText(other, 7, 1), refusal)
  await other.end()
})

test('what a subscription copies is let in', async () => {
  await client.query('begin; set local session_replication_role = replica')
  await addEvent(9)
  await client.query('delete from work.jobs where bucket = 7')
  await client.query('commit')
})

test('it admits others from the transaction on that says so, and all again where there is one database', async () => {
  await client.query('select platform.own_buckets($1)', [[7]])
  await addEvent(7)
  await assert.rejects(addEvent(8), refusal)
  const { rows } = await client.query('select buckets, epoch from platform.this_cell')
  assert.deepEqual(rows, [{ buckets: [7], epoch: 3 }])
  await client.query('select platform.own_buckets(null)')
  await addEvent(9)
  const left = await client.query(
    `select from pg_constraint where conname = 'own_bucket' union all select from pg_trigger where tgname = 'own_bucket'`,
  )
  assert.equal(left.rows.length, 0)
})

test('others that write do not keep it waiting, and what they begin afterwards is refused', async () => {
  await client.query('select platform.own_buckets($1)', [[7, 8]])
  const other = new pg.Client({ connectionString: database.url })
  await other.connect()
  const text = `insert into work.jobs (bucket, id, lane, run_at, attempt, payload)
                  values (8, gen_random_uuid(), 'trial', now(), 0, '{}')`
  await other.query(`begin; ${text}`)
  await client.query(`set lock_timeout = 50; select platform.admit_buckets('{7}'); set lock_timeout = 0`)
  await other.query('commit')
  await assert.rejects(other.query(text), refusal)
  await other.end()
})
