// SPDX-License-Identifier: Apache-2.0
// Recordings: both channels, their file at a signed address with ranges, erased by request and by time; and phones that fall
// silent in a call, or start anew while they hold it.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { liveCalls } from '../../src/areas/voice/area.ts'
import { retentionChore } from '../../src/areas/voice/recordings/ending.ts'
import { simulatedCarrier } from '../../src/areas/voice/trunks/sandbox-carrier.ts'
import { idOf, uuidOf } from '../../src/kernel/ids.ts'
import { tone } from '../../src/protocols/audio/tones.ts'
import { answerAudio } from '../../src/protocols/sdp/session-description.ts'
import { makeResponse, parseMessage, serialise } from '../../src/protocols/sip/message.ts'
import { fetchedFrom } from '../fetched.ts'
import { framesWith } from '../hearing.ts'
import { type Account, doChores, eventually, startWorld, tenantOf, type World } from '../world.ts'

let world: World
before(async () => {
  world = await startWorld({ PAMOJA_VOICE_MEDIA_TIMEOUT_SECONDS: 2 })
})
after(() => world?.stop())

const from = '+254700000000'
const wait = { action: 'wait', timeout: 7_000 }

const fetched = (url: string, headers: Record<string, string> = {}) => fetchedFrom(world, url, headers)

async function events(ada: Account, name: string) {
  const { body } = await ada.client.get('/v1/events?limit=100')
  return body.data.filter(({ event }: { event: string }) => event === name)
}

function recording(ada: Account, id: string, status: string) {
  return eventually(async () => {
    const { body } = await ada.client.get(`/v1/voice/recording/${id}`)
    return body.status === status ? body : null
  }, `the recording to be ${status}`)
}

/** Frames of one channel of a WAV file in which there is a hum. */
function inChannel(file: Buffer, channel: 0 | 1, hertz: number): number {
  const samples = Math.floor((file.length - 44) / 4)
  const all = Int16Array.from({ length: samples }, (_, i) => file.readInt16LE(44 + 4 * i + 2 * channel))
  return framesWith(all, hertz)
}

async function recordedCall(ada: Account): Promise<{ call: string; recording: string; other: string }> {
  const { body } = await ada.client.post('/v1/voice/calls', {
    from,
    to: '+254711000020',
    record: true,
    actions: [wait],
  })
  const call = body.call_id
  const id = await eventually(async () => {
    const { body: now } = await ada.client.get(`/v1/voice/${call}`)
    return now.recording_ids[0]
  }, 'the recording to begin')
  const leg = { to: { phone: '+254711000031' }, from, timeoutSeconds: 30, tag: null }
  const rung = await liveCalls(world.app).ring(tenantOf(ada), uuidOf('call', call) ?? '', leg)
  assert.ok('call' in rung)
  return { call, recording: id, other: idOf('call', rung.call) }
}

test('both sides of a call are on channels of their own, in a file that is fetched in parts', async () => {
  const ada = await world.account({ balance: 100 })
  const { call, recording: id, other } = await recordedCall(ada)
  const carrier = simulatedCarrier.of(world.app) ?? assert.fail('no carrier')
  const { body: during } = await ada.client.get(`/v1/voice/recording/${id}`)
  assert.deepEqual([during.status, during.file_url, during.channels, during.call_id], ['recording', null, 2, call])
  const busy = await ada.client.delete(`/v1/voice/recording/${id}`)
  assert.deepEqual([busy.status, busy.body.error.code], [409, 'CONFLICT'])
  carrier.say(call, tone([700], 60_000))
  // What the other phone hears of the caller has been recorded: a busy machine leaves frames out for both.
  const heard = () => framesWith(carrier.heard(other)?.samples ?? new Int16Array(0), 700)
  await eventually(async () => heard() >= 50, 'a second of the caller to be heard by the other phone')
  await ada.client.post(`/v1/voice/${call}/hangup`, {})
  const ready = await recording(ada, id, 'ready')
  assert.deepEqual([ready.format, ready.reason, ready.transcription.available], ['wav', null, false])
  const [told] = await events(ada, 'recording.ready')
  assert.deepEqual([told.payload.recording_id, told.payload.sha256], [id, ready.sha256])
  const whole = await fetched(ready.file_url)
  assert.deepEqual(
    [whole.status, whole.headers['content-type'], whole.bytes.length],
    [200, 'audio/wav', ready.size_bytes],
  )
  assert.equal(createHash('sha256').update(whole.bytes).digest('hex'), ready.sha256)
  assert.equal(whole.bytes.readUInt32LE(40), whole.bytes.length - 44, 'the head says how long it is')
  assert.ok(inChannel(whole.bytes, 0, 700) > 25, 'the caller is on the left')
  assert.ok(inChannel(whole.bytes, 1, 700) < 5, 'and not on the right')
  const ranges: [string, number, number][] = [
    ['bytes=0-9', 0, 10],
    ['bytes=40-99', 40, 100],
    ['bytes=1000-1999', 1_000, 2_000],
    ['bytes=-10', whole.bytes.length - 10, whole.bytes.length],
  ]
  for (const [range, first, end] of ranges) {
    const part = await fetched(ready.file_url, { range })
    assert.equal(part.status, 206, range)
    assert.deepEqual(part.bytes, whole.bytes.subarray(first, end), range)
  }
  assert.equal((await fetched(ready.file_url, { range: 'bytes=999999999-' })).status, 416)
})

