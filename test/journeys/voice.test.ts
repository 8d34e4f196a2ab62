// SPDX-License-Identifier: Apache-2.0
// Calls as a customer makes and takes them: over HTTPS, through real SIP and RTP, to phones of the sandbox.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setImmediate as aTurn } from 'node:timers/promises'
import { endUnplaced } from '../../src/areas/voice/customer/command-call.ts'
import { newCall } from '../../src/areas/voice/customer/create-call.ts'
import { placeJob } from '../../src/areas/voice/customer/place-call.ts'
import { soundReaderOf, speakersOf } from '../../src/areas/voice/engines/engines.ts'
import { simulatedCarrier } from '../../src/areas/voice/trunks/sandbox-carrier.ts'
import { telephoneNetworkOf } from '../../src/areas/voice/trunks/telephone-network.ts'
import { idOf } from '../../src/kernel/ids.ts'
import { tone } from '../../src/protocols/audio/tones.ts'
import { writeWav } from '../../src/protocols/audio/wav.ts'
import { hearsNow, withoutVoice } from '../hearing.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { type Account, eventually, startWorld, tenantOf, type World } from '../world.ts'

let world: World
let shop: Receiver

before(async () => {
  // A machine that does other things too is late, and takes calls all the same.
  world = await startWorld()
  shop = await startReceiver()
})
after(async () => {
  await shop?.stop()
  await world?.stop()
})

const from = '+254700000000'
const noVoice = withoutVoice()

async function call(ada: Account, wanted: object): Promise<string> {
  const { status, body } = await ada.client.post('/v1/voice/calls', { from, to: '+254711000020', ...wanted })
  assert.equal(status, 201, JSON.stringify(body))
  return body.call_id
}

