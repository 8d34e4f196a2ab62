// SPDX-License-Identifier: Apache-2.0
// Replies of an SMTP server (RFC 5321 §4.2) with their enhanced codes (RFC 3463), both ways.

export interface Reply {
  readonly code: number
  /** `5.1.1`; null where the server says none. */
  readonly enhanced: string | null
  /** Text after the code, lines joined by a newline, without control characters; no more than maxReplyBytes. */
  readonly text: string
}

/** Longest reply that is read; a server that says more is not spoken to any further. */
export const maxReplyBytes = 64 * 1024

const enhancedCode = /^([245]\.\d{1,3}\.\d{1,3})(?:\s|$)/

export function isPositive({ code }: Reply): boolean {
  return code >= 200 && code < 400
}

/** The reply in one line, as people quote it. */
export function replyLine({ code, text }: Reply): string {
  return `${code} ${text.replaceAll('\n', ' ')}`.trim()
}

/** Lines of a server's reply gathered until the last one; `malformed` when a line is no reply. */
export class ReplyReader {
  readonly #lines: string[] = []
  #code: number | null = null

  /** Whether lines of a reply came, and its last one did not yet. */
  get isMidway(): boolean {
    return this.#lines.length > 0
  }

  take(line: string): Reply | 'more' | 'malformed' {
    const match = /^([2-5]\d\d)(?:([ -])(.*))?$/s.exec(line)
    const code = Number(match?.[1])
    if (!match || (this.#code !== null && this.#code !== code)) return 'malformed'
    this.#code = code
    this.#lines.push((match[3] ?? '').replace(/\p{Cc}/gu, ' '))
    if (match[2] === '-') return 'more'
    const lines = this.#lines.splice(0)
    this.#code = null
    const enhanced = enhancedCode.exec(lines[0] ?? '')?.[1] ?? null
    return { code, enhanced, text: lines.join('\n') }
  }
}

/** A reply of ours: the text begins with the enhanced code where there is one. */
export function reply(code: number, text: string): Reply {
  return { code, enhanced: enhancedCode.exec(text)?.[1] ?? null, text }
}

export function encodeReply({ code, text }: Reply): string {
  const lines = text.split('\n')
  return lines.map((line, i) => `${code}${i < lines.length - 1 ? '-' : ' '}${line}\r\n`).join('')
}
