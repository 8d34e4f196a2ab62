// SPDX-License-Identifier: Apache-2.0
// What a receiver hears, and when. The receiver checks signatures as docs/webhooks.md describes them, without our code.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { Webhook } from 'standardwebhooks'
import { uuidOf } from '../../src/kernel/ids.ts'
import { Client } from '../client.ts'
import { lookInto } from '../looking.ts'
import { notes } from '../notes/area.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { eventually, startWorld, type World } from '../world.ts'

const minute = 60
const hour = 60 * minute
const day = 24 * hour
const delays = [5, 30, 2 * minute, 10 * minute, 30 * minute, hour, 2 * hour, 4 * hour, 7 * hour]

let world: World
let receiver: Receiver
let sql: pg.Client
/** How each path answers; 200 unless it says otherwise. */
const answers = new Map<string, (response: ServerResponse) => void>()

before(async () => {
  world = await startWorld()
  receiver = await startReceiver()
  receiver.answer(({ url }, response) => {
    const answer = answers.get(url)
    if (answer) answer(response)
    else response.end('ok')
  })
  sql = lookInto(world)
  await sql.connect()
})
after(async () => {
  await sql.end()
  await receiver.stop()
  await world.stop()
})

test('an event reaches its subscriber at once, signed over the raw body', async () => {
  const client = await customer()
  const { body: hook } = await client.post('/v1/webhooks', {
    url: receiver.url('/signed'),
    events: ['note.published'],
    headers: { 'X-Shop': 'A' },
  })
  const text = 'Habari "Ada" \\ ñ 😀 </script>'
  const { body: note } = await client.post('/v1/notes', { text, metadata: { shop: 'A' } })
  const got = await receiver.next('/signed')
  assert.equal(got.method, 'POST')
  assert.equal(got.headers['x-service-signature'], createHmac('sha256', hook.secret).update(got.body).digest('hex'))
  assert.equal(JSON.stringify(JSON.parse(got.body)), got.body, 'who signs what it parsed gets the same bytes')
  const body = JSON.parse(got.body)
  assert.deepEqual([body.event, body.note_id, body.text], ['note.published', note.note_id, text])
  assert.equal(got.headers['content-type'], 'application/json; charset=utf-8')
  assert.equal(got.headers['user-agent'], 'Pamoja-Webhooks/1.0')
  assert.equal(got.headers['x-service-event'], 'note.published')
  assert.equal(got.headers['x-service-event-id'], body.event_id)
  assert.match(String(got.headers['x-service-delivery-id']), /^dlv_/)
  assert.equal(got.headers['x-service-attempt'], '1')
  assert.equal(got.headers['x-service-timestamp'], got.headers['webhook-timestamp'])
  assert.equal(got.headers['webhook-id'], body.event_id)
  assert.equal(got.headers['x-shop'], 'A')
  for (const absent of ['x-hub-signature-256', 'x-service-test', 'x-service-replay', 'x-service-signature-next'])
    assert.equal(got.headers[absent], undefined)
  assert.deepEqual(new Webhook(hook.secret).verify(got.body, headersOf(got.headers)), body)

  const delivery = await settled(client, hook.id, 'delivered')
  assert.equal(delivery.event_id, body.event_id)
  const { body: detail } = await client.get(`/v1/webhooks/${hook.id}/deliveries/${delivery.id}`)
  assert.deepEqual([detail.status, detail.attempts, detail.response_status], ['delivered', 1, 200])
  assert.equal(detail.request.url, receiver.url('/signed'))
  assert.equal(detail.request.body, got.body)
  assert.equal(detail.request.headers['X-Service-Signature'], got.headers['x-service-signature'])
  assert.equal(detail.request.headers['webhook-signature'], got.headers['webhook-signature'])
  assert.notEqual(detail.request.headers['X-Shop'], 'A')
  const [attempt] = detail.attempts_log
  assert.deepEqual([attempt.attempt, attempt.status, attempt.response_body, attempt.error], [1, 200, 'ok', null])
  assert.ok(attempt.ip && attempt.tls_ms >= 0 && attempt.connect_ms >= 0)
  const { body: health } = await client.get(`/v1/webhooks/${hook.id}`)
  assert.deepEqual([health.health.success_24h, health.health.failure_24h, health.health.last_status], [1, 0, 200])
})

test('a trace that a request names goes along with what came of it, on every try', async () => {
  const client = await customer()
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/traced'), events: ['note.published'] })
  const trace = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  const headers = { traceparent: trace }
  answers.set('/traced', (response) => response.writeHead(503).end())
  await client.post('/v1/notes', { text: 'Traced' }, { headers })
  assert.equal((await receiver.next('/traced')).headers.traceparent, trace)
  const { next_attempt_at: next } = await attempted(client, hook.id, 1)
  answers.delete('/traced')
  await advanceTo(client, Date.parse(next))
  const again = await receiver.next('/traced')
  assert.deepEqual([again.headers['x-service-attempt'], again.headers.traceparent], ['2', trace])
  await client.post(`/v1/webhooks/${hook.id}/test`, {}, { headers })
  assert.equal((await receiver.next('/traced')).headers.traceparent, trace)
  for (const none of [{}, { traceparent: '00-0-0-01' }]) {
    await client.post('/v1/notes', { text: 'Untraced' }, { headers: none })
    assert.equal((await receiver.next('/traced')).headers.traceparent, undefined)
  }
})

test('while a secret is replaced both sign, each as it did before', async () => {
  const client = await customer()
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/overlap'), events: ['*'] })
  const { body: rotated } = await client.post(`/v1/webhooks/${hook.id}/rotate-secret`, { overlap_hours: 1 })
  await client.post('/v1/notes', { text: 'one' })
  const during = await receiver.next('/overlap')
  const hex = (secret: string, body: string) => createHmac('sha256', secret).update(body).digest('hex')
  assert.equal(during.headers['x-service-signature'], hex(hook.secret, during.body))
  assert.equal(during.headers['x-service-signature-next'], hex(rotated.secret, during.body))
  for (const secret of [hook.secret, rotated.secret]) new Webhook(secret).verify(during.body, headersOf(during.headers))

  await advance(client, hour + 1)
  await client.post('/v1/notes', { text: 'two' })
  const afterwards = await receiver.next('/overlap')
  assert.equal(afterwards.headers['x-service-signature'], hex(rotated.secret, afterwards.body))
  assert.equal(afterwards.headers['x-service-signature-next'], undefined)
  assert.throws(() => new Webhook(hook.secret).verify(afterwards.body, headersOf(afterwards.headers)))
})

