// SPDX-License-Identifier: Apache-2.0
// Gateways that speak HTTP, in three dialects: with a key, or by an address of their own that an operator gave them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from '../client.ts'
import { lookInto } from '../looking.ts'
import { startMarket } from '../market.ts'
import { wallet } from '../paying.ts'
import { priceLive } from '../texting.ts'
import { application, newCode, newPhone } from '../ussd.ts'
import { eventually } from '../world.ts'

const { world, receiver } = await startMarket(0.04)

const menu: Readonly<Record<string, string>> = { '': 'CON Karibu', '1': 'CON Which account?', '1*7': 'END You have 70' }
const asked: string[] = []
application(receiver, {
  '/text': ({ text, sessionId }) => {
    asked.push(`${sessionId} ${text}`)
    return menu[String(text)] ?? `CON ${text}`
  },
  '/on': ({ step }) => ({ message: `Screen ${step}` }),
})

async function shop(more: object) {
  const account = await world.account({ balance: 10 })
  const shortcode = newCode()
  const made = await account.client.post('/v1/ussd/shortcodes', { shortcode, ...more })
  assert.equal(made.status, 201, made.text)
  return { ...account, shortcode }
}

const textApp = () => shop({ mode: 'text', url: receiver.url('/text') })

function form(client: Client, path: string, fields: Record<string, string>) {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return client.request('POST', path, { raw: new URLSearchParams(fields).toString(), headers })
}

test('a gateway that speaks JSON brings a dial and answers, and repeats are answered alike', async () => {
  const { client, shortcode } = await textApp()
  const phone = newPhone()
  const call = (more: object) => client.post('/v1/ussd/callback', { phone, shortcode, ...more })
  const first = await call({ session_id: 'gw-1', type: 'initiation', input: null, network: 'MTN' })
  assert.deepEqual([first.status, first.body.action, first.body.message], [200, 'continue', 'Karibu'], first.text)
  assert.match(first.body.session_id, /^uss_/)
  assert.match(first.body.message_id, /^usm_/)
  const again = await call({ session_id: 'gw-1', type: 'initiation', input: null })
  assert.deepEqual([again.body.session_id, again.body.message_id], [first.body.session_id, first.body.message_id])
  const second = await call({ session_id: 'gw-1', type: 'response', input: '1', step: 1 })
  assert.equal(second.body.message, 'Which account?')
  const repeat = await call({ session_id: 'gw-1', type: 'response', input: '1', step: 1 })
  assert.deepEqual([repeat.body.message, repeat.body.message_id], ['Which account?', second.body.message_id])
  const last = await call({ session_id: first.body.session_id, type: 'response', input: '7', step: 2 })
  assert.deepEqual([last.body.action, last.body.message], ['end', 'You have 70'])
  assert.equal((await call({ session_id: 'gw-1', type: 'response', input: '7', step: 2 })).body.message, 'You have 70')
  const unmarked = await call({ session_id: 'gw-1', type: 'response', input: '7' })
  assert.deepEqual([unmarked.body.message, unmarked.body.message_id], ['You have 70', last.body.message_id])
  const other = await call({ session_id: 'gw-1', type: 'response', input: '6', step: 2 })
  assert.deepEqual([other.status, other.body.error.code], [409, 'SESSION_ENDED'], 'the same step with another text')
  const late = await call({ session_id: 'gw-1', type: 'response', input: '8', step: 3 })
  assert.deepEqual([late.status, late.body.error.code], [409, 'SESSION_ENDED'])
  const { body: session } = await client.get(`/v1/ussd/sessions/${first.body.session_id}`)
  assert.deepEqual([session.network, session.total_steps, session.reason], ['MTN', 3, 'completed'])
  assert.equal((await wallet(client)).balance, 9.5)
  assert.deepEqual(
    asked.filter((line) => line.startsWith(first.body.session_id)).map((line) => line.split(' ')[1]),
    ['', '1', '1*7'],
  )
})

test('a node goes on with the session whose screen it has just shown, unless that was moved on meanwhile', async (t) => {
  const { client, shortcode } = await textApp()
  const phone = newPhone()
  const database = lookInto(world)
  await database.connect()
  t.after(() => database.end())
  const call = (dialog: string, more: object) =>
    client.post('/v1/ussd/callback', { phone, shortcode, session_id: dialog, ...more })
  await call('gw-kept', { type: 'initiation', input: null })
  // It is not looked up again: its dialog could not be found.
  await database.query(`delete from ussd.dialogs where dialog = 'gw-kept'`)
  assert.equal((await call('gw-kept', { type: 'response', input: '1', step: 1 })).body.message, 'Which account?')

  await call('gw-moved', { type: 'initiation', input: null })
  await database.query(
    `update ussd.sessions set awaiting = 'nobody', status = 'expired', ended_at = now() where dialog = 'gw-moved'`,
  )
  const late = await call('gw-moved', { type: 'response', input: '1', step: 1 })
  assert.deepEqual([late.status, late.body.error?.code], [409, 'SESSION_EXPIRED'], late.text)
})

