// SPDX-License-Identifier: Apache-2.0
// Registering webhooks: what is taken, what is refused and how, who sees what, and where secrets are not.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import type pg from 'pg'
import { webhooks } from '../../src/areas/webhooks/area.ts'
import { deliverNow } from '../../src/areas/webhooks/deliveries/test-delivery.ts'
import { newUuid, uuidOf } from '../../src/kernel/ids.ts'
import type { Client, Reply } from '../client.ts'
import { lookInto } from '../looking.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { doChores, eventually, startWorld, type World } from '../world.ts'

const url = 'https://app.example/hooks'
const webhook = { url, events: ['sms.delivered', 'payment.*'] }
const unknownId = 'wh_01jb2c3d4e5f6g7h8j9kamnpqr'
const hour = 3_600

let folder: string
let world: World
let receiver: Receiver
let sql: pg.Client

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pamoja-webhooks-'))
  world = await startWorld({ PAMOJA_LOG_FILE: join(folder, 'log'), PAMOJA_LOG_LEVEL: 'debug' })
  receiver = await startReceiver()
  sql = lookInto(world)
  await sql.connect()
})
after(async () => {
  await sql.end()
  await receiver.stop()
  await world.stop()
  await rm(folder, { recursive: true, force: true })
})

test('a webhook lives from its registration to its end', async () => {
  const { client } = await world.account()
  const made = await client.post('/v1/webhooks', { ...webhook, description: 'Shop' })
  assert.equal(made.status, 201, made.text)
  const { success, data, secret, ...record } = made.body
  assert.equal(success, true)
  assert.equal(data.secret, secret)
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assert.match(record.id, /^wh_[0-9a-hjkmnp-tv-z]{26}$/)
  assert.equal(made.headers.location, `/api/v1/webhooks/${record.id}`)
  const { id, created_at, updated_at, ...rest } = record
  assert.deepEqual(rest, {
    url,
    dialect: 'pamoja',
    events: ['sms.delivered', 'payment.*'],
    enabled: true,
    description: 'Shop',
    ordered: false,
    rate_limit: null,
    filters: {},
    headers: {},
    disabled_reason: null,
    secret_activates_at: null,
    health: {
      state: 'healthy',
      success_24h: 0,
      failure_24h: 0,
      pending: 0,
      p50_ms: null,
      p95_ms: null,
      last_success_at: null,
      last_failure_at: null,
      last_status: null,
    },
  })
  assert.equal(created_at, updated_at)

  const path = `/v1/webhooks/${id}`
  assert.deepEqual((await client.get(path)).body.data, { ...record, replay: null })
  assert.deepEqual((await client.get(`/api${path}`)).body.data, { ...record, replay: null })
  assert.deepEqual((await client.get('/v1/webhooks')).body.data, [record])

  const changes = {
    url: `${url}/v2`,
    events: ['*'],
    description: null,
    enabled: false,
    ordered: true,
    rate_limit: 10,
    filters: { 'metadata.shop': 'A', amount: 1500, test: false },
    headers: { 'X-Key': 'k' },
  }
  for (const [field, value] of Object.entries(changes)) {
    const [before] = (await client.get('/v1/webhooks')).body.data
    const changed = await client.patch(path, { [field]: value })
    assert.equal(changed.status, 200, `${field}: ${changed.text}`)
    const shown = field === 'headers' ? { 'X-Key': '********' } : value
    const health =
      field === 'enabled' || before.enabled === false ? { ...before.health, state: 'disabled' } : before.health
    const expected = { ...before, [field]: shown, health, updated_at: changed.body.updated_at }
    assert.deepEqual(changed.body.data, expected)
    assert.ok(changed.body.updated_at >= before.updated_at)
    assert.deepEqual((await client.get(path)).body.data, { ...expected, replay: null })
  }
  const cleared = await client.patch(path, { rate_limit: null, filters: {}, headers: {}, description: '' })
  assert.deepEqual(
    [cleared.body.rate_limit, cleared.body.filters, cleared.body.headers, cleared.body.description],
    [null, {}, {}, ''],
  )
  const untouched = await client.patch(path, {})
  assert.deepEqual(untouched.body.data, cleared.body.data)

  const gone = await client.delete(path)
  assert.equal(gone.status, 200)
  assert.deepEqual(gone.body.data, { id, deleted: true })
  assert.equal(codeOf(await client.get(path)), 'WEBHOOK_NOT_FOUND')
  assert.equal(codeOf(await client.delete(path)), 'WEBHOOK_NOT_FOUND')
  assert.deepEqual((await client.get('/v1/webhooks')).body.data, [])
})

test('a webhook is switched off and on by its status too', async () => {
  const { client } = await world.account()
  const { body: made } = await client.post('/v1/webhooks', webhook)
  const path = `/v1/webhooks/${made.id}`
  const stateAfter = async (change: object) => {
    const { body } = await client.patch(path, change)
    return [body.enabled, body.health.state]
  }
  assert.deepEqual(await stateAfter({ status: 'disabled' }), [false, 'disabled'])
  assert.deepEqual(await stateAfter({ description: 'still off' }), [false, 'disabled'])
  assert.deepEqual(await stateAfter({ status: 'enabled' }), [true, 'healthy'])
  assert.deepEqual(await stateAfter({ status: 'disabled', enabled: false }), [false, 'disabled'])
  for (const change of [{ status: 'paused' }, { status: 'enabled', enabled: false }]) {
    const { status, body } = await client.patch(path, change)
    assert.deepEqual([status, body.error.code], [422, 'VALIDATION_ERROR'])
    assert.match(body.error.details, /^status /)
  }
  assert.equal((await client.get(path)).body.enabled, false, 'what is refused changes nothing')
})

