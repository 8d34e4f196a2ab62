// SPDX-License-Identifier: Apache-2.0
// Baresip, a SIP phone that is not ours, calls a number: it hears a Swahili menu, presses keys, says a phrase that is understood,
// and is recorded and written down. Debian has it in the package `baresip`; PAMOJA_REQUIRE_BARESIP=1 makes its absence a failure.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { telephoneNetworkOf } from '../../src/areas/voice/trunks/telephone-network.ts'
import { serverIdentity } from '../../src/platform/http/certificates.ts'
import { hasOpus } from '../../src/protocols/audio/opus.ts'
import { rms, share, silence, tone } from '../../src/protocols/audio/tones.ts'
import { readWav, writeWav } from '../../src/protocols/audio/wav.ts'
import type { Client } from '../client.ts'
import { eventually } from '../eventually.ts'
import { startReceiver } from '../receiver.ts'
import { startWorld, type World } from '../world.ts'
import { fetched, startBaresip, withoutBaresip } from './baresip.ts'

const reason = withoutBaresip()

const phrase = 'Transfer money'
const maxAsked = 5

test('an independent phone calls over TCP, hears a Swahili menu, presses keys, says a phrase and is recorded', {
  skip: reason,
}, async (t) => {
  const world = await startWorld()
  t.after(() => world.stop())
  const shop = await startReceiver()
  t.after(() => shop.stop())
  const speech = { language: 'en-KE', context: ['My balance', phrase, 'An agent'], endOnSilence: 0.6 }
  const listen = { action: 'input', type: ['speech'], speech, eventUrl: [shop.url('/said')] }
  const record = {
    action: 'record',
    timeOut: 6,
    transcription: { language: 'en-KE' },
    eventUrl: [shop.url('/recorded')],
  }
  let asked = 0
  shop.answer(({ url, body }, response) => {
    // The keys come before the menu was heard, and end it.
    const thanks = { action: 'talk', text: 'Asante. Salio lako liko tayari.', language: 'sw-KE' }
    const flows: Record<string, () => object[]> = {
      '/answer': () => [
        { action: 'talk', text: 'Karibu. Bonyeza moja kwa salio, mbili kwa msaada.', language: 'sw-KE', bargeIn: true },
        { action: 'input', maxDigits: 2, timeOut: 30, eventUrl: [shop.url('/typed')] },
      ],
      '/typed': () => [listen],
      // The phone repeats itself: an utterance that began before it was listened to is asked for again.
      '/said': () => (isPhrase(body) || ++asked >= maxAsked ? [record, thanks, { action: 'hangup' }] : [listen]),
    }
    response.end(JSON.stringify(flows[url]?.() ?? {}))
  })
  const ada = await world.account({ balance: 100 })
  const number = '+254700333444'
  const assigned = await ada.client.post(`/v1/voice/numbers/${encodeURIComponent(number)}/assign`, {
    application: { answer_url: shop.url('/answer'), event_url: shop.url('/events') },
  })
  assert.equal(assigned.status, 200, JSON.stringify(assigned.body))
  const { tcpPort } = telephoneNetworkOf(world.app).address
  const dials = `sip:${number}@127.0.0.1:${tcpPort};transport=tcp`
  const phone = await startBaresip(t, { dials, speech: await repeated(world, phrase) })
  const call = JSON.parse((await shop.next('/answer')).body)
  assert.deepEqual([call.to, call.direction], [number, 'inbound'])
  await phone.says('established')
  phone.press('1')
  phone.press('5')
  assert.equal(JSON.parse((await shop.next('/typed')).body).dtmf, '15')
  let said = (await shop.next('/said')).body
  while (!isPhrase(said) && asked < maxAsked) said = (await shop.next('/said')).body
  assert.ok(isPhrase(said), said)
  const recorded = JSON.parse((await shop.next('/recorded')).body)
  assert.ok(recorded.duration >= 5, JSON.stringify(recorded))
  const sound = readWav(await fetched(recorded.recording_url, await readFile(world.node.caFile ?? '', 'utf8')))
  assert.ok(typeof sound !== 'string' && rms(sound) > 500, 'what the phone said is on the recording')
  const text = await eventually(async () => {
    const { status, body } = await ada.client.get(`/v1/voice/recording/${recorded.recording_uuid}/transcription`)
    return status === 200 ? body : null
  }, 'the recording to be written down')
  // The transcription is free: of the two words, one is enough.
  assert.match(text.text, /transfer|money/i)
  const over = await eventually(async () => {
    const { body } = await ada.client.get(`/v1/voice/${call.call_id}`)
    return body.ended_at ? body : null
  }, 'the call to end')
  assert.deepEqual([over.status, over.hangup_by], ['completed', 'system'])
  // An event whose answer came too late is told again, under its number.
  const told = new Map<number, string>()
  while (![...told.values()].includes('completed')) {
    const { sequence, status } = JSON.parse((await shop.next('/events')).body)
    told.set(sequence, status)
  }
  assert.deepEqual([...told.values()], ['started', 'ringing', 'answered', 'completed'])
  await phone.stop()
  const heard = await phone.heard()
  assert.ok(typeof heard !== 'string' && rms(heard) > 200, 'the phone heard what was spoken')
})

