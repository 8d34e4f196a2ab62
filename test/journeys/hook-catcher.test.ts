// SPDX-License-Identifier: Apache-2.0
// The sandbox plays the customer's server: it catches what it is sent and answers as it is told.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { Client, Reply } from '../client.ts'
import { type Account, doChores, eventually, startWorld, type World } from '../world.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.stop())

interface Hook {
  id: string
  url: string
  /** Path of the address, with which strangers call it. */
  path: string
}

test('the clock of a test account goes at most fifty years ahead', async () => {
  const { client } = await world.account()
  const year = { advance_seconds: 31_622_400 }
  for (let i = 0; i < 49; i++) assert.equal((await client.post('/v1/sandbox/clock', year)).status, 200)
  const refused = await client.post('/v1/sandbox/clock', year)
  assert.deepEqual([refused.status, refused.body.error.code], [422, 'VALIDATION_ERROR'])
  assert.match(refused.body.error.details, /50 years/)
})

test('a hook keeps what anybody sends to its address, newest first', async () => {
  const ada = await world.account()
  const hook = await newHook(ada.client)
  assert.match(hook.url, new RegExp(`^${world.node.url}/h/[\\w-]{20,}$`))
  const first = await world.stranger.post(hook.path, { a: 1 }, { headers: { 'x-mark': 'one' } })
  assert.equal(first.status, 200)
  const raw = Buffer.from([0, 0xff, 0x41])
  for (const [method, options] of [
    ['PUT', { raw: 'plain <b>text</b>', headers: { 'content-type': 'text/plain' } }],
    ['DELETE', {}],
    ['GET', {}],
    ['POST', { raw, headers: { 'content-type': 'application/octet-stream' } }],
    ['POST', { raw: '{not json', headers: { 'content-type': 'application/json' } }],
  ] as const)
    assert.equal((await world.stranger.request(method, hook.path, options)).status, 200, method)
  const { body } = await ada.client.get(`/v1/sandbox/hooks/${hook.id}/requests`)
  const requests = body.data
  assert.deepEqual(
    requests.map(({ method, body: text }: { method: string; body: string }) => [method, text]),
    [
      ['POST', '{not json'],
      ['POST', '\ufffd\ufffdA'],
      ['GET', ''],
      ['DELETE', ''],
      ['PUT', 'plain <b>text</b>'],
      ['POST', '{"a":1}'],
    ],
  )
  const oldest = requests.at(-1)
  assert.equal(oldest.headers['x-mark'], 'one')
  assert.equal(oldest.signature_valid, null)
  assert.equal(oldest.response_status, 200)
  assert.ok(!Number.isNaN(Date.parse(oldest.received_at)))
  assert.equal((await ada.client.get(`/v1/sandbox/hooks/${hook.id}`)).body.caught, 6)
  const { body: page } = await ada.client.get(`/v1/sandbox/hooks/${hook.id}/requests?limit=2`)
  assert.equal(page.data.length, 2)
  assert.equal(page.has_more, true)
})

test('a hook answers as its query says', async () => {
  const ada = await world.account()
  const hook = await newHook(ada.client)
  const call = (query: string): Promise<Reply> => world.stranger.post(`${hook.path}?${query}`, {})
  assert.equal((await call('status=503')).status, 503)
  assert.equal((await call('status=204')).status, 204)
  const redirected = await call('redirect=https%3A%2F%2F192.0.2.1%2Fx')
  assert.equal(redirected.status, 302)
  assert.equal(redirected.headers.location, 'https://192.0.2.1/x')
  assert.deepEqual(
    [await call('fail=2'), await call('fail=2'), await call('fail=2'), await call('fail=2')].map(
      ({ status }) => status,
    ),
    [500, 500, 200, 200],
  )
  assert.equal((await call('fail=1&status=202')).status, 500, 'each script counts for itself')
  assert.equal((await call('fail=1&status=202')).status, 202)
  await assert.rejects(call('close=1'), /socket hang up|ECONNRESET/)
  assert.equal((await call('status=99')).status, 400)
  const { body } = await ada.client.get(`/v1/sandbox/hooks/${hook.id}/requests?limit=1`)
  assert.equal(body.data[0].query, 'close=1')
  assert.equal(body.data[0].response_status, null, 'it was kept before the line was cut')
})

