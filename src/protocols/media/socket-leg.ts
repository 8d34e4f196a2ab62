// SPDX-License-Identifier: Apache-2.0
// Audio of a call on a websocket: 20 ms of 16-bit PCM, little endian, in each binary message to the customer's program, and
// any number of whole samples in each from it, which are played in time however fast they came. Both ways are bounded: the
// oldest audio is dropped, and the program is told how much. One that sends faster than can be read is read more slowly.
import { endianness } from 'node:os'
import type { RawData, WebSocket } from 'ws'
import { frameSamples, sampleRate } from '../audio/g711.ts'
import { Doubler, Halver } from '../audio/half-band.ts'
import { SampleQueue } from '../audio/sample-queue.ts'
import type { AudioLeg } from './audio-leg.ts'
import { readSocketCommand, type SocketNotice } from './socket-message.ts'

export type SocketRate = 8_000 | 16_000

export interface SocketLegOptions {
  rate: SocketRate
  /** First message to the program. */
  hello: object
  nowMs(): number
  pingEveryMs: number
  /** The other side closed the connection, or it broke. */
  closed(isClean: boolean, code: number): void
}

/** Audio that waits to be played to the call, in seconds. */
export const maxIncomingSeconds = 60
/** Messages that wait for a socket that is not read: ten seconds of audio. */
const maxOutgoing = 500
/** Bytes handed to the connection before the rest waits here, where it can be dropped. */
const maxHandedOver = 32_000
/**
 * Bytes and messages of one tick, after which the connection is read on at a later one: 25 times what is spoken. A message
 * that is longer is paid for over the next ticks.
 */
const maxBytesPerTick = 16_384
const maxMessagesPerTick = 200
export const maxMessageBytes = 65_536
const maxMarks = 100
const maxProblems = 100
/** Samples to begin to play with, so that a program that sends as it speaks is not cut into pieces; or that many ticks. */
const cushionSamples = 3 * frameSamples
const cushionTicks = 3
const toldEveryTicks = 50
const closeMs = 1_000
const badManners = 1_008

export class SocketLeg implements AudioLeg {
  readonly isConnected = true
  lastHeardMs: number
  readonly #socket: WebSocket
  readonly #options: SocketLegOptions
  readonly #doubler: Doubler | null
  readonly #halver: Halver | null
  readonly #incoming = new SampleQueue(maxIncomingSeconds * sampleRate)
  /** Samples that were played, dropped or cleared. */
  #passed = 0
  readonly #marks: { at: number; payload: unknown }[] = []
  #isPlaying = false
  #waitedTicks = 0
  readonly #outgoing: (Buffer | string)[] = []
  #droppedFrames = 0
  #droppedSamples = 0
  #ticks = 0
  #bytesNow = 0
  #messagesNow = 0
  #lastPingMs: number
  #problems = 0
  #sent = 0
  #received = 0
  #isClosed = false

