// SPDX-License-Identifier: Apache-2.0
// A telephone network on this machine: a carrier that takes calls, and phones that answer them or call. It is the same SIP and
// RTP in the opposite role, over real sockets. The last digits of a number (…0000NN) choose what its phone does; others answer
// and stay. Each phone remembers a minute of what it heard.
import { randomInt } from 'node:crypto'
import { clearTimeout, setTimeout } from 'node:timers'
import type { Codec } from '../protocols/audio/codec.ts'
import { silence, tone } from '../protocols/audio/tones.ts'
import { MediaEngine } from '../protocols/media/engine.ts'
import { agreedAudio, answerAudio, offerAudio, usualCodecs } from '../protocols/sdp/session-description.ts'
import type { SipCall } from '../protocols/sip/call.ts'
import { SipEndpoint } from '../protocols/sip/endpoint.ts'
import { parseUri } from '../protocols/sip/header-values.ts'
import type { CallHandlers } from '../protocols/sip/switchboard.ts'

interface Options {
  host: string
  nowMs(): number
  /** Duration of a second of a phone's delays. */
  timeScale: number
}

interface Phone {
  sip: SipCall
  /** Whether it rings until it is picked up by a request, or was. */
  isRinging: boolean
  leg: string
  digits: string
  heard: Int16Array[]
  timers: NodeJS.Timeout[]
  /** What it is to say once its audio is open. */
  unsaid: Saying | null
  /** Codecs that it speaks. */
  codecs: readonly Codec[]
}

interface Saying {
  readonly samples: Int16Array
  /** How often; 0 until it is over. */
  readonly loop: number
}

/** Whether a person at this number picks up the phone of a call. */
type Attendant = (call: string) => Promise<boolean>

interface AudioEnd {
  readonly host: string
  readonly port: number
}

type Behaviour = (network: TelephoneSimulator, phone: Phone) => void

const keptChunks = 300
/** A fifth of a second, so that a test need not wait long for what a phone heard. */
const chunkFrames = 10
const maxPhones = 1_000
const jitterMs = 80
const lossPercent = 5
/** Time that a phone which is off is spoken for, whatever the delays of other phones. */
const announcementMs = 30_000

const behaviours: Readonly<Record<string, Behaviour>> = {
  '01': (network, phone) => network.after(phone, 1_000, () => network.answer(phone)),
  '02': (_network, { sip }) => sip.reject(486),
  '03': (_network, { sip }) => sip.reject(603),
  '04': (_network, phone) => {
    phone.isRinging = true
  },
  '05': (_network, { sip }) => sip.reject(500),
  '06': (network, phone) => {
    network.answer(phone)
    network.after(phone, 2_000, () => phone.sip.hangup())
  },
  '07': (network, phone) => {
    network.answer(phone)
    network.say(phone, greeting())
  },
  '09': (network, phone) => {
    network.answer(phone)
    network.after(phone, 500, () => network.fallSilent(phone))
  },
  '10': (network, phone) => {
    network.announce(phone)
    network.after(phone, announcementMs, () => phone.sip.reject(480))
  },
  '11': (network, phone) => {
    phone.codecs = ['opus']
    network.answer(phone)
  },
}

/** A voice for someone who has none: noise that comes and goes as syllables do, then a beep. */
function greeting(): Int16Array {
  const speech = tone([190, 410, 730, 1_130], 3_200, 9_000)
  for (let i = 0; i < speech.length; i++) speech[i] = (speech[i] ?? 0) * (0.6 + 0.4 * Math.sin(i / 160))
  return Int16Array.from([...speech, ...silence(300), ...tone([1_000], 600)])
}

const personOf = ({ leg }: Phone): string => `${leg} person`

/** The three tones that come before a network's announcement, again and again. */
function announcement(): Int16Array {
  const tones = [950, 1_400, 1_800].map((hertz) => tone([hertz], 330))
  return joined(Array.from({ length: 30 }, () => tones).flat())
}

function joined(sounds: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(sounds.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const sound of sounds) {
    whole.set(sound, at)
    at += sound.length
  }
  return whole
}

export class TelephoneSimulator {
  readonly #options: Options
  readonly #phones = new Map<string, Phone>()
  readonly #byLeg = new Map<string, Phone>()
  readonly #engine: MediaEngine
  #endpoint: SipEndpoint | null = null
  #legs = 0
  readonly #attendants = new Map<string, Set<Attendant>>()

