// SPDX-License-Identifier: Apache-2.0
// Doors: a request in another provider's dialect is admitted by its key, and its operations run as requests to the own
// API, inside this process. So everything that holds for those holds for the door.
import type { FastifyInstance } from 'fastify'
import { AppError, type ErrorCode, errors } from '../../kernel/errors.ts'
import { Reply } from '../api/dialect.ts'
import { type Door, type DoorCall, DoorFields, notHere, type OperationInput } from '../api/door.ts'
import { type Hook, type HookAnswer, type HookCall, hook, jsonOf } from '../api/hook.ts'
import type { Route } from '../api/route.ts'
import type { App } from '../app.ts'
import type { Principal } from '../auth.ts'
import { asAppError } from './answer.ts'
import { doorMark, markFor } from './door-mark.ts'
import { asError, printable, withoutKeys } from './exchange.ts'

/** Requests per second from one address, before its key is known. */
const requestsPerSecond = 2_000
/** Names of unknown fields in the warning. */
const maxNamed = 20

/** Headers of an operation's reply that the door's reply has too. */
const passedOn = /^(x-request-id|ratelimit.*|x-ratelimit-.*|retry-after|idempotent-replayed|pamoja-.*)$/

/** Address of a door. */
function doorPath({ name }: Pick<Door, 'name'>): string {
  return `/compat/${name}`
}

/** Door that a path leads to. */
export function doorAt(doors: readonly Door[], url: string): Door | undefined {
  return doors.find((door) => url.startsWith(`${doorPath(door)}/`))
}

/** Doors at host names of their own, by name: `api.example=twilio,sms.example=kannel`. */
export function hostsOf(given: string | null): ReadonlyMap<string, string> {
  const pairs = (given ?? '').split(',').map((pair) => pair.trim().split('='))
  return new Map(pairs.flatMap(([host = '', door]) => (door === undefined ? [] : [[host.toLowerCase(), door]])))
}

/** Hooks of the doors that are open; a closed one refuses everything in its own words. */
export function doorHooks(
  http: FastifyInstance,
  routes: readonly Route[],
  doors: readonly Door[],
  open: readonly string[],
): Hook[] {
  const operations = new Map(routes.map((route) => [route.operation, route]))
  return doors.map((door) =>
    hook({
      methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      path: `${doorPath(door)}/*`,
      operation: `doors.${door.name}`,
      summary: `Programs that were written for ${door.title}, with an API key`,
      maxBytes: door.maxBytes,
      limits: [{ name: 'doors', by: 'address', perSecond: requestsPerSecond }],
      handle: (app, call) => {
        if (!open.includes(door.name)) throw notHere(`the door ${door.name} is closed: it`)
        return new Visit(http, operations, door, app, call).answer()
      },
      refused: (_app, call, error) => door.refused(error, about(door, call)),
    }),
  )
}

function about(door: Door, { method, url, headers, requestId }: HookCall<object>) {
  const path = pathBelow(door, url)
  return { method, path, accept: headers.accept ?? '', requestId }
}

function pathBelow(door: Door, url: string): string {
  const [path = ''] = url.slice(doorPath(door).length).split('?', 1)
  return path === '' ? '/' : path
}

/** One request to a door. */
class Visit {
  readonly #http: FastifyInstance
  readonly #operations: ReadonlyMap<string, Route>
  readonly #door: Door
  readonly #app: App
  readonly #call: HookCall<object>
  readonly #path: string
  readonly #query: URLSearchParams
  /** Headers of the operations' replies; those of the last one count. */
  readonly #headers: Record<string, string> = {}

  constructor(
    http: FastifyInstance,
    operations: ReadonlyMap<string, Route>,
    door: Door,
    app: App,
    call: HookCall<object>,
  ) {
    this.#http = http
    this.#operations = operations
    this.#door = door
    this.#app = app
    this.#call = call
    this.#path = pathBelow(door, call.url)
    this.#query = new URLSearchParams(call.url.split('?').slice(1).join('?'))
  }

