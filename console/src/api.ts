// SPDX-License-Identifier: Apache-2.0
// The API as the console calls it: the client of sdk/ by the session's cookie, in the environment that is switched on; and the
// few routes that only the console has.
import { Client, type Page, PamojaError, type Sent } from '#sdk/client.ts'
import { ask } from './asking.ts'

export type Environment = 'test' | 'live'

export interface Session {
  csrf: string
  member: {
    id: string
    email: string
    name: string
    role: string
    /** Scopes of the role in each environment. */
    scopes: Readonly<Record<Environment, readonly string[]>>
    operator: boolean
    totp_enabled: boolean
    /** The account wants a second factor of everybody. */
    totp_required: boolean
  }
  account: { id: string; name: string; country: string; currency: string; timezone: string }
}

/** A list may be long. */
const exportMs = 600_000

let csrf = ''
let currency = ''
let name = ''
let scopes: Session['member']['scopes'] = { test: [], live: [] }
let environment: Environment = localStorage.getItem('pamoja-environment') === 'live' ? 'live' : 'test'

/** Keys of changes whose answer was lost: sent again unchanged, each is done once. */
const lostKeys = new Map<string, string>()
/** Requests that change nothing: an earlier answer would be an old one. */
const asksOnly = /\/(preview|count)$/
/** Refused before the server looked at the key, or while the first request with it is under way. */
const saysNothing = new Set([401, 403, 408, 429])

class OnceClient extends Client {
  override send(method: string, path: string, sent: Sent = {}): Promise<Response> {
    return once(method, path, sent, (own) => super.send(method, path, own))
  }

  override ask(method: string, path: string, sent: Sent = {}): ReturnType<Client['ask']> {
    return once(method, path, sent, (own) => super.ask(method, path, own))
  }
}

/** A change with the key of the same one of which the answer was lost. */
async function once<T>(method: string, path: string, sent: Sent, run: (sent: Sent) => Promise<T>): Promise<T> {
  const { query, body } = sent
  // Files have keys of their own: each request with one is another to the server.
  const isKeyed = path.startsWith('/v1/') && typeof body !== 'string' && !(body instanceof FormData)
  if (method === 'GET' || !isKeyed || asksOnly.test(path)) return run(sent)
  const what = JSON.stringify([environment, method, path, query, body])
  const idempotencyKey = lostKeys.get(what) ?? crypto.randomUUID()
  // Another of the same kind meanwhile, such as a key that is pressed twice, is a change of its own.
  lostKeys.delete(what)
  try {
    return await run({ ...sent, idempotencyKey })
  } catch (error) {
    if (!isAnswer(error)) lostKeys.set(what, idempotencyKey)
    throw error
  }
}

/** Whether a refusal says that the change was not done. */
const isAnswer = (error: unknown): boolean =>
  error instanceof PamojaError &&
  error.status >= 400 &&
  error.status < 500 &&
  !saysNothing.has(error.status) &&
  error.code !== 'REQUEST_IN_PROGRESS'

export const api = new OnceClient({
  baseUrl: '',
  maxRetries: 0,
  headers: ownHeaders,
  fetch: (path, init) => ask(path, init, () => ownHeaders(init.method ?? 'GET')),
})

function ownHeaders(method: string): Record<string, string> {
  return {
    'pamoja-environment': environment,
    ...(method === 'GET' || csrf === '' ? {} : { 'x-pamoja-csrf': csrf }),
  }
}

/** Whether it is done once the password, or the code of an authenticator, is given as well. */
export function wants(error: Error, what: 'password' | 'totp'): boolean {
  return error instanceof PamojaError && error.error.confirm === what
}

/** Whether the member may use a scope in the environment that is switched on; writing includes reading, and all one's own. */
export function may(scope: string): boolean {
  const own = scopes[environment]
  return (
    own.includes('*') ||
    own.includes(scope) ||
    own.includes(scope.replace(/:(read|agent|own|answer|send|request)$/, ':write')) ||
    own.includes(scope.replace(/:own$/, ':read'))
  )
}

/** Currency of the account. */
export const ownCurrency = (): string => currency

/** Name of the account, as its customers read it. */
export const ownName = (): string => name

export const currentEnvironment = (): Environment => environment

export function useEnvironment(wanted: Environment): void {
  environment = wanted
  localStorage.setItem('pamoja-environment', wanted)
}

/** A page of any list, by the path that its operation gives. */
export async function pageAt<Row>(path: string, query: Record<string, string | undefined>): Promise<Page<Row>> {
  return (await api.send('GET', path, { query })).json()
}

/** Whole list as a file that spreadsheets open. */
export async function exported(path: string, query: Record<string, string | undefined>): Promise<Blob> {
  const headers = { accept: 'text/csv' }
  const signal = AbortSignal.timeout(exportMs)
  return (await api.send('GET', path, { query: { ...query, format: 'csv' }, headers, signal })).blob()
}

/** Resource at a path that the server named. */
export async function thingAt<T>(path: string, query: Record<string, string> = {}): Promise<T> {
  return (await (await api.send('GET', path, { query })).json()).data
}

/** Routes of the console itself, whose answers are not wrapped. */
export async function ofConsole<T>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<T> {
  const answer = await api.send(method, `/console/api/${path}`, { body })
  const text = await answer.text()
  return JSON.parse(text === '' ? '{}' : text)
}

/** Member who signed in last with this browser, in whichever tab. */
const signedIn = 'pamoja-member'

let ownId: string | null = null
let isSpeaking = false

/**
 * A cookie is of all tabs: one that shows somebody else’s pages takes those of whoever has signed in since, but cuts off no call
 * that is spoken in it.
 */
function leaveToOther(): void {
  const now = localStorage.getItem(signedIn)
  if (ownId !== null && now !== null && now !== ownId && !isSpeaking) window.location.reload()
}

/** Says whether a call is spoken in this tab. */
export function speaks(is: boolean): void {
  isSpeaking = is
  leaveToOther()
}

/** Takes over the session of an answer. */
export async function enter(asked: Promise<Session>): Promise<Session> {
  const session = await asked
  ownId = session.member.id
  localStorage.setItem(signedIn, ownId)
  window.onstorage = leaveToOther
  csrf = session.csrf
  scopes = session.member.scopes
  currency = session.account.currency
  name = session.account.name
  return session
}

export async function currentSession(): Promise<Session | null> {
  try {
    return await enter(ofConsole<Session>('GET', 'session'))
  } catch (error) {
    if (error instanceof PamojaError && error.status === 401) return null
    throw error
  }
}

export function signIn(email: string, password: string, totp?: string): Promise<Session> {
  return enter(ofConsole<Session>('POST', 'login', { email, password, ...(totp ? { totp } : {}) }))
}

/** Accepts an invitation: choose a password and sign in. */
export function join(invitation: string, password: string): Promise<Session> {
  return enter(ofConsole<Session>('POST', 'invite', { invitation, password }))
}
