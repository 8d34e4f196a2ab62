// SPDX-License-Identifier: Apache-2.0
// One end of a telephone's audio on the network: a pair of UDP ports, 20 ms out and 20 ms in for every tick that its owner
// gives, digits beside the voice, reports every five seconds. It answers where it is spoken to from (symmetric RTP), since
// addresses in session descriptions lie behind NAT.
import { randomInt } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIP } from 'node:net'
import { type Codec, encode, frameSamples } from '../audio/g711.ts'
import { keyIn } from '../audio/tones.ts'
import { JitterBuffer } from './jitter-buffer.ts'
import { headerBytes, parseRtp, type RtpPacket, readDigit, writeDigit, writeRtpHeader } from './packet.ts'
import { type Quality, Reception } from './reception.ts'
import { ntpMiddle, parseRtcp, writeReport } from './rtcp.ts'

export interface RemoteAudio {
  host: string
  port: number
  rtcpPort: number
  codec: Codec
  payloadType: number
  digits: number | null
  /** Whether the other side wants to hear. */
  hears: boolean
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
const digitFrames = 8
const pauseFrames = 4
const mostDigits = 64

interface Pressing {
  digit: string
  frame: number
  timestamp: number
}

export class RtpLeg {
  private readonly socket: Socket
  private readonly control: Socket
  private readonly options: LegOptions
  private remote: RemoteAudio | null = null
  private latched: { host: string; port: number } | null = null
  private readonly buffer = new JitterBuffer()
  private readonly reception = new Reception()
  private readonly source = randomInt(2 ** 32)
  private sequence = randomInt(2 ** 15)
  private timestamp = randomInt(2 ** 31)
  private sent = 0
  private lastDigitAt: number | null = null
  private inBand: { key: string; frames: number } | null = null
  private readonly dialling: string[] = []
  private pressing: Pressing | null = null
  private pause = 0
  private lastReportMs: number
  private heardReport: { middle: number; atMs: number } | null = null
  private isClosed = false
  readonly port: number
  lastHeardMs: number

  private constructor(socket: Socket, control: Socket, options: LegOptions) {
    this.socket = socket
    this.control = control
    this.options = options
    this.port = socket.address().port
    this.lastReportMs = options.nowMs()
    this.lastHeardMs = options.nowMs()
    socket.on('message', (bytes, { address, port }) => this.take(bytes, address, port))
    control.on('message', (bytes) => this.takeReports(bytes))
    for (const each of [socket, control]) each.on('error', () => undefined)
  }

  /** Takes an even port and the odd one after it. */
  static async open(options: LegOptions): Promise<RtpLeg> {
    for (let tries = 0; tries < triesForPort; tries++) {
      const wanted = options.ports ? evenBetween(...options.ports) : 0
      const socket = await bound(options.host, wanted)
      if (!socket) continue
      const { port } = socket.address()
      const control = port % 2 === 0 ? await bound(options.host, port + 1) : null
      if (control) return new RtpLeg(socket, control, options)
      socket.close()
    }
    throw new Error('no free pair of ports for audio')
  }

  /** Use the other side's description. It replaces the last one and holds until packets come from elsewhere. */
  connect(remote: RemoteAudio): void {
    if (this.remote?.host !== remote.host || this.remote.port !== remote.port) this.latched = null
    if (!this.remote) this.lastHeardMs = this.options.nowMs()
    this.remote = remote
  }

  get isConnected(): boolean {
    return this.remote !== null
  }

  private take(bytes: Buffer, host: string, port: number): void {
    const packet = parseRtp(bytes)
    const { remote } = this
    if (!packet || !remote || (packet.payloadType !== remote.payloadType && packet.payloadType !== remote.digits))
      return
    const nowMs = this.options.nowMs()
    if (!this.isFrom(host, port, nowMs)) return
    this.lastHeardMs = nowMs
    const number = this.reception.take(packet, nowMs)
    if (number === null) return
    if (packet.payloadType === remote.digits) this.takeDigit(packet)
    else this.buffer.put(number, remote.codec, packet.payload)
  }

  /** The first speaker is the other side; another one only after the first has been silent. */
  private isFrom(host: string, port: number, nowMs: number): boolean {
    const { latched } = this
    if (latched && (latched.host !== host || latched.port !== port) && nowMs - this.lastHeardMs < relatchAfterMs)
      return false
    this.latched = { host, port }
    return true
  }

  /** A key is told once, at its first packet; all packets of one key carry one timestamp. */
  private takeDigit(packet: RtpPacket): void {
    const event = readDigit(packet.payload)
    if (!event || this.lastDigitAt === packet.timestamp) return
    this.lastDigitAt = packet.timestamp
    this.options.digit(event.digit)
  }

