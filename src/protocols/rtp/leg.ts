// SPDX-License-Identifier: Apache-2.0
// One end of a telephone's audio on the network: a pair of UDP ports, 20 ms out and 20 ms in for every tick that its owner
// gives, digits beside the voice, reports every five seconds. It is deaf to strangers: only the address of the session
// description and that of the signalling peer are heard, and it answers where one of them speaks from (symmetric RTP), since
// ports in session descriptions lie behind NAT.
import { randomInt } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIP } from 'node:net'
import { type AudioDecoder, type AudioEncoder, type Codec, clockOf, decoderOf, encoderOf } from '../audio/codec.ts'
import { frameSamples, sampleRate } from '../audio/g711.ts'
import type { OpusWishes } from '../audio/opus.ts'
import { keyIn, keyTones } from '../audio/tones.ts'
import { JitterBuffer } from './jitter-buffer.ts'
import { headerBytes, parseRtp, type RtpPacket, readDigit, writeDigit, writeRtpHeader } from './packet.ts'
import { type Quality, Reception } from './reception.ts'
import { ntpMiddle, parseRtcp, writeReport } from './rtcp.ts'
import { type SrtpKey, SrtpStream } from './srtp.ts'

export interface RemoteAudio {
  host: string
  port: number
  rtcpPort: number
  codec: Codec
  payloadType: number
  /** Payload type of digits (RFC 4733); null if the other side takes none. */
  digits: number | null
  /** Rate of the durations of digits; 8,000 unless told. */
  digitClock?: number
  /** Payload types that its packets may have; unless told, those above. */
  takes?: Readonly<Record<number, Codec | 'digits'>>
  /** How it wants Opus. */
  opus?: OpusWishes
  /** Whether the other side wants to hear. */
  hears: boolean
  /** Address of the other side's signalling, which its audio may come from too; absent where there is none. */
  peer?: string
  /** Keys of both directions; absent where audio is not encrypted. */
  srtp?: { send: SrtpKey; receive: SrtpKey }
}

export interface LegOptions {
  host: string
  /** Lowest and highest port; absent takes any free pair. */
  ports?: readonly [number, number]
  nowMs(): number
  digit(digit: string): void
  /** Spoils what is sent, for a phone with a bad connection: null drops the packet, a number delays it. */
  impair?(): number | null
}

const reportEveryMs = 5_000
const relatchAfterMs = 2_000
const triesForPort = 50
const frameMs = 20
const framesPerSecond = 1_000 / frameMs
const digitFrames = 8
const pauseFrames = 4
const maxDigits = 64
/** Payload type of silence (RFC 3389), which is fixed and sent unasked by some. */
const comfortNoise = 13

interface Pressing {
  digit: string
  frame: number
  timestamp: number
}

export class RtpLeg {
  readonly #socket: Socket
  readonly #control: Socket
  readonly #options: LegOptions
  #remote: RemoteAudio | null = null
  #latched: { host: string; port: number } | null = null
  #encoder: AudioEncoder = encoderOf('PCMU')
  readonly #decoders = new Map<Codec, AudioDecoder>()
  #sealing: SrtpStream | null = null
  #opening: SrtpStream | null = null
  readonly #buffer = new JitterBuffer()
  readonly #reception = new Reception()
  readonly #source = randomInt(2 ** 32)
  #sequence = randomInt(2 ** 15)
  #timestamp = randomInt(2 ** 31)
  #sent = 0
  #octets = 0
  /** Frames that came too late to be sent. */
  #skipped = 0
  #lastDigitAt: number | null = null
  #inBand: { key: string; frames: number } | null = null
  readonly #dialling: string[] = []
  #pressing: Pressing | null = null
  #tones = new Int16Array(0)
  #pause = 0
  #lastReportMs: number
  #heardReport: { middle: number; atMs: number } | null = null
  #isClosed = false
  readonly port: number
  lastHeardMs: number