test('what fails is tried eleven times, the last time exactly a day after the event', async () => {
  const client = await customer()
  answers.set('/day', (response) => response.writeHead(500).end('not today'))
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/day'), events: ['note.*'] })
  await client.post('/v1/notes', { text: 'patience' })
  const seen = new Set<unknown>()
  for (let attempt = 1; attempt <= 11; attempt++) {
    const got = await receiver.next('/day')
    assert.equal(got.headers['x-service-attempt'], `${attempt}`)
    seen.add(got.headers['x-service-event-id']).add(got.body)
    const delivery = await attempted(client, hook.id, attempt)
    const { body: detail } = await client.get(`/v1/webhooks/${hook.id}/deliveries/${delivery.id}`)
    const last = detail.attempts_log.at(-1)
    assert.deepEqual(
      [last.attempt, last.status, last.error, last.response_body],
      [attempt, 500, 'HTTP_STATUS', 'not today'],
    )
    if (attempt === 11) {
      assert.deepEqual([delivery.status, delivery.next_attempt_at], ['failed', null])
      assert.ok(Date.parse(last.at) - Date.parse(delivery.created_at) >= day * 1000)
      break
    }
    assert.equal(delivery.status, 'pending')
    const next = Date.parse(delivery.next_attempt_at)
    if (attempt === 10) assert.equal(next - Date.parse(delivery.created_at), day * 1000)
    else {
      const waited = (next - Date.parse(last.at)) / 1000
      const planned = delays[attempt - 1] ?? 0
      assert.ok(waited >= planned * 0.9 && waited <= planned * 1.1 + 5, `${waited} s after attempt ${attempt}`)
    }
    await advanceTo(client, next)
  }
  assert.equal(seen.size, 2, 'the same bytes and the same event id every time')
})

test('a receiver that says when to come back is asked then, if that is later than planned and within the day', async () => {
  const inTwoHours = () => new Date(Date.now() + 2 * hour * 1000).toUTCString()
  const rows: [path: string, status: number, retryAfter: string | (() => string), wait: [number, number]][] = [
    ['/later', 429, '3600', [3600, 3610]],
    ['/sooner', 503, '1', [4.5, 10.5]],
    ['/never', 429, '172800', [4.5, 10.5]],
    ['/dated', 503, inTwoHours, [2 * hour - 5, 2 * hour + 10]],
    ['/not-asked', 500, '3600', [4.5, 10.5]],
  ]
  for (const [path, status, retryAfter, [least, most]] of rows) {
    const client = await customer()
    let answeredMs = 0
    answers.set(path, (response) => {
      answeredMs = Date.now()
      const later = typeof retryAfter === 'string' ? retryAfter : retryAfter()
      response.writeHead(status, { 'retry-after': later }).end()
    })
    const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url(path), events: ['*'] })
    await client.post('/v1/notes', { text: 'busy' })
    const delivery = await attempted(client, hook.id, 1)
    // The answer was heard some time between being given and being stored, which takes as long as it takes.
    const nextMs = Date.parse(delivery.next_attempt_at)
    const [sinceAnswer, sinceStored] = [(nextMs - answeredMs) / 1000, (nextMs - Date.now()) / 1000]
    assert.ok(sinceAnswer >= least && sinceStored <= most, `${path}: ${sinceAnswer}`)
  }
})

test('an endpoint that is gone is disabled at once, and the others hear of it', async () => {
  const client = await customer()
  answers.set('/gone', (response) => response.writeHead(410).end())
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/gone'), events: ['*'] })
  await client.post('/v1/webhooks', { url: receiver.url('/other'), events: ['webhook.disabled'] })
  await client.post('/v1/notes', { text: 'anybody there' })
  const told = JSON.parse((await receiver.next('/other')).body)
  assert.deepEqual([told.event, told.webhook_id, told.disabled_reason], ['webhook.disabled', hook.id, 'gone'])
  const { body: now } = await client.get(`/v1/webhooks/${hook.id}`)
  assert.deepEqual([now.enabled, now.disabled_reason, now.health.state], [false, 'gone', 'disabled'])
  const delivery = await settled(client, hook.id, 'failed')
  assert.deepEqual([delivery.last_error, delivery.attempts], ['GONE', 1])
})

test('a URL that is gone disables nothing once the endpoint has another, which is told what it was asked', async () => {
  const client = await customer()
  const asked: ServerResponse[] = []
  answers.set('/left', (response) => void asked.push(response))
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/left'), events: ['*'] })
  await client.post('/v1/notes', { text: 'on its way' })
  await receiver.next('/left')
  await client.patch(`/v1/webhooks/${hook.id}`, { url: receiver.url('/new-home') })
  for (const response of asked) response.writeHead(410).end()
  const { status, last_error, next_attempt_at: next } = await attempted(client, hook.id, 1)
  assert.deepEqual([status, last_error], ['pending', 'HTTP_STATUS'])
  await advanceTo(client, Date.parse(next))
  assert.equal(JSON.parse((await receiver.next('/new-home')).body).text, 'on its way')
  const { attempts, last_error: none } = await settled(client, hook.id, 'delivered')
  assert.deepEqual([attempts, none], [2, null])
  const { body } = await client.get(`/v1/webhooks/${hook.id}`)
  assert.deepEqual([body.enabled, body.disabled_reason], [true, null])
})

test('an endpoint that failed for five days is disabled, and the others hear of it', async () => {
  const client = await customer()
  answers.set('/ill', (response) => response.writeHead(500, { 'webhook-delivery': 'abort' }).end())
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/ill'), events: ['note.*'] })
  await client.post('/v1/webhooks', {
    url: receiver.url('/well'),
    events: ['*'],
    filters: { event: 'webhook.disabled' },
  })
  await client.post('/v1/notes', { text: 'one' })
  const aborted = await settled(client, hook.id, 'failed')
  assert.deepEqual([aborted.last_error, aborted.attempts], ['ABORTED', 1])
  for (let n = 2; n <= 19; n++) await client.post('/v1/notes', { text: `${n}` })
  await eventually(async () => (await deliveries(client, hook.id, '?status=failed')).length === 19, 'nineteen failures')
  await advance(client, 5 * day + minute)
  assert.equal((await client.get(`/v1/webhooks/${hook.id}`)).body.enabled, true)
  await client.post('/v1/notes', { text: 'the twentieth' })
  const told = JSON.parse((await receiver.next('/well')).body)
  assert.deepEqual([told.webhook_id, told.disabled_reason, told.failed_deliveries], [hook.id, 'failing', 20])
  assert.equal((await client.get(`/v1/webhooks/${hook.id}`)).body.disabled_reason, 'failing')
})

test('what leads to a forbidden address is not tried again, and tells nothing of it', async () => {
  const client = await customer()
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/blocked'), events: ['*'] })
  await repoint(hook.id, 'https://169.254.169.254/latest/meta-data')
  await client.post('/v1/notes', { text: 'steal' })
  const delivery = await settled(client, hook.id, 'failed')
  assert.deepEqual([delivery.last_error, delivery.attempts, delivery.response_status], ['ADDRESS_BLOCKED', 1, null])
})

