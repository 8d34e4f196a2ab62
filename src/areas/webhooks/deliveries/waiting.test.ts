// SPDX-License-Identifier: Apache-2.0
// A delivery is put back while what it waits for ends: whichever of the two commits first, it goes on at once.
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import pg from 'pg'
import { createTestDatabase, type TestDatabase } from '../../../../test/database.ts'
import { eventually } from '../../../../test/eventually.ts'
import { bucketOf, newUuid } from '../../../kernel/ids.ts'
import { systemClock } from '../../../platform/clock.ts'

const nowMs = systemClock.nowMs()
const account = newUuid(nowMs)
const bucket = bucketOf(account)
const node = newUuid(nowMs)
let database: TestDatabase
/** Two nodes, each in a transaction of its own. */
let one: pg.Client
let other: pg.Client
let endpoint: string
let first: string
let second: string

before(async () => {
  database = await createTestDatabase(['platform', 'work', 'events', 'webhooks'])
  one = new pg.Client({ connectionString: database.url })
  other = new pg.Client({ connectionString: database.url })
  await one.connect()
  await other.connect()
})
after(async () => {
  await one.end()
  await other.end()
  await database.drop()
})

/** An ordered endpoint, and two deliveries about the same thing that a node has taken. */
beforeEach(async () => {
  endpoint = newUuid(nowMs)
  first = newUuid(nowMs)
  second = newUuid(nowMs)
  await database.sql(
    `insert into webhooks.endpoints (bucket, account_id, environment, id, url, events, enabled, ordered, filters, secret,
       created_at, updated_at)
     values ($1, $2, 'test', $3, 'https://a.example', '{*}', true, true, '{}', '', now(), now())`,
    [bucket, account, endpoint],
  )
  for (const id of [first, second]) {
    await database.sql(
      `insert into webhooks.deliveries (bucket, account_id, environment, id, endpoint_id, event_id, event, resource_id,
         status, ordered, created_at)
       values ($1, $2, 'test', $3, $4, $3, 'note.published', 'A', 'pending', true, now())`,
      [bucket, account, id, endpoint],
    )
    await database.sql(
      `insert into work.jobs (bucket, id, lane, run_at, account_id, environment, key, attempt, owner, payload)
       values ($1, $2, 'webhooks.deliver', now() + interval '30 seconds', $3, 'test', $4, 1, $5, '{}')`,
      [bucket, id, account, endpoint, node],
    )
  }
})

/** What a failed test has left open would keep the next one waiting. */
afterEach(async () => {
  await one.query('rollback')
  await other.query('rollback')
})

test('the second of two waits for the first, and goes on when that is over', async () => {
  assert.equal(await putBack(one, 'A'), true)
  assert.equal(await isDue(), false)
  await finishFirst(other, 'pending')
  assert.equal(await isDue(), false, 'the first is to be tried again')
  await finishFirst(other, 'delivered')
  assert.equal(await isDue(), true)
})

test('it goes on when the first is over before it is put back', async () => {
  await finishFirst(other, 'delivered')
  assert.equal(await putBack(one, 'A'), false)
  assert.equal(await isDue(), true)
})

test('it goes on when the first is about to be over while it is put back', async () => {
  await other.query('begin')
  await finishFirst(other, 'delivered')
  assert.equal(await putBack(one, 'A'), false)
  await other.query('commit')
  assert.equal(await isDue(), true)
})

test('it goes on when the first ends a moment before it is put back for good', async () => {
  await one.query('begin')
  assert.equal(await putBack(one, 'A'), true)
  const finished = finishFirst(other, 'delivered')
  await waitsForLock(other)
  await one.query('commit')
  await finished
  assert.equal(await isDue(), true)
})

test('what a disabled endpoint has not heard goes on when it is enabled, whenever it was put back', async () => {
  await database.sql('update webhooks.endpoints set enabled = false where id = $1', [endpoint])
  assert.equal(await putBack(one, null), true)
  assert.equal(await isDue(), false)
  await take()

  await other.query('begin')
  await other.query('update webhooks.endpoints set enabled = true where id = $1', [endpoint])
  assert.equal(await putBack(one, null), false, 'it is being enabled')
  await other.query('commit')
  assert.equal(await isDue(), true)
  await take()
  assert.equal(await putBack(one, null), false, 'it is enabled')

  await database.sql('update webhooks.endpoints set enabled = false where id = $1', [endpoint])
  await take()
  await one.query('begin')
  assert.equal(await putBack(one, null), true)
  const enabled = other.query('update webhooks.endpoints set enabled = true where id = $1', [endpoint])
  await waitsForLock(other)
  await one.query('commit')
  await enabled
  // Whoever enables it lets fall due what is put back, and this is by now.
  assert.deepEqual(await database.sql('select owner from work.jobs where id = $1', [second]), [{ owner: null }])
})

test('a node that has lost the lease puts nothing back', async () => {
  await database.sql('update work.jobs set attempt = 2 where id = $1', [second])
  await putBack(one, 'A')
  assert.deepEqual(await database.sql('select owner from work.jobs where id = $1', [second]), [{ owner: node }])
})

/** Puts the second delivery back; whether it waits. */
async function putBack(client: pg.Client, resource: string | null): Promise<boolean> {
  const { rows } = await client.query(
    `select waits from webhooks.put_back($1, array[
       row($2::smallint, $3::uuid, 'test', $4::uuid, $5::uuid, 1, 60000, $6::text)::webhooks.put_back_item])`,
    [node, bucket, account, second, endpoint, resource],
  )
  return rows[0].waits
}

async function finishFirst(client: pg.Client, status: 'delivered' | 'pending'): Promise<void> {
  await client.query(
    `select failing from webhooks.finish($1, array[
       row($2::smallint, $3::uuid, 'test', $4::uuid, $5::uuid, 1, $6::text, 1::smallint, now(), null,
           case when $6::text = 'pending' then 5000 end, null, 200::smallint, 5, 0::smallint, '{}', 'A',
           null)::webhooks.finish_item])`,
    [node, bucket, account, first, endpoint, status],
  )
}

async function isDue(): Promise<boolean> {
  const rows = await database.sql<{ due: boolean }>(
    'select owner is null and run_at <= now() as due from work.jobs where id = $1',
    [second],
  )
  return rows[0]?.due ?? assert.fail('the second delivery has no job')
}

/** A node takes the second delivery again. */
async function take(): Promise<void> {
  await database.sql(
    `update work.jobs set owner = $2, attempt = 1, run_at = now() + interval '30 seconds' where id = $1`,
    [second, node],
  )
}

function waitsForLock(client: pg.Client): Promise<unknown> {
  const pid = 'processID' in client ? client.processID : null
  return eventually(async () => {
    const rows = await database.sql('select from pg_stat_activity where pid = $1 and wait_event_type = $2', [
      pid,
      'Lock',
    ])
    return rows.length > 0
  }, 'one transaction to wait for the other')
}
