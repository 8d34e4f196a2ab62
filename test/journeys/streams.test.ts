// SPDX-License-Identifier: Apache-2.0
// Events as they happen: the stream, how it goes on after it broke, and when it ends.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, before, type TestContext, test } from 'node:test'
import type pg from 'pg'
import { idOf, newUuid, uuidOf } from '../../src/kernel/ids.ts'
import { lookInto } from '../looking.ts'
import { openStream, type StreamReader } from '../stream.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

let world: World
let ca: string | null
let sql: pg.Client

before(async () => {
  world = await startWorld()
  ca = world.node.caFile ? readFileSync(world.node.caFile, 'utf8') : null
  sql = lookInto(world)
  await sql.connect()
})
after(async () => {
  await sql.end()
  await world.stop()
})

test('whoever follows the stream is told of each event, at once and once', async (t) => {
  const ada = await world.account()
  const stream = await follow(t, ada)
  assert.equal(stream.status, 200)
  assert.match(stream.response.headers['content-type'] ?? '', /^text\/event-stream/)
  assert.match(String(stream.response.headers['x-request-id']), /^req_/)
  const made = await happen(ada, 3)
  for (const id of made) await stream.has(id)
  assert.deepEqual(stream.ids, made, 'in order, and nothing from before')
  const [first] = stream.messages
  assert.equal(first?.event, 'apikey.revoked')
  const { body } = await ada.client.get(`/v1/events/${first?.id}`)
  assert.deepEqual(JSON.parse(first?.data ?? ''), body.payload)
  assert.equal(body.payload.event_id, first?.id)
})

test('nobody is told what happens to another account, or what they did not ask for', async (t) => {
  const [ada, eve] = [await world.account(), await world.account()]
  const everything = await follow(t, ada)
  const payments = await follow(t, ada, '?events=payment.*')
  const keys = await follow(t, ada, '?events=apikey.*,sms.status')
  const [, second = ''] = await keysOf(ada, 2)
  const one = await follow(t, ada, `?resource_id=${second}`)
  await happen(eve, 1)
  const made = await happen(ada, 1)
  const [secondMade = ''] = await revoke(ada, [second])
  for (const id of [...made, secondMade]) {
    await everything.has(id)
    await keys.has(id)
  }
  await one.has(secondMade)
  assert.deepEqual(everything.ids, [...made, secondMade])
  assert.deepEqual(keys.ids, [...made, secondMade])
  assert.deepEqual(one.ids, [secondMade])
  assert.deepEqual(payments.ids, [])
})

test('a stream that broke goes on where it broke, without a hole', async (t) => {
  const ada = await world.account()
  const before = await follow(t, ada)
  const first = await happen(ada, 2)
  for (const id of first) await before.has(id)
  before.close()
  const missed = await happen(ada, 3)
  for (const [query, headers] of [
    ['', { 'last-event-id': before.lastId }],
    [`?after=${before.lastId}`, {}],
  ] as const) {
    const again = await follow(t, ada, query, headers)
    for (const id of missed) await again.has(id)
    const later = await happen(ada, 1)
    for (const id of later) await again.has(id)
    const told = again.ids.filter((id) => !first.includes(id))
    assert.deepEqual(told, [...missed, ...later], 'everything since, in order, once; before it perhaps repeats')
    missed.push(...later)
  }
})

test('a stream that broke before its first event loses nothing either', async (t) => {
  const ada = await world.account()
  const before = await follow(t, ada)
  await eventually(async () => before.lastId !== '', 'the place where the stream begins')
  before.close()
  const made = await happen(ada, 2)
  const again = await follow(t, ada, '', { 'last-event-id': before.lastId })
  for (const id of made) await again.has(id)
})

test('a long history is told in full and in order', async (t) => {
  const ada = await world.account()
  const count = 230
  const start = `${pastUuid(world.app.clock.nowMs() - 3_600_000)}000000000000`
  const ids = await insertEvents(ada, count, (i) => world.app.clock.nowMs() - 3_000_000 + i)
  const stream = await follow(t, ada, `?after=${idOf('event', start)}`)
  await stream.has(ids.at(-1) ?? '')
  assert.deepEqual(stream.ids, ids)
})

test('an event that commits after a later one is told all the same', async (t) => {
  const ada = await world.account()
  const stream = await follow(t, ada)
  const early = newUuid(world.app.clock.nowMs())
  const slow = lookInto(world)
  await slow.connect()
  await slow.query('begin')
  await insertEvent(slow, ada, early)
  const made = await happen(ada, 2)
  for (const id of made) await stream.has(id)
  assert.ok(!stream.ids.includes(idOf('event', early)))
  await slow.query('commit')
  await slow.end()
  await stream.has(idOf('event', early))
  const last = await happen(ada, 1)
  for (const id of last) await stream.has(id)
  assert.deepEqual(stream.ids, [...made, idOf('event', early), ...last], 'each of them once')
})