test('an endpoint that keeps failing is left alone but for a probe, and gets everything once it works', async () => {
  const client = await customer()
  answers.set('/down', (response) => response.writeHead(503).end())
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/down'), events: ['*'] })
  for (let n = 0; n < 10; n++) await client.post('/v1/notes', { text: `${n}` })
  await eventually(async () => (await stateOf(client, hook.id)) === 'failing', 'the breaker to open')
  await eventually(
    async () => (await deliveries(client, hook.id)).every(({ attempts }) => attempts === 1),
    'ten failures',
  )
  const before = requestsTo('/down')
  assert.equal(before, 10)
  for (let n = 10; n < 15; n++) await client.post('/v1/notes', { text: `${n}` })

  // All of them are due by now; only one is sent, to see whether it works.
  await advance(client, 40)
  await eventually(async () => requestsTo('/down') > before, 'a probe')
  await eventually(
    async () => (await deliveries(client, hook.id)).some(({ attempts }) => attempts === 2),
    'its outcome',
  )
  assert.equal(requestsTo('/down'), before + 1)
  assert.equal(await stateOf(client, hook.id), 'failing')

  answers.delete('/down')
  await advance(client, 5 * minute)
  await eventually(async () => (await deliveries(client, hook.id, '?status=delivered')).length === 15, 'all fifteen')
  assert.equal(await stateOf(client, hook.id), 'healthy')
  const { body } = await client.get(`/v1/webhooks/${hook.id}/deliveries?limit=200`)
  const attempts = body.data.map((delivery: { attempts: number }) => delivery.attempts).sort()
  assert.deepEqual(attempts, [1, 1, 1, 1, 1, ...Array(9).fill(2), 3], 'waiting uses up no attempts')
})

test('an endpoint is degraded while it is tried whether it works', async () => {
  const client = await customer()
  answers.set('/tried', (response) => response.writeHead(503).end())
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/tried'), events: ['*'] })
  for (let n = 0; n < 10; n++) await client.post('/v1/notes', { text: `${n}` })
  await eventually(async () => (await stateOf(client, hook.id)) === 'failing', 'the breaker to open')
  for (const [status, state] of [
    [503, 'failing'],
    [200, 'healthy'],
  ] as const) {
    const asked = new Promise<ServerResponse>((resolve) => answers.set('/tried', resolve))
    await advance(client, minute)
    const response = await asked
    await eventually(async () => (await stateOf(client, hook.id)) === 'degraded', 'the probe')
    answers.set('/tried', (next) => next.writeHead(status).end())
    response.writeHead(status).end()
    await eventually(async () => (await stateOf(client, hook.id)) === state, `it to be ${state}`)
  }
})

test('what an endpoint that is not called has not heard within a day has failed, and is not told when it works', async () => {
  const client = await customer()
  answers.set('/week', (response) => response.writeHead(503).end())
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/week'), events: ['note.*'] })
  for (let n = 0; n < 10; n++) await client.post('/v1/notes', { text: `${n}` })
  await eventually(async () => (await stateOf(client, hook.id)) === 'failing', 'the breaker to open')
  for (let n = 10; n < 30; n++) await client.post('/v1/notes', { text: `${n}` })
  await eventually(async () => {
    const { rows } = await sql.query(
      'select from work.jobs j join webhooks.deliveries d using (bucket, id) where endpoint_id = $1 and owner is null',
      [uuidOf('webhook', hook.id)],
    )
    return rows.length === 30
  }, 'all of them to wait')
  await advance(client, day + minute)
  // One or two are tried once more, to see whether it works; the others are too old.
  await eventually(async () => (await deliveries(client, hook.id, '?status=failed&limit=50')).length === 30, 'the end')
  const failed = await deliveries(client, hook.id, '?status=failed&limit=50')
  const untried = failed.filter(({ attempts }) => attempts === 0)
  assert.ok(untried.length > 10, `${untried.length} were not tried`)
  for (const { last_error, response_status } of untried) assert.deepEqual([last_error, response_status], [null, null])
  const { rows } = await sql.query(
    'select failed_deliveries, last_status from webhooks.health where endpoint_id = $1',
    [uuidOf('webhook', hook.id)],
  )
  assert.deepEqual(rows, [{ failed_deliveries: 30, last_status: 503 }], 'all of them count')
  answers.delete('/week')
  const before = requestsTo('/week')
  await advance(client, minute)
  await client.post('/v1/notes', { text: 'new' })
  await settled(client, hook.id, 'delivered')
  await eventually(async () => (await stateOf(client, hook.id)) === 'healthy', 'the breaker to close')
  assert.equal(requestsTo('/week'), before + 1)
})

test('an ordered endpoint hears of one thing in order, and of other things meanwhile', async () => {
  const client = await customer()
  answers.set('/ordered', (response) => response.writeHead(500).end())
  const { body: hook } = await client.post('/v1/webhooks', {
    url: receiver.url('/ordered'),
    events: ['*'],
    ordered: true,
  })
  await client.post('/v1/notes', { text: 'A1', topic: 'A' })
  assert.equal(JSON.parse((await receiver.next('/ordered')).body).text, 'A1')
  await attempted(client, hook.id, 1)
  answers.delete('/ordered')
  await client.post('/v1/notes', { text: 'A2', topic: 'A' })
  await client.post('/v1/notes', { text: 'A3', topic: 'A' })
  await client.post('/v1/notes', { text: 'B1', topic: 'B' })
  assert.equal(JSON.parse((await receiver.next('/ordered')).body).text, 'B1')
  await advance(client, minute)
  for (const text of ['A1', 'A2', 'A3']) assert.equal(JSON.parse((await receiver.next('/ordered')).body).text, text)
  const delivered = '?resource_id=A&order=asc&status=delivered'
  await eventually(async () => (await deliveries(client, hook.id, delivered)).length === 3, 'all three to be stored')
  const rows = await deliveries(client, hook.id, delivered)
  assert.deepEqual(
    rows.map(({ attempts }) => attempts),
    [2, 1, 1],
  )
})

test('an endpoint that has just become ordered hears of one thing without a pause', async () => {
  const client = await customer()
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/newly'), events: ['*'] })
  await client.post('/v1/notes', { text: 'A0', topic: 'A' })
  await receiver.next('/newly')
  await settled(client, hook.id, 'delivered')
  const held: ServerResponse[] = []
  answers.set('/newly', (response) => void held.push(response))
  await client.patch(`/v1/webhooks/${hook.id}`, { ordered: true })
  await client.post('/v1/notes', { text: 'A1', topic: 'A' })
  await receiver.next('/newly')
  await client.post('/v1/notes', { text: 'A2', topic: 'A' })
  const late = `select from work.jobs where key = $1 and owner is null and run_at > now() + interval '30 seconds'`
  const howManyWait = async () => (await sql.query(late, [uuidOf('webhook', hook.id)])).rows.length
  await eventually(async () => (await howManyWait()) === 1, 'the second to wait for the first')
  answers.delete('/newly')
  for (const response of held) response.end('ok')
  const delivered = async () => (await deliveries(client, hook.id, '?status=delivered')).length
  await eventually(async () => (await delivered()) >= 2, 'the first to be heard')
  assert.equal(await howManyWait(), 0)
  assert.equal(JSON.parse((await receiver.next('/newly')).body).text, 'A2')
})

