// SPDX-License-Identifier: Apache-2.0
// Keys that are told by INFO, beside the audio: `Signal=5` with its duration, or the key alone.
import type { SipRequest } from './message.ts'

export const infoDigitType = 'application/dtmf-relay'
const usualMs = 160

export function writeInfoDigit(digit: string, durationMs: number): Buffer {
  return Buffer.from(`Signal=${digit}\r\nDuration=${durationMs}\r\n`)
}

export function readInfoDigit({ headers, body }: SipRequest): { digit: string; durationMs: number } | null {
  const type = (headers.get('content-type') ?? '').toLowerCase()
  const text = body.toString('latin1')
  const digit = type.startsWith(infoDigitType)
    ? /^\s*signal\s*=\s*([0-9A-D*#])/im.exec(text)?.[1]
    : type.startsWith('application/dtmf')
      ? /^\s*([0-9A-D*#])\s*$/i.exec(text)?.[1]
      : undefined
  if (!digit) return null
  return { digit: digit.toUpperCase(), durationMs: Number(/^\s*duration\s*=\s*(\d{1,5})/im.exec(text)?.[1] ?? usualMs) }
}
