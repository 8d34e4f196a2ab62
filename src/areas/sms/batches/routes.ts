// SPDX-License-Identifier: Apache-2.0
// Routes of a batch: progress, outcomes of its entries, and cancelling the rest.
import type { Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import { IdParam, read, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { callersCurrency } from '../prices/pricing.ts'
import { costOf, errorCodeOf } from '../record.ts'
import type { MessageRow } from '../store.ts'
import { cancelBatch, noSuchBatch, noteCancelled } from './cancel.ts'
import { BatchQuery, BatchRecord } from './schema.ts'
import { batchMessages, findBatch, type Rejection } from './store.ts'

const defaultEntries = 50

export const getBatch = read({
  method: 'GET',
  path: '/v1/sms/bulk/:id',
  operation: 'sms.getBatch',
  summary: 'Get a batch and its progress',
  scope: 'sms:read',
  params: IdParam,
  query: BatchQuery,
  reply: { status: 200, schema: BatchRecord },
  errors: ['NOT_FOUND'],
  examples: [{ name: 'Progress' }, { name: 'Progress and messages', query: { messages: true } }],
  needs: { operation: 'sms.sendBulk', id: 'batch_id' },
  handle: async (app, { params, query }, caller) => {
    const id = uuidOf('smsBatch', params.id)
    const found = id && (await findBatch(app.db, caller.tenant, id))
    if (!id || !found) throw noSuchBatch()
    return query.messages
      ? { ...found.record, ...(await entriesOf(app, caller, id, found.rejections, query)) }
      : found.record
  },
})

export const cancelBatchRoute = write({
  method: 'POST',
  path: '/v1/sms/bulk/:id/cancel',
  operation: 'sms.cancelBatch',
  summary: 'Cancel the unsent texts of a batch',
  scope: 'sms:write',
  limit: 'sms',
  params: IdParam,
  reply: { status: 200, schema: BatchRecord },
  errors: ['NOT_FOUND'],
  examples: [{ name: 'The rest of a batch' }],
  needs: { operation: 'sms.sendBulk', id: 'batch_id' },
  prepare: (app, { params }, caller) => cancelBatch(app, caller, uuidOf('smsBatch', params.id)),
  handle: (_, tx, __, caller, batch) => noteCancelled(tx, caller, batch),
})

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
    throw new AppError('INVALID_REQUEST', 'cursor is invalid')
  const currency = callersCurrency(caller)
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
