// SPDX-License-Identifier: Apache-2.0
// Client of the API for programs and pages: says who asks, tries again what may be tried again, and turns refusals into errors.
// operations.ts has a typed function for every route, made from the route table by tools/sdk.mjs. No dependencies: anything with
// `fetch` runs it.

export interface Options {
  /** Such as https://localhost:8443; without a path. */
  readonly baseUrl: string
  readonly apiKey?: string
  /** Headers of every request beside those; asked for each time. */
  readonly headers?: (method: string) => Readonly<Record<string, string>>
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  readonly timeoutMs?: number
  /** Attempts after the first, where nothing answered or the answer says to come again. */
  readonly maxRetries?: number
}

export interface Page<Row> {
  data: Row[]
  has_more: boolean
  next_cursor: string | null
}

/** What a request sends beside its path. */
interface Sent {
  readonly query?: object
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** A refusal in the words of the server; status 0 when there was no answer. */
export class PamojaError extends Error {
  readonly status: number
  readonly code: string
  readonly requestId: string
  /** The whole error as it came: fields, current_status and whatever else a code brings. */
  readonly error: Readonly<Record<string, unknown>>
  readonly retryAfterSeconds: number | null

  constructor(status: number, body: unknown, retryAfter: string | null) {
    const error = Object(Object(body).error)
    const words: unknown = error.details ?? error.message ?? 'the server did not answer as expected'
    super(typeof words === 'string' ? words : JSON.stringify(words))
    this.name = 'PamojaError'
    this.status = status
    this.code = String(error.code ?? 'UNREACHABLE')
    this.requestId = String(error.request_id ?? Object(body).request_id ?? '')
    this.error = error
    this.retryAfterSeconds = retryAfter === null ? null : Number(retryAfter)
  }
}

const firstPauseMs = 500
const longestPauseMs = 30_000

export class Pamoja {
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  /** Gives the answer when it is no refusal. A POST has a key of its own, so that trying again does nothing twice. */
  async send(method: string, path: string, sent: Sent = {}): Promise<Response> {
    const { baseUrl, maxRetries = 2 } = this.#options
    const url = `${baseUrl}${path}${queryOf(sent.query)}`
    const init = this.#initOf(method, sent)
    for (let attempt = 0; ; attempt++) {
      const answer = await this.#once(url, { ...init, ...this.#until(sent.signal) })
      if (answer instanceof Response && answer.ok) return answer
      const problem = answer instanceof Response ? await refusalOf(answer) : unreachable(answer)
      if (attempt >= maxRetries || sent.signal?.aborted || !mayTryAgain(method, problem)) throw problem
      await pause(problem.retryAfterSeconds, attempt)
    }
  }

  async #once(url: string, init: RequestInit): Promise<unknown> {
    const { fetch: ask = (where: string, how: RequestInit) => fetch(where, how) } = this.#options
    try {
      return await ask(url, init)
    } catch (error) {
      return error
    }
  }

  #initOf(method: string, { body, headers }: Sent): RequestInit {
    const { apiKey, headers: own } = this.#options
    const isForm = body instanceof FormData
    const isText = typeof body === 'string'
    return {
      method,
      headers: {
        accept: 'application/json',
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        ...(method === 'POST' ? { 'idempotency-key': crypto.randomUUID() } : {}),
        ...(body === undefined || isForm ? {} : { 'content-type': isText ? 'text/csv' : 'application/json' }),
        ...own?.(method),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isForm || isText ? body : JSON.stringify(body) }),
    }
  }

  #until(signal: AbortSignal | undefined): { signal?: AbortSignal } {
    const { timeoutMs = 30_000 } = this.#options
    return { signal: signal ?? AbortSignal.timeout(timeoutMs) }
  }
}

function queryOf(query: object = {}): string {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === '') continue
    if (Array.isArray(value)) given.append(name, value.join(','))
    else if (typeof value === 'object')
      for (const [part, one] of Object.entries(value)) given.append(`${name}[${part}]`, String(one))
    else given.append(name, String(value))
  }
  return given.size === 0 ? '' : `?${given}`
}

async function refusalOf(answer: Response): Promise<PamojaError> {
  const body: unknown = await answer.json().catch(() => null)
  return new PamojaError(answer.status, body, answer.headers.get('retry-after'))
}

function unreachable(error: unknown): PamojaError {
  const details = `the server could not be reached: ${error instanceof Error ? error.message : String(error)}`
  return new PamojaError(0, { error: { code: 'UNREACHABLE', details } }, null)
}

function mayTryAgain(method: string, { status, code }: PamojaError): boolean {
  if (status === 409) return code === 'REQUEST_IN_PROGRESS'
  if (status === 429) return true
  return (status === 0 || status >= 500) && (method === 'GET' || method === 'POST' || method === 'DELETE')
}

async function pause(retryAfterSeconds: number | null, attempt: number): Promise<void> {
  const wantedMs = retryAfterSeconds === null ? firstPauseMs * 2 ** attempt : retryAfterSeconds * 1_000
  const ms = Math.min(longestPauseMs, wantedMs) * (0.8 + 0.4 * Math.random())
  await new Promise((resolve) => setTimeout(resolve, ms))
}

type Gives = 'data' | 'page' | 'answer'
type Given<Input> = object extends Input
  ? [input?: Input, sent?: Pick<Sent, 'headers' | 'signal'>]
  : [input: Input, sent?: Pick<Sent, 'headers' | 'signal'>]

/** One route: a function, and where it leads. */
export interface Operation<Input, Reply> {
  (client: Pamoja, ...given: Given<Input>): Promise<Reply>
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
  const call = async (client: Pamoja, ...[input, sent]: Given<Input>): Promise<Reply> => {
    const { query, body } = partsOf(input)
    return read(gives, await client.send(method, filled(path, input), { query, body, ...sent }))
  }
  const at = (...[input]: Given<Input>): string => filled(path, input) + queryOf(partsOf(input).query)
  return Object.assign(call, { method, path, at })
}

function partsOf(input: object = {}): { query: object; body: unknown } {
  const { query = {}, body }: { query?: object; body?: unknown } = { ...input }
  return { query, body }
}

/** Nothing that is filled in leads to another path. */
function filled(path: string, input: object = {}): string {
  const given = new Map<string, unknown>(Object.entries(input))
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(given.get(name) ?? '')
    if (value === '' || value === '.' || value === '..') throw new TypeError(`${name} must be given for ${path}`)
    return encodeURIComponent(value)
  })
}

/** A single thing is inside `data`; a list comes with its cursor; everything else as it is. */
async function read(gives: Gives, answer: Response) {
  if (gives === 'answer') return answer
  const text = answer.status === 204 ? '{}' : await answer.text()
  const body = JSON.parse(text)
  return gives === 'page' ? body : (body.data ?? {})
}
