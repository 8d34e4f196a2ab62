// SPDX-License-Identifier: Apache-2.0
// Address of a receipt: it cannot be guessed, and having it is enough to see the receipt. It names the bucket, so that the
// payment is found by the secret alone.
import { randomBytes } from 'node:crypto'
import type { App } from '../../../platform/app.ts'

const tokenBytes = 16

export function newReceipt(app: App, { bucket }: { bucket: number }): { receiptToken: Buffer; receiptUrl: string } {
  const receiptToken = randomBytes(tokenBytes)
  const name = Buffer.concat([Buffer.from([bucket]), receiptToken]).toString('base64url')
  return { receiptToken, receiptUrl: `${app.publicUrl}/r/${name}` }
}

/** Null when it is no name of a receipt. */
export function receiptNamed(name: string): { bucket: number; token: Buffer } | null {
  const bytes = Buffer.from(name, 'base64url')
  const isName = bytes.length === 1 + tokenBytes && bytes.toString('base64url') === name
  return isName ? { bucket: bytes.readUInt8(), token: bytes.subarray(1) } : null
}
