// SPDX-License-Identifier: Apache-2.0
// Speech of callers: recognised by the engine with phrases that were expected, refused where no engine understands the language,
// written down from recordings; what a phone heard, as text; and sounds that are MP3. Needs espeak-ng, which speaks for callers.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { soundEnginesOf } from '../../src/areas/voice/engines/engines.ts'
import { findRecording } from '../../src/areas/voice/recordings/store.ts'
import { readingOf } from '../../src/areas/voice/speech/reading.ts'
import { Speaker } from '../../src/areas/voice/speech/speak.ts'
import { locales } from '../../src/areas/voice/speech/voices.ts'
import { simulatedCarrier } from '../../src/areas/voice/trunks/sandbox-carrier.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { rms, silence } from '../../src/protocols/audio/tones.ts'
import { hearsNow } from '../hearing.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { type Account, eventually, startWorld, tenantOf, type World } from '../world.ts'

const isSilent = spawnSync('espeak-ng', ['--version']).status !== 0
const skip = isSilent ? 'espeak-ng is not installed: nothing can be said' : false
const from = '+254700000000'
const patience = { timeout: 180_000 }

let world: World
let shop: Receiver
before(async () => {
  if (skip) return
  world = await startWorld({ PAMOJA_VOICE_LATENESS_MS: 60_000, PAMOJA_VOICE_ENGINE_PROCESSES: 1 })
  shop = await startReceiver()
  // The first utterance does not wait for the model.
  await soundEnginesOf(world.app).run(
    { name: 'recognise', answer: {}, timeoutMs: 60_000 },
    { samples: silence(500), context: [] },
  )
})
after(async () => {
  await shop?.stop()
  await world?.stop()
})

const speaker = new Speaker('espeak-ng')

/** What a phone says, as its microphone has it. */
async function voice(text: string): Promise<Int16Array> {
  return Int16Array.from([...silence(200), ...(await speaker.speak({ text, language: 'en-US' })), ...silence(200)])
}

/** Greetings in the languages that the engine has no voice for, in the phonetic alphabet. */
const greetings: Readonly<Record<string, readonly [text: string, heard: string]>> = {
  'ha-NG': ['Sannu, ƙarfe 3.', 'sˈanu k`ˈarfe ˈuku'],
  'yo-NG': ['Ẹ ṣé, pẹ̀lú ọmọ.', 'ɛ ʃˈe kpˈɛlu ˈɔmɔ'],
  'ig-NG': ['Nnọọ, ụlọ akwụkwọ.', 'nˈɔɔ ˈʊlɔ akwˈʊkwɔ'],
  'zu-ZA': ['Sawubona, hlala kahle.', 'sawubˈɔna ɬˈala kˈaɬɛ'],
  'xh-ZA': ['Molo, enkosi kakhulu.', 'mˈɔlɔ ɛŋkˈɔsi kakhˈulu'],
  'so-SO': ['Soo dhawoow, 12.', 'sˈoː dˈawoːw lˈaba ˈijo tˈoban'],
  'wo-SN': ['Jërëjëf, téere.', 'dʒˈərədʒəf tˈeːrɛ'],
}

test('a language without a voice of the engine is said by its own sounds', { skip, ...patience }, async () => {
  for (const [language, [text, heard]] of Object.entries(greetings)) {
    const { engineVoice } = locales[language] ?? assert.fail(language)
    const input = readingOf(language, text).text
    const { stdout } = spawnSync('espeak-ng', ['-v', engineVoice, '-q', '--ipa', '--stdin'], { input })
    assert.deepEqual([language, stdout.toString().trim().split(/\s+/).join(' ')], [language, heard])
    assert.ok(rms(await speaker.speak({ text, language })) > 300, `${language} is silent`)
  }
  const ada = await world.account({ balance: 100 })
  const { body } = await ada.client.get('/v1/voice/tts/voices?limit=200')
  const approximate = body.data.filter(({ quality }: { quality: string }) => quality === 'approximate')
  assert.deepEqual(
    approximate.map(({ language }: { language: string }) => language).sort(),
    Object.keys(greetings).sort(),
  )
})

async function answered(ada: Account, actions: object[]): Promise<string> {
  const { status, body } = await ada.client.post('/v1/voice/calls', { from, to: '+254711000020', actions })
  assert.equal(status, 201, JSON.stringify(body))
  await eventually(async () => {
    const { body: now } = await ada.client.get(`/v1/voice/${body.call_id}`)
    return now.status === 'answered'
  }, 'the phone to answer')
  return body.call_id
}

/** Asks a flow that listens what a phone said. A crowded machine loses pieces of it on the way; then it is said again. */
function said(ada: Account, path: string, speech: object, text: string, isUnderstood: RegExp) {
  return eventually(async () => {
    const heard = await saidOnce(ada, path, speech, await voice(text))
    return isUnderstood.test(heard.speech.results[0]?.text ?? '') && heard
  }, `${text} to be understood`)
}

