// SPDX-License-Identifier: Apache-2.0
// What requests about USSD are refused for, whose codes are whose, lists and figures.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sealedChore } from '../../src/areas/events/retention.ts'
import { sessionChore } from '../../src/areas/ussd/retention.ts'
import { startMarket } from '../market.ts'
import { application, dial, ended, newCode, newPhone, type } from '../ussd.ts'
import { doChores, eventually } from '../world.ts'

const { world, sql, receiver } = await startMarket(0.04)
application(receiver, {
  '/three': ({ step }) => ({ message: `Screen ${step}\nmore`, end_session: Number(step) >= 3 }),
})

const push = { phone: '+254711000020', shortcode: '*384*1#', message: 'Hello', session_id: 's-1' }

const refusals: readonly (readonly [what: string, body: object, status: number, code: string])[] = [
  ['a phone that is none', { phone: '0711' }, 422, 'INVALID_PHONE'],
  ['a code that is none', { shortcode: '384' }, 422, 'INVALID_SHORTCODE'],
  ['a code that is too long', { shortcode: '*1234567#' }, 422, 'INVALID_SHORTCODE'],
  ['an empty screen', { message: '' }, 422, 'VALIDATION_ERROR'],
  ['a screen of 183 characters', { message: 'x'.repeat(183) }, 422, 'VALIDATION_ERROR'],
  ['a session id with a space', { session_id: 'a b' }, 422, 'VALIDATION_ERROR'],
  ['a session id of 65 characters', { session_id: 'x'.repeat(65) }, 422, 'VALIDATION_ERROR'],
  ['data of more than 4 KiB', { data: { x: 'x'.repeat(4_096) } }, 422, 'DATA_TOO_LARGE'],
  ['data that is a text', { data: 'x' }, 422, 'VALIDATION_ERROR'],
  ['data that is a list', { data: [1] }, 422, 'VALIDATION_ERROR'],
  ['data whose number would lose digits', { data: { a: [{ id: 2 ** 53 }] } }, 422, 'VALIDATION_ERROR'],
  ['a timeout of 9 seconds', { timeout: 9 }, 422, 'VALIDATION_ERROR'],
  ['a timeout of 181 seconds', { timeout: 181 }, 422, 'VALIDATION_ERROR'],
  ['a callback_url that is none', { callback_url: 'ftp://x' }, 400, 'INVALID_URL'],
]

test('what cannot be sent is refused with its code, and begins nothing', async () => {
  const { client } = await world.account({ balance: 10 })
  for (const [what, more, status, code] of refusals) {
    const { body, status: got } = await client.post('/v1/ussd/send', { ...push, ...more })
    assert.deepEqual([got, body.error?.code], [status, code], what)
  }
  const { phone: _, ...nobody } = push
  assert.equal((await client.post('/v1/ussd/send', nobody)).status, 422)
  assert.equal((await client.post('/v1/ussd/initiate', nobody)).status, 422)
  assert.deepEqual((await client.get('/v1/ussd/sessions')).body.data, [])
})

test('182 characters, 4,096 bytes of data and timeouts of 10 and 180 seconds are taken', async () => {
  const { client } = await world.account({ balance: 10 })
  const data = { x: 'x'.repeat(4_096 - '{"x":""}'.length) }
  const most = await client.post('/v1/ussd/send', { ...push, message: 'x'.repeat(182), data, timeout: 180 })
  assert.equal(most.status, 200, most.text)
  assert.deepEqual((await client.get('/v1/ussd/sessions/s-1')).body.data, data)
  const least = await client.post('/v1/ussd/initiate', { ...push, session_id: 's-2', phone: newPhone(), timeout: 10 })
  const { timestamp, expires_at } = least.body
  assert.equal(Date.parse(expires_at) - Date.parse(timestamp), 10_000)
})

