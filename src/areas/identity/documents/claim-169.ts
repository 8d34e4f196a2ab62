// SPDX-License-Identifier: Apache-2.0
// QR codes of identity systems that follow MOSIP, by the published "169 - QR Code Specification" 1.0 to 1.2.1 (docs.mosip.io): Base45
// of a CBOR Web Token, compressed with zlib or Brotli, whose claim 169 has the person. It is signed (COSE), with keys that issuers do
// not publish in one place: the signature is not checked. Encrypted codes are not read.
import { brotliDecompressSync, inflateSync } from 'node:zlib'
import type { DocumentFields } from './zone-fields.ts'

const base45 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:'
const form = /^[0-9A-Z $%*+\-./:]{40,}$/
const maxSize = 65_536
/** Characters of a value; longer ones are no part of a person, and comparing them would take long. */
const maxLength = 200

/** Claim with the person. */
const person = 169
/** Attributes of the person. */
const attribute = { id: 1, fullName: 4, first: 5, middle: 6, last: 7, birth: 8, sex: 9, nationality: 13 } as const

/** Fields of a code, its name still whole where that is all it has; null for other texts. The text counts with its spaces. */
export function claim169Fields(text: string): (Partial<DocumentFields> & { full_name?: string }) | null {
  const found = form.test(text) ? claimIn(text) : null
  if (!found) return null
  const word = (key: number) => {
    const value = found.get(key)
    return typeof value === 'string' && value.length <= maxLength && value.trim() ? value.trim() : null
  }
  const given = [word(attribute.first), word(attribute.middle)].filter((name) => name !== null).join(' ')
  const [last, whole] = [word(attribute.last), word(attribute.fullName)]
  const [, year, month, day] = /^(\d{4})[-/]?(\d\d)[-/]?(\d\d)$/.exec(word(attribute.birth) ?? '') ?? []
  return {
    ...(last ? { last_name: last, first_name: given || null } : {}),
    ...(!last && whole ? { full_name: whole } : {}),
    document_number: word(attribute.id),
    date_of_birth: year ? `${year}-${month}-${day}` : null,
    sex: { '1': 'M', '2': 'F' }[String(found.get(attribute.sex))] ?? null,
    nationality: word(attribute.nationality),
  }
}

function claimIn(text: string): ReadonlyMap<unknown, unknown> | null {
  try {
    const bytes = decoded(text)
    const limit = { maxOutputLength: maxSize }
    const isZlib = bytes[0] === 0x78
    const token = new Cbor(isZlib ? inflateSync(bytes, limit) : brotliDecompressSync(bytes, limit)).value()
    const payload = Array.isArray(token) && token.length === 4 ? token[2] : null
    const claims = Buffer.isBuffer(payload) ? new Cbor(payload).value() : null
    const found = claims instanceof Map ? claims.get(person) : null
    return found instanceof Map ? found : null
  } catch {
    return null
  }
}

/** Three characters for two bytes, and two for a last one (RFC 9285). */
function decoded(text: string): Buffer {
  const bytes: number[] = []
  for (let at = 0; at < text.length; at += 3) {
    const digits = [...text.slice(at, at + 3)].map((character) => base45.indexOf(character))
    const value = digits.reduce((sum, digit, i) => sum + digit * 45 ** i, 0)
    if (digits.length === 1 || value >= 2 ** (8 * (digits.length - 1))) throw new Error('not Base45')
    if (digits.length === 3) bytes.push(value >> 8)
    bytes.push(value & 255)
  }
  return Buffer.from(bytes)
}

const maxDepth = 12

/** What such tokens use of CBOR (RFC 8949): no items of unknown length; tags are passed over, and floats are null. */
class Cbor {
  #at = 0
  readonly #bytes: Buffer

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  value(depth = 0): unknown {
    if (depth > maxDepth) throw new Error('nested too deeply')
    const head = this.#bytes.readUInt8(this.#at++)
    const size = this.#size(head & 31)
    switch (head >> 5) {
      case 0:
        return size
      case 1:
        return -1 - size
      case 2:
        return this.#take(size)
      case 3:
        return this.#take(size).toString('utf8')
      case 4:
        return this.#times(size, () => this.value(depth + 1))
      case 5:
        return new Map(this.#times(size, () => [this.value(depth + 1), this.value(depth + 1)] as const))
      case 6:
        return this.value(depth + 1)
      default:
        return null
    }
  }

  #size(short: number): number {
    if (short < 24) return short
    if (short > 27) throw new Error('of unknown length')
    const length = 2 ** (short - 24)
    const value = this.#take(length)
    return length === 8 ? Number(value.readBigUInt64BE()) : value.readUIntBE(0, length)
  }

  #take(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) throw new Error('cut short')
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  #times<Value>(count: number, read: () => Value): Value[] {
    if (count > this.#bytes.length) throw new Error('cut short')
    return Array.from({ length: count }, read)
  }
}
