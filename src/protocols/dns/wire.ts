// SPDX-License-Identifier: Apache-2.0
// Messages of the DNS (RFC 1035 §4), as far as a small authoritative server needs them: one question in, records out.
import { isIPv4 } from 'node:net'

export const recordTypes = { A: 1, NS: 2, CNAME: 5, SOA: 6, MX: 15, TXT: 16, AAAA: 28, SRV: 33, TLSA: 52 } as const
export type RecordType = keyof typeof recordTypes

export interface DnsRecord {
  /** Name in lower case, without the last dot. */
  readonly name: string
  readonly type: RecordType
  /**
   * Value as zone files write it: `10 mx.example.com` for an MX, `0 5 5060 sip.example.com` for an SRV, `3 1 1 8d02…` for
   * a TLSA, the text of a TXT.
   */
  readonly value: string
  readonly ttl?: number
}

export interface Question {
  readonly id: number
  readonly name: string
  /** Type asked for; null when it is not known here. */
  readonly type: RecordType | null
  /** Largest answer that the asker takes over UDP. */
  readonly udpBytes: number
  /** The question as it came, to be repeated in the answer. */
  readonly raw: Buffer
  readonly isRecursive: boolean
  /** Whether the asker understands that an answer is authenticated (RFC 6840 §5.7). */
  readonly asksAuthenticated: boolean
}

type ResponseCode = 'ok' | 'format' | 'failure' | 'nonexistent' | 'refused'
const responseCodes: Readonly<Record<ResponseCode, number>> = {
  ok: 0,
  format: 1,
  failure: 2,
  nonexistent: 3,
  refused: 5,
}

const defaultTtl = 60
/** AD: the signatures of what is answered were checked, or the asker wants to know. */
export const authenticFlag = 0x0020
const maxLabels = 128

/** Question of a query; null unless there is exactly one. */
export function parseQuestion(message: Buffer): Question | null {
  if (message.length < 17 || message.length > 4096) return null
  const flags = message.readUInt16BE(2)
  if ((flags & 0xf800) !== 0 || message.readUInt16BE(4) !== 1) return null
  const name = readName(message, 12)
  if (!name || name.end + 4 > message.length) return null
  const code = message.readUInt16BE(name.end)
  const type = typeNames.get(code) ?? null
  return {
    id: message.readUInt16BE(0),
    name: name.text,
    type,
    udpBytes: ednsBytes(message, name.end + 4),
    raw: message.subarray(12, name.end + 4),
    isRecursive: (flags & 0x0100) !== 0,
    asksAuthenticated: (flags & authenticFlag) !== 0,
  }
}

export const typeNames: ReadonlyMap<number, RecordType> = new Map<number, RecordType>([
  [1, 'A'],
  [2, 'NS'],
  [5, 'CNAME'],
  [6, 'SOA'],
  [15, 'MX'],
  [16, 'TXT'],
  [28, 'AAAA'],
  [33, 'SRV'],
  [52, 'TLSA'],
])