test('initiate takes phone_number and makes the id', async () => {
  const { client } = await world.account({ balance: 10 })
  const body = { phone_number: newPhone(), shortcode: '*384#', message: 'Hello', metadata: { b: 1.5, a: 'x' } }
  const made = await client.post('/v1/ussd/initiate', body)
  assert.match(made.body.session_id, /^uss_/)
  const { body: session } = await client.get(`/v1/ussd/sessions/${made.body.session_id}`)
  assert.deepEqual([session.direction, session.status, session.metadata], ['push', 'initiated', { b: 1.5, a: 'x' }])
  assert.deepEqual([session.history[0].input, session.history[0].output], [null, 'Hello'])
  assert.equal(session.success, true)
})

test('a notice completes the session when it is shown', async () => {
  const { client } = await world.account({ balance: 10 })
  await client.post('/v1/ussd/send', { ...push, end_session: true })
  const session = await ended(client, 's-1')
  assert.deepEqual([session.status, session.reason, session.total_steps], ['completed', 'completed', 1])
})

test('in the sandbox an application goes on without waiting for the subscriber, and data are replaced or merged', async () => {
  const { client } = await world.account({ balance: 10 })
  await client.post('/v1/ussd/send', { ...push, data: { a: 1 } })
  const go = (more: object) =>
    client.post('/v1/ussd/continue', { session_id: 's-1', input: '1', message: 'Next', ...more })
  assert.deepEqual((await go({ data: { b: 2 }, data_merge: true })).body.data, { a: 1, b: 2 })
  assert.deepEqual((await go({ data: { c: 3 } })).body.data, { c: 3 })
  const { body } = await go({})
  assert.deepEqual([body.step, body.data, body.input], [4, { c: 3 }, '1'])
  for (const [more, code] of [
    [{ message: 'x'.repeat(183) }, 'VALIDATION_ERROR'],
    [{ data: { x: 'x'.repeat(5_000) } }, 'DATA_TOO_LARGE'],
    [{ data: { x: 'x'.repeat(4_090) }, data_merge: true }, 'DATA_TOO_LARGE'],
    [{ input: '' }, 'VALIDATION_ERROR'],
  ] as const)
    assert.equal((await go(more)).body.error?.code, code)
  const unknown = await client.post('/v1/ussd/continue', { session_id: 'none', input: '1', message: 'x' })
  assert.deepEqual([unknown.status, unknown.body.error.code], [404, 'NOT_FOUND'])
})

test('a session has at most 250 screens, the last of which ends it', async () => {
  const { client } = await world.account({ balance: 10 })
  await client.post('/v1/ussd/send', push)
  const next = { session_id: 's-1', input: '1', message: 'Round' }
  for (let step = 2; step < 250; step++)
    assert.equal((await client.post('/v1/ussd/continue', next)).body.status, 'active')
  const last = await client.post('/v1/ussd/continue', next)
  assert.deepEqual([last.body.step, last.body.status, last.body.end_session], [250, 'completed', true])
})

test('an end may have a last screen, and is the same however often it is asked for', async () => {
  const { client } = await world.account({ balance: 10 })
  await client.post('/v1/ussd/send', push)
  const over = await client.post('/v1/ussd/s-1/end', { message: 'Kwaheri' })
  assert.deepEqual([over.status, over.body.status, over.body.history.at(-1).output], [200, 'completed', 'Kwaheri'])
  const again = await client.post('/v1/ussd/sessions/s-1/end', { message: 'Other' })
  assert.deepEqual([again.status, again.body.history.length], [200, 2])
  assert.equal((await client.post('/v1/ussd/sessions/none/end', {})).status, 404)
})

test('a code that another account registered is not yours, nor can it be registered twice', async () => {
  const ada = await world.account({ balance: 10 })
  const eve = await world.account({ balance: 10 })
  const shortcode = newCode()
  await ada.client.post('/v1/ussd/shortcodes', { shortcode, url: receiver.url('/three') })
  const taken = await eve.client.post('/v1/ussd/shortcodes', { shortcode, url: receiver.url('/three') })
  assert.deepEqual([taken.status, taken.body.error.code], [409, 'CONFLICT'])
  const dialled = await dial(eve.client, shortcode)
  assert.deepEqual([dialled.status, dialled.body.error.code], [403, 'SHORTCODE_NOT_ALLOWED'])
  const sent = await eve.client.post('/v1/ussd/send', { ...push, shortcode })
  assert.deepEqual([sent.status, sent.body.error.code], [403, 'SHORTCODE_NOT_ALLOWED'])
  assert.equal((await eve.client.get(`/v1/ussd/shortcodes/${encodeURIComponent(shortcode)}`)).status, 404)
})

