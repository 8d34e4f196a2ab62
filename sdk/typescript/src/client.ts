// SPDX-License-Identifier: Apache-2.0
// Client of the API for programs and pages: says who asks, tries again what may be tried again, and turns refusals into errors.
// No dependencies: anything with `fetch` runs it. operations.ts has a function for every route on top of it, and pamoja.ts the
// areas of a client.
import { PamojaError, refusalOf, unanswered } from './errors.ts'
import { debugLine, type Fetch, fetchTrusting, setting, userAgent } from './runtime.ts'
import { version } from './version.ts'

export { PamojaError }

/** Options of a client; `PAMOJA_BASE_URL`, `PAMOJA_API_KEY` and `PAMOJA_CA_FILE` stand in for the first three. */
export interface Options {
  /** Such as https://localhost:8443. */
  readonly baseUrl?: string
  readonly apiKey?: string
  /** Certificates to trust, in a PEM file; not in browsers. */
  readonly caFile?: string
  /** Headers of every request beside those; asked for each time. */
  readonly headers?: (method: string) => Readonly<Record<string, string>>
  readonly fetch?: Fetch
  /** Milliseconds for each attempt. */
  readonly timeout?: number
  /** Attempts after the first, where nothing answered or the answer says to come again. */
  readonly maxRetries?: number
  /** Name and version of your program, told to the server as `Pamoja-Client`. */
  readonly appInfo?: { readonly name: string; readonly version?: string }
  /** Called before each attempt; it never sees the key. */
  readonly onRequest?: (request: RequestLog) => void
  readonly onResponse?: (response: ResponseLog) => void
  /** Replaces the pauses between attempts, for tests. */
  readonly sleep?: (ms: number) => Promise<void>
}

/** Options of one call. */
export interface RequestOptions {
  readonly idempotencyKey?: string
  readonly timeout?: number
  readonly maxRetries?: number
  readonly signal?: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
}

export interface RequestLog {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** 1 for the first. */
  readonly attempt: number
}

export interface ResponseLog extends Omit<RequestLog, 'headers'> {
  /** 0 when nothing answered. */
  readonly status: number
  readonly requestId: string
  readonly durationMs: number
}

export interface Page<Row> {
  data: Row[]
  has_more: boolean
  next_cursor: string | null
}

/** What a request sends beside its path. */
export interface Sent extends RequestOptions {
  readonly query?: object | undefined
  readonly body?: unknown
}

/** Answer of which the text was read within the same attempt. */
export interface Answered {
  readonly response: Response
  readonly text: string
}

const firstPauseMs = 500
const maxPauseMs = 8_000
/** A longer Retry-After is the caller's to decide on. */
const maxRetryAfterSeconds = 60
/** A request in progress is asked for again for so long. */
const maxInProgressMs = 60_000
const retried = new Set([408, 429, 500, 502, 503, 504])
const changing = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

export class Client {
  readonly #options: Options
  readonly #baseUrl: string
  readonly #apiKey: string | undefined
  readonly #fetch: Fetch

  constructor(options: Options = {}) {
    const caFile = options.caFile ?? setting('PAMOJA_CA_FILE')
    this.#options = options
    this.#baseUrl = (options.baseUrl ?? setting('PAMOJA_BASE_URL') ?? 'https://localhost:8443').replace(/\/+$/, '')
    this.#apiKey = options.apiKey ?? setting('PAMOJA_API_KEY')
    this.#fetch = options.fetch ?? (caFile ? fetchTrusting(caFile) : (url, init) => fetch(url, init))
  }

  /** Address of a path at this server. */
  urlOf(path: string, query?: object): string {
    return `${this.#baseUrl}${path}${queryOf(query)}`
  }

  /** Waits as this client does between attempts. */
  pause(ms: number): Promise<void> {
    return this.#options.sleep?.(ms) ?? new Promise((resolve) => setTimeout(resolve, ms))
  }

  /** Gives the answer when it is no refusal; its body may take as long as it wants. */
  async send(method: string, path: string, sent: Sent = {}): Promise<Response> {
    return this.#tried(method, path, sent, (response) => Promise.resolve(response))
  }