/** A flow that listens is told what a phone says, by its sound alone. */
async function saidOnce(ada: Account, path: string, speech: object, sound: Int16Array) {
  const input = { action: 'input', type: ['speech'], speech: { endOnSilence: 0.5, ...speech } }
  const wait = { action: 'wait', timeout: 600 }
  const call = await answered(ada, [{ ...input, eventUrl: [shop.url(path)] }, wait])
  const carrier = simulatedCarrier.of(world.app) ?? assert.fail('no carrier')
  assert.ok(carrier.say(call, sound))
  const heard = JSON.parse((await shop.next(path)).body)
  await ada.client.post(`/v1/voice/${call}/hangup`, {})
  return heard
}

test('a phrase that was expected is recognised from the sound, as it was written', { skip, ...patience }, async () => {
  const ada = await world.account({ balance: 100 })
  const context = ['My balance', 'Transfer money', 'An agent']
  const { speech } = await said(ada, '/phrase', { language: 'en-KE', context }, 'transfer money', /money/)
  assert.deepEqual(
    [speech.language, speech.timeout_reason, speech.error],
    ['en-KE', 'end_on_silence_timeout', undefined],
  )
  assert.equal(speech.results[0].text, 'Transfer money')
  assert.ok(speech.results[0].confidence > 0.5 && speech.results[0].confidence <= 1, JSON.stringify(speech))
  const confidences = speech.results.map(({ confidence }: { confidence: number }) => confidence)
  assert.deepEqual(
    confidences,
    [...confidences].sort((a, b) => b - a),
  )
})

test('what nobody expected is written down freely, and is none of the phrases', { skip, ...patience }, async () => {
  const ada = await world.account({ balance: 100 })
  const context = ['Transfer money', 'An agent']
  const { speech } = await said(ada, '/free', { context }, 'hello my name is Peter', /name is peter/i)
  assert.ok(
    speech.results.every(({ text }: { text: string }) => !context.includes(text)),
    JSON.stringify(speech),
  )
})

test('a language without an engine is said to be unavailable, never guessed', { skip, ...patience }, async () => {
  const ada = await world.account({ balance: 100 })
  const { speech } = await said(ada, '/swahili', { language: 'sw-KE', context: ['salio'] }, 'salio', /^$/)
  assert.deepEqual([speech.results, speech.error, speech.language], [[], 'language_unavailable', 'sw-KE'])
})

test('an engine that dies is started again, and the call goes on', { skip, ...patience }, async () => {
  const ada = await world.account({ balance: 100 })
  for (const pid of soundEnginesOf(world.app).pids()) process.kill(pid, 'SIGKILL')
  const { speech } = await said(ada, '/again', { context: ['yes', 'no'] }, 'yes', /yes/)
  assert.equal(speech.results[0].text, 'yes')
})

test('what a phone heard can be read as text', { skip, ...patience }, async () => {
  const ada = await world.account({ balance: 100 })
  const wait = { action: 'wait', timeout: 600 }
  const carrier = simulatedCarrier.of(world.app) ?? assert.fail('no carrier')
  // A crowded machine loses pieces of what is said; then it is said again.
  const { call, body } = await eventually(async () => {
    const one = await answered(ada, [{ action: 'talk', text: 'Hello, my name is Peter.', language: 'en-US' }, wait])
    await eventually(async () => {
      const { samples = new Int16Array() } = carrier.heard(one) ?? {}
      return rms(samples) > 300 && rms(samples.subarray(-8_000)) < 100
    }, 'the phone to hear all of it')
    const read = await ada.client.get(`/v1/sandbox/voice/${one}/heard/text`)
    assert.equal(read.status, 200, read.text)
    return /name is peter/i.test(read.body.text) && { call: one, body: read.body }
  }, 'what was said to be read')
  assert.ok(body.segments[0].end > body.segments[0].start)
  const refused = await ada.client.get(`/v1/sandbox/voice/${call}/heard/text?language=sw-KE`)
  assert.deepEqual([refused.status, refused.body.error.code], [400, 'INVALID_REQUEST'])
  const eve = await world.account({ balance: 100 })
  assert.equal((await eve.client.get(`/v1/sandbox/voice/${call}/heard/text`)).status, 404)
})

