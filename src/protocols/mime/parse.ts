// SPDX-License-Identifier: Apache-2.0
// MIME parts as a tree over the bytes of a message: enough to read reports, to show a message, and to change one part
// in place. Depth and number of parts are bounded, since messages come from outside.
import { decodeTransfer } from './encoding.ts'
import { decodeCharset, fieldOf, type HeaderField, parseHeader, parseParameters } from './header.ts'

export interface Part {
  readonly fields: readonly HeaderField[]
  /** `text/plain` where the part says nothing. */
  readonly type: string
  readonly params: ReadonlyMap<string, string>
  readonly encoding: string
  /** Positions in the message: where the part's header begins, and its body begins and ends. */
  readonly headerAt: number
  readonly bodyAt: number
  readonly endAt: number
  readonly parts: readonly Part[]
}

const maxDepth = 10
const maxParts = 500

export function parseMessage(content: Buffer): Part {
  const budget = { parts: maxParts }
  return parsePart(content, 0, content.length, 0, budget)
}

function parsePart(content: Buffer, from: number, to: number, depth: number, budget: { parts: number }): Part {
  budget.parts -= 1
  const { fields, bodyAt } = parseHeader(content.subarray(from, to))
  const { value: type, params } = parseParameters(fieldOf(fields, 'content-type') ?? 'text/plain')
  const encoding = (fieldOf(fields, 'content-transfer-encoding') ?? '7bit').toLowerCase()
  const start = from + bodyAt
  const boundary = type.startsWith('multipart/') && depth < maxDepth ? params.get('boundary') : undefined
  const ranges = boundary ? partRanges(content, start, to, boundary) : []
  const parts: Part[] = []
  for (const [begin, end] of ranges) {
    if (budget.parts <= 0) break
    parts.push(parsePart(content, begin, end, depth + 1, budget))
  }
  return { fields, type: type || 'text/plain', params, encoding, headerAt: from, bodyAt: start, endAt: to, parts }
}

/** Ranges of the parts between boundaries; the CR LF before a boundary belongs to the boundary. */
function partRanges(content: Buffer, from: number, to: number, boundary: string): [number, number][] {
  const mark = Buffer.from(`--${boundary}`)
  const ranges: [number, number][] = []
  let begin = -1
  for (let at = content.indexOf(mark, from); at >= 0 && at < to; at = content.indexOf(mark, at + mark.length)) {
    if (at > from && content[at - 1] !== 10) continue
    if (begin >= 0) ranges.push([begin, Math.max(begin, at - (content[at - 2] === 13 ? 2 : 1))])
    const lineEnd = content.indexOf(10, at)
    if (lineEnd < 0 || content.toString('latin1', at + mark.length, at + mark.length + 2) === '--') return ranges
    begin = lineEnd + 1
  }
  if (begin >= 0 && begin < to) ranges.push([begin, to])
  return ranges
}

/** Whether parts are nested deeper than is read. */
export function isTooDeep({ type, parts }: Part, depth = 0): boolean {
  return depth < maxDepth ? parts.some((part) => isTooDeep(part, depth + 1)) : type.startsWith('multipart/')
}

/** The part and those inside it, in order. */
export function* everyPart(part: Part): Iterable<Part> {
  yield part
  for (const inner of part.parts) yield* everyPart(inner)
}

export function bytesOf(content: Buffer, part: Part): Buffer {
  return decodeTransfer(content.subarray(part.bodyAt, part.endAt), part.encoding)
}

export function textOf(content: Buffer, part: Part): string {
  const bytes = bytesOf(content, part)
  return decodeCharset(bytes, part.params.get('charset') ?? 'utf-8') ?? bytes.toString('latin1')
}

export function partOf(message: Part, type: string): Part | null {
  for (const part of everyPart(message)) if (part.type === type && part.parts.length === 0) return part
  return null
}

/** Whether a part is a file that the reader is offered, not what the reader reads. */
export function isAttached({ fields }: Part): boolean {
  return /^attachment/i.test(fieldOf(fields, 'content-disposition') ?? '')
}
