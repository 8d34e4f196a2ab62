// SPDX-License-Identifier: Apache-2.0
// Cache of sounds: those from customers' URLs are fetched with the outbound checks, bounded in size, converted to telephone
// audio and kept while the ETag is unchanged; uploaded prompts come from the files of the account.
import { uuidOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { soundIn } from './sound-file.ts'
import { promptSound } from './stored-prompts.ts'

const maxBytes = 10 * 1_024 * 1_024
const fetchMs = 5_000
const maxKept = 200
/** Cache limit: an hour of sound, some 60 MB. */
const maxKeptSamples = 3_600 * 8_000
/** Addresses of uploaded prompts begin so; their ids follow. */
const promptAddress = 'prompt:'

interface Kept {
  etag: string
  samples: Int16Array
}

/** Cached sounds, oldest first. */
const kept = onePerApp(() => ({ sounds: new Map<string, Kept>(), samples: 0 }))

/** Telephone audio of a URL, or the reason for failure. */
export async function fetchSound(app: App, tenant: Tenant, url: string): Promise<Int16Array | string> {
  if (url.startsWith(promptAddress)) return uploaded(app, tenant, url)
  const cache = kept(app)
  const key = `${tenant.account} ${url}`
  const known = cache.sounds.get(key)
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
    if (length > maxBytes) return `${url}: it is larger than ${maxBytes} bytes`
    chunks.push(chunk)
  }
  const samples = await soundIn(app, Buffer.concat(chunks), tenant)
  if (typeof samples === 'string') return `${url}: ${samples}`
  const { etag } = outcome.headers
  if (etag !== undefined) keep(cache, key, { etag, samples })
  return samples
}

/** Telephone audio of an uploaded prompt, or the reason for failure. Prompts never change, so that one is read once. */
async function uploaded(app: App, tenant: Tenant, address: string): Promise<Int16Array | string> {
  const id = uuidOf('prompt', address.slice(promptAddress.length))
  const stored = id === null ? null : await app.storage.find(tenant, id)
  if (id === null || stored === null || stored === 'gone') return `${address}: there is no such prompt`
  const cache = kept(app)
  const key = `${tenant.account} ${tenant.environment} ${address}`
  const known = cache.sounds.get(key)
  if (known) return known.samples
  const samples = await promptSound(app, tenant, id)
  if (samples === null) return `${address}: there is no such prompt`
  keep(cache, key, { etag: '', samples })
  return samples
}

function keep(cache: ReturnType<typeof kept>, key: string, sound: Kept): void {
  forget(cache, key)
  cache.sounds.set(key, sound)
  cache.samples += sound.samples.length
  for (const oldest of cache.sounds.keys()) {
    if (cache.sounds.size <= maxKept && cache.samples <= maxKeptSamples) return
    forget(cache, oldest)
  }
}

function forget(cache: ReturnType<typeof kept>, key: string): void {
  cache.samples -= cache.sounds.get(key)?.samples.length ?? 0
  cache.sounds.delete(key)
}