async function recorded(ada: Account, language: string, format = 'wav'): Promise<string> {
  const record = { action: 'record', endOnKey: '#', timeOut: 60, format, transcription: { language } }
  const call = await answered(ada, [record, { action: 'wait', timeout: 600 }])
  const carrier = simulatedCarrier.of(world.app) ?? assert.fail('no carrier')
  const sound = await voice('hello my name is Peter')
  carrier.say(call, sound)
  const id = await eventually(async () => {
    const { body } = await ada.client.get(`/v1/voice/${call}`)
    return body.recording_ids[0]
  }, 'the recording to begin')
  const heardSoFar = () => carrier.heard(call)?.samples.length ?? 0
  const spokenAt = heardSoFar() + sound.length
  await eventually(async () => heardSoFar() > spokenAt, 'the phone to have spoken')
  carrier.press(call, '#')
  await eventually(async () => {
    const { body } = await ada.client.get(`/v1/voice/recording/${id}`)
    return body.status === 'ready'
  }, 'the recording to be ready')
  await ada.client.post(`/v1/voice/${call}/hangup`, {})
  return id
}

/** Recording whose text is what was said. A crowded machine loses pieces of it on the way; then it is said again. */
function writtenDown(ada: Account, format = 'wav') {
  return eventually(async () => {
    const id = await recorded(ada, 'en-KE', format)
    const text = await eventually(async () => {
      const { status, body } = await ada.client.get(`/v1/voice/recording/${id}/transcription`)
      return status === 200 ? body : null
    }, 'the text')
    return /name is peter/i.test(text.text) && { id, text }
  }, 'what was said to be written down')
}

test('a recording is written down, told of, and its text erased with it', { skip, ...patience }, async () => {
  const ada = await world.account({ balance: 100 })
  const eve = await world.account({ balance: 100 })
  const { id, text } = await writtenDown(ada)
  const path = `/v1/voice/recording/${id}/transcription`
  assert.deepEqual([text.recording_id, text.language, text.segments[0].channel], [id, 'en-KE', 0])
  const { body: record } = await ada.client.get(`/v1/voice/recording/${id}`)
  const { available, language, confidence, url, error } = record.transcription
  assert.deepEqual([available, language, error], [true, 'en-KE', null])
  assert.ok(confidence > 0.3 && url.startsWith('https://'))
  const { body: events } = await ada.client.get('/v1/events?limit=100')
  const told = events.data.filter(({ event }: { event: string }) => event === 'recording.transcribed')
  assert.ok(told.some(({ payload }: { payload: { recording_id: string } }) => payload.recording_id === id))
  assert.equal((await eve.client.get(path)).status, 404)
  assert.equal((await ada.client.delete(`/v1/voice/recording/${id}`)).status, 200)
  assert.equal((await ada.client.get(path)).status, 404)
  const { body: gone } = await ada.client.get(`/v1/voice/recording/${id}`)
  assert.deepEqual([gone.transcription.available, gone.transcription.url], [false, null])
})

test('a recording as MP3 is written down from its samples, which then go', { skip, ...patience }, async () => {
  const ada = await world.account({ balance: 100 })
  const { id } = await writtenDown(ada, 'mp3')
  const one = { ...tenantOf(ada), id: uuidOf('recording', id) ?? '' }
  const [row] = await world.app.db.query(findRecording, one)
  assert.deepEqual([row?.format, row?.source_file], ['mp3', null])
})

test('a recording in a language without an engine says so', { skip, ...patience }, async () => {
  const ada = await world.account({ balance: 100 })
  const id = await recorded(ada, 'sw-KE')
  const record = await eventually(async () => {
    const { body } = await ada.client.get(`/v1/voice/recording/${id}`)
    return body.transcription.error ? body : null
  }, 'the refusal')
  assert.deepEqual(
    [record.transcription.error, record.transcription.available, record.status],
    ['language_unavailable', false, 'ready'],
  )
})

test('a stream of MP3 is heard, and one that is none is told of', { skip, ...patience }, async () => {
  const hum = readFileSync(new URL('../../../test/sounds/hum-440.mp3', import.meta.url))
  const files: Record<string, Buffer> = {
    '/hum.mp3': hum,
    '/broken.mp3': Buffer.concat([Buffer.from('ID3'), Buffer.alloc(5_000, 7)]),
  }
  shop.answer(({ url }, response) => void response.end(files[url] ?? '{}'))
  const ada = await world.account({ balance: 100 })
  const broken = { action: 'stream', streamUrl: [shop.url('/broken.mp3')] }
  const stream = { action: 'stream', streamUrl: [shop.url('/hum.mp3')], loop: 0 }
  const call = await answered(ada, [broken, stream])
  const carrier = simulatedCarrier.of(world.app) ?? assert.fail('no carrier')
  await eventually(async () => {
    const { samples = new Int16Array() } = carrier.heard(call) ?? {}
    return hearsNow(samples, 440)
  }, 'the phone to hear a hum of 440 Hz')
  const { body: trace } = await ada.client.get(`/v1/voice/${call}/events`)
  assert.match(JSON.stringify(trace), /broken\.mp3: it holds no sound/)
  await ada.client.post(`/v1/voice/${call}/hangup`, {})
})
