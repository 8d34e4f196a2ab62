// SPDX-License-Identifier: Apache-2.0
// Hook: an endpoint outside /v1 without a key, for callbacks of carriers and providers and for people who follow a
// link. It takes any content type and the raw body, so that signatures can be checked. A hook declares its size and
// rate limits; guessing secrets in URLs is limited for all of them.
import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '../../kernel/errors.ts'
import type { Id } from '../../kernel/ids.ts'
import type { App } from '../app.ts'
import type { Download } from './download.ts'
import { parseJson } from './json.ts'

type HookMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'

/** Request to a hook. */
export interface HookCall<P = Readonly<Record<string, string>>> {
  readonly method: string
  /** Path and query as requested. */
  readonly url: string
  readonly params: P
  readonly query: Readonly<Record<string, unknown>>
  readonly headers: IncomingHttpHeaders
  /** Raw body; empty when there was none. */
  readonly bytes: Buffer
  readonly ip: string
  readonly requestId: Id<'request'>
  readonly receivedMs: number
  /** Aborted when the client disconnects. */
  gone(): AbortSignal
}

export interface HookAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer | null
}

/** `cut` closes the connection without a reply. */
type Answered = HookAnswer | Download | 'cut'

interface HookLimit {
  /** Name of a limit shared with other hooks; by default its own operation. */
  readonly name?: string
  /** Counting key: the IP address, or a parameter, such as the secret in the path. */
  readonly by: string
  readonly perMinute?: number
  readonly perSecond?: number
}

/** Page loads per IP address over all areas: enough for an office. */
export const pagesPerAddress: HookLimit = { name: 'pages', by: 'address', perSecond: 50 }

interface Declaration<P> {
  readonly methods: readonly HookMethod[]
  /** Path outside /v1, with `:name` for parameters. HEAD is served where listed. */
  readonly path: string
  /** Operation `area.verb`: log field and metric label. */
  readonly operation: string
  /** Caller and purpose, in a sentence. */
  readonly summary: string
  /** Body size limit in bytes. */
  readonly maxBytes: number
  readonly limits: readonly HookLimit[]
  handle(app: App, call: HookCall<P>): Promise<Answered>
  /** Error page for people; programs get JSON. */
  refused?(app: App, call: HookCall, error: AppError): HookAnswer
}

export type Hook = Declaration<never>

/** Parameters of a path. */
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

/** URLs in any script are encoded for the header. */
export function redirect(url: string, status: 302 | 303 = 303): HookAnswer {
  const location = url.startsWith('/') ? url : new URL(url).href
  return { status, headers: { location, 'referrer-policy': 'no-referrer' }, body: null }
}

/** Reply without a body. */
export function status(code: number): HookAnswer {
  return { status: code, headers: {}, body: null }
}

export function formOf({ bytes }: Pick<HookCall, 'bytes'>): URLSearchParams {
  return new URLSearchParams(bytes.toString())
}

/** JSON body; null when invalid. */
export function jsonOf({ bytes }: Pick<HookCall, 'bytes'>): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return null
  }
}

/**
 * Fields of a JSON or form body, else of the query, as an object. `secret` is a field that authenticates the caller and
 * is left out.
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
