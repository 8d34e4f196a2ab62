// SPDX-License-Identifier: Apache-2.0
// Secrets that providers want encrypted with a public key of theirs: RSA, PKCS#1 v1.5, base64.
import { constants, createPublicKey, type KeyObject, privateDecrypt, publicEncrypt } from 'node:crypto'

/** `certificate` is a public key or a certificate that has one, as PEM. */
export function encryptFor(certificate: string, text: string): string {
  const key = createPublicKey(certificate)
  return publicEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, Buffer.from(text)).toString('base64')
}

/** Decrypts; null when it was made for another key. */
export function decryptWith(key: KeyObject, encrypted: string): string | null {
  try {
    // Some versions of Node do not remove this padding, so it is done by hand: 0, 2, at least eight bytes, 0, the text.
    const padded = privateDecrypt({ key, padding: constants.RSA_NO_PADDING }, Buffer.from(encrypted, 'base64'))
    const end = padded.indexOf(0, 2)
    return padded[0] === 0 && padded[1] === 2 && end >= 10 ? padded.subarray(end + 1).toString() : null
  } catch {
    return null
  }
}