test('what is missing or of the wrong type is 422, what cannot be used is 400', async () => {
  const { client } = await world.account()
  const refusals: [body: unknown, status: number, code: string][] = [
    [{ events: ['*'] }, 422, 'VALIDATION_ERROR'],
    [{ url }, 422, 'VALIDATION_ERROR'],
    [{}, 422, 'VALIDATION_ERROR'],
    [{ url: null, events: ['*'] }, 422, 'VALIDATION_ERROR'],
    [{ url: 5, events: ['*'] }, 422, 'VALIDATION_ERROR'],
    [{ url, events: '*' }, 422, 'VALIDATION_ERROR'],
    [{ url, events: [5] }, 422, 'VALIDATION_ERROR'],
    [{ ...webhook, enabled: 'yes' }, 422, 'VALIDATION_ERROR'],
    [{ ...webhook, ordered: 1 }, 422, 'VALIDATION_ERROR'],
    [{ ...webhook, filters: ['a'] }, 422, 'VALIDATION_ERROR'],
    [{ ...webhook, filters: { a: { b: 1 } } }, 422, 'VALIDATION_ERROR'],
    [{ ...webhook, filters: { a: null } }, 422, 'VALIDATION_ERROR'],
    [{ ...webhook, filters: { a: ['b'] } }, 422, 'VALIDATION_ERROR'],
    [{ ...webhook, filters: { 'a..b': 1 } }, 422, 'VALIDATION_ERROR'],
    [{ ...webhook, filters: { '': 1 } }, 422, 'VALIDATION_ERROR'],
    [{ ...webhook, headers: { 'X-A': 1 } }, 422, 'VALIDATION_ERROR'],
    [{ ...webhook, verify_token: '' }, 422, 'VALIDATION_ERROR'],
    [{ url: '', events: ['*'] }, 400, 'INVALID_URL'],
    [{ url: 'app.example', events: ['*'] }, 400, 'INVALID_URL'],
    [{ url: 'http://app.example/hooks', events: ['*'] }, 400, 'INVALID_URL'],
    [{ url: 'ftp://app.example/hooks', events: ['*'] }, 400, 'INVALID_URL'],
    [{ url: 'https://user:word@app.example/hooks', events: ['*'] }, 400, 'INVALID_URL'],
    [{ url: 'https://app.example/hooks#top', events: ['*'] }, 400, 'INVALID_URL'],
    [{ url: 'https://app.example:80/hooks', events: ['*'] }, 400, 'INVALID_URL'],
    [{ url: 'https://app.example:1023/hooks', events: ['*'] }, 400, 'INVALID_URL'],
    [{ url: 'https://169.254.169.254/latest', events: ['*'] }, 400, 'INVALID_URL'],
    [{ url, events: [] }, 400, 'INVALID_EVENT'],
    [{ url, events: Array.from({ length: 101 }, () => 'sms.status') }, 400, 'INVALID_EVENT'],
    [{ url, events: ['sms.queued'] }, 400, 'INVALID_EVENT'],
    [{ url, events: ['nothing.*'] }, 400, 'INVALID_EVENT'],
    [{ url, events: ['*', 'sms.bogus'] }, 400, 'INVALID_EVENT'],
  ]
  const { body: made } = await client.post('/v1/webhooks', webhook)
  for (const [body, status, code] of refusals) {
    const refused = await client.post('/v1/webhooks', body)
    assert.deepEqual([refused.status, codeOf(refused)], [status, code], JSON.stringify(body))
    if (code === 'INVALID_EVENT') assert.match(refused.body.error.message, /See details;/)
    const fields = Object(body)
    if (!('url' in fields && 'events' in fields) || fields.url === null) continue
    const change = await client.patch(`/v1/webhooks/${made.id}`, body)
    assert.deepEqual([change.status, codeOf(change)], [status, code], `PATCH ${JSON.stringify(body)}`)
  }
  const { secret: _secret, success: _success, data: _data, ...record } = made
  assert.deepEqual((await client.get('/v1/webhooks')).body.data, [record], 'nothing was made or changed')
})

test('a URL may use port 443 or any from 1024 up, and have 2048 characters', async () => {
  const { client } = await world.account()
  const long = (length: number) => `${url}/`.padEnd(length, 'x')
  for (const [given, status] of [
    ['https://app.example:443/hooks', 201],
    ['https://app.example:1024/hooks', 201],
    ['https://app.example:65535/hooks', 201],
    [long(2_048), 201],
    [long(2_049), 400],
  ] as const) {
    const made = await client.post('/v1/webhooks', { url: given, events: ['*'] })
    assert.equal(made.status, status, given)
    if (status === 201) assert.equal(made.body.url, given)
  }
})

test('subscriptions come back in canonical form', async () => {
  const { client } = await world.account()
  const forms: [given: string[], canonical: string[]][] = [
    [['*'], ['*']],
    [['sms.delivered', '*', 'payment.*'], ['*']],
    [['sms.*'], ['sms.*']],
    [['sms.delivered', 'sms.delivered'], ['sms.delivered']],
    [
      ['delivered', 'opened'],
      ['email.delivered', 'email.opened'],
    ],
    [['email.spam'], ['email.spam']],
    [['spam'], ['email.spam']],
    [['messenger.inbound'], ['messenger.message']],
    [['identity.completed'], ['identity.verified', 'identity.rejected', 'identity.expired']],
  ]
  for (const [events, canonical] of forms) {
    const { body } = await client.post('/v1/webhooks', { url, events })
    assert.deepEqual([...body.events].sort(), [...canonical].sort())
    assert.deepEqual((await client.get(`/v1/webhooks/${body.id}`)).body.events, body.events)
  }
})

test('names that are no events are told, however many there are', async () => {
  const { client } = await world.account()
  const one = await client.post('/v1/webhooks', { url, events: ['sms.delivered', 'sms.bogus', 'x'] })
  assert.match(one.body.error.details, /"sms\.bogus", "x"/)
  assert.doesNotMatch(one.body.error.details, /sms\.delivered/)
  assert.deepEqual(one.body.error.unknown_events, ['sms.bogus', 'x'])
  const typo = await client.post('/v1/webhooks', { url, events: ['sms.deliverd', 'Payment.*', 'x'] })
  assert.match(
    typo.body.error.details,
    /"sms\.deliverd" \(did you mean "sms\.delivered"\?\), "Payment\.\*" \(did you mean "payment\.\*"\?\), "x";/,
  )
  for (const asked of [
    await client.get('/v1/events?event=sms.deliverd'),
    await client.post('/v1/events/trigger', { event: 'sms.deliverd' }),
  ])
    assert.match(asked.body.error.details, /"sms\.deliverd" \(did you mean "sms\.delivered"\?\)/)
  const many = await client.post('/v1/webhooks', { url, events: Array.from({ length: 100 }, (_, i) => `x.${i}`) })
  assert.equal(codeOf(many), 'INVALID_EVENT')
  assert.match(many.body.error.details, /and 80 more/)
  const long = await client.post('/v1/webhooks', { url, events: ['y'.repeat(100_000)] })
  assert.equal(codeOf(long), 'INVALID_EVENT')
  assert.ok(long.text.length < 2_000)
})

test('every limit is where it is said to be', async () => {
  const { client } = await world.account()
  const filters = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`metadata.k${i}`, i]))
  const headers = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`X-H${i}`, 'v']))
  const cases: [body: object, status: number][] = [
    [{ events: Array(99).fill('sms.sent') }, 201],
    [{ events: Array(100).fill('sms.sent') }, 201],
    [{ events: Array(101).fill('sms.sent') }, 400],
    [{ description: 'd'.repeat(499) }, 201],
    [{ description: 'd'.repeat(500) }, 201],
    [{ description: 'd'.repeat(501) }, 422],
    [{ rate_limit: 0 }, 422],
    [{ rate_limit: 1 }, 201],
    [{ rate_limit: 1.5 }, 422],
    [{ rate_limit: 999 }, 201],
    [{ rate_limit: 1_000 }, 201],
    [{ rate_limit: 1_001 }, 422],
    [{ filters: filters(9) }, 201],
    [{ filters: filters(10) }, 201],
    [{ filters: filters(11) }, 422],
    [{ headers: headers(9) }, 201],
    [{ headers: headers(10) }, 201],
    [{ headers: headers(11) }, 422],
    [{ headers: { 'X-A': 'v'.repeat(1_020) } }, 201],
    [{ headers: { 'X-A': 'v'.repeat(1_021) } }, 201],
    [{ headers: { 'X-A': 'v'.repeat(1_022) } }, 422],
    [{ headers: { 'X-A': 'v'.repeat(510), 'X-B': 'v'.repeat(508) } }, 201],
    [{ headers: { 'X-A': 'v'.repeat(510), 'X-B': 'v'.repeat(509) } }, 422],
    [{ verify_token: 't'.repeat(201) }, 422],
  ]
  for (const [fields, status] of cases) {
    const made = await client.post('/v1/webhooks', { ...webhook, ...fields })
    assert.equal(made.status, status, `${JSON.stringify(fields).slice(0, 100)}: ${made.text.slice(0, 300)}`)
  }
})