  /** Gives the answer with its text, when it is no refusal. */
  async ask(method: string, path: string, sent: Sent = {}): Promise<Answered> {
    return this.#tried(method, path, sent, async (response) => ({ response, text: await response.text() }))
  }

  /** A change has one key for all attempts, so that trying again does nothing twice. */
  async #tried<T>(method: string, path: string, sent: Sent, read: (response: Response) => Promise<T>): Promise<T> {
    const url = this.urlOf(path, sent.query)
    const init = this.#initOf(method, sent)
    const key = init.headers['idempotency-key'] ?? null
    const { maxRetries = this.#options.maxRetries ?? 2 } = sent
    let pausedMs = 0
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#once(url, init, { sent, attempt, key }, read)
      if (!(outcome instanceof PamojaError)) return outcome.read
      const isInProgress = outcome.code === 'REQUEST_IN_PROGRESS' && pausedMs < maxInProgressMs
      const isOver = attempt > maxRetries && !(isInProgress && maxRetries > 0)
      if (isOver || sent.signal?.aborted || !mayTryAgain(outcome)) throw outcome
      const ms = pauseMs(outcome.retryAfter, attempt)
      pausedMs += ms
      await this.pause(ms)
    }
  }

  async #once<T>(
    url: string,
    init: RequestInit & { headers: Record<string, string>; method: string },
    { sent, attempt, key }: { sent: Sent; attempt: number; key: string | null },
    read: (response: Response) => Promise<T>,
  ): Promise<PamojaError | { read: T }> {
    const { timeout = this.#options.timeout ?? 30_000 } = sent
    const startedMs = performance.now()
    const timer = new Timer(timeout + waitMs(sent), sent.signal)
    const { method } = init
    this.#onRequest({ method, url, headers: withoutKey(init.headers), attempt })
    const tell = (status: number, requestId: string): void =>
      this.#onResponse({ method, url, attempt, status, requestId, durationMs: performance.now() - startedMs })
    try {
      const response = await this.#fetch(url, { ...init, signal: timer.signal })
      tell(response.status, response.headers.get('x-request-id') ?? '')
      if (response.ok) return { read: await read(response) }
      return refusalOf(response.status, response.headers, await response.text(), key)
    } catch (cause) {
      tell(0, '')
      return unanswered(cause, timer.isOver ? timer.ms : null, key)
    } finally {
      timer.end()
    }
  }

  #initOf(
    method: string,
    { body, headers, idempotencyKey }: Sent,
  ): RequestInit & { headers: Record<string, string>; method: string } {
    const { headers: own, appInfo } = this.#options
    const agent = userAgent(version)
    const isForm = body instanceof FormData
    const isText = typeof body === 'string'
    // A file is sent without a key: the server keeps none to compare, and the same one may be sent again.
    const newKey = isText ? undefined : crypto.randomUUID()
    const key = changing.has(method) ? (idempotencyKey ?? newKey) : undefined
    return {
      method,
      headers: {
        accept: 'application/json',
        'pamoja-envelope': 'data',
        ...(agent === undefined ? {} : { 'user-agent': agent }),
        ...(appInfo ? { 'pamoja-client': [appInfo.name, appInfo.version].filter(Boolean).join('/') } : {}),
        ...(this.#apiKey === undefined ? {} : { authorization: `Bearer ${this.#apiKey}` }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...(body === undefined || isForm ? {} : { 'content-type': isText ? 'text/csv' : 'application/json' }),
        ...own?.(method),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isForm || isText ? body : JSON.stringify(body) }),
    }
  }

  #onRequest(log: RequestLog): void {
    this.#options.onRequest?.(log)
  }

  #onResponse(log: ResponseLog): void {
    this.#options.onResponse?.(log)
    if (setting('PAMOJA_LOG') !== 'debug') return
    const { method, url, status, requestId, attempt, durationMs } = log
    debugLine(
      `${method} ${url} ${status || 'unanswered'} ${Math.round(durationMs)} ms, attempt ${attempt} ${requestId}`,
    )
  }
}

/** Ends a request after a time, or when the caller says so, whichever comes first. */
class Timer {
  readonly #controller = new AbortController()
  readonly #timer: ReturnType<typeof setTimeout>
  readonly #given: AbortSignal | undefined
  readonly #abort = (): void => this.#controller.abort(this.#given?.reason)
  readonly ms: number
  isOver = false

