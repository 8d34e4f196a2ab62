// SPDX-License-Identifier: Apache-2.0
// First sound: from the moment a customer's server has said what a call does until the caller hears the first of it, through a whole
// node, over real SIP and RTP: of a text that was spoken before, as menus are, and of one that nobody has heard yet.
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { rms } from '../src/protocols/audio/tones.ts'
import { MediaEngine } from '../src/protocols/media/engine.ts'
import { agreedAudio, offerAudio } from '../src/protocols/sdp/session-description.ts'
import { SipEndpoint } from '../src/protocols/sip/endpoint.ts'
import { Client } from '../test/client.ts'
import { type Receiver, startReceiver } from '../test/receiver.ts'
import { end, startNodeProcess } from './children.ts'
import { newHome } from './home.ts'
import type { Figure } from './report.ts'

const host = '127.0.0.1'
const number = '+254700111222'
const known = 'Karibu. Bonyeza moja kwa salio.'
const fresh = (i: number) => `Habari. Salio lako ni shilingi ${1_000 + 37 * i}.`
const audible = 200
const patienceMs = 30_000

export async function voiceFirstSound({ short }: { short: boolean }): Promise<Figure[]> {
  const home = await newHome()
  const node = await startNodeProcess({
    PAMOJA_HOME: home,
    PAMOJA_RATE_LIMITS: 'off',
    PAMOJA_SIP_PORT: '0',
    // On a busy machine calls are taken as well; the figure tells.
    PAMOJA_VOICE_LATENESS_MS: '60000',
  })
  const shop = await startReceiver()
  const phones = new Phones()
  try {
    const client = new Client(node.url, readFileSync(node.caFile, 'utf8'), node.credentials.api_key)
    const { status, text } = await client.post(`/v1/voice/numbers/${encodeURIComponent(number)}/assign`, {
      application: { answer_url: shop.url('/answer') },
    })
    if (status !== 200) throw new Error(`the number was assigned with ${status} ${text}`)
    const { port } = new URL((node.credentials.listeners.sip ?? '').replace('sip:', 'http:'))
    await phones.open()
    const took = async (textOf: (i: number) => string) => {
      const all: number[] = []
      for (let i = 0; i <= (short ? 2 : 40); i++) all.push(await phones.call(Number(port), shop, textOf(i)))
      // The first one waited for the engine to start.
      const sorted = all.slice(1).sort((a, b) => a - b)
      const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
      return { value: at(0.99), unit: 'ms', p50Ms: at(0.5), p99Ms: at(0.99) }
    }
    return [
      { name: "first sound after the flow's reply, p99", ...(await took(() => known)) },
      { name: 'first sound of a text that was not said before, p99', ...(await took(fresh)) },
    ]
  } finally {
    await phones.close()
    await shop.stop()
    await end(node.child)
    await rm(home, { recursive: true, force: true })
  }
}

/** Phones that call one after the other and notice the first sound. */
class Phones {
  #endpoint: SipEndpoint | null = null
  #heard: () => void = () => undefined
  #calls = 0
  readonly #engine: MediaEngine

  constructor() {
    const nothing = () => undefined
    this.#engine = new MediaEngine(
      { nowMs: () => performance.now(), silentMs: 600_000, latestMs: 60_000 },
      {
        digit: nothing,
        silent: nothing,
        played: nothing,
        recorded: (_recorder, [sound]) => {
          if (sound && rms(sound) > audible) this.#heard()
        },
        recordingEnded: nothing,
        speechBegan: nothing,
        speechEnded: nothing,
        answerer: nothing,
      },
    )
  }

  async open(): Promise<void> {
    this.#endpoint = await SipEndpoint.open({ host, ports: { udp: 0 }, invited: () => null })
  }

  /** Milliseconds from the reply of the customer's server to the first sound. */
  async call(port: number, shop: Receiver, text: string): Promise<number> {
    const leg = `leg ${++this.#calls}`
    const own = { host, port: await this.#engine.open(leg, leg, host), version: 1 }
    this.#engine.record(leg, leg, [{ only: [leg] }], { silenceMs: 0, maxMs: 600_000, endKeys: '', chunkFrames: 1 })
    let repliedMs = 0
    shop.answer((_request, response) => {
      response.end(JSON.stringify([{ action: 'talk', text, language: 'sw-KE' }]))
      repliedMs = performance.now()
    })
    let fail = (_problem: Error): void => undefined
    const first = new Promise<number>((done, failed) => {
      this.#heard = () => done(performance.now() - repliedMs)
      fail = failed
    })
    setTimeout(() => fail(new Error('the caller heard nothing')), patienceMs).unref()
    const call = this.#endpoint?.invite(
      {
        uri: `sip:${number}@${host}:${port}`,
        peer: { transport: 'udp', host, port },
        from: `<sip:+254711000099@${host}>`,
        description: offerAudio(own),
      },
      {
        answered: (description) => {
          const remote = agreedAudio(description)
          if (remote) this.#engine.connect(leg, remote)
        },
        refused: (status) => fail(new Error(`the call was refused with ${status}`)),
      },
    )
    const tookMs = await first
    call?.hangup()
    this.#engine.close(leg)
    return tookMs
  }

  async close(): Promise<void> {
    await this.#endpoint?.close()
    this.#engine.closeAll()
  }
}