test('a custom header is neither ours nor the connection’s, and can be sent as it stands', async () => {
  const { client } = await world.account()
  const refused: [string, string][] = [
    ...[
      'X-Service-Signature',
      'x-service-anything',
      'Webhook-Id',
      'webhook-signature',
      'X-Hub-Signature-256',
      'Content-Type',
      'content-length',
      'Content-Encoding',
      'User-Agent',
      'traceparent',
      'tracestate',
      'Host',
      'Connection',
      'Keep-Alive',
      'Proxy-Authorization',
      'TE',
      'Trailer',
      'Transfer-Encoding',
      'Upgrade',
      'Expect',
      '',
      'X A',
      'X:A',
      'X-Ä',
      'X\r\nY',
    ].map((name): [string, string] => [name, 'v']),
    ...['', ' v', 'v ', 'a\r\nX-Evil: b', 'a\nb', 'ä', '\u007f'].map((value): [string, string] => ['X-A', value]),
  ]
  for (const [name, value] of refused) {
    const made = await client.post('/v1/webhooks', { ...webhook, headers: { [name]: value } })
    assert.deepEqual([made.status, codeOf(made)], [422, 'VALIDATION_ERROR'], `${name}: ${value}`)
    assert.equal(made.body.error.fields[0].field, 'headers')
  }
  const twice = await client.post('/v1/webhooks', { ...webhook, headers: { 'X-A': '1', 'x-a': '2' } })
  assert.equal(twice.status, 422)
  const fine = await client.post('/v1/webhooks', {
    ...webhook,
    headers: { Authorization: 'Bearer a b\tc', 'X-Hub': 'v', "!#$%&'*+.^_`|~9": '~' },
  })
  assert.equal(fine.status, 201, fine.text)
})

test('custom headers are shown masked, and a masked one stays as it was', async () => {
  const { client } = await world.account()
  receiver.answer(
    ({ url }, response) => void response.end(new URL(url, receiver.origin).searchParams.get('hub.challenge')),
  )
  const { body } = await client.post('/v1/webhooks', {
    url: `${receiver.origin}/headers`,
    events: ['*'],
    headers: { 'X-Key': 'first', 'X-Shop': 'A' },
    verify_token: 'token',
  })
  assert.deepEqual(body.headers, { 'X-Key': '********', 'X-Shop': '********' })
  assert.equal(lastAt('/headers')?.headers['x-key'], 'first')
  const path = `/v1/webhooks/${body.id}`
  const changed = await client.patch(path, { headers: { 'X-Key': '********', 'X-Other': 'o' }, verify_token: 'token' })
  assert.deepEqual(changed.body.headers, { 'X-Key': '********', 'X-Other': '********' })
  const sent = lastAt('/headers')?.headers
  assert.deepEqual([sent?.['x-key'], sent?.['x-other'], sent?.['x-shop']], ['first', 'o', undefined])
})

test('the stars of a header that has no value here are refused, not sent', async () => {
  const { client } = await world.account()
  const { body } = await client.post('/v1/webhooks', { ...webhook, headers: { 'X-Key': 'first' } })
  for (const refused of [
    await client.post('/v1/webhooks', { ...webhook, headers: body.headers }),
    await client.patch(`/v1/webhooks/${body.id}`, { headers: { 'X-Renamed': body.headers['X-Key'] } }),
  ]) {
    assert.deepEqual([refused.status, codeOf(refused)], [422, 'VALIDATION_ERROR'])
    assert.match(refused.body.error.details, /^headers: "X-(Key|Renamed)" is masked; give its value/)
  }
})

test('a plan has so many webhooks, disabled ones included, and the next is refused', async () => {
  for (const [plan, most] of [
    ['free', 3],
    ['starter', 10],
  ] as const) {
    const { client } = await world.account({ plan })
    const ids: string[] = []
    for (let i = 0; i < most; i++) {
      const made = await client.post('/v1/webhooks', { ...webhook, enabled: i % 2 === 0 })
      assert.equal(made.status, 201, `${plan} ${i}`)
      ids.push(made.body.id)
    }
    const refused = await client.post('/v1/webhooks', webhook)
    assert.deepEqual([refused.status, codeOf(refused)], [422, 'WEBHOOK_LIMIT_REACHED'])
    assert.equal(refused.body.error.details, `${most} of ${most}`)
    const live = await liveClient(client)
    assert.equal((await live.post('/v1/webhooks', webhook)).status, 201, 'live counts for itself')
    await client.delete(`/v1/webhooks/${ids[0]}`)
    assert.equal((await client.post('/v1/webhooks', webhook)).status, 201)
    assert.equal((await client.post('/v1/webhooks', webhook)).status, 422)
  }
})

test('an operator can give an account more than its plan has, and take it back', async () => {
  const { client, id } = await world.account({ plan: 'free' })
  const path = `/v1/operator/accounts/${id}`
  const given = await world.operator.patch(path, { allowances: { webhooks: 4, webhook_concurrency: 7 } })
  assert.deepEqual(given.body.allowances, { webhooks: 4, webhook_concurrency: 7 })
  for (let i = 0; i < 4; i++) assert.equal((await client.post('/v1/webhooks', webhook)).status, 201, String(i))
  assert.equal((await client.post('/v1/webhooks', webhook)).body.error.details, '4 of 4')
  const taken = await world.operator.patch(path, { allowances: { webhooks: null } })
  assert.deepEqual(taken.body.allowances, { webhook_concurrency: 7 })
  assert.equal((await client.post('/v1/webhooks', webhook)).body.error.details, '4 of 3')
  for (const allowances of [
    { webhooks: -1 },
    { webhooks: 10_001 },
    { webhook_retention_days: 0 },
    { webhook_retention_days: 91 },
    { webhook_retention_days: 401 },
    { webhook_concurrency: 0 },
    { webhook_concurrency: 1_001 },
    { webhooks: 'many' },
  ]) {
    const { status, body } = await world.operator.patch(path, { allowances })
    const [name] = Object.keys(allowances)
    assert.deepEqual([status, body.error.fields?.[0].field], [422, `allowances.${name}`], JSON.stringify(allowances))
  }
})

test('many registrations at once do not exceed the plan', async () => {
  const { client } = await world.account({ plan: 'free' })
  const replies = await Promise.all(Array.from({ length: 12 }, () => client.post('/v1/webhooks', webhook)))
  assert.equal(replies.filter(({ status }) => status === 201).length, 3)
  assert.equal(replies.filter((reply) => codeOf(reply) === 'WEBHOOK_LIMIT_REACHED').length, 9)
  assert.equal((await client.get('/v1/webhooks')).body.data.length, 3)
})

