// SPDX-License-Identifier: Apache-2.0
// Speech of callers: recognised by the engine with phrases that were expected, or by a model of the operator, refused where no model understands the language,
// written down from recordings; what a phone heard, as text; and sounds that are MP3. Callers
// speak by the engine of the world, the system's or the package's.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { soundEnginesOf, speakersOf } from '../../src/areas/voice/engines/engines.ts'
import { speechPackage } from '../../src/areas/voice/engines/tasks.ts'
import { findRecording } from '../../src/areas/voice/recordings/store.ts'
import { PackageEngine } from '../../src/areas/voice/speech/package-engine.ts'
import { ProgramEngine } from '../../src/areas/voice/speech/program-engine.ts'
import { readingOf } from '../../src/areas/voice/speech/reading.ts'
import { Speaker } from '../../src/areas/voice/speech/speak.ts'
import { locales } from '../../src/areas/voice/speech/voices.ts'
import { simulatedCarrier } from '../../src/areas/voice/trunks/sandbox-carrier.ts'
import { telephoneNetworkOf } from '../../src/areas/voice/trunks/telephone-network.ts'
import { uuidOf } from '../../src/kernel/ids.ts'
import { frameSamples } from '../../src/protocols/audio/g711.ts'
import { rms, share, silence, tone } from '../../src/protocols/audio/tones.ts'
import { patienceMs } from '../eventually.ts'
import { framesWith, hasHeard, hearsNow, withoutPackage, withoutVoice } from '../hearing.ts'
import { phonemeHertz, phonemeSamples, writePiperVoice } from '../piper-voice.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { wordHertz, writeRecognitionModel } from '../recognition-model.ts'
import { type Account, eventually, startWorld, tenantOf, type World } from '../world.ts'

const skip = withoutVoice()
const from = '+254700000000'
const patience = { timeout: patienceMs(180_000) }

let world: World
let shop: Receiver
let folder = ''
let models = ''
before(async () => {
  if (skip) return
  folder = await mkdtemp(join(tmpdir(), 'pamoja-voices-'))
  await writePiperVoice(folder, 'sw_CD-tones-low')
  await writePiperVoice(folder, 'spoilt')
  await writeFile(join(folder, 'spoilt.onnx'), 'no network')
  await writeFile(join(folder, 'undescribed.onnx'), 'no network')
  models = await mkdtemp(join(tmpdir(), 'pamoja-models-'))
  for (const [name, language] of [
    ['tones-sw', 'sw'],
    ['tones-am', 'am-ET'],
    ['spoilt', 'yo'],
    ['undescribed', 'ig'],
    ['halved', 'zu'],
  ])
    await writeRecognitionModel(join(models, name ?? ''), [language ?? ''])
  await writeFile(join(models, 'spoilt/decoder_model_merged.onnx'), 'no network')
  await writeFile(join(models, 'undescribed/recognition.json'), '{"languages": "ig"}')
  await rm(join(models, 'halved/tokenizer.json'))
  world = await startWorld({
    PAMOJA_RECOGNITION: models,
    PAMOJA_VOICE_ENGINE_PROCESSES: 1,
    PAMOJA_VOICES: folder,
    PAMOJA_VOICE_DEFAULTS: 'sw=sw_CD-tones-low,af-ZA=spoilt',
  })
  shop = await startReceiver()
  // The first utterance does not wait for the model.
  await soundEnginesOf(world.app).run(
    { name: 'recognise', answer: {}, timeoutMs: 60_000 },
    { samples: silence(500), context: [], folder: null },
  )
})
after(async () => {
  await shop?.stop()
  await world?.stop()
  for (const made of [folder, models]) await rm(made, { recursive: true, force: true })
})

function spoken(text: string, language = 'en-US'): Promise<Int16Array> {
  return telephoneNetworkOf(world.app).speaker.speak({ text, language })
}

/** What a phone says, as its microphone has it. */
async function voice(text: string): Promise<Int16Array> {
  return Int16Array.from([...silence(200), ...(await spoken(text)), ...silence(200)])
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
    // The program alone says what it speaks.
    const { stdout, error } = spawnSync('espeak-ng', ['-v', engineVoice, '-q', '--ipa', '--stdin'], { input })
    if (!error) assert.deepEqual([language, stdout.toString().trim().split(/\s+/).join(' ')], [language, heard])
    assert.ok(rms(await spoken(text, language)) > 300, `${language} is silent`)
  }
  const ada = await world.account({ balance: 100 })
  const { body } = await ada.client.get('/v1/voice/tts/voices?limit=200')
  const approximate = body.data.filter(({ quality }: { quality: string }) => quality === 'approximate')
  assert.deepEqual(
    approximate.map(({ language }: { language: string }) => language).sort(),
    Object.keys(greetings).sort(),
  )
})

