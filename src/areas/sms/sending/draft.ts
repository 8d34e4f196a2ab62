// SPDX-License-Identifier: Apache-2.0
// A message before it is accepted: what it must be like, what it costs, and the row it becomes. Shared by sending one and
// sending many, which differ only in how they are accepted.
import { AppError } from '../../../kernel/errors.ts'
import { newIdAndUuid, newUuid } from '../../../kernel/ids.ts'
import { type Currency, formatMicros, formatMoney } from '../../../kernel/money.ts'
import type { Place } from '../../../kernel/phone.ts'
import { dayMs, minuteMs, parseMoment } from '../../../kernel/time.ts'
import { walletsOf } from '../../../ledger/wallets.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { operation } from '../../../platform/commit.ts'
import type { Queryable } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { NewJob } from '../../../platform/work.ts'
import { type Encoding, nonGsmCharacters, toGsm } from '../../../protocols/smpp/charset.ts'
import { afterQuietHours } from '../consent/quiet-hours.ts'
import { submission } from '../delivery/queue.ts'
import type { Stored } from '../delivery/status.ts'
import { type MessageType, priorityOf, type Segments, segmentsOf } from '../message.ts'
import { networkOf } from '../network/network.ts'
import { placeFor } from '../ported/places.ts'
import { callersCurrency, segmentPrice } from '../prices/pricing.ts'
import { mostDaysAhead } from '../schema.ts'
import type { Permission } from '../senders/permissions.ts'
import type { Notes } from '../store.ts'

/** A refusal names so many of the characters that are in the way. */
const maxCharactersNamed = 10
const maxMetadataBytes = 8_192
/** A bulk's notes and those of its entry come together. */
const maxMetadataNames = 50
/** How late a scheduled time may lie in the past and still mean now. */
const graceMs = minuteMs

/** A message that follows every rule, with its price. */
export interface Draft {
  readonly uuid: string
  readonly to: string
  readonly from: string
  readonly text: Segments
  /** Null, or none: whichever holds the text. */
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
}

export type Wanted = Omit<Draft, 'uuid' | 'place' | 'unitPrice' | 'cost' | 'currency'>

/** Whom a message is sent for, and when. */
export interface Sending {
  readonly tenant: Tenant
  readonly receivedMs: number
  readonly nowMs: number
  readonly actor: string
  readonly ip: string
  readonly requestId: string | null
}

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

/** When it goes out: advertising waits while it is night where it goes. Null is now. */
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

/** When to send: null is now. */
export function scheduledAt(text: string | undefined, nowMs: number): Date | null {
  const at = text === undefined ? null : parseMoment(text)
  if (at === null) return null
  if (at.getTime() < nowMs - graceMs) throw new AppError('VALIDATION_ERROR', 'scheduled_at lies in the past')
  if (at.getTime() > nowMs + mostDaysAhead * dayMs)
    throw new AppError('VALIDATION_ERROR', `scheduled_at lies more than ${mostDaysAhead} days ahead`)
  return at.getTime() > nowMs ? at : null
}

export function metadataOf(metadata: Notes = {}): Notes {
  if (Object.keys(metadata).length > maxMetadataNames)
    throw new AppError(
      'VALIDATION_ERROR',
      `metadata must have at most ${maxMetadataNames} names, with those of the whole request`,
    )
  if (Buffer.byteLength(JSON.stringify(metadata)) > maxMetadataBytes)
    throw new AppError('VALIDATION_ERROR', `metadata must have at most ${maxMetadataBytes} bytes as JSON`)
  return metadata
}

/** The API's own answers of the sandbox. */
export function refusalOf(
  { to }: Draft,
  { tenant }: Pick<Caller, 'tenant'>,
): 'INSUFFICIENT_BALANCE' | 'OPTED_OUT' | null {
  return tenant.environment === 'test' ? sandboxRefusal(to) : null
}

/** The refusal of what the wallet cannot pay, with what it has now. */
export async function beyondWallet(
  queryable: Queryable,
  tenant: Tenant,
  currency: Currency,
  micros: bigint,
): Promise<AppError> {
  const wallet = (await walletsOf(queryable, tenant)).find((one) => one.currency === currency)
  return tooExpensive(currency, micros, wallet?.availableMicros ?? 0n)
}

/** The same where it is known what the wallet has; the sandbox's own refusal knows an empty one. */
export function tooExpensive(currency: Currency, micros: bigint, available: bigint): AppError {
  return new AppError(
    'INSUFFICIENT_BALANCE',
    `it costs ${formatMoney({ micros, currency })}, and the wallet has ${formatMoney({ micros: available, currency })}`,
    { extra: { balance: Number(formatMicros(available)), required: Number(formatMicros(micros)), currency } },
  )
}

