// SPDX-License-Identifier: Apache-2.0
// Calls whose audio goes to a customer's program by websocket: what the phone says arrives there, and what it sends is heard.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { simulatedCarrier } from '../../src/areas/voice/trunks/sandbox-carrier.ts'
import { telephoneNetworkOf } from '../../src/areas/voice/trunks/telephone-network.ts'
import { tone } from '../../src/protocols/audio/tones.ts'
import { fetchedFrom } from '../fetched.ts'
import { endless, hasHeard, hearsNow, hum } from '../hearing.ts'
import { lookInto } from '../looking.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { startVoiceProgram, type VoiceProgram } from '../voice-program.ts'
import { type Account, eventually, startWorld, type World } from '../world.ts'

let world: World
let shop: Receiver
let program: VoiceProgram
let secure: VoiceProgram
before(async () => {
  world = await startWorld({ PAMOJA_VOICE_MEDIA_TIMEOUT_SECONDS: 5 })
  shop = await startReceiver()
  program = await startVoiceProgram('plain')
  secure = await startVoiceProgram('secure')
})
after(async () => {
  await program?.stop()
  await secure?.stop()
  await shop?.stop()
  await world?.stop()
})

const from = '+254700000000'
const wait = { action: 'wait', timeout: 7_000 }
const websocket = (uri: string, more: object = {}) => ({ type: 'websocket', uri, ...more })
const connect = (uri: string, more: object = {}) => ({ action: 'connect', endpoint: [websocket(uri)], ...more })

async function call(ada: Account, actions: readonly object[], more: object = {}): Promise<string> {
  const wanted = { from, to: '+254711000020', actions, ...more }
  const { status, body } = await ada.client.post('/v1/voice/calls', wanted)
  assert.equal(status, 201, JSON.stringify(body))
  return body.call_id
}

function ended(ada: Account, id: string) {
  return eventually(async () => {
    const { body } = await ada.client.get(`/v1/voice/${id}`)
    return body.ended_at ? body : null
  }, 'the call to end')
}

async function next(path: string) {
  return JSON.parse((await shop.next(path)).body)
}

const carrier = () => simulatedCarrier.of(world.app) ?? assert.fail('no carrier')

const heardBy = (id: string) => carrier().heard(id)?.samples ?? new Int16Array()

/** Waits until the phone of a call has heard a hum, which may be over by then. */
function hears(id: string, hertz: number): Promise<unknown> {
  return eventually(async () => hasHeard(heardBy(id), hertz), `the phone to hear ${hertz} Hz`)
}

/** WAV file of a recording, once it is ready. */
async function recordingOf(ada: Account, id: string): Promise<Buffer> {
  const { file_url } = await eventually(async () => {
    const { body } = await ada.client.get(`/v1/voice/recording/${id}`)
    return body.status === 'ready' ? body : null
  }, 'the recording to be ready')
  return (await fetchedFrom(world, file_url)).bytes
}

/** Whether a hum is in a channel of a WAV file. */
function isIn(file: Buffer, channel: 0 | 1, hertz: number): boolean {
  const length = Math.floor((file.length - 44) / 4)
  return hasHeard(
    Int16Array.from({ length }, (_, i) => file.readInt16LE(44 + 4 * i + 2 * channel)),
    hertz,
  )
}

