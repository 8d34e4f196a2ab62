// SPDX-License-Identifier: Apache-2.0
// What customers ask of messages: sending, reading, cancelling, and what it costs.
import type { Static } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { firstUuidAt, idOf, timeOfUuid, uuidOf } from '../../kernel/ids.ts'
import { factsOf, isE164, networks, type Place } from '../../kernel/phone.ts'
import { walletsOf } from '../../ledger/wallets.ts'
import type { App } from '../../platform/app.ts'
import { record } from '../../platform/audit.ts'
import type { Caller } from '../../platform/auth.ts'
import type { Tx } from '../../platform/db.ts'
import { askedMetadata } from '../../platform/metadata-filter.ts'
import { pageOf, type ShownBounds, shownBounds, windowOf } from '../../platform/page.ts'
import { commit, IdParam, list, type Route, read, write } from '../../platform/route.ts'
import { isGsm, nonGsmCharacters, toGsm } from '../../protocols/smpp/charset.ts'
import { batchMessages, findBatch, type Rejection } from './batch-store.ts'
import { bulkEntries, sendBulk } from './bulk.ts'
import { cancel, cancelBatch, change } from './changes.ts'
import { withRoomForLink } from './consent/links.ts'
import { textOf } from './draft.ts'
import { segmentsOf } from './message.ts'
import { findPlaces, placeFor, portabilityOf } from './ported/numbers.ts'
import { currencyOf, pricedSince, segmentPrice } from './pricing.ts'
import {
  BalanceRecord,
  BatchQuery,
  BatchRecord,
  BulkReply,
  BulkSend,
  EstimateReply,
  Found,
  LookupReply,
  MessageChange,
  MessageList,
  MessageRecord,
  MessageSend,
  PhoneParam,
  PricingQuery,
  PricingReply,
  SendReply,
} from './schema.ts'
import { recipientsOf, send } from './send.ts'
import { permissionOf } from './senders/permissions.ts'
import { linksIn, withRoomForShortLinks } from './short-links.ts'
import {
  costOf,
  errorCodeOf,
  findMessage,
  listMessages,
  type MessageRow,
  messageNamed,
  operatorRecordOf,
  recordOf,
} from './store.ts'

const bulkBodyBytes = 8 * 1024 * 1024
const lowSegments = 100n

const sendRoute = commit({
  method: 'POST',
  path: '/v1/sms/send',
  operation: 'sms.send',
  summary: 'Send a message',
  description:
    'To one number or many, now or later. Paid for when it is accepted; paid back if it never goes out. A list of numbers counts once on your plan, and goes out at the rate of the plan.',
  scope: 'sms:write',
  limit: 'sms',
  body: MessageSend,
  reply: { status: 200, schema: SendReply },
  errors: [
    'INVALID_URL',
    'INSUFFICIENT_BALANCE',
    'OPTED_OUT',
    'SENDER_NOT_ALLOWED',
    'COUNTRY_NOT_ENABLED',
    'DUPLICATE_REFERENCE',
    'REQUEST_IN_PROGRESS',
    'INVALID_PHONE',
    'MESSAGE_TOO_LONG',
    'ENCODING_ERROR',
    'NO_ROUTE',
    'PROVIDER_UNAVAILABLE',
  ],
  examples: [
    { name: 'A message', body: { to: '+254711000001', from: 'PAMOJA', message: 'Habari Ada, oda yako imetumwa.' } },
    {
      name: 'Many recipients',
      body: { to: ['+254711000001', '+254733000001'], from: 'PAMOJA', message: 'Tutafunga saa kumi.' },
    },
    {
      name: 'A link that is counted',
      body: {
        to: '+254711000001',
        from: 'PAMOJA',
        message: 'Oda yako: https://duka.example/orders/4512?from=sms',
        shorten_urls: true,
      },
    },
  ],
  handle: (app, { body }, caller, keyed) => send(app, body, caller, keyed),
})

