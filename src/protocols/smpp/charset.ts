// SPDX-License-Identifier: Apache-2.0
// Text as short messages carry it: the GSM 7-bit default alphabet with its extension table (3GPP TS 23.038, one septet in each
// octet, as SMPP has it) and UCS-2; how a text is cut into parts, and how parts name themselves (TS 23.040 section 9.2.3.24).
// Left out: national shift tables, and packing septets into octets, which is the message centre's work.
import assert from 'node:assert/strict'
import { dataCodings, esmClasses, type ShortMessage } from './pdu.ts'

export type Encoding = 'gsm7' | 'ucs2'

/** Meanings of data_coding 0, which the specification leaves to the centre. */
export const alphabets = ['gsm', 'latin1'] as const
export type Alphabet = (typeof alphabets)[number]

/** Units (septets or UTF-16 units) of a single part, and of each of several. */
export const partSizes = {
  gsm7: { alone: 160, together: 153 },
  ucs2: { alone: 70, together: 67 },
} as const satisfies Record<Encoding, PartSizes>

interface PartSizes {
  alone: number
  together: number
}

/** The header with a reference of two octets takes one octet more. */
const widePartSizes = {
  gsm7: { alone: 160, together: 152 },
  ucs2: { alone: 70, together: 66 },
} as const satisfies Record<Encoding, PartSizes>

/** The number of parts is one octet. */
const maxParts = 255

const basic =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\u001bÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà'
const escapeCode = 0x1b
const extension: Readonly<Record<string, number>> = {
  '\f': 0x0a,
  '^': 0x14,
  '{': 0x28,
  '}': 0x29,
  '\\': 0x2f,
  '[': 0x3c,
  '~': 0x3d,
  ']': 0x3e,
  '|': 0x40,
  '€': 0x65,
}

const absent = 0xffff
const extended = 0x100
/** UTF-16 unit -> septet, with `extended` added where an escape goes before it. 128 KiB make it a single lookup. */
const septets = new Uint16Array(0x10000).fill(absent)
for (let code = 0; code < basic.length; code++) if (code !== escapeCode) septets[basic.charCodeAt(code)] = code
for (const [character, code] of Object.entries(extension)) septets[character.charCodeAt(0)] = extended + code
/** Septet -> UTF-16 unit, and the same behind an escape, where 0 is none. Octets that are no septets stand for nothing. */
const units = new Uint16Array(0x100).fill(0xfffd)
for (let code = 0; code < basic.length; code++) units[code] = basic.charCodeAt(code)
const escapedUnits = new Uint16Array(0x100)
for (const [character, code] of Object.entries(extension)) escapedUnits[code] = character.charCodeAt(0)

export function isGsm(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (septets[text.charCodeAt(i)] === absent) return false
  return true
}

/** Septets the text takes; those outside the alphabet count as the question mark that is sent for them. */
export function gsmLength(text: string): number {
  let length = text.length
  for (let i = 0; i < text.length; i++) if (isExtended(text.charCodeAt(i))) length += 1
  return length
}

/** The characters that force a text out of the GSM alphabet, each once, in the order of their appearance. */
export function nonGsmCharacters(text: string): string[] {
  return [...new Set(text)].filter((character) => !isGsm(character))
}

/** Length of a text that is entirely in the alphabet, in one pass; -1 when it is not. */
function exactGsmLength(text: string): number {
  let length = text.length
  for (let i = 0; i < text.length; i++) {
    const code = septets[text.charCodeAt(i)] ?? absent
    if (code === absent) return -1
    if (code >= extended) length += 1
  }
  return length
}

/** Octets of a text in the GSM alphabet, data_coding 0, a septet in each. Callers that counted the septets give `count`. */
export function encodeGsm7(text: string, count = gsmLength(text)): Buffer {
  const octets = Buffer.allocUnsafe(count)
  let length = 0
  for (let i = 0; i < text.length; i++) {
    const code = septets[text.charCodeAt(i)] ?? absent
    if (code === absent) octets[length++] = 0x3f
    else {
      if (code >= extended) octets[length++] = escapeCode
      octets[length++] = code & 0xff
    }
  }
  return octets
}

