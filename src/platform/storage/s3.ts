// SPDX-License-Identifier: Apache-2.0
// S3 object store. Uploads are spooled to the local disk first: an object is sent with its length and hash, known only
// at the end, and can then be retried. What has to outlive this machine while it is written is sent in parts as well,
// which go when the whole is there.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { dayMs } from '../../kernel/time.ts'
import type { Clock } from '../clock.ts'
import type { OutboundRequest, Outcome } from '../outbound/exchange.ts'
import type { Outbound } from '../outbound.ts'
import type { Place } from './place.ts'
import { emptyHash, type S3Credentials, signed } from './s3-signature.ts'
import type { ByteRange } from './sealed-chunks.ts'

export interface S3Options extends S3Credentials {
  /** Endpoint without a path: https://s3.af-south-1.amazonaws.com. */
  readonly endpoint: string
  readonly bucket: string
  /** Prefix of object names; empty or ending with a slash. */
  readonly prefix: string
  readonly spool: string
  readonly door: Outbound
  readonly clock: Clock
}

interface Call {
  method: 'GET' | 'PUT' | 'DELETE'
  name: string
  headers?: Record<string, string>
  bodyHash?: string
  /** Created again for each attempt. */
  body?(): AsyncIterable<Buffer>
  timeoutMs: number
  isStreamed?: boolean
}

const connections = 32
const tries = 3
const tryAgainMs = 250
const answerMs = 10_000
/** Size from which a part is sent: of a recording, eight seconds. */
const partBytes = 128 * 1024
/** Bytes that wait while a part is sent, at the most. */
const maxHeldBytes = 1_024 * 1_024
/** Slowest transfer rate allowed for. */
const bytesPerMs = 100

export class S3 implements Place {
  readonly name = 's3'
  readonly #options: S3Options

  constructor(options: S3Options) {
    this.#options = options
  }

  /** Removes leftovers of a crashed program from the spool, which another may be using too. */
  async start(): Promise<void> {
    const { spool, clock } = this.#options
    await mkdir(spool, { recursive: true, mode: 0o700 })
    for (const name of await readdir(spool)) {
      const file = join(spool, name)
      const found = await stat(file).catch(() => null)
      if (found && found.mtimeMs < clock.nowMs() - dayMs) await rm(file, { force: true })
    }
  }

  async write(name: string, bytes: AsyncIterable<Buffer>, isSalvaged: boolean): Promise<void> {
    const file = join(this.#options.spool, name.replaceAll('/', '-'))
    const parts = isSalvaged ? new Parts((part, piece) => this.#put(partName(name, part), piece)) : null
    try {
      const spooling = parts ? parts.following(bytes) : bytes
      const { length, hash } = await spooled(file, spooling)
      await this.#put(name, { length, hash, body: () => createReadStream(file) })
    } finally {
      await rm(file, { force: true })
    }
    const sent = (await parts?.over()) ?? 0
    // One that stays is removed with the file.
    for (let part = 0; part < sent; part++) await this.#delete(partName(name, part)).catch(() => undefined)
  }

  async #put(name: string, { length, hash, body }: Piece): Promise<void> {
    const outcome = await this.#ask({
      method: 'PUT',
      name,
      headers: { 'content-length': String(length), 'content-type': 'application/octet-stream' },
      bodyHash: hash,
      body,
      timeoutMs: answerMs + length / bytesPerMs,
    })
    requireSuccess('PUT', outcome)
  }

  async *read(name: string, { start, end }: ByteRange): AsyncGenerator<Buffer> {
    const outcome = await this.#ask({
      method: 'GET',
      name,
      headers: { range: `bytes=${start}-${end - 1}` },
      timeoutMs: answerMs,
      isStreamed: true,
    })
    const bytes = requireSuccess('GET', outcome)
    if (outcome.kind !== 'answered' || outcome.status !== 206 || bytes === null)
      throw new Error('the object store does not give ranges')
    yield* bytes
  }

  /** The whole, where the writer came so far, or its parts. */
  async *salvage(name: string): AsyncGenerator<Buffer> {
    const whole = await this.#get(name)
    if (whole) return yield* whole
    for (let part = 0; ; part++) {
      const bytes = await this.#get(partName(name, part))
      if (!bytes) return
      yield* bytes
    }
  }

  async #get(name: string): Promise<AsyncIterable<Buffer> | null> {
    const outcome = await this.#ask({ method: 'GET', name, timeoutMs: answerMs, isStreamed: true })
    return outcome.kind === 'answered' && outcome.status === 404 ? null : requireSuccess('GET', outcome)
  }

  /** Parts that a writer which died left behind are found one after the other. */
  async remove(name: string, isSalvaged: boolean): Promise<void> {
    await this.#delete(name)
    for (let part = 0; isSalvaged; part++) {
      const range = { range: 'bytes=0-0' }
      const found = await this.#ask({
        method: 'GET',
        name: partName(name, part),
        headers: range,
        timeoutMs: answerMs,
      })
      if (found.kind === 'answered' && found.status === 404) return
      requireSuccess('GET', found)
      await this.#delete(partName(name, part))
    }
  }

  async #delete(name: string): Promise<void> {
    const outcome = await this.#ask({ method: 'DELETE', name, timeoutMs: answerMs })
    if (outcome.kind === 'answered' && outcome.status === 404) return
    requireSuccess('DELETE', outcome)
  }

  /** All three operations are idempotent, so failures are retried. */
  async #ask(call: Call): Promise<Outcome> {
    for (let left = tries - 1; ; left--) {
      const outcome = await this.#options.door.send(this.#request(call))
      const isPassing = outcome.kind === 'failed' || outcome.status >= 500 || outcome.status === 429
      if (!isPassing || left === 0) return outcome
      await new Promise((resolve) => setTimeout(resolve, tryAgainMs * (tries - left)))
    }
  }

  #request({ method, name, headers = {}, bodyHash = emptyHash, body, timeoutMs, isStreamed }: Call): OutboundRequest {
    const { endpoint, bucket, prefix, clock, accessKey, secretKey, region } = this.#options
    const url = new URL(`${endpoint}/${bucket}/${prefix}${name}`)
    return {
      pool: 'storage',
      url: url.href,
      method,
      headers: signed({ method, url, headers, bodyHash }, { accessKey, secretKey, region }, clock.nowMs()),
      body: body?.() ?? null,
      use: 'callback',
      environment: 'live',
      timeoutMs,
      ...(isStreamed ? { isStreamed } : {}),
      connections,
    }
  }
}