test('a shortcode is made, changed, listed and given up', async () => {
  const { client } = await world.account({ balance: 10 })
  const shortcode = newCode()
  const path = `/v1/ussd/shortcodes/${encodeURIComponent(shortcode)}`
  for (const [more, code] of [
    [{ mode: 'text' }, 'VALIDATION_ERROR'],
    [{ mode: 'menu' }, 'VALIDATION_ERROR'],
    [{ mode: 'menu', menu_id: 'usn_00000000000000000000000000' }, 'VALIDATION_ERROR'],
    [{ url: 'ftp://x' }, 'INVALID_URL'],
    [{ network_limit: 61 }, 'VALIDATION_ERROR'],
    [{ resume_window: 3_601 }, 'VALIDATION_ERROR'],
  ] as const)
    assert.equal(
      (await client.post('/v1/ussd/shortcodes', { shortcode, ...more })).body.error?.code,
      code,
      JSON.stringify(more),
    )
  const { body: made } = await client.post('/v1/ussd/shortcodes', { shortcode })
  assert.deepEqual(
    [made.mode, made.timeout, made.network_limit, made.resume_window, made.pages],
    ['webhook', 90, 10, 0, { more: 'More', back: 'Back' }],
  )
  const { body: changed } = await client.patch(path, { timeout: 30, pages: { more: 'Zaidi', back: 'Rudi' } })
  assert.deepEqual([changed.timeout, changed.pages], [30, { more: 'Zaidi', back: 'Rudi' }])
  assert.deepEqual(
    (await client.get('/v1/ussd/shortcodes')).body.data.map((row: { shortcode: string }) => row.shortcode),
    [shortcode],
  )
  assert.equal((await client.request('DELETE', path)).body.deleted, true)
  assert.equal((await client.get(path)).status, 404)
})

test('lists are filtered, and figures tell where subscribers left and which ways they went', async () => {
  const { client } = await world.account({ balance: 10 })
  const shortcode = newCode()
  await client.post('/v1/ussd/shortcodes', { shortcode, url: receiver.url('/three') })
  const caller = newPhone()
  for (const phone of [caller, newPhone()]) {
    const { body } = await dial(client, shortcode, phone)
    await type(client, body.session_id, '1')
    await type(client, body.session_id, '2')
  }
  const { body: left } = await dial(client, shortcode)
  await type(client, left.session_id, '9')
  await client.post('/v1/sandbox/ussd/cancel', { session_id: left.session_id })
  await ended(client, left.session_id)
  const rows = async (query: string) => (await client.get(`/v1/ussd/sessions?${query}`)).body.data.length
  assert.equal(await rows('limit=10'), 3)
  assert.equal(await rows('reason=user_cancelled'), 1)
  assert.equal(await rows(`phone=${encodeURIComponent(caller)}`), 1)
  assert.equal(await rows(`phone=${caller}`), 1, 'a plus sign need not be escaped')
  assert.equal(await rows('status=expired'), 0)
  assert.equal(await rows(`shortcode=${encodeURIComponent(shortcode)}&status=completed`), 3)
  assert.equal(await rows('start_date=2020-01-01&end_date=2020-01-02'), 0)
  const figures = await eventually(async () => {
    const { body } = await client.get(`/v1/ussd/analytics?shortcode=${encodeURIComponent(shortcode)}&interval=day`)
    return body.sessions === 3 && body
  }, 'the figures')
  assert.equal(figures.completion_rate, 66.7)
  assert.equal(figures.error_rate, 0)
  assert.deepEqual(figures.popular_paths[0], { path: '1>2', count: 2 })
  assert.deepEqual(figures.drop_off, [{ step: 2, screen: 'Screen 2', sessions: 1, rate: 33.3 }])
  assert.equal(figures.networks[0].sessions, 3)
  assert.equal(figures.series[0].sessions, 3)
  assert.equal(typeof figures.app_latency.p50, 'number')
  const { body: two } = await client.get('/v1/ussd/analytics?metrics=sessions,avg_duration')
  assert.deepEqual(Object.keys(two.data).sort(), ['avg_duration', 'period', 'popular_paths', 'sessions', 'shortcode'])
  const unknown = await client.get('/v1/ussd/analytics?metrics=sessions,luck')
  assert.deepEqual([unknown.status, unknown.body.error.code], [400, 'INVALID_REQUEST'])
  const dates = await client.get('/v1/ussd/analytics?start_date=2026-02-01&end_date=2026-01-01')
  assert.deepEqual([dates.status, dates.body.error.code], [400, 'INVALID_DATE_RANGE'])
})

