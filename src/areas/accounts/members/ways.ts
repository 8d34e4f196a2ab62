// SPDX-License-Identifier: Apache-2.0
// Endpoints of the console for the ways to sign in beside a password: passkeys, and the identity provider of the installation.
import type { IncomingHttpHeaders } from 'node:http'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { uuidOf } from '../../../kernel/ids.ts'
import { type Hook, type HookAnswer, type HookCall, hook, json, redirect, status } from '../../../platform/api/hook.ts'
import type { App } from '../../../platform/app.ts'
import { refuseOtherOrigins, sessionTokenOf } from '../../../platform/auth/console-sessions.ts'
import { bodyIn, entered, foundFor, requireFresh, sessionCookieOf, sessionOf, withCookie } from './hooks.ts'
import { invitationWith } from './invitation.ts'
import { beginOidc, finishOidc, finishWithCode, stepMs } from './oidc.ts'
import { clientOf, OidcRefusal } from './oidc-provider.ts'
import {
  addPasskey,
  beginPasskey,
  beginSignIn,
  type Ceremony,
  dropPasskey,
  passkeysOf,
  relyingParty,
  signInWithPasskey,
} from './passkeys.ts'

const maxBytes = 16_384
const limits = [{ name: 'console', by: 'address', perSecond: 20 }] as const
const beginnings = [...limits, { name: 'sign-in steps', by: 'address', perMinute: 60 }] as const

const ways = hook({
  methods: ['GET'],
  path: '/console/api/ways',
  operation: 'console.ways',
  summary: 'The console asks how members can sign in',
  maxBytes: 1,
  limits,
  async handle(app) {
    return json({ oidc: clientOf(app)?.name ?? null, rp_id: relyingParty(app).rpId })
  },
})

const challenge = hook({
  methods: ['POST'],
  path: '/console/api/passkeys/challenge',
  operation: 'console.passkeyChallenge',
  summary: 'Create a challenge for a sign-in with a passkey',
  maxBytes,
  limits: beginnings,
  async handle(app, call) {
    refuseOtherOrigins(call.headers)
    return json(await beginSignIn(app))
  },
})

const login = hook({
  methods: ['POST'],
  path: '/console/api/passkeys/login',
  operation: 'console.passkeyLogin',
  summary: 'A member signs in with a passkey',
  maxBytes,
  limits,
  async handle(app, call) {
    refuseOtherOrigins(call.headers)
    const body = bodyIn(call)
    const said = { ...ceremonyIn(body), signature: bytesIn(body, 'signature') }
    return entered(app, await signInWithPasskey(app, said, call, sessionTokenOf(call.headers)))
  },
})

const passkeys = hook({
  methods: ['GET', 'POST'],
  path: '/console/api/passkeys',
  operation: 'console.passkeys',
  summary: 'A member lists their passkeys, or begins to make one',
  maxBytes,
  limits,
  async handle(app, call) {
    const own = await foundFor(app, call)
    if (call.method === 'GET') return json(await passkeysOf(app, own))
    requireFresh(own, app.clock.nowMs())
    return json(await beginPasskey(app, own))
  },
})

const confirm = hook({
  methods: ['POST'],
  path: '/console/api/passkeys/confirm',
  operation: 'console.addPasskey',
  summary: 'A member keeps the passkey that their browser made',
  maxBytes,
  limits,
  async handle(app, call) {
    const own = await foundFor(app, call)
    requireFresh(own, app.clock.nowMs())
    const body = bodyIn(call)
    const name = typeof body.name === 'string' ? body.name.trim().slice(0, 60) : ''
    const made = { ...ceremonyIn(body), key: bytesIn(body, 'public_key'), name: name || 'Passkey' }
    await addPasskey(app, own, made, call)
    return status(204)
  },
})

const remove = hook({
  methods: ['DELETE'],
  path: '/console/api/passkeys/:id',
  operation: 'console.removePasskey',
  summary: 'A member removes a passkey of theirs',
  maxBytes,
  limits,
  async handle(app, call) {
    const own = await foundFor(app, call)
    requireFresh(own, app.clock.nowMs())
    const id = uuidOf('passkey', call.params.id)
    if (id === null) throw new AppError('NOT_FOUND', 'you have no such passkey')
    await dropPasskey(app, own, id, call)
    return status(204)
  },
})

/** Holds the secret of a way through the provider; the prefix ties it to this host. */
const stepCookie = '__Host-pamoja-step'

