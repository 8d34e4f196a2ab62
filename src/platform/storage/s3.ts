// SPDX-License-Identifier: Apache-2.0
// Files in an object store that speaks S3. What comes in is spooled to this machine's disk first: an object is sent with its
// length and hash, which are known at its end only, and can then be sent again when the store stumbles.
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
  /** Of the store, without a path: https://s3.af-south-1.amazonaws.com. */
  readonly endpoint: string
  readonly bucket: string
  /** Before the name of each object; empty or with a slash at its end. */
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
  /** Made anew for each try. */
  body?(): AsyncIterable<Buffer>
  timeoutMs: number
  isStreamed?: boolean
}

const connections = 32
const tries = 3
const tryAgainMs = 250
const answerMs = 10_000
/** So slow may the way to the store be. */
const bytesPerMs = 100

export class S3 implements Place {
  readonly name = 's3'
  readonly #options: S3Options

  constructor(options: S3Options) {
    this.#options = options
  }

  /** Clears away what a program that ended in the middle left in the spool; another one may be using it too. */
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

  /** Each of the three may be done twice without harm, so that what fails on the way is tried again. */
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