/** Recording of a call that is over, one channel for each side: the phone, and us. */
async function recordedOf(world: World, client: Client, callId: string): Promise<Int16Array[]> {
  const url = await eventually(async () => {
    const { body: call } = await client.get(`/v1/voice/${callId}`)
    const { body } = await client.get(`/v1/voice/recording/${call.recording_ids[0]}`)
    return call.ended_at && body.status === 'ready' ? String(body.file_url) : null
  }, 'the recording')
  const file = await fetched(url, await readFile(world.node.caFile ?? '', 'utf8'))
  const samples = new Int16Array(file.buffer, file.byteOffset + 44, Math.floor((file.length - 44) / 2))
  return [0, 1].map((channel) => samples.filter((_, i) => i % 2 === channel))
}

test('an independent phone calls over TLS with encrypted audio, in G.722 too, and is called so over a trunk', {
  skip: reason,
}, async (t) => {
  const identities = await mkdtemp(join(tmpdir(), 'pamoja-phone-'))
  t.after(() => rm(identities, { recursive: true, force: true }))
  const { key, cert, caFile } = await serverIdentity({ dir: identities, now: new Date() })
  const certificate = join(identities, 'phone.pem')
  await writeFile(certificate, `${cert}${key}`)
  const world = await startWorld({ PAMOJA_SIP_CA_FILE: caFile ?? '', PAMOJA_VOICE_LATENESS_MS: 60_000 })
  t.after(() => world.stop())
  const shop = await startReceiver()
  t.after(() => shop.stop())
  const talk = { action: 'talk', text: 'Karibu kwenye duka letu la simu.', language: 'sw-KE' }
  const flow = [{ action: 'record', channels: 2, split: 'conversation' }, talk, { action: 'hangup' }]
  shop.answer((_request, response) => void response.end(JSON.stringify(flow)))
  const ada = await world.account({ balance: 100 })
  const number = '+254700333445'
  const application = { answer_url: shop.url('/answer') }
  await ada.client.post(`/v1/voice/numbers/${encodeURIComponent(number)}/assign`, { application })
  const { tlsPort } = telephoneNetworkOf(world.app).address
  const speech = tone([1_000], 60_000)
  const dials = `sip:${number}@127.0.0.1:${tlsPort};transport=tls`
  for (const codec of ['pcmu/8000/1', 'g722/16000/1'] as const) {
    const phone = await startBaresip(t, { dials, speech, codec, account: ';mediaenc=srtp-mand' })
    const { call_id: id } = JSON.parse((await shop.next('/answer')).body)
    const [said = silence(20)] = await recordedOf(world, ada.client, id)
    assert.ok(framesOf(said, 1_000) > 25, `${codec}: the tone of the phone is heard`)
    await phone.stop()
    const heard = await phone.heard()
    assert.ok(typeof heard !== 'string' && rms(heard) > 200, `${codec}: the phone heard the prompt`)
  }

  const port = await freePortPair()
  const to = '+254711000020'
  const account = ';mediaenc=srtp-mand;answermode=auto'
  await startBaresip(t, { speech, user: to, listens: `127.0.0.1:${port}`, account, certificate })
  const { body: made } = await ada.client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
  const live = world.stranger.as(made.key)
  const { operator } = world
  await operator.post('/v1/operator/voice/numbers', { number, account_id: ada.id })
  const credit = { amount: 100, currency: 'KES', environment: 'live', reference: 'baresip' }
  await operator.post(`/v1/operator/accounts/${ada.id}/credit`, credit)
  await operator.post('/v1/operator/voice/rates', { prefix: '+254', currency: 'KES', minute: 3 })
  const trunk = { name: 'phone', host: 'localhost', port: port + 1, transport: 'tls', srtp: 'required' }
  const entered = await operator.post('/v1/operator/voice/trunks', trunk)
  assert.equal(entered.status, 201, JSON.stringify(entered.body))
  const placed = await eventually(async () => {
    const { status, body } = await live.post('/v1/voice/calls', { from: number, to, record: true, actions: [talk] })
    return status === 201 ? body : null
  }, 'the trunk to be known')
  const [said = silence(20)] = await recordedOf(world, live, placed.call_id)
  assert.ok(framesOf(said, 1_000) > 25, 'the tone of the called phone is heard')
})