  private takeReports(bytes: Buffer): void {
    const nowMs = this.options.nowMs()
    for (const { sentAt, reports } of parseRtcp(bytes)) {
      if (sentAt !== null) this.heardReport = { middle: sentAt, atMs: nowMs }
      for (const report of reports)
        if (report.source === this.source && report.lastSenderReport !== 0) {
          const elapsed = (ntpMiddle(nowMs) - report.lastSenderReport - report.delaySinceLast) >>> 0
          if (elapsed < 10 * 65_536) this.reception.rttMs = (1_000 * elapsed) / 65_536
        }
    }
  }

  /** The next 20 ms of what the other side says. */
  hear(into: Int16Array): void {
    this.buffer.take(into)
    if (this.remote?.digits === null) this.listenForKeys(into)
  }

  /** Keys as tones, where the network carries no digits: two frames in a row begin one, silence ends it. */
  private listenForKeys(frame: Int16Array): void {
    const key = keyIn(frame)
    if (key === null) this.inBand = null
    else if (this.inBand?.key !== key) this.inBand = { key, frames: 1 }
    else if (++this.inBand.frames === 2) this.options.digit(key)
  }

  /** Sends 20 ms, or the key that is being pressed instead of them. */
  say(frame: Int16Array): void {
    const { remote } = this
    this.timestamp = (this.timestamp + frameSamples) >>> 0
    if (!remote || this.isClosed || !remote.hears) return
    if (remote.digits !== null && this.press(remote.digits)) return
    const packet = Buffer.allocUnsafe(headerBytes + frameSamples)
    encode(remote.codec, frame, packet, headerBytes)
    this.transmit(packet, remote.payloadType, this.timestamp, this.sent === 0)
    this.reportWhenDue()
  }

  /** Time that passed without a frame, so that the other side does not play it late. */
  skip(frames: number): void {
    this.timestamp = (this.timestamp + frames * frameSamples) >>> 0
  }

  /** Queues keys to be pressed one after the other. */
  dial(digits: string): void {
    for (const digit of digits) if (this.dialling.length < mostDigits) this.dialling.push(digit)
  }

  private press(payloadType: number): boolean {
    if (this.pause > 0) {
      this.pause--
      return false
    }
    if (!this.pressing) {
      const digit = this.dialling.shift()
      if (digit === undefined) return false
      this.pressing = { digit, frame: 0, timestamp: this.timestamp }
    }
    const { pressing } = this
    pressing.frame++
    const isEnd = pressing.frame >= digitFrames
    const payload = writeDigit({ digit: pressing.digit, isEnd, duration: pressing.frame * frameSamples })
    // The end is said three times, since nothing follows from which a loss could be seen.
    for (let i = 0; i < (isEnd ? 3 : 1); i++) {
      const packet = Buffer.concat([Buffer.alloc(headerBytes), payload])
      this.transmit(packet, payloadType, pressing.timestamp, pressing.frame === 1)
    }
    if (isEnd) {
      this.pressing = null
      this.pause = pauseFrames
    }
    return true
  }

  private transmit(packet: Buffer, payloadType: number, timestamp: number, marker: boolean): void {
    this.sequence = (this.sequence + 1) & 0xffff
    writeRtpHeader(packet, { payloadType, marker, sequence: this.sequence, timestamp, source: this.source })
    this.sent++
    const delay = this.options.impair ? this.options.impair() : 0
    if (delay === null) return
    if (delay > 0) setTimeout(() => this.post(packet), delay).unref()
    else this.post(packet)
  }

  private post(packet: Buffer): void {
    const to = this.latched ?? this.remote
    if (to && !this.isClosed) this.socket.send(packet, to.port, to.host, () => undefined)
  }

  private reportWhenDue(): void {
    const nowMs = this.options.nowMs()
    if (nowMs - this.lastReportMs < reportEveryMs || !this.remote) return
    this.lastReportMs = nowMs
    const since = this.heardReport ? Math.round(((nowMs - this.heardReport.atMs) * 65_536) / 1_000) : 0
    const own = {
      source: this.source,
      nowMs,
      timestamp: this.timestamp,
      packets: this.sent,
      octets: this.sent * frameSamples,
    }
    const report = writeReport(own, this.reception.report(this.heardReport?.middle ?? 0, since))
    this.control.send(report, this.remote.rtcpPort, this.latched?.host ?? this.remote.host, () => undefined)
  }

  quality(): Quality | null {
    return this.reception.quality()
  }

  get figures(): { sent: number; received: number } {
    return { sent: this.sent, received: this.reception.received }
  }

  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    this.socket.close()
    this.control.close()
  }
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

function evenBetween(lowest: number, highest: number): number {
  return lowest + 2 * randomInt(Math.max(1, Math.floor((highest - lowest) / 2)))
}
