// SPDX-License-Identifier: Apache-2.0
// Sealed value: version, key number, iv, tag, data. The version tells the kind of key.
import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto'

export const keyBytes = 32
export const rootKeyIdBytes = 8
const underDataKey = 1
const underRootKey = 2
const versionBytes = 1
const dataKeyHeaderBytes = versionBytes + 2
const rootKeyHeaderBytes = versionBytes + rootKeyIdBytes
const ivBytes = 12
const tagBytes = 16
const algorithm = 'aes-256-gcm'

export function dataKeyHeader(dataKeyId: number): Buffer {
  return Buffer.from([underDataKey, dataKeyId >> 8, dataKeyId & 255])
}

export function rootKeyHeader(rootKeyId: string): Buffer {
  return Buffer.from([underRootKey, ...Buffer.from(rootKeyId, 'hex')])
}

/** Data key number of a sealed value; throws when it was not sealed with one. */
export function dataKeyIdOf(sealed: Buffer): number {
  if (sealed[0] !== underDataKey || sealed.length < dataKeyHeaderBytes) throw notSealed()
  return sealed.readUInt16BE(versionBytes)
}

/** Root key id of a sealed value; throws when it was not sealed with one. */
export function rootKeyIdOf(sealed: Buffer): string {
  if (sealed[0] !== underRootKey || sealed.length < rootKeyHeaderBytes) throw notSealed()
  return sealed.toString('hex', versionBytes, rootKeyHeaderBytes)
}

function notSealed(): Error {
  return new Error('this is not a sealed value')
}

/** Random ivs are safe for about 2^32 values per key; rotateDataKey is for an account that comes near. */
export function encrypt(
  key: KeyObject,
  header: Buffer,
  account: string,
  place: string,
  plaintext: Buffer | string,
): Buffer {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv(algorithm, key, iv, { authTagLength: tagBytes })
  cipher.setAAD(boundTo(header, account, place))
  const data = [cipher.update(Buffer.from(plaintext)), cipher.final()]
  return Buffer.concat([header, iv, cipher.getAuthTag(), ...data])
}

export function decrypt(key: KeyObject, account: string, place: string, sealed: Buffer): Buffer {
  const headerBytes = sealed[0] === underDataKey ? dataKeyHeaderBytes : rootKeyHeaderBytes
  const tagAt = headerBytes + ivBytes
  const dataAt = tagAt + tagBytes
  if (sealed.length < dataAt) throw notSealed()
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(headerBytes, tagAt), { authTagLength: tagBytes })
  decipher.setAAD(boundTo(sealed.subarray(0, headerBytes), account, place))
  decipher.setAuthTag(sealed.subarray(tagAt, dataAt))
  const data = decipher.update(sealed.subarray(dataAt))
  try {
    return Buffer.concat([data, decipher.final()])
  } catch {
    throw new Error('a sealed value could not be opened: it was changed, or it belongs to another account or place')
  }
}

/** Length prefixes, so that no account and place can be read as another pair. */
function boundTo(header: Buffer, ...texts: string[]): Buffer {
  const parts = [header]
  for (const text of texts) {
    const bytes = Buffer.from(text)
    const length = Buffer.alloc(4)
    length.writeUInt32BE(bytes.length)
    parts.push(length, bytes)
  }
  return Buffer.concat(parts)
}