const begin = hook({
  methods: ['GET', 'POST'],
  path: '/console/api/oidc',
  operation: 'console.beginOidc',
  summary: 'Begin a sign-in through the identity provider, accept an invitation by it, or connect it',
  maxBytes,
  limits: beginnings,
  async handle(app, call) {
    try {
      const { url, secret } = await beginOidc(app, call.method === 'POST' ? await whoBegins(app, call) : null)
      return withCookie(call.method === 'POST' ? json({ url }) : redirect(url), stepCookieOf(secret))
    } catch (error) {
      if (call.method === 'GET') return turnedAway(app, error)
      throw error instanceof OidcRefusal
        ? new AppError('PROVIDER_UNAVAILABLE', 'the identity provider cannot be reached', { cause: error })
        : error
    }
  },
})

/** Member whose invitation is accepted; without one, the member who is signed in. */
async function whoBegins(app: App, call: HookCall<object>): Promise<string> {
  refuseOtherOrigins(call.headers)
  const { invitation } = bodyIn(call)
  if (invitation !== undefined) return (await invitationWith(app, invitation)).id
  const own = await foundFor(app, call)
  requireFresh(own, app.clock.nowMs())
  return own.member_id
}

const callback = hook({
  methods: ['GET'],
  path: '/console/api/oidc/callback',
  operation: 'console.finishOidc',
  summary: 'The identity provider sends somebody back who signed in',
  maxBytes: 1,
  limits: beginnings,
  async handle(app, call) {
    const { state, code, iss, error } = call.query
    if (typeof error === 'string') return turnedAway(app, new OidcRefusal(`the provider says ${error.slice(0, 60)}`))
    const sent = { state: String(state ?? ''), code: String(code ?? ''), iss: typeof iss === 'string' ? iss : null }
    try {
      const session = sessionTokenOf(call.headers)
      const member = (await sessionOf(app, session))?.member_id ?? null
      const own = await finishOidc(app, sent, { secret: stepIn(call.headers), session, member }, call)
      if (own.kind === 'connected') return redirect('/console/security#connected')
      if (own.kind === 'step') return withCookie(redirect('/console#code'), stepCookieOf(own.step))
      return withCookie(redirect('/console'), sessionCookieOf(own.token))
    } catch (problem) {
      return turnedAway(app, problem)
    }
  },
})

const code = hook({
  methods: ['POST'],
  path: '/console/api/oidc/code',
  operation: 'console.finishWithCode',
  summary: 'A member gives the code of their authenticator after the identity provider',
  maxBytes,
  limits,
  async handle(app, call) {
    refuseOtherOrigins(call.headers)
    const { totp } = bodyIn(call)
    if (typeof totp !== 'string' || totp.length > 40) throw invalid('totp', 'must be a code of the authenticator')
    return entered(app, await finishWithCode(app, stepIn(call.headers), totp, call, sessionTokenOf(call.headers)))
  },
})

export const wayHooks: readonly Hook[] = [
  ...[ways, challenge, login, passkeys, confirm, remove],
  ...[begin, callback, code],
]

/** The sign-in page again, which says that it did not work; the log says why. */
function turnedAway(app: App, error: unknown): HookAnswer {
  if (!(error instanceof OidcRefusal)) throw error
  app.log.warn({ reason: error.message }, 'sign-in through the identity provider refused')
  return redirect('/console#refused')
}

const stepCookieOf = (secret: string): string =>
  `${stepCookie}=${secret}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=${stepMs / 1000}`

function stepIn({ cookie = '' }: IncomingHttpHeaders): string | null {
  const found = cookie
    .split(';')
    .flatMap((pair) => new RegExp(`^\\s*${stepCookie}=([\\w-]{43})$`).exec(pair)?.[1] ?? [])
  const [secret = null, ...others] = found
  return others.length === 0 ? secret : null
}

function ceremonyIn(body: Readonly<Record<string, unknown>>): Ceremony {
  return {
    credential: bytesIn(body, 'credential'),
    clientData: bytesIn(body, 'client_data'),
    authenticatorData: bytesIn(body, 'authenticator_data'),
  }
}

function bytesIn(body: Readonly<Record<string, unknown>>, name: string): Buffer {
  const value = body[name]
  if (typeof value === 'string' && /^[\w-]{1,8000}$/.test(value)) return Buffer.from(value, 'base64url')
  throw invalid(name, 'must be bytes in base64url')
}
