// SPDX-License-Identifier: Apache-2.0
// A phone at the end of a bad line: it calls over real SIP, hums, and keeps what it hears, while a relay between it and the node loses
// and delays packets both ways by a generator that begins the same every time.
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { silence } from '../src/protocols/audio/tones.ts'
import { MediaEngine } from '../src/protocols/media/engine.ts'
import { agreedAudio, offerAudio } from '../src/protocols/sdp/session-description.ts'
import { SipEndpoint } from '../src/protocols/sip/endpoint.ts'
import { eventually } from './eventually.ts'
import { endless, hum } from './hearing.ts'

export interface Line {
  /** Share of packets that are lost, of 1. */
  readonly loss: number
  /** Packets are delayed by up to this. */
  readonly jitterMs: number
  /** Packets of the phone, by their number, that all are lost. */
  readonly dead?: readonly [first: number, last: number]
}

const host = '127.0.0.1'
const leg = 'phone'

/** Numbers from 0 to 1 that look random and are the same for the same seed. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

class Relay {
  readonly node: Socket = createSocket('udp4')
  readonly phone: Socket = createSocket('udp4')
  nodePort = 0
  phonePort = 0
  #sent = 0
  readonly #line: Line

  constructor(line: Line) {
    this.#line = line
    const [down, up] = [generator(1), generator(2)]
    this.node.on('message', (packet) => this.#carry(down, () => this.phone.send(packet, this.phonePort, host)))
    this.phone.on('message', (packet) => {
      const [first = Number.POSITIVE_INFINITY, last = 0] = line.dead ?? []
      const number = this.#sent++
      if (number < first || number > last) this.#carry(up, () => this.node.send(packet, this.nodePort, host))
    })
  }

  async open(): Promise<void> {
    for (const socket of [this.node, this.phone]) {
      socket.bind(0, host)
      await once(socket, 'listening')
    }
  }

  #carry(random: () => number, send: () => void): void {
    const [isLost, delayMs] = [random() < this.#line.loss, random() * this.#line.jitterMs]
    if (isLost) return
    if (delayMs === 0) send()
    else setTimeout(() => this.#isOpen && send(), delayMs).unref()
  }

  #isOpen = true

  close(): void {
    this.#isOpen = false
    this.node.close()
    this.phone.close()
  }
}

export interface BadLinePhone {
  /** Samples that it has heard so far. */
  heard(): Int16Array
  stop(): Promise<void>
}

/** Calls a number of the node whose SIP is at a port, and hums once it is answered. */
export async function callByBadLine(line: Line, number: string, port: number, hertz: number): Promise<BadLinePhone> {
  const relay = new Relay(line)
  await relay.open()
  const heard: Int16Array[] = []
  const nothing = () => undefined
  const engine = new MediaEngine(
    { nowMs: () => performance.now(), silentMs: 3_600_000, latestMs: 60_000 },
    {
      digit: nothing,
      silent: nothing,
      played: nothing,
      recorded: (_recorder, [sound]) => void heard.push(sound ?? silence(0)),
      recordingEnded: nothing,
      speechBegan: nothing,
      speechEnded: nothing,
      answerer: nothing,
    },
  )
  relay.phonePort = await engine.open(leg, leg, host)
  let isAnswered = false
  const endpoint = await SipEndpoint.open({ host, ports: { udp: 0 }, invited: () => null })
  const call = endpoint.invite(
    {
      uri: `sip:${number}@${host}:${port}`,
      peer: { transport: 'udp', host, port },
      from: `<sip:+254711000099@${host}>`,
      description: offerAudio({ host, port: relay.node.address().port, version: 1 }),
    },
    {
      answered: (description) => {
        const remote = agreedAudio(description)
        if (!remote) return
        relay.nodePort = remote.port
        const inner = relay.phone.address().port
        engine.connect(leg, { ...remote, host, port: inner, rtcpPort: inner + 1 })
        engine.record(leg, leg, [{ only: [leg] }], { silenceMs: 0, maxMs: 600_000, endKeys: '', chunkFrames: 10 })
        engine.play(leg, 'hum', hum(hertz), { loop: endless, level: 1, to: [leg] })
        isAnswered = true
      },
    },
  )
  await eventually(async () => isAnswered, 'the call to be answered')
  return {
    heard: () => {
      const whole = new Int16Array(heard.reduce((sum, { length }) => sum + length, 0))
      let at = 0
      for (const sound of heard) {
        whole.set(sound, at)
        at += sound.length
      }
      return whole
    },
    stop: async () => {
      call.hangup()
      engine.closeAll()
      await endpoint.close()
      relay.close()
    },
  }
}
