// SPDX-License-Identifier: Apache-2.0
// What an operator does, and what the customers then see.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { idOf, newUuid, uuidOf } from '../../src/kernel/ids.ts'
import { strandedLanes } from '../../src/platform/work/queues.ts'
import { lookInto } from '../looking.ts'
import { eventually, startWorld, type World } from '../world.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

test('an account is opened with a key that works, play money in its test wallet and none in its live one', async () => {
  const opened = await world.operator.post('/v1/operator/accounts', { name: 'Duka', country: 'UG', currency: 'UGX' })
  assert.equal(opened.status, 201)
  assert.equal(opened.headers.location, `/api/v1/operator/accounts/${opened.body.id}`)
  assert.deepEqual([opened.body.plan, opened.body.status, opened.body.currency], ['free', 'active', 'UGX'])
  const me = await world.stranger.as(opened.body.test_api_key).get('/v1/account')
  assert.equal(me.body.id, opened.body.id)
  assert.equal(me.body.timezone, 'Africa/Kampala', 'that of its country')
  assert.equal((await world.demo.get('/v1/account')).body.timezone, 'Africa/Nairobi')
  const elsewhere = { name: 'Duka', country: 'UG', currency: 'UGX', timezone: 'Africa/Cairo' }
  assert.equal((await world.operator.post('/v1/operator/accounts', elsewhere)).body.timezone, 'Africa/Cairo')
  const { body } = await world.operator.get(`/v1/operator/accounts/${opened.body.id}`)
  assert.deepEqual(
    body.wallets.map((one: object) => Object.values(one)),
    [
      ['test', 'UGX', 100_000, 0, 0, 100_000],
      ['live', 'UGX', 0, 0, 0, 0],
    ],
  )
  for (const bad of [
    { country: 'Kenya' },
    { country: 'ke' },
    { country: 'XX' },
    { currency: 'XXX' },
    { plan: 'gold' },
    { name: '' },
    { name: 'x'.repeat(101) },
    { timezone: 'Nairobi' },
    { play_money: -1 },
    { play_money: 0.001 },
    { play_money: 9_999_999_999_999 },
  ])
    assert.equal(
      (await world.operator.post('/v1/operator/accounts', { name: 'Duka', country: 'KE', currency: 'KES', ...bad }))
        .status,
      422,
      JSON.stringify(bad),
    )
})

test('the first request of a new account works, and an operator says how much it begins with', async () => {
  const open = async (wanted: object) => {
    const { status, body, text } = await world.operator.post('/v1/operator/accounts', { name: 'Duka', ...wanted })
    assert.equal(status, 201, text)
    return world.stranger.as(body.test_api_key)
  }
  const shop = await open({ country: 'KE', currency: 'KES' })
  const sent = await shop.post('/v1/sms/send', { to: '+254711000001', from: 'PAMOJA', message: 'Habari!' })
  assert.equal(sent.status, 200, sent.text)
  const { body: listed } = await shop.get('/v1/wallet/transactions?type=adjustment')
  assert.deepEqual(
    listed.data.map(({ amount, description }: { amount: number; description: string }) => [amount, description]),
    [[100_000, 'Play money for the sandbox']],
  )
  for (const [play_money, balance] of [
    [0, 0],
    ['2500.5', 2500.5],
  ] as const) {
    const client = await open({ country: 'KE', currency: 'KES', play_money })
    assert.equal((await client.get('/v1/wallet/balance')).body.balance, balance)
  }
})

test('a suspended account may only ask who it is, until it is active again', async () => {
  const ada = await world.account({ balance: 10 })
  await world.operator.patch(`/v1/operator/accounts/${ada.id}`, { status: 'suspended' })
  const refused = await eventually(async () => {
    const reply = await ada.client.get('/v1/account')
    return reply.status === 403 && reply
  }, 'the suspension')
  assert.equal(refused.body.error.code, 'ACCOUNT_SUSPENDED')
  assert.equal((await ada.client.post('/v1/notes', { text: 'x' })).status, 403)
  assert.equal((await ada.client.get('/v1/auth/whoami')).status, 200)
  assert.deepEqual(
    (await world.operator.get('/v1/operator/accounts?status=suspended')).body.data.map(({ id }: { id: string }) => id),
    [ada.id],
  )
  await world.operator.patch(`/v1/operator/accounts/${ada.id}`, { status: 'active' })
  await eventually(
    async () => (await ada.client.post('/v1/notes', { text: 'x' })).status === 200,
    'the account to be active',
  )
  const own = (await world.operator.get('/v1/account')).body.id
  assert.equal(
    (await world.operator.patch(`/v1/operator/accounts/${own}`, { status: 'suspended' })).status,
    409,
    'not oneself',
  )
})

