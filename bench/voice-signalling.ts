// SPDX-License-Identifier: Apache-2.0
// Signalling: from INVITE to 200 at a steady number of calls a second between two processes, and a million spoiled datagrams that
// an endpoint and an end of audio outlive.
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { argv } from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import { RtpLeg } from '../src/protocols/rtp/leg.ts'
import { answerAudio, offerAudio } from '../src/protocols/sdp/session-description.ts'
import { SipEndpoint } from '../src/protocols/sip/endpoint.ts'
import { randomFrom, spoiledRtp, spoiledSip } from '../test/spoiled-datagrams.ts'
import { end, start } from './children.ts'
import type { Figure } from './report.ts'

const host = '127.0.0.1'
const own = { host, port: 40_000, version: 1 }

export async function voiceSignalling({ short }: { short: boolean }): Promise<Figure[]> {
  return [...(await setup(short ? 20 : 200, short ? 2 : 30)), await outlived(short ? 10_000 : 1_000_000)]
}

async function setup(perSecond: number, seconds: number): Promise<Figure[]> {
  const { child, said: port } = await start<number>('voice-signalling.js', ['answering'], {})
  const calling = await SipEndpoint.open({ host, ports: { udp: 0 }, invited: () => null })
  try {
    const tookMs: number[] = []
    const startedAt = performance.now()
    const calls: Promise<void>[] = []
    for (let n = 0; n < perSecond * seconds; n++) {
      calls.push(oneCall(calling, port, tookMs))
      await pause(Math.max(0, startedAt + (n * 1_000) / perSecond - performance.now()))
    }
    await Promise.all(calls)
    tookMs.sort((a, b) => a - b)
    const at = (part: number) => tookMs[Math.min(tookMs.length - 1, Math.floor(tookMs.length * part))] ?? 0
    const name = `INVITE to 200 at ${perSecond} calls/s, p99`
    return [{ name, value: at(0.99), unit: 'ms', p50Ms: at(0.5), p99Ms: at(0.99) }]
  } finally {
    await calling.close()
    await end(child)
  }
}

/** Calls, notes how long the answer took, and hangs up at once. */
function oneCall(calling: SipEndpoint, port: number, tookMs: number[]): Promise<void> {
  const beganMs = performance.now()
  return new Promise((done, failed) => {
    const call = calling.invite(
      {
        uri: `sip:+254711000001@${host}:${port}`,
        peer: { transport: 'udp', host, port },
        from: `<sip:+254700000000@${host}>`,
        description: offerAudio(own),
      },
      {
        answered: () => {
          tookMs.push(performance.now() - beganMs)
          call.hangup()
        },
        ended: () => done(),
        refused: (status) => failed(new Error(`a call was refused with ${status}`)),
      },
    )
  })
}

/** Throws spoiled datagrams, half of them at each; gives how many were thrown when both still work. */
async function outlived(count: number): Promise<Figure> {
  const random = randomFrom(20_261_117)
  const socket = createSocket('udp4').bind(0, host)
  await once(socket, 'listening')
  const timing = { t1Ms: 10, t2Ms: 40, t4Ms: 50 }
  const endpoint = await SipEndpoint.open({
    host,
    ports: { udp: 0 },
    timing,
    invited: (call) => {
      queueMicrotask(() => call.reject(486))
      return {}
    },
  })
  const leg = await RtpLeg.open({ host, nowMs: () => performance.now(), digit: () => undefined })
  const remote = { host, port: socket.address().port, rtcpPort: 9, codec: 'PCMU' as const, payloadType: 0, digits: 101 }
  leg.connect({ ...remote, hears: true })
  const peer = { transport: 'udp', host, port: endpoint.ports.udp ?? 0 } as const
  const asker = await SipEndpoint.open({ host, ports: { udp: 0 }, invited: () => null })
  try {
    const frame = new Int16Array(160)
    await throwAt(socket, peer.port, count / 2, () => spoiledSip(random))
    await throwAt(socket, leg.port, count / 2, () => {
      leg.hear(frame)
      return spoiledRtp(random)
    })
    const { status } = await asker.request('OPTIONS', `sip:${host}`, peer, { from: `<sip:asker@${host}>` })
    if (status !== 200) throw new Error(`the endpoint answers ${status}`)
    const { calls, transactions } = endpoint.size
    if (calls > 5_000 || transactions > 20_000)
      throw new Error(`${calls} calls and ${transactions} transactions are left`)
    return { name: 'spoiled datagrams outlived', value: count, unit: 'datagrams' }
  } finally {
    await Promise.all([endpoint.close(), asker.close()])
    leg.close()
    socket.close()
  }
}

const atOnce = 100

async function throwAt(socket: Socket, port: number, count: number, make: () => Buffer): Promise<void> {
  for (let sent = 0; sent < count; sent += atOnce) {
    for (let i = 0; i < atOnce; i++) socket.send(make(), port, host)
    await new Promise((done) => setImmediate(done))
  }
}

/** The process that answers. */
if (argv[2] === 'answering') {
  const endpoint = await SipEndpoint.open({
    host,
    ports: { udp: 0 },
    invited: (call) => {
      queueMicrotask(() => call.answer(answerAudio(call.offer ?? '', own) ?? ''))
      return {}
    },
  })
  process.send?.(endpoint.ports.udp)
}
