// SPDX-License-Identifier: Apache-2.0
// Endpoints of the console alone: signing in and out, the signed-in member, and their other sessions. For everything
// else the console uses the API that customers have.
import { AppError, invalid } from '../../../kernel/errors.ts'
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import { type Hook, type HookAnswer, type HookCall, hook, json, jsonOf, status } from '../../../platform/api/hook.ts'
import type { App } from '../../../platform/app.ts'
import {
  confirmationRefusal,
  csrfOf,
  refuseForgery,
  refuseOtherOrigins,
  sessionCookie,
  sessionTokenOf,
} from '../../../platform/auth/console-sessions.ts'
import { hashOf } from '../../../platform/auth.ts'
import { maybe } from '../../../platform/db.ts'
import { scopesOf } from '../roles.ts'
import { invitationOver, invitationWith } from './invitation.ts'
import { askForReset, noSuchReset, resetPassword } from './reset.ts'
import { endings, longestMs } from './session.ts'
import { signIn, takeUp } from './sign-in.ts'
import { endSession, listSessions, type SessionRow, useSession } from './store.ts'
import { beginFactor, confirmFirst, dropFactor } from './totp.ts'

const maxBytes = 4_096
const leastPassword = 10
const limits = [{ name: 'console', by: 'address', perSecond: 20 }] as const
const attributes = 'Path=/; Secure; HttpOnly; SameSite=Lax'

const login = hook({
  methods: ['POST'],
  path: '/console/api/login',
  operation: 'console.login',
  summary: 'A member signs in to the console',
  maxBytes,
  limits,
  async handle(app, call) {
    refuseOtherOrigins(call.headers)
    const { email, password, code } = credentialsIn(call)
    return entered(app, await signIn(app, email, password, code, call, sessionTokenOf(call.headers)))
  },
})

/** The session of a new cookie, which goes with it. */
export async function entered(app: App, token: string): Promise<HookAnswer> {
  return withCookie(json(bootstrap(await found(app, token), token)), sessionCookieOf(token))
}

export const sessionCookieOf = (token: string): string =>
  `${sessionCookie}=${token}; ${attributes}; Max-Age=${longestMs / 1000}`

const session = hook({
  methods: ['GET'],
  path: '/console/api/session',
  operation: 'console.session',
  summary: 'The console asks who is signed in',
  maxBytes: 1,
  limits,
  async handle(app, call) {
    const token = sessionTokenOf(call.headers)
    return json(bootstrap(await found(app, token), token ?? ''))
  },
})

const logout = hook({
  methods: ['POST'],
  path: '/console/api/logout',
  operation: 'console.logout',
  summary: 'A member signs out of the console',
  maxBytes,
  limits,
  async handle(app, call) {
    const own = await foundFor(app, call)
    await end(app, own, own.id)
    return withCookie(status(204), `${sessionCookie}=; ${attributes}; Max-Age=0`)
  },
})

const sessions = hook({
  methods: ['GET'],
  path: '/console/api/sessions',
  operation: 'console.sessions',
  summary: 'A member sees where they are signed in',
  maxBytes: 1,
  limits,
  async handle(app, call) {
    const own = await foundFor(app, call)
    const rows = await app.db.query(listSessions, { member: own.member_id, ...endings(app.clock.nowMs()) })
    const data = rows.map(({ id, ...row }) => ({ id: idOf('session', id), ...row, is_current: id === own.id }))
    return json({ data })
  },
})

const revoke = hook({
  methods: ['DELETE'],
  path: '/console/api/sessions/:id',
  operation: 'console.endSession',
  summary: 'A member ends a session of theirs',
  maxBytes,
  limits,
  async handle(app, call) {
    const own = await foundFor(app, call)
    const id = uuidOf('session', call.params.id)
    if (id === null || !(await end(app, own, id))) throw new AppError('NOT_FOUND', 'you have no such session')
    return status(204)
  },
})

const join = hook({
  methods: ['POST'],
  path: '/console/api/invite',
  operation: 'console.takeInvitation',
  summary: 'Read an invitation, or accept it with a password',
  maxBytes,
  limits,
  async handle(app, call) {
    refuseOtherOrigins(call.headers)
    const { invitation, password } = bodyIn(call)
    if (password === undefined) {
      const { email, role, account_name: account } = await invitationWith(app, invitation)
      return json({ email, role, account })
    }
    if (typeof invitation !== 'string' || !/^[\w-]{43}$/.test(invitation)) throw invitationOver()
    return entered(app, await takeUp(app, invitation, chosen(password), call))
  },
})

const reset = hook({
  methods: ['POST'],
  path: '/console/api/reset',
  operation: 'console.resetPassword',
  summary: 'Request or complete a password reset',
  maxBytes,
  limits: [...limits, { by: 'address', perMinute: 20 }],
  async handle(app, call) {
    refuseOtherOrigins(call.headers)
    const { email, reset: secret, password } = bodyIn(call)
    if (secret === undefined) {
      await askForReset(app, addressIn(email))
      // The reply does not say whether the address is known.
      return status(202)
    }
    if (typeof secret !== 'string' || !/^[\w-]{43}$/.test(secret)) throw noSuchReset()
    await resetPassword(app, secret, chosen(password), call)
    return status(204)
  },
})

