// SPDX-License-Identifier: Apache-2.0
// The life of a request, in the order the contract gives it: credentials, key limit, route and method, scope, plan
// limit, content type and size, JSON, idempotency, validation, the verb. Everything it needs to know stands in the
// route's declaration; every error is rendered here and nowhere else.
import { once } from 'node:events'
import type { IncomingMessage, RequestListener, Server } from 'node:http'
import type { BlockList } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { AppError } from '../kernel/errors.ts'
import { asAppError, envelope, errorBody, isPage, listEnvelope } from './answer.ts'
import type { App } from './app.ts'
import type { Caller, Principal } from './auth.ts'
import { csv } from './csv.ts'
import { admitStranger, begin, enter, sandboxMark, scopeRefusal } from './entrance.ts'
import { asError, type CompiledRoute, type Exchange, pathOf, printable } from './exchange.ts'
import { type Answer, AnsweredBefore, KeyConflict, keyed, keyOf, requestHash } from './idempotency.ts'
import { parseJson, serialiser } from './json.ts'
import { leave } from './leaving.ts'
import type { Input, Page, Route } from './route.ts'
import { refuseStrayCard, takesCard } from './stray-cards.ts'
import type { Message, Streams } from './streams.ts'
import { bodyChecker, type Checked, queryChecker, strictRefusal } from './validate.ts'

const maxBodyBytes = 1024 * 1024

export interface HttpOptions {
  app: App
  routes: readonly Route[]
  streams: Streams
  /** Peers whose X-Forwarded-For is believed. */
  trustedProxies: BlockList
  /** Gives the server whose requests Fastify handles. */
  serverFactory(handler: RequestListener): Server
}

export function createHttp({ app, routes, streams, trustedProxies, serverFactory }: HttpOptions): FastifyInstance {
  const http = Fastify({
    serverFactory: (handler) => serverFactory(handler),
    logger: false,
    bodyLimit: maxBodyBytes,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 300 },
    rewriteUrl: (request) => rewriteUrl(request),
    clientErrorHandler: () => undefined,
    frameworkErrors: (error, request, reply) => refuseUnrouted(app, trustedProxies, error, request, reply),
    forceCloseConnections: 'idle',
    return503OnClosing: false,
  })
  http.decorateRequest('exchange')
  http.removeAllContentTypeParsers()
  http.addContentTypeParser('*', { parseAs: 'buffer' }, parseBody)
  http.addHook('onRequest', (request, reply, done) => enter(app, trustedProxies, request, reply, done))
  http.addHook('onResponse', (request, reply, done) => {
    leave(app, request, reply)
    done()
  })
  http.setErrorHandler((error, request, reply) => refuse(app, request, reply, error))
  http.setNotFoundHandler((request, reply) => refuse(app, request, reply, nothingHere(request)))
  mount(http, app, routes, streams)
  // A key that was revoked ends its streams. The authenticator hears of it first, and forgets the key.
  app.signals.on('accounts', (account) => streams.recheck(account))
  return http
}

/** The one path of a route: `/api` goes, and `/sandbox` becomes a mark that live keys are refused there. */
function rewriteUrl(request: IncomingMessage): string {
  let { url = '/' } = request
  delete request.headers[sandboxMark]
  if (url.startsWith('/sandbox/')) {
    request.headers[sandboxMark] = 'true'
    url = url.slice('/sandbox'.length)
  }
  return url.startsWith('/api/v1/') || url === '/api/v1' ? url.slice('/api'.length) : url
}

function mount(http: FastifyInstance, app: App, routes: readonly Route[], streams: Streams): void {
  const methodsOf = new Map<string, string[]>()
  for (const route of routes) {
    const compiled = compile(route)
    for (const path of [route.path, ...(route.aliases ?? [])]) {
      methodsOf.set(path, [...(methodsOf.get(path) ?? []), route.method])
      if (route.kind === 'upload') {
        mountUpload(http, app, compiled, path)
        continue
      }
      http.route({
        method: route.method,
        url: path,
        bodyLimit: route.bodyLimitBytes ?? maxBodyBytes,
        config: { compiled },
        handler: traced(app, (request, reply) =>
          route.kind === 'stream'
            ? handleStream(app, streams, compiled, request, reply)
            : handle(app, compiled, request, reply),
        ),
      })
    }
  }
  for (const [path, methods] of methodsOf) {
    const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((method) => !methods.includes(method))
    const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ')
    http.route({ method: others, url: path, config: { allow }, exposeHeadRoute: false, handler: async () => undefined })
  }
}

