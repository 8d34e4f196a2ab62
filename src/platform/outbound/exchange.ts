// SPDX-License-Identifier: Apache-2.0
// Exchange: one outbound request and its outcome: timeouts, how much of the response is kept, and retries.
// connections.ts assigns the connection.
import { performance } from 'node:perf_hooks'
import { Readable } from 'node:stream'
import { TextDecoder } from 'node:util'
import type { Client, Dispatcher } from 'undici'
import { errorCode } from '../../kernel/error-code.ts'
import { AnswerStream } from './answer-stream.ts'
import type { Purpose } from './customer-urls.ts'
import { type Connection, Failure, failureOf, isLostConnection, type OutboundError, since } from './dial.ts'

export interface OutboundRequest extends Purpose {
  /** Pool name: requests of different pools never share a connection or queue. */
  pool: string
  url: string
  /** Query appended to the URL, for values that differ per request: parsed URLs are cached. */
  query?: string
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** A flat list (name, value, name, value) is cheaper. Without `host` and hop-by-hop headers. */
  headers: Record<string, string> | string[]
  /** A streamed body cannot be sent again. */
  body: string | Buffer | AsyncIterable<Buffer> | null
  /** Streams the body of a 2xx response as `bytes` instead of keeping it. */
  isStreamed?: boolean
  /** Timeout from the start of the request to the end of the response headers; the body has one more second. */
  timeoutMs?: number
  /** Lets the timeout cover everything: queue, connection and whole response. */
  isTimedWhole?: boolean
  /** Connects timeout, where shorter than the rest. */
  connectTimeoutMs?: number
  /** Response body kept; 4 KiB by default. */
  maxAnswerBytes?: number
  /** Never retried on another connection when an idle one breaks, since the request may have arrived. */
  once?: boolean
  /** Concurrent requests of this pool; further ones are queued, and their timeout starts when they start. */
  connections: number
}

interface Timing {
  /** Time until the end of the response headers, or the failure. */
  durationMs: number
  /** Time of each step; null when not done: on a reused connection, for an IP address, over http. */
  dnsMs: number | null
  connectMs: number | null
  tlsMs: number | null
}

export type Outcome =
  | {
      kind: 'answered'
      status: number
      /** Headers by lower-case name; repeated ones joined by a comma. */
      headers: Record<string, string>
      /** Body up to the limit, as storable text: invalid UTF-8 and U+0000 become U+FFFD. */
      body: string
      truncated: boolean
      /** Streamed body; must be read to its end or destroyed. */
      bytes: Readable | null
      timing: Timing
      ip: string
    }
  | {
      kind: 'failed'
      error: OutboundError
      /** Sentence that may be shown to the customer: it reveals nothing about a refused address. */
      reason: string
      /** Whether any of the request may have reached the receiver. */
      mayHaveArrived: boolean
      timing: Timing
      ip: string | null
    }

const defaultTimeoutMs = 5_000
const bodyTimeoutMs = 1_000
/** Timeout between two chunks of a streamed response. */
const pieceTimeoutMs = 15_000
export const usualAnswerBytes = 4 * 1024
/** Limit of 1xx responses. */
const maxInformational = 16

/** Connection of an exchange. */
export interface Lane {
  readonly client: Client
  readonly connection: Connection | null
  /** The connection can serve the next request. */
  release(): void
  /** The connection is no longer usable. */
  abandon(): void
  /** Replaces a connection that was closed while idle by a new one. */
  replace(): void
}

/** Bug of the caller: nothing was sent. */
export class Misuse extends Error {}

/** Exchange of one request and its response, by undici's older handler interface, which allocates no objects. */
export class Exchange implements Dispatcher.DispatchHandler {
  /** Sent on a reused connection. */
  isReused = false
  readonly connectTimeoutMs: number | null
  readonly #options: Dispatcher.DispatchOptions
  readonly #timeoutMs: number
  readonly #isTimedWhole: boolean
  readonly #maxAnswerBytes: number
  readonly #resolve: (outcome: Outcome) => void
  readonly #reject: (error: Error) => void
  #lane: Lane | null = null
  /** Leaves the queue, while waiting for a lane. */
  #leave: (() => void) | null = null
  #timer: NodeJS.Timeout | undefined
  #startedAt = 0
  #durationMs = 0
  /** Whether the request was retried already, or is not to be. */
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

  /** Waits in the queue for a connection. `leave` removes it when it times out. */
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
    // The status is known: the rest of the body does not matter.
    if (this.#status !== 0) return this.#answer(true)
    const lane = this.#lane
    if (lane && this.isReused && !this.#isAnswering && !this.#isRestarted && isLostConnection(error)) {
      this.#isRestarted = true
      // Deferred, because the client is still handling the end of the connection.
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

  /** Resolves now with a body still to come; the connection is released after it. */
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
    const body =
      this.#body === null ? '' : textOf(this.#body, this.#headers['content-type'], this.#maxAnswerBytes, truncated)
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

  /** Finishes once: record timing and address; release or close the connection. */
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

/** Body for the client; chunks become a stream. */
function bodyOf(body: OutboundRequest['body']): string | Buffer | Readable | null {
  return body === null || typeof body === 'string' || Buffer.isBuffer(body) ? body : Readable.from(body)
}

function isInPieces(body: OutboundRequest['body']): boolean {
  return body !== null && typeof body === 'object' && !Buffer.isBuffer(body)
}

/** After a turn in which nothing ran here, an answer that arrived meanwhile is read before the time is called over. */
function onTimeout(exchange: Exchange): void {
  setImmediate(() => exchange.timeOut())
}

/** The client refuses such a request; nothing was sent. */
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

/** Decoder of the charset that a response declares; UTF-8 for none, and for one that is unknown. */
function decoderOf(contentType = ''): TextDecoder {
  const [, charset] = /;\s*charset="?([\w:.-]+)/i.exec(contentType) ?? []
  try {
    return new TextDecoder(charset)
  } catch {
    return new TextDecoder()
  }
}

/** Drops a partial last character of a truncated text. */
function textOf(bytes: Buffer, contentType: string | undefined, maxBytes: number, isCut: boolean): string {
  const text = decoderOf(contentType).decode(bytes.subarray(0, maxBytes), { stream: isCut })
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text
}
