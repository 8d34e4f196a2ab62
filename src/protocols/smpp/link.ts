// SPDX-License-Identifier: Apache-2.0
// One connection between two SMPP entities, whichever end this is. It numbers its requests, keeps no more than a window of
// them unanswered, lets a bounded number wait, gathers what one turn of the event loop writes into one packet, and asks after
// the other side when it is silent. When it is lost, each request learns whether it had left.
import type { Socket } from 'node:net'
import { Framer } from './framer.ts'
import { type Bodies, type Command, decode, encode, encodeRefusal, isAnswer, type Pdu, type PduOf } from './pdu.ts'
import { reasonOf } from './reasons.ts'
import { commandStatus, PduError } from './status.ts'

/** Requests of the other side that may be in our hands at once; beyond it nothing more is read. */
const maxHandling = 1000
/** A peer that leaves more than this unread does not read at all. */
const maxUnsentBytes = 4 * 1024 * 1024
/** The same before it has bound, when it may be anybody. */
const maxUnsentBytesUnbound = 64 * 1024
const maxSequence = 0x7fffffff
/** Requests that are no longer waited for, whose answer is still of use; the oldest are forgotten. */
const maxLate = 10_000

const unbound = 'the other side unbound'

/** Reason that a request has no answer, or that a session did not begin. */
export class SessionError extends Error {
  readonly kind: 'connect' | 'bind_refused' | 'closed' | 'timeout' | 'queue_full' | 'malformed_answer'
  /** Whether the request left this process: then its outcome is unknown; otherwise it may be repeated. */
  readonly sent: boolean
  /** The command_status of a refused bind; otherwise 0. */
  readonly status: number

  constructor(kind: SessionError['kind'], message: string, extra: { sent: boolean; status?: number; cause?: unknown }) {
    super(message, extra.cause === undefined ? undefined : { cause: extra.cause })
    this.name = 'SessionError'
    this.kind = kind
    this.sent = extra.sent
    this.status = extra.status ?? 0
  }
}

type RequestCommand = { [C in Command]: `${C}_resp` extends Command ? C : never }[Command]

interface LinkOptions {
  window: number
  maxQueued: number
  responseTimeoutMs: number
  enquireLinkMs: number
  /** Answers by link.answer or link.refuse; a rejection is answered with ESME_RSYSERR. */
  onRequest(pdu: Pdu): Promise<void>
  onClosed(reason: string): void
}

interface Outstanding {
  answer: string
  urgent: boolean
  deadlineMs: number
  frame(sequence: number): Buffer | PduError
  resolve(answer: Pdu): void
  reject(error: Error): void
  /** Takes an answer that comes after the timeout. */
  onLate: ((answer: Pdu) => void) | null
}

/** Connection of either end, with requests and answers both ways. */
export class Link {
  readonly #socket: Socket
  readonly #options: LinkOptions
  readonly #framer = new Framer()
  /** Requests by sequence number; since a Map keeps its order, the first to expire is the first in it. */
  readonly #outstanding = new Map<number, Outstanding>()
  readonly #late = new Map<number, Outstanding>()
  readonly #queue = new Set<Outstanding>()
  #inWindow = 0
  #sequence = 0
  #handling = 0
  #outgoing: Buffer[] = []
  #flush: NodeJS.Immediate | null = null
  #expiry: NodeJS.Timeout | null = null
  #enquiry: NodeJS.Timeout | null = null
  #heard = false
  #closing: Promise<void> | null = null
  #whenIdle: (() => void) | null = null
  #isTold = false
  /** Reason of the end; null while the session is open. */
  endedBecause: string | null = null

  constructor(socket: Socket, options: LinkOptions) {
    this.#socket = socket
    this.#options = options
    socket.on('data', (chunk) => {
      this.#heard = true
      this.#framer.push(chunk)
      this.#read()
    })
    socket.on('error', (error) => this.cut(reasonOf(error)))
    socket.on('close', () => this.cut('the other side closed the connection'))
  }

  get pending(): number {
    return this.#inWindow + this.#queue.size
  }