/** A file is handed on as it comes, so that its route reads bodies in its own way. */
function mountUpload(http: FastifyInstance, app: App, compiled: CompiledRoute, url: string): void {
  const { method } = compiled.route
  http.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, bytes, done) => done(null, bytes))
    const handler = traced(app, (request, reply) => handleUpload(app, compiled, request, reply))
    scope.route({ method, url, config: { compiled }, handler })
  })
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/** With tracing on, what a handler starts finds its request's trace; with tracing off, the handler itself. */
function traced({ tracer }: App, handler: Handler): Handler {
  if (tracer === null) return handler
  return (request, reply) => {
    const { span } = request.exchange
    return span ? tracer.within(span, () => handler(request, reply)) : handler(request, reply)
  }
}

function compile(route: Route): CompiledRoute {
  return {
    route,
    write: serialiser(route.reply.schema),
    checkParams: route.params ? queryChecker(route.params) : unchecked,
    checkQuery: queryChecker(route.query ?? noFields),
    checkBody: bodyChecker(route.body ?? noFields),
    needsBody:
      route.body !== undefined &&
      'required' in route.body &&
      Array.isArray(route.body.required) &&
      route.body.required.length > 0,
    secretReply: JSON.stringify(route.reply.schema).includes('"sensitive":true'),
  }
}

const noFields = Type.Object({})
const unchecked = (value: unknown): Checked<unknown> => ({ value, unknown: [] })

// The body ---------------------------------------------------------------------------------------------------------

type Parsed = (error: Error | null, body?: unknown) => void

function parseBody(request: FastifyRequest, bytes: Buffer, done: Parsed): void {
  try {
    done(null, readBody(request, bytes))
  } catch (error) {
    done(asError(error))
  }
}

function readBody({ headers, exchange }: FastifyRequest, bytes: Buffer): unknown {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';')
  const media = type.trim()
  if (bytes.length === 0) return undefined
  if (media === 'application/x-www-form-urlencoded' && exchange.compiled?.route.form) {
    exchange.rawBody = bytes.toString()
    return formFields(exchange.rawBody)
  }
  if (media !== '' && media !== 'application/json' && !/^application\/[a-z0-9.-]+\+json$/.test(media))
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', `the content type is ${printable(media)}`)
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='))
  if (charset && !/^charset="?utf-?8"?$/.test(charset))
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'send the body in UTF-8')
  const { text, value } = parseJson(bytes)
  exchange.rawBody = text
  // What holds a card is not left lying in a buffer that nobody has overwritten yet.
  if (takesCard(exchange.compiled?.route.body)) bytes.fill(0)
  return value
}

/** A form's fields; whole numbers become numbers, since a form has only text. */
function formFields(text: string): Record<string, string | number> {
  const fields: Record<string, string | number> = {}
  for (const [name, value] of new URLSearchParams(text))
    if (name !== '__proto__') fields[name] = /^\d{1,9}$/.test(value) ? Number(value) : value
  return fields
}

// Handling ---------------------------------------------------------------------------------------------------------

async function handle(
  app: App,
  compiled: CompiledRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { route } = compiled
  const { exchange } = request
  if (!exchange.principal) exchange.principal = await principalInForm(app, request)
  const caller = callerOf(exchange)
  const key = route.method === 'GET' ? null : keyOf(request.headers['idempotency-key'], request.body)
  const hash = key === null ? null : requestHash(app.secrets, route.method, request.url, exchange.rawBody)
  if (key === null || hash === null) {
    const input = checked(compiled, request, reply)
    if (route.reply.list && wantsCsv(request)) return sendCsv(app, compiled, input, caller, reply)
    return send(compiled, request, reply, await execute(app, compiled, input, caller))
  }
  return compiled.route.kind === 'commit'
    ? handleCommitKeyed(app, compiled, request, reply, caller, key, hash)
    : handleKeyed(app, compiled, request, reply, caller, key, hash)
}