const bulkRoute = write({
  method: 'POST',
  path: '/v1/sms/bulk',
  operation: 'sms.sendBulk',
  summary: 'Send many different messages',
  description:
    'Every entry gets a verdict of its own; money is enough for all of them, or nothing is accepted. It counts once on your plan, and goes out at the rate of the plan.',
  scope: 'sms:write',
  limit: 'sms',
  body: BulkSend,
  bodyLimitBytes: bulkBodyBytes,
  reply: { status: 200, schema: BulkReply },
  errors: [
    'INVALID_URL',
    'INSUFFICIENT_BALANCE',
    'OPTED_OUT',
    'SENDER_NOT_ALLOWED',
    'COUNTRY_NOT_ENABLED',
    'DUPLICATE_REFERENCE',
    'INVALID_PHONE',
    'ENCODING_ERROR',
    'NO_ROUTE',
    'PROVIDER_UNAVAILABLE',
  ],
  examples: [
    {
      name: 'Two messages',
      body: {
        from: 'PAMOJA',
        messages: [
          { to: '+254711000001', message: 'Habari Ada' },
          { to: '+254733000001', message: 'Habari Eve' },
        ],
      },
    },
  ],
  prepare: (app, { body }, caller) => bulkEntries(app, body, caller),
  handle: (app, tx, { body }, caller, entries) => sendBulk(app, tx, body, entries, caller),
})

const getBatch = read({
  method: 'GET',
  path: '/v1/sms/bulk/:id',
  operation: 'sms.getBatch',
  summary: 'Read how far a batch is',
  scope: 'sms:read',
  params: IdParam,
  query: BatchQuery,
  reply: { status: 200, schema: BatchRecord },
  errors: ['NOT_FOUND'],
  examples: [{ name: 'How far it is' }, { name: 'With its messages', query: { messages: true } }],
  handle: async (app, { params, query }, caller) => {
    const id = uuidOf('smsBatch', params.id)
    const found = id && (await findBatch(app.db, caller.tenant, id))
    if (!id || !found) throw new AppError('NOT_FOUND', 'there is no such batch')
    return query.messages
      ? { ...found.record, ...(await entriesOf(app, caller, id, found.rejections, query)) }
      : found.record
  },
})

const cancelBatchRoute = write({
  method: 'POST',
  path: '/v1/sms/bulk/:id/cancel',
  operation: 'sms.cancelBatch',
  summary: 'Cancel what of a batch is not yet on its way',
  scope: 'sms:write',
  limit: 'sms',
  params: IdParam,
  reply: { status: 200, schema: BatchRecord },
  errors: ['NOT_FOUND'],
  examples: [{ name: 'The rest of a batch' }],
  prepare: (app, { params }, caller) => calledOff(app, caller, uuidOf('smsBatch', params.id)),
  handle: (_, tx, __, caller, batch) => batchCalledOff(tx, caller, batch),
})

const get = read({
  method: 'GET',
  path: '/v1/sms/:id',
  operation: 'sms.get',
  summary: 'Read a message',
  description: 'Also takes the id of a batch, or of a message that came in.',
  scope: 'sms:read',
  params: IdParam,
  reply: { status: 200, schema: Found },
  errors: ['NOT_FOUND'],
  examples: [{ name: 'How far it is' }],
  handle: async (app, { params }, caller) => {
    const batch = uuidOf('smsBatch', params.id)
    const found = batch && (await findBatch(app.db, caller.tenant, batch))
    if (found) return found.record
    const outbound = uuidOf('sms', params.id)
    const id = outbound ?? uuidOf('smsInbound', params.id)
    const row = id && (await findMessage(app.db, caller.tenant, id))
    if (!row || (row.direction === 'outbound') !== (outbound !== null))
      throw new AppError('NOT_FOUND', 'there is no such message')
    const links = await linksIn(app, caller, row.body)
    const shown = shownTo(caller)(row, currencyOf(caller), caller.nowMs)
    return links.length > 0 ? { ...shown, links } : shown
  },
})