test('phone and program hear each other, keys are told, and the flow goes on when the program hangs up', async () => {
  const ada = await world.account({ balance: 100 })
  const endpoint = [websocket(program.uri('/agent?token=s3cret'), { headers: { customer: 'Ada', event: 'mine' } })]
  const asked = { action: 'connect', endpoint, record: true, eventUrl: [shop.url('/leg')] }
  const id = await call(ada, [asked, { action: 'notify', payload: { after: 1 }, eventUrl: [shop.url('/then')] }])
  const talk = await program.next()
  assert.equal(talk.path, '/agent?token=s3cret')
  assert.match(String(talk.headers['x-service-signature']), /^[0-9a-f]{64}$/)
  assert.equal(talk.headers['x-service-event'], 'voice.websocket')
  const hello = await talk.told('websocket:connected')
  const { body: now } = await ada.client.get(`/v1/voice/${id}`)
  assert.deepEqual(hello, {
    customer: 'Ada',
    event: 'websocket:connected',
    'content-type': 'audio/l16;rate=8000',
    call_id: id,
    conversation_uuid: now.conversation_uuid,
  })
  const answered = await next('/leg')
  assert.deepEqual([answered.status, answered.to], ['answered', program.uri('/agent')])
  carrier().say(id, hum(700), endless)
  await eventually(async () => hearsNow(talk.heard(8_000), 700), 'the program to hear the phone')
  assert.deepEqual([...new Set(talk.frames.map(({ length }) => length))], [320], 'frames of 20 ms')
  talk.say(tone([440], 20_000))
  await hears(id, 440)
  await ada.client.post(`/v1/sandbox/voice/${id}/input`, { dtmf: '5#' })
  await eventually(
    async () => talk.texts.filter(({ event }) => event === 'websocket:dtmf').length === 2,
    'the keys to be told',
  )
  assert.deepEqual(talk.texts.slice(1), [
    { event: 'websocket:dtmf', digit: '5' },
    { event: 'websocket:dtmf', digit: '#' },
  ])
  talk.socket.close(1_000)
  const over = await next('/leg')
  assert.deepEqual([over.status, over.reason, over.to], ['completed', 'normal', program.uri('/agent')])
  assert.deepEqual((await next('/then')).payload, { after: 1 })
  const done = await ended(ada, id)
  const file = await recordingOf(ada, done.recording_ids[0])
  assert.ok(isIn(file, 0, 700) && !isIn(file, 0, 440), 'the caller is on the left of the recording')
  assert.ok(isIn(file, 1, 440) && !isIn(file, 1, 700), 'and the program on the right')
  const wallet = await ada.client.get('/v1/wallet/balance')
  assert.deepEqual([wallet.body.balance, wallet.body.held], [100 - done.cost, 0], 'the websocket itself is free')
  const { text: trace } = await ada.client.get(`/v1/voice/${id}/events?limit=200`)
  assert.ok(trace.includes(program.uri('/agent')), 'the trace has its address')
  assert.doesNotMatch(trace, /s3cret|customer/, 'without what may be secret')
})

test('16,000 samples a second over TLS, and what waits to be played is cleared or told of', async () => {
  const ada = await world.account({ balance: 100 })
  const wide = { 'content-type': 'audio/l16;rate=16000' }
  const endpoint = [websocket(secure.uri('/bot'), wide)]
  const id = await call(ada, [{ action: 'connect', endpoint }])
  const talk = await secure.next()
  assert.equal((await talk.told('websocket:connected'))['content-type'], 'audio/l16;rate=16000')
  carrier().say(id, hum(700), endless)
  // 700 Hz at twice the rate is what 350 Hz is at the rate of telephones.
  await eventually(async () => hearsNow(talk.heard(8_000), 350), 'the program to hear the phone')
  assert.deepEqual([...new Set(talk.frames.map(({ length }) => length))], [640])
  // A second, as if spoken at the rate of telephones with half the frequency.
  talk.say(tone([220], 2_000))
  talk.tell({ action: 'notify', payload: { said: 'greeting' } })
  await hears(id, 440)
  assert.deepEqual((await talk.told('websocket:notify')).payload, { said: 'greeting' })
  for (let i = 0; i < 20; i++) talk.say(tone([330], 3_000))
  await hears(id, 660)
  talk.tell({ action: 'clear' })
  await talk.told('websocket:cleared')
  await eventually(async () => hearsNow(heardBy(id), 660) === false, 'the phone to hear it no more')
  await ada.client.post(`/v1/voice/${id}/hangup`, {})
  assert.equal(await talk.end(), 1_000)
  assert.deepEqual(talk.texts.at(-1), { event: 'websocket:disconnected' })
})