/** Names in questions are not compressed; one that is, or is too long, is refused. */
function readName(message: Buffer, from: number): { text: string; end: number } | null {
  const labels: string[] = []
  let at = from
  for (let i = 0; i < maxLabels; i++) {
    const length = message[at]
    if (length === undefined || length > 63) return null
    if (length === 0) return { text: labels.join('.').toLowerCase(), end: at + 1 }
    if (at + 1 + length > message.length) return null
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return null
}

/** Size that an OPT record at the end of the query allows (RFC 6891); 512 without one. */
function ednsBytes(message: Buffer, at: number): number {
  const hasOpt =
    message.readUInt16BE(10) > 0 && message[at] === 0 && at + 5 <= message.length && message.readUInt16BE(at + 1) === 41
  return hasOpt ? Math.min(Math.max(message.readUInt16BE(at + 3), 512), 4096) : 512
}

export interface Answer {
  readonly code: ResponseCode
  readonly answers: readonly DnsRecord[]
  readonly authority?: readonly DnsRecord[]
  readonly isAuthenticated?: boolean
}

/** The answer's bytes; over UDP one that is too long says only that it is, and is asked for again over TCP. */
export function encodeAnswer(
  question: Question,
  { code, answers, authority = [], isAuthenticated = false }: Answer,
  maxBytes: number,
): Buffer {
  const authentic = isAuthenticated && question.asksAuthenticated ? authenticFlag : 0
  const header = (isTruncated: boolean, answerCount: number, authorityCount: number) => {
    const bytes = Buffer.alloc(12)
    bytes.writeUInt16BE(question.id, 0)
    const flags = 0x8400 | (isTruncated ? 0x0200 : 0) | (question.isRecursive ? 0x0100 : 0) | responseCodes[code]
    bytes.writeUInt16BE(flags | authentic, 2)
    bytes.writeUInt16BE(1, 4)
    bytes.writeUInt16BE(answerCount, 6)
    bytes.writeUInt16BE(authorityCount, 8)
    return bytes
  }
  const records = [...answers, ...authority].map(encodeRecord)
  const whole = Buffer.concat([header(false, answers.length, authority.length), question.raw, ...records])
  return whole.length <= maxBytes ? whole : Buffer.concat([header(true, 0, 0), question.raw])
}

function encodeRecord({ name, type, value, ttl = defaultTtl }: DnsRecord): Buffer {
  const data = encodeData(type, value)
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(recordTypes[type], 0)
  fixed.writeUInt16BE(1, 2)
  fixed.writeUInt32BE(ttl, 4)
  fixed.writeUInt16BE(data.length, 8)
  return Buffer.concat([encodeName(name), fixed, data])
}

function encodeData(type: RecordType, value: string): Buffer {
  const words = value.split(' ')
  const numbers = (count: number) => {
    const bytes = Buffer.alloc(count * 2)
    for (let i = 0; i < count; i++) bytes.writeUInt16BE(Number(words[i]) & 0xffff, i * 2)
    return bytes
  }
  switch (type) {
    case 'A':
      return Buffer.from(value.split('.').map(Number))
    case 'AAAA':
      return encodeIpv6(value)
    case 'TXT':
      return encodeTexts(value)
    case 'TLSA':
      return Buffer.from([...words.slice(0, 3).map(Number), ...Buffer.from(words.slice(3).join(''), 'hex')])
    case 'MX':
      return Buffer.concat([numbers(1), encodeName(words[1] ?? '')])
    case 'SRV':
      return Buffer.concat([numbers(3), encodeName(words[3] ?? '')])
    case 'SOA': {
      const times = Buffer.alloc(20)
      for (let i = 0; i < 5; i++) times.writeUInt32BE(Number(words[i + 2] ?? 0) >>> 0, i * 4)
      return Buffer.concat([encodeName(words[0] ?? ''), encodeName(words[1] ?? ''), times])
    }
    case 'NS':
    case 'CNAME':
      return encodeName(value)
  }
}

export function encodeName(name: string): Buffer {
  const labels = name.split('.').filter((label) => label !== '')
  const parts = labels.flatMap((label) => {
    const bytes = Buffer.from(label, 'latin1').subarray(0, 63)
    return [Buffer.from([bytes.length]), bytes]
  })
  return Buffer.concat([...parts, Buffer.from([0])])
}

/** A text longer than 255 bytes is several strings, which readers join. */
function encodeTexts(value: string): Buffer {
  const bytes = Buffer.from(value)
  const parts: Buffer[] = []
  for (let at = 0; at === 0 || at < bytes.length; at += 255) {
    const part = bytes.subarray(at, at + 255)
    parts.push(Buffer.from([part.length]), part)
  }
  return Buffer.concat(parts)
}

function encodeIpv6(value: string): Buffer {
  const [head = '', tail] = value.split('::')
  const groups = (text: string) =>
    text === ''
      ? []
      : text.split(':').flatMap((group) => {
          if (!isIPv4(group)) return [Number.parseInt(group, 16)]
          const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
          return [(a << 8) | b, (c << 8) | d]
        })
  const before = groups(head)
  const after = groups(tail ?? '')
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => 0)
  const bytes = Buffer.alloc(16)
  for (const [i, group] of [...before, ...zeros, ...after].slice(0, 8).entries())
    bytes.writeUInt16BE(group & 0xffff, i * 2)
  return bytes
}