test('a stream that began while an event was being committed tells it', async (t) => {
  const ada = await world.account()
  const early = newUuid(world.app.clock.nowMs())
  const slow = lookInto(world)
  await slow.connect()
  await slow.query('begin')
  await insertEvent(slow, ada, early)
  const [known = ''] = await happen(ada, 1)
  const stream = await follow(t, ada)
  await slow.query('commit')
  await slow.end()
  await stream.has(idOf('event', early))
  assert.ok(!stream.ids.includes(known))
})

test('a stream ends with its key, and other streams of the account go on', async (t) => {
  const ada = await world.account()
  const { body: key } = await ada.client.post('/v1/api-keys', { name: 'Short-lived', scopes: ['events:read'] })
  const { body: narrow } = await ada.client.post('/v1/api-keys', { name: 'Narrowed', scopes: ['events:read'] })
  const [mine, theirs, narrowed] = [
    await follow(t, ada),
    await follow(t, { ...ada, key: key.key }),
    await follow(t, { ...ada, key: narrow.key }),
  ]
  await ada.client.delete(`/v1/api-keys/${key.id}`)
  await theirs.ended
  assert.match(theirs.text, /: the key was revoked on/)
  await ada.client.patch(`/v1/api-keys/${narrow.id}`, { scopes: ['sms:read'] })
  await narrowed.ended
  assert.match(narrowed.text, /: the scope events:read is missing/)
  for (const id of await happen(ada, 1)) await mine.has(id)
})

test('an account may follow ten streams at a time', async (t) => {
  const ada = await world.account()
  const open: StreamReader[] = []
  for (let i = 0; i < 10; i++) open.push(await follow(t, ada))
  const refused = await follow(t, ada)
  assert.equal(refused.status, 429)
  await refused.ended
  assert.equal(JSON.parse(refused.text).error.code, 'TOO_MANY_STREAMS')
  assert.ok(Number(refused.response.headers['retry-after']) > 0)
  open[0]?.close()
  await eventually(async () => {
    const again = await follow(t, ada)
    return again.status === 200
  }, 'room for another stream')
  assert.equal((await follow(t, await world.account())).status, 200)
})

test('what cannot be followed is refused before the stream begins', async (t) => {
  const ada = await world.account()
  for (const [query, headers, code] of [
    ['?events=nothing.happened', {}, 'INVALID_EVENT'],
    ['?after=x', {}, 'INVALID_REQUEST'],
    ['', { 'last-event-id': 'x' }, 'INVALID_REQUEST'],
    ['?foo=1', { 'pamoja-strict': 'true' }, 'INVALID_REQUEST'],
  ] as const) {
    const refused = await follow(t, ada, query, headers)
    await refused.ended
    assert.equal(refused.status, 400, query)
    assert.equal(JSON.parse(refused.text).error.code, code)
  }
  const head = await ada.client.request('HEAD', '/v1/events/stream')
  assert.equal(head.status, 200)
})

test('a stream is logged when it ends, with what it told', async (t) => {
  const ada = await world.account()
  const stream = await follow(t, ada)
  for (const id of await happen(ada, 2)) await stream.has(id)
  const id = stream.response.headers['x-request-id']
  assert.equal((await ada.client.get(`/v1/logs/${id}`)).status, 404)
  stream.close()
  const line = await eventually(async () => {
    const { status, body } = await ada.client.get(`/v1/logs/${id}`)
    return status === 200 && body
  }, 'the line in the request log')
  assert.equal(line.operation, 'events.stream')
  assert.equal(line.status, 200)
  assert.equal(line.response_body, '{"messages":2}')
})

test('whoever would rather ask than listen asks for what came after the last event they have', async () => {
  const ada = await world.account()
  const made = await happen(ada, 5)
  const { body: page } = await ada.client.get(`/v1/events?after=${made[0]}&limit=2`)
  assert.deepEqual(
    page.data.map(({ id }: { id: string }) => id),
    made.slice(1, 3),
  )
  const { body: next } = await ada.client.get(`/v1/events?after=${made[0]}&limit=2&cursor=${page.next_cursor}`)
  assert.deepEqual(
    next.data.map(({ id }: { id: string }) => id),
    made.slice(3, 5),
  )
  assert.equal(next.has_more, false)
  assert.deepEqual((await ada.client.get(`/v1/events?after=${made[4]}`)).body.data, [])
  assert.equal((await ada.client.get('/v1/events?after=x')).status, 400)
  for (const [words, count] of [
    ['apikey.*', 5],
    ['sms.*', 0],
    ['spam', 0],
  ] as const)
    assert.equal((await ada.client.get(`/v1/events?event=${words}`)).body.data.length, count, words)
  const typo = await ada.client.get('/v1/events?event=apikey.rovoked')
  assert.deepEqual([typo.status, typo.body.error.code], [400, 'INVALID_EVENT'])
  assert.equal((await ada.client.get(`/v1/events?after=${made[0]}&order=desc`)).status, 400)
})

