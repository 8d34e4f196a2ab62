// SPDX-License-Identifier: Apache-2.0
// Messages over an aggregator that speaks HTTP: the profile an operator writes, the requests it makes, the calls that come
// back, and what happens when the aggregator refuses, is overrun, or goes away in the middle.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { bindOf, findBind, sealSecret } from '../../src/areas/sms/carriers/bind.ts'
import { one } from '../../src/platform/db.ts'
import { AggregatorSimulator } from '../../src/simulators/aggregator.ts'
import { lookInto } from '../looking.ts'
import { root } from '../program.ts'
import { balance, ended, inForce, send, statusOf, toldOf } from '../texting.ts'
import { eventually, startWorld, type World } from '../world.ts'

/** The profile that the documentation shows. */
const [, documented = ''] =
  /(\{\n {2}"name": "aggregator-a".*?\n\})'/s.exec(readFileSync(join(root, 'docs/sms.md'), 'utf8')) ?? []
const { profile } = JSON.parse(documented)

let world: World

before(async () => {
  world = await startWorld()
})
after(() => world.stop())

describe('over an aggregator', () => {
  let aggregator: AggregatorSimulator
  let spare: AggregatorSimulator
  let route: { id: string }

  before(async () => {
    aggregator = await startAggregator('json')
    spare = await startAggregator('form')
    await makeBind('aggregator', aggregator, {})
    await makeBind('spare', spare, { request: { format: 'form' } })
    const made = await world.operator.post('/v1/operator/sms/routes', {
      environment: 'test',
      tiers: [[{ bind: 'aggregator' }], [{ bind: 'spare' }]],
    })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    route = made.body
    await inForce(world, route.id)
  })
  after(async () => {
    await aggregator.stop()
    await spare.stop()
  })

  const outcomes: [string, string, string, string | null, number][] = [
    ['01', 'is delivered', 'delivered', null, 0.8],
    ['02', 'cannot be delivered', 'failed', 'UNDELIVERABLE', 0.8],
    ['03', 'is refused and costs nothing', 'failed', 'REJECTED', 0],
    ['06', 'expires in the network', 'failed', 'EXPIRED', 0.8],
    ['08', 'is delivered after the aggregator asked for patience', 'delivered', null, 0.8],
    ['09', 'is delivered once although the call comes early and twice', 'delivered', null, 0.8],
  ]
  for (const [ending, what, status, errorCode, cost] of outcomes)
    test(`a message to 0000${ending} ${what}`, async () => {
      const ada = await world.account({ balance: 100 })
      const id = await send(ada, `+2547110000${ending}`, `Habari ${ending}`)
      const record = await ended(ada, id)
      assert.deepEqual([record.status, record.error_code], [status, errorCode])
      assert.deepEqual(await toldOf(ada, id), errorCode === 'REJECTED' ? ['failed'] : ['sent', status])
      assert.equal(await balance(ada), 100 - cost)
    })

  test('a refused message shows the aggregator’s own code', async () => {
    const ada = await world.account({ balance: 100 })
    const record = await ended(ada, await send(ada, '+254711000003'))
    assert.equal(record.timeline.at(-1).carrier_code, 'E_REFUSED')
  })

  test('its timeline tells what the aggregator was asked and called with, and nothing of the operator’s', async () => {
    const ada = await world.account({ balance: 100 })
    const id = await send(ada, '+254711000001', 'Habari')
    await ended(ada, id)
    const frames = await eventually(async () => {
      const { body } = await ada.client.get(`/v1/sms/${id}/timeline`)
      const found: { kind: string; request: string; status: string }[] = body.frames
      return ['provider', 'callback'].every((kind) => found.some((one) => one.kind === kind)) && found
    }, 'both frames')
    const sent = frames.find(({ kind }) => kind === 'provider')
    const said = { to: '+254711000001', from: 'PAMOJA', text: 'Habari', encoding: 'gsm7' }
    assert.deepEqual([sent?.status, JSON.parse(sent?.request ?? '')], ['201', said])
    assert.match(frames.find(({ kind }) => kind === 'callback')?.request ?? '', /"status":"delivered"/)
  })

  test('a long message goes whole, and one receipt makes it delivered', async () => {
    const ada = await world.account({ balance: 100 })
    const text = 'Tafadhali lipa "bili" yako leo. 😀 & asante\n'.repeat(8).trim()
    const id = await send(ada, '+254711000099', text)
    const record = await ended(ada, id)
    assert.equal(record.status, 'delivered')
    assert.ok(record.parts >= 4)
    assert.equal(aggregator.taken.filter((taken) => taken.text === text).length, 1)
    assert.equal(await balance(ada), Math.round((100 - record.parts * 0.8) * 10) / 10)
  })

  test('what the aggregator took and did not answer goes out again where the route says so', async () => {
    const ada = await world.account({ balance: 100 })
    aggregator.mode = 'cut'
    const id = await send(ada, '+254722500001', 'cut twice')
    assert.equal((await ended(ada, id)).status, 'delivered')
    aggregator.mode = 'answer'
    assert.equal(aggregator.taken.filter(({ text }) => text === 'cut twice').length, 1)
    assert.equal(spare.taken.filter(({ text }) => text === 'cut twice').length, 1)
    assert.equal(await balance(ada), 99.2)
    await answers('aggregator')
  })

  test('what the aggregator took and did not answer is given up where it must not go twice', async () => {
    const ada = await world.account({ balance: 100 })
    await changeRoute({ on_unknown: 'maybe_never' })
    aggregator.mode = 'cut'
    const id = await send(ada, '+254722500002', 'cut never')
    const record = await ended(ada, id)
    aggregator.mode = 'answer'
    await changeRoute({ on_unknown: 'maybe_twice' })
    assert.deepEqual([record.status, record.error_code], ['failed', 'CARRIER_ERROR'])
    assert.equal(aggregator.taken.filter(({ text }) => text === 'cut never').length, 1)
    assert.equal(spare.taken.filter(({ text }) => text === 'cut never').length, 0)
    assert.equal(await balance(ada), 100)
    await answers('aggregator')
  })

  test('an aggregator that does not answer in time is passed over until it does', async () => {
    const ada = await world.account({ balance: 100 })
    await changeBind('aggregator', { response_timeout_seconds: 1 })
    aggregator.mode = 'silent'
    const id = await send(ada, '+254722500003', 'in time')
    assert.equal((await ended(ada, id)).status, 'delivered')
    assert.ok(spare.taken.some(({ text }) => text === 'in time'))
    assert.match((await bind('aggregator')).last_error, /No answer came within 1 second/)
    aggregator.mode = 'answer'
    await changeBind('aggregator', { response_timeout_seconds: 30 })
    await answers('aggregator')
  })

  test('a message goes over the next carrier when the aggregator says that it is down', async () => {
    const ada = await world.account({ balance: 100 })
    await world.operator.patch('/v1/operator/sms/binds/spare', {
      profile: profileOf(spare, {
        request: { format: 'form', fields: { ...profile.request.fields, to: '+254711000001' } },
      }),
    })
    const id = await send(ada, '+254711000012', 'round about')
    assert.equal((await ended(ada, id)).status, 'delivered')
    assert.deepEqual(
      spare.taken.filter(({ text }) => text === 'round about').map(({ to }) => to),
      ['+254711000001'],
    )
    await world.operator.patch('/v1/operator/sms/binds/spare', {
      profile: profileOf(spare, { request: { format: 'form' } }),
    })
  })

  test('an aggregator that is not there is passed over, even where nothing may go out twice', async () => {
    const ada = await world.account({ balance: 100 })
    await changeRoute({ on_unknown: 'maybe_never' })
    const gone = await startAggregator('json')
    const { url } = gone
    await gone.stop()
    await changeBind('aggregator', { profile: profileOf({ url }, {}) })
    const id = await send(ada, '+254722500006', 'nobody home')
    assert.equal((await ended(ada, id)).status, 'delivered')
    assert.ok(spare.taken.some(({ text }) => text === 'nobody home'))
    assert.equal((await bind('aggregator')).last_error, 'The connection was refused.')
    await changeBind('aggregator', { profile: profileOf(aggregator, {}) })
    await changeRoute({ on_unknown: 'maybe_twice' })
  })

  test('a key that the aggregator does not know rejects nobody: messages go another way', async () => {
    const ada = await world.account({ balance: 100 })
    await changeBind('aggregator', { password: 'wrong' })
    const id = await send(ada, '+254722500004', 'wrong key')
    assert.equal((await ended(ada, id)).status, 'delivered')
    assert.ok(spare.taken.some(({ text }) => text === 'wrong key'))
    await eventually(async () => (await bind('aggregator')).last_error === 'E_KEY', 'the operator to see why')
    await changeBind('aggregator', { password: 'key' })
  })

  test('a handset’s answer reaches the customer, and STOP is obeyed', async () => {
    const ada = await world.account({ balance: 100 })
    const handset = '+254722500005'
    const id = await send(ada, handset, 'An offer', 'SHOP')
    await ended(ada, id)
    const { inbound_url } = await bind('aggregator')
    assert.equal(await aggregator.inbound(inbound_url, { from: '254722500005', to: 'SHOP', text: 'STOP' }), 200)
    const { body } = await ada.client.get('/v1/sms?direction=inbound')
    assert.deepEqual([body.data[0].from, body.data[0].to, body.data[0].message], [handset, 'SHOP', 'STOP'])
    const refused = await ada.client.post('/v1/sms/send', { to: handset, from: 'SHOP', message: 'Another' })
    assert.equal(refused.body.error.code, 'OPTED_OUT')
  })

  test('what an aggregator says of nobody, or without a text, is refused, and a number of the country is completed', async () => {
    const ada = await world.account({ balance: 100 })
    const handset = '+254722500006'
    await ended(ada, await send(ada, handset, 'An offer', 'SHOP'))
    const { pathname, search } = new URL((await bind('aggregator')).inbound_url)
    for (const bad of [
      { from: '0712', to: 'SHOP', text: 'STOP' },
      { from: 5, to: 'SHOP', text: 'STOP' },
      { from: '#100', to: 'SHOP', text: 'STOP' },
      { from: '254722500006', to: 'SHOP' },
      { from: '0722500006', to: '40999', text: 'STOP' },
    ]) {
      const { status, body } = await world.stranger.post(`${pathname}${search}`, bad)
      assert.deepEqual([status, body.error?.code], [400, 'INVALID_REQUEST'], JSON.stringify(bad))
    }
    const way = { environment: 'test', country: 'KE', tiers: [[{ bind: 'aggregator' }]] }
    const { body: home } = await world.operator.post('/v1/operator/sms/routes', way)
    await inForce(world, home.id)
    const told = await world.stranger.post(`${pathname}${search}`, { from: '0722500006', to: 'SHOP', text: 'STOP' })
    assert.equal(told.status, 200, told.text)
    const refused = await ada.client.post('/v1/sms/send', { to: handset, from: 'SHOP', message: 'Another' })
    assert.equal(refused.body.error?.code, 'OPTED_OUT')
    await world.operator.delete(`/v1/operator/sms/routes/${home.id}`)
  })

  test('who does not know the token changes nothing', async () => {
    const ada = await world.account({ balance: 100 })
    const id = await send(ada, '+254711000005', 'no receipt')
    await eventually(async () => (await statusOf(ada, id)) === 'sent', 'the message to be sent')
    const taken = aggregator.taken.find(({ text }) => text === 'no receipt')
    const receipt = { id: taken?.id, status: 'DELIVERED', error: '0' }
    const real = new URL((await bind('aggregator')).receipts_url)
    for (const path of [
      real.pathname,
      `${real.pathname}?token=`,
      `${real.pathname}?token=${'A'.repeat(32)}`,
      `${real.pathname}?token=a&token=b`,
      `${real.pathname.replace('aggregator', 'spare')}${real.search}`,
      `${real.pathname.replace('aggregator', 'nobody')}${real.search}`,
      `${real.pathname.replace('aggregator', '%00')}${real.search}`,
    ]) {
      const { status: answered, body } = await world.stranger.post(path, receipt)
      assert.deepEqual([answered, body.error.code], [401, 'UNAUTHORIZED'], path)
    }
    assert.equal(await statusOf(ada, id), 'sent')
    const path = `${real.pathname}${real.search}`
    for (const [raw, type] of [
      ['{"id":', 'application/json'],
      ['{}', 'application/json'],
      ['id=', 'application/x-www-form-urlencoded'],
      [`{"id":"${'x'.repeat(300)}","status":"DELIVERED"}`, 'application/json'],
      [`{"id":"\\u0000","status":"DELIVERED"}`, 'application/json'],
      ['id=%00&status=DELIVERED', 'application/x-www-form-urlencoded'],
    ] as const) {
      const { status: answered } = await world.stranger.request('POST', path, {
        raw,
        headers: { 'content-type': type },
      })
      assert.equal(answered, 400, raw)
    }
    assert.equal((await world.stranger.post(path, { ...receipt, status: 'BUFFERED' })).status, 200)
    assert.equal((await world.stranger.post(path, { ...receipt, status: 'WHO KNOWS' })).status, 200)
    assert.equal(await statusOf(ada, id), 'sent')
    const header = { 'x-carrier-token': real.searchParams.get('token') ?? '' }
    assert.equal((await world.stranger.post(real.pathname, receipt, { headers: header })).status, 200)
    assert.equal((await ended(ada, id)).status, 'delivered')
  })

  test('an aggregator may take texts and bring receipts in the query', async () => {
    const old = await startAggregator('query')
    const ada = await world.account({ balance: 100 })
    await makeBind('old', old, { request: { method: 'GET', format: 'query', url: `${old.url}?v=1` } })
    const own = await world.operator.post('/v1/operator/sms/routes', {
      environment: 'test',
      account_id: ada.id,
      tiers: [[{ bind: 'old' }]],
    })
    await inForce(world, own.body.id)
    const text = `${'Habari ya asubuhi, 50% & zaidi? '.repeat(40)}😀`
    assert.equal((await ended(ada, await send(ada, '+254711000098', text))).status, 'delivered')
    assert.deepEqual(
      old.taken.map((taken) => taken.text),
      [text],
    )
    await world.operator.delete(`/v1/operator/sms/routes/${own.body.id}`)
    assert.equal((await world.operator.delete('/v1/operator/sms/binds/old')).status, 200)
    await old.stop()
  })

  test('a key in the headers or fields of a profile is sealed, shown as stars, and stays when it is given back', async () => {
    const ada = await world.account({ balance: 100 })
    const request = {
      headers: { authorization: 'Bearer key', 'x-request': '{{id}}' },
      fields: { ...profile.request.fields, login: { user: 'pamoja', pin: 271828, urgent: true, note: null } },
    }
    const hidden = { ...profileOf(aggregator, { request }), auth: { kind: 'none' } }
    await changeBind('aggregator', { password: '', profile: hidden })
    const { profile: shown } = await bind('aggregator')
    assert.deepEqual(shown.request.headers, { authorization: '********', 'x-request': '{{id}}' })
    assert.deepEqual(shown.request.fields, {
      ...profile.request.fields,
      login: { user: '********', pin: '********', urgent: true, note: null },
    })
    const { body: got } = await world.operator.get('/v1/operator/sms/binds/aggregator')
    assert.deepEqual(got.profile, shown)
    const row = await one(world.app.db.query(findBind, { name: 'aggregator' }))
    assert.equal(/Bearer key|271828/.test(JSON.stringify(row)), false)

    shown.errors.statuses['403'] = { as: 'reroute' }
    await changeBind('aggregator', { profile: shown })
    await ended(ada, await send(ada, '+254722500007', 'with the same key'))
    assert.ok(aggregator.taken.some(({ text }) => text === 'with the same key'))

    shown.request.headers['x-other'] = '********'
    const unknown = await world.operator.patch('/v1/operator/sms/binds/aggregator', { profile: shown })
    assert.equal(unknown.status, 422)
    assert.match(unknown.body.error.details, /profile.request.headers.x-other is masked; give its value/)

    await changeBind('aggregator', { password: 'key', profile: profileOf(aggregator, {}) })
  })

  test('a bind whose profile was not sealed yet goes on, shows stars, and is sealed when it is changed', async () => {
    const ada = await world.account({ balance: 100 })
    const request = { headers: { authorization: 'Bearer key' } }
    const profile = { ...profileOf(aggregator, { request }), auth: { kind: 'none' } }
    const kept = await one(world.app.db.query(findBind, { name: 'aggregator' }))
    const { token } = await bindOf(world.app, kept)
    const owner = { bucket: kept.sealed_bucket, account: kept.sealed_account }
    const sql = lookInto(world)
    await sql.connect()
    await sql.query('update sms.binds set settings = $1, secret = $2 where name = $3', [
      JSON.stringify({ profile }),
      await sealSecret(world.app, owner, kept.name, { password: '', token }),
      kept.name,
    ])
    await sql.end()
    assert.equal((await bind('aggregator')).profile.request.headers.authorization, '********')
    await changeBind('aggregator', { window: 11 })
    await ended(ada, await send(ada, '+254722500008', 'with the old key'))
    assert.ok(aggregator.taken.some(({ text }) => text === 'with the old key'))
    const row = await one(world.app.db.query(findBind, { name: 'aggregator' }))
    assert.equal(JSON.stringify(row).includes('Bearer key'), false)
    await changeBind('aggregator', { password: 'key', profile: profileOf(aggregator, {}) })
  })

  async function startAggregator(calls: 'json' | 'form' | 'query'): Promise<AggregatorSimulator> {
    const ca = readFileSync(world.node.caFile ?? '', 'utf8')
    return AggregatorSimulator.start({ apiKey: 'key', delayMs: 20, calls, ca })
  }

  async function makeBind(name: string, to: AggregatorSimulator, changes: Changes): Promise<void> {
    const made = await world.operator.post('/v1/operator/sms/binds', {
      name,
      kind: 'http',
      password: 'key',
      response_timeout_seconds: 30,
      profile: profileOf(to, changes),
    })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    assert.equal(JSON.stringify(made.body).includes('password'), false)
    assert.match(made.body.receipts_url, new RegExp(`/carriers/sms/${name}/receipts\\?token=[\\w-]{32}$`))
    await answers(name)
  }

  async function changeBind(name: string, change: object): Promise<void> {
    const { status: answered, body } = await world.operator.patch(`/v1/operator/sms/binds/${name}`, change)
    assert.equal(answered, 200, JSON.stringify(body))
    await answers(name)
  }

  async function changeRoute(change: object): Promise<void> {
    assert.equal((await world.operator.patch(`/v1/operator/sms/routes/${route.id}`, change)).status, 200)
    await inForce(world, route.id)
  }

  async function bind(name: string) {
    const { body } = await world.operator.get('/v1/operator/sms/binds')
    return body.data.find((one: { name: string }) => one.name === name)
  }

  /** Waits until a bind is used again; one that was doubted is tried with messages. */
  async function answers(name: string): Promise<void> {
    const eve = await world.account({ balance: 100 })
    await eventually(async () => {
      const { in_force, bound } = await bind(name)
      if (!in_force || bound === 1) return in_force
      await ended(eve, await send(eve, '+254722500099', 'are you there?'))
      return false
    }, `${name} to answer`)
  }
})

