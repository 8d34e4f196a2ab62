// SPDX-License-Identifier: Apache-2.0
// An address outside /v1, for those who have no key: carriers and providers that call back, and people who follow a link.
// Any content type is taken and the body is kept as it came, so that signatures can be checked. A hook says how large a
// body may be and how often it may be called; guessing at the secrets in addresses is limited for all of them alike.
import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../kernel/errors.ts'
import type { Id } from '../kernel/ids.ts'
import type { App } from './app.ts'
import type { Download } from './http/download.ts'
import { parseJson } from './http/json.ts'

type HookMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'

/** A call of a hook. */
export interface HookCall<P = Readonly<Record<string, string>>> {
  readonly method: string
  /** Path and query as they were called. */
  readonly url: string
  readonly params: P
  readonly query: Readonly<Record<string, unknown>>
  readonly headers: IncomingHttpHeaders
  /** The body, byte for byte; empty when there was none. */
  readonly bytes: Buffer
  readonly ip: string
  readonly requestId: Id<'request'>
  readonly receivedMs: number
  /** Aborted when the caller does not wait for the answer any more. */
  gone(): AbortSignal
}

export interface HookAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer | null
}

/** `cut` ends the connection without an answer. */
type Answered = HookAnswer | Download | 'cut'

interface HookLimit {
  /** Counted together with the limits of other hooks that have the same name; by itself under its operation. */
  readonly name?: string
  /** What is counted: calls from one address, or with one value of a parameter, such as the secret in the path. */
  readonly by: string
  readonly perMinute?: number
  readonly perSecond?: number
}

/** What one address may load of the pages that people are sent to, of all areas: a household or an office, not a flood. */
export const pagesPerAddress: HookLimit = { name: 'pages', by: 'address', perSecond: 50 }

interface Declaration<P> {
  readonly methods: readonly HookMethod[]
  /** Outside /v1, with `:name` for parameters. HEAD is answered where it is listed. */
  readonly path: string
  /** `area.verb`: log field and metric label. */
  readonly operation: string
  /** Who calls it, and why. */
  readonly summary: string
  /** Bytes that a body may have. */
  readonly maxBytes: number
  readonly limits: readonly HookLimit[]
  handle(app: App, call: HookCall<P>): Promise<Answered>
  /** How people are told of a refusal; programs are told in JSON. */
  refused?(app: App, call: HookCall, error: AppError): HookAnswer
}

export type Hook = Declaration<never>

/** The parameters that a path names. */
type ParamsOf<Path extends string> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? { readonly [N in Name]: string } & ParamsOf<`/${Rest}`>
  : Path extends `${string}/:${infer Name}`
    ? { readonly [N in Name]: string }
    : object

export function hook<Path extends string>(declaration: Declaration<ParamsOf<Path>> & { path: Path }): Hook {
  return declaration
}

export function text(words: string, status = 200): HookAnswer {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }
  return { status, headers, body: words }
}

export function json(value: object, status = 200): HookAnswer {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body: JSON.stringify(value) }
}

/** A URL of any alphabet is written as a header can carry it. */
export function redirect(url: string, status: 302 | 303 = 303): HookAnswer {
  const location = url.startsWith('/') ? url : new URL(url).href
  return { status, headers: { location, 'referrer-policy': 'no-referrer' }, body: null }
}

/** An answer that has no body. */
export function status(code: number): HookAnswer {
  return { status: code, headers: {}, body: null }
}

export function formOf({ bytes }: Pick<HookCall, 'bytes'>): URLSearchParams {
  return new URLSearchParams(bytes.toString())
}

/** Null when the body is no JSON. */
export function jsonOf({ bytes }: Pick<HookCall, 'bytes'>): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return null
  }
}

/**
 * The body as JSON or as a form, else the query: the fields of either are read like the members of an object. `secret` is the
 * name of a field that shows who calls, and says nothing.
 */
export function fieldsOf(
  { query, headers, bytes }: Pick<HookCall, 'query' | 'headers' | 'bytes'>,
  secret = '',
): unknown {
  if (bytes.length === 0) return lastOfEach(Object.entries(query), secret)
  const type = headers['content-type'] ?? ''
  if (/json/i.test(type) || (!/form-urlencoded/i.test(type) && /^\s*[[{]/.test(bytes.toString('latin1', 0, 64))))
    return parseJson(bytes).value
  return lastOfEach(new URLSearchParams(bytes.toString()), secret)
}

function lastOfEach(fields: Iterable<[string, unknown]>, secret: string): Record<string, unknown> {
  const content: Record<string, unknown> = Object.create(null)
  for (const [name, value] of fields) {
    const last = Array.isArray(value) ? value.at(-1) : value
    if (typeof last === 'string' && last.includes('\u0000'))
      throw new AppError('INVALID_REQUEST', 'a field contains the character U+0000')
    if (name !== secret) content[name] = last
  }
  return content
}
