// SPDX-License-Identifier: Apache-2.0
// Signed file tokens: file id and expiry with a signature, without a row.
import { timingSafeEqual } from 'node:crypto'
import { uuidText, writeUuid } from '../../kernel/ids.ts'
import type { Secrets } from '../secrets.ts'
import type { One } from '../tenant.ts'

const use = 'file address'
const bodyBytes = 1 + 1 + 16 + 16 + 4
const signatureBytes = 16

export function tokenOf(secrets: Secrets, file: One, untilSeconds: number): string {
  const body = Buffer.alloc(bodyBytes)
  body[0] = file.bucket
  body[1] = file.environment === 'live' ? 1 : 0
  writeUuid(body, 2, file.account)
  writeUuid(body, 18, file.id)
  body.writeUInt32BE(untilSeconds, 34)
  return Buffer.concat([body, signatureOf(secrets, body)]).toString('base64url')
}

/** File and expiry of a token; null when invalid. */
export function readToken(secrets: Secrets, token: string): { file: One; untilSeconds: number } | null {
  const bytes = Buffer.from(token, 'base64url')
  if (bytes.length !== bodyBytes + signatureBytes) return null
  const body = bytes.subarray(0, bodyBytes)
  if (!timingSafeEqual(bytes.subarray(bodyBytes), signatureOf(secrets, body))) return null
  return {
    file: {
      bucket: body[0] ?? 0,
      environment: body[1] === 1 ? 'live' : 'test',
      account: uuidText(body.subarray(2, 18)),
      id: uuidText(body.subarray(18, 34)),
    },
    untilSeconds: body.readUInt32BE(34),
  }
}

function signatureOf(secrets: Secrets, body: Buffer): Buffer {
  return secrets.fingerprint(use, body.toString('base64url')).subarray(0, signatureBytes)
}