test('a webhook exists for its own account and environment only', async () => {
  const ada = await world.account()
  const eve = await world.account()
  const live = await liveClient(ada.client)
  const { body } = await ada.client.post('/v1/webhooks', webhook)
  for (const client of [eve.client, live])
    for (const id of [body.id, unknownId, 'x', body.id.replace('wh_', 'evt_')])
      for (const reply of await everyWay(client, id)) {
        assert.deepEqual([reply.status, codeOf(reply)], [404, 'WEBHOOK_NOT_FOUND'])
      }
  assert.deepEqual((await eve.client.get('/v1/webhooks')).body.data, [])
  assert.deepEqual((await live.get('/v1/webhooks')).body.data, [])
  assert.equal((await ada.client.get(`/v1/webhooks/${body.id}`)).status, 200)
  assert.equal(codeOf(await ada.client.get(`/v1/webhooks/${body.id}/deliveries/x`)), 'DELIVERY_NOT_FOUND')
})

test('an unknown webhook is not found, whatever else is wrong with the request', async () => {
  const { client } = await world.account()
  for (const body of [{ url: 'nonsense' }, { events: ['nonsense'] }, { headers: { host: 'x' } }])
    assert.equal(codeOf(await client.patch(`/v1/webhooks/${unknownId}`, body)), 'WEBHOOK_NOT_FOUND')
})

test('outside production a webhook may lead to this machine with a test key, with a live key never', async () => {
  const { client } = await world.account()
  const live = await liveClient(client)
  for (const url of ['https://localhost:3000/', 'https://127.0.0.1:3000/', 'https://10.0.0.1/', 'https://[::1]/']) {
    assert.equal((await client.post('/v1/webhooks', { url, events: ['*'] })).status, 201, url)
    const refused = await live.post('/v1/webhooks', { url, events: ['*'] })
    assert.deepEqual([refused.status, codeOf(refused)], [400, 'INVALID_URL'], url)
  }
})

test('with a verify_token the URL must echo the challenge', async () => {
  const { client } = await world.account()
  const asked = { url: `${receiver.origin}/verify?shop=A`, events: ['*'], verify_token: 'tøken & more' }
  receiver.answer(({ url }, response) => {
    const query = new URL(url, receiver.origin).searchParams
    response.end(query.get('hub.verify_token') === 'tøken & more' ? `${Number(query.get('hub.challenge'))}\n` : 'no')
  })
  const made = await client.post('/v1/webhooks', asked)
  assert.equal(made.status, 201, made.text)
  assert.equal(made.body.url, asked.url)
  const seen = lastAt('/verify')
  const query = new URL(seen?.url ?? '', receiver.origin).searchParams
  assert.deepEqual([seen?.method, query.get('shop'), query.get('hub.mode')], ['GET', 'A', 'subscribe'])
  assert.match(query.get('hub.challenge') ?? '', /^[12]\d{9}$/)
  assert.equal(seen?.headers['user-agent'], 'Pamoja-Webhooks/1.0')
  const longest = await client.post('/v1/webhooks', { ...asked, url: asked.url.padEnd(2_048, 'A') })
  assert.equal(longest.status, 201, 'the question follows a URL of any length that may be given')
  await client.delete(`/v1/webhooks/${longest.body.id}`)

  const other = await client.post('/v1/webhooks', { ...asked, verify_token: 'another' })
  assert.deepEqual([other.status, codeOf(other)], [400, 'INVALID_URL'])
  assert.match(other.body.error.details, /hub\.challenge/)
  receiver.answer(({ url }, response) => {
    response.writeHead(500).end(new URL(url, receiver.origin).searchParams.get('hub.challenge'))
  })
  const failing = await client.post('/v1/webhooks', asked)
  assert.match(failing.body.error.details, /status 500/)
  assert.equal(codeOf(failing), 'INVALID_URL')
  const change = await client.patch(`/v1/webhooks/${made.body.id}`, { ...asked, url: `${receiver.origin}/other` })
  assert.equal(codeOf(change), 'INVALID_URL')
  assert.equal((await client.get(`/v1/webhooks/${made.body.id}`)).body.url, asked.url)
  const nowhere = await client.post('/v1/webhooks', { ...webhook, verify_token: 'token' })
  assert.equal(codeOf(nowhere), 'INVALID_URL', 'a URL that does not resolve can be registered, but not verified')
  assert.equal((await client.get('/v1/webhooks')).body.data.length, 1)
})

test('a URL that does not answer the challenge in five seconds is refused', async () => {
  const { client } = await world.account()
  receiver.answer(() => undefined)
  const silent = await client.post('/v1/webhooks', { url: receiver.origin, events: ['*'], verify_token: 'token' })
  assert.equal(codeOf(silent), 'INVALID_URL')
  assert.match(silent.body.error.details, /TIMEOUT/)
})

test('the list is filtered by what is enabled and what is heard of, and paged', async () => {
  const { client } = await world.account()
  const subscriptions = [['*'], ['sms.*'], ['sms.delivered'], ['sms.failed'], ['payment.*'], ['email.complained']]
  const ids: string[] = []
  for (const [i, events] of subscriptions.entries())
    ids.push((await client.post('/v1/webhooks', { url, events, enabled: i !== 2 })).body.id)
  const listed = async (query: string): Promise<number[]> => {
    const { body } = await client.get(`/v1/webhooks?${query}`)
    return body.data.map(({ id }: { id: string }) => ids.indexOf(id))
  }
  assert.deepEqual(await listed(''), [5, 4, 3, 2, 1, 0], 'newest first')
  assert.deepEqual(await listed('order=asc'), [0, 1, 2, 3, 4, 5])
  assert.deepEqual(await listed('enabled=true'), [5, 4, 3, 1, 0])
  assert.deepEqual(await listed('enabled=false'), [2])
  assert.deepEqual(await listed('event=sms.delivered'), [2, 1, 0])
  assert.deepEqual(await listed('event=sms.delivered&enabled=true'), [1, 0])
  assert.deepEqual(await listed('event=sms.*'), [1, 0])
  assert.deepEqual(await listed('event=complained'), [5, 0])
  assert.equal(codeOf(await client.get('/v1/webhooks?event=sms.bogus')), 'INVALID_EVENT')
  assert.equal(codeOf(await client.get('/v1/webhooks?enabled=maybe')), 'INVALID_REQUEST')
  const csv = { headers: { accept: 'text/csv' } }
  assert.equal((await client.get('/v1/webhooks', csv)).text.trim().split('\r\n').length, 7)
  assert.equal(codeOf(await client.get('/v1/webhooks?event=sms.bogus', csv)), 'INVALID_EVENT')

  const seen: number[] = []
  let cursor = ''
  for (;;) {
    const { body } = await client.get(`/v1/webhooks?limit=4${cursor && `&cursor=${cursor}`}`)
    seen.push(...body.data.map(({ id }: { id: string }) => ids.indexOf(id)))
    assert.equal(body.has_more, body.next_cursor !== null)
    if (!body.has_more) break
    cursor = body.next_cursor
  }
  assert.deepEqual(seen, [5, 4, 3, 2, 1, 0])
})