export function optedOut({ to, from }: Draft): AppError {
  return new AppError('OPTED_OUT', `${to} does not want messages from ${from}`)
}

/**
 * `ofManyAfterMs`: it is one of a request for many messages, which are taken from the table as there is room, and this one
 * not before then; null when it is sent alone.
 */
export function jobOf(app: App, draft: Draft, sending: Sending, ofManyAfterMs: number | null): NewJob {
  const { uuid: id, text, wantedEncoding = null, place, type, scheduledAt: at } = draft
  const isOfMany = ofManyAfterMs !== null
  const delayMs = Math.max(isOfMany ? ofManyAfterMs + 1 : 0, at === null ? 0 : at.getTime() - sending.nowMs)
  const priority = priorityOf(type, isOfMany)
  const message = { id, segments: text.segments, ...place, priority, wantedEncoding }
  return submission(app, sending.tenant, message, delayMs)
}

/** Accepts messages one by one; a bulk hands the same rows to sms.accept. */
export const acceptOne = operation(
  'sms.submit',
  {
    bucket: 'smallint',
    account: 'uuid',
    environment: 'text',
    id: 'uuid',
    recipient: 'text',
    sender: 'text',
    body: 'text',
    encoding: 'text',
    segments: 'smallint',
    unit_price: 'bigint',
    cost: 'bigint',
    currency: 'text',
    country: 'text',
    network: 'text',
    type: 'text',
    validity: 'int',
    metadata: 'jsonb',
    reference: 'text',
    callback_url: 'text',
    batch: 'uuid',
    batch_index: 'smallint',
    scheduled_at: 'timestamptz',
    created_at: 'timestamptz',
    refusal: 'text',
    transfer: 'uuid',
    job: 'uuid',
    lane: 'text',
    owner: 'uuid',
    delay_ms: 'bigint',
    job_payload: 'jsonb',
    audit: 'uuid',
    actor: 'text',
    ip: 'text',
    request: 'text',
    key: 'text',
    request_hash: 'text',
    reply_status: 'smallint',
    reply_body: 'text',
  },
  { seen: 'text', verdict: 'text', existing: 'uuid' },
)

/** The row of sms.submit_item. Add to it with Object.assign: a spread of so many columns costs more than all the rest. */
export function itemOf(draft: Draft, job: NewJob, sending: Sending) {
  const { tenant } = sending
  return {
    bucket: tenant.bucket,
    account: tenant.account,
    environment: tenant.environment,
    id: draft.uuid,
    recipient: draft.to,
    sender: draft.from,
    body: draft.text.text,
    encoding: draft.text.encoding,
    segments: draft.text.segments,
    unit_price: draft.unitPrice,
    cost: draft.cost,
    currency: draft.currency,
    country: draft.place.country,
    network: draft.place.network,
    type: draft.type,
    validity: draft.validity,
    metadata: JSON.stringify(draft.metadata),
    reference: draft.reference,
    callback_url: draft.callbackUrl,
    scheduled_at: draft.scheduledAt,
    created_at: new Date(sending.nowMs),
    transfer: newUuid(sending.receivedMs),
    job: job.id,
    lane: job.lane,
    owner: job.owner,
    delay_ms: BigInt(job.delayMs),
    job_payload: job.payload,
    actor: sending.actor,
    ip: sending.ip,
    request: sending.requestId,
  }
}

/** The message that the row has become, as sms.messages has it. */
export function storedOf(draft: Draft, { tenant, receivedMs, nowMs, requestId }: Sending): Stored {
  return {
    bucket: tenant.bucket,
    account_id: tenant.account,
    environment: tenant.environment,
    id: draft.uuid,
    status: 'queued',
    recipient: draft.to,
    sender: draft.from,
    body: draft.text.text,
    encoding: draft.text.encoding,
    segments: draft.text.segments,
    type: draft.type,
    currency: draft.currency,
    country: draft.place.country,
    network: draft.place.network,
    validity: draft.validity,
    metadata: draft.metadata,
    callback_url: draft.callbackUrl,
    batch_id: null,
    request_id: requestId,
    route: null,
    under_way: false,
    attempts: 0,
    created_at: new Date(nowMs),
    scheduled_at: draft.scheduledAt,
    clock_offset_ms: BigInt(nowMs - receivedMs),
  }
}

/** What a number that ends in 0000NN stands for in the test environment, as far as the API itself answers. */
function sandboxRefusal(phone: string): 'INSUFFICIENT_BALANCE' | 'OPTED_OUT' | null {
  if (phone.endsWith('000010')) return 'INSUFFICIENT_BALANCE'
  return phone.endsWith('000011') ? 'OPTED_OUT' : null
}