  constructor(socket: WebSocket, options: SocketLegOptions) {
    this.#socket = socket
    this.#options = options
    this.#doubler = options.rate === 16_000 ? new Doubler() : null
    this.#halver = options.rate === 16_000 ? new Halver() : null
    this.lastHeardMs = options.nowMs()
    this.#lastPingMs = this.lastHeardMs
    socket.on('message', (data, isBinary) => this.#take(data, isBinary))
    socket.on('ping', (data) => this.#pinged(data))
    socket.on('pong', (data) => this.#count(data.length))
    socket.on('error', () => undefined)
    socket.on('close', (code) => this.#closedByOther(code))
    socket.send(JSON.stringify(options.hello))
  }

  get figures(): { sent: number; received: number } {
    return { sent: this.#sent, received: this.#received }
  }

  // --- from the program ---

  /** Counts a message: a sign of life, and part of what is read in a tick. */
  #count(bytes: number): void {
    this.lastHeardMs = this.#options.nowMs()
    this.#bytesNow += bytes
    this.#messagesNow++
    if (this.#bytesNow > maxBytesPerTick || this.#messagesNow > maxMessagesPerTick) this.#socket.pause()
  }

  #pinged(data: Buffer): void {
    this.#count(data.length)
    if (!this.#isClosed && this.#socket.bufferedAmount < maxHandedOver) this.#socket.pong(data)
  }

  #take(data: RawData, isBinary: boolean): void {
    if (this.#isClosed) return
    this.#received++
    const bytes = bytesOf(data)
    this.#count(bytes.length)
    if (isBinary) this.#queue(bytes)
    else this.#obey(bytes.toString())
  }

  #queue(bytes: Buffer): void {
    const samples = samplesIn(bytes)
    const dropped = this.#incoming.put(this.#halver ? this.#halver.run(samples) : samples)
    this.#passed += dropped
    this.#droppedSamples += dropped
  }

  #obey(text: string): void {
    const command = readSocketCommand(text)
    if ('problem' in command) return this.#complain(command.problem)
    if (command.action === 'clear') {
      this.#passed += this.#incoming.length
      this.#incoming.clear()
      this.#isPlaying = false
      this.#reachMarks()
      return this.#tell({ event: 'websocket:cleared' })
    }
    if (this.#marks.length >= maxMarks) return this.#complain(`at most ${maxMarks} notifications may wait`)
    this.#marks.push({ at: this.#passed + this.#incoming.length, payload: command.payload })
  }

  #complain(reason: string): void {
    this.#problems++
    if (this.#problems > maxProblems) return this.#socket.close(badManners, 'too many messages that mean nothing')
    this.#tell({ event: 'websocket:error', reason })
  }

  /** The next 20 ms that the program said; silence while it has said nothing. */
  hear(into: Int16Array): void {
    this.#readOn()
    if (this.#mayPlay()) {
      const length = this.#incoming.take(into)
      this.#passed += length
      this.#isPlaying = length === into.length
    } else into.fill(0)
    this.#reachMarks()
  }

  #mayPlay(): boolean {
    if (this.#isPlaying) return true
    this.#waitedTicks = this.#incoming.length === 0 ? 0 : this.#waitedTicks + 1
    if (this.#incoming.length < cushionSamples && this.#waitedTicks < cushionTicks) return false
    this.#waitedTicks = 0
    this.#isPlaying = this.#incoming.length > 0
    return this.#isPlaying
  }

  #readOn(): void {
    this.#bytesNow = Math.max(0, this.#bytesNow - maxBytesPerTick)
    this.#messagesNow = 0
    if (this.#socket.isPaused && this.#bytesNow <= maxBytesPerTick) this.#socket.resume()
  }

  #reachMarks(): void {
    for (let first = this.#marks[0]; first && first.at <= this.#passed; first = this.#marks[0]) {
      this.#marks.shift()
      this.#tell({ event: 'websocket:notify', payload: first.payload })
    }
  }

  // --- to the program ---

  say(frame: Int16Array): void {
    if (this.#isClosed) return
    const samples = this.#doubler ? this.#doubler.run(frame) : frame
    const bytes = Buffer.allocUnsafe(2 * samples.length)
    for (let i = 0; i < samples.length; i++) bytes.writeInt16LE(samples[i] ?? 0, 2 * i)
    this.#send(bytes)
    this.#pingWhenDue()
    if (++this.#ticks % toldEveryTicks === 0) this.#tellOfDropped()
  }

  /** Skipped frames need nothing here: messages have no timestamps. */
  skip(): void {}

  dial(digits: string): void {
    for (const digit of digits) this.#tell({ event: 'websocket:dtmf', digit })
  }

  #tell(notice: SocketNotice): void {
    this.#send(JSON.stringify(notice))
  }

  #send(message: Buffer | string): void {
    if (this.#outgoing.length >= maxOutgoing && typeof this.#outgoing.shift() !== 'string') this.#droppedFrames++
    this.#outgoing.push(message)
    this.#handOver()
  }

  #handOver(): void {
    while (this.#socket.bufferedAmount < maxHandedOver && this.#socket.readyState === this.#socket.OPEN) {
      const next = this.#outgoing.shift()
      if (next === undefined) return
      this.#socket.send(next)
      if (typeof next !== 'string') this.#sent++
    }
  }

  #tellOfDropped(): void {
    if (this.#outgoing.length > 0) return
    const [frames, samples] = [this.#droppedFrames, this.#droppedSamples]
    this.#droppedFrames = 0
    this.#droppedSamples = 0
    if (frames > 0) this.#tell({ event: 'websocket:dropped', from: 'call', milliseconds: frames * 20 })
    if (samples > 0)
      this.#tell({ event: 'websocket:dropped', from: 'websocket', milliseconds: Math.round(samples / 8) })
  }

  #pingWhenDue(): void {
    const nowMs = this.#options.nowMs()
    if (nowMs - this.#lastPingMs < this.#options.pingEveryMs || this.#socket.bufferedAmount >= maxHandedOver) return
    this.#lastPingMs = nowMs
    this.#socket.ping()
  }

  /** Quality figures do not exist here: a websocket loses no packets. */
  quality(): null {
    return null
  }

  // --- the end ---

  #closedByOther(code: number): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#options.closed(code === 1_000 || code === 1_001 || code === 1_005, code)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    const socket = this.#socket
    this.#outgoing.length = 0
    this.#tell({ event: 'websocket:disconnected' })
    socket.close(1_000)
    setTimeout(() => socket.terminate(), closeMs).unref()
  }
}

/** Copied at once: to read each sample takes milliseconds for a long message, which everybody on this thread would hear. */
function samplesIn(bytes: Buffer): Int16Array {
  const whole = new Uint8Array(bytes.subarray(0, bytes.length & ~1))
  if (!isLittleEndian) Buffer.from(whole.buffer).swap16()
  return new Int16Array(whole.buffer)
}

const isLittleEndian = endianness() === 'LE'

function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data)
}