test('ten calls at once to a hook that fails three times fail three times', async () => {
  const hook = await newHook((await world.account()).client)
  const replies = await Promise.all(Array.from({ length: 10 }, () => world.stranger.post(`${hook.path}?fail=3`, {})))
  assert.equal(replies.filter(({ status }) => status === 500).length, 3)
})

test('a hook that is told to wait answers after the others, and has kept the request before', async () => {
  const ada = await world.account()
  const hook = await newHook(ada.client)
  let isAnswered = false
  const slow = world.stranger.post(`${hook.path}?delay=4000`, { slow: true }).then((reply) => {
    isAnswered = true
    return reply
  })
  await eventually(async () => {
    const { body } = await ada.client.get(`/v1/sandbox/hooks/${hook.id}/requests`)
    return body.data.length === 1
  }, 'the request to be kept')
  assert.equal(isAnswered, false)
  assert.equal((await slow).status, 200)
})

test('a browser is not led elsewhere by an address of this installation', async () => {
  const hook = await newHook((await world.account()).client)
  const headers = { 'sec-fetch-mode': 'navigate' }
  const reply = await world.stranger.get(`${hook.path}?redirect=https%3A%2F%2Fexample.com`, { headers })
  assert.equal(reply.headers.location, undefined)
})

test('a long body is kept in part, and says so', async () => {
  const ada = await world.account()
  const hook = await newHook(ada.client)
  const long = 'x'.repeat(100 * 1024)
  assert.equal((await world.stranger.request('POST', hook.path, { raw: long })).status, 200)
  const { body } = await ada.client.get(`/v1/sandbox/hooks/${hook.id}/requests`)
  assert.equal(body.data[0].body, long.slice(0, 64 * 1024))
  assert.equal(body.data[0].truncated, true)
})

test('a hook keeps the last thousand requests', async () => {
  const ada = await world.account()
  const hook = await newHook(ada.client)
  const last = 1_010
  for (let i = 1; i <= last; i += 10)
    for (const { status, text } of await Promise.all(
      Array.from({ length: 10 }, (_, n) => world.stranger.post(hook.path, { n: i + n })),
    ))
      assert.equal(status, 200, text)
  assert.equal(await keptOf(ada.client, hook), 1_000)
  assert.equal((await ada.client.get(`/v1/sandbox/hooks/${hook.id}`)).body.caught, last)
})

test('the hooks of an account keep sixteen megabytes together, the newest of each', async () => {
  const { client } = await world.account()
  const [first, second] = [await newHook(client), await newHook(client)]
  const raw = 'x'.repeat(64 * 1024)
  const fill = (hook: Hook, times: number) =>
    Promise.all(Array.from({ length: times }, () => world.stranger.request('POST', hook.path, { raw })))
  for (let i = 0; i < 3; i++) assert.ok((await fill(first, 100)).every(({ status }) => status === 200))
  const full = await keptOf(client, first)
  assert.ok(full > 240 && full < 256, `${full} of 300`)
  assert.ok((await fill(second, 1)).every(({ status }) => status === 200))
  assert.equal(await keptOf(client, second), 0, 'what the first holds is not taken from it')
  assert.equal((await client.delete(`/v1/sandbox/hooks/${first.id}`)).status, 200)
  await fill(second, 1)
  assert.equal(await keptOf(client, second), 1)
})

test('a hook with a secret of its own says whether requests are signed with it', async () => {
  const ada = await world.account()
  const secret = 'whsec_c2VjcmV0'
  const { body } = await ada.client.post('/v1/sandbox/hooks', { secret })
  assert.ok(!JSON.stringify(body).includes(secret))
  const hook = hookOf(body)
  const raw = '{"event":"sms.sent"}'
  const signature = createHmac('sha256', secret).update(raw).digest('hex')
  for (const [given, expected] of [
    [signature, true],
    [signature.replace(/^./, (digit) => (digit === '0' ? '1' : '0')), false],
    ['', false],
  ] as const) {
    await world.stranger.request('POST', hook.path, { raw, headers: { 'x-service-signature': given } })
    const { body: caught } = await ada.client.get(`/v1/sandbox/hooks/${hook.id}/requests?limit=1`)
    assert.equal(caught.data[0].signature_valid, expected, given)
  }
})