async function callOf(ada: Account, id: string) {
  const { status, body } = await ada.client.get(`/v1/voice/${id}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

function until(ada: Account, id: string, status: string) {
  return eventually(async () => {
    const found = await callOf(ada, id)
    return found.status === status ? found : null
  }, `the call to be ${status}`)
}

function ended(ada: Account, id: string) {
  return eventually(async () => {
    const found = await callOf(ada, id)
    return found.ended_at ? found : null
  }, 'the call to end')
}

const wait = { action: 'wait', timeout: 7_000 }

test('a call that is open when the sandbox clock moves by days costs four hours, the longest that there is', async () => {
  // Enough for four hours, and not for five days.
  const ada = await world.account({ balance: 2_000 })
  const id = await call(ada, { actions: [wait] })
  await until(ada, id, 'answered')
  await ada.client.post('/v1/sandbox/clock', { advance_seconds: 5 * 86_400 })
  const over = await ended(ada, id)
  assert.deepEqual([over.duration, over.cost], [14_400, 1_440])
  const wallet = await ada.client.get('/v1/wallet/balance')
  assert.ok(Math.abs(wallet.body.balance - (2_000 - 1_440)) < 1e-6, JSON.stringify(wallet.body))
})

test('a call is answered, its events come in order, and it is charged by the second', async () => {
  const ada = await world.account({ balance: 100 })
  const id = await call(ada, { actions: [wait], event_url: shop.url('/order'), custom_data: { order: '77' } })
  const answered = await until(ada, id, 'answered')
  assert.deepEqual([answered.direction, answered.phase, answered.custom_data], ['outbound', 'flow', { order: '77' }])
  await ada.client.post('/v1/sandbox/clock', { advance_seconds: 90 })
  const { status, body } = await ada.client.post(`/v1/voice/${id}/hangup`, {})
  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual([body.status, body.hangup_cause, body.hangup_by], ['completed', 'normal', 'api'])
  assert.ok(body.duration >= 90 && body.duration < 120, `it lasted ${body.duration} s`)
  assert.equal(body.cost, body.duration / 10, 'six shillings a minute, by the second')
  const wallet = await ada.client.get('/v1/wallet/balance')
  assert.ok(Math.abs(wallet.body.balance - (100 - body.cost)) < 1e-6, JSON.stringify(wallet.body))
  const told = []
  for (let i = 0; i < 4; i++) {
    const { body: text } = await shop.next('/order')
    told.push(JSON.parse(text))
    assert.equal(JSON.stringify(told.at(-1)), text, 'a receiver that writes it again has the text that was signed')
  }
  const fields = ['status', 'duration', 'from', 'to', 'call_id', 'uuid', 'conversation_uuid', 'direction', 'sequence']
  assert.deepEqual(Object.keys(told[3]), [...fields, 'timestamp', 'reason', 'sip_code', 'cost', 'currency'])
  assert.deepEqual(
    told.map(({ status: said, sequence }) => [said, sequence]),
    [
      ['started', 1],
      ['ringing', 2],
      ['answered', 3],
      ['completed', 4],
    ],
  )
  const positions = async (query: string) =>
    (await ada.client.get(`/v1/voice/${id}/events${query}`)).body.data.map((one: { position: number }) => one.position)
  const inOrder = await positions('')
  assert.ok(inOrder.length > 2 && inOrder[0] < inOrder[1], 'what happened first is first')
  assert.deepEqual([await positions('?order=asc'), await positions('?order=desc')], [inOrder, inOrder.toReversed()])
  assert.deepEqual(await positions('?order=desc&limit=1'), inOrder.slice(-1))
  const [{ payload }] = (await ada.client.get('/v1/events?event=call.answered')).body.data
  assert.deepEqual([payload.status, payload.duration, payload.from, payload.to], ['answered', 0, from, answered.to])
  assert.deepEqual([told[3].call_id, told[3].uuid, told[3].reason, told[3].from], [id, id, 'normal', from])
  assert.equal((await ada.client.post(`/v1/voice/${id}/hangup`, {})).body.ended_at, body.ended_at)
})

test('the number decides what its phone does', async () => {
  const ada = await world.account({ balance: 100 })
  const table: [string, string, string, number | null][] = [
    ['+254711000002', 'busy', 'busy', 486],
    ['+254711000003', 'rejected', 'rejected', 603],
    ['+254711000005', 'failed', 'network_error', 500],
  ]
  for (const [to, status, cause, code] of table) {
    const found = await ended(ada, await call(ada, { to, actions: [wait] }))
    assert.deepEqual(
      [found.status, found.hangup_cause, found.sip_code, found.cost, found.duration],
      [status, cause, code, 0, 0],
      to,
    )
  }
  const silent = await call(ada, { to: '+254711000004', actions: [wait], ring_timeout: 30 })
  await until(ada, silent, 'ringing')
  await ada.client.post('/v1/sandbox/clock', { advance_seconds: 31 })
  const found = await ended(ada, silent)
  assert.deepEqual([found.status, found.hangup_cause], ['timeout', 'no_answer'])
  const left = await ended(ada, await call(ada, { to: '+254711000006', actions: [wait] }))
  assert.deepEqual([left.status, left.hangup_by, left.duration > 0], ['completed', 'callee', true])
  const { body } = await ada.client.get('/v1/wallet/balance')
  assert.equal(body.balance, 100 - left.cost)
})

test('answer_url gives the flow, keys go to eventUrl, and its answer replaces the flow', async () => {
  const ada = await world.account({ balance: 100 })
  shop.answer(({ url }, response) => {
    const reply = url.startsWith('/menu')
      ? [{ action: 'input', maxDigits: 2, timeOut: 20, eventUrl: [shop.url('/typed')] }, wait]
      : url.startsWith('/typed')
        ? [{ action: 'hangup' }]
        : []
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(reply))
  })
  const id = await call(ada, { answer_url: shop.url('/menu'), custom_data: { a: 1 } })
  const asked = JSON.parse((await shop.next('/menu')).body)
  assert.deepEqual([asked.call_id, asked.from, asked.direction, asked.custom_data], [id, from, 'outbound', { a: 1 }])
  await until(ada, id, 'answered')
  assert.equal((await ada.client.post(`/v1/sandbox/voice/${id}/input`, { dtmf: '42' })).status, 200)
  const typed = await shop.next('/typed')
  assert.match(String(typed.headers['x-service-signature']), /^[0-9a-f]{64}$/)
  const said = JSON.parse(typed.body)
  assert.deepEqual([said.dtmf, said.timed_out, said.call_id], ['42', false, id])
  const over = await ended(ada, id)
  assert.deepEqual([over.status, over.hangup_by], ['completed', 'system'])
  const titles = await eventually(async () => {
    const { body: timeline } = await ada.client.get(`/v1/voice/${id}/timeline`)
    const found: string[] = timeline.frames.map(({ title }: { title: string }) => title)
    return found.includes('voice.input') && found
  }, 'the requests to be in the timeline')
  const order = ['queued', 'voice.answer', 'voice.input', 'completed'].map((title) => titles.indexOf(title))
  assert.deepEqual(
    order,
    [...order].sort((a, b) => a - b),
    titles.join(),
  )
  assert.ok(
    order.every((place) => place >= 0),
    titles.join(),
  )
  const { body } = await ada.client.get(`/v1/voice/${id}/events?limit=200`)
  const kinds = body.data.map(({ kind }: { kind: string }) => kind)
  assert.ok(kinds.includes('flow') && kinds.includes('event'))
  shop.answer((_request, response) => void response.end('ok'))
})

test('a caller reaches the application of a number, and is recorded', async () => {
  const ada = await world.account({ balance: 100 })
  const number = '+254700111222'
  shop.answer(({ url }, response) =>
    response.end(
      url.startsWith('/voicemail')
        ? JSON.stringify([
            { action: 'record', beepStart: true, endOnKey: '#', timeOut: 60, eventUrl: [shop.url('/recorded')] },
            { action: 'hangup' },
          ])
        : 'ok',
    ),
  )
  const nobody = await ada.client.post('/v1/sandbox/voice/inbound', { from: '+254711000021', to: number })
  assert.deepEqual([nobody.status, nobody.body.error.code], [404, 'NOT_FOUND'])
  const path = `/v1/voice/numbers/${encodeURIComponent(number)}/assign`
  const assigned = await ada.client.post(path, { application: { answer_url: shop.url('/voicemail') } })
  assert.equal(assigned.status, 200, JSON.stringify(assigned.body))
  const came = await ada.client.post('/v1/sandbox/voice/inbound', { from: '+254711000021', to: number })
  assert.equal(came.status, 201, JSON.stringify(came.body))
  const id = came.body.call_id
  await until(ada, id, 'answered')
  // The beep is heard before the recording begins.
  await eventually(async () => {
    const { body } = await ada.client.get(`/v1/voice/${id}`)
    return body.recording_ids.length > 0
  }, 'the recording to begin')
  await ada.client.post(`/v1/sandbox/voice/${id}/input`, { dtmf: '#' })
  const told = JSON.parse((await shop.next('/recorded')).body)
  assert.match(told.recording_uuid, /^rec_/)
  assert.deepEqual([told.format, told.channels], ['wav', 1])
  const over = await ended(ada, id)
  assert.deepEqual([over.direction, over.status, over.recording_ids], ['inbound', 'completed', [told.recording_uuid]])
  const { pathname, search } = new URL(told.recording_url)
  assert.match((await world.stranger.get(pathname + search)).text, /^RIFF/)
  shop.answer((_request, response) => void response.end('ok'))
})

test('connect bridges two phones, and both legs are charged', async () => {
  const ada = await world.account({ balance: 100 })
  const endpoint = [{ type: 'phone', number: '+254711000031' }]
  const id = await call(ada, { actions: [{ action: 'connect', endpoint, eventUrl: [shop.url('/leg')] }] })
  const leg = JSON.parse((await shop.next('/leg')).body)
  assert.deepEqual([leg.status, leg.to], ['answered', '+254711000031'])
  await eventually(async () => (await callOf(ada, id)).phase === 'connected', 'the phones to be connected')
  await ada.client.post('/v1/sandbox/clock', { advance_seconds: 20 })
  const { body } = await ada.client.post(`/v1/voice/${id}/hangup`, {})
  assert.equal(body.status, 'completed')
  const left = JSON.parse((await shop.next('/leg')).body)
  assert.deepEqual([left.status, left.to, left.reason], ['completed', '+254711000031', 'normal'])
  assert.ok(left.duration >= 20 && left.duration <= body.duration, `the leg lasted ${left.duration} s`)
  const wallet = await eventually(async () => {
    const { body: now } = await ada.client.get('/v1/wallet/balance')
    return now.held === 0 || now.reserved === 0 || now.balance < 100 - body.cost ? now : null
  }, 'both legs to be paid')
  assert.ok(wallet.balance <= 100 - body.cost - 2, JSON.stringify(wallet))
})

test('connect reaches no number that is blocked and shows none of somebody else', async () => {
  const ada = await world.account({ balance: 100 })
  const eve = await world.account({ balance: 100 })
  const foreign = '+254700999111'
  const taken = await eve.client.post(`/v1/voice/numbers/${encodeURIComponent(foreign)}/assign`, {
    application: { answer_url: shop.url('/eve') },
  })
  assert.equal(taken.status, 200, JSON.stringify(taken.body))
  const blocked = { action: 'connect', endpoint: [{ type: 'phone', number: '+881612345678' }] }
  const endpoint = [{ type: 'phone', number: '+254711000021' }]
  const spoofed = { action: 'connect', endpoint, from: foreign }
  const eventUrl = [shop.url('/guarded')]
  const id = await call(ada, { actions: [{ ...blocked, eventUrl }, { ...spoofed, eventUrl }, { action: 'hangup' }] })
  for (let i = 0; i < 2; i++) {
    const { status, reason } = JSON.parse((await shop.next('/guarded')).body)
    assert.deepEqual([status, reason], ['failed', 'not_allowed'])
  }
  await ended(ada, id)
  const { body: trace } = await ada.client.get(`/v1/voice/${id}/events`)
  assert.match(JSON.stringify(trace), /DESTINATION_NOT_ALLOWED.*NUMBER_NOT_OWNED/)
})

test('connect goes on with the flow when nobody is there', async () => {
  const ada = await world.account({ balance: 100 })
  const endpoint = [{ type: 'phone', number: '+254711000002' }]
  const actions = [{ action: 'connect', endpoint, eventUrl: [shop.url('/nobody')] }, { action: 'hangup' }]
  const over = await ended(ada, await call(ada, { actions }))
  assert.equal(over.status, 'completed')
  const told = JSON.parse((await shop.next('/nobody')).body)
  assert.deepEqual([told.status, told.reason, told.duration], ['busy', 'busy', 0])
})

test('what is wrong with a request is said, and nothing is stored or charged', async () => {
  const ada = await world.account({ balance: 100 })
  const eve = await world.account({ balance: 100 })
  await eve.client.post(`/v1/voice/numbers/${encodeURIComponent('+254700999888')}/assign`, { application: null })
  const good = { from, to: '+254711000020', actions: [wait] }
  const table: [object, number, string][] = [
    [{ ...good, to: '0711000020' }, 422, 'INVALID_PHONE'],
    [{ ...good, from: 'ACME' }, 422, 'INVALID_PHONE'],
    [{ ...good, from: '+254700999888' }, 403, 'NUMBER_NOT_OWNED'],
    [{ ...good, to: '+8816123456' }, 403, 'DESTINATION_NOT_ALLOWED'],
    [{ ...good, event_url: 'http://example.com/x' }, 400, 'INVALID_URL'],
    [{ ...good, actions: undefined, answer_url: 'ftp://x' }, 400, 'INVALID_URL'],
    [{ ...good, actions: [{ action: 'dance' }] }, 422, 'INVALID_CALL_FLOW'],
    [{ ...good, actions: [{ action: 'talk' }] }, 422, 'INVALID_CALL_FLOW'],
    [{ ...good, actions: [{ action: 'talk', text: '<speak>open' }] }, 422, 'INVALID_CALL_FLOW'],
    [{ ...good, actions: [{ action: 'record', endOnSilence: 1 }] }, 422, 'INVALID_CALL_FLOW'],
    [{ ...good, actions: [] }, 422, 'VALIDATION_ERROR'],
    [{ ...good, actions: Array.from({ length: 51 }, () => wait) }, 422, 'VALIDATION_ERROR'],
    [{ from, to: good.to }, 422, 'VALIDATION_ERROR'],
    [{ ...good, tts: { text: 'Habari', language: 'sw-KE' } }, 422, 'VALIDATION_ERROR'],
    [{ ...good, actions: undefined, tts: { text: 'Hola', language: 'es-ES' } }, 422, 'UNSUPPORTED_LANGUAGE'],
    [{ ...good, actions: undefined, tts: { text: '<speak>open', language: 'sw-KE' } }, 422, 'VALIDATION_ERROR'],
    [{ ...good, actions: undefined, tts: { text: 'a'.repeat(3_001), language: 'sw-KE' } }, 422, 'VALIDATION_ERROR'],
    [{ ...good, ring_timeout: 4 }, 422, 'VALIDATION_ERROR'],
    [{ ...good, ring_timeout: 121 }, 422, 'VALIDATION_ERROR'],
    [{ ...good, machine_detection: 'maybe' }, 422, 'VALIDATION_ERROR'],
    [{ ...good, custom_data: { text: 'a'.repeat(4_096) } }, 422, 'VALIDATION_ERROR'],
    [{ ...good, scheduled_at: '2099-01-01T00:00:00Z' }, 422, 'VALIDATION_ERROR'],
  ]
  for (const [body, status, code] of table) {
    const reply = await ada.client.post('/v1/voice/calls', body)
    assert.deepEqual([reply.status, reply.body.error?.code], [status, code], JSON.stringify(body).slice(0, 200))
  }
  assert.equal((await ada.client.get('/v1/wallet/balance')).body.balance, 100)
  const poor = await world.account({ balance: 1 })
  const refused = await poor.client.post('/v1/voice/calls', good)
  assert.deepEqual([refused.status, refused.body.error.code], [402, 'INSUFFICIENT_BALANCE'])
  const { body: live } = await ada.client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
  const noTrunk = await world.stranger.as(live.key).post('/v1/voice/calls', good)
  assert.equal(noTrunk.status, 403, 'a live key owns no number that nobody gave it')
  for (const path of ['/v1/voice/call_01jb2c3d4e5f6g7h8j9kamnpqr', '/v1/voice/nonsense', '/v1/voice/nonsense/events'])
    assert.equal((await ada.client.get(path)).status, 404, path)
})

test('play needs a call that is answered, and takes one source', async () => {
  const ada = await world.account({ balance: 100 })
  const ringing = await call(ada, { to: '+254711000004', actions: [wait] })
  const early = await ada.client.post(`/v1/voice/${ringing}/play`, { url: shop.url('/x.wav') })
  assert.deepEqual([early.status, early.body.error.code], [409, 'CALL_NOT_ACTIVE'])
  assert.equal((await ada.client.delete(`/v1/voice/${ringing}/play`)).status, 409)
  for (const body of [{}, { text: 'a', url: shop.url('/x.wav') }, { text: 'a', loop: 51 }])
    assert.equal((await ada.client.post(`/v1/voice/${ringing}/play`, body)).status, 422, JSON.stringify(body))
  const cancelled = await ada.client.post(`/v1/voice/${ringing}/hangup`, {})
  assert.deepEqual(
    [cancelled.body.status, cancelled.body.hangup_cause, cancelled.body.cost],
    ['failed', 'cancelled', 0],
  )
})

test('a call that is hung up while its node places it is placed or ended, and never both', async () => {
  const { app } = world
  const { id, client } = await world.account({ balance: 100 })
  const tenant = tenantOf({ id })
  const { sessions } = telephoneNetworkOf(app)
  const run = { id: '', bucket: tenant.bucket, tenant, key: null, place: null, attempt: 1, failures: 0 }
  for (const isEndedFirst of [true, false, true, false]) {
    const nowMs = app.clock.nowMs()
    const occasion = { tenant, receivedMs: nowMs, nowMs, requestId: null }
    const plan = { actions: [wait] }
    const row = await app.db.tx(tenant, (tx) =>
      newCall(app, tx, occasion, { from, to: '+254711000004', plan, isPlaced: false }),
    )
    const end = () => endUnplaced(app, row, 'api')
    const place = () => placeJob.handle(app, { ...run, payload: { call: row.id } })
    const isEnded = await (isEndedFirst
      ? Promise.all([end(), place()]).then(([ended]) => ended)
      : Promise.all([place(), end()]).then(([, ended]) => ended))
    assert.equal(sessions.has(row.id), !isEnded, 'somebody has it, and one alone')
    const call_id = idOf('call', row.id)
    const { body } = await client.post(`/v1/voice/${call_id}/hangup`, {})
    assert.deepEqual([body.status, body.hangup_cause, body.cost], ['failed', 'cancelled', 0])
    await eventually(async () => !sessions.has(row.id), 'nobody to have it')
  }
  const { body } = await client.get('/v1/wallet/balance')
  assert.deepEqual([body.balance, body.held], [100, 0])
})

test('a call that is given up before it has its audio rings nobody', async () => {
  const { app } = world
  const ada = await world.account({ balance: 100 })
  const tenant = tenantOf(ada)
  const { sessions } = telephoneNetworkOf(app)
  const nowMs = app.clock.nowMs()
  const plan = { actions: [wait] }
  const row = await app.db.tx(tenant, (tx) =>
    newCall(
      app,
      tx,
      { tenant, receivedMs: nowMs, nowMs, requestId: null },
      {
        ...{ from, to: '+254711000004', plan, isPlaced: false },
      },
    ),
  )
  const run = { id: '', bucket: tenant.bucket, tenant, key: null, place: null, attempt: 1, failures: 0 }
  const placing = placeJob.handle(app, { ...run, payload: { call: row.id } })
  let session = sessions.get(row.id)
  while (!session) {
    await aTurn()
    session = sessions.get(row.id)
  }
  await session.shutDown()
  await placing
  // Whoever was rung before this one would have been told by now.
  await until(ada, await call(ada, { actions: [wait] }), 'answered')
  assert.equal(simulatedCarrier.of(app)?.heard(idOf('call', row.id)) ?? null, null)
  assert.equal((await callOf(ada, idOf('call', row.id))).status, 'failed')
})

test('what is played for some is heard by them, and DELETE stops all of it', async () => {
  const ada = await world.account({ balance: 100 })
  shop.answer((_request, response) => void response.end(writeWav([tone([700], 1_000)])))
  const id = await call(ada, { actions: [wait] })
  await until(ada, id, 'answered')
  const path = `/v1/voice/${id}/play`
  const hum = { url: shop.url('/hum.wav'), loop: 0 }
  const played = await ada.client.post(path, { ...hum, target: 'caller' })
  assert.deepEqual([played.status, played.body.status], [200, 'playing'], played.text)
  const heard = async () => {
    const { samples = new Int16Array() } = simulatedCarrier.of(world.app)?.heard(id) ?? {}
    return hearsNow(samples, 700)
  }
  await eventually(heard, 'the phone to hear it')
  const stopped = await ada.client.delete(path)
  assert.deepEqual([stopped.body.status, stopped.body.play_id], ['stopped', played.body.play_id], stopped.text)
  await eventually(async () => (await heard()) === false, 'the phone to hear it no more')
  // Nobody was rung into the call who could hear it.
  assert.equal((await ada.client.post(path, { ...hum, loop: 1, target: 'agent' })).status, 200)
  assert.equal((await ada.client.delete(path)).status, 200)
  assert.equal((await ada.client.delete(path)).body.play_id, null)
  await ada.client.post(`/v1/voice/${id}/hangup`, {})
})

test('a language without its region is spoken as in the first that is listed', async () => {
  const ada = await world.account({ balance: 100 })
  const placed = { from, to: '+254711000020' }
  for (const language of ['sw', 'en', 'zu'])
    assert.equal(
      (await ada.client.post('/v1/voice/calls', { ...placed, tts: { text: 'Habari', language } })).status,
      201,
    )
  const { status, body } = await ada.client.post('/v1/voice/calls', {
    ...placed,
    tts: { text: 'Hallo', language: 'de' },
  })
  assert.deepEqual([status, body.error.code], [422, 'UNSUPPORTED_LANGUAGE'])
  const { body: voices } = await ada.client.get('/v1/voice/tts/voices')
  assert.ok(voices.data.every(({ language }: { language: string }) => language.includes('-')))
})

test('tts speaks with the voice that was asked for', async () => {
  const ada = await world.account({ balance: 100 })
  for (const voice of ['female', 'male', 'unknown']) {
    const id = await call(ada, { tts: { text: 'Habari', language: 'sw-KE', voice } })
    await ended(ada, id)
    const { body } = await ada.client.get(`/v1/voice/${id}/events?limit=200`)
    const begun = body.data.find(({ data }: { data: { type?: string } }) => data.type === 'begin')
    assert.deepEqual(begun.data.actions, [{ action: 'talk', text: 'Habari', language: 'sw-KE', voice }])
  }
})

test('an answer_url that is wrong, huge or silent ends in an apology, after the fallback was asked', async () => {
  const ada = await world.account({ balance: 1_000 })
  const asked: string[] = []
  shop.answer(({ url }, response) => {
    asked.push(url)
    if (url === '/slow') return
    if (url === '/wrong') response.writeHead(500).end()
    else if (url === '/huge') response.end(`[${'1,'.repeat(40_000)}1]`)
    else if (url === '/fallback') response.end('not json')
    else response.end('ok')
  })
  const slow = await call(ada, { answer_url: shop.url('/slow'), actions: undefined })
  for (const path of ['/wrong', '/huge']) {
    asked.length = 0
    const id = await call(ada, { answer_url: shop.url(path), fallback_url: shop.url('/fallback') })
    await eventually(async () => asked.includes('/fallback'), 'the fallback to be asked')
    await ada.client.post('/v1/sandbox/clock', { advance_seconds: 60 })
    const over = await ended(ada, id)
    assert.deepEqual([over.status, over.hangup_cause, over.hangup_by], ['completed', 'flow_error', 'system'])
    assert.deepEqual(
      asked.filter((one) => one !== '/slow'),
      [path, path, '/fallback'],
    )
  }
  await eventually(async () => {
    // In small steps: the call costs money and may not last for hours.
    await ada.client.post('/v1/sandbox/clock', { advance_seconds: 3 })
    return (await callOf(ada, slow)).ended_at
  }, 'the call to a slow server to end')
  assert.equal((await callOf(ada, slow)).hangup_cause, 'flow_error')
  shop.answer((_request, response) => void response.end('ok'))
})

test('a call ends when the wallet no longer covers it', async () => {
  const ada = await world.account({ balance: 7 })
  const id = await call(ada, { actions: [wait] })
  await until(ada, id, 'answered')
  await ada.client.post('/v1/sandbox/clock', { advance_seconds: 50 })
  await eventually(async () => {
    await ada.client.post('/v1/sandbox/clock', { advance_seconds: 5 })
    return (await callOf(ada, id)).ended_at
  }, 'the call to end')
  const over = await callOf(ada, id)
  assert.deepEqual([over.status, over.hangup_cause], ['completed', 'insufficient_funds'])
  assert.ok(over.cost <= 7, `it cost ${over.cost}`)
  assert.ok((await ada.client.get('/v1/wallet/balance')).body.balance >= 0)
})

test('a wallet that is filled before its money is spent keeps the call, and its connect, going', async () => {
  const ada = await world.account({ balance: 14 })
  const endpoint = [{ type: 'phone', number: '+254711000031' }]
  const id = await call(ada, { actions: [{ action: 'connect', endpoint }, wait] })
  await eventually(async () => (await callOf(ada, id)).phase === 'connected', 'the phones to be connected')
  // Both now know that no more than a minute is covered.
  await ada.client.post('/v1/sandbox/clock', { advance_seconds: 40 })
  await world.operator.post(`/v1/operator/accounts/${ada.id}/credit`, {
    ...{ amount: 100, currency: 'KES', environment: 'test', reference: 'in time' },
  })
  await ada.client.post('/v1/sandbox/clock', { advance_seconds: 30 })
  await eventually(async () => (await ada.client.get('/v1/wallet/balance')).body.held > 24, 'more to be held for both')
  await ada.client.post('/v1/sandbox/clock', { advance_seconds: 30 })
  assert.equal((await callOf(ada, id)).phase, 'connected')
  const { body } = await ada.client.post(`/v1/voice/${id}/hangup`, {})
  assert.deepEqual([body.status, body.hangup_cause], ['completed', 'normal'])
  assert.ok(body.duration >= 100, `it lasted ${body.duration} s`)
})

test('a media worker that dies ends its calls, and the next call works', async () => {
  const ada = await world.account({ balance: 100 })
  const id = await call(ada, { actions: [wait] })
  await until(ada, id, 'answered')
  await telephoneNetworkOf(world.app).media.crash()
  const over = await ended(ada, id)
  assert.deepEqual([over.status, over.hangup_cause, over.hangup_by], ['completed', 'network_error', 'system'])
  await until(ada, await call(ada, { actions: [wait] }), 'answered')
})

test('a machine that answers is told from a person', async () => {
  const ada = await world.account({ balance: 100 })
  const machine = await call(ada, {
    to: '+254711000007',
    actions: [wait],
    machine_detection: 'hangup',
    event_url: shop.url('/who'),
  })
  const over = await ended(ada, machine)
  assert.deepEqual([over.status, over.hangup_by], ['completed', 'system'])
  const told = []
  for (let i = 0; i < 5; i++) told.push(JSON.parse((await shop.next('/who')).body))
  assert.deepEqual(
    told.map(({ machine: is }) => is).filter((is) => is !== undefined),
    [true],
  )
})

test('a message waits for the beep of a machine, and for a person who answers', async () => {
  const ada = await world.account({ balance: 100 })
  const leave = async (to: string, path: string) => {
    const notify = { action: 'notify', payload: {}, eventUrl: [shop.url(path)] }
    const detection = { machine_detection: 'leave_message', event_url: shop.url(`${path}-events`) }
    const id = await call(ada, { to, actions: [notify], ...detection })
    const { timestamp } = JSON.parse((await shop.next(path)).body)
    const { answered_at } = await ended(ada, id)
    const told = []
    while (told.at(-1)?.status !== 'completed') told.push(JSON.parse((await shop.next(`${path}-events`)).body))
    const found = told.flatMap(({ machine }) => (machine === undefined ? [] : [machine]))
    return { found, waitedMs: Date.parse(timestamp) - Date.parse(answered_at) }
  }
  const [machine, person] = await Promise.all([leave('+254711000007', '/machine'), leave('+254711000020', '/person')])
  assert.deepEqual([machine.found, person.found], [[true], [false]])
  // The greeting, its pause and its beep take 4.1 seconds.
  assert.ok(machine.waitedMs > 3_900, `the message began after ${machine.waitedMs} ms`)
})

test('what is spoken is heard by the phone, and what the phone says is recognised', { skip: noVoice }, async () => {
  const ada = await world.account({ balance: 100 })
  const speech = { language: 'en-KE', context: ['My Balance'] }
  const id = await call(ada, {
    actions: [
      { action: 'talk', text: 'Karibu.', language: 'sw-KE' },
      { action: 'input', type: ['speech'], speech, eventUrl: [shop.url('/said')] },
    ],
  })
  await until(ada, id, 'answered')
  const done = await eventually(async () => {
    const { status } = await ada.client.post(`/v1/sandbox/voice/${id}/input`, { speech: 'my balance' })
    return status === 200
  }, 'the flow to listen')
  assert.ok(done)
  const said = JSON.parse((await shop.next('/said')).body)
  assert.deepEqual(said.speech.results, [{ text: 'My Balance', confidence: 1 }])
  const heard = await ada.client.get(`/v1/sandbox/voice/${id}/heard`)
  assert.deepEqual([heard.status, heard.headers['content-type'], heard.text.slice(0, 4)], [200, 'audio/wav', 'RIFF'])
  await ended(ada, id)
  const { body } = await ada.client.get('/v1/voice/tts/voices?limit=200')
  assert.equal(new Set(body.data.map(({ language }: { language: string }) => language)).size, 19)
  assert.ok(body.data.every(({ available }: { available: boolean }) => available))
})

test('long speech is read in a process of its own; speech without end is an error of the flow', {
  skip: noVoice,
}, async () => {
  const ada = await world.account({ balance: 100 })
  const id = await call(ada, {
    actions: [
      { action: 'talk', text: `<speak>${'a<break time="99s"/>'.repeat(40)}</speak>`, language: 'en-US' },
      { action: 'talk', text: 'This sentence takes longer than a second or two to say.', language: 'en-US' },
      wait,
    ],
  })
  await eventually(async () => {
    const { body } = await ada.client.get(`/v1/voice/${id}/events?limit=200`)
    return JSON.stringify(body).includes('longer than 5 minutes')
  }, 'the long text to be refused')
  // What espeak-ng of the system says is read as a file; that of the registry says it in the process.
  const processes = () => [soundReaderOf(world.app), speakersOf(world.app)].flatMap((each) => each.pids())
  await eventually(async () => processes().length > 0, 'the other text to be read')
  await ada.client.post(`/v1/voice/${id}/hangup`)
})
