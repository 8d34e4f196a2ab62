// SPDX-License-Identifier: Apache-2.0
// The signatures on a delivery, as header pairs in a flat list. Two ways at once: the hex HMAC-SHA256 of the raw body
// under the whole text of the secret, and Standard Webhooks (v1: base64 HMAC-SHA256 of id.timestamp.body under the bytes
// that the secret encodes). While a secret is replaced, both carry both.
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'

/** A secret as the two keys it stands for. */
export interface SigningKeys {
  readonly text: KeyObject
  readonly bytes: KeyObject
}

const secretPrefix = 'whsec_'

export function signingKeys(secret: string): SigningKeys {
  return {
    text: createSecretKey(secret, 'utf8'),
    bytes: createSecretKey(Buffer.from(secret.slice(secretPrefix.length), 'base64')),
  }
}

export interface Signed {
  /** `evt_...`. */
  eventId: string
  timestampSeconds: number
  body: Buffer
  /** Adds the header that receivers of messenger events know. */
  isHubSigned: boolean
  current: SigningKeys
  /** The coming secret, during the overlap. */
  next: SigningKeys | null
}

export function signatureHeaders({ eventId, timestampSeconds, body, isHubSigned, current, next }: Signed): string[] {
  const hex = hexOf(current, body)
  const prefix = `${eventId}.${timestampSeconds}.`
  const standard = standardOf(current, prefix, body)
  const headers = [
    'X-Service-Signature',
    hex,
    'X-Service-Timestamp',
    `${timestampSeconds}`,
    'webhook-id',
    eventId,
    'webhook-timestamp',
    `${timestampSeconds}`,
    'webhook-signature',
    next ? `${standard} ${standardOf(next, prefix, body)}` : standard,
  ]
  if (isHubSigned) headers.push('x-hub-signature-256', `sha256=${hex}`)
  if (next) headers.push('X-Service-Signature-Next', hexOf(next, body))
  return headers
}

function hexOf({ text }: SigningKeys, body: Buffer): string {
  return createHmac('sha256', text).update(body).digest('hex')
}

function standardOf({ bytes }: SigningKeys, prefix: string, body: Buffer): string {
  return `v1,${createHmac('sha256', bytes).update(prefix).update(body).digest('base64')}`
}
