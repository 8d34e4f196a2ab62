// SPDX-License-Identifier: Apache-2.0
// Sender ids as customers see them: the names they send under. A live one is approved by an operator, once the networks
// of its countries know it; a test one is approved as it is made.
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import { IdParam, list, type Route, read, write } from '../../../platform/api/route.ts'
import { maybe } from '../../../platform/db.ts'
import { Deleted, listQuery, OneOf } from '../../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import { announcePermission } from './permissions.ts'
import { SenderCreate, SenderRecord, senderStatuses } from './schema.ts'
import {
  checkedCountries,
  deleteSender,
  findSender,
  insertSender,
  noSuchSender,
  selectSenders,
  senderRecord,
  senderUuid,
} from './store.ts'

/** Senders of one account in one environment. */
const maxSenders = 100

const create = write({
  method: 'POST',
  path: '/v1/sms/sender-ids',
  operation: 'sms.createSenderId',
  summary: 'Register a sender id',
  description: 'Live sender ids await the approval of the operator; in the test environment they are approved at once.',
  scope: 'sms:write',
  limit: 'sms',
  body: SenderCreate,
  reply: { status: 201, schema: SenderRecord, location: ({ id }) => `/v1/sms/sender-ids/${id}` },
  errors: ['VALIDATION_ERROR', 'CONFLICT'],
  examples: [
    {
      name: 'A shop',
      body: { sender: 'DUKA', countries: ['KE'], purpose: 'Order updates', sample: 'Your order 77 is on its way.' },
    },
  ],
  handle: async (app, tx, { body }, caller) => {
    const isTest = caller.tenant.environment === 'test'
    const at = new Date(caller.nowMs)
    const row = await maybe(
      tx.query(insertSender, {
        ...caller.tenant,
        id: newUuid(caller.receivedMs),
        sender: body.sender,
        countries: checkedCountries(body.countries ?? []),
        purpose: body.purpose,
        sample: body.sample,
        status: isTest ? 'approved' : 'pending',
        at,
        decidedAt: isTest ? at : null,
        most: maxSenders,
      }),
    )
    if (!row) {
      const all = { status: null, after: null, descending: true, limit: maxSenders }
      const known = await tx.query(selectSenders, { ...caller.tenant, ...all })
      throw new AppError(
        'CONFLICT',
        known.length < maxSenders
          ? `${body.sender} is registered for these countries already: see GET /v1/sms/sender-ids`
          : `you have ${maxSenders} sender ids, which is the most: give one up first`,
      )
    }
    await record(tx, caller, 'sms.create_sender', idOf('smsSender', row.id), { after: { sender: row.sender } })
    if (isTest) await announcePermission(app, tx, caller.tenant.account)
    return senderRecord(row)
  },
})

const listAll = list({
  path: '/v1/sms/sender-ids',
  operation: 'sms.listSenderIds',
  summary: 'List sender ids',
  scope: 'sms:read',
  query: Type.Object({
    ...listQuery,
    status: Type.Optional(
      OneOf(senderStatuses, {
        description: 'Filter by status; `pending` ones await the operator’s decision',
      }),
    ),
  }),
  row: SenderRecord,
  examples: [{ name: 'Pending sender ids', query: { status: 'pending' } }],
  handle: async (app, { query }, { tenant }) => {
    const window = windowOf(query)
    const rows = await app.db.query(selectSenders, { ...tenant, ...window, status: query.status ?? null })
    return pageOf(window, rows, senderRecord)
  },
})

const get = read({
  method: 'GET',
  path: '/v1/sms/sender-ids/:id',
  operation: 'sms.getSenderId',
  summary: 'Get a sender id',
  scope: 'sms:read',
  params: IdParam,
  reply: { status: 200, schema: SenderRecord },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant }) => {
    const row = await maybe(app.db.query(findSender, { ...tenant, id: senderUuid(params.id) }))
    if (!row) throw noSuchSender()
    return senderRecord(row)
  },
})

const remove = write({
  method: 'DELETE',
  path: '/v1/sms/sender-ids/:id',
  operation: 'sms.deleteSenderId',
  summary: 'Delete a sender id',
  scope: 'sms:write',
  limit: 'sms',
  params: IdParam,
  reply: { status: 200, schema: Deleted },
  errors: ['NOT_FOUND'],
  handle: async (app, tx, { params }, caller) => {
    const row = await maybe(tx.query(deleteSender, { ...caller.tenant, id: senderUuid(params.id) }))
    if (!row) throw noSuchSender()
    await record(tx, caller, 'sms.delete_sender', params.id, { before: { sender: row.sender, status: row.status } })
    await announcePermission(app, tx, caller.tenant.account)
    return { id: params.id, deleted: true as const }
  },
})

export const senderRoutes: readonly Route[] = [create, listAll, get, remove]
