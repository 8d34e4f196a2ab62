// SPDX-License-Identifier: Apache-2.0
// Console session of a request: an HttpOnly, SameSite cookie and, for changes, a CSRF header only a page of this origin
// can know. auth.ts looks the session up.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../kernel/errors.ts'
import type { Environment } from '../tenant.ts'

/** The `__Host-` prefix makes browsers require Secure, path / and this exact host. */
export const sessionCookie = '__Host-pamoja'
const tokenForm = /^[\w-]{43}$/

/** Scopes that need a recent sign-in: keys, outgoing money, team, and operating the installation. */
const confirmedScopes: ReadonlySet<string> = new Set([
  'keys:write',
  'payouts:write',
  'payouts:approve',
  'team:write',
  'operator',
])
const confirmedForMs = 10 * 60_000

/** Session secret of the cookies; null when there is none. */
export function sessionTokenOf({ cookie = '' }: IncomingHttpHeaders): string | null {
  const found = cookie
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${sessionCookie}=`))
    .map((pair) => pair.slice(sessionCookie.length + 1))
  const [token = '', ...others] = found
  return others.length === 0 && tokenForm.test(token) ? token : null
}

/** CSRF token, derived from the secret, so that every node knows it without a lookup. */
export function csrfOf(token: string): string {
  return createHash('sha256').update(`csrf ${token}`).digest('base64url')
}

/** Refuses cross-site requests; reads pass. */
export function refuseForgery(method: string, headers: IncomingHttpHeaders, token: string): void {
  if (method === 'GET' || method === 'HEAD') return
  refuseOtherOrigins(headers)
  const given = Buffer.from(String(headers['x-pamoja-csrf'] ?? ''))
  const expected = Buffer.from(csrfOf(token))
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    throw new AppError('FORBIDDEN', 'X-Pamoja-CSRF is missing or differs from csrf of GET /console/api/session')
}

export function refuseOtherOrigins(headers: IncomingHttpHeaders): void {
  const site = headers['sec-fetch-site']
  const { origin } = headers
  const isOwn = origin === undefined || (URL.canParse(origin) && new URL(origin).host === headers.host)
  if (isOwn && (site === undefined || site === 'same-origin' || site === 'none')) return
  throw new AppError('FORBIDDEN', 'requests from other sites are refused')
}

/** Environment of a session's request; test by default. */
export function environmentOf({ 'pamoja-environment': wanted = 'test' }: IncomingHttpHeaders): Environment {
  if (wanted === 'test' || wanted === 'live') return wanted
  throw new AppError('INVALID_REQUEST', 'Pamoja-Environment must be test or live')
}

/** Refusal of a scope that asks for the password again, when it was entered too long ago; null when it may be used. */
export function confirmationRefusal(
  scope: string,
  method: string,
  signedInAtMs: number | null,
  nowMs: number,
): AppError | null {
  if (signedInAtMs === null || method === 'GET' || !confirmedScopes.has(scope)) return null
  if (nowMs - signedInAtMs <= confirmedForMs) return null
  return new AppError('FORBIDDEN', 'sign in again: this requires a password entered within the last 10 minutes', {
    extra: { confirm: 'password' },
  })
}
