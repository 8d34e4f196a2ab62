// SPDX-License-Identifier: Apache-2.0
// S3 object store. Uploads are spooled to the local disk first: an object is sent with its length and hash, known only
// at the end, and can then be retried.
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
/** Slowest transfer rate allowed for. */
const bytesPerMs = 100

export class S3 implements Place {
  readonly name = 's3'
  readonly #options: S3Options

  constructor(options: S3Options) {
    this.#options = options
  }

  /** Remove leftovers of a crashed program from the spool, which another may be using too. */
  async start(): Promise<void> {
    const { spool, clock } = this.#options
    await mkdir(spool, { recursive: true, mode: 0o700 })
    for (const name of await readdir(spool)) {
      const file = join(spool, name)
      const found = await stat(file).catch(() => null)
      if (found && found.mtimeMs < clock.nowMs() - dayMs) await rm(file, { force: true })
    }
  }

  async write(name: string, bytes: AsyncIterable<Buffer>): Promise<void> {
    const file = join(this.#options.spool, name.replaceAll('/', '-'))
    try {
      const { length, hash } = await spooled(file, bytes)
      const outcome = await this.#ask({
        method: 'PUT',
        name,
        headers: { 'content-length': String(length), 'content-type': 'application/octet-stream' },
        bodyHash: hash,
        body: () => createReadStream(file),
        timeoutMs: answerMs + length / bytesPerMs,
      })
      requireSuccess('PUT', outcome)
    } finally {
      await rm(file, { force: true })
    }
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

  async remove(name: string): Promise<void> {
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
