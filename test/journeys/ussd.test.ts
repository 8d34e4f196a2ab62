// SPDX-License-Identifier: Apache-2.0
// A USSD session from a handset over SMPP to the account's application and back, and one that an application begins.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startMarket } from '../market.ts'
import { wallet } from '../paying.ts'
import { eventually } from '../world.ts'

const { world, receiver, sql } = await startMarket(0.04)

/** An application as Africa's Talking's customers have it. */
const menu: Readonly<Record<string, string>> = {
  '': 'CON Karibu\n1 Balance\n2 Exit',
  '1': 'CON Which account?',
  '1*7': 'END You have 70',
  '2': 'END Kwaheri',
}
receiver.answer((request, response) => {
  if (request.url === '/text')
    return void response.end(menu[new URLSearchParams(request.body).get('text') ?? ''] ?? 'END ?')
  if (request.url === '/inline') {
    const { input, step, data } = JSON.parse(request.body)
    response.setHeader('content-type', 'application/json')
    const message = step === 1 ? 'Welcome' : `You typed ${input}`
    return void response.end(
      JSON.stringify({ message, end_session: input === '9', data: { ...data, [`s${step}`]: input } }),
    )
  }
  response.end('ok')
})

let codes = 100
const newCode = () => `*${++codes}#`
let phones = 254711100000
const newPhone = () => `+${++phones}`

test('a subscriber dials a code, answers the screens of a CON/END application, and the account pays once', async () => {
  const { client } = await world.account({ balance: 10 })
  const shortcode = newCode()
  const made = await client.post('/v1/ussd/shortcodes', { shortcode, mode: 'text', url: receiver.url('/text') })
  assert.equal(made.status, 201, made.text)
  const first = await client.post('/v1/sandbox/ussd/dial', { phone: newPhone(), shortcode })
  assert.deepEqual(
    [first.status, first.body.message, first.body.action],
    [200, 'Karibu\n1 Balance\n2 Exit', 'continue'],
    first.text,
  )
  const { session_id } = first.body
  assert.match(session_id, /^uss_/)
  assert.deepEqual((await wallet(client)).held, 0.5, 'set aside while it lasts')
  const second = await client.post('/v1/sandbox/ussd/input', { session_id, input: '1' })
  assert.deepEqual([second.body.message, second.body.action], ['Which account?', 'continue'], second.text)
  const last = await client.post('/v1/sandbox/ussd/input', { session_id, input: '7' })
  assert.deepEqual([last.body.message, last.body.action], ['You have 70', 'end'], last.text)
  const { body: session } = await client.get(`/v1/ussd/sessions/${session_id}`)
  assert.deepEqual(
    [session.status, session.reason, session.total_steps, session.cost, session.direction, session.network],
    ['completed', 'completed', 3, 0.5, 'dial', 'Safaricom'],
  )
  assert.deepEqual(
    session.history.map(({ step, input, output }: Record<string, unknown>) => [step, input, output]),
    [
      [1, null, 'Karibu\n1 Balance\n2 Exit'],
      [2, '1', 'Which account?'],
      [3, '7', 'You have 70'],
    ],
  )
  const { balance, held } = await wallet(client)
  assert.deepEqual([balance, held], [9.5, 0])
  const told = (await client.get('/v1/events?limit=20')).body.data.map(({ event }: { event: string }) => event)
  assert.deepEqual(told.sort(), [
    'ussd.response',
    'ussd.response',
    'ussd.response',
    'ussd.session_ended',
    'ussd.session_started',
  ])
})

test('an application answers each ussd.response inline, and its data are kept with the session', async () => {
  const { client } = await world.account({ balance: 10 })
  const shortcode = newCode()
  await client.post('/v1/ussd/shortcodes', { shortcode, url: receiver.url('/inline') })
  const { body } = await client.post('/v1/sandbox/ussd/dial', { phone: newPhone(), shortcode })
  assert.equal(body.message, 'Welcome')
  const { session_id } = body
  const webhook = { url: receiver.url('/copies'), events: ['ussd.response'] }
  assert.equal((await client.post('/v1/webhooks', webhook)).status, 201)
  assert.equal((await client.post('/v1/sandbox/ussd/input', { session_id, input: '5' })).body.message, 'You typed 5')
  const { body: session } = await client.get(`/v1/ussd/sessions/${session_id}`)
  assert.deepEqual([session.status, session.data], ['active', { s1: null, s2: '5' }])
  const [stored] = (await sql.query('select data from ussd.sessions where session_id = $1', [session_id])).rows
  assert.ok(!stored.data.toString('latin1').includes('"s2"'), 'sealed where it is stored')
  const copy = await receiver.next('/copies')
  const asked = receiver.received.findLast(({ url }) => url === '/inline')
  const [told, question] = [JSON.parse(copy.body), JSON.parse(asked?.body ?? '{}')]
  assert.deepEqual([told.input, told.data], ['5', { s1: null }], 'a webhook gets the data')
  assert.deepEqual([told.event_id, told.data], [question.event_id, question.data])
  assert.equal(copy.headers['x-service-event-id'], asked?.headers['x-service-event-id'])
  const { body: again } = await client.get(`/v1/events/${told.event_id}`)
  assert.deepEqual(again.payload.data, { s1: null })
  const { body: log } = await client.get(`/v1/events?resource_id=${session_id}&event=ussd.response`)
  const [{ id: dlv, webhook_id }] = (await client.get(`/v1/events/${log.data[0].id}`)).body.deliveries
  const { body: sent } = await client.get(`/v1/webhooks/${webhook_id}/deliveries/${dlv}`)
  assert.deepEqual(JSON.parse(sent.request.body).data, { s1: null })
  await client.post(`/v1/webhooks/${webhook_id}/deliveries/${dlv}/redeliver`, {})
  assert.deepEqual(JSON.parse((await receiver.next('/copies')).body).data, { s1: null }, 'read from the table')
  const kept = await sql.query(
    `select 1 from events.events where body like '%"s1%' union all select 1 from platform.frames where answer like '%"s1%'`,
  )
  assert.deepEqual(kept.rows, [], 'nowhere in the clear')
  const over = await client.post('/v1/sandbox/ussd/input', { session_id, input: '9' })
  assert.deepEqual([over.body.message, over.body.action], ['You typed 9', 'end'])
})

