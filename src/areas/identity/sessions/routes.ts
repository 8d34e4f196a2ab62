// SPDX-License-Identifier: Apache-2.0
// Routes of capture sessions.
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { list, type Route, read, write } from '../../../platform/api/route.ts'
import { listQuery } from '../../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import { indexOf } from '../verify/create.ts'
import { createSession, prepareSession } from './create.ts'
import { Session, SessionCreate, sessionStatus } from './schema.ts'
import { endSession, requireSession, sessionOf } from './session.ts'
import { listSessions } from './store.ts'

const SessionParam = Type.Object({ session_id: Type.String({ description: 'Id of the session, such as `ids_…`' }) })

const create = write({
  method: 'POST',
  path: '/v1/identity/sessions',
  operation: 'identity.createSession',
  summary: 'Create a capture session',
  description:
    'Creates a hosted page that captures a document and a face. Pass `url` to the person, show `qr`, or have the link sent with `phone` or `email`. The result is a verification, with its id in `verification_id`.',
  scope: 'identity:write',
  limit: 'identity',
  body: SessionCreate,
  reply: { status: 201, schema: Session, location: ({ session_id }) => `/v1/identity/sessions/${session_id}` },
  errors: [
    ...(['INVALID_DOCUMENT_TYPE', 'INVALID_URL', 'INVALID_PHONE', 'DESTINATION_NOT_ALLOWED'] as const),
    ...(['INSUFFICIENT_BALANCE', 'MAIL_NOT_CONFIGURED'] as const),
  ],
  examples: [
    { name: 'Any document of Kenya', body: { country: 'KE', external_id: 'customer-8812' } },
    {
      name: 'A passport, in Swahili, with a redirect to your site',
      body: { document_types: ['passport'], language: 'sw', redirect_url: 'https://shop.example.com/verified' },
    },
  ],
  prepare: (app, { body }, caller) => prepareSession(app, caller, body),
  handle: (app, tx, { body }, caller, made) => createSession(app, tx, caller, body, made),
})

const get = read({
  method: 'GET',
  path: '/v1/identity/sessions/:session_id',
  operation: 'identity.getSession',
  summary: 'Get a capture session',
  scope: 'identity:read',
  params: SessionParam,
  reply: { status: 200, schema: Session },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant, nowMs }) =>
    sessionOf(app, await requireSession(app.db, tenant, params.session_id), nowMs),
})

const sessions = list({
  path: '/v1/identity/sessions',
  operation: 'identity.listSessions',
  summary: 'List capture sessions',
  scope: 'identity:read',
  query: Type.Object({
    ...listQuery,
    status: Type.Optional(sessionStatus),
    external_id: Type.Optional(Type.String({ maxLength: 128, description: 'Your own id for the person' })),
  }),
  row: Session,
  examples: [{ name: 'Unopened sessions', query: { status: 'created' } }],
  handle: async (app, { query }, caller) => {
    const { tenant, nowMs } = caller
    const window = windowOf(query)
    const subject = indexOf(app, caller, 'subject', query.external_id)
    const asked = { status: query.status ?? null, subject, now: new Date(nowMs) }
    const found = await app.db.query(listSessions, { ...tenant, ...window, ...asked })
    const { rows, nextCursor } = pageOf(window, found, (row) => sessionOf(app, row, nowMs))
    return { rows: await Promise.all(rows), nextCursor }
  },
})

const cancel = write({
  method: 'POST',
  path: '/v1/identity/sessions/:session_id/cancel',
  operation: 'identity.cancelSession',
  summary: 'Cancel a capture session',
  description: 'The page then shows that the session has ended. Submitted pictures are still processed.',
  scope: 'identity:write',
  limit: 'identity',
  params: SessionParam,
  reply: { status: 200, schema: Session },
  errors: ['NOT_FOUND', 'INVALID_STATE'],
  handle: async (app, tx, { params }, caller) => {
    const found = await requireSession(tx, caller.tenant, params.session_id)
    const ended = await endSession(app, tx, caller, found.id, 'cancelled')
    if (!ended) throw new AppError('INVALID_STATE', `a session that is ${found.status} cannot be cancelled`)
    return sessionOf(app, ended, caller.nowMs)
  },
})

export const sessionRoutes: readonly Route[] = [create, sessions, get, cancel]