function chosen(password: unknown): string {
  if (typeof password === 'string' && password.length >= leastPassword && password.length <= 200) return password
  throw invalid('password', `must have ${leastPassword} to 200 characters`)
}

const secondFactors = hook({
  methods: ['POST', 'DELETE'],
  path: '/console/api/totp',
  operation: 'console.secondFactor',
  summary: 'A member begins or gives up a second factor',
  maxBytes,
  limits,
  async handle(app, call) {
    const own = await foundFor(app, call)
    requireFresh(own, app.clock.nowMs())
    if (call.method === 'POST') return json(await beginFactor(app, own))
    await dropFactor(app, own, call)
    return status(204)
  },
})

const confirmFactor = hook({
  methods: ['POST'],
  path: '/console/api/totp/confirm',
  operation: 'console.confirmSecondFactor',
  summary: 'A member shows that the second factor works, and gets recovery codes',
  maxBytes,
  limits,
  async handle(app, call) {
    const own = await foundFor(app, call)
    requireFresh(own, app.clock.nowMs())
    const { code } = bodyIn(call)
    return json(await confirmFirst(app, own, typeof code === 'string' ? code : '', call))
  },
})

export const memberHooks: readonly Hook[] = [
  ...[login, session, logout, sessions, revoke, join, reset],
  ...[secondFactors, confirmFactor],
]

export function requireFresh({ signed_in_at }: SessionRow, nowMs: number): void {
  const refusal = confirmationRefusal('team:write', 'POST', signed_in_at.getTime(), nowMs)
  if (refusal) throw refusal
}

/** Facts that a page needs before its first request. */
function bootstrap(row: SessionRow, token: string): object {
  return {
    csrf: csrfOf(token),
    member: {
      id: idOf('member', row.member_id),
      email: row.email,
      name: row.member_name,
      role: row.role,
      scopes: { test: scopesOf(row.role, 'test'), live: scopesOf(row.role, 'live') },
      operator: row.operator && row.operates,
      totp_enabled: row.totp_enabled,
      totp_required: row.totp_required,
    },
    account: {
      id: idOf('account', row.account_id),
      name: row.account_name,
      country: row.country,
      currency: row.currency,
      timezone: row.timezone,
    },
    signed_in_at: row.signed_in_at,
  }
}

export async function foundFor(
  app: App,
  { method, headers }: Pick<HookCall, 'method' | 'headers'>,
): Promise<SessionRow> {
  const token = sessionTokenOf(headers)
  if (token !== null) refuseForgery(method, headers, token)
  return found(app, token)
}

/** Session of a cookie; null when there is none, or it is over. */
export async function sessionOf(app: App, token: string | null): Promise<SessionRow | null> {
  const nowMs = app.clock.nowMs()
  const asked = { hash: hashOf(token ?? ''), now: new Date(nowMs), ...endings(nowMs) }
  return token === null ? null : maybe(app.db.query(useSession, asked))
}

async function found(app: App, token: string | null): Promise<SessionRow> {
  const row = await sessionOf(app, token)
  if (!row) throw new AppError('UNAUTHORIZED', 'no session: sign in with POST /console/api/login')
  return row
}

/** Ends it on every node, which may remember it. */
async function end(app: App, { member_id, account_id }: SessionRow, id: string): Promise<boolean> {
  return app.db.homeTx(async (tx) => {
    const ended = await maybe(tx.query(endSession, { member: member_id, id }))
    if (ended) await app.signals.send(tx, 'accounts', account_id)
    return ended !== null
  })
}

export function bodyIn(call: Pick<HookCall, 'headers' | 'bytes'>): Readonly<Record<string, unknown>> {
  // A form of another site can send other types without asking first.
  if (!/^application\/json\b/i.test(call.headers['content-type'] ?? ''))
    throw new AppError('INVALID_REQUEST', 'send JSON, with the Content-Type application/json')
  return Object(jsonOf(call))
}

interface SigningIn {
  email: string
  password: string
  code: string | null
}

function credentialsIn(call: Pick<HookCall, 'headers' | 'bytes'>): SigningIn {
  const { email, password, totp } = bodyIn(call)
  if (typeof password !== 'string' || password.length === 0 || password.length > 200)
    throw invalid('password', 'must have 1 to 200 characters')
  if (totp !== undefined && (typeof totp !== 'string' || totp.length > 40))
    throw invalid('totp', 'must be a code of the authenticator, or a recovery code')
  return { email: addressIn(email), password, code: totp ?? null }
}

function addressIn(email: unknown): string {
  if (typeof email !== 'string' || email.length > 254 || !/^[^\s@]+@[^\s@]+$/.test(email))
    throw invalid('email', 'must be an email address')
  return email.toLowerCase()
}

export function withCookie(answer: HookAnswer, cookie: string): HookAnswer {
  return { ...answer, headers: { ...answer.headers, 'set-cookie': cookie } }
}