test('a program that cannot be reached is a callee that failed, and the reply decides what follows', async () => {
  const ada = await world.account({ balance: 100 })
  shop.answer((_request, response) => void response.end(JSON.stringify([{ action: 'hangup' }])))
  const stopped = await startVoiceProgram('plain')
  await stopped.stop()
  for (const uri of [stopped.uri('/'), program.uri('/refused'), program.uri('/silent')]) {
    const asked = { eventUrl: [shop.url('/decides')], eventType: 'synchronous' }
    const id = await call(ada, [connect(uri, asked), wait])
    const told = await next('/decides')
    assert.deepEqual([told.status, told.reason, told.duration], ['failed', 'network_error', 0], uri)
    const over = await ended(ada, id)
    assert.deepEqual([over.status, over.hangup_by], ['completed', 'system'], uri)
  }
  const first = await call(ada, [connect(program.uri('/refused')), { action: 'hangup' }])
  assert.equal((await ended(ada, first)).status, 'completed', 'without a reply the next action runs')
})

test('a connect that the database does not take is a callee that failed, and ends neither the call nor its node', async () => {
  const ada = await world.account({ balance: 100 })
  const sql = lookInto(world)
  await sql.connect()
  await sql.query(`alter table voice.calls add constraint nowhere check (to_number not like '%/nowhere') not valid`)
  try {
    const asked = connect(program.uri('/nowhere'), { eventUrl: [shop.url('/nowhere')] })
    const id = await call(ada, [asked, connect(program.uri('/somewhere'))])
    const told = await next('/nowhere')
    assert.deepEqual([told.status, told.reason, told.duration], ['failed', 'network_error', 0])
    const talk = await program.next()
    assert.equal(talk.path, '/somewhere', 'the flow goes on')
    await ada.client.post(`/v1/voice/${id}/hangup`, {})
    assert.equal((await ended(ada, id)).status, 'completed')
  } finally {
    await sql.query('alter table voice.calls drop constraint nowhere')
    await sql.end()
  }
})

test('of several endpoints the first to be up wins, and limit ends it', async () => {
  const ada = await world.account({ balance: 100 })
  const endpoint = [{ type: 'phone', number: '+254711000004' }, websocket(program.uri('/first'))]
  const id = await call(ada, [{ action: 'connect', endpoint, limit: 60 }, { action: 'hangup' }])
  const talk = await program.next()
  await talk.told('websocket:connected')
  await eventually(async () => talk.frames.length > 10, 'audio')
  await ada.client.post('/v1/sandbox/clock', { advance_seconds: 61 })
  assert.equal(await talk.end(), 1_000)
  assert.equal((await ended(ada, id)).status, 'completed')
})

test('the operator may set a price, which is charged for the websocket beside the call', async () => {
  const ada = await world.account({ balance: 100 })
  const { body: own } = await ada.client.get('/v1/account')
  const price = { area: 'voice', unit: 'websocket_minute', amount: 3, currency: 'KES', account_id: own.account_id }
  const set = await world.operator.post('/v1/operator/prices', price)
  assert.equal(set.status, 201, JSON.stringify(set.body))
  const id = await call(ada, [connect(program.uri('/dear'))])
  const talk = await program.next()
  await talk.told('websocket:connected')
  await eventually(async () => (await ada.client.get(`/v1/voice/${id}`)).body.phase === 'connected', 'the bridge')
  await ada.client.post('/v1/sandbox/clock', { advance_seconds: 60 })
  await ada.client.post(`/v1/voice/${id}/hangup`, {})
  const { cost } = await ended(ada, id)
  await eventually(async () => {
    const { body } = await ada.client.get('/v1/wallet/balance')
    const rest = 100 - cost - body.balance
    return body.held === 0 && rest >= 3 && rest < 6
  }, 'both to be paid')
})