const listRoute = list({
  path: '/v1/sms',
  operation: 'sms.list',
  summary: 'List messages',
  scope: 'sms:read',
  query: MessageList,
  row: MessageRecord,
  errors: ['INVALID_DATE_RANGE'],
  examples: [{ name: 'Failed ones', query: { status: 'failed' } }],
  handle: async (app, { query }, caller) => {
    const window = windowOf(query)
    const batch = query.batch_id === undefined ? null : uuidOf('smsBatch', query.batch_id)
    const days = daysOf(query, caller)
    if (query.batch_id !== undefined && batch === null) return { rows: [], nextCursor: null }
    const named = query.reference === undefined ? days : await boundsOf(app, caller, query.reference, days)
    if (named === null) return { rows: [], nextCursor: null }
    const rows = await listMessages(app.db, caller.tenant, window, {
      ...days,
      ...named,
      status: query.status ?? null,
      recipient: query.to === undefined ? null : numberInQuery(query.to),
      sender: query.from === undefined ? null : numberInQuery(query.from),
      direction: query.direction ?? null,
      batch,
      scheduled: query.scheduled ?? null,
      errorCode: query.error_code ?? null,
      reference: query.reference ?? null,
      now: new Date(caller.nowMs),
      country: query.country ?? null,
      text: query.q ?? null,
      metadata: askedMetadata(query),
    })
    const currency = currencyOf(caller)
    const shown = shownTo(caller)
    return pageOf(window, rows, (row) => shown(row, currency, caller.nowMs))
  },
})

const changeRoute = write({
  method: 'PATCH',
  path: '/v1/sms/:id',
  operation: 'sms.change',
  summary: 'Reschedule or edit a message that is not yet on its way',
  scope: 'sms:write',
  limit: 'sms',
  params: IdParam,
  body: MessageChange,
  reply: { status: 200, schema: MessageRecord },
  errors: ['NOT_FOUND', 'MESSAGE_NOT_CANCELLABLE', 'ENCODING_ERROR', 'INSUFFICIENT_BALANCE'],
  examples: [{ name: 'Another text', body: { message: 'Tutafunga saa tisa.' } }],
  handle: async (app, tx, { params, body }, caller) =>
    recordOf(await change(app, tx, caller, uuidOf('sms', params.id), body), currencyOf(caller), caller.nowMs),
})

const cancelling = {
  summary: 'Cancel a message that is not yet on its way',
  description:
    'It becomes failed with CANCELLED, and its price is given back. With the id of a batch, everything of it that is not yet on its way.',
  scope: 'sms:write',
  limit: 'sms',
  params: IdParam,
  reply: { status: 200, schema: Found },
  errors: ['NOT_FOUND', 'MESSAGE_NOT_CANCELLABLE'],
  examples: [{ name: 'A scheduled message' }],
  prepare: async (app: App, { params }: { params: { id: string } }, caller: Caller) => {
    const batch = uuidOf('smsBatch', params.id)
    return batch && calledOff(app, caller, batch)
  },
  handle: async (app: App, tx: Tx, { params }: { params: { id: string } }, caller: Caller, batch: Batch | null) =>
    batch
      ? batchCalledOff(tx, caller, batch)
      : recordOf(await cancel(app, tx, caller, uuidOf('sms', params.id)), currencyOf(caller), caller.nowMs),
} as const

const cancelRoute = write({ method: 'DELETE', path: '/v1/sms/:id', operation: 'sms.cancel', ...cancelling })

const cancelByPost = write({
  method: 'POST',
  path: '/v1/sms/:id/cancel',
  operation: 'sms.cancelByPost',
  ...cancelling,
})

const balance = read({
  method: 'GET',
  path: '/v1/sms/balance',
  operation: 'sms.balance',
  summary: 'Read how much money is left for messages',
  scope: 'sms:read',
  reply: { status: 200, schema: BalanceRecord },
  examples: [{ name: 'The balance' }],
  handle: async (app, _, caller) => {
    const currency = currencyOf(caller)
    const wallet = (await walletsOf(app.db, caller.tenant)).find((one) => one.currency === currency)
    const available = wallet?.availableMicros ?? 0n
    const price = segmentPrice(app, caller, { country: caller.principal.facts.country, network: null })
    const segments = price > 0n && available > 0n ? available / price : 0n
    return {
      balance: wallet?.balanceMicros ?? 0n,
      currency,
      reserved: wallet?.heldMicros ?? 0n,
      available,
      credit_limit: wallet?.overdraftMicros ?? 0n,
      low_balance: price > 0n && segments < lowSegments,
      estimated_segments: Number(segments),
      updated_at: wallet?.updatedAt ?? new Date(caller.nowMs),
    }
  },
})

