// SPDX-License-Identifier: Apache-2.0
// The API as the console calls it: the client of sdk/ by the session's cookie, in the environment that is switched on; and the
// few routes that only the console has.
import { type Page, Pamoja, PamojaError } from '#sdk/client.ts'

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

let csrf = ''
let scopes: Session['member']['scopes'] = { test: [], live: [] }
let environment: Environment = localStorage.getItem('pamoja-environment') === 'live' ? 'live' : 'test'
let onSignedOut: () => void = () => undefined

export const api = new Pamoja({
  baseUrl: '',
  maxRetries: 0,
  headers: (method) => ({
    'pamoja-environment': environment,
    ...(method === 'GET' || csrf === '' ? {} : { 'x-pamoja-csrf': csrf }),
  }),
  fetch: async (path, init) => {
    const answer = await fetch(path, init)
    if (answer.status === 401 && path.startsWith('/v1/')) onSignedOut()
    return answer
  },
})

/** Reason of a refusal, as a sentence. */
export function sentenceOf({ message }: Error): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}${/[.!?]$/.test(message) ? '' : '.'}`
}

/** Whether it is done once the password, or the code of an authenticator, is given as well. */
export function wants(error: Error, what: 'password' | 'totp'): boolean {
  return error instanceof PamojaError && error.error.confirm === what
}

/** Whether the member may use a scope in the environment that is switched on; writing includes reading. */
export function may(scope: string): boolean {
  const own = scopes[environment]
  return own.includes('*') || own.includes(scope) || own.includes(scope.replace(/:read$/, ':write'))
}

export const currentEnvironment = (): Environment => environment

export function useEnvironment(wanted: Environment): void {
  environment = wanted
  localStorage.setItem('pamoja-environment', wanted)
}

/** Called when the server says that the session has ended. */
export function whenSignedOut(then: () => void): void {
  onSignedOut = then
}

/** A page of any list, by the path that its operation gives. */
export async function pageAt<Row>(path: string, query: Record<string, string | undefined>): Promise<Page<Row>> {
  return (await api.send('GET', path, { query })).json()
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

async function entered(asked: Promise<Session>): Promise<Session> {
  const session = await asked
  csrf = session.csrf
  scopes = session.member.scopes
  return session
}

export async function currentSession(): Promise<Session | null> {
  try {
    return await entered(ofConsole<Session>('GET', 'session'))
  } catch (error) {
    if (error instanceof PamojaError && error.status === 401) return null
    throw error
  }
}

export function signIn(email: string, password: string, totp?: string): Promise<Session> {
  return entered(ofConsole<Session>('POST', 'login', { email, password, ...(totp ? { totp } : {}) }))
}

/** Accept an invitation: choose a password and sign in. */
export function join(invitation: string, password: string): Promise<Session> {
  return entered(ofConsole<Session>('POST', 'invite', { invitation, password }))
}
