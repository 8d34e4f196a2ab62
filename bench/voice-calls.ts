// SPDX-License-Identifier: Apache-2.0
// Whole calls at once, 50 for five minutes each (--calls=, --seconds=), recorded, with a tone played to them: whether all stay up,
// what their phones hear (of the last minute, once all are answered), what their quality says, and whether recordings are as long as
// their calls. The phones run in the node.
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { writeWav } from '../src/protocols/audio/wav.ts'
import { Client } from '../test/client.ts'
import { eventually } from '../test/eventually.ts'
import { fetched } from '../test/fetched.ts'
import { framesWith, hum } from '../test/hearing.ts'
import { startReceiver } from '../test/receiver.ts'
import { end, startNodeProcess } from './children.ts'
import { cpuMeter } from './cpu.ts'
import { newHome } from './home.ts'
import type { Figure } from './report.ts'

const hertz = 440
const frameSamples = 160
const patienceMs = 120_000
const headerBytes = 44
const bytesPerSecond = 16_000

export async function voiceCalls(size: { short: boolean; calls: number; seconds: number }): Promise<Figure[]> {
  const [count, seconds] = size.short ? [3, 2] : [size.calls, size.seconds]
  const home = await newHome()
  const node = await startNodeProcess({
    PAMOJA_HOME: home,
    PAMOJA_RATE_LIMITS: 'off',
    PAMOJA_SIP_PORT: '0',
    // On a busy machine calls are taken as well; the figures tell.
    PAMOJA_VOICE_LATENESS_MS: '60000',
  })
  const shop = await startReceiver()
  shop.answer((_request, response) => void response.end(writeWav([hum(hertz)])))
  try {
    const ca = readFileSync(node.caFile, 'utf8')
    const client = new Client(node.url, ca, node.credentials.api_key)
    const authorization = `Bearer ${node.credentials.api_key}`
    const actions = [{ action: 'stream', streamUrl: [shop.url('/hum.wav')], loop: 0 }]
    const wanted = { from: '+254700000000', to: '+254711000020', record: true, actions }
    const made = await Promise.all(Array.from({ length: count }, () => client.post('/v1/voice/calls', wanted)))
    const refused = made.find(({ status }) => status !== 201)
    if (refused) throw new Error(`a call was refused with ${refused.status} ${refused.text}`)
    const ids: string[] = made.map(({ body }) => body.call_id)
    const now = async (id: string) => (await client.get(`/v1/voice/${id}`)).body
    for (const id of ids) await eventually(async () => (await now(id)).status === 'answered', 'the answer', patienceMs)
    const cpu = cpuMeter()
    await pause(seconds * 1_000)
    const spent = cpu.per(1)
    const heard: number[] = []
    let up = 0
    for (const id of ids) {
      if ((await now(id)).status === 'answered') up++
      const wav = (await fetched(ca, `${node.url}/v1/sandbox/voice/${id}/heard`, { authorization })).bytes
      heard.push(shareHeard(wav.subarray(Math.max(headerBytes, wav.length - seconds * bytesPerSecond))))
    }
    for (const id of ids) await client.post(`/v1/voice/${id}/hangup`, {})
    const over = await Promise.all(ids.map(now))
    const missing = await Promise.all(
      over.map(async ({ duration, recording_ids: [id] }) => {
        const ready = async () => {
          const { body } = await client.get(`/v1/voice/recording/${id}`)
          return body.status === 'ready' && body
        }
        return duration - (await eventually(ready, 'the recording', patienceMs)).duration
      }),
    )
    const least = (all: readonly number[]) => Math.min(...all)
    const most = (all: readonly number[]) => Math.max(...all)
    const name = `${count} calls of ${seconds} s`
    return [
      { name: `${name}, still up at the end`, value: up, unit: 'calls' },
      { name: `${name}, heard by the worst phone`, value: 100 * least(heard), unit: '%' },
      {
        name: `${name}, lowest opinion score`,
        value: least(over.map(({ quality }) => quality?.mos ?? 0)),
        unit: 'of 4.5',
      },
      {
        name: `${name}, lost or not sent, worst`,
        value: most(over.map(({ quality }) => quality?.packet_loss_pct ?? 100)),
        unit: '%',
      },
      { name: `${name}, shortest recording is shorter than its call by`, value: most(missing), unit: 's' },
      { name: `${name}, node and its phones, of one core`, value: (spent.node ?? 0) / (seconds * 10_000), unit: '%' },
    ]
  } finally {
    await shop.stop()
    await end(node.child)
    await rm(home, { recursive: true, force: true })
  }
}

/** Share of frames that have the tone. */
function shareHeard(sound: Buffer): number {
  const samples = Int16Array.from({ length: Math.floor(sound.length / 2) }, (_, i) => sound.readInt16LE(2 * i))
  return framesWith(samples, hertz) / Math.max(1, Math.floor(samples.length / frameSamples))
}