test('an overdraft lets a wallet go below zero, exactly so far', async () => {
  const ada = await world.account()
  const allowed = await world.operator.post(`/v1/operator/accounts/${ada.id}/overdraft`, {
    amount: 1.6,
    currency: 'KES',
    environment: 'test',
  })
  assert.deepEqual([allowed.body.overdraft, allowed.body.available], [1.6, 1.6])
  const statuses = []
  for (let i = 0; i < 3; i++) statuses.push((await ada.client.post('/v1/notes', { text: 'x' })).status)
  assert.deepEqual(statuses, [200, 200, 402])
  const less = await world.operator.post(`/v1/operator/accounts/${ada.id}/overdraft`, {
    amount: 1,
    currency: 'KES',
    environment: 'test',
  })
  assert.equal(less.status, 409)
})

test('a price is in force once it is set, the most exact one first', async () => {
  const ada = await world.account({ balance: 100 })
  const cost = async () => (await ada.client.post('/v1/notes', { text: 'x' })).body.cost
  assert.equal(await cost(), 0.8)
  const general = await world.operator.post('/v1/operator/prices', {
    area: 'notes',
    unit: 'note',
    amount: 0.0075,
    currency: 'KES',
  })
  assert.deepEqual([general.status, general.headers.location], [201, `/api/v1/operator/prices/${general.body.id}`])
  const { body: read } = await world.operator.get(`/v1/operator/prices/${general.body.id}`)
  assert.deepEqual(read, general.body)
  await eventually(async () => (await cost()) === 0.0075, 'the general price')
  const own = await world.operator.post('/v1/operator/prices', {
    area: 'notes',
    unit: 'note',
    account_id: ada.id,
    amount: '0.005',
    currency: 'KES',
  })
  await eventually(async () => (await cost()) === 0.005, 'the price of the account')
  await world.operator.post('/v1/operator/prices', {
    area: 'notes',
    unit: 'note',
    account_id: ada.id,
    amount: 9,
    currency: 'KES',
    effective_from: '2099-01-01T00:00:00Z',
  })
  assert.equal(await cost(), 0.005, 'a price of the future waits')
  assert.equal((await world.operator.get('/v1/operator/prices?area=notes')).body.data.length, 3)
  assert.deepEqual((await world.operator.delete(`/v1/operator/prices/${own.body.id}`)).body.data, {
    id: own.body.id,
    deleted: true,
  })
  assert.equal((await world.operator.get(`/v1/operator/prices/${own.body.id}`)).status, 404)
  await eventually(async () => (await cost()) === 0.0075, 'the general price again')
  const many = {
    prices: [
      { area: 'sms', unit: 'segment', amount: 1, currency: 'KES' },
      { area: 'sms', unit: 'segment', amount: 0.0000001, currency: 'KES' },
    ],
  }
  const refused = await world.operator.post('/v1/operator/prices/import', many)
  assert.deepEqual([refused.status, refused.body.error.fields[0].field], [422, 'prices[1].amount'])
  const { body: stranger } = await world.operator.post('/v1/operator/prices', {
    ...many.prices[0],
    account_id: 'acc_x',
  })
  assert.equal(stranger.error.fields[0].field, 'account_id')
  const foreign = { prices: [many.prices[0], { ...many.prices[0], currency: 'ERN' }] }
  const { body: dormant } = await world.operator.post('/v1/operator/prices/import', foreign)
  assert.deepEqual([dormant.error.code, dormant.error.fields[0].field], ['UNSUPPORTED_CURRENCY', 'prices[1].currency'])
  assert.equal(dormant.error.details, 'prices[1].currency: ERN is not a currency of this service')
  assert.equal((await world.operator.get('/v1/operator/prices?area=sms')).body.data.length, 0, 'all or none')
})

