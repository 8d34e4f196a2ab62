// SPDX-License-Identifier: Apache-2.0
// One of two databases is away: its accounts get 503, and all others are served as before.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import pg from 'pg'
import { errorCode } from '../../src/kernel/error-code.ts'
import { buckets, newUuid } from '../../src/kernel/ids.ts'
import type { RunningNode } from '../../src/node/server.ts'
import type { Tenant } from '../../src/platform/tenant.ts'
import { Client } from '../client.ts'
import { createTwoCells } from '../database.ts'
import { openRoad } from '../road.ts'
import { type Account, eventually, startWorld, tenantOf, type World } from '../world.ts'

const databases = await createTwoCells()
const [east] = databases.cells
assert.ok(east)
const road = await openRoad(east.url)
const world: World = await startWorld(
  { PAMOJA_DATABASE_WAIT_SECONDS: 5 },
  [],
  Promise.resolve({
    ...databases,
    cells: [{ name: 'east', url: road.url }],
  }),
)
after(async () => {
  road.open()
  await world.stop()
  road.end()
})

/** An account of a cell: buckets of odd numbers are in the east. */
async function accountIn(cell: 'home' | 'east'): Promise<Account> {
  for (;;) {
    const account = await world.account({ balance: 100 })
    if ((tenantOf(account).bucket % 2 === 1) === (cell === 'east')) return account
  }
}

const text = { to: '+254712345678', from: 'PAMOJA', message: 'Habari' }

async function sent({ client }: Account): Promise<string> {
  const { status, body } = await client.post('/v1/sms/send', text)
  assert.equal(status, 200, JSON.stringify(body))
  return body.message_id
}

function isDelivered({ client }: Account, id: string): Promise<unknown> {
  return eventually(
    async () => (await client.get(`/v1/sms/${id}`)).body.status === 'delivered',
    'the text to be delivered',
  )
}

test('one database away: its accounts get 503 and all others are served; then it is back', async () => {
  const [here, there] = [await accountIn('home'), await accountIn('east')]
  for (const account of [here, there]) await isDelivered(account, await sent(account))

  road.close()
  const refused = await there.client.post('/v1/sms/send', text)
  assert.equal(refused.status, 503, JSON.stringify(refused.body))
  assert.equal((await there.client.get('/v1/wallet/balance')).status, 503)
  for (let i = 0; i < 3; i++) await isDelivered(here, await sent(here))
  const ready = await world.stranger.get('/readyz')
  assert.equal(ready.status, 200)
  assert.equal(ready.body.status, 'degraded')
  assert.equal(ready.body.checks.database_east, 'unreachable')

  road.open()
  await eventually(
    async () => (await there.client.post('/v1/sms/send', text)).status === 200,
    'its accounts to be served',
  )
  await isDelivered(there, await sent(there))
})

test('a bucket that is held, as after a move that was killed, keeps no job of others from running', async () => {
  const [held, free] = [await accountIn('home'), await accountIn('home')]
  const { bucket } = tenantOf(held)
  assert.notEqual(tenantOf(free).bucket, bucket)
  const even = buckets.filter((one) => one % 2 === 0)
  const own = 'select platform.own_buckets($1::smallint[])'
  const home = new pg.Client({ connectionString: world.databaseUrl })
  await home.connect()
  const addJob = async (tenant: Tenant): Promise<string> => {
    const id = newUuid(Date.now())
    await home.query(
      `insert into work.jobs (bucket, id, lane, account_id, environment, run_at, attempt, payload)
       values ($1, $2, 'notes.publish', $3, $4, now(), 0, '{"note": "none"}')`,
      [tenant.bucket, id, tenant.account, tenant.environment],
    )
    return id
  }
  const isTaken = async (id: string): Promise<boolean> =>
    (await home.query('select from work.jobs where id = $1 and attempt = 0', [id])).rowCount === 0
  const hold = async (): Promise<string> => {
    await home.query('begin')
    try {
      const waiting = await addJob(tenantOf(held))
      await home.query(own, [even.filter((one) => one !== bucket)])
      await home.query('commit')
      return waiting
    } catch (error) {
      await home.query('rollback')
      throw error
    }
  }
  try {
    const waiting = await unlocked(hold)
    const other = await addJob(tenantOf(free))
    await eventually(() => isTaken(other), 'the job of the other account to be taken')
    await isDelivered(free, await sent(free))
    assert.equal(await isTaken(waiting), false)
    await unlocked(() => home.query(own, [even]))
    await eventually(() => isTaken(waiting), 'the job of the bucket to be taken once it is admitted')
  } finally {
    await unlocked(() => home.query(own, [even]))
    await home.end()
  }
})

/** Result of what needs locks that the node may hold for a moment. */
async function unlocked<T>(work: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await work()
    } catch (error) {
      if (!['55P03', '40P01'].includes(errorCode(error))) throw error
    }
}

function start(cells: typeof databases.cells): Promise<RunningNode> {
  return world.another({ PAMOJA_DATABASE_WAIT_SECONDS: 5, PAMOJA_CELLS: cells })
}

test('a node that starts while a database is away serves all other accounts, shows nothing in part, and opens it later', async () => {
  const [here, there] = [await accountIn('home'), await accountIn('east')]
  road.close()
  const node = await start([{ name: 'east', url: road.url }])
  try {
    const stranger = new Client(node.url, readFileSync(node.caFile ?? '', 'utf8'), null)
    const [ours, theirs] = [stranger.as(here.key), stranger.as(there.key)]
    const operator = stranger.as(world.credentials.operator_key)
    const ready = await stranger.get('/readyz')
    assert.equal(ready.status, 200)
    assert.equal(ready.body.checks.database_east, 'unreachable')
    const taken = await ours.post('/v1/sms/send', text)
    assert.equal(taken.status, 200, taken.text)
    assert.equal((await theirs.post('/v1/sms/send', text)).status, 503)
    assert.equal((await operator.get('/v1/operator/jobs')).status, 503)
    await isDelivered({ ...here, client: ours }, taken.body.message_id)
    road.open()
    await eventually(async () => (await theirs.post('/v1/sms/send', text)).status === 200, 'the cell to be opened')
    assert.equal((await operator.get('/v1/operator/jobs')).status, 200)
    stranger.close()
  } finally {
    road.open()
    await node.stop()
  }
})

test('a bucket that two databases own, as after one was restored, gets 503 until one gives it up', async () => {
  const there = await accountIn('east')
  const even = buckets.filter((one) => one % 2 === 0)
  const own = 'update platform.this_cell set buckets = $1'
  const home = new pg.Client({ connectionString: world.databaseUrl })
  await home.connect()
  await home.query(own, [[...even, tenantOf(there).bucket]])
  const node = await start([{ name: 'east', url: east.url }])
  try {
    const stranger = new Client(node.url, readFileSync(node.caFile ?? '', 'utf8'), null)
    const theirs = stranger.as(there.key)
    assert.equal((await theirs.get('/v1/wallet/balance')).status, 503)
    await home.query(own, [even])
    await eventually(async () => (await theirs.get('/v1/wallet/balance')).status === 200, 'its account to be served')
    stranger.close()
  } finally {
    await home.query(own, [even])
    await home.end()
    await node.stop()
  }
})

test('a node that does not know a cell, or is led to another database, does not start', async () => {
  await assert.rejects(start([]), /divided among several databases: add east to PAMOJA_CELLS/)
  await assert.rejects(
    start([{ name: 'east', url: world.databaseUrl }]),
    /PAMOJA_CELLS names east is home: correct its URL/,
  )
})