test('where the system has no program that speaks, the package does: the same voices, languages and markup', {
  skip: withoutPackage(),
  ...patience,
}, async () => {
  const processes = speakersOf(world.app)
  const bare = new Speaker([new ProgramEngine('no-such-program'), new PackageEngine(() => processes)])
  assert.equal((await bare.engine())?.name, speechPackage)
  const seconds = async (text: string, language = 'en-US') => {
    const samples = await bare.speak({ text, language })
    assert.ok(rms(samples) > 300, `${language} is silent`)
    return samples.length / 8_000
  }
  // A voice that is not there would say next to nothing.
  for (const language of Object.keys(locales))
    assert.ok((await seconds('Karibu. Salio 12.', language)) > 0.9, `${language} is cut short`)
  const plain = await seconds('one two')
  assert.ok((await seconds('<speak>one <break time="3s"/> two</speak>')) > plain + 2, 'markup is obeyed')
  assert.ok((await seconds('3 < 5 & 7 > 6')) > plain, 'plain text may have its signs')
  const endless = `<speak>${'a<break time="10s"/>'.repeat(40)}</speak>`
  await assert.rejects(bare.speak({ text: endless, language: 'en-US' }), { code: 'VALIDATION_ERROR' })
  assert.ok(processes.pids().length <= 2)
  for (const pid of processes.pids()) process.kill(pid, 'SIGKILL')
  assert.ok((await seconds('said after the process died')) > 1)
  const nobody = new Speaker([new ProgramEngine('no-such-program')])
  await assert.rejects(nobody.speak({ text: 'x', language: 'en-US' }), { code: 'PROVIDER_UNAVAILABLE' })
})