test('an address that was not given, or is for another hour, leads nowhere; another account sees nothing', async () => {
  const ada = await world.account({ balance: 100 })
  const eve = await world.account({ balance: 100 })
  const { call, recording: id } = await recordedCall(ada)
  await ada.client.post(`/v1/voice/${call}/hangup`, {})
  const { file_url } = await recording(ada, id, 'ready')
  const url = new URL(file_url)
  const later = new URL(url)
  later.searchParams.set('exp', String(Number(url.searchParams.get('exp')) + 1))
  const unsigned = new URL(url)
  unsigned.searchParams.delete('sig')
  const wrong = new URL(url)
  wrong.searchParams.set('sig', 'zz')
  for (const { href } of [later, unsigned, wrong]) assert.equal((await fetched(href)).status, 404, href)
  assert.equal((await eve.client.get(`/v1/voice/recording/${id}`)).status, 404)
  assert.equal((await eve.client.delete(`/v1/voice/recording/${id}`)).status, 404)
  assert.equal((await ada.client.get('/v1/voice/recording/rec_nonsense')).status, 404)
})

test('a recording is erased by request, and by time; what is known of it stays', async () => {
  const ada = await world.account({ balance: 100 })
  const first = await recordedCall(ada)
  await ada.client.post(`/v1/voice/${first.call}/hangup`, {})
  const { file_url } = await recording(ada, first.recording, 'ready')
  const gone = await ada.client.delete(`/v1/voice/recording/${first.recording}`)
  assert.deepEqual(
    [gone.status, gone.body.status, gone.body.file_url, gone.body.reason],
    [200, 'deleted', null, 'deleted'],
  )
  assert.equal((await ada.client.delete(`/v1/voice/recording/${first.recording}`)).status, 200, 'twice is as well')
  assert.equal((await fetched(file_url)).status, 404)
  const second = await recordedCall(ada)
  await ada.client.post(`/v1/voice/${second.call}/hangup`, {})
  await recording(ada, second.recording, 'ready')
  await ada.client.post('/v1/sandbox/clock', { advance_seconds: 91 * 86_400 })
  await doChores(world.app, [retentionChore])
  assert.equal((await recording(ada, second.recording, 'deleted')).reason, 'retention')
  const told = await events(ada, 'recording.deleted')
  assert.deepEqual(told.map(({ payload }: { payload: { reason: string } }) => payload.reason).sort(), [
    'deleted',
    'retention',
  ])
})

test('a call whose phone falls silent ends, and is charged', async () => {
  const ada = await world.account({ balance: 100 })
  const { body } = await ada.client.post('/v1/voice/calls', { from, to: '+254711000009', actions: [wait] })
  const over = await eventually(async () => {
    const { body: now } = await ada.client.get(`/v1/voice/${body.call_id}`)
    return now.ended_at ? now : null
  }, 'the call to end')
  assert.deepEqual([over.status, over.hangup_cause, over.hangup_by], ['completed', 'media_timeout', 'system'])
  assert.ok(over.cost > 0)
})

test('a phone that holds its call is asked whether it is still there, and its leg ends when it knows nothing of it any more', async (t) => {
  const phone = await phoneThatHolds()
  t.after(() => phone.stop())
  const ada = await world.account({ balance: 100 })
  const endpoint = [{ type: 'sip', uri: `sip:holding@127.0.0.1:${phone.port};transport=tcp` }]
  const actions = [{ action: 'connect', endpoint }, wait]
  const { body } = await ada.client.post('/v1/voice/calls', { from, to: '+254711000020', actions })
  const legs = async () => {
    const { body: all } = await ada.client.get(`/v1/voice/calls?limit=10`)
    return all.data.filter(({ call_id }: { call_id: string }) => call_id !== body.call_id)
  }
  // It sends no audio for longer than a phone may be silent: what it answers keeps it.
  await eventually(async () => phone.asked() >= 3, 'the phone to be asked three times')
  assert.deepEqual(
    (await legs()).map(({ status }: { status: string }) => status),
    ['answered'],
  )
  phone.forget()
  const over = await eventually(
    async () => (await legs()).find(({ ended_at }: { ended_at: string }) => ended_at),
    'its end',
  )
  assert.deepEqual([over.status, over.hangup_cause, over.hangup_by], ['completed', 'network_error', 'system'])
  assert.equal((await ada.client.get(`/v1/voice/${body.call_id}`)).body.status, 'answered', 'the flow goes on')
  await ada.client.post(`/v1/voice/${body.call_id}/hangup`, {})
})

/** A phone that knows no session timers, answers over TCP and puts its caller on hold. */
async function phoneThatHolds() {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = Object(server.address())
  const own = { host: '127.0.0.1', port: 9, version: 1, direction: 'inactive' as const }
  let asked = 0
  let status = 200
  let line: Socket | null = null
  server.on('connection', (socket) => {
    line = socket
    socket.on('data', (bytes) => {
      const message = parseMessage(bytes)
      if (message.kind !== 'request' || message.method === 'ACK') return
      if (message.method === 'OPTIONS') asked++
      const response = makeResponse(message, status, 'holding')
      if (message.method !== 'INVITE') return void socket.write(serialise(response))
      response.headers.add('contact', `<sip:holding@127.0.0.1:${port};transport=tcp>`)
      response.headers.add('content-type', 'application/sdp')
      const held = answerAudio(message.body.toString(), own) ?? ''
      socket.write(serialise({ ...response, body: Buffer.from(held) }))
    })
  })
  /** It starts anew, and knows nothing of its call any more. */
  const forget = () => {
    status = 481
  }
  const stop = () => {
    line?.destroy()
    server.close()
  }
  return { port, asked: () => asked, forget, stop }
}