test('an ordered endpoint hears of many changes to one thing without pauses between them', async () => {
  const client = await customer()
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/many'), events: ['*'], ordered: true })
  await Promise.all(Array.from({ length: 60 }, (_, n) => client.post('/v1/notes', { text: `${n}`, topic: 'A' })))
  const delivered = '?status=delivered&limit=100'
  await eventually(async () => (await deliveries(client, hook.id, delivered)).length === 60, 'all sixty')
  const attempts = (await deliveries(client, hook.id, delivered)).map(({ attempts }) => attempts)
  assert.deepEqual(attempts, Array(60).fill(1), 'waiting uses up no attempts')
})

test('filters, areas and the broader event decide who hears of what, each once', async () => {
  const client = await customer()
  const hooks: [path: string, events: string[], filters: Record<string, string>, heard: string[]][] = [
    ['/all', ['*'], {}, ['plain', 'A', 'B']],
    ['/area', ['note.*', 'note.shown'], {}, ['plain', 'A', 'B']],
    ['/both', ['note.shown', 'note.published'], {}, ['plain', 'A', 'B']],
    ['/narrow', ['note.shown'], {}, ['shown']],
    ['/shop-a', ['*'], { 'metadata.shop': 'A' }, ['A']],
    ['/shop-a-b', ['*'], { 'metadata.shop': 'A', text: 'B' }, []],
    ['/elsewhere', ['sms.*', 'payment.completed'], {}, []],
  ]
  const ids = new Map<string, string>()
  for (const [path, events, filters] of hooks) {
    const made = await client.post('/v1/webhooks', { url: receiver.url(path), events, filters })
    assert.equal(made.status, 201, made.text)
    ids.set(path, made.body.id)
  }
  await client.post('/v1/notes', { text: 'shown', event: 'note.shown' })
  await client.post('/v1/notes', { text: 'plain' })
  await client.post('/v1/notes', { text: 'A', metadata: { shop: 'A' } })
  await client.post('/v1/notes', { text: 'B', metadata: { shop: 'B' } })
  for (const [path, , , heard] of hooks) {
    const id = ids.get(path) ?? ''
    await eventually(async () => (await deliveries(client, id, '?status=delivered')).length === heard.length, path)
    const texts = receiver.received.filter(({ url }) => url === path).map(({ body }) => JSON.parse(body).text)
    assert.deepEqual(texts.sort(), [...heard].sort(), path)
  }
})

test('a callback URL hears of its own request only, signed with the callback secret of the account', async () => {
  const client = await customer()
  const { body: callback } = await client.get('/v1/webhooks/callback-secret')
  await client.post('/v1/notes', { text: 'without' })
  await client.post('/v1/notes', { text: 'with', callback_url: receiver.url('/callback') })
  const got = await receiver.next('/callback')
  assert.equal(JSON.parse(got.body).text, 'with')
  assert.equal(got.headers['x-service-signature'], createHmac('sha256', callback.secret).update(got.body).digest('hex'))
  new Webhook(callback.secret).verify(got.body, headersOf(got.headers))
  const isOver = async () => (await callbacksTo(receiver.url('/callback'))).length === 0
  await eventually(isOver, 'nothing to be left of a callback that was heard')
})

/** What is still to be told to a callback URL, as its jobs have it. */
async function callbacksTo(url: string) {
  const { rows } = await sql.query(
    `select payload -> 'callback' as callback from work.jobs where payload -> 'callback' ->> 'url' = $1`,
    [url],
  )
  return rows.map(({ callback }) => callback)
}

test('what fails at a callback URL is tried as often, and nothing of it is left when it is over', async () => {
  const client = await customer()
  const url = receiver.url('/callback-day')
  answers.set('/callback-day', (response) => response.writeHead(500).end('not today'))
  await client.post('/v1/notes', { text: 'patience', callback_url: url })
  const seen = new Set<unknown>()
  for (let attempt = 1; attempt <= 11; attempt++) {
    const got = await receiver.next('/callback-day')
    assert.equal(got.headers['x-service-attempt'], `${attempt}`)
    seen.add(got.headers['x-service-event-id']).add(got.headers['x-service-delivery-id']).add(got.body)
    const [next] = await eventually(async () => {
      const jobs = await callbacksTo(url)
      return (attempt === 11 ? jobs.length === 0 : jobs[0]?.attempts === attempt) && jobs
    }, `the end of attempt ${attempt}`)
    if (!next) break
    if (attempt === 10) assert.equal(next.next_ms - Date.parse(JSON.parse(got.body).timestamp), day * 1000)
    await advanceTo(client, next.next_ms)
  }
  assert.equal(seen.size, 3, 'the same bytes and the same ids every time')
  const { rows } = await sql.query('select count(*)::int as rows from webhooks.deliveries where url = $1', [url])
  assert.equal(rows[0].rows, 0)
})

test('a delivery can be sent again, with the same bytes and event id', async () => {
  const client = await customer()
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/again'), events: ['*'] })
  await client.post('/v1/notes', { text: 'once more' })
  const first = await receiver.next('/again')
  const delivery = await settled(client, hook.id, 'delivered')
  const again = await client.post(`/v1/webhooks/${hook.id}/deliveries/${delivery.id}/redeliver`)
  assert.equal(again.status, 200, again.text)
  assert.equal(again.body.replay_of, delivery.id)
  const second = await receiver.next('/again')
  assert.equal(second.body, first.body)
  assert.equal(second.headers['x-service-event-id'], first.headers['x-service-event-id'])
  assert.equal(second.headers['x-service-delivery-id'], again.body.delivery_id)
  assert.equal(second.headers['x-service-replay'], 'true')
  const path = `/v1/webhooks/${hook.id}/deliveries`
  assert.equal((await client.post(`${path}/${delivery.id}/retry`)).body.replay_of, delivery.id)
  assert.equal((await receiver.next('/again')).body, first.body)
  for (const id of ['dlv_01jb2c3d4e5f6g7h8j9kamnpqr', 'x']) {
    const missing = await client.get(`${path}/${id}`)
    assert.deepEqual([missing.status, missing.body.error.code], [404, 'DELIVERY_NOT_FOUND'])
    for (const word of ['redeliver', 'retry'])
      assert.equal((await client.post(`${path}/${id}/${word}`)).body.error.code, 'DELIVERY_NOT_FOUND')
  }
})

