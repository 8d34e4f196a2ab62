// SPDX-License-Identifier: Apache-2.0
// Webhooks that were received: checked and typed. No client is needed, so that a receiver needs no key. Signatures are those of
// Standard Webhooks, which cover the time: base64 HMAC-SHA256 of `id.timestamp.body`.
import type { PamojaEvent } from './events.ts'

export type WebhookProblem = 'no_header' | 'too_old' | 'wrong_signature' | 'not_raw'

export class WebhookVerificationError extends Error {
  readonly reason: WebhookProblem

  constructor(reason: WebhookProblem, message: string) {
    super(message)
    this.name = 'WebhookVerificationError'
    this.reason = reason
  }
}

type HeaderSource = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

interface VerifyOptions {
  /** Seconds that the time of the request may be away from now, either way; 300 unless given. */
  readonly tolerance?: number
  /** Seconds since 1970, for tests. */
  readonly now?: number
}

/** Event of a request, when it was signed with the secret (or one of several) and is not old. `rawBody` is what came, unparsed. */
export async function verify(
  rawBody: string | Uint8Array,
  headers: HeaderSource,
  secret: string | readonly string[],
  { tolerance = 300, now = Date.now() / 1_000 }: VerifyOptions = {},
): Promise<PamojaEvent> {
  if (typeof rawBody !== 'string' && !(rawBody instanceof Uint8Array))
    throw new WebhookVerificationError(
      'not_raw',
      'Give the raw body, as text or bytes: a parsed one cannot be checked (in Express, express.raw({ type: "*/*" }))',
    )
  const [id, time, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(headers, name),
  )
  if (!id || !time || !signatures)
    throw new WebhookVerificationError(
      'no_header',
      'The request lacks webhook-id, webhook-timestamp or webhook-signature',
    )
  if (!(Math.abs(now - Number(time)) <= tolerance))
    throw new WebhookVerificationError(
      'too_old',
      `The request was signed at ${time}, more than ${tolerance} s from now`,
    )
  const body = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : rawBody
  const signed = joined(new TextEncoder().encode(`${id}.${time}.`), body)
  for (const one of Array.isArray(secret) ? secret : [secret])
    for (const signature of signatures.split(' '))
      if (signature.startsWith('v1,') && (await isSigned(one, signature.slice(3), signed)))
        return JSON.parse(new TextDecoder().decode(body))
  throw new WebhookVerificationError('wrong_signature', 'The request was not signed with this secret')
}

/** Headers of a request as the server would sign it, to try a receiver with. */
export async function sign(
  body: string,
  secret: string,
  {
    id = `evt_${crypto.randomUUID()}`,
    timestamp = Math.floor(Date.now() / 1_000),
  }: { id?: string; timestamp?: number } = {},
): Promise<Record<string, string>> {
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  const bytes = new Uint8Array(await crypto.subtle.sign('HMAC', await keyOf(secret), signed))
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${btoa(String.fromCharCode(...bytes))}`,
  }
}

async function isSigned(secret: string, signature: string, signed: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const given = bytesOf(signature)
  return given !== null && crypto.subtle.verify('HMAC', await keyOf(secret), given, signed)
}

function keyOf(secret: string): ReturnType<typeof crypto.subtle.importKey> {
  const bytes = bytesOf(secret.replace(/^whsec_/, ''))
  if (bytes === null || bytes.length === 0)
    throw new TypeError('The secret is not one of a webhook: it begins with whsec_')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(first.length + second.length)
  bytes.set(first)
  bytes.set(second, first.length)
  return bytes
}

function headerOf(headers: HeaderSource, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  const value = Object.entries(headers).find(([one]) => one.toLowerCase() === name)?.[1]
  return typeof value === 'string' ? value : value?.[0]
}