/** An escape before something that the extension table does not have is passed over, as TS 23.038 section 6.2.1.1 asks. */
export function decodeGsm7(octets: Buffer): string {
  if (isAscii(octets)) return octets.toString('latin1')
  const text = Buffer.allocUnsafe(2 * octets.length)
  let length = 0
  for (let i = 0; i < octets.length; i++) {
    let unit = units[octets[i] ?? 0] ?? 0
    if (octets[i] === escapeCode) {
      unit = i === octets.length - 1 ? 0x20 : (escapedUnits[octets[i + 1] ?? 0] ?? 0)
      if (unit === 0) continue
      i += 1
    }
    text[length++] = unit & 0xff
    text[length++] = unit >> 8
  }
  return text.toString('utf16le', 0, length)
}

/** Whether each of the septets stands for itself, as most letters and all digits do. */
function isAscii(octets: Buffer): boolean {
  for (let i = 0; i < octets.length; i++) {
    const octet = octets[i] ?? 0
    if (units[octet] !== octet || octet === escapeCode) return false
  }
  return true
}

/** Big-endian UTF-16, data_coding 8. */
export function encodeUcs2(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16()
}

/** An odd octet at the end is left out. */
export function decodeUcs2(octets: Buffer): string {
  return Buffer.from(octets.subarray(0, octets.length & ~1))
    .swap16()
    .toString('utf16le')
}

function isLatin1(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0xff) return false
  return true
}

function encodeLatin1(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}

/** Text by data_coding: the general and message-class groups of TS 23.038 where SMPP leaves them, else as SMPP has it. */
export function decodeText(octets: Buffer, dataCoding: number, alphabet: Alphabet = 'gsm'): string {
  if (dataCoding === dataCodings.ucs2 || (dataCoding & 0xcc) === 0x08) return decodeUcs2(octets)
  if (dataCoding === dataCodings.gsm && alphabet === 'latin1') return octets.toString('latin1')
  if (
    dataCoding === dataCodings.gsm ||
    (dataCoding & 0xf4) === 0xf0 ||
    (dataCoding >= 0x10 && (dataCoding & 0xcc) === 0)
  )
    return decodeGsm7(octets)
  return octets.toString('latin1')
}

export interface Split {
  encoding: Encoding
  parts: string[]
  /** Septets, or UTF-16 units, of all parts together. */
  units: number
}

/** Cuts a text into the parts it is sent in; a character that takes two units is never cut. Without an encoding, the cheaper. */
export function split(
  text: string,
  wanted?: Encoding,
  sizes: Readonly<Record<Encoding, PartSizes>> = partSizes,
): Split {
  const exact = wanted === undefined ? exactGsmLength(text) : -1
  const encoding = wanted ?? (exact < 0 ? 'ucs2' : 'gsm7')
  const units = encoding === 'ucs2' ? text.length : exact < 0 ? gsmLength(text) : exact
  const { alone, together } = sizes[encoding]
  if (units <= alone) return { encoding, parts: [text], units }
  const parts: string[] = []
  let start = 0
  let used = 0
  for (let i = 0; i < text.length; ) {
    const pair = isHighSurrogate(text.charCodeAt(i)) && isLowSurrogate(text.charCodeAt(i + 1))
    const width = pair || (encoding === 'gsm7' && isExtended(text.charCodeAt(i))) ? 2 : 1
    if (used + width > together) {
      parts.push(text.slice(start, i))
      start = i
      used = 0
    }
    used += width
    i += pair ? 2 : 1
  }
  parts.push(text.slice(start))
  return { encoding, parts, units }
}

/**
 * The nearest text in the GSM alphabet: plain quotes and dashes, letters without the marks the alphabet lacks. Null when a
 * character has nothing near it there, an emoji for one.
 */
