// SPDX-License-Identifier: Apache-2.0
// One-time passwords by time (RFC 6238, with SHA-1, six digits and steps of thirty seconds, as every authenticator has them).
import { createHmac, timingSafeEqual } from 'node:crypto'

const stepMs = 30_000
const digits = 6
/** Steps before and after the present one that are taken as well: clocks differ. */
const drift = 1
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

export function totpOf(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', secret).update(counter).digest()
  const at = (mac.at(-1) ?? 0) & 0x0f
  const code = (mac.readUInt32BE(at) & 0x7fffffff) % 10 ** digits
  return String(code).padStart(digits, '0')
}

/** The step that a code belongs to; null when it is wrong, or not later than one that was used before. */
export function stepOf(secret: Buffer, code: string, nowMs: number, usedStep: number): number | null {
  if (!/^\d{6}$/.test(code)) return null
  const now = Math.floor(nowMs / stepMs)
  for (let step = now - drift; step <= now + drift; step++) {
    const isRight = timingSafeEqual(Buffer.from(totpOf(secret, step)), Buffer.from(code))
    if (isRight && step > usedStep) return step
  }
  return null
}

/** Secret in base32, as typed into an authenticator. */
export function base32Of(secret: Buffer): string {
  let bits = ''
  for (const octet of secret) bits += octet.toString(2).padStart(8, '0')
  return (bits.match(/.{1,5}/g) ?? []).map((part) => alphabet[Number.parseInt(part.padEnd(5, '0'), 2)]).join('')
}

/** otpauth URI of a secret, for a QR code or a link. */
export function totpUri(secret: Buffer, account: string): string {
  return `otpauth://totp/Pamoja:${encodeURIComponent(account)}?secret=${base32Of(secret)}&issuer=Pamoja`
}
