// SPDX-License-Identifier: Apache-2.0
// What customers ask of messages: sending, reading, changing and cancelling them.
import type { Static } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { firstUuidAt, timeOfUuid, uuidOf } from '../../kernel/ids.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import type { Tx } from '../../platform/db.ts'
import { askedMetadata } from '../../platform/metadata-filter.ts'
import { pageOf, type ShownBounds, shownBounds, windowOf } from '../../platform/page.ts'
import { commit, IdParam, list, type Route, read, write } from '../../platform/route.ts'
import { bulkEntries, sendBulk } from './batches/bulk.ts'
import { batchCalledOff, type CalledOff, calledOff, cancelBatchRoute, getBatch } from './batches/routes.ts'
import { findBatch } from './batches/store.ts'
import { linksIn } from './links/short-links.ts'
import { callersCurrency } from './prices/pricing.ts'
import { balance, estimate, lookup, pricing } from './prices/quotes.ts'
import {
  BulkReply,
  BulkSend,
  Found,
  MessageChange,
  MessageList,
  MessageRecord,
  MessageSend,
  SendReply,
} from './schema.ts'
import { cancel, change } from './sending/change.ts'
import { send } from './sending/send.ts'
import { findMessage, listMessages, messageNamed, operatorRecordOf, recordOf } from './store.ts'

const bulkBodyBytes = 8 * 1024 * 1024

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
    const shown = shownTo(caller)(row, callersCurrency(caller), caller.nowMs)
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
    const currency = callersCurrency(caller)
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
    recordOf(await change(app, tx, caller, uuidOf('sms', params.id), body), callersCurrency(caller), caller.nowMs),
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
  handle: async (app: App, tx: Tx, { params }: { params: { id: string } }, caller: Caller, batch: CalledOff | null) =>
    batch
      ? batchCalledOff(tx, caller, batch)
      : recordOf(await cancel(app, tx, caller, uuidOf('sms', params.id)), callersCurrency(caller), caller.nowMs),
} as const

const cancelRoute = write({ method: 'DELETE', path: '/v1/sms/:id', operation: 'sms.cancel', ...cancelling })

const cancelByPost = write({
  method: 'POST',
  path: '/v1/sms/:id/cancel',
  operation: 'sms.cancelByPost',
  ...cancelling,
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