test('a bind that cannot work is refused, and nothing of it is kept', async () => {
  const good = {
    name: 'wanted',
    kind: 'http',
    password: 'key',
    profile: profileOf({ url: 'https://sms.example/' }, {}),
  }
  const table: [string, object, RegExp][] = [
    ['a kind of nobody', { kind: 'pigeon' }, /kind must be one of smpp, http/],
    ['no profile', { profile: undefined }, /profile is required/],
    ['a setting of another kind', { host: 'smsc.example' }, /host is not a setting of http binds/],
    ['a profile for SMPP', { kind: 'smpp' }, /profile is not a setting of smpp binds/],
    ['SMPP at a host that is none', { kind: 'smpp', profile: undefined, host: ' ' }, /host must be a host name or/],
    ['SMPP without a host', { kind: 'smpp', profile: undefined }, /host is required/],
    ['a URL that is none', { profile: profileOf({ url: 'sms.example' }, {}) }, /profile.request.url must be/],
    ['a password that no header holds', { password: 'a\nb' }, /password must have/],
    ['too wide a window', { window: 5_000 }, /window must be 1 to 1000/],
  ]
  for (const [what, change, problem] of table) {
    const { status: answered, body } = await world.operator.post('/v1/operator/sms/binds', { ...good, ...change })
    assert.deepEqual([answered, body.error.code], [422, 'VALIDATION_ERROR'], `${what}: ${JSON.stringify(body)}`)
    assert.match(body.error.details, problem)
  }
  const { body } = await world.operator.get('/v1/operator/sms/binds')
  assert.equal(
    body.data.some(({ name }: { name: string }) => name === 'wanted'),
    false,
  )
  assert.equal((await world.operator.post('/v1/operator/sms/binds', good)).status, 201)
  const spoilt = await world.operator.patch('/v1/operator/sms/binds/wanted', { profile: {} })
  assert.equal(spoilt.status, 422)
  assert.equal((await world.operator.delete('/v1/operator/sms/binds/wanted')).status, 200)
})

interface Changes {
  request?: object
}

function profileOf({ url }: { url: string }, { request = {} }: Changes) {
  return { ...profile, request: { ...profile.request, url, ...request } }
}
