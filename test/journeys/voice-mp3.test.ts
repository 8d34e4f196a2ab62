// SPDX-License-Identifier: Apache-2.0
// Recordings as MP3: made from the stored samples after the recording, told of when they are there, read by another decoder;
// never lost when the encoder or its node dies, and refused at once where there is no encoder.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { MPEGDecoder } from 'mpg123-decoder'
import { mp3Problem } from '../../src/areas/voice/engines/mp3-encoding.ts'
import { encodeJob } from '../../src/areas/voice/recordings/encode.ts'
import { findRecording } from '../../src/areas/voice/recordings/store.ts'
import { simulatedCarrier } from '../../src/areas/voice/trunks/sandbox-carrier.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { share, tone } from '../../src/protocols/audio/tones.ts'
import { fetchedFrom } from '../fetched.ts'
import { lookInto } from '../looking.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { type Account, eventually, startWorld, tenantOf, type World } from '../world.ts'

let world: World
let shop: Receiver
before(async () => {
  world = await startWorld()
  shop = await startReceiver()
})
after(async () => {
  await shop?.stop()
  await world?.stop()
})

const from = '+254700000000'
const to = '+254711000020'
const carrier = () => simulatedCarrier.of(world.app) ?? assert.fail('no carrier')

const fetched = (url: string, headers: Record<string, string> = {}) => fetchedFrom(world, url, headers)

/** Sound of an MP3 file, as the decoder that plays customers' files reads it. */
async function decoded(file: Buffer): Promise<{ channels: Int16Array[]; rate: number; length: number }> {
  const decoder = new MPEGDecoder()
  await decoder.ready
  try {
    const { channelData, samplesDecoded, sampleRate } = decoder.decode(file)
    const channels = channelData.map((data) => Int16Array.from(data.subarray(0, samplesDecoded), (x) => x * 32_767))
    return { channels, rate: sampleRate, length: samplesDecoded }
  } finally {
    decoder.free()
  }
}

/** A call that is recorded while its phone hums, until its key is pressed. */
async function recorded(ada: Account, more: object = {}): Promise<{ call: string; id: string }> {
  const record = { action: 'record', format: 'mp3', endOnKey: '#', timeOut: 60, ...more }
  const actions = [record, { action: 'wait', timeout: 60 }]
  const { status, body } = await ada.client.post('/v1/voice/calls', { from, to, actions })
  assert.equal(status, 201, JSON.stringify(body))
  const call = body.call_id
  const id = await eventually(
    async () => (await ada.client.get(`/v1/voice/${call}`)).body.recording_ids[0],
    'the recording to begin',
  )
  carrier().say(call, tone([700], 20_000))
  await eventually(async () => (carrier().heard(call)?.samples.length ?? 0) > 16_000, 'two seconds of the call')
  return { call, id }
}

async function finished(ada: Account, { call, id }: { call: string; id: string }) {
  await ada.client.post(`/v1/sandbox/voice/${call}/input`, { dtmf: '#' })
  return eventually(async () => {
    const { body } = await ada.client.get(`/v1/voice/recording/${id}`)
    return body.status === 'ready' ? body : null
  }, 'the recording to be ready')
}

test('a recording is told of as MP3, and another decoder hears the same for as long', async () => {
  const ada = await world.account({ balance: 100 })
  for (const channels of [1, 2]) {
    const under = await recorded(ada, { channels, eventUrl: [shop.url(`/mp3-${channels}`)] })
    const ready = await finished(ada, under)
    const told = JSON.parse((await shop.next(`/mp3-${channels}`)).body)
    assert.deepEqual(
      [told.recording_uuid, told.format, told.channels, told.size, told.duration, told.call_id],
      [under.id, 'mp3', channels, ready.size_bytes, ready.duration, under.call],
    )
    assert.match(told.recording_url, /\.mp3\?exp=/)
    const file = await fetched(told.recording_url)
    assert.deepEqual([file.status, file.headers['content-type']], [200, 'audio/mpeg'])
    assert.match(String(file.headers['content-disposition']), new RegExp(`${under.id}\\.mp3`))
    assert.equal(file.bytes.length, ready.size_bytes)
    assert.equal(createHash('sha256').update(file.bytes).digest('hex'), ready.sha256)
    const part = await fetched(told.recording_url, { range: 'bytes=100-199' })
    assert.deepEqual([part.status, part.bytes], [206, file.bytes.subarray(100, 200)])
    const sound = await decoded(file.bytes)
    assert.equal(sound.rate, 8_000)
    assert.ok(Math.abs(sound.length / 8_000 - ready.duration) <= 0.5, `${sound.length} samples, ${ready.duration} s`)
    assert.equal(sound.length % 160, 0, 'whole frames of 20 ms, without what an encoder adds')
    // A crowded machine leaves gaps: a quarter of a second without one is somewhere.
    const heard = Array.from({ length: Math.floor(sound.length / 2_000) }, (_, i) =>
      sound.channels.map((channel) => share(channel.subarray(i * 2_000, (i + 1) * 2_000), 700)),
    )
    const [left, right] = heard.sort(([a = 0], [b = 0]) => b - a)[0] ?? []
    assert.ok((left ?? 0) > 0.8, 'the phone hums')
    if (channels === 2) assert.ok((right ?? 1) < 0.2, 'on the left alone')
    const wav = await fetched(told.recording_url.replace('.mp3', '.wav'))
    assert.equal(wav.status, 404)
    await ada.client.post(`/v1/voice/${under.call}/hangup`, {})
  }
  const { body } = await ada.client.get('/v1/events?event=recording.ready')
  assert.deepEqual(
    body.data.map(({ payload }: { payload: { format: string } }) => payload.format),
    ['mp3', 'mp3'],
  )
})

