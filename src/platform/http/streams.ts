// SPDX-License-Identifier: Apache-2.0
// Replies that go on: server-sent events (HTML Living Standard, 9.2). A stream ends with its reader, with its credential
// and with the node. What it tells is asked for one message at a time, and only while the reader keeps up, so that a slow
// reader holds one message and not a queue; one that stands still for too long is cut off and may resume.
import type { ServerResponse } from 'node:http'
import { AppError } from '../../kernel/errors.ts'

const defaultLimits = {
  /** Streams that one account may have open on one node. */
  perAccount: 10,
  perNode: 200,
  /** Often enough for proxies that close what is silent for half a minute. */
  heartbeatMs: 15_000,
  /** How long a reader may take nothing of what waits for it. */
  drainWithinMs: 30_000,
}

const retryAfterSeconds = 5

/** One message. A reader that comes back names the last id it was given. */
export interface Message {
  id: string
  event: string
  /** Null tells the reader where it stands, and nothing else. */
  data: string | null
}

/** Looks again at the credential of a stream: null, or the sentence with which it ends. */
type Verify = () => Promise<string | null>

/** The streams of one node. */
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

  /** Takes a place for a stream, or refuses. Whoever takes one runs it or gives it back. */
  open(account: string, verify: Verify): Stream {
    const { perAccount, perNode, drainWithinMs } = this.#limits
    if (this.#isClosed) throw unavailable('this node is stopping')
    if (this.#open.size >= perNode) throw unavailable(`this node has ${perNode} streams open and takes no more`)
    if ([...this.#open].filter((stream) => stream.account === account).length >= perAccount)
      throw new AppError('TOO_MANY_STREAMS', `the account has ${perAccount} streams open already`, {
        retryAfterSeconds,
      })
    const stream = new Stream(account, verify, drainWithinMs, () => this.#open.delete(stream))
    this.#open.add(stream)
    this.#heartbeat ??= setInterval(() => this.#beat(), this.#limits.heartbeatMs).unref()
    return stream
  }

  /** Looks again at the credentials of an account's streams. */
  recheck(account: string): void {
    for (const stream of this.#open) if (stream.account === account) void stream.check()
  }

  /** Ends every stream, and takes no more. */
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

  /** Aborted when the stream ends, for whatever reason. */
  get signal(): AbortSignal {
    return this.#ending.signal
  }

  /** Gives back a place that was not needed. */
  release(): void {
    this.#leave()
  }

  /** Writes messages, as fast as the reader takes them, until they or the stream end. */
  async run(response: ServerResponse, messages: AsyncIterable<Message>): Promise<void> {
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
      // It may have been ended before there was anything to end.
      if (!response.writableEnded && !response.destroyed) response.end()
      this.#leave()
    }
  }

  /** Says that the line is alive; a reader with something left to read can tell by itself. */
  beat(): void {
    const response = this.#response
    if (response && !this.signal.aborted && !response.writableNeedDrain) response.write(':\n\n')
  }

  async check(): Promise<void> {
    const refusal = await this.#verify()
    if (refusal !== null) this.end(refusal)
  }

  /** Ends the stream, with a sentence for whoever looks at its bytes. A reader that stands still is not waited for. */
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

function textOf({ id, event, data }: Message): string {
  if (data === null) return `id: ${id}\n\n`
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`)
  return `id: ${id}\nevent: ${event}\n${lines.join('')}\n`
}

function unavailable(details: string): AppError {
  return new AppError('SERVICE_UNAVAILABLE', details, { retryAfterSeconds })
}
