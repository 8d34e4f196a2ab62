// SPDX-License-Identifier: Apache-2.0
// Header fields of a message (RFC 5322 §2.2): written folded, with encoded words for what is not ASCII (RFC 2047), and read.

export interface HeaderField {
  /** Name as it was written. */
  readonly name: string
  /** Value unfolded, without the space around it; encoded words are as they came. */
  readonly value: string
  /** The whole field with its folding and last CR LF. */
  readonly raw: string
}

const lineLength = 76
const plain = /^[\t\u0020-\u007e]*$/

/** Header field `Name: value` with CR LF, folded at spaces. Line ends inside the value are removed. */
export function headerField(name: string, value: string): string {
  return `${fold(`${name}: ${oneLine(value)}`)}\r\n`
}

/** A field of free text, such as Subject. */
export function textField(name: string, text: string): string {
  return headerField(name, encodeWords(oneLine(text)))
}

/** `Name <address>`, with the name quoted or encoded as it needs. */
export function mailboxText({ name, address }: { name: string | null; address: string }): string {
  return name === null || name === '' ? address : `${encodePhrase(oneLine(name))} <${address}>`
}

function encodePhrase(name: string): string {
  if (!plain.test(name)) return encodeWords(name)
  return /^[\w !#$%&'*+/=?^`{|}~-]*$/.test(name) ? name : `"${name.replace(/["\\]/g, '\\$&')}"`
}

/** Text as it is when that is plain ASCII, else as encoded words of at most 75 characters. */
export function encodeWords(text: string): string {
  if (plain.test(text) && !text.includes('=?')) return text
  const words: string[] = []
  let part = ''
  for (const character of text) {
    if (Buffer.byteLength(part + character) > 42) {
      words.push(part)
      part = ''
    }
    part += character
  }
  return [...words, part].map((word) => `=?UTF-8?B?${Buffer.from(word).toString('base64')}?=`).join(' ')
}

/** The text that encoded words stand for. */
export function decodeWords(value: string): string {
  return value
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?([\w-]+)(?:\*[\w-]+)?\?([bq])\?([^?]*)\?=/gi, (whole, charset: string, kind: string, text: string) => {
      const bytes =
        kind.toLowerCase() === 'b'
          ? Buffer.from(text, 'base64')
          : Buffer.from(
              text
                .replaceAll('_', ' ')
                .replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
              'latin1',
            )
      return decodeCharset(bytes, charset) ?? whole
    })
}

/** Text of bytes in a character set; null when the set is unknown. */
export function decodeCharset(bytes: Buffer, charset: string): string | null {
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return null
  }
}

function oneLine(text: string): string {
  return text.replace(/[\r\n\0]+/g, ' ').trim()
}

function fold(line: string): string {
  if (line.length <= lineLength) return line
  const lines: string[] = []
  let current = ''
  for (const word of line.split(/(?<=\S)(?= )/)) {
    if (current.length + word.length > lineLength && !/^[\w-]+:$/.test(current)) {
      lines.push(current)
      current = ''
    }
    current += word
  }
  return [...lines, current].join('\r\n')
}

/** Fields of a message's header, and the offset of its first body byte. Bounded by the message. */
export function parseHeader(content: Buffer): { fields: HeaderField[]; bodyAt: number } {
  const blank = content.indexOf('\r\n\r\n')
  const startsEmpty = content[0] === 13 && content[1] === 10
  const end = startsEmpty ? 0 : blank < 0 ? content.length : blank + 2
  return {
    fields: parseFields(content.toString('utf8', 0, end)),
    bodyAt: startsEmpty ? 2 : blank < 0 ? end : blank + 4,
  }
}

/** Fields of a header whose lines end in CR LF, or in LF alone as inside reports. */
export function parseFields(header: string): HeaderField[] {
  const fields: HeaderField[] = []
  for (const raw of header.split(/(?<=\n)(?![ \t])/)) {
    const [, name = '', value = ''] = /^([!-9;-~]+)[ \t]*:(.*)$/s.exec(raw) ?? []
    if (name) fields.push({ name, value: value.replace(/\r?\n(?=[ \t])/g, '').trim(), raw })
  }
  return fields
}

export function fieldOf(fields: readonly HeaderField[], name: string): string | null {
  const wanted = name.toLowerCase()
  return fields.find((field) => field.name.toLowerCase() === wanted)?.value ?? null
}

/** `type/subtype; key=value`, the type in lower case. */
export function parseParameters(value: string): { value: string; params: Map<string, string> } {
  const [first = '', ...rest] = splitOutsideQuotes(value)
  const params = new Map<string, string>()
  for (const one of rest) {
    const at = one.indexOf('=')
    if (at < 0) continue
    const key = one.slice(0, at).trim().toLowerCase()
    const text = one.slice(at + 1).trim()
    params.set(key, text.startsWith('"') ? text.slice(1, -1).replace(/\\(.)/g, '$1') : text)
  }
  return { value: first.trim().toLowerCase(), params }
}

const maxParameters = 50

/** Parts between semicolons that no quotes are around; quotes that are never closed are around nothing. */
function splitOutsideQuotes(value: string): string[] {
  const parts: string[] = []
  let from = 0
  const pattern = /;|"[^"]*"/g
  for (let match = pattern.exec(value); match && parts.length < maxParameters; match = pattern.exec(value)) {
    if (match[0] !== ';') continue
    parts.push(value.slice(from, match.index))
    from = match.index + 1
  }
  return [...parts, value.slice(from)]
}