test('messages that mean nothing are answered, and too many of them end the call', async () => {
  const ada = await world.account({ balance: 100 })
  const id = await call(ada, [connect(program.uri('/garbage'), { eventUrl: [shop.url('/garbage')] }), wait])
  const talk = await program.next()
  await talk.told('websocket:connected')
  talk.socket.send(Buffer.from([1, 2, 3]))
  talk.socket.send('nonsense')
  assert.match((await talk.told('websocket:error')).reason, /JSON object/)
  talk.say(tone([440], 5_000))
  await hears(id, 440)
  for (let i = 0; i < 110; i++) talk.socket.send(`{"action":"dance ${i}"}`)
  assert.equal(await talk.end(), 1_008)
  assert.equal((await next('/garbage')).status, 'answered')
  assert.deepEqual((await next('/garbage')).status, 'completed')
  const huge = await call(ada, [connect(program.uri('/huge')), { action: 'hangup' }])
  const other = await program.next()
  await other.told('websocket:connected')
  other.socket.send(Buffer.alloc(70_000))
  assert.equal(await other.end(), 1_009)
  assert.equal((await ended(ada, huge)).status, 'completed')
  await ada.client.post(`/v1/voice/${id}/hangup`, {})
})

test('a program that stalls is given up as a silent phone is, and the flow goes on', async () => {
  const ada = await world.account({ balance: 100 })
  const asked = connect(program.uri('/stalls'), { eventUrl: [shop.url('/stalls')] })
  const id = await call(ada, [asked, { action: 'hangup' }])
  const talk = await program.next()
  await talk.told('websocket:connected')
  assert.equal((await next('/stalls')).status, 'answered')
  talk.socket.pause()
  const over = await next('/stalls')
  assert.deepEqual([over.status, over.reason], ['completed', 'media_timeout'])
  assert.equal((await ended(ada, id)).hangup_cause, 'normal')
  talk.socket.terminate()
})

test('addresses that callbacks may not have are refused, in a request and in a flow', async () => {
  const ada = await world.account({ balance: 100 })
  const table: [string, number, string][] = [
    ['wss://169.254.169.254/latest', 400, 'INVALID_URL'],
    ['wss://metadata.google.internal/', 400, 'INVALID_URL'],
    ['ws://example.com/plain', 400, 'INVALID_URL'],
    ['wss://user:secret@example.com/', 400, 'INVALID_URL'],
    ['https://example.com/', 422, 'INVALID_CALL_FLOW'],
  ]
  for (const [uri, status, code] of table) {
    const reply = await ada.client.post('/v1/voice/calls', { from, to: '+254711000020', actions: [connect(uri)] })
    assert.deepEqual([reply.status, reply.body.error?.code], [status, code], uri)
  }
  const big = { ...websocket(program.uri('/big')), headers: { text: 'a'.repeat(4_096) } }
  const actions = [{ action: 'connect', endpoint: [big] }]
  const tooBig = await ada.client.post('/v1/voice/calls', { from, to: '+254711000020', actions })
  assert.deepEqual([tooBig.status, tooBig.body.error.code], [422, 'INVALID_CALL_FLOW'])
  shop.answer(({ url }, response) => {
    const flow = [connect('wss://169.254.169.254/', { eventUrl: [shop.url('/after')] }), { action: 'hangup' }]
    response.end(url.startsWith('/flow') ? JSON.stringify(flow) : 'ok')
  })
  const wanted = { from, to: '+254711000020', answer_url: shop.url('/flow'), event_url: shop.url('/told') }
  const { body } = await ada.client.post('/v1/voice/calls', wanted)
  const after = await next('/after')
  assert.deepEqual([after.status, after.reason], ['failed', 'not_allowed'])
  await ended(ada, body.call_id)
  const { body: trace } = await ada.client.get(`/v1/voice/${body.call_id}/events?limit=200`)
  assert.match(JSON.stringify(trace), /INVALID_URL/)
})

test('a media worker that crashes ends the call and its websocket', async () => {
  const ada = await world.account({ balance: 100 })
  const id = await call(ada, [connect(program.uri('/crash'))])
  const talk = await program.next()
  await talk.told('websocket:connected')
  await telephoneNetworkOf(world.app).media.crash()
  await talk.end()
  const over = await ended(ada, id)
  assert.deepEqual([over.status, over.hangup_cause], ['completed', 'network_error'])
})
