// SPDX-License-Identifier: Apache-2.0
// Content after DATA (RFC 5321 §4.5.2): lines that end in CR LF, up to a line with a single dot. The reader is strict:
// a CR or LF by itself is refused, since servers that read it as an end of line can be made to see a second message in
// the first.

export type ContentEnd =
  | { kind: 'more' }
  | { kind: 'whole'; content: Buffer; rest: Buffer }
  /** The end was reached, and there was more than may be. */
  | { kind: 'too_large'; rest: Buffer }
  /** A CR or LF stood by itself. */
  | { kind: 'bare_line_end' }
  /** Far beyond the limit: the end is not waited for. */
  | { kind: 'flood' }

const cr = 13
const lf = 10
const dot = 46
const none = Buffer.alloc(0)

export class ContentReader {
  readonly #maxBytes: number
  #kept: Buffer[] = []
  #size = 0
  #tail: Buffer[] = []
  #tailSize = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  push(chunk: Buffer): ContentEnd {
    if (chunk.indexOf(lf) < 0) return this.#keepTail(chunk)
    const input = this.#tailSize > 0 ? Buffer.concat([...this.#tail, chunk]) : chunk
    this.#tail = []
    this.#tailSize = 0
    let start = 0
    let from = 0
    for (let end = input.indexOf(lf); end >= 0; end = input.indexOf(lf, start)) {
      if (end === start || input.indexOf(cr, start) !== end - 1) return { kind: 'bare_line_end' }
      if (input[start] === dot) {
        this.#keep(input.subarray(from, start))
        if (end === start + 2) return this.#end(input.subarray(end + 1))
        from = start + 1
      }
      start = end + 1
    }
    this.#keep(input.subarray(from, start))
    return start < input.length ? this.#keepTail(input.subarray(start)) : this.#verdict()
  }

  #keepTail(chunk: Buffer): ContentEnd {
    this.#tail.push(chunk)
    this.#tailSize += chunk.length
    return this.#verdict()
  }

  #keep(part: Buffer): void {
    if (part.length === 0) return
    this.#size += part.length
    if (this.#size > this.#maxBytes) this.#kept = []
    else this.#kept.push(part)
  }

  #verdict(): ContentEnd {
    return this.#size + this.#tailSize > 2 * this.#maxBytes + 65_536 ? { kind: 'flood' } : { kind: 'more' }
  }

  #end(rest: Buffer): ContentEnd {
    if (this.#size > this.#maxBytes) return { kind: 'too_large', rest }
    const [first = none, ...others] = this.#kept
    return { kind: 'whole', content: others.length > 0 ? Buffer.concat(this.#kept) : first, rest }
  }
}

const end = Buffer.from('.\r\n')
const crlf = Buffer.from('\r\n')
const lineOfDot = Buffer.from('\r\n.')
const oneDot = Buffer.from('.')

/** Content as it goes over the wire, with its end. The content's own lines must end in CR LF already. */
export function encodeContent(content: Buffer): Buffer[] {
  const parts: Buffer[] = content[0] === dot ? [oneDot] : []
  let from = 0
  for (let at = content.indexOf(lineOfDot); at >= 0; at = content.indexOf(lineOfDot, from)) {
    parts.push(content.subarray(from, at + 3), oneDot)
    from = at + 3
  }
  parts.push(content.subarray(from))
  if (content.length > 0 && !content.subarray(-2).equals(crlf)) parts.push(crlf)
  parts.push(end)
  return parts
}
