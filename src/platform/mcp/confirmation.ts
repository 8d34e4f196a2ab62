// SPDX-License-Identifier: Apache-2.0
// Confirm tokens: proof that an assistant was told what a call would do before it did it. A token is of one key, one
// operation and one set of arguments, and ends after ten minutes. It is signed, not stored, so that any node accepts it;
// the call that it allows is idempotent under its number, so that it allows one.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Principal } from '../auth.ts'
import type { Secrets } from '../secrets.ts'

const use = 'mcp confirmation'
const prefix = 'confirm_'
const validForSeconds = 600
const timeBytes = 4
const bodyBytes = timeBytes + 12
const signatureBytes = 16

/** Call that is confirmed. */
export interface Confirmable {
  readonly principal: Principal
  readonly operation: string
  readonly given: object
}

type Signs = Pick<Secrets, 'fingerprint'>

export function confirmToken(secrets: Signs, call: Confirmable, nowMs: number): { token: string; expiresAt: string } {
  const untilSeconds = Math.floor(nowMs / 1_000) + validForSeconds
  const body = randomBytes(bodyBytes)
  body.writeUInt32BE(untilSeconds, 0)
  const token = prefix + Buffer.concat([body, signatureOf(secrets, body, call)]).toString('base64url')
  return { token, expiresAt: new Date(untilSeconds * 1_000).toISOString() }
}

/** Idempotency key of the call that a token allows; null for a token of another call, key or time. */
export function confirmedKey(secrets: Signs, call: Confirmable, token: string, nowMs: number): string | null {
  if (!token.startsWith(prefix)) return null
  const bytes = Buffer.from(token.slice(prefix.length), 'base64url')
  if (bytes.length !== bodyBytes + signatureBytes) return null
  const body = bytes.subarray(0, bodyBytes)
  if (!timingSafeEqual(bytes.subarray(bodyBytes), signatureOf(secrets, body, call))) return null
  return body.readUInt32BE(0) * 1_000 < nowMs ? null : `mcp_${body.subarray(timeBytes).toString('base64url')}`
}

function signatureOf(secrets: Signs, body: Buffer, { principal, operation, given }: Confirmable): Buffer {
  const { keyUuid, environment } = principal.facts
  const text = JSON.stringify([body.toString('base64url'), keyUuid, environment, operation, ordered(given)])
  return secrets.fingerprint(use, text).subarray(0, signatureBytes)
}

/** Value with the fields of its objects in one order: a program may write them in another the second time. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, one]) => [name, ordered(one)])
}