test('the catalogue tells every event with its schema and an example', async () => {
  const { client } = await world.account()
  const { status, body } = await client.get('/v1/webhooks/events')
  assert.equal(status, 200)
  assert.equal(body.data.length, world.app.catalogue.events.length)
  const delivered = body.data.find(({ name }: { name: string }) => name === 'sms.delivered')
  assert.deepEqual([delivered.area, delivered.aliases], ['sms', []])
  assert.equal(delivered.example.event, 'sms.delivered')
  assert.ok(Array.isArray(delivered.schema.allOf))
  const complained = body.data.find(({ name }: { name: string }) => name === 'email.complained')
  assert.deepEqual(complained.aliases, ['complained'])
  const { body: first } = await client.get('/v1/webhooks/events?limit=2')
  assert.deepEqual([first.data, first.has_more], [body.data.slice(0, 2), true])
  const { body: rest } = await client.get(`/v1/webhooks/events?limit=200&cursor=${first.next_cursor}`)
  assert.deepEqual([rest.data, rest.has_more], [body.data.slice(2), false])
  assert.equal((await client.get('/v1/webhooks/events?cursor=zzz')).status, 400)
  for (const { name } of body.data)
    assert.equal((await client.patch(`/v1/webhooks/${unknownId}`, { events: [name] })).status, 404)
})

test('a test delivers the sample of an event, signed, and tells what came of it', async () => {
  const { client } = await world.account()
  receiver.answer((_request, response) => void response.end('thanks'))
  const { body } = await client.post('/v1/webhooks', { url: `${receiver.origin}/try`, events: ['sms.delivered', '*'] })
  const path = `/v1/webhooks/${body.id}`
  await client.patch(path, { events: ['sms.delivered', 'payment.*'], headers: { 'X-Key': 'k' } })
  const tried = await client.post(`${path}/test`)
  assert.equal(tried.status, 200, tried.text)
  const { duration_ms, delivery_id, payload, ...rest } = tried.body.data
  assert.deepEqual(rest, {
    delivered: true,
    event: 'sms.delivered',
    response_status: 200,
    response_body: 'thanks',
    error: null,
  })
  assert.equal(tried.body.success, true)
  assert.match(delivery_id, /^dlv_/)
  assert.ok(Number.isInteger(duration_ms) && duration_ms >= 0)
  const seen = lastAt('/try')
  assert.deepEqual(JSON.parse(seen?.body ?? ''), payload)
  assert.equal(payload.test, true)
  assert.equal(payload.event, 'sms.delivered')
  assert.equal(seen?.headers['x-service-signature'], signature(body.secret, seen?.body ?? ''))
  assert.equal(seen?.headers['x-service-test'], 'true')
  assert.equal(seen?.headers['x-service-event'], 'sms.delivered')
  assert.equal(seen?.headers['x-service-event-id'], payload.event_id)
  assert.equal(seen?.headers['x-service-delivery-id'], delivery_id)
  assert.equal(seen?.headers['x-key'], 'k')

  await client.patch(path, { enabled: false })
  const asked = await client.post(`${path}/test`, { event: 'payment.completed' })
  assert.deepEqual([asked.body.delivered, asked.body.event], [true, 'payment.completed'], 'also when disabled')
  receiver.answer((_request, response) => void response.writeHead(503).end('busy'))
  const failed = await client.post(`${path}/test`)
  assert.equal(failed.status, 200)
  assert.deepEqual(
    [failed.body.delivered, failed.body.response_status, failed.body.error, failed.body.response_body],
    [false, 503, 'HTTP_STATUS', 'busy'],
  )
  assert.equal(codeOf(await client.post(`${path}/test`, { event: 'sms.bogus' })), 'INVALID_EVENT')
  const nowhere = await client.post('/v1/webhooks', webhook)
  const lost = await client.post(`/v1/webhooks/${nowhere.body.id}/test`)
  assert.deepEqual(
    [lost.status, lost.body.delivered, lost.body.error, lost.body.response_status, lost.body.response_body],
    [200, false, 'DNS_FAILED', null, null],
  )
})

test('a test without an event sends the first subscribed one', async () => {
  const { client } = await world.account()
  receiver.answer((_request, response) => void response.end())
  for (const [events, event] of [
    [['*'], 'webhook.test'],
    [['payment.failed', 'sms.sent'], 'payment.failed'],
    [['sms.*'], 'sms.status'],
    [['email.spam'], 'email.spam'],
  ] as const) {
    const { body } = await client.post('/v1/webhooks', { url: `${receiver.origin}/first`, events })
    const tried = await client.post(`/v1/webhooks/${body.id}/test`, {})
    assert.equal(tried.body.event, event)
    if (event === 'webhook.test') assert.equal(tried.body.payload.webhook_id, body.id)
  }
})

test('a webhook is tested ten times a minute, and then again later', async (t) => {
  const { client } = await (await startLimited(t)).account()
  receiver.answer((_request, response) => void response.end())
  const { body } = await client.post('/v1/webhooks', { url: `${receiver.origin}/often`, events: ['*'] })
  const { body: other } = await client.post('/v1/webhooks', { url: `${receiver.origin}/other`, events: ['*'] })
  for (let i = 0; i < 10; i++) assert.equal((await client.post(`/v1/webhooks/${body.id}/test`)).status, 200, `${i}`)
  const refused = await client.post(`/v1/webhooks/${body.id}/test`)
  assert.deepEqual([refused.status, codeOf(refused)], [429, 'RATE_LIMITED'])
  assert.ok(Number(refused.headers['retry-after']) >= 1)
  assert.equal((await client.post(`/v1/webhooks/${other.id}/test`)).status, 200, 'another webhook counts for itself')
  assert.equal(receiver.received.filter(({ url }) => url === '/often').length, 10)
})

test('a webhook repeats sixty deliveries a minute and ten windows, and then again later', async (t) => {
  const { client } = await (await startLimited(t)).account()
  receiver.answer((_request, response) => void response.end())
  const { body } = await client.post('/v1/webhooks', { url: `${receiver.origin}/repeat`, events: ['*'] })
  const { body: other } = await client.post('/v1/webhooks', { url: `${receiver.origin}/repeat`, events: ['*'] })
  const window = { from: '2026-03-01T09:00:00Z', to: '2026-03-01T10:00:00Z' }
  const tried = await client.post(`/v1/webhooks/${body.id}/test`)
  const tests: [times: number, ask: (id: string) => Promise<Reply>, elsewhere: number][] = [
    [60, (id) => client.post(`/v1/webhooks/${id}/deliveries/${tried.body.delivery_id}/redeliver`), 404],
    [10, (id) => client.post(`/v1/webhooks/${id}/replay`, window), 200],
  ]
  for (const [times, ask, elsewhere] of tests) {
    for (let i = 0; i < times; i++) assert.equal((await ask(body.id)).status, 200, `${i}`)
    const refused = await ask(body.id)
    assert.deepEqual([refused.status, codeOf(refused)], [429, 'RATE_LIMITED'])
    assert.ok(Number(refused.headers['retry-after']) >= 1)
    assert.equal((await ask(other.id)).status, elsewhere, 'another webhook counts for itself')
  }
})