test('a test that is sent again is still a test', async () => {
  const client = await customer()
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/tested'), events: ['*'] })
  const { body: tried } = await client.post(`/v1/webhooks/${hook.id}/test`, {})
  const path = `/v1/webhooks/${hook.id}/deliveries`
  const { body: again } = await client.post(`${path}/${tried.delivery_id}/redeliver`)
  for (const replayed of [undefined, 'true']) {
    const { headers } = await receiver.next('/tested')
    assert.deepEqual([headers['x-service-test'], headers['x-service-replay']], ['true', replayed])
  }
  assert.equal((await client.get(`${path}/${again.delivery_id}`)).body.test, true)
})

test('what is asked to be sent again goes out at once, though its endpoint has not worked', async () => {
  const client = await customer()
  answers.set('/fell', (response) => response.writeHead(503).end())
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/fell'), events: ['*'] })
  for (let n = 0; n < 10; n++) await client.post('/v1/notes', { text: `${n}` })
  await eventually(async () => (await stateOf(client, hook.id)) === 'failing', 'the breaker to open')
  const [delivery] = await deliveries(client, hook.id)
  await client.patch(`/v1/webhooks/${hook.id}`, { url: receiver.url('/stands') })
  const again = await client.post(`/v1/webhooks/${hook.id}/deliveries/${delivery?.id}/redeliver`)
  const got = await receiver.next('/stands')
  assert.equal(got.headers['x-service-delivery-id'], again.body.delivery_id, 'before any probe')
  await eventually(async () => (await stateOf(client, hook.id)) === 'healthy', 'the breaker to close')
})

test('the log says where each try went, whatever the URL is by now', async () => {
  const client = await customer()
  answers.set('/moved-from', (response) => response.writeHead(503).end())
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/moved-from'), events: ['*'] })
  await client.post('/v1/notes', { text: 'on the move' })
  await receiver.next('/moved-from')
  const { id, next_attempt_at: next } = await attempted(client, hook.id, 1)
  await client.patch(`/v1/webhooks/${hook.id}`, { url: receiver.url('/moved-to') })
  const path = `/v1/webhooks/${hook.id}/deliveries/${id}`
  assert.equal((await client.get(path)).body.request.url, receiver.url('/moved-from'))
  await advanceTo(client, Date.parse(next))
  await receiver.next('/moved-to')
  await settled(client, hook.id, 'delivered')
  const { body: detail } = await client.get(path)
  assert.equal(detail.request.url, receiver.url('/moved-to'))
  assert.deepEqual(
    detail.attempts_log.map(({ url }: { url: string }) => url),
    [receiver.url('/moved-from'), receiver.url('/moved-to')],
  )
})

test('what is asked to be sent again to an ordered endpoint goes out at once, before the delivery that it repeats', async () => {
  const client = await customer()
  answers.set('/in-order', (response) => response.writeHead(503, { 'retry-after': '3600' }).end())
  const { body: hook } = await client.post('/v1/webhooks', {
    url: receiver.url('/in-order'),
    events: ['*'],
    ordered: true,
  })
  await client.post('/v1/notes', { text: 'A1', topic: 'A' })
  await client.post('/v1/notes', { text: 'A2', topic: 'A' })
  await receiver.next('/in-order')
  const first = await attempted(client, hook.id, 1)
  answers.delete('/in-order')
  const again = await client.post(`/v1/webhooks/${hook.id}/deliveries/${first.id}/redeliver`)
  const got = await receiver.next('/in-order')
  assert.deepEqual(
    [got.headers['x-service-delivery-id'], JSON.parse(got.body).text],
    [again.body.delivery_id, 'A1'],
    'the first waits for its next try',
  )
  assert.equal(JSON.parse((await receiver.next('/in-order')).body).text, 'A2', 'what waited behind it goes on')
  const { body: settledFirst } = await client.get(`/v1/webhooks/${hook.id}/deliveries/${first.id}`)
  assert.deepEqual(
    [settledFirst.status, settledFirst.attempts, settledFirst.next_attempt_at],
    ['delivered', 1, null],
    'it was heard, and is not tried again',
  )
  await advance(client, 2 * hour)
  await client.post('/v1/notes', { text: 'A3', topic: 'A' })
  assert.equal(JSON.parse((await receiver.next('/in-order')).body).text, 'A3')
})

test('what was heard when it was sent again is not tried any more', async () => {
  const client = await customer()
  answers.set('/soothed', (response) => response.writeHead(503, { 'retry-after': '3600' }).end())
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/soothed'), events: ['*'] })
  await client.post('/v1/notes', { text: 'first' })
  await receiver.next('/soothed')
  const { id, event_id } = await attempted(client, hook.id, 1)
  const path = `/v1/webhooks/${hook.id}/deliveries/${id}`
  await client.post(`${path}/redeliver`)
  await receiver.next('/soothed')
  const pending = async () => (await deliveries(client, hook.id, '?status=pending')).map(({ attempts }) => attempts)
  await eventually(async () => (await pending()).join() === '1,1', 'the second to have failed as well')
  answers.delete('/soothed')
  await client.post(`${path}/redeliver`)
  await receiver.next('/soothed')
  const first = await eventually(async () => {
    const { body } = await client.get(path)
    return body.status === 'delivered' && body
  }, 'the first to be over')
  assert.deepEqual([first.attempts, first.next_attempt_at, first.response_status], [1, null, 503])
  const { body: event } = await client.get(`/v1/events/${event_id}`)
  assert.equal(event.deliveries[0].status, 'delivered')
  const { rows } = await sql.query('select from work.jobs where id = $1', [uuidOf('delivery', id)])
  assert.equal(rows.length, 0, 'nothing is left to be done for it')
})

test('a disabled endpoint is refused what it would not be sent', async () => {
  const client = await customer()
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/shut'), events: ['*'] })
  await client.post('/v1/notes', { text: 'heard' })
  const { id, created_at } = await settled(client, hook.id, 'delivered')
  const path = `/v1/webhooks/${hook.id}`
  await client.patch(path, { enabled: false })
  const window = { from: created_at, to: new Date(Date.parse(created_at) + 1_000).toISOString(), status: 'all' }
  for (const refused of [
    await client.post(`${path}/deliveries/${id}/redeliver`),
    await client.post(`${path}/replay`, window),
  ]) {
    assert.deepEqual([refused.status, refused.body.error.code], [409, 'CONFLICT'])
    assert.match(refused.body.error.details, /disabled.*enable it first/)
  }
  await client.patch(path, { enabled: true })
  assert.equal((await client.post(`${path}/replay`, window)).body.count, 1)
})

