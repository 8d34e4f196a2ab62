// SPDX-License-Identifier: Apache-2.0
// Session of the console in a request: a cookie that scripts cannot read and other sites cannot send, and beside it, for
// whatever changes something, a header that only a page of this origin can know. Whose session it is, auth.ts looks up.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../kernel/errors.ts'
import type { Environment } from '../tenant.ts'

/** The prefix makes browsers refuse it unless it is Secure, for every path, and of this very host. */
export const sessionCookie = '__Host-pamoja'
const tokenForm = /^[\w-]{43}$/

/** Scopes for which a member has to have signed in a short while ago: keys, money that leaves, the team, and running the installation. */
const confirmedScopes: ReadonlySet<string> = new Set([
  'keys:write',
  'payouts:write',
  'payouts:approve',
  'team:write',
  'operator',
])
const confirmedForMs = 10 * 60_000

/** The session's secret in the cookies of a request; null when there is none that could be one. */
export function sessionTokenOf({ cookie = '' }: IncomingHttpHeaders): string | null {
  const found = cookie
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${sessionCookie}=`))
    .map((pair) => pair.slice(sessionCookie.length + 1))
  const [token = '', ...others] = found
  return others.length === 0 && tokenForm.test(token) ? token : null
}

/** What a page says back with every change. It follows from the secret, so that every node knows it without asking. */
export function csrfOf(token: string): string {
  return createHash('sha256').update(`csrf ${token}`).digest('base64url')
}

/** Refuses what another site made a browser send; what only reads passes. */
export function refuseForgery(method: string, headers: IncomingHttpHeaders, token: string): void {
  if (method === 'GET' || method === 'HEAD') return
  refuseOtherOrigins(headers)
  const given = Buffer.from(String(headers['x-pamoja-csrf'] ?? ''))
  const expected = Buffer.from(csrfOf(token))
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    throw new AppError('FORBIDDEN', 'X-Pamoja-CSRF is missing or is not the csrf of GET /console/api/session')
}

export function refuseOtherOrigins(headers: IncomingHttpHeaders): void {
  const site = headers['sec-fetch-site']
  const { origin } = headers
  const isOwn = origin === undefined || (URL.canParse(origin) && new URL(origin).host === headers.host)
  if (isOwn && (site === undefined || site === 'same-origin' || site === 'none')) return
  throw new AppError('FORBIDDEN', 'this request was made by a page of another site')
}

/** Which of its account's environments a session's request is about; test unless it says otherwise. */
export function environmentOf({ 'pamoja-environment': wanted = 'test' }: IncomingHttpHeaders): Environment {
  if (wanted === 'test' || wanted === 'live') return wanted
  throw new AppError('INVALID_REQUEST', 'Pamoja-Environment must be test or live')
}

/** Why a session may not use a scope now although its role has it: the password was last given too long ago. */
export function confirmationRefusal(
  scope: string,
  method: string,
  signedInAtMs: number | null,
  nowMs: number,
): AppError | null {
  if (signedInAtMs === null || method === 'GET' || !confirmedScopes.has(scope)) return null
  if (nowMs - signedInAtMs <= confirmedForMs) return null
  return new AppError('FORBIDDEN', 'sign in again: this takes a password that was given within the last 10 minutes', {
    extra: { confirm: 'password' },
  })
}