test('an independent phone speaks Opus: tone by tone both ways, when it calls and when a trunk prefers it', {
  skip: reason || (hasOpus() ? false : 'not installed: libopus-wasm'),
}, async (t) => {
  const world = await startWorld({
    PAMOJA_VOICE_LATENESS_MS: 60_000,
    PAMOJA_WEBHOOKS_ALLOW_CIDRS: ['127.0.0.0/8', '::1/128'],
  })
  t.after(() => world.stop())
  const shop = await startReceiver()
  t.after(() => shop.stop())
  const melody = [400, 800, 1_200, 1_600, 2_000, 2_400]
  const played = Int16Array.from(melody.flatMap((hertz) => [...tone([hertz], 800)]))
  const stream = { action: 'stream', streamUrl: [shop.url('/melody.wav')] }
  const flow = [{ action: 'record', channels: 2, split: 'conversation' }, stream, { action: 'hangup' }]
  shop.answer(({ url }, response) => void response.end(url === '/answer' ? JSON.stringify(flow) : writeWav([played])))
  const ada = await world.account({ balance: 100 })
  const number = '+254700333446'
  const application = { answer_url: shop.url('/answer') }
  await ada.client.post(`/v1/voice/numbers/${encodeURIComponent(number)}/assign`, { application })
  const speech = Int16Array.from(
    Array.from({ length: 40 }, () => melody.flatMap((hertz) => [...tone([hertz], 300)])).flat(),
  )
  const areHeard = (sound: Int16Array | string, what: string) => {
    assert.ok(typeof sound !== 'string', what)
    const frames = melody.map((hertz) => framesOf(sound, hertz))
    assert.ok(
      frames.every((count) => count > 10),
      `${what}: ${melody.map((hertz, i) => `${hertz} Hz ${frames[i]}`)}`,
    )
  }

  const { port: ours } = telephoneNetworkOf(world.app).address
  const codec = 'opus/48000/2'
  const caller = await startBaresip(t, { dials: `sip:${number}@127.0.0.1:${ours}`, speech, codec })
  const { call_id: id } = JSON.parse((await shop.next('/answer')).body)
  const [said = silence(20)] = await recordedOf(world, ada.client, id)
  areHeard(said, 'what the phone says')
  await caller.stop()
  areHeard(await caller.heard(), 'what the phone hears')

  const port = await freePortPair()
  const to = '+254711000020'
  const callee = await startBaresip(t, {
    speech,
    user: to,
    listens: `127.0.0.1:${port}`,
    codec,
    account: ';answermode=auto',
  })
  const { body: made } = await ada.client.post('/v1/api-keys', { name: 'Live', environment: 'live' })
  const live = world.stranger.as(made.key)
  const { operator } = world
  await operator.post('/v1/operator/voice/numbers', { number, account_id: ada.id })
  const credit = { amount: 100, currency: 'KES', environment: 'live', reference: 'opus' }
  await operator.post(`/v1/operator/accounts/${ada.id}/credit`, credit)
  await operator.post('/v1/operator/voice/rates', { prefix: '+254', currency: 'KES', minute: 3 })
  const entered = await operator.post('/v1/operator/voice/trunks', {
    name: 'phone',
    host: '127.0.0.1',
    port,
    codecs: ['opus', 'PCMA'],
  })
  assert.equal(entered.status, 201, JSON.stringify(entered.body))
  const placed = await eventually(async () => {
    const actions = [stream, { action: 'hangup' }]
    const { status, body } = await live.post('/v1/voice/calls', { from: number, to, record: true, actions })
    return status === 201 ? body : null
  }, 'the trunk to be known')
  const [answered = silence(20)] = await recordedOf(world, live, placed.call_id)
  areHeard(answered, 'what the called phone says')
  await callee.stop()
  areHeard(await callee.heard(), 'what the called phone hears')
})

/** Frames of a sound that are a tone and nothing else: what is decrypted wrongly is noise. */
function framesOf(sound: Int16Array, hertz: number): number {
  const frames = Array.from({ length: Math.floor(sound.length / 160) }, (_, i) =>
    sound.subarray(160 * i, 160 * (i + 1)),
  )
  return frames.filter((frame) => share(frame, hertz) > 0.9).length
}

/** A port that is free with the one after it, for TCP at 127.0.0.1. */
async function freePortPair(): Promise<number> {
  return eventually(async () => {
    const port = 2 * randomInt(10_000, 16_000)
    const servers = [createServer(), createServer()]
    try {
      for (const [i, server] of servers.entries()) await once(server.listen(port + i, '127.0.0.1'), 'listening')
      return port
    } catch {
      return null
    } finally {
      for (const server of servers) server.close()
    }
  }, 'two free ports')
}

/** Whether the phrase was understood. */
function isPhrase(body: string): boolean {
  return JSON.parse(body).speech.results[0]?.text === phrase
}

/** Says a phrase over and over, with pauses. */
async function repeated({ app }: World, text: string): Promise<Int16Array> {
  const once = [...(await telephoneNetworkOf(app).speaker.speak({ text, language: 'en-US' })), ...silence(2_000)]
  return Int16Array.from(Array.from({ length: 40 }, () => once).flat())
}
