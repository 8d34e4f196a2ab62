// SPDX-License-Identifier: Apache-2.0
// Audio: 400 duplex streams on one core against as many in another process, and how evenly and completely they arrive.
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { LegEnd } from '../src/protocols/media/engine.ts'
import { end, start } from './children.ts'
import type { Figure } from './report.ts'
import { Streams } from './voice-streams.ts'

export async function voiceMedia({ short }: { short: boolean }): Promise<Figure[]> {
  const count = short ? 20 : 400
  const { child, said: theirs } = await start<number[]>('voice-streams.js', ['peer', String(count)], {})
  try {
    const { streams, ports } = await Streams.open(count)
    streams.connect(theirs)
    child.send(ports)
    // What is sent before both sides know each other is nobody's loss.
    const cpu = process.cpuUsage()
    const seconds = short ? 3 : 40
    await pause(seconds * 1_000)
    const { user, system } = process.cpuUsage(cpu)
    const { lateMs } = streams
    const others: Promise<[LegEnd[]]> = once(child, 'message').then(([ends]) => [ends])
    child.send('end')
    const [far] = await others
    const all = [...streams.end(), ...far]
    const jitter = all.map(({ quality }) => quality?.jitterMs ?? 0).sort((a, b) => a - b)
    const at = (part: number) => jitter[Math.min(jitter.length - 1, Math.floor(jitter.length * part))] ?? 0
    const lost = all.reduce((sum, { quality }) => sum + (quality?.lossPercent ?? 100), 0) / all.length
    const name = `${count} duplex streams`
    return [
      { name: `${name}, jitter p99`, value: at(0.99), unit: 'ms', p50Ms: at(0.5), p99Ms: at(0.99) },
      { name: `${name}, lost`, value: lost, unit: '%' },
      { name: `${name}, lateness of a tick p99`, value: lateMs, unit: 'ms' },
      { name: `${name}, of one core`, value: (user + system) / (seconds * 10_000), unit: '%' },
    ]
  } finally {
    await end(child)
  }
}
