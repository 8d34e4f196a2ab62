// SPDX-License-Identifier: Apache-2.0
// Signed recipient tokens: in links, so that redirects need no database and cannot be forged, and in envelope senders,
// so that bounces match their message and cannot be forged.
import { timingSafeEqual } from 'node:crypto'
import { bucketOf, uuidText, writeUuid } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { Tenant } from '../../../platform/tenant.ts'

export interface Recipient {
  readonly tenant: Tenant
  readonly message: string
  readonly number: number
}

export type TokenUse = 'open' | 'click' | 'unsubscribe'

const version = 1
const keyId = 0
const headBytes = 1 + 1 + 16 + 16 + 2 + 2
const macBytes = 16
const live = 0x80

/**
 * Token: base64url of version · key · account · message · recipient (first bit: live) · link · MAC over all of it and
 * the URL.
 */
export function linkToken(app: App, use: TokenUse, { tenant, message, number }: Recipient, link = 0, url = ''): string {
  const bytes = Buffer.alloc(headBytes)
  bytes[0] = version
  bytes[1] = keyId
  writeUuid(bytes, 2, tenant.account)
  writeUuid(bytes, 18, message)
  bytes.writeUInt16BE(number | (tenant.environment === 'live' ? live << 8 : 0), 34)
  bytes.writeUInt16BE(link, 36)
  return Buffer.concat([bytes, macOf(app, use, bytes, url, macBytes)]).toString('base64url')
}

/** Parses a token; null when invalid or for another use. */
export function readLinkToken(app: App, use: TokenUse, token: string, url = ''): (Recipient & { link: number }) | null {
  const bytes = /^[\w-]{10,100}$/.test(token) ? Buffer.from(token, 'base64url') : Buffer.alloc(0)
  if (bytes.length !== headBytes + macBytes || bytes[0] !== version || bytes[1] !== keyId) return null
  const head = bytes.subarray(0, headBytes)
  if (!timingSafeEqual(macOf(app, use, head, url, macBytes), bytes.subarray(headBytes))) return null
  const number = bytes.readUInt16BE(34)
  return { ...recipientAt(head, 2, 18, number & 0x7fff, (number & (live << 8)) !== 0), link: bytes.readUInt16BE(36) }
}

const envelopeMacBytes = 5
const envelopeBytes = 16 + 16 + 1

/** Envelope sender's local part, at most 64 characters: `b+` for bounces, `u+` for unsubscribe requests. */
export function envelopeLocal(app: App, use: 'b' | 'u', { tenant, message, number }: Recipient): string {
  const bytes = Buffer.alloc(envelopeBytes)
  writeUuid(bytes, 0, tenant.account)
  writeUuid(bytes, 16, message)
  bytes[32] = number | (tenant.environment === 'live' ? live : 0)
  return `${use}+${base32(Buffer.concat([bytes, macOf(app, `envelope-${use}`, bytes, '', envelopeMacBytes)]))}`
}

export function readEnvelopeLocal(app: App, local: string): (Recipient & { use: 'b' | 'u' }) | null {
  const [, use, text = ''] = /^([bu])\+([a-z2-7]{61})$/.exec(local.toLowerCase()) ?? []
  if (use !== 'b' && use !== 'u') return null
  const bytes = fromBase32(text)
  const head = bytes.subarray(0, envelopeBytes)
  if (!timingSafeEqual(macOf(app, `envelope-${use}`, head, '', envelopeMacBytes), bytes.subarray(envelopeBytes)))
    return null
  const number = head[32] ?? 0
  return { use, ...recipientAt(head, 0, 16, number & 0x7f, (number & live) !== 0) }
}

function recipientAt(bytes: Buffer, accountAt: number, messageAt: number, number: number, isLive: boolean): Recipient {
  const account = uuidText(bytes.subarray(accountAt, accountAt + 16))
  const tenant: Tenant = Object.freeze({ bucket: bucketOf(account), account, environment: isLive ? 'live' : 'test' })
  return { tenant, message: uuidText(bytes.subarray(messageAt, messageAt + 16)), number }
}

function macOf(app: App, use: string, bytes: Buffer, url: string, length: number): Buffer {
  return app.secrets.fingerprint(`email.${use}`, `${bytes.toString('hex')} ${url}`).subarray(0, length)
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'

function base32(bytes: Buffer): string {
  let out = ''
  let bits = 0
  let held = 0
  for (const byte of bytes) {
    bits = ((bits << 8) | byte) & 0xffff
    held += 8
    for (; held >= 5; held -= 5) out += alphabet[(bits >> (held - 5)) & 31]
  }
  return held > 0 ? out + alphabet[(bits << (5 - held)) & 31] : out
}

function fromBase32(text: string): Buffer {
  const out: number[] = []
  let bits = 0
  let held = 0
  for (const character of text) {
    bits = ((bits << 5) | alphabet.indexOf(character)) & 0xffff
    held += 5
    if (held >= 8) {
      held -= 8
      out.push((bits >> held) & 255)
    }
  }
  return Buffer.from(out)
}