/** Makes the database refuse the file of an MP3. */
async function refusing(work: () => Promise<void>): Promise<void> {
  const database = lookInto(world)
  await database.connect()
  try {
    await database.query(`
      create function public.refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
      create trigger refuse before insert on platform.files for each row when (new.kind = 'voice.recording_mp3')
        execute function public.refuse()`)
    await work()
  } finally {
    await database.query('drop function public.refuse cascade')
    await database.end()
  }
}

test('samples and MP3 go when the recording is erased', async () => {
  const ada = await world.account({ balance: 100 })
  const under = await recorded(ada)
  const { file_url } = await finished(ada, under)
  const id = uuidOf('recording', under.id) ?? ''
  const tenant = tenantOf(ada)
  const [row] = await world.app.db.query(findRecording, { ...tenant, id })
  assert.deepEqual([row?.format, row?.source_file], ['mp3', null], 'the samples are gone')
  assert.equal((await ada.client.delete(`/v1/voice/recording/${under.id}`)).status, 200)
  assert.equal((await fetched(file_url)).status, 404)
  assert.equal(await world.app.storage.find(tenant, row?.file_id ?? ''), 'gone')
})

test('what cannot be encoded in the end is kept as WAV, and says so', async () => {
  const ada = await world.account({ balance: 100 })
  const under = await recorded(ada)
  await refusing(async () => {
    await ada.client.post(`/v1/sandbox/voice/${under.call}/input`, { dtmf: '#' })
    await eventually(async () => {
      const { body } = await ada.client.get(`/v1/voice/recording/${under.id}`)
      return body.status === 'processing'
    }, 'the samples to be stored')
    const conflict = await ada.client.delete(`/v1/voice/recording/${under.id}`)
    assert.deepEqual([conflict.status, conflict.body.error.code], [409, 'CONFLICT'])
    const run = { id: '', bucket: 0, tenant: tenantOf(ada), key: null, place: null, attempt: 1 }
    const payload = { recording: uuidOf('recording', under.id) ?? '', tell: null }
    const early = await encodeJob.handle(world.app, { ...run, payload, failures: 0 })
    assert.equal(early.kind, 'retry')
    assert.deepEqual(await encodeJob.handle(world.app, { ...run, payload, failures: 4 }), { kind: 'done' })
  })
  const { body: ready } = await ada.client.get(`/v1/voice/recording/${under.id}`)
  assert.deepEqual([ready.status, ready.format], ['ready', 'wav'])
  const file = await fetched(ready.file_url)
  assert.deepEqual([file.status, file.headers['content-type']], [200, 'audio/wav'])
  assert.equal(createHash('sha256').update(file.bytes).digest('hex'), ready.sha256)
})

test('without an encoder MP3 is refused at once, in a request; in a flow it is told and passed over', async () => {
  assert.match(mp3Problem(world.app, 'no-such-encoder') ?? '', /needs the package no-such-encoder.*npm install/)
  assert.equal(mp3Problem(world.app), null)
  const plain = await startWorld({ PAMOJA_VOICE_MP3: 'off' })
  try {
    const ada = await plain.account({ balance: 100 })
    const record = { action: 'record', format: 'mp3', timeOut: 30 }
    const refused = await ada.client.post('/v1/voice/calls', { from, to, actions: [record] })
    assert.deepEqual([refused.status, refused.body.error.code], [503, 'PROVIDER_UNAVAILABLE'])
    assert.match(refused.body.error.details, /^actions\[0\]\.format: MP3 is turned off/)
    shop.answer(({ url }, response) => {
      response.end(url.startsWith('/flow') ? JSON.stringify([record, { action: 'hangup' }]) : 'ok')
    })
    const { body } = await ada.client.post('/v1/voice/calls', { from, to, answer_url: shop.url('/flow') })
    const over = await eventually(async () => {
      const { body: now } = await ada.client.get(`/v1/voice/${body.call_id}`)
      return now.ended_at ? now : null
    }, 'the call to end')
    assert.deepEqual([over.status, over.recording_ids], ['completed', []])
    const { body: trace } = await ada.client.get(`/v1/voice/${body.call_id}/events?limit=200`)
    assert.match(JSON.stringify(trace), /PROVIDER_UNAVAILABLE.*MP3 is turned off/)
  } finally {
    await plain.stop()
  }
})
