// SPDX-License-Identifier: Apache-2.0
// Secret names of pages, the last part of their addresses: the bucket and 128 random bits, so that a row is found by the
// secret alone. Having the address is enough to see the page.
import { randomBytes } from 'node:crypto'

const tokenBytes = 16

export function newToken(): Buffer {
  return randomBytes(tokenBytes)
}

export function secretName({ bucket, token }: { bucket: number; token: Buffer }): string {
  return Buffer.concat([Buffer.from([bucket]), token]).toString('base64url')
}

/** Bucket and token of a name; null for other texts. A name has one spelling, because limits count by it. */
export function secretNamed(name: string): { bucket: number; token: Buffer } | null {
  const bytes = Buffer.from(name, 'base64url')
  const isName = bytes.length === 1 + tokenBytes && bytes.toString('base64url') === name
  return isName ? { bucket: bytes.readUInt8(), token: bytes.subarray(1) } : null
}
