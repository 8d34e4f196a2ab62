// SPDX-License-Identifier: Apache-2.0
// Canonical forms that a DKIM signature covers (RFC 6376 §3.4): relaxed header fields and body, and the simple body for
// verification.
import { createHash } from 'node:crypto'
import type { HeaderField } from '../mime/header.ts'

export function relaxedField({ name, raw }: Pick<HeaderField, 'name' | 'raw'>): string {
  const value = raw
    .slice(raw.indexOf(':') + 1)
    .replace(/\r?\n/g, '')
    .replace(/[ \t]+/g, ' ')
    .trim()
  return `${name.toLowerCase().trim()}:${value}`
}

/** Hash of the body in its relaxed form: spaces at line ends and empty lines at the end do not count. */
export function relaxedBodyHash(body: Buffer): string {
  const text = body
    .toString('latin1')
    .replace(/[ \t]+/g, ' ')
    .replace(/ (?=\r\n)/g, '')
    .replace(/ $/, '')
  return createHash('sha256').update(withOneEnd(text, ''), 'latin1').digest('base64')
}

export function simpleBodyHash(body: Buffer): string {
  return createHash('sha256')
    .update(withOneEnd(body.toString('latin1'), '\r\n'), 'latin1')
    .digest('base64')
}

function withOneEnd(text: string, empty: string): string {
  let end = text.length
  while (end >= 2 && text[end - 1] === '\n' && text[end - 2] === '\r') end -= 2
  return end === 0 ? empty : `${text.slice(0, end)}\r\n`
}

/** Fields in the order that a signature names them: of fields with one name the last comes first (RFC 6376 §5.4.2). */
export function fieldsToSign(fields: readonly HeaderField[], names: readonly string[]): string {
  const left = new Map<string, HeaderField[]>()
  for (const field of fields) {
    const name = field.name.toLowerCase()
    const list = left.get(name)
    if (list) list.push(field)
    else left.set(name, [field])
  }
  return names
    .map((name) => left.get(name.toLowerCase())?.pop())
    .filter((field) => field !== undefined)
    .map((field) => `${relaxedField(field)}\r\n`)
    .join('')
}