test('a price is of something that is charged for', async () => {
  const price = { area: 'sms', unit: 'segment', amount: 1, currency: 'KES' }
  for (const [wrong, field, sentence] of [
    [{ unit: 'segments' }, 'unit', /^is not a unit of sms; available: segment$/],
    [{ area: 'payouts', unit: 'card.percent' }, 'unit', /available: mobile_money\.percent, .*bank_transfer\.max$/],
    [{ area: 'smss' }, 'area', /^has no charges; available: sms, .*payments, payouts/],
    [{ area: 'constructor' }, 'area', /no charges/],
  ] as const) {
    const { status, body } = await world.operator.post('/v1/operator/prices', { ...price, ...wrong })
    assert.deepEqual([status, body.error.fields[0].field], [422, field])
    assert.match(body.error.fields[0].message, sentence)
  }
  const { body } = await world.operator.post('/v1/operator/prices/import', { prices: [price, { ...price, unit: 'x' }] })
  assert.equal(body.error.fields[0].field, 'prices[1].unit')
})

test('a price of an account names it in the audit log, and one of nobody is refused', async () => {
  const ada = await world.account()
  const nobody = idOf('account', newUuid(Date.now()))
  const price = { area: 'letters', unit: 'page', amount: 0.75, currency: 'KES' }
  const { body: own } = await world.operator.post('/v1/operator/prices', { ...price, account_id: ada.id })
  await world.operator.delete(`/v1/operator/prices/${own.id}`)
  const { body: log } = await world.operator.get('/v1/audit-log')
  const of = (action: string) =>
    log.data.find((entry: { action: string; target: string }) => entry.action === action && entry.target === own.id)
  assert.deepEqual([of('price.set').after.account_id, of('price.set').after.amount], [ada.id, '0.75'])
  assert.deepEqual([of('price.remove').before.account_id, of('price.remove').before.amount], [ada.id, '0.75'])

  const refused = await world.operator.post('/v1/operator/prices', { ...price, account_id: nobody })
  assert.deepEqual([refused.status, refused.body.error.fields[0].field], [422, 'account_id'])
  const several = await world.operator.post('/v1/operator/prices/import', {
    prices: [
      { ...price, account_id: ada.id },
      { ...price, account_id: nobody },
    ],
  })
  assert.deepEqual([several.status, several.body.error.fields[0].field], [422, 'prices[1].account_id'])
  assert.deepEqual((await world.operator.get('/v1/operator/prices?area=letters')).body.data, [])
  const route = { account_id: nobody, tiers: [[{ bind: 'nobody' }]] }
  const strayed = await world.operator.post('/v1/operator/sms/routes', route)
  assert.deepEqual([strayed.status, strayed.body.error.fields[0].field], [422, 'account_id'])
})

test('a price is at most ten million, and a long text at that price is only too expensive', async () => {
  const price = { area: 'sms', unit: 'segment', country: 'KE', currency: 'KES' }
  const paths = {
    '/v1/operator/prices': (amount: number | string) => ({ ...price, amount }),
    '/v1/operator/prices/import': (amount: number | string) => ({ prices: [{ ...price, amount }] }),
  }
  for (const [path, body] of Object.entries(paths))
    for (const amount of [10_000_001, '10000000.000001', 9_223_372_036_854, 9_300_000_000_000]) {
      const refused = await world.operator.post(path, body(amount))
      assert.deepEqual([refused.status, refused.body.error?.code], [422, 'VALIDATION_ERROR'], refused.text)
      assert.match(refused.body.error.fields[0].field, /amount$/)
    }
  const ada = await world.account({ balance: 10 })
  const most = await world.operator.post('/v1/operator/prices', { ...price, account_id: ada.id, amount: 10_000_000 })
  assert.equal(most.status, 201, most.text)
  const message = 'Habari '.repeat(200)
  const messages = Array.from({ length: 500 }, (_, i) => ({ to: `+2547110${10_000 + i}`, message }))
  const one = await ada.client.post('/v1/sms/send', { to: '+254711000001', from: 'PAMOJA', message })
  assert.deepEqual([one.status, one.body.error?.code], [402, 'INSUFFICIENT_BALANCE'], one.text)
  const many = await ada.client.post('/v1/sms/bulk', { from: 'PAMOJA', messages })
  assert.deepEqual([many.status, many.body.error?.code], [402, 'INSUFFICIENT_BALANCE'], many.text)
})