  /** Answer to the request. Without a valid key it throws, which counts towards the limit of requests without one. */
  async answer(): Promise<HookAnswer> {
    const { headers, ip } = this.#call
    const secret = this.#door.secretOf({ path: this.#path, query: this.#query, headers })
    const credential = secret === null ? undefined : `Bearer ${secret}`
    const principal = await this.#app.authenticator.authenticate(credential, ip)
    const answer = await this.#translated(principal, credential ?? '').catch((thrown: unknown) => this.#refused(thrown))
    return { ...answer, headers: { ...this.#headers, ...answer.headers } }
  }

  async #translated(principal: Principal, credential: string): Promise<HookAnswer> {
    const { method, headers, bytes, requestId, receivedMs } = this.#call
    const found = this.#route()
    const isForm = /^application\/x-www-form-urlencoded/i.test(headers['content-type'] ?? '')
    const query = new DoorFields(this.#query)
    const form = new DoorFields(new URLSearchParams(isForm ? bytes.toString() : ''))
    const call: DoorCall = {
      ...{ method, headers, bytes, requestId, query, form },
      path: this.#path,
      search: this.#call.url.split('?').slice(1).join('?'),
      params: found.params,
      json: isForm ? null : jsonOf({ bytes }),
      accountId: principal.accountId,
      nowMs: receivedMs,
      baseUrl: this.#app.publicUrl + doorPath(this.#door),
      run: (operation, input) => this.#run(credential, operation, input),
    }
    const answer = await found.route.handle(call)
    this.#warn([...query.unread, ...form.unread])
    return answer
  }

  #route() {
    const parts = this.#path.replace(/(?<=.)\/+$/, '').split('/')
    for (const route of this.#door.routes) {
      if (route.method !== this.#call.method) continue
      const params = matched(route.path.split('/'), parts)
      if (params) return { route, params }
    }
    throw notHere(`${this.#call.method} ${printable(withoutKeys(this.#path))}`)
  }

  /** Runs an operation as a request of the caller. */
  async #run(credential: string, operation: string, input: OperationInput = {}): Promise<Reply> {
    const route = this.#operations.get(operation)
    if (!route) throw new Error(`there is no operation ${operation}`)
    const { headers, ip } = this.#call
    const key = headers['idempotency-key']
    const { traceparent } = headers
    const done = await this.#http.inject({
      method: route.method,
      url: urlOf(route, input),
      remoteAddress: ip,
      headers: {
        authorization: credential,
        'pamoja-envelope': 'data',
        'pamoja-strict': 'false',
        [doorMark]: markFor(doorPath(this.#door) + this.#path),
        ...(typeof key === 'string' ? { 'idempotency-key': input.part ? `${key}/${input.part}` : key } : {}),
        ...(typeof traceparent === 'string' ? { traceparent } : {}),
        ...(input.raw ? { 'content-type': input.raw.contentType } : {}),
      },
      ...(input.raw ? { payload: input.raw.bytes } : input.body ? { payload: input.body } : {}),
    })
    for (const [name, value] of Object.entries(done.headers))
      if (passedOn.test(name) && value !== undefined) this.#headers[name] = String(value)
    const said: unknown = done.body === '' ? {} : JSON.parse(done.body)
    if (done.statusCode >= 400) throw refusalIn(said, this.#headers['retry-after'])
    return route.reply.list ? new Reply(said) : new Reply(Object(said).data ?? said)
  }

  /** Warning of fields that mean nothing here, as the own API has it. */
  #warn(unknown: readonly string[]): void {
    if (unknown.length === 0) return
    const named = unknown.slice(0, maxNamed).map((name) => `unknown field ${printable(withoutKeys(name))}`)
    this.#headers['pamoja-warning'] = named.join(', ')
  }

  #refused(thrown: unknown): HookAnswer {
    const exchange = { id: this.#call.requestId, compiled: null }
    const error = thrown instanceof AppError ? thrown : asAppError(this.#app, exchange, asError(thrown))
    return this.#door.refused(error, about(this.#door, this.#call))
  }
}

/** Parameters of a path that has the form of a pattern; null when it has not. */
function matched(pattern: readonly string[], parts: readonly string[]): Record<string, string> | null {
  if (pattern.length !== parts.length) return null
  const params: Record<string, string> = {}
  for (const [i, wanted] of pattern.entries()) {
    const given = decoded(parts[i] ?? '')
    const [, before = '', name, after = ''] = /^([^:]*):(\w+)(.*)$/.exec(wanted) ?? []
    if (name === undefined ? given !== wanted : !(given.startsWith(before) && given.endsWith(after))) return null
    if (name !== undefined) params[name] = given.slice(before.length, given.length - after.length)
  }
  return params
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

function urlOf({ path }: Route, { params = {}, query = {} }: OperationInput): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  )
  return given.length === 0 ? filled : `${filled}?${new URLSearchParams(given)}`
}

/** Refusal of an operation, from its reply. */
function refusalIn(said: unknown, retryAfter: string | undefined): AppError {
  const {
    code,
    details,
    success: _,
    message: __,
    timestamp: ___,
    doc_url: ____,
    fields,
    ...extra
  } = Object(Object(said).error)
  const known: ErrorCode = isErrorCode(code) ? code : 'INTERNAL_ERROR'
  return new AppError(known, typeof details === 'string' ? details : '', {
    extra,
    ...(Array.isArray(fields) ? { fields } : {}),
    ...(retryAfter === undefined ? {} : { retryAfterSeconds: Number(retryAfter) }),
  })
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errors, code)
}
