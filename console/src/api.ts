// SPDX-License-Identifier: Apache-2.0
// The API as the console calls it: the ordinary routes, by the session's cookie, in the environment that is switched on.
// Every refusal comes as an ApiError with the words of the server.

export type Environment = 'test' | 'live'

export interface Session {
  csrf: string
  member: { id: string; email: string; name: string; role: string; operator: boolean; totp_enabled: boolean }
  account: { id: string; name: string; country: string; currency: string; timezone: string }
}

export interface Page<Row> {
  rows: Row[]
  nextCursor: string | null
}

export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly requestId: string
  /** The password has to be given again before this is done. */
  readonly wantsPassword: boolean
  /** The code of an authenticator has to be given as well. */
  readonly wantsCode: boolean
  readonly retryAfterSeconds: number | null

  constructor(status: number, body: unknown, retryAfter: string | null) {
    const { code = 'UNREACHABLE', details, message, confirm } = Object(Object(body).error)
    super(sentence(details ?? message ?? 'The server did not answer as expected.'))
    this.status = status
    this.code = code
    this.requestId = String(Object(body).request_id ?? '')
    this.wantsPassword = confirm === 'password'
    this.wantsCode = confirm === 'totp'
    this.retryAfterSeconds = retryAfter === null ? null : Number(retryAfter)
  }
}

function sentence(words: unknown): string {
  const text = typeof words === 'string' ? words : JSON.stringify(words)
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`
}

let csrf = ''
let environment: Environment = localStorage.getItem('pamoja-environment') === 'live' ? 'live' : 'test'
let onSignedOut: () => void = () => undefined

export const currentEnvironment = (): Environment => environment

export function useEnvironment(wanted: Environment): void {
  environment = wanted
  localStorage.setItem('pamoja-environment', wanted)
}

/** Called when the server says that nobody is signed in any more. */
export function whenSignedOut(then: () => void): void {
  onSignedOut = then
}

function adopt(session: Session): Session {
  csrf = session.csrf
  return session
}

export async function get<T>(path: string, query: Record<string, string | undefined> = {}): Promise<T> {
  return (await request<{ data: T }>('GET', withQuery(path, query))).data
}

export async function list<Row>(path: string, query: Record<string, string | undefined> = {}): Promise<Page<Row>> {
  const { data, next_cursor } = await request<{ data: Row[]; next_cursor: string | null }>(
    'GET',
    withQuery(path, query),
  )
  return { rows: data, nextCursor: next_cursor }
}

export async function post<T>(path: string, body: object): Promise<T> {
  return (await request<{ data: T }>('POST', path, body)).data
}

export async function patch<T>(path: string, body: object): Promise<T> {
  return (await request<{ data: T }>('PATCH', path, body)).data
}

export async function remove(path: string): Promise<void> {
  await request('DELETE', path)
}

export async function currentSession(): Promise<Session | null> {
  const response = await fetch('/console/api/session', { headers: { accept: 'application/json' } })
  if (response.status === 401) return null
  return adopt(await answerOf<Session>(response))
}

export async function signIn(email: string, password: string, totp?: string): Promise<Session> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ email, password, ...(totp ? { totp } : {}) })
  return adopt(await answerOf<Session>(await fetch('/console/api/login', { method: 'POST', headers, body })))
}

/** Whoever was invited chooses a password, and is signed in. */
export async function join(invitation: string, password: string): Promise<Session> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ invitation, password })
  return adopt(await answerOf<Session>(await fetch('/console/api/invite', { method: 'POST', headers, body })))
}

/** Routes of the console itself, whose answers are not wrapped. */
export function ofConsole<T>(method: 'POST' | 'DELETE', path: string, body?: object): Promise<T> {
  return request<T>(method, `/console/api/${path}`, body)
}

export async function signOut(): Promise<void> {
  await fetch('/console/api/logout', { method: 'POST', headers: { 'x-pamoja-csrf': csrf } })
}

/** For what is read as it comes. */
export function openStream(path: string, signal: AbortSignal, lastEventId: string | null): Promise<Response> {
  const resume = lastEventId === null ? {} : { 'last-event-id': lastEventId }
  return fetch(path, { signal, headers: { 'pamoja-environment': environment, ...resume } })
}

async function request<T>(method: string, path: string, body?: object): Promise<T> {
  const headers: Record<string, string> = { accept: 'application/json', 'pamoja-environment': environment }
  if (method !== 'GET') headers['x-pamoja-csrf'] = csrf
  if (body) headers['content-type'] = 'application/json'
  const response = await fetch(path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
  if (response.status === 401) onSignedOut()
  return answerOf<T>(response)
}

async function answerOf<T>(response: Response): Promise<T> {
  const body = response.status === 204 ? {} : await response.json().catch(() => null)
  if (!response.ok) throw new ApiError(response.status, body, response.headers.get('retry-after'))
  return body
}

function withQuery(path: string, query: Record<string, string | undefined>): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => !!entry[1])
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

export interface MemberSession {
  id: string
  signed_in_at: string
  seen_at: string
  ip: string
  user_agent: string
  is_current: boolean
}

export async function sessionsOfMember(): Promise<MemberSession[]> {
  return get<MemberSession[]>('/console/api/sessions')
}