  constructor(ms: number, given: AbortSignal | undefined) {
    this.ms = ms
    this.#given = given
    this.#timer = setTimeout(() => {
      this.isOver = true
      this.#controller.abort()
    }, ms)
    if (given?.aborted) this.#abort()
    given?.addEventListener('abort', this.#abort)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** The caller's signal goes on to end what is still being read. */
  end(): void {
    clearTimeout(this.#timer)
  }
}

/** Time that the server was asked to take. */
function waitMs({ query }: Sent): number {
  const seconds = Number(Reflect.get(Object(query), 'wait') ?? 0)
  return Number.isFinite(seconds) ? seconds * 1_000 : 0
}

function withoutKey(headers: Readonly<Record<string, string>>): Record<string, string> {
  const { authorization: _, ...others } = headers
  return others
}

export function queryOf(query: object = {}): string {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === '') continue
    if (Array.isArray(value)) given.append(name, value.join(','))
    else if (typeof value === 'object')
      for (const [part, one] of Object.entries(value)) given.append(`${name}[${part}]`, String(one))
    else given.append(name, String(value))
  }
  const text = given.toString()
  return text === '' ? '' : `?${text}`
}

function mayTryAgain({ status, code, retryAfter }: PamojaError): boolean {
  if (retryAfter !== null && retryAfter > maxRetryAfterSeconds) return false
  return status === 0 || retried.has(status) || code === 'REQUEST_IN_PROGRESS'
}

/** A pause of at most 0.5 s, doubling to 8 s; never shorter than the server asks for. */
export function pauseMs(retryAfter: number | null, attempt: number): number {
  const ms = Math.min(maxPauseMs, firstPauseMs * 2 ** (attempt - 1)) * Math.random()
  return Math.max(ms, (retryAfter ?? 0) * 1_000)
}

type Gives = 'data' | 'page' | 'flat' | 'answer'
type Given<Input> = object extends Input
  ? [input?: Input, sent?: Pick<Sent, 'headers' | 'signal'>]
  : [input: Input, sent?: Pick<Sent, 'headers' | 'signal'>]

/** One route: a function, and where it leads. */
export interface Operation<Input, Reply> {
  (client: Client, ...given: Given<Input>): Promise<Reply>
  readonly method: string
  /** With {name} for what the input names. */
  readonly path: string
  /** Path for an input, with its query. */
  at(...given: Given<Input>): string
}

export function operation<Input extends object, Reply>(
  method: string,
  path: string,
  gives: Gives = 'data',
): Operation<Input, Reply> {
  const call = async (client: Client, ...[input, sent]: Given<Input>): Promise<Reply> => {
    const { query, body } = partsOf(input)
    const asked = { query, body, ...sent }
    const where = filled(path, new Map(Object.entries(input ?? {})))
    return replyOf(gives, client, method, where, asked)
  }
  const at = (...[input]: Given<Input>): string =>
    filled(path, new Map(Object.entries(input ?? {}))) + queryOf(partsOf(input).query)
  return Object.assign(call, { method, path, at })
}

/** Types of replies are those of the route table: the server is taken at its word. */
async function replyOf(gives: Gives, client: Client, method: string, path: string, sent: Sent) {
  return gives === 'answer' ? client.send(method, path, sent) : valueIn(gives, await client.ask(method, path, sent))
}

function partsOf(input: object = {}): { query: object; body: unknown } {
  const { query = {}, body }: { query?: object; body?: unknown } = { ...input }
  return { query, body }
}

/** Path with its names filled in. Nothing that is filled in leads to another path. */
export function filled(path: string, given: ReadonlyMap<string, unknown>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(given.get(name) ?? '')
    if (value === '' || value === '.' || value === '..') throw new TypeError(`${name} must be given for ${path}`)
    return encodeURIComponent(value)
  })
}

/** A single thing is inside `data`; a list comes with its cursor; what has a `data` of its own is not wrapped. */
export function valueIn(gives: string, { text }: Answered) {
  const body = text === '' ? {} : JSON.parse(text)
  if (gives === 'page') return body
  if (gives !== 'flat') return body.data ?? {}
  const { success: _, ...value } = body
  return value
}