test('a webhook that is deleted while it is tested is not found', async () => {
  const tenant = { bucket: 0, account: newUuid(0), environment: 'test' as const }
  const event = { id: newUuid(0), type: 'webhook.test', resource: 'x', body: '{}' }
  await assert.rejects(
    deliverNow(world.app, { tenant, endpoint: { id: newUuid(0) }, event, nowMs: 0, requestId: null }),
    {
      code: 'WEBHOOK_NOT_FOUND',
    },
  )
})

test('what is left of deleted webhooks goes with the next cleaning, and nothing else does', async () => {
  const { client } = await world.account()
  receiver.answer((_request, response) => void response.end())
  const made = [0, 1].map(() => client.post('/v1/webhooks', { url: `${receiver.origin}/left`, events: ['sms.sent'] }))
  const ids = (await Promise.all(made)).map(({ body }) => uuidOf('webhook', body.id))
  const left = async () => {
    const { rows } = await sql.query('select endpoint_id from webhooks.health where endpoint_id = any($1)', [ids])
    return rows.map(({ endpoint_id }) => endpoint_id)
  }
  // As the attempt does that was under way when the second was deleted.
  await sql.query(
    `insert into webhooks.health (bucket, account_id, environment, endpoint_id)
     select bucket, account_id, environment, id from webhooks.endpoints where id = any($1)`,
    [ids],
  )
  await sql.query('delete from webhooks.endpoints where id = $1', [ids[1]])
  assert.equal((await left()).length, 2)
  await doChores(world.app, webhooks.chores)
  assert.deepEqual(await left(), [ids[0]])
})

test('a secret is rotated with an overlap that passes by the sandbox clock', async () => {
  const { client } = await world.account()
  receiver.answer((_request, response) => void response.end())
  const { body: made } = await client.post('/v1/webhooks', { url: `${receiver.origin}/rotate`, events: ['*'] })
  const path = `/v1/webhooks/${made.id}`
  const signers = async (): Promise<[current: unknown, next: unknown]> => {
    await client.post(`${path}/test`)
    const { headers, body } = lastAt('/rotate') ?? assert.fail('nothing came')
    const named = new Map(known.map((secret, i) => [signature(secret, body), i]))
    return [named.get(String(headers['x-service-signature'])), named.get(String(headers['x-service-signature-next']))]
  }
  const known = [made.secret]
  assert.equal(codeOf(await client.post(`${path}/activate-secret`)), 'NO_PENDING_SECRET')
  assert.deepEqual(await signers(), [0, undefined])

  const first = await client.post(`${path}/rotate-secret`)
  assert.equal(first.status, 200)
  assert.deepEqual(Object.keys(first.body.data), ['id', 'secret', 'activates_at'])
  assert.match(first.body.secret, /^whsec_/)
  assert.equal(await hoursUntil(client, first.body.activates_at), 24)
  assert.equal((await client.get(path)).body.secret_activates_at, first.body.activates_at)
  known.push(first.body.secret)
  assert.deepEqual(await signers(), [0, 1])

  const second = await client.post(`${path}/rotate-secret`, { overlap_hours: 2 })
  known.push(second.body.secret)
  assert.equal(new Set(known).size, 3)
  assert.deepEqual(await signers(), [0, 2], 'a second rotation replaces the secret that waits')
  await client.post('/v1/sandbox/clock', { advance_seconds: 2 * hour - 60 })
  assert.deepEqual(await signers(), [0, 2])
  await client.post('/v1/sandbox/clock', { advance_seconds: 61 })
  assert.deepEqual(await signers(), [2, undefined])
  assert.equal((await client.get(path)).body.secret_activates_at, null)
  assert.equal(codeOf(await client.post(`${path}/activate-secret`)), 'NO_PENDING_SECRET')

  known.push((await client.post(`${path}/rotate-secret`, { overlap_hours: 168 })).body.secret)
  assert.deepEqual(await signers(), [2, 3])
  const active = await client.post(`${path}/activate-secret`)
  assert.deepEqual([active.status, active.body.id, active.body.secret_activates_at], [200, made.id, null])
  assert.equal(active.body.secret, undefined)
  assert.deepEqual(await signers(), [3, undefined])

  const atOnce = await client.post(`${path}/rotate-secret`, { overlap_hours: 0 })
  known.push(atOnce.body.secret)
  assert.ok((await hoursUntil(client, atOnce.body.activates_at)) <= 0)
  assert.deepEqual(await signers(), [4, undefined])
  for (const overlap_hours of [-1, 169, 1.5, '24'])
    assert.equal(codeOf(await client.post(`${path}/rotate-secret`, { overlap_hours })), 'VALIDATION_ERROR')
})

test('an account has one callback secret in each environment, and can replace it', async () => {
  const { client } = await world.account()
  const path = '/v1/webhooks/callback-secret'
  const firsts = await Promise.all(Array.from({ length: 5 }, () => client.get(path)))
  const { secret } = firsts[0]?.body ?? assert.fail()
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  for (const { body } of firsts) assert.deepEqual(body.data, { secret, next_secret: null, activates_at: null })
  const live = await liveClient(client)
  assert.notEqual((await live.get(path)).body.secret, secret)

  const rotated = await client.post(`${path}/rotate`, { overlap_hours: 1 })
  assert.equal(rotated.status, 200)
  assert.notEqual(rotated.body.secret, secret)
  const { activates_at } = rotated.body
  assert.deepEqual((await client.get(path)).body.data, { secret, next_secret: rotated.body.secret, activates_at })
  await client.post('/v1/sandbox/clock', { advance_seconds: hour + 1 })
  const after = { secret: rotated.body.secret, next_secret: null, activates_at: null }
  assert.deepEqual((await client.get(path)).body.data, after)
  const atOnce = await client.post(`${path}/rotate`, { overlap_hours: 0 })
  assert.equal((await client.get(path)).body.secret, atOnce.body.secret)
  const fresh = await world.account()
  assert.equal((await fresh.client.post(`${path}/rotate`)).status, 200, 'also before it was ever read')

  const { body: reader } = await client.post('/v1/api-keys', { name: 'reader', scopes: ['webhooks:read'] })
  assert.equal((await world.stranger.as(reader.key).get(path)).status, 403)
  assert.equal((await world.stranger.as(reader.key).get('/v1/webhooks')).status, 200)
})