test('a replay ends with its endpoint', async () => {
  const client = await customer()
  answers.set('/ended', (response) => response.writeHead(500, { 'webhook-delivery': 'abort' }).end())
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/ended'), events: ['*'] })
  const { body: clock } = await client.get('/v1/sandbox/clock')
  await Promise.all(Array.from({ length: 60 }, (_, n) => client.post('/v1/notes', { text: `${n}` })))
  const failed = '?status=failed&limit=100'
  await eventually(async () => (await deliveries(client, hook.id, failed)).length === 60, 'sixty failures')
  const window = { from: clock.now, to: new Date(Date.parse(clock.now) + hour * 1000).toISOString() }
  const { body: replay } = await client.post(`/v1/webhooks/${hook.id}/replay`, window)
  assert.equal(replay.count, 60)
  await client.delete(`/v1/webhooks/${hook.id}`)
  const id = uuidOf('webhook', hook.id)
  await eventually(async () => {
    const { rows } = await sql.query(`select from work.jobs where payload ->> 'replay' = $1`, [replay.replay_id])
    return rows.length === 0
  }, 'the replay to end')
  const { rows } = await sql.query(
    'select count(*)::int as again from webhooks.deliveries where endpoint_id = $1 and replay_of is not null',
    [id],
  )
  assert.ok(rows[0].again <= 50, `${rows[0].again} of sixty were told again: more than its first step`)
})

test('a window of time can be delivered again, only what failed or all of it', async () => {
  const client = await customer()
  answers.set('/window', (response) => response.writeHead(500, { 'webhook-delivery': 'abort' }).end())
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/window'), events: ['*'] })
  const { body: clock } = await client.get('/v1/sandbox/clock')
  for (const text of ['1', '2', '3']) await client.post('/v1/notes', { text })
  await eventually(async () => (await deliveries(client, hook.id, '?status=failed')).length === 3, 'three failures')
  answers.delete('/window')
  await client.post('/v1/notes', { text: '4' })
  await settled(client, hook.id, 'delivered')
  const window = { from: clock.now, to: new Date(Date.parse(clock.now) + hour * 1000).toISOString() }
  const path = `/v1/webhooks/${hook.id}/replay`

  const failed = await client.post(path, window)
  assert.equal(failed.status, 200, failed.text)
  assert.match(failed.body.replay_id, /^rpl_/)
  assert.equal(failed.body.count, 3)
  await eventually(async () => (await deliveries(client, hook.id, '?status=delivered')).length === 4, 'the three')
  const heard = 'select from webhooks.deliveries where endpoint_id = $1 and heard_since'
  const howManyHeard = async () => (await sql.query(heard, [uuidOf('webhook', hook.id)])).rows.length
  await eventually(async () => (await howManyHeard()) === 3, 'the three to be known as heard')
  assert.equal((await client.post(path, window)).body.count, 0, 'what was heard since is not told again')
  const all = await client.post(path, { ...window, status: 'all', events: ['note.published'] })
  assert.equal(all.body.count, 4)
  await eventually(async () => (await deliveries(client, hook.id, '?status=delivered')).length === 8, 'all four')
  assert.equal((await client.post(path, { ...window, status: 'all', events: ['sms.sent'] })).body.count, 0)
  const area = await client.post(path, { ...window, status: 'all', events: ['note.*', 'sms.sent'] })
  assert.equal(area.body.count, 4, 'in the words of a subscription')
  const unknown = await client.post(path, { ...window, events: ['note.published', 'note.lost'] })
  assert.deepEqual([unknown.status, unknown.body.error.code], [400, 'INVALID_EVENT'])
  assert.equal((await client.post(path, { from: window.to, to: window.from })).body.error.code, 'INVALID_DATE_RANGE')
  for (const malformed of [{ from: 'x' }, { to: '2026-02-30' }, { from: '2026-03-01T09:00:00' }]) {
    const { status, body } = await client.post(path, { ...window, ...malformed })
    assert.deepEqual([status, body.error.code], [400, 'INVALID_DATE_RANGE'])
  }
  assert.equal((await client.post(path, { from: window.from })).body.error.code, 'VALIDATION_ERROR')
  const days = { from: window.from.slice(0, 10), to: window.to.slice(0, 10) }
  assert.equal((await client.post(path, { ...days, status: 'all' })).body.count, 4, 'days count whole')
})

test('an event shows whom it was told to, and how that went', async () => {
  const client = await customer()
  answers.set('/deaf', (response) => response.writeHead(503).end())
  const register = async (path: string, events: string[]) =>
    (await client.post('/v1/webhooks', { url: receiver.url(path), events })).body.id
  const [heard, deaf] = [await register('/heard', ['*']), await register('/deaf', ['note.*'])]
  await register('/elsewhere', ['sms.*'])
  await client.post('/v1/notes', { text: 'told' })
  const delivered = await settled(client, heard, 'delivered')
  const event = await eventually(async () => {
    const { body } = await client.get(`/v1/events/${delivered.event_id}`)
    return body.deliveries.every(({ attempts }: { attempts: number }) => attempts === 1) && body
  }, 'both to have been tried')
  answers.delete('/deaf')
  const found = event.deliveries.map((one: Record<string, unknown>) => [
    one.webhook_id,
    one.status,
    one.response_status,
    one.last_error,
  ])
  assert.deepEqual(
    new Map(found.map(([id, ...rest]: unknown[]) => [id, rest])),
    new Map([
      [heard, ['delivered', 200, null]],
      [deaf, ['pending', 503, 'HTTP_STATUS']],
    ]),
  )
  assert.ok(event.deliveries.some(({ id }: { id: string }) => id === delivered.id))
  await client.post(`/v1/webhooks/${heard}/deliveries/${delivered.id}/redeliver`)
  assert.equal((await client.get(`/v1/events/${delivered.event_id}`)).body.deliveries.length, 2)
  await client.post('/v1/notes', { text: 'another' })
  const { body } = await client.get('/v1/events?limit=1')
  assert.equal('deliveries' in body.data[0], false, 'a list of events is not one of deliveries')
})

test('the log can be searched', async () => {
  const client = await customer()
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/log'), events: ['note.*'] })
  await client.post('/v1/notes', { text: '1', topic: 'T' })
  await client.post('/v1/notes', { text: '2' })
  await eventually(async () => (await deliveries(client, hook.id, '?status=delivered')).length === 2, 'two')
  const [one] = await deliveries(client, hook.id, '?resource_id=T')
  const rows: [query: string, count: number][] = [
    ['?event=note.published', 2],
    ['?event=note.shown', 0],
    ['?event=note.*', 2],
    ['?event=spam', 0],
    [`?event_id=${one?.event_id}`, 1],
    ['?event_id=evt_nonsense', 0],
    ['?resource_id=T', 1],
    ['?status=failed', 0],
    ['?status=pending', 0],
    ['?limit=1', 1],
    [`?from=${one?.created_at}`, 2],
    [`?to=${one?.created_at}`, 0],
  ]
  for (const [query, count] of rows) assert.equal((await deliveries(client, hook.id, query)).length, count, query)
  const bad = await client.get(`/v1/webhooks/${hook.id}/deliveries?from=yesterday`)
  assert.equal(bad.body.error.code, 'INVALID_DATE_RANGE')
  const typo = await client.get(`/v1/webhooks/${hook.id}/deliveries?event=note.publsihed`)
  assert.deepEqual([typo.status, typo.body.error.code], [400, 'INVALID_EVENT'])
})

