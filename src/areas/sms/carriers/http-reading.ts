// SPDX-License-Identifier: Apache-2.0
// Answers and calls of an aggregator, read as its profile says.
import type { Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { isSomebody } from '../handset.ts'
import type { errorCodes, Profile, Verdict } from './http-profile.ts'

/** Receipts or messages that one call may bring. */
const maxEntries = 1_000
const maxIdLength = 200
const maxTextLength = 5_000
/** Longest Retry-After that is obeyed. */
const maxRetrySeconds = 300

export type Answer =
  | { kind: 'sent'; carrierIds: readonly string[] }
  | { kind: 'rejected'; code: string; carrierCode: string }
  | { kind: 'reroute'; code: string; carrierCode: string }
  | { kind: 'throttled'; afterMs: number | null }
  | { kind: 'unknown'; reason: string }

/** Statuses from before the message was looked at: wrong credentials, a wrong address, or no room. */
const turnedAway: ReadonlySet<number> = new Set([401, 403, 404, 405, 503])

/**
 * Meaning of an answer: by the aggregator's own code, then by what the profile calls success, then by the status. A
 * status that a proxy may give after passing the request on says nothing of the message.
 */
export function answerOf(
  { success, errors }: Profile,
  id: string,
  { status, headers, body }: { status: number; headers: Readonly<Record<string, string>>; body: string },
): Answer {
  const content = { value: jsonOf(body), text: body }
  const [code] = errors?.code === undefined ? [] : found(content, errors.code)
  const carrierCode = (code ?? `HTTP ${status}`).slice(0, maxIdLength)
  const own = code === undefined ? undefined : memberOf(errors?.codes, code)
  if (own) return judged(own)
  if ((success?.status ?? [200, 201, 202]).includes(status)) {
    const carrierIds = success?.id === undefined ? [id] : found(content, success.id)
    const isUsable = carrierIds.length > 0 && carrierIds.every(({ length }) => length > 0 && length <= maxIdLength)
    return isUsable ? { kind: 'sent', carrierIds } : { kind: 'unknown', reason: `an answer ${status} without an id` }
  }
  const general = memberOf(errors?.statuses, String(status))
  if (general) return judged(general)
  if (status === 429) return judged({ as: 'retry' })
  if (turnedAway.has(status) || (status >= 300 && status < 400)) return judged({ as: 'reroute' })
  if (status >= 400 && status < 500) return judged({ as: 'reject' })
  return { kind: 'unknown', reason: `an answer ${status}` }

  function judged({ as, error }: Static<typeof Verdict>): Answer {
    if (as === 'reject') return { kind: 'rejected', code: error ?? 'REJECTED', carrierCode }
    if (as === 'reroute') return { kind: 'reroute', code: error ?? 'CARRIER_ERROR', carrierCode }
    const seconds = Number(headers['retry-after'] ?? Number.NaN)
    return { kind: 'throttled', afterMs: seconds >= 0 ? Math.min(seconds, maxRetrySeconds) * 1_000 : null }
  }
}

/** One message in a call of the aggregator. */
export interface Told {
  readonly id: string
  /** Status as the profile translates it; null when unknown. */
  readonly status: 'delivered' | 'ignored' | (typeof errorCodes)[number] | null
  readonly carrierCode: string
}

export interface Written {
  readonly from: string
  readonly to: string
  readonly text: string
}

/** The receipts of a call; throws INVALID_REQUEST when one does not say what it is about. */
export function receiptsOf(profile: NonNullable<Profile['receipts']>, value: unknown): Told[] {
  return itemsOf(value, profile.each).map((item) => {
    const id = required(item, profile.id)
    const status = required(item, profile.status)
    const [error] = profile.error === undefined ? [] : found(item, profile.error)
    const carrierCode = error === undefined || /^0*$/.test(error) ? status : `${status} ${error}`
    return { id, status: memberOf(profile.statuses, status) ?? null, carrierCode: carrierCode.slice(0, maxIdLength) }
  })
}

/** Messages of a call; throws INVALID_REQUEST when one has no text field or an impossible sender. */
export function messagesOf(profile: NonNullable<Profile['inbound']>, value: unknown): Written[] {
  return itemsOf(value, profile.each).map((item) => {
    const from = required(item, profile.from)
    if (!isSomebody(from)) throw new AppError('INVALID_REQUEST', `the value at ${profile.from} is not a number`)
    const [text] = found(item, profile.text)
    if (text === undefined) throw new AppError('INVALID_REQUEST', `there is nothing at ${profile.text}`)
    return { from: numberOf(from), to: numberOf(required(item, profile.to)), text: text.slice(0, maxTextLength) }
  })
}

interface Content {
  readonly value: unknown
  readonly text: string
}

function itemsOf(value: unknown, each: string | undefined): Content[] {
  const items = each === undefined ? [value] : valuesAt(value, `${each}/*`)
  if (items.length === 0 || items.length > maxEntries)
    throw new AppError('INVALID_REQUEST', `the list must have 1 to ${maxEntries} entries`)
  return items.map((item) => ({ value: item, text: JSON.stringify(item) ?? '' }))
}

function required(item: Content, place: string): string {
  const [text] = found(item, place)
  if (text === undefined || text === '' || text.length > maxIdLength)
    throw new AppError('INVALID_REQUEST', `there is nothing at ${place}`)
  return text
}

/** The texts at a place. */
function found({ value, text }: Content, place: string): string[] {
  if (!place.startsWith('/')) {
    const [, group] = new RegExp(place).exec(text) ?? []
    return group === undefined ? [] : [group]
  }
  return valuesAt(value, place).flatMap((one) =>
    typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean' ? [String(one)] : [],
  )
}

function valuesAt(value: unknown, pointer: string): unknown[] {
  let here: unknown[] = [value]
  for (const step of pointer.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    here = here.flatMap((one) => {
      if (Array.isArray(one) && name === '*') return one
      const member = memberOf(one, name)
      return member === undefined ? [] : [member]
    })
  }
  return here
}

function memberOf<T>(holder: Readonly<Record<string, T>> | undefined, name: string): T | undefined
function memberOf(holder: unknown, name: string): unknown
function memberOf(holder: unknown, name: string): unknown {
  return typeof holder === 'object' && holder !== null && Object.hasOwn(holder, name)
    ? Reflect.get(holder, name)
    : undefined
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function numberOf(text: string): string {
  return /^[1-9]\d{6,14}$/.test(text) ? `+${text}` : text
}