test('a webhook that leads to a hook is delivered to it, and its signature is found valid', async () => {
  const ada = await world.account()
  const hook = await newHook(ada.client)
  const made = await ada.client.post('/v1/webhooks', { url: `${hook.url}?fail=0`, events: ['apikey.*'] })
  assert.equal(made.status, 201, made.text)
  const { body: key } = await ada.client.post('/v1/api-keys', { name: 'Short-lived' })
  await ada.client.delete(`/v1/api-keys/${key.id}`)
  const caught = await eventually(async () => {
    const { body } = await ada.client.get(`/v1/sandbox/hooks/${hook.id}/requests`)
    return body.data[0]
  }, 'the delivery at the hook')
  assert.equal(caught.headers['x-service-event'], 'apikey.revoked')
  assert.equal(caught.signature_valid, true)
  const forged = { raw: caught.body, headers: { 'x-service-signature': '0'.repeat(64) } }
  await world.stranger.request('POST', hook.path, forged)
  const { body } = await ada.client.get(`/v1/sandbox/hooks/${hook.id}/requests?limit=1`)
  assert.equal(body.data[0].signature_valid, false)
})

test('a hook that was deleted, or never was, catches nothing', async () => {
  const ada = await world.account()
  const hook = await newHook(ada.client)
  await world.stranger.post(hook.path, {})
  const { body } = await ada.client.delete(`/v1/sandbox/hooks/${hook.id}`)
  assert.deepEqual(body.data, { id: hook.id, deleted: true })
  assert.equal((await world.stranger.post(hook.path, {})).status, 404)
  assert.equal((await ada.client.get(`/v1/sandbox/hooks/${hook.id}/requests`)).status, 404)
  for (const token of ['x', '%00', '..%2f', 'a'.repeat(200)])
    assert.equal((await world.stranger.post(`/h/${token}`, {})).status, 404, token)
})

test('hooks belong to test accounts, and to no one else', async () => {
  const ada = await world.account()
  const hook = await newHook(ada.client)
  const { body: live } = await ada.client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
  assert.equal((await world.stranger.as(live.key).post('/v1/sandbox/hooks', {})).status, 403)
  const eve = await world.account()
  assert.equal((await eve.client.get(`/v1/sandbox/hooks/${hook.id}`)).status, 404)
  assert.deepEqual((await eve.client.get('/v1/sandbox/hooks')).body.data, [])
  assert.equal((await ada.client.get('/v1/sandbox/hooks')).body.data[0].id, hook.id)
})

test('what was caught is forgotten after a day', async () => {
  const ada: Account = await world.account()
  const hook = await newHook(ada.client)
  await world.stranger.post(hook.path, {})
  const { sandbox } = await import('../../src/areas/sandbox/area.ts')
  const tomorrow = { nowMs: () => world.app.clock.nowMs() + 25 * 3_600_000 }
  await doChores(world.app, sandbox.chores)
  assert.equal((await ada.client.get(`/v1/sandbox/hooks/${hook.id}/requests`)).body.data.length, 1)
  await doChores({ ...world.app, clock: tomorrow }, sandbox.chores)
  assert.equal((await ada.client.get(`/v1/sandbox/hooks/${hook.id}/requests`)).body.data.length, 0)
})

async function keptOf(client: Client, { id }: Hook): Promise<number> {
  let cursor = ''
  let kept = 0
  do {
    const { body } = await client.get(`/v1/sandbox/hooks/${id}/requests?limit=200${cursor}`)
    kept += body.data.length
    cursor = body.next_cursor ? `&cursor=${body.next_cursor}` : ''
  } while (cursor !== '')
  return kept
}

async function newHook(client: Client): Promise<Hook> {
  const { status, body, text } = await client.post('/v1/sandbox/hooks', {})
  assert.equal(status, 201, text)
  return hookOf(body)
}

function hookOf({ id, url }: { id: string; url: string }): Hook {
  return { id, url, path: new URL(url).pathname }
}
