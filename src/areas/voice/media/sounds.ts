// SPDX-License-Identifier: Apache-2.0
// Sounds from customers' addresses: fetched through the guarded door, bounded, turned into telephone audio, and remembered by URL
// for as long as the server says the file is the same (ETag). WAV only: PCM or G.711.
import type { App } from '../../../platform/app.ts'
import { onePerApp } from '../../../platform/one-per-app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { readWav } from '../../../protocols/audio/wav.ts'

const mostBytes = 10 * 1_024 * 1_024
const fetchMs = 5_000
const mostKept = 200

interface Kept {
  etag: string
  samples: Int16Array
}

const kept = onePerApp(() => new Map<string, Kept>())

/** Telephone audio, or a sentence that says why there is none. */
export async function fetchSound(app: App, tenant: Tenant, url: string): Promise<Int16Array | string> {
  const cache = kept(app)
  const key = `${tenant.account} ${url}`
  const known = cache.get(key)
  const outcome = await app.outbound.send({
    pool: `voice-sounds:${tenant.account}`,
    url,
    method: 'GET',
    headers: known ? { 'if-none-match': known.etag } : {},
    body: null,
    timeoutMs: fetchMs,
    connections: 20,
    use: 'callback',
    environment: tenant.environment,
    isStreamed: true,
  })
  if (outcome.kind === 'failed') return `${url}: ${outcome.reason}`
  if (outcome.status === 304 && known) return known.samples
  if (outcome.status !== 200) return `${url}: it answered with status ${outcome.status}`
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of outcome.bytes ?? []) {
    length += chunk.length
    if (length > mostBytes) return `${url}: it is larger than ${mostBytes} bytes`
    chunks.push(chunk)
  }
  const samples = readWav(Buffer.concat(chunks))
  if (typeof samples === 'string') return `${url}: ${samples}`
  const { etag } = outcome.headers
  if (etag !== undefined) keep(cache, key, { etag, samples })
  return samples
}

function keep(cache: Map<string, Kept>, key: string, sound: Kept): void {
  cache.delete(key)
  cache.set(key, sound)
  const [oldest] = cache.size > mostKept ? cache.keys() : []
  if (oldest !== undefined) cache.delete(oldest)
}
