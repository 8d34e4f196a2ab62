// SPDX-License-Identifier: Apache-2.0
// One of two databases is away: its accounts get 503, and all others are served as before. And what is about both while they are
// there: a provider's statement, and the clock of a test account that is held where the account lives.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import pg from 'pg'
import { errorCode } from '../../src/kernel/error-code.ts'
import { buckets, newUuid } from '../../src/kernel/ids.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import type { RunningNode } from '../../src/node/server.ts'
import { statement } from '../../src/platform/db.ts'
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
  { PAMOJA_DATABASE_WAIT_SECONDS: 5, PAMOJA_SANDBOX_TIME_SCALE: 0.01 },
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

/** Changes nothing, and what it might change is looked for in the copies. */
const touchPlans = statement.home<object, object>(
  'test.touch_plans',
  'update accounts.plans set name = name where false',
)

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

const statements = '/v1/operator/payments/statements'

async function paid({ client }: Account, phone: string, amount: number) {
  const { body, text: said } = await client.post('/v1/payments', { amount, currency: 'KES', phone })
  assert.ok(body.payment_id, said)
  const isUntold = phone.endsWith('0010')
  return eventually(async () => {
    const { body: after } = await client.get(`/v1/payments/${body.payment_id}`)
    const isOver =
      after.status === 'cancelled' || (after.status === 'completed' && (isUntold || after.provider_reference))
    return isOver && after
  }, 'the payment to be over')
}

async function imported(
  rows: readonly (readonly [receipt: string, at: Date, amount: number, phone: string])[],
  balance: object,
) {
  const columns = { receipt: 'Ref', time: 'When', amount: 'Sum', phone: 'Who' }
  const made = await world.operator.post(statements, { provider: 'mpesa', environment: 'test', columns, ...balance })
  assert.equal(made.status, 201, made.text)
  const raw = [
    'Ref;When;Sum;Who',
    ...rows.map(([ref, at, sum, who]) => `${ref};${at.toISOString()};${sum};${who}`),
  ].join('\n')
  const headers = { 'content-type': 'text/csv' }
  const sent = await world.operator.post(`${statements}/${made.body.id}/lines`, undefined, { raw, headers })
  assert.equal(sent.status, 200, sent.text)
  return statementOf(made.body.id)
}

function statementOf(id: string) {
  return eventually(async () => {
    const { body } = await world.operator.get(`${statements}/${id}`)
    return body.status === 'matched' && body
  }, 'the statement to be matched')
}

test('a statement of a provider finds what accounts of both databases did, and the float comes out even', async () => {
  const now = () => world.app.clock.nowMs()
  const [here, there] = [await accountIn('home'), await accountIn('east')]
  const began = new Date(now())
  const [told, afar] = [await paid(here, '+254700000001', 1_000), await paid(there, '+254700000001', 900)]
  const untold = await paid(there, '+254700000010', 300)
  const [gap, declined] = [await paid(there, '+254700000020', 200), await paid(there, '+254700000004', 450)]
  assert.deepEqual([untold.provider_reference, declined.status], [null, 'cancelled'])
  const ended = new Date(now() + 1_000)
  const first = await imported(
    [
      [told.provider_reference, began, 1_000, told.phone],
      [afar.provider_reference, began, 900, afar.phone],
      ['UNTOLD0001', ended, 300, untold.phone],
      ['NOBODY0001', ended, 450, '+254711111111'],
    ],
    { closing_balance: 2_650, closing_at: ended.toISOString() },
  )
  const lines = ({ classes }: { classes: Record<string, { lines: number; amount: number }> }) =>
    ['matched', 'theirs_only', 'amount_differs', 'ours_only'].map((name) => [
      classes[name]?.lines,
      classes[name]?.amount,
    ])
  assert.deepEqual(lines(first), [
    [3, 2_200],
    [1, 450],
    [0, 0],
    [1, 200],
  ])
  assert.deepEqual([first.float_balance, first.difference], [2_850, -200])
  const listed = async (kind: string) =>
    (await world.operator.get(`${statements}/${first.id}/lines?class=${kind}&order=asc`)).body.data
  const found = (await listed('matched')).map((line: Record<string, string>) => [line.matched_by, line.account_id])
  assert.deepEqual(found, [
    ['receipt', here.id],
    ['receipt', there.id],
    ['payer', there.id],
  ])
  const [missing] = await listed('ours_only')
  assert.deepEqual([missing.payment_id, missing.account_id, missing.amount], [gap.payment_id, there.id, 200])
  const { body: named } = await there.client.get(`/v1/payments/${untold.payment_id}`)
  assert.equal(named.provider_reference, 'UNTOLD0001', 'what polling cannot tell, the statement does')

  const [line] = await listed('theirs_only')
  const right = { account_id: there.id, payment_id: declined.payment_id }
  const assigned = await world.operator.post(`${statements}/${first.id}/lines/${line.id}/assign`, right)
  assert.deepEqual(
    [assigned.status, assigned.body.class, assigned.body.matched_by],
    [200, 'matched', 'hand'],
    assigned.text,
  )
  const { body: completed } = await there.client.get(`/v1/payments/${declined.payment_id}`)
  assert.deepEqual([completed.status, completed.provider_reference], ['completed', 'NOBODY0001'])

  await eventually(async () => now() > ended.getTime(), 'the statement to be over')
  await paid(there, '+254700000001', 70)
  const second = await imported([[gap.provider_reference, ended, 200, gap.phone]], {
    closing_balance: 2_850,
    closing_at: ended.toISOString(),
  })
  assert.deepEqual([second.float_balance, second.difference], [2_850, 0], 'what came after it is not in its balance')
  assert.deepEqual(lines(await statementOf(first.id)).at(-1), [0, 0], 'what a later one names is missing no longer')
  assert.deepEqual((await verifyLedger(world.app.db)).problems, [])
})

test('the clock of a test account moves once nobody holds it where the account lives', async () => {
  const there = await accountIn('east')
  const { account } = tenantOf(there)
  const holder = new pg.Client({ connectionString: east.url })
  await holder.connect()
  try {
    await holder.query('begin')
    const held = `select accounts.hold_clock($1, 'test')::int as ms`
    assert.deepEqual((await holder.query(held, [account])).rows, [{ ms: 0 }])
    const moved = there.client.post('/v1/sandbox/clock', { advance_seconds: 60 })
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
                        and pg_backend_pid() = any(pg_blocking_pids(pid))`
    await eventually(async () => (await holder.query(waiting)).rowCount === 1, 'the clock to wait')
    await holder.query('commit')
    assert.equal((await moved).status, 200)
    assert.deepEqual((await holder.query(held, [account])).rows, [{ ms: 60_000 }])
  } finally {
    await holder.end()
  }
})

test('a node renews what it leases however far the copy of home is behind', async () => {
  const copy = new pg.Client({ connectionString: east.url })
  await copy.connect()
  const { db, leases } = world.app
  const ended: string[] = []
  const note = (what: string) => () => void ended.push(what)
  try {
    await copy.query('begin; lock table platform.leases in access exclusive mode')
    assert.ok(await leases.tryAcquire('trial: the copy is behind from here on', 60))
    const leased = leases.tryAcquire('trial: beside it', 60).then(note('leased'))
    const copied = db.query(touchPlans, {}).then(note('waited for the copy'))
    await Promise.all([leased, copied])
    assert.deepEqual(ended, ['leased', 'waited for the copy'])
  } finally {
    await copy.end()
  }
})

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
