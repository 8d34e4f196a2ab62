// SPDX-License-Identifier: Apache-2.0
// Baresip, a SIP phone that is not ours, calls a number: it hears a Swahili menu, presses keys, says a phrase that is understood,
// and is recorded and written down. Debian has it in the package `baresip`; PAMOJA_REQUIRE_BARESIP=1 makes its absence a failure.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Speaker } from '../../src/areas/voice/speech/speak.ts'
import { rms, silence } from '../../src/protocols/audio/tones.ts'
import { readWav, writeWav } from '../../src/protocols/audio/wav.ts'
import { eventually } from '../eventually.ts'
import { startReceiver } from '../receiver.ts'
import { startWorld } from '../world.ts'

const missing = ['baresip', 'espeak-ng'].filter(
  (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0,
)
const isRequired = process.env.PAMOJA_REQUIRE_BARESIP === '1'
const reason = missing.length > 0 && !isRequired ? `not installed: ${missing.join(', ')}` : false

const phrase = 'Transfer money'
const mostAsked = 5

test('an independent phone hears a Swahili menu, presses keys, says a phrase and is recorded', {
  skip: reason,
}, async (t) => {
  const world = await startWorld({ PAMOJA_VOICE_LATENESS_MS: 60_000 })
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
    const flows: Record<string, () => object[]> = {
      '/answer': () => [
        { action: 'talk', text: 'Karibu. Bonyeza moja kwa salio, mbili kwa msaada.', language: 'sw-KE', bargeIn: true },
        { action: 'input', maxDigits: 2, timeOut: 30, eventUrl: [shop.url('/typed')] },
      ],
      '/typed': () => [listen],
      // The phone repeats itself: an utterance that began before it was listened to is asked for again.
      '/said': () => (isPhrase(body) || ++asked >= mostAsked ? [record, { action: 'hangup' }] : [listen]),
    }
    response.end(JSON.stringify(flows[url]?.() ?? {}))
  })
  const ada = await world.account({ balance: 100 })
  const number = '+254700333444'
  const assigned = await ada.client.post(`/v1/voice/numbers/${encodeURIComponent(number)}/assign`, {
    application: { answer_url: shop.url('/answer'), event_url: shop.url('/events') },
  })
  assert.equal(assigned.status, 200, JSON.stringify(assigned.body))
  const sip = new URL((world.node.listeners.sip ?? '').replace('sip:', 'http:'))
  const phone = await startBaresip(t, `sip:${number}@127.0.0.1:${sip.port}`)
  const call = JSON.parse((await shop.next('/answer')).body)
  assert.deepEqual([call.to, call.direction], [number, 'inbound'])
  await phone.says('established')
  phone.press('1')
  phone.press('5')
  assert.equal(JSON.parse((await shop.next('/typed')).body).dtmf, '15')
  let said = (await shop.next('/said')).body
  while (!isPhrase(said) && asked < mostAsked) said = (await shop.next('/said')).body
  assert.ok(isPhrase(said), said)
  const recorded = JSON.parse((await shop.next('/recorded')).body)
  assert.ok(recorded.duration >= 5, JSON.stringify(recorded))
  const sound = readWav(await fetched(recorded.recording_url, await readFile(world.node.caFile ?? '', 'utf8')))
  assert.ok(typeof sound !== 'string' && rms(sound) > 500, 'what the phone said is on the recording')
  const text = await eventually(async () => {
    const { status, body } = await ada.client.get(`/v1/voice/recording/${recorded.recording_uuid}/transcription`)
    return status === 200 ? body : null
  }, 'the recording to be written down')
  assert.match(text.text, /money/i)
  const over = await eventually(async () => {
    const { body } = await ada.client.get(`/v1/voice/${call.call_id}`)
    return body.ended_at ? body : null
  }, 'the call to end')
  assert.deepEqual([over.status, over.hangup_by], ['completed', 'system'])
  const told: string[] = []
  while (told.at(-1) !== 'completed') told.push(JSON.parse((await shop.next('/events')).body).status)
  assert.deepEqual(told, ['started', 'ringing', 'answered', 'completed'])
  await phone.stop()
  const heard = await phone.heard()
  assert.ok(typeof heard !== 'string' && rms(heard) > 200, 'the phone heard the menu')
})

/** Whether the phrase was understood. */
function isPhrase(body: string): boolean {
  return JSON.parse(body).speech.results[0]?.text === phrase
}

interface BaresipPhone {
  says(word: string): Promise<void>
  press(key: string): void
  stop(): Promise<void>
  /** What it heard, as it wrote it down. */
  heard(): Promise<Int16Array | string>
}

/** Says a phrase over and over, with pauses. */
async function repeated(text: string): Promise<Int16Array> {
  const once = [...(await new Speaker('espeak-ng').speak({ text, language: 'en-US' })), ...silence(2_000)]
  return Int16Array.from(Array.from({ length: 40 }, () => once).flat())
}

/** A phone of its own that dials at once, says a phrase again and again and writes down what it hears. */
async function startBaresip(t: TestContext, uri: string): Promise<BaresipPhone> {
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-baresip-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  await writeFile(join(dir, 'say.wav'), writeWav([await repeated(phrase)]))
  await writeFile(join(dir, 'accounts'), '<sip:phone@127.0.0.1>;regint=0;audio_codecs=pcmu/8000/1\n')
  const config = [
    'module_path /usr/lib/baresip/modules',
    'module stdio.so',
    'module g711.so',
    'module aufile.so',
    'module aubridge.so',
    'module sndfile.so',
    'module_app account.so',
    'module_app menu.so',
    `sip_listen 127.0.0.1:${await freePort()}`,
    `audio_source aufile,${join(dir, 'say.wav')}`,
    'audio_player aubridge,nobody',
    'audio_alert aubridge,nobody',
    `snd_path ${dir}`,
    'net_interface 127.0.0.1',
  ]
  await writeFile(join(dir, 'config'), `${config.join('\n')}\n`)
  const child = spawn('baresip', ['-f', dir, '-e', `/dial ${uri}`], { stdio: ['pipe', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  const stop = () => ended(child)
  t.after(stop)
  return {
    heard: async () => {
      const file = (await readdir(dir)).find((name) => name.endsWith('-dec.wav'))
      return readWav(file === undefined ? Buffer.alloc(0) : await readFile(join(dir, file)))
    },
    says: (word) =>
      eventually(async () => output.includes(word) || null, `baresip to say ${word}`).then(() => undefined),
    press: (key) => void child.stdin.write(key),
    stop,
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}

async function freePort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  return port
}

function fetched(url: string, ca: string): Promise<Buffer> {
  return new Promise((done, failed) => {
    get(url, { ca }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => done(Buffer.concat(chunks)))
    }).on('error', failed)
  })
}