test('data are sealed in the session and its events, wiped a day after the end, and the whole session after 90 days', async () => {
  const { client } = await world.account({ balance: 10 })
  const push = { phone: newPhone(), shortcode: newCode(), message: 'Bye', data: { pin: 'secret' }, end_session: true }
  const { body } = await client.post('/v1/ussd/initiate', push)
  await eventually(async () => {
    const { status } = (await client.get(`/v1/ussd/sessions/${body.session_id}`)).body
    return status === 'completed'
  }, 'the end')
  const after = async (days: number) => {
    const nowMs = world.app.clock.nowMs() + days * 86_400_000
    await doChores({ ...world.app, clock: { nowMs: () => nowMs } }, [sessionChore, sealedChore])
    return client.get(`/v1/ussd/sessions/${body.session_id}`)
  }
  const told = async () => {
    const { body: page } = await client.get(`/v1/events?event=ussd.*&resource_id=${body.session_id}`)
    const payloads = page.data.map(({ payload }: { payload: object }) => payload)
    const [first] = page.data
    const { body: one } = await client.get(`/v1/events/${first.id}`)
    assert.deepEqual(one.payload, first.payload)
    return payloads.map(({ event, data }: { event: string; data: object }) => [event, data])
  }
  const pin = { pin: 'secret' }
  assert.deepEqual((await after(0.5)).body.data, pin)
  assert.deepEqual(await told(), [
    ['ussd.session_ended', pin],
    ['ussd.session_started', pin],
  ])
  const stored = async () => {
    const { rows } = await sql.query('select body from events.events where resource_id = $1', [body.session_id])
    return rows.map((row) => row.body).join()
  }
  assert.doesNotMatch(await stored(), /secret|pin/)
  assert.match(await stored(), /"data":\{"sealed":"/)
  // One from before there were sealed ones is wiped too.
  const plain = body.session_id.replace('uss_', 'old_')
  await sql.query(
    `insert into events.events (bucket, account_id, environment, id, type, resource_id, body)
     select bucket, account_id, environment, overlay(id::text placing 'ffff' from 20)::uuid, type, $2,
            '{"event":"ussd.response","data":{"pin":{"is":"secret"}},"step":1}'
       from events.events where resource_id = $1 and type = 'ussd.session_ended'`,
    [body.session_id, plain],
  )
  assert.deepEqual((await after(1.5)).body.data, {})
  assert.deepEqual(await told(), [
    ['ussd.session_ended', {}],
    ['ussd.session_started', {}],
  ])
  const { rows } = await sql.query('select body from events.events where resource_id = $1', [plain])
  assert.deepEqual(JSON.parse(rows[0].body), { event: 'ussd.response', data: {}, step: 1 })
  assert.doesNotMatch(await stored(), /sealed/)
  assert.equal((await after(89)).status, 200)
  assert.equal((await after(91)).status, 404)
})
