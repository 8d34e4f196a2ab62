// SPDX-License-Identifier: Apache-2.0
// Routes of messages: sending, reading, changing and cancelling them.
import { uuidOf } from '../../kernel/ids.ts'
import { hourMs } from '../../kernel/time.ts'
import { commit, IdParam, list, type Need, type Route, read, write } from '../../platform/api/route.ts'
import type { App } from '../../platform/app.ts'
import { requireDealing } from '../../platform/auth/dealings.ts'
import type { Caller } from '../../platform/auth.ts'
import type { Tx } from '../../platform/db.ts'
import { bulkEntries, sendBulk } from './batches/bulk.ts'
import { type CancelledBatch, cancelBatch, noteCancelled } from './batches/cancel.ts'
import { cancelBatchRoute, getBatch } from './batches/routes.ts'
import { BulkReply, BulkSend, Found } from './batches/schema.ts'
import { callersCurrency } from './prices/pricing.ts'
import { balance, lookup, pricing } from './prices/routes.ts'
import { readFound, readPage } from './read.ts'
import { recordOf } from './record.ts'
import { EstimateReply, MessageChange, MessageList, MessageRecord, MessageSend, SendReply } from './schema.ts'
import { send } from './send.ts'
import { cancel } from './sending/cancel.ts'
import { change } from './sending/change.ts'
import { estimate } from './sending/estimate.ts'

const bulkBodyBytes = 8 * 1024 * 1024

const sendRoute = commit({
  method: 'POST',
  path: '/v1/sms/send',
  operation: 'sms.send',
  summary: 'Send a text',
  description:
    'Sends to one number or a list of numbers, now or at a later time. Charged on acceptance; refunded if it is never sent. A list of numbers counts as one request of your plan, and is sent at the rate of the plan. With `sms:send` and not `sms:write`, only to one number, without `scheduled_at`, `callback_url` and `fallback`; for a member also only to a number of their own call, live or of the last 24 hours, or of a conversation assigned to them.',
  scope: 'sms:send',
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
      name: 'A short link with click counts',
      body: {
        to: '+254711000001',
        from: 'PAMOJA',
        message: 'Oda yako: https://duka.example/orders/4512?from=sms',
        shorten_urls: true,
      },
    },
  ],
  handle: async (app, { body }, caller, keyed) => {
    const { to, scheduled_at, callback_url, fallback } = body
    await requireDealing(app, caller, 'sms:write', { to, more: { scheduled_at, callback_url, fallback } })
    return send(app, body, caller, keyed)
  },
})

const bulkRoute = write({
  method: 'POST',
  path: '/v1/sms/bulk',
  operation: 'sms.sendBulk',
  summary: 'Send many texts in one request',
  description:
    'Each entry is accepted or refused on its own; the balance must cover all of them, or none is accepted. It counts as one request of your plan, and is sent at the rate of the plan.',
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

const estimateRoute = read({
  method: 'POST',
  path: '/v1/sms/estimate',
  operation: 'sms.estimate',
  summary: 'Estimate segments and cost',
  description: 'Takes the body of a send, and replies with its segments and cost. Nothing is stored or charged.',
  scope: 'sms:read',
  body: MessageSend,
  reply: { status: 200, schema: EstimateReply },
  errors: ['INVALID_PHONE', 'MESSAGE_TOO_LONG', 'ENCODING_ERROR', 'SENDER_NOT_ALLOWED', 'COUNTRY_NOT_ENABLED'],
  examples: [{ name: 'A message', body: { to: '+254711000001', from: 'PAMOJA', message: 'Habari “Ada”' } }],
  handle: (app, { body }, caller) => estimate(app, body, caller),
})

/** A text that waits for its time, and can be changed until then. */
const aWaitingText: Need = {
  operation: 'sms.send',
  id: 'message_id',
  body: (nowMs) => ({
    to: '+254711000001',
    from: 'PAMOJA',
    message: 'Habari',
    scheduled_at: new Date(nowMs + hourMs).toISOString(),
  }),
}

const get = read({
  method: 'GET',
  path: '/v1/sms/:id',
  operation: 'sms.get',
  summary: 'Get a text',
  description:
    'Also accepts the id of an inbound message, or of a send to many: then `to` is a list, `counts` has the number of messages by status, and the status is `queued` while one waits, `sent` while one is under way, then `delivered` if any was delivered, else `failed`.',
  scope: 'sms:read',
  params: IdParam,
  reply: { status: 200, schema: Found },
  errors: ['NOT_FOUND'],
  examples: [{ name: 'Progress' }],
  needs: aWaitingText,
  handle: (app, { params }, caller) => readFound(app, params.id, caller),
})

const listRoute = list({
  path: '/v1/sms',
  operation: 'sms.list',
  summary: 'List texts',
  scope: 'sms:read',
  query: MessageList,
  row: MessageRecord,
  errors: ['INVALID_DATE_RANGE'],
  examples: [{ name: 'Failed ones', query: { status: 'failed' } }],
  handle: (app, { query }, caller) => readPage(app, query, caller),
})

const changeRoute = write({
  method: 'PATCH',
  path: '/v1/sms/:id',
  operation: 'sms.change',
  summary: 'Update a scheduled text',
  scope: 'sms:write',
  limit: 'sms',
  params: IdParam,
  body: MessageChange,
  reply: { status: 200, schema: MessageRecord },
  errors: ['NOT_FOUND', 'MESSAGE_NOT_CANCELLABLE', 'ENCODING_ERROR', 'INSUFFICIENT_BALANCE'],
  examples: [{ name: 'Another text', body: { message: 'Tutafunga saa tisa.' } }],
  needs: aWaitingText,
  handle: async (app, tx, { params, body }, caller) =>
    recordOf(await change(app, tx, caller, uuidOf('sms', params.id), body), callersCurrency(caller), caller.nowMs),
})

const cancelling = {
  summary: 'Cancel a scheduled text',
  description:
    'The message becomes failed with CANCELLED, and is refunded. With the id of a batch, all its unsent messages are cancelled.',
  scope: 'sms:write',
  limit: 'sms',
  params: IdParam,
  reply: { status: 200, schema: Found },
  errors: ['NOT_FOUND', 'MESSAGE_NOT_CANCELLABLE'],
  examples: [{ name: 'A scheduled message' }],
  prepare: async (app: App, { params }: { params: { id: string } }, caller: Caller) => {
    const batch = uuidOf('smsBatch', params.id)
    return batch && cancelBatch(app, caller, batch)
  },
  handle: async (
    app: App,
    tx: Tx,
    { params }: { params: { id: string } },
    caller: Caller,
    batch: CancelledBatch | null,
  ) =>
    batch
      ? noteCancelled(tx, caller, batch)
      : recordOf(await cancel(app, tx, caller, uuidOf('sms', params.id)), callersCurrency(caller), caller.nowMs),
} as const

const cancelRoute = write({
  method: 'DELETE',
  path: '/v1/sms/:id',
  operation: 'sms.cancel',
  needs: aWaitingText,
  ...cancelling,
})

const cancelByPost = write({
  method: 'POST',
  path: '/v1/sms/:id/cancel',
  operation: 'sms.cancelByPost',
  needs: aWaitingText,
  ...cancelling,
  summary: 'Cancel a scheduled text by POST',
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
  estimateRoute,
  pricing,
  lookup,
]
