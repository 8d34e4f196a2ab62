// SPDX-License-Identifier: Apache-2.0
// One request that goes out and what came of it: its time, how much of the answer is kept, and whether it may be repeated.
// Which connection it gets is decided in connections.ts.
import { performance } from 'node:perf_hooks'
import { Readable } from 'node:stream'
import type { Client, Dispatcher } from 'undici'
import { errorCode } from '../../kernel/error-code.ts'
import { AnswerStream } from './answer-stream.ts'
import type { Purpose } from './customer-urls.ts'
import { type Connection, Failure, failureOf, isLostConnection, type OutboundError, since } from './dial.ts'

export interface OutboundRequest extends Purpose {
  /** What to keep apart: requests of different pools never share a connection or wait for each other. */
  pool: string
  url: string
  /** Follows what the URL has. For what differs from request to request: parsed URLs are remembered. */
  query?: string
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Pairs in a flat list (name, value, name, value) are the cheaper form. Not `host`, nothing hop-by-hop. */
  headers: Record<string, string> | string[]
  /** A body that comes in pieces is sent once: it is not there to be sent again. */
  body: string | Buffer | AsyncIterable<Buffer> | null
  /** The body of an answer with a status from 200 to 299 is handed on as it comes, as `bytes`, and not kept. */
  isStreamed?: boolean
  /** From the start of the request to the end of the answer's headers; the body has a second of its own. */
  timeoutMs?: number
  /** The time is for all of it instead: waiting for a connection, and the whole answer. */
  isTimedWhole?: boolean
  /** For a connection that has to be opened, where that is less than the rest of the time. */
  connectTimeoutMs?: number
  /** How much of the answer's body is kept; 4 KiB unless told. */
  maxAnswerBytes?: number
  /** Never repeated on another connection when one that had been idle breaks: then nobody knows whether it arrived. */
  once?: boolean
  /** How many requests of this pool may run at once; further ones wait, and their time starts when they start. */
  connections: number
}

interface Timing {
  /** Until the end of the answer's headers, or until the request failed. */
  durationMs: number
  /** Null when nothing of the kind was done: on a connection that was open already, for an address, over http. */
  dnsMs: number | null
  connectMs: number | null
  tlsMs: number | null
}

export type Outcome =
  | {
      kind: 'answered'
      status: number
      /** Names in lower case; repeated ones joined with a comma. */
      headers: Record<string, string>
      /** As much as was asked for, as text that can be stored anywhere: what is not UTF-8 and U+0000 became U+FFFD. */
      body: string
      truncated: boolean
      /** The body of a streamed answer. It must be read to its end, or destroyed. */
      bytes: Readable | null
      timing: Timing
      ip: string
    }
  | {
      kind: 'failed'
      error: OutboundError
      /** One sentence that may be shown to the customer: it tells nothing of an address that was refused. */
      reason: string
      /** Whether any of the request can have reached the receiver. */
      mayHaveArrived: boolean
      timing: Timing
      ip: string | null
    }

const defaultTimeoutMs = 5_000
const bodyTimeoutMs = 1_000
/** Between two pieces of a streamed answer. */
const pieceTimeoutMs = 15_000
export const usualAnswerBytes = 4 * 1024
/** 1xx answers before the real one. */
const maxInformational = 16

/** One connection, or the place for one, as seen by the exchange that has it. */
export interface Lane {
  readonly client: Client
  readonly connection: Connection | null
  /** The exchange has its answer and the connection may serve the next. */
  release(): void
  /** The exchange is over and the connection is of no more use. */
  abandon(): void
  /** Gives the exchange another connection, newly opened, in place of this one, which was closed while it was idle. */
  replace(): void
}

/** A mistake of the caller's: nothing went out. */
export class Misuse extends Error {}