const estimate = read({
  method: 'POST',
  path: '/v1/sms/estimate',
  operation: 'sms.estimate',
  summary: 'Count segments and cost, without sending',
  description: 'It takes what a send takes, and says what that would come to. Nothing is stored or charged.',
  scope: 'sms:read',
  body: MessageSend,
  reply: { status: 200, schema: EstimateReply },
  errors: ['INVALID_PHONE', 'MESSAGE_TOO_LONG', 'ENCODING_ERROR', 'SENDER_NOT_ALLOWED', 'COUNTRY_NOT_ENABLED'],
  examples: [{ name: 'A message', body: { to: '+254711000001', from: 'PAMOJA', message: 'Habari “Ada”' } }],
  handle: async (app, { body }, caller) => {
    const { message, encoding, max_segments } = body
    const short = body.shorten_urls ? withRoomForShortLinks(app, message).message : message
    const text = textOf(withRoomForLink(app, body.type ?? 'transactional', short), encoding, max_segments)
    const permission = await permissionOf(app, caller.tenant)
    const numbers = [...new Set([recipientsOf(body.to)].flat())].filter(isE164)
    if (numbers.length === 0) throw new AppError('INVALID_PHONE', 'to[0]: to must be E.164, such as +254711000001')
    await findPlaces(app, numbers)
    const problems = numbers.map((to) => permission.problem(body.from, placeFor(app, to).country))
    const recipients = numbers.filter((_, i) => problems[i] === null)
    const [problem] = problems
    if (problem && recipients.length === 0) throw problem
    const micros = recipients
      .map((to) => segmentPrice(app, caller, placeFor(app, to)))
      .reduce((sum, price) => sum + price, 0n)
    return {
      segments: text.segments,
      encoding: text.encoding,
      length: [...message].length,
      units_used: text.units,
      units_left: text.unitsLeft,
      non_gsm: nonGsmCharacters(text.text),
      ...suggestionFor(text.text, text.segments),
      cost: micros * BigInt(text.segments),
      currency: currencyOf(caller),
      recipients: recipients.length,
    }
  },
})

const pricing = list({
  path: '/v1/sms/pricing',
  operation: 'sms.pricing',
  summary: 'List what a segment costs, by country and network',
  scope: 'sms:read',
  query: PricingQuery,
  row: PricingReply,
  examples: [{ name: 'Kenya', query: { country: 'KE' } }],
  handle: async (app, { query }, caller) => {
    const wanted = networks.filter(({ country }) => query.country === undefined || country === query.country)
    const countries = [...new Set([...wanted.map(({ country }) => country), ...(query.country ? [query.country] : [])])]
    const row = (place: Place & { country: string }, code: string | null): Static<typeof PricingReply> => ({
      ...place,
      mcc_mnc: code,
      direction: 'outbound',
      price: segmentPrice(app, caller, place),
      currency: currencyOf(caller),
      effective_from: pricedSince(app, caller, place),
    })
    const rows = countries.flatMap((country) => [
      row({ country, network: null }, null),
      ...wanted.filter((one) => one.country === country).map(({ network, code }) => row({ country, network }, code)),
    ])
    return { rows, nextCursor: null }
  },
})

const lookup = read({
  method: 'GET',
  path: '/v1/sms/lookup/:phone',
  operation: 'sms.lookup',
  summary: 'Look a number up',
  description:
    'By the numbering plans, and by the list of ported numbers where the operator keeps one (`source` is `mnp`).',
  scope: 'sms:read',
  params: PhoneParam,
  reply: { status: 200, schema: LookupReply },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, caller) => {
    const { phone } = params
    if (!isE164(phone)) throw new AppError('NOT_FOUND', 'phone is not E.164, such as +254711000001')
    const { callingCode, nationalFormat, network: _, networkCode: _code, ...facts } = factsOf(phone)
    return {
      phone,
      ...facts,
      calling_code: callingCode,
      national_format: nationalFormat,
      ...(await portabilityOf(app, phone)),
      reachable: null,
      checked_at: new Date(caller.nowMs),
    }
  },
})

export const messageRoutes: readonly Route[] = [
  sendRoute,
  bulkRoute,
  get,
  balance,
  listRoute,
  changeRoute,
  cancelRoute,
  cancelByPost,
  getBatch,
  cancelBatchRoute,
  estimate,
  pricing,
  lookup,
]

interface Batch {
  id: string
  /** How many of its messages were called off. */
  cancelled: number
}

/** Calls off what of a batch still waits, each message by itself, before the transaction that tells of it. */
async function calledOff(app: App, caller: Caller, id: string | null): Promise<Batch> {
  if (!id || !(await findBatch(app.db, caller.tenant, id))) throw new AppError('NOT_FOUND', 'there is no such batch')
  return { id, cancelled: await cancelBatch(app, caller, id) }
}