test('a gateway that speaks as Africa’s Talking does is answered CON and END', async () => {
  const { client, shortcode } = await textApp()
  const fields = { sessionId: 'ATUid_1', serviceCode: shortcode, phoneNumber: newPhone(), networkCode: '63902' }
  const first = await form(client, '/v1/ussd/callback', { ...fields, text: '' })
  assert.equal(first.text, 'CON Karibu')
  assert.match(first.headers['content-type'] ?? '', /^text\/plain/)
  assert.equal((await form(client, '/v1/ussd/callback', { ...fields, text: '1' })).text, 'CON Which account?')
  assert.equal((await form(client, '/v1/ussd/callback', { ...fields, text: '1' })).text, 'CON Which account?')
  assert.equal((await form(client, '/v1/ussd/callback', { ...fields, text: '1*7' })).text, 'END You have 70')
  assert.equal((await form(client, '/v1/ussd/callback', { ...fields, text: '1*7' })).text, 'END You have 70')
  const named = { ...fields, sessionId: 'ATUid_3', phoneNumber: newPhone() }
  await form(client, '/v1/ussd/callback', { ...named, text: '' })
  assert.equal((await form(client, '/v1/ussd/callback', { ...named, text: '1' })).text, 'CON Which account?')
  const words = await form(client, '/v1/ussd/callback', { ...named, text: '1*Ada Obi' })
  assert.equal(words.text, 'CON 1*Ada Obi', 'what is typed may be more than digits')
  const shortcut = { ...fields, sessionId: 'ATUid_2', phoneNumber: newPhone(), text: '1*7' }
  assert.equal((await form(client, '/v1/ussd/callback', shortcut)).text, 'END You have 70')
})

test('a gateway that speaks as Hubtel does keeps its state and its own session id', async () => {
  const { client, shortcode } = await textApp()
  const fields = {
    Mobile: newPhone().slice(1),
    SessionId: 'h-1',
    ServiceCode: shortcode,
    Operator: 'MTN',
    ClientState: 'abc',
  }
  const first = await client.post('/v1/ussd/callback', {
    ...fields,
    Type: 'Initiation',
    Message: shortcode,
    Sequence: 1,
  })
  const shown = ({ body }: { body: Record<string, unknown> }) => [
    body.SessionId,
    body.Type,
    body.Message,
    body.ClientState,
  ]
  assert.deepEqual(shown(first), ['h-1', 'response', 'Karibu', 'abc'])
  const second = { ...fields, Type: 'Response', Message: '1', Sequence: 2 }
  assert.deepEqual(shown(await client.post('/v1/ussd/callback', second)), ['h-1', 'response', 'Which account?', 'abc'])
  assert.deepEqual(shown(await client.post('/v1/ussd/callback', second)), ['h-1', 'response', 'Which account?', 'abc'])
  const last = { ...fields, Type: 'Response', Message: '7', Sequence: 3 }
  assert.deepEqual(shown(await client.post('/v1/ussd/callback', last)), ['h-1', 'release', 'You have 70', 'abc'])
})

test('a gateway tells that a session was released, or ran out of time', async () => {
  const { client, shortcode } = await shop({ url: receiver.url('/on') })
  for (const [kind, status, reason] of [
    ['release', 'completed', 'network_released'],
    ['timeout', 'expired', 'expired'],
  ] as const) {
    const phone = newPhone()
    const { body } = await client.post('/v1/ussd/callback', { phone, shortcode, type: 'initiation', input: null })
    const over = await client.post('/v1/ussd/callback', { phone, session_id: body.session_id, type: kind, input: null })
    assert.deepEqual([over.status, over.body.action], [200, 'end'])
    const { body: session } = await client.get(`/v1/ussd/sessions/${body.session_id}`)
    assert.deepEqual([session.status, session.reason], [status, reason])
  }
})

test('a gateway that waits gets the screen of an application that goes on by itself', async () => {
  const { client, shortcode } = await shop({})
  const phone = newPhone()
  const waiting = client.post('/v1/ussd/callback', {
    session_id: 'late-1',
    phone,
    shortcode,
    type: 'initiation',
    input: null,
  })
  const session_id = await eventually(
    async () => (await client.get('/v1/ussd/sessions')).body.data[0]?.session_id,
    'the session',
  )
  const next = await client.post('/v1/ussd/continue', {
    session_id,
    input: '-',
    message: 'By itself',
    end_session: true,
  })
  assert.equal(next.status, 200, next.text)
  assert.deepEqual([(await waiting).body.message, (await waiting).body.action], ['By itself', 'end'])
})