/** One request and its answer, as the HTTP client's handler; the client's older form, which makes no objects of its own. */
export class Exchange implements Dispatcher.DispatchHandler {
  /** Sent on a connection that had served another request before. */
  isReused = false
  readonly connectTimeoutMs: number | null
  readonly #options: Dispatcher.DispatchOptions
  readonly #timeoutMs: number
  readonly #isTimedWhole: boolean
  readonly #maxAnswerBytes: number
  readonly #resolve: (outcome: Outcome) => void
  readonly #reject: (error: Error) => void
  #lane: Lane | null = null
  /** While it waits for a lane. */
  #leave: (() => void) | null = null
  #timer: NodeJS.Timeout | undefined
  #startedAt = 0
  #durationMs = 0
  /** Restarted before, or not to be. */
  #isRestarted: boolean
  #isWritten = false
  #isAnswering = false
  #isSettled = false
  #informational = 0
  #status = 0
  #headers: Record<string, string> = {}
  #body: Buffer | null = null
  readonly #isStreamed: boolean
  #stream: AnswerStream | null = null

  constructor(
    request: OutboundRequest,
    path: string,
    resolve: (outcome: Outcome) => void,
    reject: (error: Error) => void,
  ) {
    this.connectTimeoutMs = request.connectTimeoutMs ?? null
    this.#isTimedWhole = request.isTimedWhole ?? false
    this.#timeoutMs = request.timeoutMs ?? defaultTimeoutMs
    this.#maxAnswerBytes = request.maxAnswerBytes ?? usualAnswerBytes
    this.#isRestarted = request.once ?? isInPieces(request.body)
    this.#isStreamed = request.isStreamed ?? false
    this.#options = { path, method: request.method, headers: request.headers, body: bodyOf(request.body) }
    this.#resolve = resolve
    this.#reject = reject
  }