  private constructor(options: Options) {
    this.#options = options
    const nothing = () => undefined
    this.#engine = new MediaEngine(
      { nowMs: options.nowMs, silentMs: 3_600_000, latestMs: 10_000 },
      {
        digit: (leg, digit) => {
          const phone = this.#byLeg.get(leg)
          if (phone) phone.digits += digit
        },
        silent: nothing,
        played: nothing,
        recorded: (recorder, [sound]) => {
          const phone = this.#byLeg.get(recorder)
          if (sound) phone?.heard.push(sound)
          if (phone && phone.heard.length > keptChunks) phone.heard.shift()
        },
        recordingEnded: nothing,
        speechBegan: nothing,
        speechEnded: nothing,
        answerer: nothing,
      },
    )
  }

  static async start(options: Options): Promise<TelephoneSimulator> {
    const simulator = new TelephoneSimulator(options)
    simulator.#endpoint = await SipEndpoint.open({
      host: options.host,
      ports: { udp: 0 },
      invited: (sip) => simulator.#invited(sip),
    })
    return simulator
  }

  get port(): number {
    return this.#endpoint?.ports.udp ?? 0
  }

  #invited(sip: SipCall): CallHandlers | null {
    if (this.#phones.size >= maxPhones) return null
    const number = parseUri(sip.requestUri).user ?? ''
    const name = sip.header('x-pamoja-call') ?? sip.callId
    const phone = this.#phone(sip, name)
    const ending = /0000(\d\d)$/.exec(number)?.[1] ?? ''
    const behave = () => {
      if (ending !== '02' && ending !== '03' && ending !== '05') sip.ring()
      const known = behaviours[ending]
      if (known) known(this, phone)
      else this.answer(phone, ending === '08')
    }
    this.#isAttended(number, name).then((isAttended) => {
      if (!isAttended) return behave()
      sip.ring()
      phone.isRinging = true
    }, behave)
    return this.#handlersOf(phone)
  }

  async #isAttended(number: string, call: string): Promise<boolean> {
    for (const attendant of this.#attendants.get(number) ?? []) if (await attendant(call)) return true
    return false
  }

  #phone(sip: SipCall, name: string, leg = `phone${++this.#legs}`): Phone {
    const phone = { sip, isRinging: false, leg, digits: '', heard: [], timers: [], unsaid: null, codecs: usualCodecs }
    this.#phones.set(name, phone)
    this.#byLeg.set(phone.leg, phone)
    return phone
  }

  #handlersOf(phone: Phone): CallHandlers {
    const over = () => this.#over(phone)
    return {
      ended: over,
      refused: over,
      answered: (description) => this.#connect(phone, description),
      offered: (description) => {
        this.#connect(phone, description)
        return answerAudio(description, {
          ...{ host: this.#options.host, port: this.#ports.get(phone.leg) ?? 0, version: 2 },
          codecs: phone.codecs,
        })
      },
    }
  }

  readonly #ports = new Map<string, number>()

  async #open(leg: string, isBad: boolean): Promise<number> {
    const impair = isBad ? () => (randomInt(100) < lossPercent ? null : randomInt(jitterMs)) : undefined
    const port = await this.#engine.open(leg, leg, this.#options.host, impair)
    this.#ports.set(leg, port)
    this.#engine.record(leg, leg, [{ only: [leg] }], {
      silenceMs: 0,
      maxMs: 4 * 3_600_000,
      endKeys: '',
      chunkFrames,
    })
    return port
  }

  #connect(phone: Phone, description: string): void {
    const remote = agreedAudio(description, { codecs: phone.codecs })
    if (remote) this.#engine.connect(phone.leg, remote)
  }

  answer(phone: Phone, isBad = false): void {
    const { offer } = phone.sip
    this.#open(phone.leg, isBad).then(
      (port) => {
        if (phone.unsaid) this.say(phone, phone.unsaid.samples, phone.unsaid.loop)
        phone.unsaid = null
        const own = { host: this.#options.host, port, version: 1, codecs: phone.codecs }
        const description = offer === null ? offerAudio(own) : answerAudio(offer, own)
        if (description === null) return phone.sip.reject(488)
        phone.sip.answer(description)
      },
      () => phone.sip.reject(503),
    )
  }

  /** Speaks for a phone that is off, before and instead of an answer. */
  announce(phone: Phone): void {
    const { offer } = phone.sip
    this.#open(phone.leg, false).then(
      (port) => {
        const description = offer === null ? null : answerAudio(offer, { host: this.#options.host, port, version: 1 })
        if (offer === null || description === null) return phone.sip.reject(488)
        this.#connect(phone, offer)
        phone.sip.ring(183, description)
        this.say(phone, announcement())
      },
      () => phone.sip.reject(503),
    )
  }

  after(phone: Phone, ms: number, then: () => void): void {
    phone.timers.push(setTimeout(then, ms * this.#options.timeScale))
  }

  say(phone: Phone, samples: Int16Array, loop = 1): void {
    if (!this.#ports.has(phone.leg)) {
      phone.unsaid = { samples, loop }
      return
    }
    const player = `${phone.leg} says ${this.#options.nowMs()}`
    this.#engine.play(phone.leg, player, samples, { loop, level: 1, to: [phone.leg] })
  }

  /** Sends no audio any more, and does not hang up: a phone whose connection is lost. */
  fallSilent(phone: Phone): void {
    if (this.#ports.delete(phone.leg)) this.#engine.close(phone.leg)
  }

  #over(phone: Phone): void {
    for (const timer of phone.timers) clearTimeout(timer)
    this.#leave(phone)
    if (this.#ports.delete(phone.leg)) this.#engine.close(phone.leg)
    // The record of an ended call stays readable for a while.
    setTimeout(() => {
      this.#byLeg.delete(phone.leg)
      for (const [name, each] of this.#phones) if (each === phone) this.#phones.delete(name)
    }, 60_000).unref()
  }

  // --- what a test may ask for ---

  /** A phone calls a number at a SIP address. */
  async call(from: string, to: string, at: { host: string; port: number }, token: string): Promise<void> {
    const endpoint = this.#endpoint
    if (!endpoint) return
    const leg = `phone${++this.#legs}`
    const port = await this.#open(leg, false)
    const handlers: CallHandlers = {}
    const sip = endpoint.invite(
      {
        uri: `sip:${to}@${at.host}:${at.port};user=phone`,
        peer: { transport: 'udp', host: at.host, port: at.port },
        from: `<sip:${from}@${this.#options.host}>`,
        description: offerAudio({ host: this.#options.host, port, version: 1 }),
        headers: [['X-Pamoja-Sandbox', token]],
      },
      handlers,
    )
    const phone = this.#phone(sip, token, leg)
    Object.assign(handlers, this.#handlersOf(phone))
  }

  /** Calls a phone by another name from now on: the id of the call that it is in. */
  rename(token: string, name: string): void {
    const phone = this.#phones.get(token)
    if (!phone) return
    this.#phones.delete(token)
    this.#phones.set(name, phone)
  }

  press(name: string, digits: string): boolean {
    const phone = this.#phones.get(name)
    if (!phone || phone.sip.isOver) return false
    this.#engine.dial(phone.leg, digits)
    return true
  }

  speak(name: string, samples: Int16Array, loop = 1): boolean {
    const phone = this.#phones.get(name)
    if (!phone || phone.sip.isOver) return false
    this.say(phone, samples, loop)
    return true
  }

  pickUp(name: string): boolean {
    const phone = this.#phones.get(name)
    if (!phone?.isRinging || phone.sip.isOver) return false
    phone.isRinging = false
    this.answer(phone)
    return true
  }

  /** Calls to a number ring until they are picked up, as far as its attendant wants them. */
  attend(number: string, attendant: Attendant): () => void {
    const known = this.#attendants.get(number) ?? new Set()
    this.#attendants.set(number, known.add(attendant))
    return () => {
      known.delete(attendant)
      if (known.size === 0 && this.#attendants.get(number) === known) this.#attendants.delete(number)
    }
  }

  /** A person speaks and listens by a phone that is in a call: gives where to send their audio. A later one replaces an earlier. */
  async join(name: string, person: AudioEnd): Promise<AudioEnd | null> {
    const phone = this.#phones.get(name)
    if (!phone || phone.sip.isOver || !this.#ports.has(phone.leg)) return null
    this.#leave(phone)
    const { host } = this.#options
    const port = await this.#engine.open(personOf(phone), phone.leg, host)
    this.#engine.connect(personOf(phone), {
      ...{ ...person, rtcpPort: person.port + 1, codec: 'PCMU', payloadType: 0, digits: null },
      ...{ hears: true, sends: true },
    })
    this.#persons.add(phone.leg)
    if (!phone.sip.isOver) return { host, port }
    this.#leave(phone)
    return null
  }

  readonly #persons = new Set<string>()

  #leave(phone: Phone): void {
    if (this.#persons.delete(phone.leg)) this.#engine.close(personOf(phone))
  }

  hangup(name: string): boolean {
    const phone = this.#phones.get(name)
    if (!phone || phone.sip.isOver) return false
    phone.sip.hangup()
    return true
  }

  heard(name: string): { samples: Int16Array; digits: string } | null {
    const phone = this.#phones.get(name)
    if (!phone) return null
    return { samples: joined(phone.heard), digits: phone.digits }
  }

  async stop(): Promise<void> {
    await this.#endpoint?.close()
    this.#engine.closeAll()
  }
}