  /**
   * Sends a request when the window has room for it, and gives the answer, which may be a generic_nack. `onLate` is told of
   * an answer that comes when the promise has long been rejected.
   */
  request<C extends RequestCommand>(command: C, body: Bodies[C], onLate: Outstanding['onLate'] = null): Promise<Pdu> {
    if (this.#closing !== null) return Promise.reject(new SessionError('closed', 'the session closes', { sent: false }))
    return this.#enqueue(command, body, false, onLate)
  }

  /** Request past the window and the queue, for what keeps the session itself. */
  urgent<C extends RequestCommand>(command: C, body: Bodies[C]): Promise<Pdu> {
    return this.#enqueue(command, body, true, null)
  }

  answer<C extends RequestCommand>(request: PduOf<C>, body: Bodies[`${C}_resp`], status = 0): void {
    const { command, sequence } = request
    const frame = encode({ command: `${command}_resp`, status, sequence, body })
    if (frame instanceof PduError) this.refuse(request, commandStatus.ESME_RSYSERR)
    else this.#send(frame)
  }

  /** Answers with a status and nothing else; what has no answer of its own gets a generic_nack. */
  refuse(request: { command: Command; sequence: number }, status: number): void {
    this.#send(encodeRefusal(request.command, request.sequence, status))
  }

  /** Asks the other side whether it is there, from now on, whenever it was silent for the interval. */
  keepAlive(): void {
    if (this.endedBecause !== null) return
    this.#enquiry = setInterval(() => {
      const silent = !this.#heard && !this.#stalled
      this.#heard = false
      if (silent) this.urgent('enquire_link', {}).catch(() => this.cut('no answer to enquire_link'))
    }, this.#options.enquireLinkMs)
  }

  /** Waits for what is due in both directions, no longer than an answer may take; then unbinds. */
  close(): Promise<void> {
    this.#closing ??= this.#unbind()
    return this.#closing
  }

  /** Sends what is written and closes the connection. */
  end(reason: string): void {
    if (this.endedBecause !== null) return
    this.#flushNow()
    this.#finish(reason)
    this.#socket.destroySoon()
    setTimeout(() => this.#socket.destroy(), this.#options.responseTimeoutMs).unref()
  }

  cut(reason: string): void {
    this.#socket.destroy()
    if (this.endedBecause === null) this.#finish(reason)
  }

  #enqueue<C extends RequestCommand>(
    command: C,
    body: Bodies[C],
    urgent: boolean,
    onLate: Outstanding['onLate'],
  ): Promise<Pdu> {
    return new Promise((resolve, reject) => {
      const request: Outstanding = {
        answer: `${command}_resp`,
        urgent,
        deadlineMs: 0,
        frame: (sequence) => encode({ command, status: 0, sequence, body }),
        resolve,
        reject,
        onLate,
      }
      if (this.endedBecause !== null) reject(new SessionError('closed', this.endedBecause, { sent: false }))
      else if (urgent || this.#inWindow < this.#options.window) this.#dispatch(request)
      else if (this.#queue.size < this.#options.maxQueued) this.#queue.add(request)
      else reject(new SessionError('queue_full', `${this.#queue.size} requests wait already`, { sent: false }))
    })
  }

  #dispatch(request: Outstanding): void {
    const sequence = this.#nextSequence()
    const frame = request.frame(sequence)
    if (frame instanceof PduError) return request.reject(frame)
    request.deadlineMs = performance.now() + this.#options.responseTimeoutMs
    this.#outstanding.set(sequence, request)
    if (!request.urgent) this.#inWindow += 1
    this.#expiry ??= setTimeout(() => this.#expire(), this.#options.responseTimeoutMs)
    this.#send(frame)
  }

  #nextSequence(): number {
    do this.#sequence = this.#sequence === maxSequence ? 1 : this.#sequence + 1
    while (this.#outstanding.has(this.#sequence))
    return this.#sequence
  }

  #send(frame: Buffer): void {
    if (this.endedBecause !== null) return
    this.#outgoing.push(frame)
    this.#flush ??= setImmediate(() => this.#flushNow())
  }