test('a part of a payment is at most all of it, and the least that is taken is not more than the most', async () => {
  const kenya = { area: 'payments', country: 'KE', network: 'airtel_money', currency: 'KES' }
  const set = (unit: string, amount: number, more: object = {}) =>
    world.operator.post('/v1/operator/prices', { ...kenya, unit, amount, ...more })
  const said = async (asked: ReturnType<typeof set>) => {
    const { status, body } = await asked
    return [status, body.error?.code, body.error?.details]
  }
  assert.deepEqual(await said(set('mobile_money.percent', 100.5)), [
    422,
    'VALIDATION_ERROR',
    'amount must be a percentage of at most 100',
  ])
  assert.equal((await set('mobile_money.percent', 100)).status, 201)
  assert.equal((await set('mobile_money.max', 100)).status, 201)
  const nothing = 'amount: nothing could be paid: mobile_money.min would be 100.01, and mobile_money.max 100'
  assert.deepEqual(await said(set('mobile_money.min', 100.01)), [422, 'VALIDATION_ERROR', nothing])
  assert.equal((await set('mobile_money.min', 100)).status, 201)
  assert.match(String((await said(set('mobile_money.max', 50)))[2]), /min would be 100, and mobile_money.max 50/)
  assert.equal((await set('mobile_money.max', 50, { network: 'mpesa' })).status, 201, 'of another provider')
  assert.equal((await set('card.max', 1, { network: undefined })).status, 201, 'of something else')
  const both = [
    { ...kenya, unit: 'mobile_money.min', amount: 500 },
    { ...kenya, unit: 'mobile_money.max', amount: 900 },
  ]
  assert.equal((await world.operator.post('/v1/operator/prices/import', { prices: both })).status, 200)
  const rows = ['area,unit,country,network,amount,currency', 'payments,mobile_money.min,KE,airtel_money,901,KES']
  const headers = { 'content-type': 'text/csv' }
  const file = await world.operator.post('/v1/operator/prices/import/csv', undefined, { raw: rows.join('\n'), headers })
  assert.match(file.body.error.details, /^line 2: nothing could be paid/)
  const { data } = (await world.operator.get('/v1/operator/prices?area=payments&limit=200')).body
  for (const { id } of data) await world.operator.delete(`/v1/operator/prices/${id}`)
})

test('a route over a bind that is being removed waits for that, and is refused', async (t) => {
  const bind = { name: 'leaving', host: '127.0.0.1', port: 1, system_id: 'pamoja', password: 'secret' }
  const { status: made, body: entered } = await world.operator.post('/v1/operator/sms/binds', bind)
  assert.equal(made, 201)
  const { body: log } = await world.operator.get('/v1/audit-log?action=sms.create_bind&target=leaving')
  assert.equal(log.data[0].after.created_at, entered.created_at)
  const sql = lookInto(world)
  await sql.connect()
  t.after(() => sql.end())
  await sql.query('begin')
  await sql.query(`delete from sms.binds where name = 'leaving'`)
  const asked = world.operator.post('/v1/operator/sms/routes', { tiers: [[{ bind: 'leaving' }]] })
  const blocked = 'select from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))'
  const isWaiting = async () => ((await sql.query(blocked)).rowCount ?? 0) > 0
  await Promise.race([asked, eventually(isWaiting, 'the route to wait')])
  await sql.query('commit')
  const { status, body } = await asked
  assert.deepEqual([status, body.error?.code], [422, 'VALIDATION_ERROR'])
})

test('what is only read waits for nobody who changes it', async (t) => {
  const ada = await world.account()
  const { id: key } = (await ada.client.get('/v1/api-keys')).body.data[0]
  const sql = lookInto(world)
  await sql.connect()
  t.after(() => sql.end())
  await sql.query('begin')
  await sql.query('select from accounts.plans for no key update')
  await sql.query('select from accounts.api_keys where id = $1 for update', [uuidOf('apiKey', key)])
  assert.equal((await world.operator.get(`/v1/operator/api-keys/${key}`)).body.id, key)
  assert.equal((await world.operator.get('/v1/operator/plans/free')).body.name, 'free')
  assert.equal((await world.account({ plan: 'free' })).id.slice(0, 4), 'acc_', 'a new account leaves its plan as it is')
  await sql.query('rollback')
})