test('what happened in a window of time is asked for by its beginning and its end, as the deliveries of a webhook are', async () => {
  const ada = await world.account()
  const ids: string[] = []
  const moments: string[] = []
  for (let hour = 0; hour < 3; hour++) {
    ids.push(...(await happen(ada, 1)))
    moments.push((await ada.client.get('/v1/events?limit=1')).body.data[0].created_at)
    await ada.client.post('/v1/sandbox/clock', { advance_seconds: 3_600 })
  }
  const [first = '', second = '', third = ''] = moments
  for (const [query, found] of [
    [`from=${second}`, ids.slice(1)],
    [`to=${second}`, ids.slice(0, 1)],
    [`from=${second}&to=${third}`, ids.slice(1, 2)],
    [`start_date=${second}&end_date=${third}`, ids.slice(1)],
    [`from=${first.slice(0, 10)}&to=${third.slice(0, 10)}`, ids],
    [`from=${first}&after=${ids[1]}`, ids.slice(2)],
  ] as const) {
    const { body } = await ada.client.get(`/v1/events?order=asc&${query}`)
    const told = body.data.map(({ id }: { id: string }) => id)
    assert.deepEqual(told, found, query)
  }
  for (const [query, code] of [
    [`from=${third}&to=${second}`, 'INVALID_DATE_RANGE'],
    ['to=yesterday', 'INVALID_DATE_RANGE'],
    [`from=${first}&end_date=${third}`, 'INVALID_REQUEST'],
  ]) {
    const refused = await ada.client.get(`/v1/events?${query}`)
    assert.deepEqual([refused.status, refused.body.error.code], [400, code], query)
  }
})

test('listening gives what an endpoint would receive, signed with the secret of callbacks', async (t) => {
  const ada = await world.account()
  const { body: secret } = await ada.client.get('/v1/webhooks/callback-secret')
  const stream = await follow(t, ada, '?events=apikey.*', {}, '/v1/webhooks/listen')
  assert.equal(stream.status, 200)
  const [id = ''] = await happen(ada, 1)
  const { event, data } = await stream.has(id)
  assert.equal(event, 'apikey.revoked')
  const { headers, body } = JSON.parse(data)
  assert.equal(headers['X-Service-Signature'], createHmac('sha256', secret.secret).update(body).digest('hex'))
  assert.equal(headers['X-Service-Event'], 'apikey.revoked')
  assert.equal(headers['X-Service-Event-Id'], id)
  assert.match(headers['X-Service-Delivery-Id'], /^dlv_[0-9a-z]{26}$/)
  assert.equal(headers['X-Service-Attempt'], '1')
  const key = Buffer.from(secret.secret.slice('whsec_'.length), 'base64')
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  assert.equal(headers['webhook-signature'], `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
  assert.equal(JSON.parse(body).event_id, id)
})

test('a node that stops ends its streams and does not wait for them', async (t) => {
  const other = await startWorld()
  const authority = other.node.caFile ? readFileSync(other.node.caFile, 'utf8') : null
  const ada = await other.account()
  const stream = await openStream(`${other.node.url}/v1/events/stream`, { key: ada.key, ca: authority })
  t.after(() => stream.close())
  await eventually(async () => stream.lastId !== '', 'the beginning of the stream')
  await other.stop()
  await stream.ended
  assert.match(stream.text, /: this node is stopping/)
})

async function follow(
  t: TestContext,
  { key }: Pick<Account, 'key'>,
  query = '',
  headers: Readonly<Record<string, string>> = {},
  path = '/v1/events/stream',
): Promise<StreamReader> {
  const stream = await openStream(`${world.node.url}${path}${query}`, { key, ca, headers })
  t.after(() => stream.close())
  return stream
}

/** Makes things happen to an account, and gives their events in order. */
async function happen(account: Account, count: number): Promise<string[]> {
  return revoke(account, await keysOf(account, count))
}

async function keysOf({ client }: Account, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < count; i++) ids.push((await client.post('/v1/api-keys', { name: `Key ${i}` })).body.id)
  return ids
}

async function revoke({ client }: Account, keys: readonly string[]): Promise<string[]> {
  const events: string[] = []
  for (const key of keys) {
    await client.delete(`/v1/api-keys/${key}`)
    events.push((await client.get(`/v1/events?resource_id=${key}`)).body.data[0].id)
  }
  return events
}

async function insertEvents(account: Account, count: number, atMs: (i: number) => number): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    const uuid = `${pastUuid(atMs(i))}${String(i).padStart(12, '0')}`
    ids.push(idOf('event', uuid))
    await insertEvent(sql, account, uuid)
  }
  return ids
}

/** All of a UUIDv7 of a moment but its last twelve digits. */
function pastUuid(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-`
}

async function insertEvent(client: pg.Client, { id }: Account, uuid: string): Promise<void> {
  const account = uuidOf('account', id) ?? ''
  await client.query(
    `insert into events.events (bucket, account_id, environment, id, type, resource_id, body, request_id)
     values ($1, $2, 'test', $3, 'apikey.revoked', 'key_x', $4, null)`,
    [Number.parseInt(account.slice(-2), 16), account, uuid, `{"event_id":"${idOf('event', uuid)}"}`],
  )
}
