// SPDX-License-Identifier: Apache-2.0
// Baresip, a SIP phone that is not ours, calls a number: it hears a Swahili menu, presses a key and is recorded. Debian has it in
// the package `baresip`; PAMOJA_REQUIRE_BARESIP=1 makes its absence a failure.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { rms, tone } from '../../src/protocols/audio/tones.ts'
import { readWav, writeWav } from '../../src/protocols/audio/wav.ts'
import { eventually } from '../eventually.ts'
import { startReceiver } from '../receiver.ts'
import { startWorld } from '../world.ts'

const missing = ['baresip', 'espeak-ng'].filter((program) => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0)
const isRequired = process.env.PAMOJA_REQUIRE_BARESIP === '1'
const reason = missing.length > 0 && !isRequired ? `not installed: ${missing.join(', ')}` : false

test('an independent phone hears a Swahili menu, presses a key and is recorded', { skip: reason }, async (t) => {
  const world = await startWorld({ PAMOJA_VOICE_LATENESS_MS: 60_000 })
  t.after(() => world.stop())
  const shop = await startReceiver()
  t.after(() => shop.stop())
  shop.answer(({ url }, response) => {
    const flows: Record<string, object[]> = {
      '/answer': [
        { action: 'talk', text: 'Karibu. Bonyeza moja kwa salio, mbili kwa msaada.', language: 'sw-KE', bargeIn: true },
        { action: 'input', maxDigits: 1, timeOut: 30, eventUrl: [shop.url('/typed')] },
      ],
      '/typed': [{ action: 'record', timeOut: 3, eventUrl: [shop.url('/recorded')] }, { action: 'hangup' }],
    }
    response.end(JSON.stringify(flows[url] ?? {}))
  })
  const ada = await world.account({ balance: 100 })
  const number = '+254700333444'
  const assigned = await ada.client.post(`/v1/voice/numbers/${encodeURIComponent(number)}/assign`, {
    application: { answer_url: shop.url('/answer') },
  })
  assert.equal(assigned.status, 200, JSON.stringify(assigned.body))
  const sip = new URL((world.node.listeners.sip ?? '').replace('sip:', 'http:'))
  const phone = await startBaresip(t, `sip:${number}@127.0.0.1:${sip.port}`)
  const asked = JSON.parse((await shop.next('/answer')).body)
  assert.deepEqual([asked.to, asked.direction], [number, 'inbound'])
  await phone.says('established')
  phone.press('1')
  const typed = JSON.parse((await shop.next('/typed')).body)
  assert.equal(typed.dtmf, '1')
  const recorded = JSON.parse((await shop.next('/recorded')).body)
  assert.ok(recorded.duration >= 2, JSON.stringify(recorded))
  const sound = readWav(await fetched(recorded.recording_url, await readFile(world.node.caFile ?? '', 'utf8')))
  assert.ok(typeof sound !== 'string' && rms(sound) > 1_000, 'what the phone said is on the recording')
  const over = await eventually(async () => {
    const { body } = await ada.client.get(`/v1/voice/${asked.call_id}`)
    return body.ended_at ? body : null
  }, 'the call to end')
  assert.deepEqual([over.status, over.hangup_by], ['completed', 'system'])
  await phone.stop()
  const heard = await phone.heard()
  assert.ok(typeof heard !== 'string' && rms(heard) > 200, 'the phone heard the menu')
})

interface BaresipPhone {
  says(word: string): Promise<void>
  press(key: string): void
  stop(): Promise<void>
  /** What it heard, as it wrote it down. */
  heard(): Promise<Int16Array | string>
}

/** A phone of its own that dials at once, speaks a tone and writes down what it hears. */
async function startBaresip(t: TestContext, uri: string): Promise<BaresipPhone> {
  const dir = await mkdtemp(join(tmpdir(), 'pamoja-baresip-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  await writeFile(join(dir, 'say.wav'), writeWav([tone([300, 700], 20_000, 12_000)]))
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
