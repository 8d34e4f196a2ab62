// SPDX-License-Identifier: Apache-2.0
// PDF417 of South African driving licences, as github.com/ugommirikwe/sa-license-decoder (SPEC.md) and several readers of them
// publish it: 720 bytes, of which the issuer signed blocks of 128 and 74 bytes with RSA. The public keys are published with it; the
// issuer's own description is not public. The picture of the holder, which fills most blocks, is left alone.
import { constants, createPublicKey, publicDecrypt } from 'node:crypto'
import type { DocumentFields } from './zone-fields.ts'

/** What a code begins with, and the public key of its blocks of 128 bytes (PKCS #1, base64). */
export interface LicenceKey {
  readonly head: string
  readonly key: string
}

/** Both versions of the card. */
export const published: readonly LicenceKey[] = [
  {
    head: '01e10245',
    key: 'MIGXAoGBAP7S4cJ+M2MxbncxenpSxUmBOVGGvkl0dgxyUY1j4FRKSNCIszLFsMNwx2XWXZg8H53gpCsxDMwHrncL0rYdak3M6sdXaJvcv2CEePrzEvYIfMSWw3Ys9cRlHK7No0mfrn7bfrQOPhjrMEFw6R7VsVaqzm9DLW7KbMNYUd6MZ49nAhEAu3l//ex/nkLJ1vebE3BZ2w==',
  },
  {
    head: '019b0945',
    key: 'MIGWAoGBAMqfGO9sPz+kxaRh/qVKsZQGul7NdG1gonSS3KPXTjtcHTFfexA4MkGAmwKeu9XeTRFgMMxX99WmyaFvNzuxSlCFI/foCkx0TZCFZjpKFHLXryxWrkG1Bl9++gKTvTJ4rWk1RvnxYhm3n/Rxo2NoJM/822Oo7YBZ5rmk8NuJU4HLAhAYcJLaZFTOsYU+aRX4RmoF',
  },
]

const size = 720
const headSize = 6
const blockSize = 128
/** Bytes that a block begins with, doubled from one to the next: one that was opened with another key does not. */
const markOf = (index: number) => Buffer.from([1, 2, 3, 4, 5].map((byte) => byte << index)).toString('hex')

type LicenceFields = Partial<Record<keyof DocumentFields, string | null>>

/** Fields of a licence; null for other bytes, and where the issuer did not sign them. */
export function licenceFields(bytes: Uint8Array, keys: readonly LicenceKey[] = published): LicenceFields | null {
  const code = Buffer.from(bytes)
  const known = keyOf(code, keys)
  if (!known) return null
  const parts: Buffer[] = []
  // What is printed stands in the first block, or goes on in the second.
  for (const index of [0, 1]) {
    const from = headSize + index * blockSize
    const part = opened(code.subarray(from, from + blockSize), known)
    if (part?.toString('hex', 0, 5) !== markOf(index)) return null
    parts.push(part.subarray(5))
  }
  return fieldsIn(Buffer.concat(parts))
}

/** True for a code in the form of a licence, signed or not. */
export function isLicence(bytes: Uint8Array): boolean {
  return keyOf(Buffer.from(bytes), published) !== undefined
}

function keyOf(code: Buffer, keys: readonly LicenceKey[]): LicenceKey | undefined {
  return code.length === size ? keys.find(({ head }) => code.toString('hex', 0, 4) === head) : undefined
}

/** A block as it was signed; null for one that no key of this size made. */
export function opened(block: Uint8Array, { key }: LicenceKey): Buffer | null {
  const issuer = createPublicKey({ key: Buffer.from(key, 'base64'), format: 'der', type: 'pkcs1' })
  try {
    return publicDecrypt({ key: issuer, padding: constants.RSA_NO_PADDING }, block)
  } catch {
    return null
  }
}

/** Sizes of both sections are in the ten bytes before them: texts, then half-bytes. */
function fieldsIn(content: Buffer): LicenceFields | null {
  const [texts = 0, halves = 0] = [content[5], content[7]]
  const strings = stringsIn(content.subarray(10, 10 + texts))
  const { birth, from, to, sex } = datesIn(content.toString('hex', 10 + texts, 10 + texts + halves))
  const [last, number, person] = [strings[4], strings[13], strings[14]]
  if (!last || !number) return null
  return {
    document_number: number,
    personal_number: person ?? null,
    last_name: last,
    date_of_birth: birth,
    issue_date: from,
    expiry_date: to,
    sex,
  }
}

/** Texts between bytes e0; `n` bytes e1 in a row stand for `n` + 1 of them, with empty texts between. */
function stringsIn(section: Buffer): string[] {
  const text = section.toString('latin1').replace(/\xe1+/g, (run) => '\xe0'.repeat(run.length + 1))
  return text.split('\xe0')
}

/**
 * Kind of the person's number, four dates of issue, restrictions, expiry of a permit, issue, birth, first and last day, sex. A date is
 * eight digits, or an `a` for none.
 */
function datesIn(halves: string) {
  let at = 0
  const next = (count: number) => {
    at += count
    return halves.slice(at - count, at)
  }
  const date = () => {
    if (halves[at] === 'a') {
      at += 1
      return null
    }
    const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)$/.exec(next(8)) ?? []
    return year ? `${year}-${month}-${day}` : null
  }
  next(2)
  for (let i = 0; i < 4; i++) date()
  next(2)
  date()
  next(2)
  const [birth, from, to] = [date(), date(), date()]
  const sex = { '01': 'M', '02': 'F' }[next(2)] ?? null
  return { birth, from, to, sex }
}