async function principalInForm(app: App, { body, exchange }: FastifyRequest): Promise<Principal> {
  const secret = typeof body === 'object' && body !== null && 'client_secret' in body ? String(body.client_secret) : ''
  return app.authenticator.authenticate(secret === '' ? undefined : `Bearer ${secret}`, exchange.ip)
}

/** Runs a verb whose request carries no idempotency key. */
async function execute(
  app: App,
  { route }: CompiledRoute,
  input: Input<never, never, never>,
  caller: Caller,
): Promise<unknown> {
  if (route.kind === 'read') return route.handle(app, input, caller)
  if (route.kind === 'stream' || route.kind === 'upload') throw new Error(`${route.operation} is no plain request`)
  if (route.kind === 'commit')
    return route.handle(
      app,
      input,
      caller,
      keyed(null, null, 0, () => ''),
    )
  const prepared = await route.prepare?.(app, input, caller)
  const made = await app.db.tx((tx) => route.handle(app, tx, input, caller, prepared))
  return route.follow ? route.follow(app, input, caller, made) : made
}

/** A file, read by its verb. Whatever is left of it when the verb refuses is let go, so that the refusal can be read. */
async function handleUpload(
  app: App,
  compiled: CompiledRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { route } = compiled
  if (route.kind !== 'upload') throw new Error(`${route.operation} is no upload`)
  const media = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase()
  request.body = undefined
  try {
    if (media !== undefined && media !== '' && media !== route.file)
      throw new AppError('UNSUPPORTED_MEDIA_TYPE', `the content type is ${printable(media)}, not ${route.file}`)
    const input = checked(compiled, request, reply)
    const file = request.raw.iterator({ destroyOnReturn: false })
    return send(compiled, request, reply, await route.handle(app, input, callerOf(request.exchange), file))
  } finally {
    request.raw.resume()
  }
}

/** A keyed request in a plain transaction: the answer is stored by the transaction that makes it true. */
async function handleKeyed(
  app: App,
  compiled: CompiledRoute,
  request: FastifyRequest,
  reply: FastifyReply,
  caller: Caller,
  key: string,
  hash: string,
): Promise<unknown> {
  const { route, secretReply } = compiled
  const { tenant } = caller
  let isCommitted = false
  const before = await app.idempotency.begin(caller.tenant, key, hash, secretReply)
  if (before) return replay(compiled, request, reply, before)
  try {
    const input = checked(compiled, request, reply)
    const prepared = route.kind === 'write' ? await route.prepare?.(app, input, caller) : undefined
    if (route.kind !== 'write') {
      const result = await execute(app, compiled, input, caller)
      await app.idempotency.finish(app.db, tenant, key, hash, storable(compiled, request, result), secretReply)
      return send(compiled, request, reply, result)
    }
    const { follow } = route
    const made = await app.db.tx(async (tx) => {
      const written = await route.handle(app, tx, input, caller, prepared)
      const answer = storable(compiled, request, written)
      if (follow) await app.idempotency.finishForNow(tx, tenant, key, hash, answer, secretReply)
      else await app.idempotency.finish(tx, tenant, key, hash, answer, secretReply)
      return written
    })
    isCommitted = true
    if (!follow) return send(compiled, request, reply, made)
    const result = await follow(app, input, caller, made)
    await app.idempotency.amend(tenant, key, hash, storable(compiled, request, result), secretReply)
    return send(compiled, request, reply, result)
  } catch (error) {
    if (isCommitted) await amendByRefusal(app, request.exchange, caller, key, hash, error)
    else await storeRefusal(app, request.exchange, caller, key, hash, error)
    throw error
  }
}

/** A keyed request in a group commit: the batch stores the key with its effects. */
async function handleCommitKeyed(
  app: App,
  compiled: CompiledRoute,
  request: FastifyRequest,
  reply: FastifyReply,
  caller: Caller,
  key: string,
  hash: string,
): Promise<unknown> {
  const { route } = compiled
  if (route.kind !== 'commit') throw new Error(`${route.operation} is not a group commit`)
  const leaveKey = app.idempotency.enter(caller.tenant, key)
  try {
    const input = checked(compiled, request, reply)
    // The answer is written before the commit that makes it true, and given as it was written.
    let answer: Answer | null = null
    const handleOnce = keyed(key, hash, route.reply.status, (made) => {
      answer = answerOf(compiled, request, made)
      return request.exchange.resultText ?? ''
    })
    const result = await route.handle(app, input, caller, handleOnce)
    return give(reply, answer ?? answerOf(compiled, request, result))
  } catch (error) {
    if (error instanceof AnsweredBefore)
      return replay(compiled, request, reply, await app.idempotency.stored(caller.tenant, key, hash))
    await storeRefusal(app, request.exchange, caller, key, hash, error)
    throw error
  } finally {
    leaveKey()
  }
}

const storedRefusals = new Set([402, 403, 404, 409, 422])

/** A refusal by a business rule is an answer like any other; everything else leaves the key free for the retry. */
async function storeRefusal(
  app: App,
  exchange: Exchange,
  caller: Caller,
  key: string,
  hash: string,
  error: unknown,
): Promise<void> {
  const stored =
    error instanceof AppError &&
    storedRefusals.has(error.status) &&
    error.code !== 'VALIDATION_ERROR' &&
    error.extras.fields === undefined &&
    !(error instanceof KeyConflict)
  if (!stored) return app.idempotency.free(caller.tenant, key).catch(() => undefined)
  exchange.errorCode = error.code
  exchange.replyText = errorBody(app, exchange, error)
  const body = exchange.replyText
  await app.idempotency
    .finish(app.db, caller.tenant, key, hash, { status: error.status, location: null, body }, false)
    .catch(() => undefined)
}

/**
 * What was committed stays, so the key stays too: with the refusal, or with the answer that the commit stored. Whoever was
 * told to come back later may do so with the same key.
 */
async function amendByRefusal(
  app: App,
  exchange: Exchange,
  { tenant }: Caller,
  key: string,
  hash: string,
  error: unknown,
): Promise<void> {
  if (error instanceof AppError && error.status === 503) return app.idempotency.release(tenant, key)
  if (!(error instanceof AppError) || error.status >= 500) return app.idempotency.settle(tenant, key)
  exchange.errorCode = error.code
  exchange.replyText = errorBody(app, exchange, error)
  await app.idempotency.amend(
    tenant,
    key,
    hash,
    { status: error.status, location: null, body: exchange.replyText },
    false,
  )
}

function callerOf(exchange: Exchange): Caller {
  const { principal, id, ip, receivedMs } = exchange
  if (!principal) throw new Error('a route was reached without credentials')
  return {
    principal,
    tenant: principal.tenant,
    accountId: principal.accountId,
    actor: principal.actor,
    ip,
    requestId: id,
    receivedMs,
    nowMs: receivedMs + principal.facts.clockOffsetMs,
  }
}

function checked(compiled: CompiledRoute, request: FastifyRequest, reply: FastifyReply): Input<never, never, never> {
  if (holdsNul(request.params))
    throw new AppError('NOT_FOUND', 'the path contains the character U+0000, so it names nothing')
  if (holdsNul(request.query)) throw new AppError('INVALID_REQUEST', 'the query contains the character U+0000')
  const params = compiled.checkParams(request.params)
  const query = compiled.checkQuery(request.query)
  if (compiled.needsBody && request.body === undefined)
    throw new AppError('VALIDATION_ERROR', 'the body is missing: send a JSON object')
  refuseStrayCard(compiled.route, request.body)
  const body = compiled.checkBody(request.body ?? {})
  const strict = request.headers['pamoja-strict'] === 'true'
  if (query.unknown.length > 0 || body.unknown.length > 0) {
    if (strict && query.unknown.length > 0) throw strictRefusal(query.unknown, 'INVALID_REQUEST')
    const strange = body.unknown.filter((name) => !name.startsWith('"idempotency_key"'))
    if (strict && strange.length > 0) throw strictRefusal(strange, 'VALIDATION_ERROR')
    request.exchange.unknown = [...query.unknown, ...strange]
    if (request.exchange.unknown.length > 0)
      reply.header('pamoja-warning', request.exchange.unknown.map((name) => `unknown field ${name}`).join(', '))
  }
  // Checked against the schemas of the declaration, whose types the handler was written against.
  return { params: params.value, query: query.value, body: body.value } as Input<never, never, never>
}

/** PostgreSQL cannot hold U+0000 in a text. */
function holdsNul(fields: unknown): boolean {
  for (const value of Object.values(Object(fields)))
    if (typeof value === 'string' && value.includes('\u0000')) return true
  return false
}

// Answering --------------------------------------------------------------------------------------------------------

function send(compiled: CompiledRoute, request: FastifyRequest, reply: FastifyReply, result: unknown): FastifyReply {
  const answer = answerOf(compiled, request, result)
  if (compiled.route.reply.list && isPage(result) && result.nextCursor)
    reply.header('link', `<${nextLink(request, result.nextCursor)}>; rel="next"`)
  return give(reply, answer)
}

/** The stored answer again. Stored is what a reply says; its envelope is put around it as this request asks. */
function replay(
  { route }: CompiledRoute,
  { headers }: FastifyRequest,
  reply: FastifyReply,
  stored: Answer,
): FastifyReply {
  reply.header('idempotent-replayed', 'true')
  const body = stored.status < 400 ? envelope(route, stored.body, headers['pamoja-envelope']) : stored.body
  return give(reply, { ...stored, body })
}

function give(reply: FastifyReply, { status, location, body }: Answer): FastifyReply {
  if (location) reply.header('location', location)
  reply.code(status)
  reply.header('content-type', 'application/json; charset=utf-8')
  return reply.send(body)
}

function answerOf({ route, write }: CompiledRoute, { headers, exchange }: FastifyRequest, result: unknown): Answer {
  if (route.reply.list && isPage(result)) {
    exchange.resultText = `{"rows":${result.rows.length}}`
    exchange.replyText = listEnvelope(result, write)
  } else {
    exchange.resultText = write(result)
    exchange.replyText = envelope(route, exchange.resultText, headers['pamoja-envelope'])
  }
  const location = route.reply.location ? `/api${route.reply.location(result)}` : null
  const status = route.reply.existed?.(result) ? 200 : route.reply.status
  return { status, location, body: exchange.replyText }
}

/** What is kept of an answer under an idempotency key: what it says, once. */
function storable(compiled: CompiledRoute, request: FastifyRequest, result: unknown): Answer {
  const answer = answerOf(compiled, request, result)
  return { ...answer, body: request.exchange.resultText ?? '' }
}

function nextLink({ url }: FastifyRequest, cursor: string): string {
  const next = new URL(url, 'https://x')
  next.searchParams.set('cursor', cursor)
  return `/api${next.pathname}${next.search}`
}

function wantsCsv({ headers }: FastifyRequest): boolean {
  return headers.accept?.split(',').some((type) => type.trim().startsWith('text/csv')) ?? false
}

/** A list as CSV: its own pages, one after the other, for as long as the client reads. */
async function sendCsv(
  app: App,
  { route }: CompiledRoute,
  input: Input<never, never, never>,
  caller: Caller,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (route.kind !== 'read') throw new Error(`${route.operation} is not a list`)
  const fetch = async (cursor: string | null): Promise<Page<unknown>> => {
    const query = { ...Object(input.query), limit: 200, ...(cursor ? { cursor } : {}) }
    const page = await route.handle(app, { ...input, query }, caller)
    if (!isPage(page)) throw new Error(`${route.operation} did not give a page`)
    return page
  }
  // Fetched before anything is sent, so that a refusal can still be told as one.
  const first = await fetch(null)
  reply.header('content-type', 'text/csv; charset=utf-8')
  return reply.send(csv(route.reply.schema, async (cursor) => (cursor === null ? first : fetch(cursor))))
}

// Streaming --------------------------------------------------------------------------------------------------------

/** Answers with messages until somebody ends it; whatever can be refused is refused before the first of them. */
async function handleStream(
  app: App,
  streams: Streams,
  compiled: CompiledRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { route } = compiled
  const { exchange, headers } = request
  if (route.kind !== 'stream') throw new Error(`${route.operation} is not a stream`)
  const caller = callerOf(exchange)
  const input = checked(compiled, request, reply)
  reply.headers({ 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' })
  if (request.method === 'HEAD') return reply.send()
  const stream = streams.open(caller.tenant.account, () => stillAdmitted(app, route, headers.authorization, caller.ip))
  let closed: Promise<unknown> | null = null
  try {
    const given = headers['last-event-id']
    const lastEventId = typeof given === 'string' && given !== '' ? given : null
    const messages = await route.handle(app, input, caller, { lastEventId, signal: stream.signal })
    reply.hijack()
    reply.raw.writeHead(route.reply.status, definite(reply.getHeaders()))
    reply.raw.flushHeaders()
    closed = reply.raw.destroyed ? null : once(reply.raw, 'close').catch(() => undefined)
    await stream.run(reply.raw, counted(exchange, messages))
  } catch (error) {
    if (!reply.sent) throw error
    app.log.error({ error, request: exchange.id, operation: route.operation }, 'a stream failed')
  } finally {
    stream.release()
    await closed
    // An answer that its reader did not wait for is not finished, and would not be told of.
    if (reply.sent && !reply.raw.writableFinished) leave(app, request, reply)
  }
  return reply
}

/** The request log keeps how much was told; it is written the moment the stream ends, whoever ends it. */
async function* counted(exchange: Exchange, messages: AsyncIterable<Message>): AsyncGenerator<Message> {
  let count = 0
  for await (const message of messages) {
    if (message.data !== null) count++
    exchange.resultText = `{"messages":${count}}`
    yield message
  }
}

/** Why a credential that was good when its stream began is so no longer. What cannot be looked up stays as it was. */
async function stillAdmitted(
  app: App,
  route: Route,
  authorization: string | undefined,
  ip: string,
): Promise<string | null> {
  try {
    return scopeRefusal(route, await app.authenticator.authenticate(authorization, ip))?.details ?? null
  } catch (error) {
    return error instanceof AppError ? error.details : null
  }
}

type Headers = ReturnType<FastifyReply['getHeaders']>

function definite(headers: Headers): Record<string, string | number | string[]> {
  const kept: Record<string, string | number | string[]> = {}
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) kept[name] = value
  return kept
}

// Refusing ---------------------------------------------------------------------------------------------------------

function refuse(app: App, request: FastifyRequest, reply: FastifyReply, thrown: unknown): FastifyReply {
  const { exchange } = request
  const error = asAppError(app, exchange, thrown)
  if (error.extras.retryAfterSeconds !== undefined) reply.header('retry-after', String(error.extras.retryAfterSeconds))
  if (error.code === 'UNAUTHORIZED')
    reply.header('www-authenticate', request.headers.authorization ? 'Bearer error="invalid_token"' : 'Bearer')
  // A refusal that was stored under an idempotency key is given in the very words that were stored.
  const stored = exchange.errorCode === error.code ? exchange.replyText : null
  exchange.errorCode = error.code
  exchange.replyText = stored ?? errorBody(app, exchange, error)
  reply.code(error.status)
  reply.header('content-type', 'application/json; charset=utf-8')
  return reply.send(exchange.replyText)
}

/** A request whose path is not even a URL never reaches the hooks; it is answered like any other all the same. */
function refuseUnrouted(
  app: App,
  trustedProxies: BlockList,
  error: Error,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const exchange = begin(app, trustedProxies, request, reply, null)
  admitStranger(app, exchange, reply, error, (refusal) => refuse(app, request, reply, refusal ?? error))
}

function nothingHere(request: FastifyRequest): AppError {
  const path = printable(pathOf(request))
  const where = path.startsWith('/v1/') ? 'GET /openapi.json lists what there is' : 'the API is below /api/v1'
  return new AppError('NOT_FOUND', `there is no ${request.method} ${path}; ${where}`)
}
