// SPDX-License-Identifier: Apache-2.0
// Routes of sessions: start, continue, end, read and list.

import { type Static, Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { idOf } from '../../kernel/ids.ts'
import { numberInQuery } from '../../kernel/phone.ts'
import { list, type Route, read, write } from '../../platform/api/route.ts'
import type { App } from '../../platform/app.ts'
import { statement, type Tx } from '../../platform/db.ts'
import { dayRangeQuery, listQuery, OneOf } from '../../platform/schema/fields.ts'
import { pageOf, shownBounds, windowOf } from '../../platform/schema/lists.ts'
import { mine, type Tenant } from '../../platform/tenant.ts'
import { advanceIn, type Move } from './advance.ts'
import { dataProblem } from './application.ts'
import { releaseOnItsNode, showOnItsNode } from './network/gateways.ts'
import { preparePush, push } from './push.ts'
import { Continue, Continued, End, Initiate, reasons, Send, Sent, SessionRecord } from './schema.ts'
import { isNoticeUnderWay, pagesShown, recordOf, type Session, type SessionRow, sessionOver } from './session.ts'
import { lockedSession, namedSession, openedOf, sessionColumns } from './store.ts'

export const SessionParam = Type.Object({
  session_id: Type.String({ description: 'Id of the session: `uss_…`, or your own one' }),
})

const question = {
  phone: '+254711000020',
  shortcode: '*384*1#',
  message: 'Do you want a loan?\n1 Yes\n2 No',
  session_id: 'sess-1',
  data: { menu: 'loan' },
}

const pushErrors = [
  'INVALID_PHONE',
  'INVALID_SHORTCODE',
  'DATA_TOO_LARGE',
  'INVALID_URL',
  'SHORTCODE_NOT_ALLOWED',
  'DESTINATION_NOT_ALLOWED',
  'INSUFFICIENT_BALANCE',
  'DUPLICATE_SESSION',
  'PROVIDER_UNAVAILABLE',
] as const

/** Session that examples are about. */
export const aSession = { operation: 'ussd.send', id: 'session_id', body: question }

const send = write({
  method: 'POST',
  path: '/v1/ussd/send',
  operation: 'ussd.send',
  summary: 'Start a network-initiated USSD session',
  description:
    'Repeating a session_id with the same body within 24 hours returns the first reply; with another body it is refused.',
  scope: 'ussd:write',
  body: Send,
  reply: { status: 200, schema: Sent },
  errors: pushErrors,
  examples: [{ name: 'A question', body: question }],
  prepare: (app, { body }, caller) => preparePush(app, body, caller),
  handle: (app, tx, { body }, caller, prepared) => push(app, tx, body, caller, prepared),
})

const initiate = write({
  method: 'POST',
  path: '/v1/ussd/initiate',
  operation: 'ussd.initiate',
  summary: 'Start a network-initiated USSD session with a generated id',
  scope: 'ussd:write',
  body: Initiate,
  reply: { status: 200, schema: Sent },
  errors: pushErrors,
  examples: [
    {
      name: 'A notice',
      body: { phone_number: '+254711000020', shortcode: '*384#', message: 'Paid', end_session: true },
    },
  ],
  prepare: (app, { body }, caller) => preparePush(app, body, caller),
  handle: (app, tx, { body }, caller, prepared) => push(app, tx, body, caller, prepared),
})

const goOn = write({
  method: 'POST',
  path: '/v1/ussd/continue',
  operation: 'ussd.continue',
  summary: 'Show the next screen of a USSD session',
  description:
    'Accepted while a request to your application is pending too. In the sandbox it is accepted before the ' +
    'subscriber answers: `input` is then the answer.',
  scope: 'ussd:write',
  body: Continue,
  reply: { status: 200, schema: Continued },
  errors: ['NOT_FOUND', 'SESSION_ENDED', 'SESSION_EXPIRED', 'NO_PENDING_INPUT', 'DATA_TOO_LARGE', 'VALIDATION_ERROR'],
  needs: { operation: 'ussd.send', body: question },
  examples: [
    {
      name: 'Another question',
      body: { session_id: 'sess-1', input: '1', message: 'How much?', data: { wants: 'loan' } },
    },
  ],
  handle: async (app, tx, { body }, { tenant }) => {
    const session = await requireLive(app, tx, tenant, body.session_id)
    if (session.awaiting === 'user' && tenant.environment === 'live')
      throw new AppError('NO_PENDING_INPUT', 'wait for the event ussd.response with the answer to the last screen')
    const { message: text, end_session: ends = false, input } = body
    const data = body.data_merge && body.data ? { ...session.data, ...body.data } : body.data
    const problem = data ? dataProblem(data) : null
    if (problem !== null) throw new AppError('DATA_TOO_LARGE', `with what is stored, ${problem}`)
    const next = await moved(app, tx, session, { kind: 'screen', text, ends, input, data })
    tx.afterCommit(() => shown(app, next))
    return continuedOf(next)
  },
})

function continuedOf(session: Session): Static<typeof Continued> {
  const ends = session.awaiting === 'nobody'
  return {
    status: ends ? 'completed' : 'active',
    message_id: idOf('ussdMessage', session.message),
    session_id: session.session_id,
    phone: session.phone,
    step: session.step,
    input: session.input,
    message: session.screen ?? '',
    end_session: ends,
    data: session.data,
    cost: 0n,
    expires_at: ends ? null : session.expires_at,
    timestamp: session.updated_at,
    screen_pages: pagesShown(session).length,
  }
}

const end = write({
  method: 'POST',
  path: '/v1/ussd/sessions/:session_id/end',
  aliases: ['/v1/ussd/:session_id/end'],
  operation: 'ussd.end',
  summary: 'End a USSD session',
  description:
    'A completed session is left unchanged, and so is a notice in transit, which ends by itself. A session that was never shown is free of charge.',
  scope: 'ussd:write',
  params: SessionParam,
  body: End,
  reply: { status: 200, schema: SessionRecord },
  errors: ['NOT_FOUND', 'SESSION_EXPIRED', 'VALIDATION_ERROR'],
  needs: aSession,
  examples: [
    { name: 'Without a message', body: {} },
    { name: 'With a last screen', body: { message: 'Thank you' } },
  ],
  handle: async (app, tx, { params, body }, { tenant }) => {
    const session = await requireSession(app, tx, tenant, params.session_id)
    if (session.status === 'expired') throw sessionOver(session)
    const { message } = body
    const isOver = session.awaiting === 'nobody' || (message === undefined && isNoticeUnderWay(session))
    if (isOver) return recordOf(session)
    const move: Move =
      message === undefined
        ? { kind: 'end', status: 'completed', reason: 'completed' }
        : { kind: 'screen', text: message, ends: true }
    const next = await moved(app, tx, session, move)
    tx.afterCommit(() => (message === undefined ? released(app, next) : shown(app, next)))
    return recordOf(next)
  },
})

const getSession = read({
  method: 'GET',
  path: '/v1/ussd/sessions/:session_id',
  operation: 'ussd.getSession',
  summary: 'Get a USSD session',
  scope: 'ussd:read',
  params: SessionParam,
  reply: { status: 200, schema: SessionRecord },
  errors: ['NOT_FOUND'],
  needs: aSession,
  examples: [{ name: 'One' }],
  handle: async (app, { params }, { tenant }) => recordOf(await sessionOf(app, tenant, params.session_id)),
})

export async function sessionOf(app: App, tenant: Tenant, sessionId: string): Promise<Session> {
  const session = await namedSession(app, app.db, tenant, storable(sessionId))
  if (!session) throw noSuchSession()
  return session
}

const listSessions = statement.tenant<
  Tenant & {
    from: string
    to: string
    since: Date | null
    until: Date | null
    status: string | null
    phone: string | null
    shortcode: string | null
    reason: string | null
    after: string | null
    descending: boolean
    limit: number
  },
  SessionRow
>(
  'ussd.list_sessions',
  `select ${sessionColumns} from ussd.sessions
    where ${mine} and id >= $from::uuid and id < $to::uuid
      and ($since::timestamptz is null or created_at >= $since) and ($until::timestamptz is null or created_at < $until)
      and ($status::text is null or status = $status) and ($phone::text is null or phone = $phone)
      and ($shortcode::text is null or shortcode = $shortcode) and ($reason::text is null or reason = $reason)
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id limit $limit::int + 1`,
)

const sessions = list({
  path: '/v1/ussd/sessions',
  operation: 'ussd.listSessions',
  summary: 'List USSD sessions',
  scope: 'ussd:read',
  query: Type.Object({
    ...listQuery,
    ...dayRangeQuery,
    status: Type.Optional(
      OneOf(['initiated', 'active', 'completed', 'expired'], {
        description:
          '`initiated` and `active` are in progress; `completed` and `expired` have ended, for the given `reason`',
      }),
    ),
    phone: Type.Optional(
      Type.String({ maxLength: 20, description: 'Full number of the subscriber in E.164, such as +254711000001' }),
    ),
    shortcode: Type.Optional(
      Type.String({
        maxLength: 120,
        description: 'Code exactly as it was dialled, such as `*384#`; # is written %23 in a query',
      }),
    ),
    reason: Type.Optional(OneOf(reasons, { description: 'Reason for the end; leaves out sessions in progress' })),
  }),
  row: SessionRecord,
  errors: ['INVALID_DATE_RANGE'],
  examples: [{ name: 'Expired sessions', query: { status: 'expired' } }],
  handle: async (app, { query }, caller) => {
    const window = windowOf(query)
    const { status = null, shortcode = null, reason = null } = query
    const phone = query.phone === undefined ? null : numberInQuery(query.phone)
    const rows = await app.db.query(listSessions, {
      ...caller.tenant,
      ...shownBounds(query, caller),
      ...{ status, phone, shortcode, reason },
      ...window,
    })
    const opened = await Promise.all(rows.map((row) => openedOf(app, row)))
    return pageOf(window, opened, recordOf)
  },
})

async function requireSession(app: App, tx: Tx, tenant: Tenant, name: string): Promise<Session> {
  const session = await lockedSession(app, tx, tenant, storable(name))
  if (!session) throw noSuchSession()
  return session
}

async function requireLive(app: App, tx: Tx, tenant: Tenant, name: string): Promise<Session> {
  const session = await requireSession(app, tx, tenant, name)
  if (session.awaiting === 'nobody') throw sessionOver(session)
  return session
}

async function moved(app: App, tx: Tx, session: Session, move: Move): Promise<Session> {
  const next = await advanceIn(app, tx, session, move)
  // The row is locked, so no other transition can come first.
  if (!next) throw new Error('a locked session was somewhere else')
  return next
}

function shown(app: App, session: Session): void {
  showOnItsNode(app, session).catch((error) =>
    app.log.warn(
      { error },
      'USSD screen not passed to its node: the waiting node reads it from the database within a second; nothing to do unless this repeats',
    ),
  )
}

function released(app: App, session: Session): void {
  releaseOnItsNode(app, session).catch((error) =>
    app.log.warn(
      { error },
      'USSD dialog not released: the network ends it by its own timer; check the gateway’s connection if this repeats',
    ),
  )
}

/** Removes U+0000, which PostgreSQL cannot store and no session id contains. */
function storable(name: string): string {
  return name.replaceAll('\u0000', '')
}

function noSuchSession(): AppError {
  return new AppError('NOT_FOUND', 'there is no such session')
}

export const sessionRoutes: readonly Route[] = [send, initiate, goOn, sessions, getSession, end]