test('what is on its way is listed apart from what waits, in whole pages', async () => {
  const client = await customer()
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/held'), events: ['*'] })
  const held: ServerResponse[] = []
  let first: unknown
  answers.set('/held', (response) => {
    const event = response.req.headers['x-service-event-id']
    first ??= event
    if (event === first) held.push(response)
    else response.writeHead(500).end()
  })
  await client.post('/v1/notes', { text: 'on its way' })
  await eventually(async () => held.length > 0, 'the first to be on its way')
  await client.post('/v1/notes', { text: 'waits' })
  const path = `/v1/webhooks/${hook.id}/deliveries?limit=1`
  await eventually(async () => {
    const { body: sending } = await client.get(`${path}&status=delivering`)
    const { body: waiting } = await client.get(`${path}&status=pending&order=asc`)
    const [one, other] = [sending.data[0], waiting.data[0]]
    return one?.event_id === first && other && other.event_id !== first && !sending.has_more && !waiting.has_more
  }, 'a page of each, with nothing after it')
  answers.delete('/held')
  for (const response of held) response.end()
  await settled(client, hook.id, 'delivered')
})

test('deliveries are shown for as long as the plan keeps them, or the operator says', async () => {
  const { client, id } = await world.account({ plan: 'starter', balance: 100 })
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/old'), events: ['note.*'] })
  await client.post('/v1/notes', { text: 'old' })
  const { id: delivery } = await settled(client, hook.id, 'delivered')
  const days = async () => (await deliveries(client, hook.id)).length - 1
  for (const age of [14, 16, 61])
    await sql.query(
      `insert into webhooks.deliveries (bucket, account_id, environment, id, endpoint_id, url, event_id, event,
         resource_id, status, ordered, attempts, created_at)
       select bucket, account_id, environment, platform.uuid_at(now() - $2::int * interval '1 day'), endpoint_id, url,
              event_id, event, resource_id, status, ordered, attempts, created_at
         from webhooks.deliveries where id = $1`,
      [uuidOf('delivery', delivery), age],
    )
  assert.equal(await days(), 1, 'fifteen days')
  const path = `/v1/operator/accounts/${id}`
  await world.operator.patch(path, { allowances: { webhook_retention_days: 60 } })
  assert.equal(await days(), 2, 'sixty days')
  await world.operator.patch(path, { allowances: { webhook_retention_days: null } })
  assert.equal(await days(), 1, 'the plan again')
})

test('what waits for a disabled endpoint goes out when it is enabled, or is cancelled after a day', async () => {
  const client = await customer()
  answers.set('/off', (response) => response.writeHead(500).end())
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/off'), events: ['*'] })
  const path = `/v1/webhooks/${hook.id}`
  await client.post('/v1/notes', { text: 'waits' })
  await attempted(client, hook.id, 1)
  await client.patch(path, { enabled: false })
  await client.post('/v1/notes', { text: 'not for it' })
  await advance(client, minute)
  answers.delete('/off')
  const before = requestsTo('/off')
  await client.patch(path, { enabled: true })
  await settled(client, hook.id, 'delivered')
  assert.equal(requestsTo('/off'), before + 1)

  answers.set('/off', (response) => response.writeHead(500).end())
  await client.post('/v1/notes', { text: 'too late' })
  await eventually(async () => (await deliveries(client, hook.id, '?status=pending')).length === 1, 'a failure')
  await client.patch(path, { enabled: false })
  await advance(client, day + minute)
  await settled(client, hook.id, 'cancelled')
})

test('enabling an endpoint tries at once what would have waited for its next attempt', async () => {
  const client = await customer()
  answers.set('/wrong', (response) => response.writeHead(404).end())
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/wrong'), events: ['*'] })
  await client.post('/v1/notes', { text: 'ten minutes are long' })
  for (let attempt = 1; attempt < 4; attempt++)
    await advanceTo(client, Date.parse((await attempted(client, hook.id, attempt)).next_attempt_at))
  await attempted(client, hook.id, 4)
  await client.patch(`/v1/webhooks/${hook.id}`, { enabled: false })
  await client.patch(`/v1/webhooks/${hook.id}`, { enabled: true, url: receiver.url('/right') })
  assert.equal((await receiver.next('/right')).headers['x-service-attempt'], '5')
  await settled(client, hook.id, 'delivered')
})

test('with its endpoint go the deliveries that it has not heard', async () => {
  const client = await customer()
  answers.set('/deleted', (response) => response.writeHead(500).end())
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/deleted'), events: ['*'] })
  await client.post('/v1/notes', { text: 'never' })
  await attempted(client, hook.id, 1)
  await client.delete(`/v1/webhooks/${hook.id}`)
  await advance(client, minute)
  const uuid = uuidOf('webhook', hook.id)
  await eventually(async () => {
    const { rows } = await sql.query('select status from webhooks.deliveries where endpoint_id = $1', [uuid])
    return rows.length === 1 && rows[0].status === 'cancelled'
  }, 'the delivery to be cancelled')
  const { rows } = await sql.query('select count(*)::int as jobs from work.jobs where key = $1', [uuid])
  assert.equal(rows[0].jobs, 0)
  assert.equal(requestsTo('/deleted'), 1)
})

test('an endpoint hears no more in a second than it asked for', async () => {
  const client = await customer()
  const heardMs: number[] = []
  answers.set('/slowly', (response) => {
    heardMs.push(performance.now())
    response.end()
  })
  const rate_limit = 5
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/slowly'), events: ['*'], rate_limit })
  const { body: clock } = await client.get('/v1/sandbox/clock')
  const window = { from: clock.now, to: new Date(Date.parse(clock.now) + hour * 1_000).toISOString(), status: 'all' }
  const bursts: (() => Promise<unknown>)[] = [
    () => Promise.all(Array.from({ length: 12 }, (_, n) => client.post('/v1/notes', { text: `${n}` }))),
    // The same once more, made by one request: how fast they are made is not how fast notes are written.
    () => client.post(`/v1/webhooks/${hook.id}/replay`, window),
  ]
  const beganMs: number[] = []
  for (const [before, burst] of bursts.entries()) {
    // Nothing is on its way now.
    beganMs.push(performance.now())
    await burst()
    const all = 12 * (before + 1)
    await eventually(
      async () => (await deliveries(client, hook.id, '?status=delivered&limit=100')).length === all,
      `all ${all}`,
    )
  }
  assert.equal(heardMs.length, 24)
  // On the way they may be moved close together, but none can be heard before it was let go: from a moment at which nothing
  // was on its way there are never more than so many in the seconds since, however slow the receiver or the machine.
  for (const sinceMs of beganMs) {
    const since = heardMs.filter((ms) => ms > sinceMs)
    for (const [n, ms] of since.entries()) {
      const seconds = Math.floor((ms - sinceMs) / 1_000) + 1
      assert.ok(n < rate_limit * seconds, `${n + 1} within ${Math.round(ms - sinceMs)} ms`)
    }
  }
})