test('enabling a webhook forgives its failures', async () => {
  const { client, id: account } = await world.account()
  const { body } = await client.post('/v1/webhooks', webhook)
  const owner = [uuidOf('account', account), uuidOf('webhook', body.id)]
  await sql.query(
    `update webhooks.endpoints set enabled = false, disabled_reason = 'failing' where account_id = $1 and id = $2`,
    owner,
  )
  await sql.query(
    `insert into webhooks.health (bucket, account_id, environment, endpoint_id, state, failing_since, failed_deliveries, last_status)
     select bucket, account_id, environment, id, 'failing', now(), 30, 500 from webhooks.endpoints where account_id = $1 and id = $2`,
    owner,
  )
  const path = `/v1/webhooks/${body.id}`
  const disabled = (await client.get(path)).body
  assert.deepEqual(
    [disabled.disabled_reason, disabled.health.state, disabled.health.last_status],
    ['failing', 'disabled', 500],
  )
  assert.equal(
    (await client.patch(path, { description: 'x' })).body.disabled_reason,
    'failing',
    'only enabling clears it',
  )
  const enabled = (await client.patch(path, { enabled: true })).body
  assert.deepEqual([enabled.enabled, enabled.disabled_reason, enabled.health.state], [true, null, 'healthy'])
  const { rows } = await sql.query(
    'select failing_since, failed_deliveries from webhooks.health where account_id = $1 and endpoint_id = $2',
    owner,
  )
  assert.deepEqual(rows, [{ failing_since: null, failed_deliveries: 0 }])
  await sql.query(`update webhooks.health set state = 'degraded' where account_id = $1 and endpoint_id = $2`, owner)
  assert.equal((await client.get(path)).body.health.state, 'degraded')
})

test('enabling a webhook whose deliveries fail lets the next one out at once', async () => {
  const { client } = await world.account()
  receiver.answer((_request, response) => void response.writeHead(500).end())
  const { body } = await client.post('/v1/webhooks', { url: receiver.url('/broken'), events: ['apikey.*'] })
  const path = `/v1/webhooks/${body.id}`
  const somethingHappens = async (): Promise<string> => {
    const { body: key } = await client.post('/v1/api-keys', { name: 'short-lived' })
    await client.delete(`/v1/api-keys/${key.id}`)
    return key.id
  }
  for (let i = 0; i < 10; i++) await somethingHappens()
  await eventually(async () => (await client.get(path)).body.health.state === 'failing', 'ten failures in a row')
  receiver.answer((_request, response) => void response.end())
  assert.equal((await client.patch(path, { enabled: true })).body.health.state, 'healthy')
  const key = await somethingHappens()
  await eventually(async () => receiver.received.some((one) => one.body.includes(key)), 'the event', 15_000)
  assert.equal((await client.get(path)).body.health.state, 'healthy')
})

test('an endpoint that has never answered is not called healthy, and one delivery is not counted by its tries', async () => {
  const { client } = await world.account()
  receiver.answer((_request, response) => void response.writeHead(500).end())
  const { body } = await client.post('/v1/webhooks', { ...webhook, url: receiver.url('/dead'), events: ['apikey.*'] })
  const path = `/v1/webhooks/${body.id}`
  const { body: key } = await client.post('/v1/api-keys', { name: 'Told' })
  await client.delete(`/v1/api-keys/${key.id}`)
  await eventually(async () => (await client.get(path)).body.health.failure_24h > 0, 'the first try')
  assert.equal((await client.get(path)).body.health.state, 'degraded')
  receiver.answer((_request, response) => void response.end('ok'))
  await client.post('/v1/sandbox/clock', { advance_seconds: 60 })
  await eventually(async () => (await client.get(path)).body.health.success_24h === 1, 'the next try')
  assert.equal((await client.get(path)).body.health.state, 'healthy')
  receiver.answer((_request, response) => void response.writeHead(500).end())
  const { body: another } = await client.post('/v1/api-keys', { name: 'Told' })
  await client.delete(`/v1/api-keys/${another.id}`)
  await eventually(async () => (await client.get(path)).body.health.state === 'degraded', 'the failure')
  receiver.answer((_request, response) => void response.end('ok'))
})

test('health counts the last 24 hours of the account’s own time', async () => {
  const { client, id: account } = await world.account()
  const { body } = await client.post('/v1/webhooks', webhook)
  const durations = Array(20).fill(0)
  durations[6] = 90
  durations[12] = 10
  await sql.query(
    `insert into webhooks.hours (bucket, account_id, environment, endpoint_id, hour, delivered, failed, durations)
     select bucket, account_id, environment, id, date_trunc('hour', now(), 'UTC') - n * interval '1 hour', 100, n, $3::int[]
       from webhooks.endpoints cross join unnest(array[0, 5, 30]) n where account_id = $1 and id = $2`,
    [uuidOf('account', account), uuidOf('webhook', body.id), durations],
  )
  const path = `/v1/webhooks/${body.id}`
  const { health } = (await client.get(path)).body
  assert.deepEqual([health.success_24h, health.failure_24h], [200, 5])
  assert.ok(health.p50_ms >= 75 && health.p50_ms < 100, `${health.p50_ms}`)
  assert.ok(health.p95_ms >= 500 && health.p95_ms < 750, `${health.p95_ms}`)
  assert.deepEqual((await client.get('/v1/webhooks')).body.data[0].health, health)
  await client.post('/v1/sandbox/clock', { advance_seconds: 26 * hour })
  const later = (await client.get(path)).body.health
  assert.deepEqual([later.success_24h, later.failure_24h, later.p50_ms], [0, 0, null])
})

test('deleting a webhook cancels what it has not received', async () => {
  const { client, id: account } = await world.account()
  receiver.answer((_request, response) => void response.writeHead(503, { 'retry-after': '600' }).end())
  const { body } = await client.post('/v1/webhooks', { url: `${receiver.origin}/cancel`, events: ['apikey.*'] })
  const { body: kept } = await client.post('/v1/webhooks', { url: `${receiver.origin}/keep`, events: ['apikey.*'] })
  const { body: key } = await client.post('/v1/api-keys', { name: 'short-lived' })
  await client.delete(`/v1/api-keys/${key.id}`)
  const path = `/v1/webhooks/${body.id}`
  const states = async (id: string): Promise<string[]> => {
    const { rows } = await sql.query(
      `select d.status || case when j.id is null then '' when j.owner is null then ' waiting' else ' leased' end as state from webhooks.deliveries d
         left join work.jobs j on j.id = d.id where d.account_id = $1 and d.endpoint_id = $2`,
      [uuidOf('account', account), uuidOf('webhook', id)],
    )
    return rows.map(({ state }) => state)
  }
  for (const id of [body.id, kept.id])
    await eventually(async () => (await states(id)).join() === 'pending waiting', 'the first attempt to fail')
  assert.equal((await client.get(path)).body.health.pending, 1)
  assert.equal((await client.delete(path)).status, 200)
  assert.deepEqual(await states(body.id), ['cancelled'])
  assert.deepEqual(await states(kept.id), ['pending waiting'])
  await client.patch(`/v1/webhooks/${kept.id}`, { enabled: false })
  receiver.answer((_request, response) => void response.end())
  await client.patch(`/v1/webhooks/${kept.id}`, { enabled: true })
  await client.post('/v1/sandbox/clock', { advance_seconds: 600 })
  await eventually(async () => (await states(kept.id)).join() === 'delivered', 'the delivery to be resumed')
})

test('a repeated registration makes one webhook and shows the same secret', async () => {
  const { client } = await world.account()
  const headers = { 'idempotency-key': 'once' }
  const first = await client.post('/v1/webhooks', webhook, { headers })
  const again = await client.post('/v1/webhooks', webhook, { headers })
  assert.equal(again.headers['idempotent-replayed'], 'true')
  assert.deepEqual(again.body, first.body)
  assert.equal((await client.get('/v1/webhooks')).body.data.length, 1)
  const path = `/v1/webhooks/${first.body.id}/rotate-secret`
  const rotated = await client.post(path, {}, { headers: { 'idempotency-key': 'rotate' } })
  const repeated = await client.post(path, {}, { headers: { 'idempotency-key': 'rotate' } })
  assert.equal(repeated.body.secret, rotated.body.secret)
})