test('a plan changed for one is changed for all on it', async () => {
  const made = await world.operator.post('/v1/operator/plans', { name: 'charity', limits: { sms: 2 } })
  assert.equal(made.status, 201)
  assert.equal((await world.operator.post('/v1/operator/plans', { name: 'charity', limits: {} })).status, 409)
  const ada = await world.account({ balance: 10, plan: 'charity' })
  const limit = async () =>
    (await ada.client.get('/v1/limits')).body.limits.find(({ policy }: { policy: string }) => policy === 'plan-sms')
      ?.limit
  assert.equal(await limit(), 2)
  await world.operator.patch('/v1/operator/plans/charity', { limits: { sms: 3, email: 1 } })
  await eventually(async () => (await limit()) === 3, 'the plan to be changed')
  assert.equal((await world.operator.patch('/v1/operator/plans/charity', { limits: { sms: -1 } })).status, 422)
  const names = (await world.operator.get('/v1/operator/plans')).body.data.map(({ name }: { name: string }) => name)
  assert.deepEqual(names, ['charity', 'enterprise', 'free', 'growth', 'starter'])
})

test('of many who make a plan of one name at once, one does', async () => {
  // Whoever writes waits, so that all have looked before the first has written.
  const gate = await world.app.db.connect()
  await gate.query('begin')
  await gate.query('lock table accounts.plans in share mode')
  // As many as the node has connections for.
  const asked = [1, 2, 3, 4].map((sms) =>
    world.operator.post('/v1/operator/plans', { name: 'wanted', limits: { sms } }),
  )
  const waiting = `select from pg_locks where relation = 'accounts.plans'::regclass and not granted`
  await eventually(async () => (await gate.query(waiting)).rowCount === asked.length, 'all of them to wait')
  await gate.query('commit')
  await gate.end()
  const all = await Promise.all(asked)
  assert.deepEqual(all.map(({ status }) => status).sort(), [201, 409, 409, 409])
  const made = all.find(({ status }) => status === 201)
  const { body: plan } = await world.operator.get('/v1/operator/plans/wanted')
  assert.deepEqual(plan.limits, made?.body.limits)
})

test('the operator sees nodes, queues and how far the schema is', async () => {
  const { body } = await world.operator.get('/v1/operator/system')
  assert.equal(body.nodes.length, 1)
  assert.equal(body.nodes[0].version, body.version)
  assert.ok(Array.isArray(body.queues))
  const { applied, latest, latest_at } = body.migrations
  const files = readdirSync('src/migrations').filter((file) => file.endsWith('.sql'))
  assert.ok(applied >= files.length, 'all that there are')
  assert.match(latest, /^\d{4}-\d{2}-\d{2}_\w+$/)
  assert.ok(Date.parse(latest_at) <= Date.now())
})

test('a job for a place that nobody serves is listed, and can be given to somebody else or given up', async () => {
  const sql = lookInto(world)
  await sql.connect()
  const ids = [newUuid(Date.now()), newUuid(Date.now())]
  // The second was under way at a node that died.
  for (const [i, id] of ids.entries())
    await sql.query(
      `insert into work.jobs (bucket, id, lane, run_at, attempt, payload, owner)
       values (1, $1, 'nowhere.turn@gone', now() - $2 * interval '1 second', 0, '{}', $3)`,
      [id, 3_600 - i, i === 1 ? newUuid(Date.now()) : null],
    )
  const listed = async () => (await world.operator.get('/v1/operator/jobs?lane=nowhere.turn@gone')).body.data
  assert.deepEqual(
    (await listed()).map(({ state }: { state: string }) => state),
    ['stranded', 'stranded'],
  )
  assert.deepEqual(await strandedLanes(world.app.db), [{ lane: 'nowhere.turn@gone', jobs: 2 }])
  const [first, second] = (await listed()).map(({ id }: { id: string }) => id)
  assert.equal((await world.operator.delete(`/v1/operator/jobs/${first}`)).status, 200)
  assert.equal((await world.operator.post(`/v1/operator/jobs/${second}/retry`)).status, 200)
  assert.deepEqual(await listed(), [])
  const { rows } = await sql.query('delete from work.jobs where id = any($1) returning lane, owner', [ids])
  assert.deepEqual(rows, [{ lane: 'nowhere.turn', owner: null }])
  await sql.end()
})

test('being an operator takes the scope and an account that is one', async () => {
  const ada = await world.account()
  const refused = await ada.client.get('/v1/operator/accounts')
  assert.equal(refused.status, 403)
  assert.equal(refused.body.error.required_scope, 'operator')
  assert.equal((await world.demo.get('/v1/operator/accounts')).status, 403, 'every scope is not the operator scope')
})
