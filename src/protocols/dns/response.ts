// SPDX-License-Identifier: Apache-2.0
// Queries to a resolver and its responses (RFC 1035 §4, RFC 6891), as far as mail needs them: addresses, aliases, MX and
// TLSA. Whatever is not a whole, well-formed response is none.
import { authenticFlag, encodeName, type RecordType, recordTypes, typeNames } from './wire.ts'

/** Largest answer over UDP that is not cut to pieces on its way (DNS flag day 2020). */
const udpBytes = 1_232
const maxRecords = 200
const maxJumps = 20
const maxNameBytes = 255

export type AskedType = 'A' | 'AAAA' | 'CNAME' | 'MX' | 'TLSA'

interface ResponseRecord {
  /** Name in lower case, without the last dot. */
  readonly name: string
  readonly type: AskedType
  /** Value as zone files write it. */
  readonly value: string
}

export interface Response {
  readonly id: number
  readonly name: string
  readonly type: RecordType | null
  readonly isTruncated: boolean
  /** The resolver checked the signatures of everything in the answer, or of the proof that there is nothing. */
  readonly isAuthenticated: boolean
  /** 0 is success, 2 a failure (also of signatures), 3 a name that does not exist. */
  readonly code: number
  readonly records: readonly ResponseRecord[]
}

/** Recursive query that says that it understands the AD flag, without asking for the signatures themselves. */
export function encodeQuery(id: number, name: string, type: AskedType): Buffer {
  const header = Buffer.alloc(12)
  header.writeUInt16BE(id, 0)
  header.writeUInt16BE(0x0100 | authenticFlag, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(1, 10)
  const rest = Buffer.alloc(4)
  rest.writeUInt16BE(recordTypes[type], 0)
  rest.writeUInt16BE(1, 2)
  const edns = Buffer.alloc(11)
  edns.writeUInt16BE(41, 1)
  edns.writeUInt16BE(udpBytes, 3)
  return Buffer.concat([header, encodeName(name), rest, edns])
}

/** Response to one question; null for anything else. Records beyond the answer section are not read. */
export function parseResponse(message: Buffer): Response | null {
  if (message.length < 12) return null
  const flags = message.readUInt16BE(2)
  const answers = message.readUInt16BE(6)
  if ((flags & 0xf800) !== 0x8000 || message.readUInt16BE(4) !== 1 || answers > maxRecords) return null
  const question = nameAt(message, 12)
  if (!question || question.end + 4 > message.length) return null
  const isTruncated = (flags & 0x0200) !== 0
  const records = isTruncated ? [] : recordsAt(message, question.end + 4, answers)
  return (
    records && {
      id: message.readUInt16BE(0),
      name: question.text,
      type: typeNames.get(message.readUInt16BE(question.end)) ?? null,
      isTruncated,
      isAuthenticated: (flags & authenticFlag) !== 0,
      code: flags & 0x000f,
      records,
    }
  )
}

function recordsAt(message: Buffer, from: number, count: number): ResponseRecord[] | null {
  const records: ResponseRecord[] = []
  let at = from
  for (let i = 0; i < count; i++) {
    const name = nameAt(message, at)
    if (!name || name.end + 10 > message.length) return null
    const type = typeNames.get(message.readUInt16BE(name.end))
    const isInternet = message.readUInt16BE(name.end + 2) === 1
    const start = name.end + 10
    const end = start + message.readUInt16BE(name.end + 8)
    if (end > message.length) return null
    at = end
    if (!isInternet || !isRead(type)) continue
    const value = valueAt(message, type, start, end)
    if (value === null) return null
    records.push({ name: name.text, type, value })
  }
  return records
}

function isRead(type: RecordType | undefined): type is ResponseRecord['type'] {
  return type === 'A' || type === 'AAAA' || type === 'MX' || type === 'TLSA' || type === 'CNAME'
}

function valueAt(message: Buffer, type: ResponseRecord['type'], start: number, end: number): string | null {
  const data = message.subarray(start, end)
  switch (type) {
    case 'A':
      return data.length === 4 ? [...data].join('.') : null
    case 'AAAA':
      return data.length === 16 ? ipv6Of(data) : null
    case 'CNAME': {
      const name = nameAt(message, start)
      return name?.end === end ? name.text : null
    }
    case 'MX': {
      const name = data.length > 2 ? nameAt(message, start + 2) : null
      return name?.end === end ? `${data.readUInt16BE(0)} ${name.text}` : null
    }
    case 'TLSA':
      return data.length < 3 ? null : `${[...data.subarray(0, 3)].join(' ')} ${data.toString('hex', 3)}`
  }
}

/** IPv6 address in eight groups, which parsers of addresses accept. */
function ipv6Of(data: Buffer): string {
  return Array.from({ length: 8 }, (_, i) => data.readUInt16BE(i * 2).toString(16)).join(':')
}

/** Name at a place, where it may go on at an earlier one (RFC 1035 §4.1.4). */
function nameAt(message: Buffer, from: number): { text: string; end: number } | null {
  const labels: string[] = []
  let at = from
  let end: number | null = null
  let bytes = 0
  for (let jumps = 0; jumps <= maxJumps; ) {
    const length = message[at]
    if (length === undefined) return null
    if (length === 0) return { text: labels.join('.').toLowerCase(), end: end ?? at + 1 }
    if (length >= 0xc0) {
      if (at + 2 > message.length) return null
      const target = message.readUInt16BE(at) & 0x3fff
      end ??= at + 2
      if (target >= at) return null
      at = target
      jumps += 1
      continue
    }
    bytes += length + 1
    if (length > 63 || bytes > maxNameBytes || at + 1 + length > message.length) return null
    const label = message.toString('latin1', at + 1, at + 1 + length)
    // A dot inside a label would make two names look like one.
    if (label.includes('.')) return null
    labels.push(label)
    at += 1 + length
  }
  return null
}
