// SPDX-License-Identifier: Apache-2.0
// Routes of bulks: accept, read, pause, resume, cancel.
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { newUuid, uuidOf } from '../../../kernel/ids.ts'
import { list, read, write } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import type { Queryable, Tx } from '../../../platform/db.ts'
import { listQuery } from '../../../platform/schema/fields.ts'
import { readPage } from '../read.ts'
import { EmailRecord } from '../schema.ts'
import { cancelUnsent } from '../sending/change.ts'
import { acceptBulk, prepareBulk } from './accept.ts'
import { finishBulk, setStatus } from './batches.ts'
import { BulkAccepted, BulkRecord, BulkSend } from './schema.ts'
import { type BulkRow, countsOf, findBulk, lockBulk, recordOf } from './store.ts'

const BulkParam = Type.Object({ bulk_id: Type.String({ description: 'Id of the bulk, such as `emb_…`' }) })
const maxBodyBytes = 20 * 1024 * 1024

const sendBulk = write({
  method: 'POST',
  path: '/v1/email/bulk',
  operation: 'email.sendBulk',
  summary: 'Send an email to up to 10,000 recipients',
  scope: 'email:send',
  limit: 'email',
  body: BulkSend,
  bodyLimitBytes: maxBodyBytes,
  reply: { status: 200, schema: BulkAccepted },
  errors: [
    'INVALID_EMAIL',
    'INVALID_URL',
    'DOMAIN_NOT_VERIFIED',
    'TEMPLATE_NOT_FOUND',
    'TEMPLATE_SYNTAX',
    'ATTACHMENT_TOO_LARGE',
    'ATTACHMENT_BLOCKED',
    'DESTINATION_NOT_ALLOWED',
    'INSUFFICIENT_BALANCE',
    'RATE_LIMIT_EXCEEDED',
  ],
  examples: [
    {
      name: 'A newsletter',
      body: {
        from: 'Shop <news@sandbox.pamoja.test>',
        subject: 'Habari {{name|rafiki}}',
        html: '<p>Karibu, {{email}}</p>',
        recipients: [{ email: 'amina@example.com', name: 'Amina' }, { email: 'juma@example.com' }],
      },
    },
  ],
  prepare: (app, { body }, caller) => prepareBulk(app, body, caller),
  handle: (app, tx, { body }, caller, prepared) => acceptBulk(app, tx, body, caller, prepared),
})

function uuidOfBulk(id: string): string {
  const uuid = uuidOf('emailBulk', id)
  if (!uuid) throw noSuchBulk()
  return uuid
}

function noSuchBulk(): AppError {
  return new AppError('NOT_FOUND', 'there is no such bulk; ids of bulks begin with emb_')
}

async function shown(queryable: Queryable, { tenant }: Caller, row: BulkRow) {
  return recordOf(row, await countsOf(queryable, tenant, row.id))
}

const getBulk = read({
  method: 'GET',
  path: '/v1/email/bulk/:bulk_id',
  operation: 'email.getBulk',
  summary: 'Get a bulk email and its progress',
  scope: 'email:read',
  params: BulkParam,
  reply: { status: 200, schema: BulkRecord },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, caller) => {
    const row = await findBulk(app.db, caller.tenant, uuidOfBulk(params.bulk_id))
    if (!row) throw noSuchBulk()
    return shown(app.db, caller, row)
  },
})

const listMessages = list({
  path: '/v1/email/bulk/:bulk_id/messages',
  operation: 'email.listBulkMessages',
  summary: 'List the messages of a bulk email',
  scope: 'email:read',
  params: BulkParam,
  query: Type.Object(listQuery),
  row: EmailRecord,
  errors: ['NOT_FOUND'],
  handle: async (app, { params, query }, caller) => {
    if (!(await findBulk(app.db, caller.tenant, uuidOfBulk(params.bulk_id)))) throw noSuchBulk()
    return readPage(app, { ...query, bulk_id: params.bulk_id }, caller)
  },
})

type Change = (app: App, tx: Tx, row: BulkRow, caller: Caller) => Promise<BulkRow>

function control(verb: 'pause' | 'resume' | 'cancel', summary: string, change: Change) {
  return write({
    method: 'POST',
    path: `/v1/email/bulk/:bulk_id/${verb}`,
    operation: `email.${verb}Bulk`,
    summary,
    scope: 'email:send',
    limit: 'email',
    params: BulkParam,
    reply: { status: 200, schema: BulkRecord },
    errors: ['NOT_FOUND', 'NOT_CANCELLABLE'],
    handle: async (app, tx, { params }, caller) => {
      const row = await lockBulk(tx, caller.tenant, uuidOfBulk(params.bulk_id))
      if (!row) throw noSuchBulk()
      return shown(tx, caller, await change(app, tx, row, caller))
    },
  })
}

const pause = control('pause', 'Pause a bulk email', async (_app, tx, row, { tenant }) => {
  if (!['scheduled', 'queued', 'sending'].includes(row.status))
    throw new AppError('NOT_CANCELLABLE', `the bulk is ${row.status}`)
  return setStatus(tx, tenant, row, 'paused', 'request')
})

const resume = control('resume', 'Resume a bulk email', async (_app, tx, row, { tenant }) => {
  if (row.status !== 'paused') throw new AppError('NOT_CANCELLABLE', `the bulk is ${row.status}, not paused`)
  // The reason is kept: a bulk resumed by the customer does not pause automatically again.
  return setStatus(tx, tenant, row, 'sending', row.paused_reason === 'request' ? null : row.paused_reason)
})

const cancel = control('cancel', 'Cancel the unsent messages of a bulk email', async (app, tx, row, caller) => {
  if (row.status === 'completed' || row.status === 'cancelled')
    throw new AppError('NOT_CANCELLABLE', `the bulk is ${row.status}`)
  await tx.query(cancelUnsent, {
    ...caller.tenant,
    message: null,
    bulk: row.id,
    transfer: newUuid(caller.receivedMs),
  })
  return finishBulk(app, tx, caller.tenant, row, 'cancelled', caller)
})

export const bulkRoutes = [sendBulk, getBulk, listMessages, pause, resume, cancel]
