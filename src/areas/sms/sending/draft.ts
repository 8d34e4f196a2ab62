// SPDX-License-Identifier: Apache-2.0
// A message before it is accepted: what it must be like, and what it costs. One message and many begin as drafts; they
// differ in how they are accepted.
import { AppError } from '../../../kernel/errors.ts'
import { newIdAndUuid } from '../../../kernel/ids.ts'
import { type Currency, isCurrency } from '../../../kernel/money.ts'
import type { Place } from '../../../kernel/phone.ts'
import { dayMs, minuteMs, parseMoment } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { one, type Queryable, statement } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { plainNotes } from '../../../platform/metadata/exact.ts'
import { type Encoding, nonGsmCharacters, toGsm } from '../../../protocols/smpp/charset.ts'
import { afterQuietHours } from '../consent/quiet-hours.ts'
import { type MessageType, type Segments, segmentsOf } from '../message.ts'
import { networkOf } from '../network/network.ts'
import { findPlaces, placeFor } from '../ported/number-network.ts'
import { callersCurrency, priceOf, segmentPrice } from '../prices/pricing.ts'
import { maxDaysAhead, maxValiditySeconds } from '../schema.ts'
import type { Permission } from '../senders/permissions.ts'
import type { Notes } from '../store.ts'

/** Characters named in a refusal. */
const maxCharactersNamed = 10
const maxMetadataBytes = 8_192
/** A bulk's notes and those of its entry come together. */
const maxMetadataNames = 50
/** Scheduled times up to this far in the past mean now. */
const graceMs = minuteMs

/** A message that follows every rule, with its price. */
export interface Draft {
  readonly uuid: string
  readonly to: string
  readonly from: string
  readonly text: Segments
  /** Encoding asked for; null or absent for whichever holds the text. */
  readonly wantedEncoding?: Encoding | null
  readonly place: Place
  readonly unitPrice: bigint
  readonly cost: bigint
  readonly currency: Currency
  readonly scheduledAt: Date | null
  readonly type: MessageType
  readonly validity: number
  readonly metadata: Notes
  readonly reference: string | null
  readonly callbackUrl: string | null
  /** Whether the callback URL is told of the outcome only. */
  readonly callbackFinal: boolean
}

/** Request before its destination and price are known. */
export type Wanted = Omit<Draft, 'uuid' | 'place' | 'unitPrice' | 'cost' | 'currency'>

/** Refuses what the account may not send. Its recipient was looked up with `findPlaces`. */
export function draftOf(app: App, caller: Caller, permission: Permission, wanted: Wanted): Draft {
  const place = placeFor(app, wanted.to)
  const problem = permission.problem(wanted.from, place.country)
  if (problem) throw problem
  const unitPrice = segmentPrice(app, caller, place)
  const scheduledAt = timeFor(caller, wanted.type, place.country, wanted.scheduledAt)
  const unreachable = networkOf(app).problem({ ...caller.tenant, ...place }, scheduledAt === null)
  if (unreachable) throw unreachable
  return {
    uuid: newIdAndUuid('sms', caller.receivedMs).uuid,
    place,
    unitPrice,
    cost: unitPrice * BigInt(wanted.text.segments),
    currency: callersCurrency(caller),
    ...wanted,
    scheduledAt,
  }
}

const standingOf = statement.home<{ account: string }, { currency: string; is_suspended: boolean }>(
  'sms.standing_of',
  `select accounts.currency_of($account::uuid) as currency, accounts.is_suspended($account) as is_suspended`,
)

/**
 * Draft of a message without a request of its own, such as a reply: transactional, sent now, paid in the account's
 * currency at its price. Returns the reason when the account is suspended or there is no price; the caller checks
 * permissions and opt-outs.
 */
export async function plainDraft(
  app: App,
  queryable: Queryable,
  { tenant, receivedMs }: Occasion,
  said: Pick<Draft, 'uuid' | 'to' | 'from' | 'text'>,
): Promise<Draft | AppError> {
  const { currency, is_suspended } = await one(queryable.query(standingOf, { account: tenant.account }))
  if (is_suspended) return new AppError('ACCOUNT_SUSPENDED', 'the account is suspended')
  if (!isCurrency(currency)) throw new Error(`the account has an unknown currency: ${currency}`)
  await findPlaces(app, [said.to])
  const place = placeFor(app, said.to)
  const unitPrice = priceOf(app, { tenant, currency, atMs: receivedMs }, place)
  if (unitPrice instanceof AppError) return unitPrice
  return {
    ...said,
    place,
    unitPrice,
    cost: unitPrice * BigInt(said.text.segments),
    currency,
    scheduledAt: null,
    type: 'transactional',
    validity: maxValiditySeconds,
    metadata: {},
    reference: null,
    callbackUrl: null,
    callbackFinal: false,
  }
}

/** Time to send a message: advertising waits while it is night at the recipient. Null is now. */
export function timeFor(caller: Caller, type: Draft['type'], country: string | null, wanted: Date | null): Date | null {
  if (type !== 'promotional') return wanted
  const wantedMs = wanted?.getTime() ?? caller.nowMs
  const atMs = afterQuietHours(country, caller.principal.facts.country, wantedMs)
  return atMs === wantedMs ? wanted : new Date(atMs)
}

/** The text in the encoding asked for; refuses what cannot be written in it, or needs too many segments. */
export function textOf(message: string, encoding: 'auto' | 'gsm7' | 'ucs2' = 'auto', maxSegments?: number): Segments {
  const text = segmentsOf(message, encoding)
  if (text === null) {
    const strange = nonGsmCharacters(message).filter((character) => toGsm(character) === null)
    const shown = strange.slice(0, maxCharactersNamed).join(' ')
    throw new AppError(
      'ENCODING_ERROR',
      `message has characters that GSM 7-bit text cannot hold, and no likeness of them${shown && `: ${shown}`}`,
    )
  }
  if (maxSegments !== undefined && text.segments > maxSegments)
    throw new AppError('MESSAGE_TOO_LONG', `message needs ${text.segments} segments; max_segments is ${maxSegments}`)
  return text
}

/** Time asked for by the request; null is now. */
export function scheduledAt(text: string | undefined, nowMs: number): Date | null {
  const at = text === undefined ? null : parseMoment(text)
  if (at === null) return null
  if (at.getTime() < nowMs - graceMs) throw new AppError('VALIDATION_ERROR', 'scheduled_at is in the past')
  if (at.getTime() > nowMs + maxDaysAhead * dayMs)
    throw new AppError('VALIDATION_ERROR', `scheduled_at is more than ${maxDaysAhead} days ahead`)
  return at.getTime() > nowMs ? at : null
}

export function metadataOf(metadata: Notes = {}): Notes {
  const plain = plainNotes(metadata)
  if (Object.keys(plain).length > maxMetadataNames)
    throw new AppError(
      'VALIDATION_ERROR',
      `metadata must have at most ${maxMetadataNames} names, with those of the whole request`,
    )
  if (Buffer.byteLength(JSON.stringify(plain)) > maxMetadataBytes)
    throw new AppError('VALIDATION_ERROR', `metadata must have at most ${maxMetadataBytes} bytes as JSON`)
  return metadata
}
