// SPDX-License-Identifier: Apache-2.0
// Email addresses of RFC 5321 and 6531: a dot-atom, possibly with letters beyond ASCII, or a quoted text at a DNS name.
// Comments and address literals are refused: no real mailbox needs them.
import { domainToASCII } from 'node:url'

export interface Mailbox {
  /** The display name; null where none was given. */
  readonly name: string | null
  /** `local@domain`, the domain as lower-case A-labels. */
  readonly address: string
  readonly local: string
  readonly domain: string
}

const maxTextLength = 320
const maxAddressBytes = 254
const maxLocalBytes = 64
const atoms = /^[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}\p{M}!#$%&'*+/=?^_`{|}~-]+)*$/u
/** Content of a quoted local part: printable ASCII without what would end it, or an address, early. */
const quotable = /^[ !#-;=?-[\]-~]+$/
const label = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/
/** Domain that is its own A-labels, as nearly all are. */
const plainDomain = /^(?:(?!-|xn--)[a-z0-9-]{1,63}(?<!-)\.)+(?!xn--)[a-z]{2,63}$/i
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const controls = /[\u0000-\u001f\u007f\u2028\u2029]/

/** `a@b.c`, `Name <a@b.c>` or `"Name" <a@b.c>`; null when it is none of them. */
export function parseMailbox(text: string): Mailbox | null {
  if (text.length > maxTextLength || controls.test(text)) return null
  const trimmed = text.trim()
  if (!trimmed.endsWith('>')) return parseAddress(trimmed)
  const open = trimmed.lastIndexOf('<')
  if (open < 0) return null
  const parsed = parseAddress(trimmed.slice(open + 1, -1))
  const name = displayName(trimmed.slice(0, open).trim())
  return parsed && name !== undefined ? { ...parsed, name } : null
}

/** An address alone; null when it is none. */
export function parseAddress(text: string): Mailbox | null {
  const at = text.lastIndexOf('@')
  if (at < 1) return null
  const local = localOf(text.slice(0, at))
  const domain = parseDomain(text.slice(at + 1))
  if (domain === null || local === null || Buffer.byteLength(local) > maxLocalBytes) return null
  const address = `${local}@${domain}`
  return Buffer.byteLength(address) > maxAddressBytes ? null : { name: null, address, local, domain }
}

/** Local part, quoted only where it has to be; null when it is none. */
function localOf(text: string): string | null {
  if (!/^".*"$/s.test(text)) return atoms.test(text) ? text : null
  const inner = text.slice(1, -1).replace(/\\([ -~])/g, '$1')
  if (atoms.test(inner)) return inner
  return quotable.test(inner) ? `"${inner}"` : null
}

/** A name in the DNS with at least two labels, as lower-case A-labels; null when it is none. */
export function parseDomain(text: string): string | null {
  if (text.length === 0 || text.length > 253 || /[\s/@:[\]%\\]/.test(text)) return null
  if (plainDomain.test(text)) return text.toLowerCase()
  const ascii = domainToASCII(text).toLowerCase().replace(/\.$/, '')
  const labels = ascii.split('.')
  if (ascii.length > 253 || labels.length < 2 || !labels.every((one) => label.test(one))) return null
  return /^\d+$/.test(labels.at(-1) ?? '') ? null : ascii
}

export function isAscii(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII
  return /^[\u0000-\u007f]*$/.test(text)
}

/** Display name before the angle brackets; undefined when the text is no name. */
function displayName(text: string): string | null | undefined {
  if (text === '') return null
  if (!text.startsWith('"')) return /["<>]/.test(text) ? undefined : text
  if (text.length < 2 || !text.endsWith('"')) return undefined
  const inner = text.slice(1, -1)
  if (/(?<!\\)(?:\\\\)*"/.test(inner)) return undefined
  return inner.replace(/\\(.)/g, '$1') || null
}