  private constructor(socket: Socket, control: Socket, options: LegOptions) {
    this.#socket = socket
    this.#control = control
    this.#options = options
    this.port = socket.address().port
    this.#lastReportMs = options.nowMs()
    this.lastHeardMs = options.nowMs()
    socket.on('message', (bytes, { address, port }) => this.#take(bytes, address, port))
    control.on('message', (bytes, { address }) => this.#takeReports(bytes, address))
    for (const each of [socket, control]) each.on('error', () => undefined)
  }

  /** Takes an even port and the odd one after it. */
  static async open(options: LegOptions): Promise<RtpLeg> {
    for (const wanted of portsToTry(options.ports)) {
      const socket = await bound(options.host, wanted)
      if (!socket) continue
      const { port } = socket.address()
      const control = port % 2 === 0 ? await bound(options.host, port + 1) : null
      if (control) return new RtpLeg(socket, control, options)
      socket.close()
    }
    throw new Error('no free pair of ports for audio')
  }

  /** Uses the other side's description. It replaces the last one and holds until packets come from another port of it. */
  connect(remote: RemoteAudio): void {
    if (this.#remote?.host !== remote.host || this.#remote.port !== remote.port) this.#latched = null
    this.lastHeardMs = this.#options.nowMs()
    if (this.#remote?.codec !== remote.codec) {
      this.#encoder.close?.()
      this.#encoder = encoderOf(remote.codec, remote.opus)
    }
    this.#remote = remote
    this.#sealing = streamOf(remote.srtp?.send, this.#sealing)
    this.#opening = streamOf(remote.srtp?.receive, this.#opening)
  }

  get isConnected(): boolean {
    return this.#remote !== null
  }

  #take(bytes: Buffer, host: string, port: number): void {
    const remote = this.#remote
    const opening = this.#opening
    if (!this.#isOfPeer(host)) return
    const plain = opening ? opening.open(bytes) : bytes
    const packet = plain && parseRtp(plain)
    const kind = packet && remote && kindOf(remote, packet.payloadType)
    if (!packet || !kind) return
    const nowMs = this.#options.nowMs()
    if (!this.#isFrom(host, port, nowMs)) return
    this.lastHeardMs = nowMs
    // Another source is another encoder, which what is known of the last one does not fit.
    if (packet.source !== this.#reception.source) this.#closeDecoders()
    const number = this.#reception.take(packet, nowMs, this.#clock)
    if (number === null) return
    if (kind === 'digits') this.#takeDigit(packet)
    else if (kind === 'silence') this.#buffer.putSilence(number, packet.payload)
    else this.#buffer.put(number, this.#decoderOf(kind), packet.payload)
  }

  #decoderOf(codec: Codec): AudioDecoder {
    const known = this.#decoders.get(codec)
    if (known) return known
    const decoder = decoderOf(codec)
    this.#decoders.set(codec, decoder)
    return decoder
  }

  #closeDecoders(): void {
    for (const decoder of this.#decoders.values()) decoder.close?.()
    this.#decoders.clear()
  }

  /** Rate of the timestamps of both directions. */
  get #clock(): number {
    return clockOf(this.#remote?.codec ?? 'PCMU')
  }

  /**
   * Whether a packet is the other side's. The place that the description names always is; another port of its addresses
   * is where nobody speaks yet, or after silence.
   */
  #isFrom(host: string, port: number, nowMs: number): boolean {
    const latched = this.#latched
    const remote = this.#remote
    const isNamed = host === remote?.host && port === remote.port
    const isOther = latched !== null && (latched.host !== host || latched.port !== port)
    if (isOther && !isNamed && nowMs - this.lastHeardMs < relatchAfterMs) return false
    if (!latched || isOther) this.#latched = { host, port }
    return true
  }

  #isOfPeer(host: string): boolean {
    return this.#remote !== null && (host === this.#remote.host || host === this.#remote.peer)
  }

  /** A key is told once, at its first packet; all packets of one key carry one timestamp. */
  #takeDigit(packet: RtpPacket): void {
    const event = readDigit(packet.payload)
    if (!event || this.#lastDigitAt === packet.timestamp) return
    this.#lastDigitAt = packet.timestamp
    this.#options.digit(event.digit)
  }

  #takeReports(bytes: Buffer, host: string): void {
    if (!this.#isOfPeer(host)) return
    const nowMs = this.#options.nowMs()
    const plain = this.#opening ? this.#opening.openRtcp(bytes) : bytes
    for (const { sentAt, reports } of plain ? parseRtcp(plain) : []) {
      if (sentAt !== null) this.#heardReport = { middle: sentAt, atMs: nowMs }
      for (const report of reports)
        if (report.source === this.#source) {
          this.#encoder.lost?.((100 * report.fractionLost) / 256)
          if (report.lastSenderReport === 0) continue
          const elapsed = (ntpMiddle(nowMs) - report.lastSenderReport - report.delaySinceLast) >>> 0
          if (elapsed < 10 * 65_536) this.#reception.rttMs = (1_000 * elapsed) / 65_536
        }
    }
  }

  /** The next 20 ms of what the other side says. */
  hear(into: Int16Array): void {
    this.#buffer.take(into)
    if (this.#remote?.digits === null) this.#listenForKeys(into)
  }

  /** Keys as tones, where the network carries no digits: two frames in a row begin one, silence ends it. */
  #listenForKeys(frame: Int16Array): void {
    const key = keyIn(frame)
    if (key === null) this.#inBand = null
    else if (this.#inBand?.key !== key) this.#inBand = { key, frames: 1 }
    else if (++this.#inBand.frames === 2) this.#options.digit(key)
  }

  /** Sends 20 ms, or the key that is being pressed instead of them. */
  say(frame: Int16Array): void {
    const remote = this.#remote
    this.#pass(1)
    if (!remote || this.#isClosed || !remote.hears) return
    if (remote.digits !== null && this.#press(remote.digits, remote.digitClock ?? sampleRate)) return
    const packet = Buffer.allocUnsafe(headerBytes + this.#encoder.maxBytes)
    const length = this.#encoder.encode(remote.digits === null ? this.#tonesOver(frame) : frame, packet, headerBytes)
    if (length === 0) return
    this.#transmit(packet.subarray(0, headerBytes + length), remote.payloadType, this.#timestamp, this.#sent === 0)
    this.#reportWhenDue()
  }

  #pass(frames: number): void {
    this.#timestamp = (this.#timestamp + frames * (this.#clock / framesPerSecond)) >>> 0
  }

  /** Time that passed without a frame, so that the other side does not play it late. */
  skip(frames: number): void {
    this.#pass(frames)
    if (this.#remote?.hears) this.#skipped += frames
  }

  /** Queues keys to be pressed one after the other. */
  dial(digits: string): void {
    for (const digit of digits) if (this.#dialling.length < maxDigits) this.#dialling.push(digit)
  }

  /** What is said, or the tones of the key that is being pressed, where the network carries no digits. */
  #tonesOver(frame: Int16Array): Int16Array {
    if (this.#tones.length === 0) {
      const digit = this.#dialling.shift()
      if (digit === undefined) return frame
      this.#tones = keyTones(digit, digitFrames * frameMs, pauseFrames * frameMs)
    }
    const part = this.#tones.subarray(0, frameSamples)
    this.#tones = this.#tones.subarray(frameSamples)
    return part
  }

  #press(payloadType: number, clock: number): boolean {
    if (this.#pause > 0) {
      this.#pause--
      return false
    }
    if (!this.#pressing) {
      const digit = this.#dialling.shift()
      if (digit === undefined) return false
      this.#pressing = { digit, frame: 0, timestamp: this.#timestamp }
    }
    const pressing = this.#pressing
    pressing.frame++
    const isEnd = pressing.frame >= digitFrames
    const payload = writeDigit({ digit: pressing.digit, isEnd, duration: pressing.frame * (clock / framesPerSecond) })
    // The end is said three times, since nothing follows from which a loss could be seen.
    for (let i = 0; i < (isEnd ? 3 : 1); i++) {
      const packet = Buffer.concat([Buffer.alloc(headerBytes), payload])
      this.#transmit(packet, payloadType, pressing.timestamp, pressing.frame === 1)
    }
    if (isEnd) {
      this.#pressing = null
      this.#pause = pauseFrames
    }
    return true
  }

  #transmit(packet: Buffer, payloadType: number, timestamp: number, marker: boolean): void {
    this.#sequence = (this.#sequence + 1) & 0xffff
    writeRtpHeader(packet, { payloadType, marker, sequence: this.#sequence, timestamp, source: this.#source })
    this.#sent++
    this.#octets += packet.length - headerBytes
    const sealed = this.#sealing ? this.#sealing.protect(packet) : packet
    const delay = this.#options.impair ? this.#options.impair() : 0
    if (delay === null) return
    if (delay > 0) setTimeout(() => this.#post(sealed), delay).unref()
    else this.#post(sealed)
  }

  #post(packet: Buffer): void {
    const to = this.#latched ?? this.#remote
    if (to && !this.#isClosed) this.#socket.send(packet, to.port, to.host, () => undefined)
  }

  #reportWhenDue(): void {
    const nowMs = this.#options.nowMs()
    if (nowMs - this.#lastReportMs < reportEveryMs || !this.#remote) return
    this.#lastReportMs = nowMs
    const since = this.#heardReport ? Math.round(((nowMs - this.#heardReport.atMs) * 65_536) / 1_000) : 0
    const own = {
      source: this.#source,
      nowMs,
      timestamp: this.#timestamp,
      packets: this.#sent,
      octets: this.#octets,
    }
    const report = writeReport(own, this.#reception.report(this.#heardReport?.middle ?? 0, since))
    const sealed = this.#sealing ? this.#sealing.protectRtcp(report) : report
    this.#control.send(sealed, this.#remote.rtcpPort, this.#latched?.host ?? this.#remote.host, () => undefined)
  }

  quality(): Quality | null {
    return this.#reception.quality(this.#skipped / Math.max(1, this.#sent + this.#skipped))
  }

  get figures(): { sent: number; received: number } {
    return { sent: this.#sent, received: this.#reception.received }
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#encoder.close?.()
    this.#closeDecoders()
    this.#socket.close()
    this.#control.close()
  }
}

/** What a packet brings; null for types that were not agreed. */
function kindOf(remote: RemoteAudio, payloadType: number): Codec | 'digits' | 'silence' | null {
  const { codec, digits, takes } = remote
  if (takes?.[payloadType] !== undefined) return takes[payloadType]
  if (payloadType === comfortNoise) return 'silence'
  if (takes) return null
  return payloadType === remote.payloadType ? codec : payloadType === digits ? 'digits' : null
}

/** Stream of a key: the one that is there goes on counting while the key is the same. */
function streamOf(key: SrtpKey | undefined, known: SrtpStream | null): SrtpStream | null {
  if (!key) return null
  return known?.key.key === key.key && known.key.suite === key.suite ? known : new SrtpStream(key)
}

async function bound(host: string, port: number): Promise<Socket | null> {
  const socket = createSocket({ type: isIP(host) === 6 ? 'udp6' : 'udp4' })
  try {
    socket.bind({ port, address: host, exclusive: true })
    await once(socket, 'listening')
    return socket
  } catch {
    socket.close()
    return null
  }
}

/** Number of pairs, an even port and the odd one after it, between two ports. */
export function countPairs([lowest, highest]: readonly [number, number]): number {
  return Math.max(0, Math.floor((highest + 1 - evenFrom(lowest)) / 2))
}

/** Even ports of a range, each once, from a random one on; any free port without a range. */
function* portsToTry(ports: readonly [number, number] | undefined): Generator<number> {
  if (!ports) return yield* new Array<number>(triesForPort).fill(0)
  const count = countPairs(ports)
  const first = count > 0 ? randomInt(count) : 0
  for (let i = 0; i < count; i++) yield evenFrom(ports[0]) + 2 * ((first + i) % count)
}

function evenFrom(port: number): number {
  return port + (port % 2)
}