test('every change is in the audit log, with nothing secret in it', async () => {
  const { client } = await world.account()
  const { body } = await client.post('/v1/webhooks', { ...webhook, headers: { 'X-Key': 'hidden-value' } })
  const path = `/v1/webhooks/${body.id}`
  await client.patch(path, { enabled: false })
  const rotated = await client.post(`${path}/rotate-secret`)
  await client.post(`${path}/activate-secret`)
  const callback = await client.post('/v1/webhooks/callback-secret/rotate')
  await client.delete(path)
  const log = await client.get('/v1/audit-log?order=asc')
  assert.deepEqual(
    log.body.data.map(({ action }: { action: string }) => action),
    [
      'webhook.create',
      'webhook.update',
      'webhook.rotate_secret',
      'webhook.activate_secret',
      'webhook.rotate_callback_secret',
      'webhook.delete',
    ],
  )
  assert.equal(log.body.data[0].target, body.id)
  assert.deepEqual([log.body.data[1].before.enabled, log.body.data[1].after.enabled], [true, false])
  for (const secret of ['hidden-value', body.secret, rotated.body.secret, callback.body.secret])
    assert.ok(!log.text.includes(secret))
})

test('secrets stand in no other reply, no log and no table', async () => {
  const { client } = await world.account()
  receiver.answer(
    ({ url }, response) => void response.end(new URL(url, receiver.origin).searchParams.get('hub.challenge')),
  )
  const given = { header: 'header-value-6d1f0c', token: 'verify-token-8c2e71' }
  const made = await client.post(
    '/v1/webhooks',
    { url: receiver.origin, events: ['*'], headers: { 'X-Key': given.header }, verify_token: given.token },
    { headers: { 'idempotency-key': 'secret-1' } },
  )
  assert.equal(made.status, 201, made.text)
  const path = `/v1/webhooks/${made.body.id}`
  const rotated = await client.post(`${path}/rotate-secret`, {}, { headers: { 'idempotency-key': 'secret-2' } })
  const callback = await client.get('/v1/webhooks/callback-secret')
  const replaced = await client.post('/v1/webhooks/callback-secret/rotate')
  await client.post(`${path}/test`)
  await client.patch(path, { headers: { 'X-Key': given.header, 'X-Other': 'o' }, verify_token: given.token })
  const secrets = [made, rotated, callback, replaced].map(({ body }) => body.secret)
  assert.equal(new Set(secrets).size, 4)

  for (const reply of [
    await client.get(path),
    await client.get('/v1/webhooks'),
    await client.patch(path, { description: 'x' }),
    await client.post(`${path}/test`),
    await client.get('/v1/audit-log'),
    await client.get('/v1/logs'),
  ])
    for (const secret of [...secrets, ...Object.values(given)])
      assert.ok(!reply.text.includes(secret), `${secret} is in ${reply.text}`)

  await world.app.requestLog.flush()
  const wanted = [...secrets, ...secrets.map((secret) => secret.slice('whsec_'.length)), ...Object.values(given)]
  const found: string[] = []
  const places = new Set<string>()
  const { rows: tables } = await sql.query(
    `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema')`,
  )
  assert.ok(tables.length > 20)
  for (const { name } of tables) {
    const { rows } = await sql.query(`select t::text as row from ${name} t`)
    if (rows.some(({ row }) => row.includes(receiver.origin))) places.add(name)
    for (const secret of wanted)
      for (const form of [secret, Buffer.from(secret).toString('hex'), Buffer.from(secret).toString('base64')])
        if (rows.some(({ row }) => row.includes(form))) found.push(`${form} in ${name}`)
  }
  assert.ok(places.has('webhooks.endpoints'), 'what is not secret is found')
  const log = await readFile(join(folder, 'log'), 'utf8')
  assert.ok(log.length > 0)
  for (const secret of wanted) if (log.includes(secret)) found.push(`${secret} in the log`)
  assert.deepEqual(found, [])
})

test('a key needs the scope for it', async () => {
  const { client } = await world.account()
  const { body: made } = await client.post('/v1/webhooks', webhook)
  const { body: other } = await client.post('/v1/webhooks', webhook)
  const { body: manager } = await client.post('/v1/api-keys', { name: 'manager', scopes: ['webhooks:manage'] })
  const { body: reader } = await client.post('/v1/api-keys', { name: 'reader', scopes: ['webhooks:read'] })
  const { body: writer } = await client.post('/v1/api-keys', { name: 'writer', scopes: ['webhooks:write'] })
  for (const [key, id, statuses] of [
    [reader.key, made.id, [200, 200, 200, 403, 403, 403]],
    [writer.key, made.id, [200, 200, 200, 200, 201, 200]],
    [manager.key, other.id, [200, 200, 200, 200, 201, 200]],
  ]) {
    const path = `/v1/webhooks/${id}`
    const as = world.stranger.as(key)
    const replies = [
      await as.get('/v1/webhooks'),
      await as.get(path),
      await as.get('/v1/webhooks/events'),
      await as.patch(path, { description: 'x' }),
      await as.post('/v1/webhooks', webhook),
      await as.delete(path),
    ]
    assert.deepEqual(
      replies.map(({ status }) => status),
      statuses,
    )
  }
  const manages = world.stranger.as(manager.key)
  assert.equal((await manages.get('/v1/account')).status, 403)
  const token = await world.stranger.as(writer.key).post('/v1/auth/token', { scope: 'webhooks:manage' })
  assert.equal((await world.stranger.as(token.body.access_token).post('/v1/webhooks', webhook)).status, 201)
})

async function startLimited(t: TestContext): Promise<World> {
  const limited = await startWorld({ PAMOJA_RATE_LIMITS: 'on' })
  t.after(() => limited.stop())
  return limited
}

function codeOf({ body }: Reply): string | undefined {
  return body.error?.code
}

async function liveClient(client: Client): Promise<Client> {
  const { body } = await client.post('/v1/api-keys', { name: 'live', environment: 'live' })
  return world.stranger.as(body.key)
}

function everyWay(client: Client, id: string): Promise<Reply[]> {
  const path = `/v1/webhooks/${id}`
  return Promise.all([
    client.get(path),
    client.patch(path, { enabled: false }),
    client.delete(path),
    client.post(`${path}/test`),
    client.post(`${path}/rotate-secret`),
    client.post(`${path}/activate-secret`),
  ])
}

function lastAt(path: string) {
  return receiver.received.findLast(({ url }) => url.startsWith(path))
}

function signature(secret: string, body: string): string {
  return createHmac('sha256', secret).update(body).digest('hex')
}

/** Hours from the account's own now, to the nearest whole one. */
async function hoursUntil(client: Client, moment: string): Promise<number> {
  const { body } = await client.get('/v1/sandbox/clock')
  return Math.round((Date.parse(moment) - Date.parse(body.now)) / (hour * 1000))
}
