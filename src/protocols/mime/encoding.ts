// SPDX-License-Identifier: Apache-2.0
// Transfer encodings (RFC 2045 §6): the one that suits a text, both ways for quoted-printable and base64.

const maxLine = 76

export interface EncodedText {
  readonly encoding: '7bit' | 'quoted-printable' | 'base64'
  readonly body: string
}

/** Text with CR LF line ends. */
function crlf(text: string): string {
  return text.replace(/\r\n|\r|\n/g, '\r\n')
}

/** Text as 7bit where it is short-lined ASCII; base64 where most of it is not ASCII; else quoted-printable. */
export function encodeText(text: string): EncodedText {
  const lines = crlf(text)
  const isAsciiText = /^[\t\r\n\u0020-\u007e]*$/.test(lines)
  if (isAsciiText && !/[^\r\n]{901}/.test(lines)) return { encoding: '7bit', body: lines }
  const bytes = Buffer.from(lines)
  if (bytes.length > 0 && countBeyondAscii(bytes) > bytes.length / 4)
    return { encoding: 'base64', body: base64Lines(bytes) }
  return { encoding: 'quoted-printable', body: quotedPrintable(bytes) }
}

export function base64Lines(bytes: Buffer): string {
  const text = bytes.toString('base64')
  const lines: string[] = []
  for (let at = 0; at < text.length; at += maxLine) lines.push(text.slice(at, at + maxLine))
  return lines.join('\r\n')
}

function quotedPrintable(bytes: Buffer): string {
  const lines: string[] = []
  let line = ''
  const push = (piece: string) => {
    if (line.length + piece.length >= maxLine) {
      lines.push(`${line}=`)
      line = ''
    }
    line += piece
  }
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0
    if (byte === 13 && bytes[i + 1] === 10) {
      if (/[ \t]$/.test(line)) line = `${line.slice(0, -1)}=${line.endsWith(' ') ? '20' : '09'}`
      lines.push(line)
      line = ''
      i++
    } else if ((byte >= 33 && byte <= 126 && byte !== 61) || byte === 32 || byte === 9) push(String.fromCharCode(byte))
    else push(`=${byte.toString(16).toUpperCase().padStart(2, '0')}`)
  }
  lines.push(line)
  return lines.join('\r\n')
}

/** Bytes of a part; what is not well formed is taken as far as it goes. */
export function decodeTransfer(body: Buffer, encoding: string): Buffer {
  if (encoding === 'base64') return Buffer.from(body.toString('latin1').replace(/[^A-Za-z0-9+/=]/g, ''), 'base64')
  if (encoding !== 'quoted-printable') return body
  const text = body
    .toString('latin1')
    .split('\n')
    .map(withoutSpaceAtEnd)
    .join('\n')
    .replace(/=\r?\n/g, '')
  return Buffer.from(
    text.replace(/=([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )
}

/** A line as it was before servers added spaces to its end; one step for each space, however many there are. */
function withoutSpaceAtEnd(line: string, index: number, lines: readonly string[]): string {
  if (index === lines.length - 1) return line
  const ending = line.endsWith('\r') ? '\r' : ''
  let end = line.length - ending.length
  while (line[end - 1] === ' ' || line[end - 1] === '\t') end -= 1
  return line.slice(0, end) + ending
}

/** Whether a text says exactly what some bytes are, with padding and without anything else. */
export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
}

function countBeyondAscii(bytes: Buffer): number {
  let count = 0
  for (const byte of bytes) if (byte > 127) count++
  return count
}