  #flushNow(): void {
    if (this.#flush) clearImmediate(this.#flush)
    this.#flush = null
    if (this.#outgoing.length === 0) return
    this.#socket.write(Buffer.concat(this.#outgoing))
    this.#outgoing = []
    const maxBytes = this.#enquiry === null ? maxUnsentBytesUnbound : maxUnsentBytes
    if (this.#socket.writableLength > maxBytes) this.cut('the other side does not read')
  }

  get #stalled(): boolean {
    return this.#handling >= maxHandling
  }

  #read(): void {
    while (this.endedBecause === null) {
      if (this.#stalled) return void this.#socket.pause()
      const frame = this.#framer.next()
      if (frame === null) return void this.#socket.resume()
      if (frame instanceof PduError) {
        this.#nack(frame.sequence, frame.status)
        return this.end(`the other side does not speak SMPP: ${frame.message}`)
      }
      this.#take(decode(frame))
    }
  }

  #take(pdu: Pdu | PduError): void {
    if (pdu instanceof PduError) {
      if (!pdu.isAnswer) return this.#nack(pdu.sequence, pdu.status)
      const message = `the answer cannot be read: ${pdu.message}`
      return this.#settle(pdu.sequence)?.reject(new SessionError('malformed_answer', message, { sent: true }))
    }
    if (pdu.command === 'enquire_link') return this.answer(pdu, {})
    if (pdu.command === 'unbind') {
      if (this.#closing !== null) return this.#grant(pdu)
      this.#closing = this.#letGo(pdu)
      return
    }
    if (pdu.command === 'generic_nack' || this.#outstanding.get(pdu.sequence)?.answer === pdu.command)
      return this.#settle(pdu.sequence)?.resolve(pdu)
    if (!isAnswer(pdu.command)) void this.#handle(pdu)
    else if (this.#late.get(pdu.sequence)?.answer === pdu.command) this.#takeLate(pdu)
  }

  #takeLate(answer: Pdu): void {
    const request = this.#late.get(answer.sequence)
    this.#late.delete(answer.sequence)
    request?.onLate?.(answer)
  }

  async #handle(pdu: Pdu): Promise<void> {
    this.#handling += 1
    try {
      await this.#options.onRequest(pdu)
    } catch {
      this.refuse(pdu, commandStatus.ESME_RSYSERR)
    }
    this.#handling -= 1
    this.#checkIdle()
    if (this.#socket.isPaused()) this.#read()
  }

  /** Takes a request out of the window and lets the next one in. */
  #settle(sequence: number): Outstanding | undefined {
    const request = this.#outstanding.get(sequence)
    if (request === undefined) return
    this.#outstanding.delete(sequence)
    if (!request.urgent) this.#inWindow -= 1
    for (const next of this.#queue) {
      if (this.#inWindow >= this.#options.window) break
      this.#queue.delete(next)
      this.#dispatch(next)
    }
    this.#checkIdle()
    return request
  }

  /** Timer of all requests: it looks at the oldest, and sleeps until the next could be due. */
  #expire(): void {
    this.#expiry = null
    const nowMs = performance.now()
    for (const [sequence, { deadlineMs, answer }] of this.#outstanding) {
      if (deadlineMs > nowMs) {
        this.#expiry ??= setTimeout(() => this.#expire(), Math.ceil(deadlineMs - nowMs))
        return
      }
      const message = `no ${answer} within ${this.#options.responseTimeoutMs} ms`
      const request = this.#settle(sequence)
      if (request?.onLate) this.#expectLate(sequence, request)
      request?.reject(new SessionError('timeout', message, { sent: true }))
    }
  }

  #expectLate(sequence: number, request: Outstanding): void {
    const [oldest] = this.#late.size >= maxLate ? this.#late.keys() : []
    if (oldest !== undefined) this.#late.delete(oldest)
    this.#late.set(sequence, request)
  }

  async #unbind(): Promise<void> {
    if (this.endedBecause === null) {
      this.#rejectQueue('the session closes')
      await this.#idle()
      // A session that is not bound, and so is not enquired, has nothing to unbind.
      if (this.#enquiry !== null) await this.urgent('unbind', {}).catch(() => undefined)
      this.end('closed by this side')
    }
    if (!this.#socket.closed) await new Promise((resolve) => this.#socket.once('close', resolve))
  }

  /** The other side ends the session. Nothing new is sent; what either still owes the other is waited for. */
  async #letGo(unbind: PduOf<'unbind'>): Promise<void> {
    this.#rejectQueue(unbound)
    this.#tellClosed(unbound)
    await this.#idle()
    this.#grant(unbind)
    if (!this.#socket.closed) await new Promise((resolve) => this.#socket.once('close', resolve))
  }

  #grant(unbind: PduOf<'unbind'>): void {
    this.answer(unbind, {})
    this.end(unbound)
  }

  async #idle(): Promise<void> {
    if (this.#outstanding.size + this.#handling === 0) return
    const idle = new Promise<void>((resolve) => {
      this.#whenIdle = resolve
    })
    const timer = setTimeout(() => this.#whenIdle?.(), this.#options.responseTimeoutMs)
    await idle
    clearTimeout(timer)
  }

  #checkIdle(): void {
    if (this.#outstanding.size + this.#handling === 0) this.#whenIdle?.()
  }

  #finish(reason: string): void {
    this.endedBecause = reason
    if (this.#flush) clearImmediate(this.#flush)
    if (this.#expiry) clearTimeout(this.#expiry)
    if (this.#enquiry) clearInterval(this.#enquiry)
    this.#outgoing = []
    this.#rejectQueue(reason)
    for (const { reject } of this.#outstanding.values()) reject(new SessionError('closed', reason, { sent: true }))
    this.#outstanding.clear()
    this.#inWindow = 0
    this.#whenIdle?.()
    this.#tellClosed(reason)
  }

  #tellClosed(reason: string): void {
    if (!this.#isTold) this.#options.onClosed(reason)
    this.#isTold = true
  }

  #rejectQueue(reason: string): void {
    for (const { reject } of this.#queue) reject(new SessionError('closed', reason, { sent: false }))
    this.#queue.clear()
  }

  #nack(sequence: number, status: number): void {
    this.#send(encodeRefusal('generic_nack', sequence, status))
  }
}
