// SPDX-License-Identifier: Apache-2.0
// The entries of a request for many messages, as they come: anything that JSON can hold may stand where a message or a
// number should, and gets a verdict of its own, so that it stops no other.
import type { Static } from 'typebox'
import { AppError, type ErrorCode } from '../../kernel/errors.ts'
import { bodyChecker } from '../../platform/http/validate.ts'
import { BulkMessage } from './schema.ts'

/** What was given as a recipient is told back in so many characters: a number has 16. */
const maxShown = 64

/** Why an entry becomes no message. */
export interface BadEntry {
  readonly index: number
  readonly to: string
  readonly code: ErrorCode
  readonly why: string
}

interface GoodEntry {
  readonly index: number
  readonly message: Static<typeof BulkMessage>
}

const check = bodyChecker(BulkMessage)

/** An entry of a bulk, or what is wrong with it. */
export function judged(given: unknown, index: number): GoodEntry | BadEntry {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return { index, to: '', code: 'VALIDATION_ERROR', why: 'the entry must be an object with to and message' }
  try {
    return { index, message: check(given).value }
  } catch (error) {
    const to = 'to' in given ? recipientText(given.to) : ''
    return refused(index, to, error)
  }
}

/** The verdict on an entry that broke a rule; what is nobody's rule goes on. */
export function refused(index: number, to: string, error: unknown): BadEntry {
  if (!(error instanceof AppError)) throw error
  return { index, to, code: error.code, why: error.details }
}

/** What was given as a recipient, as a text: what is none is shown as JSON, which is never a number. */
export function recipientText(given: unknown): string {
  const text = typeof given === 'string' ? given : (JSON.stringify(given) ?? '')
  return text.length <= maxShown ? text : [...text.slice(0, 2 * maxShown)].slice(0, maxShown).join('')
}