test('what waits for its turn stays leased to the node that has it', async () => {
  const client = await customer()
  const { body: hook } = await client.post('/v1/webhooks', {
    url: receiver.url('/one-by-one'),
    events: ['*'],
    rate_limit: 1,
  })
  await Promise.all(Array.from({ length: 12 }, (_, n) => client.post('/v1/notes', { text: `${n}` })))
  const last = async () => {
    const { rows } = await sql.query(
      'select id, run_at, attempt from work.jobs where key = $1 order by id desc limit 1',
      [uuidOf('webhook', hook.id)],
    )
    return rows[0]
  }
  await eventually(async () => (await deliveries(client, hook.id, '')).length === 12, 'twelve deliveries')
  const born = await last()
  const later = await eventually(async () => {
    const found = await last()
    return found && found.run_at > born.run_at && found
  }, 'its lease to be extended')
  assert.deepEqual([later.id, later.attempt], [born.id, born.attempt], 'it is not taken a second time')
})

test('what waits for a slow endpoint is counted among what is pending, whichever node is asked', async (t) => {
  const { client, key } = await world.account({ balance: 100_000 })
  const held: ServerResponse[] = []
  answers.set('/slow', (response) => void held.push(response))
  const { body: hook } = await client.post('/v1/webhooks', { url: receiver.url('/slow'), events: ['*'] })
  await Promise.all(Array.from({ length: 10 }, (_, n) => client.post('/v1/notes', { text: `${n}` })))
  for (let n = 0; n < 4; n++) await receiver.next('/slow')
  const { body } = await client.get(`/v1/webhooks/${hook.id}`)
  assert.equal(body.health.pending, 6, 'of ten, four are on their way')
  // A node without the sandbox would forward what is asked with a test key.
  const other = await world.another({ PAMOJA_ROLES: ['api', 'sandbox'] })
  const elsewhere = new Client(other.url, other.caFile && readFileSync(other.caFile, 'utf8'), key)
  t.after(async () => {
    answers.delete('/slow')
    for (const response of held) response.end('ok')
    elsewhere.close()
    await other.stop()
  })
  const { body: seen } = await elsewhere.get(`/v1/webhooks/${hook.id}`)
  assert.equal(seen.health.pending, 10, 'another node sees all of them, and not which are on their way')
})

test('a receiver that accepts and says nothing is a failure, and delays nobody else', async () => {
  const client = await customer()
  answers.set('/silent', () => undefined)
  const { body: silent } = await client.post('/v1/webhooks', { url: receiver.url('/silent'), events: ['*'] })
  const { body: lively } = await client.post('/v1/webhooks', { url: receiver.url('/lively'), events: ['*'] })
  for (let n = 0; n < 20; n++) await client.post('/v1/notes', { text: `${n}` })
  await eventually(
    async () => (await deliveries(client, lively.id, '?status=delivered')).length === 20,
    'the lively one',
  )
  const [first] = await eventually(async () => {
    const found = await deliveries(client, silent.id, '?order=asc&limit=1')
    return found[0]?.attempts === 1 && found
  }, 'the silent one')
  assert.equal(first?.last_error, 'TIMEOUT')
})

test('a node that does not deliver leaves it to one that does', async () => {
  const other = await world.another({ PAMOJA_ROLES: ['api', 'dispatch'] })
  try {
    const account = await world.account({ balance: 1000 })
    const { body: hook } = await account.client.post('/v1/webhooks', { url: receiver.url('/two'), events: ['*'] })
    const { app } = other
    assert.equal(app.courier.owner(), null)
    const tenant = { bucket: 0, account: uuidOf('account', account.id) ?? '', environment: 'test' as const }
    const { rows } = await sql.query('select bucket from webhooks.endpoints where id = $1', [
      uuidOf('webhook', hook.id),
    ])
    tenant.bucket = rows[0].bucket
    const [published] = notes.events ?? []
    if (!published) throw new Error('notes tell of nothing')
    const nowMs = app.clock.nowMs()
    await app.db.acrossTx((tx) =>
      app.outbox.emit(tx, published, { tenant, receivedMs: nowMs, nowMs, requestId: null }, 'x', published.sample),
    )
    assert.equal(JSON.parse((await receiver.next('/two')).body).text, 'Habari')
    await settled(account.client, hook.id, 'delivered')
  } finally {
    await other.stop()
  }
})

interface Delivery {
  id: string
  status: string
  attempts: number
  created_at: string
  next_attempt_at: string
  last_error: string | null
  response_status: number | null
  event_id: string
}

async function customer(): Promise<Client> {
  return (await world.account({ balance: 100_000 })).client
}

async function deliveries(client: Client, hook: string, query = ''): Promise<Delivery[]> {
  const { status, body } = await client.get(`/v1/webhooks/${hook}/deliveries${query}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body.data
}

/** Waits until an endpoint has a delivery of this status. */
function settled(client: Client, hook: string, status: string): Promise<Delivery> {
  return eventually(async () => (await deliveries(client, hook, `?status=${status}`))[0], `something ${status}`)
}

/** Waits until the only delivery of an endpoint has so many attempts behind it. */
function attempted(client: Client, hook: string, attempts: number): Promise<Delivery> {
  return eventually(async () => {
    const [delivery] = await deliveries(client, hook, '?order=asc&limit=1')
    return delivery?.attempts === attempts && delivery
  }, `attempt ${attempts} to be stored`)
}

async function stateOf(client: Client, hook: string): Promise<string> {
  return (await client.get(`/v1/webhooks/${hook}`)).body.health.state
}

function requestsTo(path: string): number {
  return receiver.received.filter(({ url }) => url === path).length
}

async function advance(client: Client, seconds: number): Promise<void> {
  const moved = await client.post('/v1/sandbox/clock', { advance_seconds: seconds })
  assert.equal(moved.status, 200, moved.text)
}

async function advanceTo(client: Client, atMs: number): Promise<void> {
  const { body } = await client.get('/v1/sandbox/clock')
  await advance(client, Math.max(0, (atMs - Date.parse(body.now)) / 1000))
}

/** What no customer can do: the URL was checked when it was given. */
async function repoint(hook: string, url: string): Promise<void> {
  await sql.query('update webhooks.endpoints set url = $2, version = version + 1 where id = $1', [
    uuidOf('webhook', hook),
    url,
  ])
}

function headersOf(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}
