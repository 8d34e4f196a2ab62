// SPDX-License-Identifier: Apache-2.0
// Text of a message: its limits, encoding, segments and free characters, and the priority of messages.
import { AppError } from '../../kernel/errors.ts'
import { type Encoding, gsmLength, partSizes, split, toGsm } from '../../protocols/smpp/charset.ts'

/** Classes of messages, from the most to the least urgent. */
export const priorities = ['otp', 'transactional', 'bulk'] as const
export type Priority = (typeof priorities)[number]

export const messageTypes = ['otp', 'transactional', 'promotional'] as const
export type MessageType = (typeof messageTypes)[number]

/** Priority class: bulk and promotional messages yield to those that a person waits for. */
export function priorityOf(type: MessageType, isOfMany: boolean): Priority {
  if (type === 'otp') return 'otp'
  return type === 'promotional' || isOfMany ? 'bulk' : 'transactional'
}

/**
 * Whether a message is our own answer to STOP, START or HELP: free, and so without a currency; customers can neither
 * change nor stop it.
 */
export function isOurAnswer({ currency }: { readonly currency: string | null }): boolean {
  return currency === null
}

/** Ten segments of seven-bit text; the same length in UCS-2 needs 46 of them, and one more if it is nothing but emoji. */
export const maxCharacters = 1_530
export const maxSegments = 46
export const lengthRule = `must have 1 to ${maxCharacters} characters`

/** Checks the length of a text that grew since it was checked, or that no schema has seen. */
export function lengthChecked(message: string): string {
  const { length } = [...message]
  if (length < 1 || length > maxCharacters) throw new AppError('VALIDATION_ERROR', `message ${lengthRule}`)
  return message
}

export interface Segments {
  /** Encoding as sent: a text asked for in GSM 7-bit may have been transliterated. */
  readonly text: string
  readonly encoding: Encoding
  readonly segments: number
  /** Septets, or UTF-16 units. */
  readonly units: number
  /** Units that can still be added before another segment is needed. */
  readonly unitsLeft: number
}

/** Segments of a text; null when it cannot be written in the encoding asked for. */
export function segmentsOf(message: string, wanted: Encoding | 'auto' = 'auto'): Segments | null {
  const text = wanted === 'gsm7' ? toGsm(message) : message
  if (text === null || text === '') return null
  const { encoding, parts, units } = wanted === 'auto' ? split(text) : split(text, wanted)
  const last = parts.at(-1) ?? ''
  const { alone, together } = partSizes[encoding]
  const used = encoding === 'gsm7' ? gsmLength(last) : last.length
  return { text, encoding, segments: parts.length, units, unitsLeft: (parts.length === 1 ? alone : together) - used }
}