test('a Piper voice in the folder is listed, spoken by its name and by default, and one that is broken silences nobody', {
  skip: withoutPackage() || withoutPackage('onnxruntime-node'),
  ...patience,
}, async () => {
  const ada = await world.account({ balance: 100 })
  const { body } = await ada.client.get('/v1/voice/tts/voices?limit=200')
  const listed = (name: string) => body.data.filter(({ voice }: { voice: string }) => voice === name)
  const url = '/v1/voice/tts/voices/sw_CD-tones-low/sample?language=sw-CD'
  assert.deepEqual(listed('sw_CD-tones-low'), [
    {
      ...{ language: 'sw-CD', voice: 'sw_CD-tones-low', gender: 'unknown', engine: 'piper', quality: 'native' },
      ...{ available: true, is_default: true, sample_url: url },
    },
  ])
  assert.deepEqual(listed('undescribed'), [])
  const defaults = body.data.flatMap((row: { is_default: boolean; language: string; voice: string }) =>
    row.is_default && /^(sw|af)-/.test(row.language) ? [row.voice] : [],
  )
  assert.deepEqual(defaults.sort(), ['spoilt', 'sw_CD-tones-low'])

  // Beginning, a, i, full stop and end, each followed by the space between phonemes; and the pause after a sentence.
  const said = await spoken('Ai.', 'sw-KE')
  assert.equal(said.length, 9 * phonemeSamples + 1_600)
  const toneAt = (place: number) => said.subarray(place * phonemeSamples, (place + 1) * phonemeSamples)
  const tones = [phonemeHertz.a, phonemeHertz.i, phonemeHertz['.']]
  for (const [i, hertz] of tones.entries()) assert.ok(share(toneAt(2 + 2 * i), hertz) > 0.8, `${hertz} Hz`)

  const sample = await ada.client.get(`${url}&text=Ii.`)
  assert.deepEqual([sample.status, sample.headers['content-type'], sample.text.slice(0, 4)], [200, 'audio/wav', 'RIFF'])
  const odd = await ada.client.get('/v1/voice/tts/voices/sw_CD-tones-low/sample?language=!')
  assert.equal(odd.status, 200)
  const missing = await ada.client.get('/v1/voice/tts/voices/nobody/sample?language=sw-KE')
  assert.equal(missing.body.error.code, 'NOT_FOUND')

  // Sentences are heard in their order, and then the flow goes on.
  const voice = 'sw_CD-tones-low'
  const talk = { action: 'talk', language: 'en-US', voice, text: '<speak>Aa.<break time="300ms"/>Ii.</speak>' }
  const call = await answered(ada, [talk, { action: 'record', eventUrl: [shop.url('/said')], endOnKey: '#' }])
  const heard = await eventually(async () => {
    const samples = simulatedCarrier.of(world.app)?.heard(call)?.samples ?? silence(0)
    return hasHeard(samples, phonemeHertz.i) && samples
  }, 'the second sentence to be heard')
  const firstOf = (hertz: number) => {
    const frames = Array.from({ length: Math.floor(heard.length / frameSamples) }, (_, i) => i * frameSamples)
    return frames.findIndex((at) => framesWith(heard.subarray(at, at + frameSamples), hertz) === 1)
  }
  assert.ok(firstOf(phonemeHertz.a) >= 0 && firstOf(phonemeHertz.a) < firstOf(phonemeHertz.i))
  await ada.client.post(`/v1/voice/${call}/hangup`, {})

  await assert.rejects(
    telephoneNetworkOf(world.app).speaker.speak({ text: 'Ai.', language: 'af-ZA', voice: 'spoilt' }),
    { code: 'PROVIDER_UNAVAILABLE' },
  )
  assert.ok(rms(await spoken('Goeie dag.', 'af-ZA')) > 300, 'the engine speaks in place of a broken voice')
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
    [speech.language, speech.model, speech.timeout_reason, speech.error],
    ['en-KE', 'moonshine-tiny', 'end_on_silence_timeout', undefined],
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

test('a model in the folder understands its language, answers name it, and one that is broken guesses nothing', {
  skip: skip || withoutPackage('onnxruntime-node'),
  ...patience,
}, async () => {
  const ada = await world.account({ balance: 100 })
  const { body: listed } = await ada.client.get('/v1/voice/recognition')
  assert.deepEqual(
    listed.data.map((row: Record<string, unknown>) => [row.language, row.model, row.source, row.available]),
    [
      ['yo', 'spoilt', 'folder', true],
      ['am-ET', 'tones-am', 'folder', true],
      ['sw', 'tones-sw', 'folder', true],
      ['en', 'moonshine-tiny', 'package', true],
    ],
  )
  const sound = (hertz: number) => Int16Array.from([...silence(200), ...tone([hertz], 1_000), ...silence(200)])
  const asked = (path: string, speech: object, hertz: number) => saidOnce(ada, path, speech, sound(hertz))
  const free = await asked('/ndiyo', { language: 'sw-KE' }, wordHertz.Ndiyo)
  assert.deepEqual(
    [free.speech.results[0]?.text, free.speech.model, free.speech.language, free.speech.error],
    ['Ndiyo.', 'tones-sw', 'sw-KE', undefined],
  )
  // A crowded machine loses some of the sound: it is played again, as one says a word again.
  const results = await eventually(async () => {
    const expected = await asked('/hapana', { language: 'sw', context: ['Ndiyo', 'Hapana'] }, wordHertz.Hapana)
    const texts: string[] = expected.speech.results.map(({ text }: { text: string }) => text)
    return texts.length > 0 && texts.every((text) => text === 'Hapana') ? texts : null
  }, 'the word to be understood, and no other')
  assert.equal(results[0], 'Hapana')
  const named = await asked('/region', { language: 'am-ET' }, wordHertz.Hapana)
  assert.deepEqual([named.speech.results[0]?.text, named.speech.model], ['Hapana.', 'tones-am'])
  // The network of this one cannot be read, and English understands no Yoruba.
  const broken = await asked('/broken', { language: 'yo-NG' }, wordHertz.Ndiyo)
  assert.deepEqual(
    [broken.speech.results, broken.speech.error, broken.speech.model],
    [[], 'engine_unavailable', 'spoilt'],
  )
})

test('a language without a model is said to be unavailable, never guessed', { skip, ...patience }, async () => {
  const ada = await world.account({ balance: 100 })
  const { speech } = await said(ada, '/french', { language: 'fr-SN', context: ['solde'] }, 'solde', /^$/)
  const { results, error, language, model } = speech
  assert.deepEqual([results, error, language, model], [[], 'language_unavailable', 'fr-SN', undefined])
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
  const refused = await ada.client.get(`/v1/sandbox/voice/${call}/heard/text?language=fr-SN`)
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
  assert.deepEqual(
    [text.recording_id, text.language, text.model, text.segments[0].channel],
    [id, 'en-KE', 'moonshine-tiny', 0],
  )
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

test('a recording in a language without a model says so', { skip, ...patience }, async () => {
  const ada = await world.account({ balance: 100 })
  const id = await recorded(ada, 'fr-SN')
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
