// SPDX-License-Identifier: Apache-2.0
// Routes of the suppression list.
import { type Static, Type } from 'typebox'
import { parseAddress } from '../../../kernel/email-address.ts'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { parseMoment } from '../../../kernel/time.ts'
import { record } from '../../../platform/api/audit.ts'
import { list, read, write } from '../../../platform/api/route.ts'
import { maybe } from '../../../platform/db.ts'
import { At, Deleted, listQuery, Moment, Nullable, OneOf, timeWindowQuery } from '../../../platform/schema/fields.ts'
import { pageOf, timeWindow, windowOf } from '../../../platform/schema/lists.ts'
import {
  deleteSuppression,
  findSuppression,
  insertSuppressions,
  listSuppressions,
  type SuppressionRow,
} from './store.ts'

const reasons = ['hard_bounce', 'complaint', 'unsubscribe', 'manual'] as const
const maxAtOnce = 1_000

const Suppression = Type.Object(
  {
    id: Type.String({ description: 'Id of the entry' }),
    email: Type.String({ description: 'Suppressed address' }),
    reason: OneOf(reasons, { description: 'Reason for the suppression' }),
    applies_to: OneOf(['all', 'bulk'], {
      description: 'Suppressed mail: all, or only mail that recipients can unsubscribe from',
    }),
    message_id: Nullable(Type.String({ description: 'Id of the message that led to it' })),
    detail: Nullable(Type.String({ description: 'Reply of the other server' })),
    created_at: At({ description: 'Time of the suppression' }),
    expires_at: Nullable(At({ description: 'Expiry time; null for never' })),
  },
  { title: 'EmailSuppression' },
)

function shown(row: SuppressionRow): Static<typeof Suppression> {
  return { ...row, id: idOf('suppression', row.id), message_id: row.message_id && idOf('email', row.message_id) }
}

const EmailParam = Type.Object({ email: Type.String({ description: 'Email address' }) })

const listAll = list({
  path: '/v1/email/suppressions',
  operation: 'email.listSuppressions',
  summary: 'List suppressed addresses',
  scope: 'email:read',
  query: Type.Object({
    ...listQuery,
    ...timeWindowQuery,
    reason: Type.Optional(OneOf(reasons, { description: 'Reason for the suppression; `manual` if added by you' })),
    email: Type.Optional(Type.String({ maxLength: 320, description: 'Full address, case-insensitive' })),
  }),
  row: Suppression,
  errors: ['INVALID_DATE_RANGE'],
  handle: async (app, { query }, caller) => {
    const window = windowOf(query)
    const rows = await app.db.query(listSuppressions, {
      ...caller.tenant,
      ...window,
      ...timeWindow(query),
      reason: query.reason ?? null,
      email: query.email?.toLowerCase() ?? null,
    })
    return pageOf(window, rows, shown)
  },
})

const Address = Type.String({ minLength: 1, maxLength: 320 })

const add = write({
  method: 'POST',
  path: '/v1/email/suppressions',
  operation: 'email.addSuppressions',
  summary: 'Suppress addresses',
  scope: 'email:manage',
  limit: 'email',
  body: Type.Object({
    email: Type.Optional(
      Type.String({ minLength: 1, maxLength: 320, description: 'Email address; this or `emails` is required' }),
    ),
    emails: Type.Optional(
      Type.Array(Address, {
        minItems: 1,
        maxItems: maxAtOnce,
        rule: `must be 1 to ${maxAtOnce} addresses`,
        description: 'Several addresses at once',
      }),
    ),
    reason: Type.Optional(OneOf(reasons, { description: 'Reason for the suppression; default `manual`' })),
    applies_to: Type.Optional(
      OneOf(['all', 'bulk'], {
        description:
          'Mail to suppress: all, or only mail that recipients can unsubscribe from; default `all` unless the reason is `unsubscribe`',
      }),
    ),
    expires_at: Type.Optional(Moment({ description: 'End of the suppression; default never' })),
  }),
  reply: {
    status: 201,
    schema: Type.Object(
      {
        added: Type.Integer({ description: 'Addresses added to the list' }),
        existing: Type.Integer({ description: 'Addresses that were already on the list' }),
      },
      { title: 'EmailSuppressionsAdded' },
    ),
    location: () => '/v1/email/suppressions',
  },
  errors: ['INVALID_EMAIL'],
  examples: [{ name: 'One address', body: { email: 'nobody@example.com' } }],
  handle: async (_app, tx, { body }, caller) => {
    const given = [...(body.email === undefined ? [] : [body.email]), ...(body.emails ?? [])]
    if (given.length === 0) throw new AppError('VALIDATION_ERROR', 'email or emails is required')
    const emails = [...new Set(given.map((text, i) => addressed(text, i)))]
    const { reason = 'manual', applies_to = reason === 'unsubscribe' ? 'bulk' : 'all' } = body
    const rows = await tx.query(insertSuppressions, {
      ...caller.tenant,
      ids: emails.map(() => newUuid(caller.receivedMs)),
      emails,
      reason,
      appliesTo: applies_to,
      detail: null,
      at: new Date(caller.nowMs),
      expiresAt: body.expires_at === undefined ? null : parseMoment(body.expires_at),
    })
    await record(tx, caller, 'email_suppression.create', 'email_suppressions', { after: { added: rows.length } })
    return { added: rows.length, existing: emails.length - rows.length }
  },
})

function addressed(text: string, index: number): string {
  const parsed = parseAddress(text.trim())
  if (!parsed) throw new AppError('INVALID_EMAIL', `emails[${index}] is not an address such as amina@shop.example`)
  return parsed.address.toLowerCase()
}

const get = read({
  method: 'GET',
  path: '/v1/email/suppressions/:email',
  needs: { operation: 'email.listSuppressions', id: 'data.0.email', after: { operation: 'email.addSuppressions' } },
  operation: 'email.getSuppression',
  summary: 'Get a suppressed address',
  scope: 'email:read',
  params: EmailParam,
  reply: { status: 200, schema: Suppression },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, caller) => {
    const row = await maybe(app.db.query(findSuppression, { ...caller.tenant, email: params.email.toLowerCase() }))
    if (!row) throw new AppError('NOT_FOUND', 'the address is not on the list')
    return shown(row)
  },
})

const remove = write({
  method: 'DELETE',
  path: '/v1/email/suppressions/:email',
  needs: { operation: 'email.listSuppressions', id: 'data.0.email', after: { operation: 'email.addSuppressions' } },
  operation: 'email.deleteSuppression',
  summary: 'Remove an address from the suppression list',
  scope: 'email:manage',
  limit: 'email',
  params: EmailParam,
  query: Type.Object({
    confirm: Type.Optional(Type.Boolean({ description: 'Required for an address that complained' })),
  }),
  reply: { status: 200, schema: Deleted },
  errors: ['NOT_FOUND'],
  handle: async (_app, tx, { params, query }, caller) => {
    const row = await maybe(tx.query(deleteSuppression, { ...caller.tenant, email: params.email.toLowerCase() }))
    if (!row) throw new AppError('NOT_FOUND', 'the address is not on the list')
    if (row.reason === 'complaint' && query.confirm !== true)
      throw new AppError(
        'VALIDATION_ERROR',
        'the recipient called a message spam: repeat it with confirm=true if they want mail again',
      )
    await record(tx, caller, 'email_suppression.delete', idOf('suppression', row.id), {
      before: { reason: row.reason },
    })
    return { id: idOf('suppression', row.id), deleted: true as const }
  },
})

export const suppressionRoutes = [listAll, add, get, remove]
