// SPDX-License-Identifier: Apache-2.0
// Routes of opt-outs: entered by the customer here, or by a STOP that came in.
import type { Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { newUuid } from '../../../kernel/ids.ts'
import { isE164, numberInQuery } from '../../../kernel/phone.ts'
import { record } from '../../../platform/api/audit.ts'
import { list, type Route, read, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import type { Tx } from '../../../platform/db.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import { smsEvents } from '../events.ts'
import { PhoneParam } from '../schema.ts'
import { OptOutCreate, OptOutFound, OptOutList, OptOutRecord, OptOutRemoved } from './schema.ts'
import { everySender, insertOptOut, listOptOuts, optOutRecord, optOutsOf, removeOptOuts } from './store.ts'

const create = write({
  method: 'POST',
  path: '/v1/sms/opt-outs',
  operation: 'sms.optOut',
  summary: 'Note that somebody does not want messages',
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
  handle: async (app, tx, { body }, caller) => {
    const { row, isNew } = await insertOptOut(tx, caller.tenant, {
      id: newUuid(caller.receivedMs),
      phone: body.phone,
      sender: body.from ?? everySender,
      reason: body.reason ?? null,
      source: 'api',
      created_at: new Date(caller.nowMs),
    })
    const made = optOutRecord(row)
    if (isNew) {
      await record(tx, caller, 'sms.opt_out', `phone:${body.phone}`, { after: { from: made.from } })
      await app.outbox.emit(tx, smsEvents.optedOut, caller, body.phone, { ...made, message_id: null })
    }
    return made
  },
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
  summary: 'Read the opt-outs of a number',
  scope: 'sms:read',
  params: PhoneParam,
  reply: { status: 200, schema: OptOutFound },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, caller) => {
    const found = isE164(params.phone) ? await optOutsOf(app.db, caller.tenant, params.phone) : []
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
  handle: (app, tx, { params }, caller) => optIn(app, tx, caller, params.phone),
})

async function optIn(app: App, tx: Tx, caller: Caller, phone: string): Promise<Static<typeof OptOutRemoved>> {
  const removed = isE164(phone) ? await removeOptOuts(tx, caller.tenant, phone, null) : []
  if (removed.length === 0) throw notOptedOut()
  for (const row of removed) {
    const { from } = optOutRecord(row)
    await record(tx, caller, 'sms.opt_in', `phone:${phone}`, { before: { from } })
    await app.outbox.emit(tx, smsEvents.optedIn, caller, phone, {
      phone,
      from,
      reason: null,
      source: 'api',
      message_id: null,
      created_at: new Date(caller.nowMs),
    })
  }
  return { id: phone, phone, deleted: true, removed: removed.length }
}

function notOptedOut(): AppError {
  return new AppError('NOT_FOUND', 'this number has not opted out')
}

export const optOutRoutes: readonly Route[] = [create, listAll, get, remove]