export function toGsm(text: string): string | null {
  let result = ''
  for (const character of text.normalize('NFC')) {
    const near = isGsm(character) ? character : nearest(character)
    if (near === null) return null
    result += near
  }
  return result
}

function nearest(character: string): string | null {
  const known = near.get(character)
  if (known !== undefined) return known
  const plain = character.normalize('NFKD').replace(/\p{M}/gu, '')
  if (isGsm(plain)) return plain
  const letters = [...plain].map((letter) => (isGsm(letter) ? letter : near.get(letter)))
  return letters.includes(undefined) ? null : letters.join('')
}

/** Replacements of letters that Unicode does not decompose, from African alphabets and their neighbours. */
const near: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "'": '‘’‚‛′ʹʻʼʽ`´ˈˊˋ‹›＇',
    '"': '“”„‟″«»〝〞',
    '-': '‐‑‒–—―−⁃',
    '*': '•·∙●▪',
    '/': '⁄∕÷',
    ' ': '\t\u2028\u2029',
    '': '\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\ufe0e\ufe0f',
    a: 'ɑ',
    b: 'ɓ',
    B: 'Ɓ',
    c: 'ç',
    d: 'đðɖɗ',
    D: 'ĐÐƉƊ',
    e: 'ɛəǝ',
    E: 'ƐƏƎ',
    f: 'ƒ',
    F: 'Ƒ',
    g: 'ɣɠ',
    G: 'ƔƓ',
    h: 'ħɦ',
    H: 'Ħ',
    i: 'ıɩɨ',
    I: 'ƖƗ',
    k: 'ƙĸ',
    K: 'Ƙ',
    l: 'ł',
    L: 'Ł',
    n: 'ŋɲɳ',
    N: 'ŊƝ',
    o: 'ɔɵ',
    O: 'Ɔ',
    p: 'ƥ',
    P: 'Ƥ',
    t: 'ŧƭʈ',
    T: 'ŦƬƮ',
    u: 'ʊʉ',
    U: 'ƱɄ',
    v: 'ʋ',
    V: 'Ʋ',
    y: 'ƴ',
    Y: 'Ƴ',
    z: 'ʒʐ',
    Z: 'Ʒ',
    oe: 'œ',
    OE: 'Œ',
    th: 'þ',
    TH: 'Þ',
    x: '×',
    '(c)': '©',
    '(r)': '®',
  }).flatMap(([plain, characters]) => [...characters].map((character): [string, string] => [character, plain])),
)

/** Position of a part: the sender's reference joins parts with the same source and destination. */
export interface Concatenation {
  reference: number
  total: number
  /** Number of the part, from 1. */
  number: number
}

/** The user data header that names a part, with a reference of one octet or of two. */
export function encodeUdh({ reference, total, number }: Concatenation, referenceOctets: 1 | 2 = 1): Buffer {
  const low = reference & 0xff
  return referenceOctets === 1
    ? Buffer.from([0x05, 0x00, 0x03, low, total, number])
    : Buffer.from([0x06, 0x08, 0x04, (reference >> 8) & 0xff, low, total, number])
}

/** Takes the user data header off. A header that does not fit its octets is no header, and they are all text. */
export function parseUdh(octets: Buffer): { concatenation: Concatenation | null; rest: Buffer } {
  const end = 1 + (octets[0] ?? 0)
  let concatenation: Concatenation | null = null
  let at = 1
  while (at + 2 <= end && end <= octets.length) {
    const [id = 0, length = 0] = octets.subarray(at, at + 2)
    const data = octets.subarray(at + 2, at + 2 + length)
    at += 2 + length
    if (at > end) break
    if (id === 0x00 && length === 3) concatenation = sound(data.readUInt8(0), data.readUInt8(1), data.readUInt8(2))
    if (id === 0x08 && length === 4) concatenation = sound(data.readUInt16BE(0), data.readUInt8(2), data.readUInt8(3))
  }
  return at === end && end <= octets.length
    ? { concatenation, rest: octets.subarray(end) }
    : { concatenation: null, rest: octets }
}

