// SPDX-License-Identifier: Apache-2.0
// Routes of opt-outs: entered by the customer here, or by a STOP that came in.
import { AppError } from '../../../kernel/errors.ts'
import { isE164, numberInQuery } from '../../../kernel/phone.ts'
import { list, type Route, read, write } from '../../../platform/api/route.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import { PhoneParam } from '../schema.ts'
import { optIn, optOut } from './change.ts'
import { OptOutCreate, OptOutFound, OptOutList, OptOutRecord, OptOutRemoved } from './schema.ts'
import { listOptOuts, optOutRecord, optOutsOf } from './store.ts'

const create = write({
  method: 'POST',
  path: '/v1/sms/opt-outs',
  operation: 'sms.optOut',
  summary: 'Opt a number out',
  scope: 'sms:write',
  limit: 'sms',
  body: OptOutCreate,
  reply: {
    status: 201,
    schema: OptOutRecord,
    location: ({ phone }) => `/v1/sms/opt-outs/${phone}`,
  },
  errors: ['INVALID_PHONE'],
  examples: [{ name: 'An opt-out', body: { phone: '+254711000001', reason: 'asked by phone' } }],
  handle: (app, tx, { body }, caller) => optOut(app, tx, caller, body),
})

const listAll = list({
  path: '/v1/sms/opt-outs',
  operation: 'sms.listOptOuts',
  summary: 'List opt-outs',
  scope: 'sms:read',
  query: OptOutList,
  row: OptOutRecord,
  examples: [{ name: 'All', query: {} }],
  handle: async (app, { query }, caller) => {
    const window = windowOf(query)
    const phone = query.phone === undefined ? null : numberInQuery(query.phone)
    return pageOf(window, await listOptOuts(app.db, caller.tenant, window, phone), optOutRecord)
  },
})

const get = read({
  method: 'GET',
  path: '/v1/sms/opt-outs/:phone',
  operation: 'sms.getOptOut',
  summary: 'Get the opt-outs of a number',
  scope: 'sms:read',
  params: PhoneParam,
  reply: { status: 200, schema: OptOutFound },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, caller) => {
    const found = isE164(params.phone) ? await optOutsOf(app.db, caller.tenant, [params.phone]) : []
    const [first] = found
    if (!first) throw notOptedOut()
    return { ...optOutRecord(first), opt_outs: found.map(optOutRecord) }
  },
})

const remove = write({
  method: 'DELETE',
  path: '/v1/sms/opt-outs/:phone',
  operation: 'sms.optIn',
  summary: 'Remove the opt-outs of a number',
  scope: 'sms:write',
  limit: 'sms',
  params: PhoneParam,
  reply: { status: 200, schema: OptOutRemoved },
  errors: ['NOT_FOUND'],
  handle: async (app, tx, { params: { phone } }, caller) => {
    const removed = isE164(phone) ? await optIn(app, tx, caller, phone) : 0
    if (removed === 0) throw notOptedOut()
    return { id: phone, phone, deleted: true as const, removed }
  },
})

function notOptedOut(): AppError {
  return new AppError('NOT_FOUND', 'this number has not opted out')
}

export const optOutRoutes: readonly Route[] = [create, listAll, get, remove]