test('what a gateway says wrongly is refused, and begins nothing', async () => {
  const { client, shortcode } = await textApp()
  const phone = newPhone()
  for (const [body, status, code] of [
    [{ phone, shortcode }, 422, 'VALIDATION_ERROR'],
    [{ phone: '0711', shortcode, type: 'initiation' }, 422, 'INVALID_PHONE'],
    [{ phone, shortcode: '384', type: 'initiation' }, 422, 'INVALID_SHORTCODE'],
    [{ phone, type: 'response', input: '1' }, 422, 'VALIDATION_ERROR'],
    [{ phone, type: 'response', session_id: 'none', input: '1' }, 404, 'NOT_FOUND'],
    [{ phone, type: 'other', shortcode }, 422, 'VALIDATION_ERROR'],
    [{ Mobile: phone, SessionId: 'x', Type: 'Other', ServiceCode: shortcode }, 422, 'VALIDATION_ERROR'],
  ] as const) {
    const refused = await client.post('/v1/ussd/callback', body)
    assert.deepEqual([refused.status, refused.body.error?.code], [status, code], JSON.stringify(body))
  }
  assert.deepEqual((await client.get('/v1/ussd/sessions')).body.data, [])
  const { body: narrow } = await client.post('/v1/api-keys', { name: 'x', scopes: ['ussd:write'] })
  const call = { phone, shortcode, type: 'initiation', input: null }
  assert.equal((await world.stranger.as(narrow.key).post('/v1/ussd/callback', call)).status, 403)
})

test('a gateway of the operator has an address of its own, which brings dials to whoever has the code', async () => {
  const { client, shortcode } = await textApp()
  const { body: gateway, status } = await world.operator.post('/v1/operator/ussd/gateways', {
    name: 'Agg',
    environment: 'test',
  })
  assert.equal(status, 201)
  const path = new URL(gateway.url).pathname
  const fields = { sessionId: 'x-1', serviceCode: shortcode, phoneNumber: newPhone(), networkCode: '1' }
  assert.equal((await form(world.stranger, path, { ...fields, text: '' })).text, 'CON Karibu')
  assert.equal((await form(world.stranger, path, { ...fields, text: '1' })).text, 'CON Which account?')
  assert.equal((await client.get('/v1/ussd/sessions')).body.data.length, 1)
  const unknown = await form(world.stranger, path, { ...fields, sessionId: 'x-2', serviceCode: '*9#', text: '' })
  assert.deepEqual([unknown.status, unknown.body.error.code], [403, 'SHORTCODE_NOT_ALLOWED'])
  const wrong = await world.operator.post('/v1/operator/ussd/gateways', {
    name: 'x',
    environment: 'test',
    allowed_ips: ['x/9'],
  })
  assert.equal(wrong.status, 422)
  const far = { name: 'Far', environment: 'test', allowed_ips: ['192.0.2.0/24'] }
  const { body: closed } = await world.operator.post('/v1/operator/ussd/gateways', far)
  assert.equal((await form(world.stranger, new URL(closed.url).pathname, { ...fields, text: '' })).status, 404)
  const near = { name: 'Near', environment: 'test', allowed_ips: ['127.0.0.1', '::1'] }
  const { body: open } = await world.operator.post('/v1/operator/ussd/gateways', near)
  const dialled = { ...fields, phoneNumber: newPhone(), text: '' }
  assert.equal((await form(world.stranger, new URL(open.url).pathname, dialled)).text, 'CON Karibu')
  assert.equal((await world.operator.request('DELETE', `/v1/operator/ussd/gateways/${open.id}`)).status, 200)
  assert.equal((await form(world.stranger, new URL(open.url).pathname, dialled)).status, 404)
})

test('a live code is assigned by the operator, and pushes over it need a gateway that takes them', async () => {
  const { client, id } = await world.account({ balance: 10 })
  const { body: key } = await client.post('/v1/api-keys', { name: 'live', environment: 'live' })
  const live = world.stranger.as(key.key)
  const shortcode = newCode()
  const url = 'https://example.com/ussd'
  const refused = await live.post('/v1/ussd/shortcodes', { shortcode, mode: 'text', url })
  assert.deepEqual([refused.status, refused.body.error.code], [403, 'SHORTCODE_NOT_ALLOWED'])
  await priceLive(world, { area: 'ussd', unit: 'session', amount: 0.5 })
  const push = { phone: newPhone(), shortcode, message: 'Hello', session_id: 'live-1' }
  assert.equal((await live.post('/v1/ussd/send', push)).body.error.code, 'SHORTCODE_NOT_ALLOWED')
  const given = await world.operator.post('/v1/operator/ussd/shortcodes', { account_id: id, shortcode })
  assert.equal(given.status, 200, given.text)
  assert.equal((await world.operator.post('/v1/operator/ussd/shortcodes', { account_id: id, shortcode })).status, 409)
  assert.equal((await live.post('/v1/ussd/shortcodes', { shortcode, mode: 'text', url })).status, 201)
  assert.equal((await live.post('/v1/ussd/send', push)).body.error.code, 'PROVIDER_UNAVAILABLE')
})