  /** There is no connection for it yet. `leave` takes it out of the line when its time is over first. */
  wait(leave: () => void): void {
    if (!this.#isTimedWhole) return
    this.#leave = leave
    this.#startClock()
  }

  start(lane: Lane): void {
    if (this.#leave === null) this.#startClock()
    this.#leave = null
    this.isReused = lane.connection !== null
    this.dispatch(lane)
  }

  dispatch(lane: Lane): void {
    this.#lane = lane
    lane.client.dispatch(this.#options, this)
  }

  onConnect(): void {
    this.#isWritten = true
  }

  onResponseStarted(): void {
    this.#isAnswering = true
  }

  onHeaders(status: number, headers: Buffer[], resume: () => void): boolean {
    if (this.#isSettled) return false
    if (status < 200) {
      this.#informational += 1
      if (this.#informational > maxInformational)
        this.#fail('CONNECTION_FAILED', 'The answer did not come to its point.')
      return true
    }
    this.#durationMs = since(this.#startedAt)
    this.#status = status
    this.#headers = headersOf(headers)
    if (this.#isStreamed && status < 300) return this.#beginStream(resume)
    if (this.#isTimedWhole) return true
    clearTimeout(this.#timer)
    this.#timer = setTimeout(onTimeout, bodyTimeoutMs, this)
    return true
  }

  onData(chunk: Buffer): boolean {
    if (this.#stream) return this.#stream.add(chunk)
    if (this.#isSettled) return false
    this.#body = this.#body === null ? chunk : Buffer.concat([this.#body, chunk])
    if (this.#body.length <= this.#maxAnswerBytes) return true
    this.#answer(true)
    return false
  }

  onComplete(): void {
    if (this.#stream) return this.#stream.complete()
    if (!this.#isSettled) this.#answer(false)
  }

  onError(error: Error): void {
    if (this.#stream) return this.#stream.fail(error)
    if (this.#isSettled) return
    // The status is known: what the body would have been is of no consequence.
    if (this.#status !== 0) return this.#answer(true)
    const lane = this.#lane
    if (lane && this.isReused && !this.#isAnswering && !this.#isRestarted && isLostConnection(error)) {
      this.#isRestarted = true
      // Later, because the client is still busy with the end of the connection.
      queueMicrotask(() => {
        if (!this.#isSettled) lane.replace()
      })
      return
    }
    if (error instanceof Failure) return this.#fail(error.error, error.message)
    if (isMisuse(error)) {
      this.#settle(false)
      this.#reject(new Misuse('a request that cannot be written', { cause: error }))
      return
    }
    const failure = failureOf(error, 'open')
    this.#fail(failure.error, failure.message)
  }

  timeOut(): void {
    if (this.#isSettled) return
    if (this.#status !== 0) return this.#answer(true)
    this.#leave?.()
    this.#fail('TIMEOUT', `No answer came within ${this.#timeoutMs / 1_000} seconds.`)
  }

  /** Answers now, with a body that is still to come; the connection is given back when that has ended. */
  #beginStream(resume: () => void): boolean {
    clearTimeout(this.#timer)
    const stream = new AnswerStream(pieceTimeoutMs, resume, (isWhole) => this.#settle(isWhole))
    this.#stream = stream
    this.#isSettled = true
    const { timing, ip } = this.#summary()
    this.#resolve({
      kind: 'answered',
      status: this.#status,
      headers: this.#headers,
      body: '',
      truncated: false,
      bytes: stream,
      timing,
      ip: ip ?? '',
    })
    return true
  }

  #answer(truncated: boolean): void {
    const { ip, timing } = this.#settle(!truncated)
    const body = this.#body === null ? '' : textOf(this.#body, this.#maxAnswerBytes, truncated)
    this.#resolve({
      kind: 'answered',
      status: this.#status,
      headers: this.#headers,
      body,
      truncated,
      bytes: null,
      timing,
      ip: ip ?? '',
    })
  }

  #fail(error: OutboundError, reason: string): void {
    this.#durationMs = since(this.#startedAt)
    const { ip, timing } = this.#settle(false)
    this.#resolve({ kind: 'failed', error, reason, mayHaveArrived: this.#isWritten, timing, ip })
  }

  #startClock(): void {
    this.#startedAt = performance.now()
    this.#timer = setTimeout(onTimeout, this.#timeoutMs, this)
  }

  /** The end, once: how long it took and where it went; the connection goes back, or is closed. */
  #settle(mayServeAnother: boolean): { ip: string | null; timing: Timing } {
    this.#isSettled = true
    clearTimeout(this.#timer)
    const summary = this.#summary()
    if (mayServeAnother) this.#lane?.release()
    else this.#lane?.abandon()
    return summary
  }

  #summary(): { ip: string | null; timing: Timing } {
    const connection = this.#lane?.connection ?? null
    const opened = this.isReused ? null : connection
    const timing = {
      durationMs: this.#durationMs,
      dnsMs: opened?.dnsMs ?? null,
      connectMs: opened?.connectMs ?? null,
      tlsMs: opened?.tlsMs ?? null,
    }
    return { ip: connection?.ip ?? null, timing }
  }
}

/** The form in which the client takes it; of what comes in pieces, it wants a stream. */
function bodyOf(body: OutboundRequest['body']): string | Buffer | Readable | null {
  return body === null || typeof body === 'string' || Buffer.isBuffer(body) ? body : Readable.from(body)
}

function isInPieces(body: OutboundRequest['body']): boolean {
  return body !== null && typeof body === 'object' && !Buffer.isBuffer(body)
}

function onTimeout(exchange: Exchange): void {
  exchange.timeOut()
}

/** The client refuses to write such a request; nothing went out. */
function isMisuse(error: Error): boolean {
  const codes = ['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH']
  return error instanceof Misuse || codes.includes(errorCode(error))
}

function headersOf(pairs: readonly Buffer[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let i = 0; i + 1 < pairs.length; i += 2) {
    const name = pairs[i]?.toString('latin1').toLowerCase() ?? ''
    const value = pairs[i + 1]?.toString('latin1') ?? ''
    headers[name] = Object.hasOwn(headers, name) ? `${headers[name]}, ${value}` : value
  }
  return headers
}

/** Of a text that was cut, a last character that is not whole is left out. */
function textOf(bytes: Buffer, maxBytes: number, isCut: boolean): string {
  const text = new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: isCut })
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text
}