test('an application that knows only the specification answers by POST continue', async () => {
  const { client } = await world.account({ balance: 10 })
  const phone = newPhone()
  const dialling = client.post('/v1/sandbox/ussd/dial', { phone, shortcode: '*7384#' })
  const asked = await eventually(async () => {
    const { body } = await client.get('/v1/events?type=ussd.response')
    return body.data[0]?.payload
  }, 'the first ussd.response')
  const next = { session_id: asked.session_id, input: '-', message: 'Hello\n1 Go on' }
  const shown = await client.post('/v1/ussd/continue', next)
  assert.deepEqual(
    [shown.status, shown.body.status, shown.body.step, shown.body.cost],
    [200, 'active', 1, 0],
    shown.text,
  )
  assert.equal((await dialling).body.message, 'Hello\n1 Go on')
})

test('a screen is pushed, the subscriber answers, and the application goes on and ends it', async () => {
  const { client } = await world.account({ balance: 10 })
  const asked = {
    phone: '+254722000001',
    shortcode: '*384*2#',
    message: '1 Yes\n2 No',
    session_id: 's-1',
    data: { a: 1 },
  }
  const pushed = await client.post('/v1/ussd/send', asked)
  assert.deepEqual([pushed.status, pushed.body.status, pushed.body.cost], [200, 'initiated', 0.5], pushed.text)
  assert.match(pushed.body.message_id, /^usm_/)
  const again = await client.post('/v1/ussd/send', asked)
  assert.deepEqual(
    [again.status, again.body.message_id],
    [200, pushed.body.message_id],
    'the same request, the same answer',
  )
  const other = await client.post('/v1/ussd/send', { ...asked, message: 'Other' })
  assert.deepEqual([other.status, other.body.error.code], [409, 'DUPLICATE_SESSION'])
  await eventually(async () => {
    const { body } = await client.get('/v1/events?type=ussd.response')
    return body.data[0]?.payload.input === '1'
  }, 'the answer')
  const more = await client.post('/v1/ussd/continue', {
    session_id: 's-1',
    input: '1',
    message: 'Thanks',
    end_session: true,
  })
  assert.deepEqual(
    [more.status, more.body.status, more.body.step, more.body.expires_at],
    [200, 'completed', 2, null],
    more.text,
  )
  const late = await client.post('/v1/ussd/continue', { session_id: 's-1', input: '1', message: 'x' })
  assert.deepEqual([late.status, late.body.error.code], [409, 'SESSION_ENDED'])
  assert.equal((await client.post('/v1/ussd/sessions/s-1/end', {})).body.status, 'completed')
  assert.equal((await client.post('/v1/ussd/s-1/end', {})).body.status, 'completed')
})

test('a session that nobody goes on with expires by the account’s clock, and is paid', async () => {
  const { client } = await world.account({ balance: 10 })
  await client.post('/v1/ussd/send', {
    phone: '+254722000002',
    shortcode: '*384*3#',
    message: 'Hello',
    session_id: 's-2',
  })
  await client.post('/v1/sandbox/clock', { advance_seconds: 88 })
  assert.equal((await client.get('/v1/ussd/sessions/s-2')).body.status, 'initiated')
  await client.post('/v1/sandbox/clock', { advance_seconds: 3 })
  const over = await eventually(async () => {
    const { body } = await client.get('/v1/ussd/sessions/s-2')
    return body.status === 'expired' && body
  }, 'the end of its time')
  assert.deepEqual([over.reason, over.expires_at], ['expired', null])
  for (const [path, body] of [
    ['/v1/ussd/continue', { session_id: 's-2', input: '1', message: 'x' }],
    ['/v1/ussd/sessions/s-2/end', {}],
  ] as const) {
    const refused = await client.post(path, body)
    assert.deepEqual([refused.status, refused.body.error.code], [409, 'SESSION_EXPIRED'])
  }
  const { balance, held } = await wallet(client)
  assert.deepEqual([balance, held], [9.5, 0])
})

test('an account without money begins nothing', async () => {
  const { client } = await world.account()
  const refused = await client.post('/v1/ussd/initiate', { phone: newPhone(), shortcode: '*384*4#', message: 'x' })
  assert.deepEqual([refused.status, refused.body.error.code], [402, 'INSUFFICIENT_BALANCE'])
  const dialled = await client.post('/v1/sandbox/ussd/dial', { phone: newPhone(), shortcode: '*384*4#' })
  assert.deepEqual([dialled.status, dialled.body.error.code], [402, 'INSUFFICIENT_BALANCE'])
  assert.deepEqual((await client.get('/v1/ussd/sessions')).body.data, [])
  assert.deepEqual((await client.get('/v1/events')).body.data, [])
})
