// SPDX-License-Identifier: Apache-2.0
// The session description in the body of a message: the whole body, or one part of several (RFC 5621), as networks send it
// beside their own signalling (ISUP).
import { parseParameters } from './header-values.ts'
import type { SipMessage } from './message.ts'

export const sdpType = 'application/sdp'

const maxParts = 16

/** The description in a message; null when there is none. A body without a type is taken for one. */
export function descriptionIn({ headers, body }: SipMessage): string | null {
  if (body.length === 0) return null
  const { type, parameters } = readType(headers.get('content-type') ?? sdpType)
  const text = body.toString('utf8')
  if (type === sdpType) return text
  const boundary = type.startsWith('multipart/') ? parametersOf(parameters).get('boundary') : null
  return boundary ? partOf(text, boundary) : null
}

/** Whether the body of a message, if it has one, holds a session description. */
export function isUnderstood(message: SipMessage): boolean {
  return message.body.length === 0 || descriptionIn(message) !== null
}

function readType(value: string): { type: string; parameters: string } {
  const at = value.indexOf(';')
  const type = (at < 0 ? value : value.slice(0, at)).trim().toLowerCase()
  return { type, parameters: at < 0 ? '' : value.slice(at) }
}

function parametersOf(text: string): ReturnType<typeof parseParameters> {
  try {
    return parseParameters(text)
  } catch {
    return new Map()
  }
}

function partOf(text: string, boundary: string): string | null {
  const parts = `\r\n${text}`.split(`\r\n--${boundary.replace(/^"|"$/g, '')}`, maxParts).slice(1)
  for (const part of parts) {
    const end = part.indexOf('\r\n\r\n')
    if (end < 0) continue
    const named = /^content-type[ \t]*:([^\r\n]*)$/im.exec(part.slice(0, end))
    if (named && readType(named[1] ?? '').type === sdpType) return `${part.slice(end + 4).trimEnd()}\r\n`
  }
  return null
}