async function batchCalledOff(tx: Tx, caller: Caller, { id, cancelled }: Batch): Promise<Static<typeof BatchRecord>> {
  await record(tx, caller, 'sms.cancel_batch', `sms_batch:${id}`, { after: { cancelled } })
  const found = await findBatch(tx, caller.tenant, id)
  if (!found) throw new AppError('NOT_FOUND', 'there is no such batch')
  return found.record
}

function shownTo({ principal }: Caller): typeof recordOf {
  return principal.scopes.has('operator') ? operatorRecordOf : recordOf
}

/** The days asked for, by the names that every list has or by those that only this one has. */
function daysOf(query: Static<typeof MessageList>, caller: Caller): ShownBounds {
  const { start_date = query.from_date, end_date = query.to_date } = query
  const range = { ...(start_date === undefined ? {} : { start_date }), ...(end_date === undefined ? {} : { end_date }) }
  const startName = query.start_date === undefined && query.from_date !== undefined ? 'from_date' : 'start_date'
  const endName = query.end_date === undefined && query.to_date !== undefined ? 'to_date' : 'end_date'
  return shownBounds(range, caller, [startName, endName])
}

/** The moment in which the message of a reference was made, so that a list of one need not look through all of them. */
async function boundsOf(
  app: App,
  { tenant }: Caller,
  reference: string,
  { from, to }: { from: string; to: string },
): Promise<{ from: string; to: string } | null> {
  const id = await messageNamed(app.db, tenant, reference)
  if (id === null) return null
  const next = firstUuidAt(timeOfUuid(id).getTime() + 1)
  return { from: id > from ? id : from, to: next < to ? next : to }
}

/** A plus sign in a query string means a space. */
function numberInQuery(text: string): string {
  return text.replace(/^ /, '+')
}

/** A text that needs fewer segments, if likenesses of its characters make one. */
function suggestionFor(
  text: string,
  segments: number,
): { suggestion: string | null; suggestion_segments: number | null } {
  const plain = isGsm(text) ? null : toGsm(text)
  const counted = plain === null ? null : segmentsOf(plain)
  return counted === null || counted.segments > segments
    ? { suggestion: null, suggestion_segments: null }
    : { suggestion: plain, suggestion_segments: counted.segments }
}

const defaultEntries = 50

/** A page of a batch's entries in their order, those that became no message among them. */
async function entriesOf(
  app: App,
  caller: Caller,
  id: string,
  rejections: readonly Rejection[],
  { cursor, limit = defaultEntries }: Static<typeof BatchQuery>,
): Promise<Pick<Static<typeof BatchRecord>, 'messages' | 'has_more' | 'next_cursor'>> {
  const after = cursor === undefined ? -1 : Number(Buffer.from(cursor, 'base64url').toString())
  if (!Number.isInteger(after) || after < -1 || after > 32_767)
    throw new AppError('INVALID_REQUEST', 'cursor is not one this service gave out')
  const currency = currencyOf(caller)
  const messages = (await batchMessages(app.db, caller.tenant, id, after, limit)).map((row) =>
    entryOf(row, currency, caller.nowMs),
  )
  const refused = rejections
    .filter(({ index }) => index > after)
    .map((rejection) => ({
      ...rejection,
      message_id: null,
      status: 'failed' as const,
      segments: 0,
      cost: 0n,
      currency,
    }))
  const entries = [...messages, ...refused].sort((a, b) => a.index - b.index)
  const page = entries.slice(0, limit)
  const last = entries.length > limit ? page.at(-1) : undefined
  const nextCursor = last ? Buffer.from(String(last.index)).toString('base64url') : null
  return { messages: page, has_more: nextCursor !== null, next_cursor: nextCursor }
}

type BatchEntry = NonNullable<Static<typeof BatchRecord>['messages']>[number]

function entryOf(row: MessageRow, currency: string, nowMs: number): BatchEntry {
  return {
    index: row.batch_index ?? 0,
    to: row.recipient,
    message_id: idOf('sms', row.id),
    status: row.status,
    segments: row.segments,
    cost: costOf(row),
    currency: row.currency ?? currency,
    error_code: errorCodeOf(row, nowMs),
  }
}
