// SPDX-License-Identifier: Apache-2.0
// Server-sent events (HTML Living Standard, 9.2). A stream ends with its reader, its credential or the node. Messages
// are pulled one at a time with backpressure, so that a slow reader costs one message, not a queue; one that stalls too
// long is cut off and may resume.
import type { ServerResponse } from 'node:http'
import { AppError } from '../../kernel/errors.ts'
import type { StreamMessage } from '../api/route.ts'

const defaultLimits = {
  /** Streams per account and node. */
  perAccount: 10,
  perNode: 200,
  /** Heartbeat interval, for proxies that close connections idle for half a minute. */
  heartbeatMs: 15_000,
  /** Timeout of a reader that takes no data. */
  drainWithinMs: 30_000,
}

const retryAfterSeconds = 5

/** Rechecks the credential of a stream: null, or the reason to end it. */
type Verify = () => Promise<string | null>

/** Streams of this node. */
export class Streams {
  readonly #limits: typeof defaultLimits
  readonly #open = new Set<Stream>()
  #heartbeat: NodeJS.Timeout | null = null
  #isClosed = false

  constructor(limits: Partial<typeof defaultLimits> = {}) {
    this.#limits = { ...defaultLimits, ...limits }
  }

  get size(): number {
    return this.#open.size
  }

  /** Reserves a stream, or throw at the limit. Run it or release it. */
  open(account: string, verify: Verify): Stream {
    const { perAccount, perNode, drainWithinMs } = this.#limits
    if (this.#isClosed) throw unavailable('this node is stopping')
    if (this.#open.size >= perNode) throw unavailable(`this node has ${perNode} streams open and takes no more`)
    if ([...this.#open].filter((stream) => stream.account === account).length >= perAccount)
      throw new AppError('TOO_MANY_STREAMS', `the account has ${perAccount} open streams`, {
        retryAfterSeconds,
      })
    const stream = new Stream(account, verify, drainWithinMs, () => this.#open.delete(stream))
    this.#open.add(stream)
    this.#heartbeat ??= setInterval(() => this.#beat(), this.#limits.heartbeatMs).unref()
    return stream
  }

  /** Rechecks the credentials of an account's streams. */
  recheck(account: string): void {
    for (const stream of this.#open) if (stream.account === account) void stream.check()
  }

  /** Ends all streams and refuse new ones. */
  close(): void {
    this.#isClosed = true
    if (this.#heartbeat) clearInterval(this.#heartbeat)
    for (const stream of this.#open) stream.end('this node is stopping; come back with the last id')
  }

  #beat(): void {
    for (const stream of this.#open) {
      stream.beat()
      void stream.check()
    }
  }
}

class Stream {
  readonly account: string
  readonly #verify: Verify
  readonly #drainWithinMs: number
  readonly #leave: () => void
  readonly #ending = new AbortController()
  #response: ServerResponse | null = null

  constructor(account: string, verify: Verify, drainWithinMs: number, leave: () => void) {
    this.account = account
    this.#verify = verify
    this.#drainWithinMs = drainWithinMs
    this.#leave = leave
  }

  /** Aborted when the stream ends for any reason. */
  get signal(): AbortSignal {
    return this.#ending.signal
  }

  /** Releases an unused stream. */
  release(): void {
    this.#leave()
  }

  /** Writes messages as fast as the reader takes them, until they or the stream end. */
  async run(response: ServerResponse, messages: AsyncIterable<StreamMessage>): Promise<void> {
    this.#response = response
    response.once('close', () => this.#ending.abort())
    if (response.destroyed) this.#ending.abort()
    try {
      for await (const message of messages) {
        if (this.signal.aborted) break
        if (!response.write(textOf(message))) await this.#drained(response)
      }
      this.end(null)
    } catch (error) {
      this.end('something failed on our side; come back with the last id')
      throw error
    } finally {
      // The stream may have ended before it started.
      if (!response.writableEnded && !response.destroyed) response.end()
      this.#leave()
    }
  }

  /** Sends a heartbeat, unless data is waiting to be read. */
  beat(): void {
    const response = this.#response
    if (response && !this.signal.aborted && !response.writableNeedDrain) response.write(':\n\n')
  }

  async check(): Promise<void> {
    const refusal = await this.#verify()
    if (refusal !== null) this.end(refusal)
  }

  /** Ends the stream with a comment line. A stalled reader is cut off. */
  end(farewell: string | null): void {
    if (this.signal.aborted) return
    this.#ending.abort()
    const response = this.#response
    if (!response || response.destroyed) return
    if (response.writableNeedDrain) response.destroy()
    else response.end(farewell === null ? '' : `: ${farewell}\n\n`)
  }

  #drained(response: ServerResponse): Promise<void> {
    return new Promise((resolve) => {
      const tooSlow = setTimeout(() => response.destroy(), this.#drainWithinMs).unref()
      const done = (): void => {
        clearTimeout(tooSlow)
        response.off('drain', done)
        response.off('close', done)
        resolve()
      }
      response.on('drain', done)
      response.on('close', done)
      if (response.destroyed) done()
    })
  }
}

function textOf({ id, event, data }: StreamMessage): string {
  if (data === null) return `id: ${id}\n\n`
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`)
  return `id: ${id}\nevent: ${event}\n${lines.join('')}\n`
}

function unavailable(details: string): AppError {
  return new AppError('SERVICE_UNAVAILABLE', details, { retryAfterSeconds })
}