/** Bytes to send, of which the length and hash are known. */
interface Piece {
  readonly length: number
  readonly hash: string
  body(): AsyncIterable<Buffer>
}

function partName(name: string, part: number): string {
  return `${name}.part-${part}`
}

/**
 * Parts of a stream, sent beside it one at a time. They are a precaution: when one cannot be sent, those after it would be
 * of no use, and the stream goes on without.
 */
class Parts {
  readonly #send: (part: number, piece: Piece) => Promise<void>
  #held: Buffer[] = []
  #heldBytes = 0
  #begun = 0
  #hasFailed = false
  #sending: Promise<void> = Promise.resolve()
  #isSending = false

  constructor(send: (part: number, piece: Piece) => Promise<void>) {
    this.#send = send
  }

  async *following(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of bytes) {
      this.#take(piece)
      yield piece
    }
  }

  /** How many were begun, once the last of them was sent. */
  async over(): Promise<number> {
    await this.#sending
    return this.#begun
  }

  #take(piece: Buffer): void {
    if (this.#hasFailed) return
    this.#held.push(piece)
    this.#heldBytes += piece.length
    if (this.#heldBytes > maxHeldBytes) this.#fail()
    if (this.#heldBytes < partBytes || this.#isSending || this.#hasFailed) return
    const part = Buffer.concat(this.#held)
    this.#held = []
    this.#heldBytes = 0
    this.#isSending = true
    const hash = createHash('sha256').update(part).digest('hex')
    const body = async function* () {
      yield part
    }
    this.#sending = this.#send(this.#begun++, { length: part.length, hash, body })
      .catch(() => this.#fail())
      .finally(() => {
        this.#isSending = false
      })
  }

  #fail(): void {
    this.#hasFailed = true
    this.#held = []
  }
}

async function spooled(file: string, bytes: AsyncIterable<Buffer>): Promise<{ length: number; hash: string }> {
  const hash = createHash('sha256')
  let length = 0
  const handle = await open(file, 'w', 0o600)
  try {
    for await (const piece of bytes) {
      hash.update(piece)
      length += piece.length
      await handle.writeFile(piece)
    }
  } finally {
    await handle.close()
  }
  return { length, hash: hash.digest('hex') }
}

function requireSuccess(method: string, outcome: Outcome): AsyncIterable<Buffer> | null {
  if (outcome.kind === 'failed') throw new Error(`${method} to the object store: ${outcome.reason}`)
  if (outcome.status < 200 || outcome.status > 299)
    throw new Error(`${method} to the object store was answered with ${outcome.status}`)
  return outcome.bytes
}
