// SPDX-License-Identifier: Apache-2.0
// Checks of an authenticator's response (WebAuthn level 2): challenge, origin, relying party, presence and verification of the
// user, and the signature. Attestation is not requested, so nothing here reads CBOR: the browser returns the public key.
import { createHash, createPublicKey, type KeyObject, timingSafeEqual, verify } from 'node:crypto'

/** What a ceremony has to be about. */
export interface Expected {
  readonly type: 'webauthn.create' | 'webauthn.get'
  readonly challenge: string
  readonly origin: string
  readonly rpId: string
}

export interface AuthenticatorData {
  readonly counter: number
  /** Id of the new credential; null when it only signs. */
  readonly credential: Buffer | null
}

const present = 0x01
const verified = 0x04
const attested = 0x40
const headBytes = 37
const aaguidBytes = 16
const leastRsaBits = 2_048

const sha256 = (bytes: Buffer | string): Buffer => createHash('sha256').update(bytes).digest()

/** Reads what the authenticator signed; a sentence where it is not what was asked for. */
export function readCeremony(clientData: Buffer, data: Buffer, expected: Expected): AuthenticatorData | string {
  const said = clientDataOf(clientData)
  if (said === null) return 'the client data is not JSON'
  if (said.type !== expected.type) return 'the client data is of another ceremony'
  if (said.challenge !== expected.challenge) return 'the challenge is another one'
  if (said.origin !== expected.origin || said.crossOrigin === true) return 'it was made on another origin'
  if (data.length < headBytes) return 'the authenticator data is cut short'
  if (!timingSafeEqual(data.subarray(0, 32), sha256(expected.rpId))) return 'it was made for another site'
  const flags = data.readUInt8(32)
  if ((flags & present) === 0 || (flags & verified) === 0) return 'nobody was recognised at the authenticator'
  const credential = (flags & attested) === 0 ? null : credentialIn(data)
  if (expected.type === 'webauthn.create' && credential === null) return 'there is no credential in it'
  return { counter: data.readUInt32BE(33), credential }
}

/** Key of a new passkey: ECDSA on P-256, Ed25519 or RSA of enough bits; null where it is none of these. */
export function passkeyKey(spki: Buffer): KeyObject | null {
  try {
    const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
    const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key
    if (type === 'ec') return details?.namedCurve === 'prime256v1' ? key : null
    if (type === 'rsa') return (details?.modulusLength ?? 0) >= leastRsaBits ? key : null
    return type === 'ed25519' ? key : null
  } catch {
    return null
  }
}

export function isSignedBy(spki: Buffer, clientData: Buffer, data: Buffer, signature: Buffer): boolean {
  const key = passkeyKey(spki)
  if (key === null) return false
  const digest = key.asymmetricKeyType === 'ed25519' ? null : 'sha256'
  try {
    return verify(digest, Buffer.concat([data, sha256(clientData)]), key, signature)
  } catch {
    return false
  }
}

/** Whether a counter is a later one; authenticators without a counter always say 0. */
export function isLater(counter: number, before: number): boolean {
  return counter > before || (counter === 0 && before === 0)
}

function clientDataOf(bytes: Buffer): Readonly<Record<string, unknown>> | null {
  try {
    const said: unknown = JSON.parse(bytes.toString('utf8'))
    return typeof said === 'object' && said !== null ? Object(said) : null
  } catch {
    return null
  }
}

function credentialIn(data: Buffer): Buffer | null {
  const at = headBytes + aaguidBytes
  if (data.length < at + 2) return null
  const length = data.readUInt16BE(at)
  const id = data.subarray(at + 2, at + 2 + length)
  return length > 0 && id.length === length ? id : null
}
