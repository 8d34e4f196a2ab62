// SPDX-License-Identifier: Apache-2.0
// The entries of a request for many messages, as they come: anything that JSON can hold may stand where a message or a
// number should, and gets a verdict of its own, so that it stops no other.
import { setImmediate } from 'node:timers/promises'
import type { Static } from 'typebox'
import { AppError, type ErrorCode } from '../../../kernel/errors.ts'
import { e164Rule, isE164 } from '../../../kernel/phone.ts'
import { bodyChecker, fitter } from '../../../platform/http/validate.ts'
import type { Draft } from '../sending/draft.ts'
import { recipientText } from '../sending/recipients.ts'
import { BulkMessage } from './schema.ts'

/**
 * Errors are collected only after a quick check failed: that takes a hundred times as long, and other requests wait.
 */
const maxExplained = 1_000
const explainedAtOnce = 50

/** Why an entry becomes no message. */
export interface BadEntry {
  readonly index: number
  readonly to: string
  readonly code: ErrorCode
  readonly why: string
}

/** Entry of a bulk request: a draft, or the reason why there is none. */
export type Entry = { readonly index: number; readonly to: string; readonly draft: Draft } | BadEntry

interface GoodEntry {
  readonly index: number
  readonly message: Static<typeof BulkMessage>
}

const isMessage = fitter(BulkMessage)
const check = bodyChecker(BulkMessage)

/** Entries of a bulk request, or the problem of each. */
export async function judged(given: readonly unknown[]): Promise<(GoodEntry | BadEntry)[]> {
  const verdicts: (GoodEntry | BadEntry)[] = []
  let bad = 0
  for (const [index, entry] of given.entries()) {
    if (isMessage(entry)) {
      verdicts.push({ index, message: entry })
      continue
    }
    verdicts.push(bad < maxExplained ? explained(entry, index) : unexplained(entry, index))
    bad += 1
    if (bad % explainedAtOnce === 0) await setImmediate()
  }
  return verdicts
}

function explained(given: unknown, index: number): BadEntry {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return { index, to: '', code: 'VALIDATION_ERROR', why: 'the entry must be an object with to and message' }
  try {
    check(given)
    throw new Error('an entry broke a rule that nobody knows')
  } catch (error) {
    return refused(index, recipientOf(given), error)
  }
}

function unexplained(given: unknown, index: number): BadEntry {
  const why = `the entry breaks a rule, as the ${maxExplained} bad ones before it do: mend those first`
  return { index, to: recipientOf(given), code: 'VALIDATION_ERROR', why }
}

function recipientOf(given: unknown): string {
  return typeof given === 'object' && given !== null && 'to' in given ? recipientText(given.to) : ''
}

/** Entry of a recipient: its draft, or the reason why there is none. */
export function entryOf(index: number, to: string, make: () => Draft): Entry {
  if (!isE164(to)) return { index, to, code: 'INVALID_PHONE', why: `to ${e164Rule}` }
  try {
    return { index, to, draft: make() }
  } catch (error) {
    return refused(index, to, error)
  }
}

/** Verdict on an entry that broke a rule; other errors are thrown on. */
function refused(index: number, to: string, error: unknown): BadEntry {
  if (!(error instanceof AppError)) throw error
  return { index, to, code: error.code, why: error.details }
}