function sound(reference: number, total: number, number: number): Concatenation | null {
  return number >= 1 && number <= total ? { reference, total, number } : null
}

/**
 * Concatenation of long messages: in the text's own header, with a reference of one octet or of two, in optional
 * parameters, or as one payload.
 */
export const joinings = ['udh', 'udh16', 'sar', 'payload'] as const
export type Joining = (typeof joinings)[number]

export type Content = Pick<ShortMessage, 'esmClass' | 'dataCoding' | 'shortMessage' | 'tlvs'>

/**
 * Contents of the PDUs of a text, one for each part; references of messages under way to one number must differ. With
 * the alphabet Latin-1, a text with a character that only GSM has goes as UCS-2.
 */
export function encodeMessage(
  text: string,
  options: { encoding?: Encoding; reference: number; joining?: Joining; alphabet?: Alphabet },
): Content[] {
  const { reference, joining = 'udh', alphabet = 'gsm' } = options
  const wanted = alphabet === 'latin1' && !isLatin1(text) ? 'ucs2' : options.encoding
  const { encoding, parts, units } = split(text, wanted, joining === 'udh16' ? widePartSizes : partSizes)
  assert(parts.length <= maxParts, 'a message has at most 255 parts')
  const octetsOf = encoding === 'ucs2' ? encodeUcs2 : alphabet === 'gsm' ? encodeGsm7 : encodeLatin1
  const dataCoding = encoding === 'gsm7' ? dataCodings.gsm : dataCodings.ucs2
  if (parts.length === 1) return [{ esmClass: 0, dataCoding, shortMessage: octetsOf(text, units), tlvs: {} }]
  const plain = { esmClass: 0, dataCoding, tlvs: {} }
  if (joining === 'payload')
    return [{ ...plain, shortMessage: Buffer.alloc(0), tlvs: { messagePayload: octetsOf(text) } }]
  return parts.map((part, i) => {
    const [octets, total, number] = [octetsOf(part), parts.length, i + 1]
    if (joining !== 'sar') {
      const header = encodeUdh({ reference, total, number }, joining === 'udh' ? 1 : 2)
      const shortMessage = Buffer.concat([header, octets])
      return { ...plain, esmClass: esmClasses.udh, shortMessage }
    }
    const tlvs = { sarMsgRefNum: reference & 0xffff, sarTotalSegments: total, sarSegmentSeqnum: number }
    return { ...plain, shortMessage: octets, tlvs }
  })
}

/** Octets of a text, or of one part of it, without the header that names the part. */
export function octetsOf(content: Content): { octets: Buffer; concatenation: Concatenation | null } {
  const { tlvs } = content
  const octets = content.shortMessage.length > 0 ? content.shortMessage : (tlvs.messagePayload ?? content.shortMessage)
  if ((content.esmClass & esmClasses.udh) === 0) return { octets, concatenation: sarOf(tlvs) }
  const { concatenation, rest } = parseUdh(octets)
  return { octets: rest, concatenation }
}

/** The text of a message or of one part of it, wherever its PDU carries it, without zeros: some centres end or fill texts with them. */
export function decodeMessage(
  content: Content,
  alphabet: Alphabet = 'gsm',
): { text: string; concatenation: Concatenation | null } {
  const { octets, concatenation } = octetsOf(content)
  return { text: decodeText(octets, content.dataCoding, alphabet).replaceAll('\u0000', ''), concatenation }
}

function sarOf({ sarMsgRefNum, sarTotalSegments, sarSegmentSeqnum }: ShortMessage['tlvs']): Concatenation | null {
  if (sarMsgRefNum === undefined || sarTotalSegments === undefined || sarSegmentSeqnum === undefined) return null
  return sound(sarMsgRefNum, sarTotalSegments, sarSegmentSeqnum)
}

const isExtended = (unit: number): boolean => {
  const code = septets[unit] ?? absent
  return code !== absent && code >= extended
}
const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff
