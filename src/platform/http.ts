// SPDX-License-Identifier: Apache-2.0
// Life of a request, always in this order: credentials, key limit, route and method, scope, plan limit, content type
// and size, JSON, idempotency, validation, handler. Everything comes from the route's declaration; every error is
// rendered here and nowhere else.
import type { IncomingMessage, RequestListener, Server } from 'node:http'
import type { BlockList } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { errorCode } from '../kernel/error-code.ts'
import { AppError } from '../kernel/errors.ts'
import type { Door } from './api/door.ts'
import type { Hook } from './api/hook.ts'
import { keyOf } from './api/idempotency.ts'
import { serialiser, type Write } from './api/json.ts'
import type { Route } from './api/route.ts'
import type { App } from './app.ts'
import { admitByForm, begin, enter, limitUnauthenticated, sandboxMark } from './http/admission.ts'
import { asAppError, errorBody, lastLine, maxBodyBytes, send, sendCsv, wantsCsv } from './http/answer.ts'
import { doorHooks, hostsOf } from './http/doors.ts'
import { handleDownload } from './http/downloads.ts'
import { asError, type CompiledRoute, type Exchange, nothingAt, printable, withoutKeys } from './http/exchange.ts'
import { execute, executeOnce } from './http/executing.ts'
import { mountHooks } from './http/hooks.ts'
import { Methods, maxParamLength } from './http/methods.ts'
import { handleMultipart } from './http/multipart-requests.ts'
import { callerOf, checked, parseBody } from './http/request-input.ts'
import { leave } from './http/request-log-line.ts'
import { handleStream, wantsMessages } from './http/stream-requests.ts'
import type { Streams } from './http/streams.ts'
import { bodyChecker, type Checked, queryChecker } from './http/validate.ts'
import { errorPage, isBrowsing } from './web/error-page.ts'

export interface HttpOptions {
  app: App
  routes: readonly Route[]
  hooks: readonly Hook[]
  doors: readonly Door[]
  streams: Streams
  /** Proxies whose X-Forwarded-For is trusted. */
  trustedProxies: BlockList
  /** Creates the server whose requests Fastify handles. */
  serverFactory(handler: RequestListener): Server
}

export function createHttp({
  app,
  routes,
  hooks,
  doors,
  streams,
  trustedProxies,
  serverFactory,
}: HttpOptions): FastifyInstance {
  const doorHosts = hostsOf(app.config.PAMOJA_DOOR_HOSTS)
  const http = Fastify({
    serverFactory: (handler) => serverFactory(handler),
    logger: false,
    bodyLimit: maxBodyBytes,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength },
    rewriteUrl: (request) => rewriteUrl(request, doorHosts),
    clientErrorHandler: () => undefined,
    frameworkErrors: (error, request, reply) => refuseUnrouted(app, trustedProxies, error, request, reply),
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
  })
  const methods = new Methods()
  http.decorateRequest('exchange')
  http.removeAllContentTypeParsers()
  http.addContentTypeParser('*', { parseAs: 'buffer' }, parseBody)
  http.addHook('onRequest', (request, reply, done) => enter({ app, trustedProxies, methods }, request, reply, done))
  http.addHook('onResponse', (request, reply, done) => {
    leave(app, request, reply)
    done()
  })
  http.setErrorHandler((error, request, reply) => refuse(app, request, reply, error))
  mount(http, app, routes, methods, streams)
  mountHooks(http, app, [...hooks, ...doorHooks(http, routes, doors, app.config.PAMOJA_DOORS)])
  // A revoked key ends its streams. The authenticator handles the signal first and drops the key from its cache.
  app.signals.on('accounts', (account) => streams.recheck(account))
  return http
}

/** Validation and serialisation are done by `validate.ts` and `api/json.ts`; Fastify must not load ajv at every start. */
function noCompiler(): never {
  throw new Error('a route of Fastify has a schema')
}

/**
 * Canonical URL of a route: `/api` is removed, and `/sandbox` becomes a mark that refuses live keys. A host name of a door
 * leads there.
 */
function rewriteUrl(request: IncomingMessage, doorHosts: ReadonlyMap<string, string>): string {
  let { url = '/' } = request
  // RFC 9112 3.2.2: a client that takes us for a proxy sends an absolute URL.
  if (!url.startsWith('/') && URL.canParse(url)) {
    const { pathname, search } = new URL(url)
    url = pathname + search
  }
  const door = doorHosts.get(request.headers.host?.replace(/:\d+$/, '').toLowerCase() ?? '')
  if (door !== undefined) return `/compat/${door}${url}`
  delete request.headers[sandboxMark]
  if (url.startsWith('/sandbox/')) {
    request.headers[sandboxMark] = 'true'
    url = url.slice('/sandbox'.length)
  }
  return url.startsWith('/api/v1/') || url === '/api/v1' ? url.slice('/api'.length) : url
}

function mount(http: FastifyInstance, app: App, routes: readonly Route[], methods: Methods, streams: Streams): void {
  const uploads: (readonly [CompiledRoute, string])[] = []
  for (const route of routes) {
    const compiled = compile(route)
    for (const path of [route.path, ...(route.aliases ?? [])]) {
      const isUpload = route.kind === 'upload' || route.kind === 'multipart'
      const isApart = isUpload || route.bodyLimitBytes !== undefined || !path.startsWith('/v1/')
      methods.add(path, route.method, isApart ? null : compiled)
      if (isUpload) uploads.push([compiled, path])
      else if (isApart)
        http.route({
          // One router entry for GET and HEAD: separate ones would be a third of all entries and of the time to add them.
          method: route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
          exposeHeadRoute: false,
          url: path,
          bodyLimit: route.bodyLimitBytes ?? maxBodyBytes,
          config: { compiled },
          handler: traced(app, (request, reply) => answer(app, streams, compiled, request, reply)),
        })
    }
  }
  mountUploads(http, app, uploads)
  http.route({
    method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposeHeadRoute: false,
    url: '/v1/*',
    bodyLimit: maxBodyBytes,
    config: { isAny: true },
    handler: traced(app, async (request, reply) => {
      const { compiled } = request.exchange
      if (compiled === null) throw nothingAt(request)
      return answer(app, streams, compiled, request, reply)
    }),
  })
}

function answer(
  app: App,
  streams: Streams,
  compiled: CompiledRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { route } = compiled
  if (route.kind === 'stream' || wantsMessages(route, request))
    return handleStream(app, streams, compiled, request, reply)
  if (route.kind === 'download') return handleDownload(app, compiled, request, reply)
  return handle(app, compiled, request, reply)
}

/** Upload routes: the body is streamed, so they have a body parser of their own. */
function mountUploads(http: FastifyInstance, app: App, uploads: readonly (readonly [CompiledRoute, string])[]): void {
  http.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, bytes, done) => done(null, bytes))
    for (const [compiled, url] of uploads) {
      const { method, kind } = compiled.route
      const handleFile = kind === 'multipart' ? handleMultipart : handleUpload
      const handler = traced(app, (request, reply) => handleFile(app, compiled, request, reply))
      scope.route({ method, url, config: { compiled }, handler })
    }
  })
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/** Handler inside the request's trace; unchanged when tracing is off. */
function traced({ tracer }: App, handler: Handler): Handler {
  if (tracer === null) return handler
  return (request, reply) => {
    const { span } = request.exchange
    return span ? tracer.within(span, () => handler(request, reply)) : handler(request, reply)
  }
}

/** Cache of compiled routes per process: tests run many nodes in one. Expensive parts are compiled at first use. */
const compiledRoutes = new WeakMap<Route, CompiledRoute>()

function compile(route: Route): CompiledRoute {
  const known = compiledRoutes.get(route)
  if (known) return known
  const compiled = new LazyRoute(route)
  compiledRoutes.set(route, compiled)
  return compiled
}

class LazyRoute implements CompiledRoute {
  readonly route: Route
  readonly checkParams: CompiledRoute['checkParams']
  readonly checkQuery: CompiledRoute['checkQuery']
  readonly checkBody: CompiledRoute['checkBody']
  readonly needsBody: boolean
  #write: Write | undefined
  #secretReply: boolean | undefined

  constructor(route: Route) {
    this.route = route
    this.checkParams = route.params ? queryChecker(route.params) : unchecked
    this.checkQuery = queryChecker(route.query ?? noFields)
    this.checkBody = bodyChecker(route.body ?? noFields)
    this.needsBody =
      route.body !== undefined &&
      'required' in route.body &&
      Array.isArray(route.body.required) &&
      route.body.required.length > 0
  }

  get write(): Write {
    this.#write ??= serialiser(this.route.reply.schema)
    return this.#write
  }

  get secretReply(): boolean {
    this.#secretReply ??= JSON.stringify(this.route.reply.schema).includes('"sensitive":true')
    return this.#secretReply
  }
}

const noFields = Type.Object({})
const unchecked = (value: unknown): Checked<unknown> => ({ value, unknown: [] })

async function handle(
  app: App,
  compiled: CompiledRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { route } = compiled
  const { exchange } = request
  if (!exchange.principal) await admitByForm(app, request, reply)
  const caller = callerOf(exchange)
  const { traceparent } = request.headers
  if (traceparent !== undefined && route.method !== 'GET') app.outbox.traces.noteNamed(exchange.id, traceparent)
  const key = route.method === 'GET' ? null : keyOf(request.headers['idempotency-key'], request.body)
  if (key === null) {
    const input = checked(compiled, request, reply)
    if (route.kind === 'read' && route.csv && wantsCsv(request, input)) {
      const table = route.csv(await route.handle(app, input, caller))
      return reply.header('content-type', 'text/csv; charset=utf-8').send(table)
    }
    if (route.reply.list && wantsCsv(request, input)) return sendCsv(app, compiled, input, caller, reply)
    return send(compiled, request, reply, await execute(app, compiled, input, caller))
  }
  const hash = app.idempotency.hashOf(route.method, request.url, exchange.rawBody)
  return executeOnce({ app, compiled, request, reply, caller, key, hash })
}

/** Handles an upload. When it is refused, the rest of the body is discarded, so that the client can read the error. */
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
    // An Idempotency-Key would need a hash of the whole file; ignoring it would break its promise, so it is refused.
    if (request.headers['idempotency-key'] !== undefined)
      throw new AppError(
        'INVALID_REQUEST',
        'Idempotency-Key is not supported for file uploads: an upload can be repeated',
      )
    const input = checked(compiled, request, reply)
    const file = request.raw.iterator({ destroyOnReturn: false })
    return send(compiled, request, reply, await route.handle(app, input, callerOf(request.exchange), file))
  } finally {
    request.raw.resume()
  }
}

function refuse(app: App, request: FastifyRequest, reply: FastifyReply, thrown: unknown): FastifyReply {
  const { exchange } = request
  const told = isClientAborted(request, thrown) ? clientAborted(app, exchange) : asAppError(app, exchange, thrown)
  const error = asQueryError(request, told)
  if (error.extras.retryAfterSeconds !== undefined) reply.header('retry-after', String(error.extras.retryAfterSeconds))
  if (error.code === 'UNAUTHORIZED')
    reply.header('www-authenticate', request.headers.authorization ? 'Bearer error="invalid_token"' : 'Bearer')
  // An error stored under an idempotency key is replayed exactly as stored.
  const stored = exchange.errorCode === error.code ? exchange.replyText : null
  exchange.errorCode = error.code
  exchange.replyText = stored ?? errorBody(app, exchange, error)
  reply.code(error.status)
  if (isBrowsing(request.method, request.headers.accept)) {
    const shown = errorPage(app.publicUrl, exchange.id, error, withoutKeys(error.details))
    return reply.headers(shown.headers).send(shown.body)
  }
  reply.header('content-type', 'application/json; charset=utf-8')
  return reply.send(exchange.replyText + lastLine)
}

/** Errors of GET requests refer to the query: they have no body. */
function asQueryError({ method }: FastifyRequest, error: AppError): AppError {
  const isQuery = (method === 'GET' || method === 'HEAD') && error.status === 422
  return isQuery ? new AppError('INVALID_REQUEST', error.details, error.extras) : error
}

/** Whether the client disconnected, which gives the same error as a lost database connection. */
function isClientAborted({ raw }: FastifyRequest, thrown: unknown): boolean {
  return raw.errored !== null && (thrown === raw.errored || errorCode(asError(thrown)) === 'ERR_STREAM_PREMATURE_CLOSE')
}

/** Client disconnected: nobody reads the reply. */
function clientAborted({ log }: App, { id }: Exchange): AppError {
  log.debug({ request: id }, 'request aborted by its client: nothing to do')
  return new AppError('INVALID_REQUEST', 'the request broke off before its end')
}

/** Refuses a request whose path is not a valid URL, which never reaches the hooks. */
function refuseUnrouted(
  app: App,
  trustedProxies: BlockList,
  error: Error,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const exchange = begin(app, trustedProxies, request, reply, null)
  limitUnauthenticated(app, exchange, reply, error, (refusal) => refuse(app, request, reply, refusal ?? error))
}
