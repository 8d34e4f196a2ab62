// SPDX-License-Identifier: Apache-2.0
// Admission of requests: credentials, then limits, then the route's scope. It needs no body, so that a refused request
// costs little.
import type { IncomingMessage } from 'node:http'
import { type BlockList, isIP, isIPv6 } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { parseAddress } from '../../kernel/addresses.ts'
import { AppError, type ErrorCode } from '../../kernel/errors.ts'
import { newIdAndUuid } from '../../kernel/ids.ts'
import type { Route } from '../api/route.ts'
import type { App } from '../app.ts'
import { confirmationRefusal, environmentOf, refuseForgery, sessionTokenOf } from '../auth/console-sessions.ts'
import { allows } from '../auth/scopes.ts'
import type { Principal } from '../auth.ts'
import { isUnavailable } from '../db.ts'
import { rateHeaders } from '../limits/headers.ts'
import { limitCode } from '../limits/plan-limits.ts'
import type { Policy } from '../limits/share.ts'
import type { Admission } from '../limits.ts'
import type { Span, Tracer } from '../telemetry/tracing.ts'
import { doorPathOf } from './door-mark.ts'
import { asError, type CompiledRoute, type Exchange, nothingAt } from './exchange.ts'
import { forward, forwardedFor, isForElsewhere } from './forward.ts'
import type { Methods } from './methods.ts'

/** Rate limit per second and IP address for requests without valid credentials. */
const strangerLimit = 20
/** Limit for static files, of which one page takes several. */
const filesPerSecond = 500
/** Header set on requests to the sandbox path. */
export const sandboxMark = 'pamoja-sandbox'

/** HSTS: browsers use HTTPS for a year. */
export const transportSecurity = 'max-age=31536000'

export type Done = (error?: Error) => void

interface Door {
  readonly app: App
  readonly trustedProxies: BlockList
  readonly methods: Methods
}

export function enter(
  { app, trustedProxies, methods }: Door,
  request: FastifyRequest,
  reply: FastifyReply,
  done: Done,
): void {
  const { compiled: ofEntry = null, isAny, open, probe, files, hook } = request.routeOptions.config
  const found = isAny || request.is404 ? methods.find(request.method, request.url) : null
  const compiled = isAny ? (found?.operation ?? null) : ofEntry
  if (isAny && found !== null) request.params = found.params
  const exchange = begin(app, trustedProxies, request, reply, compiled)
  if (compiled === null && (isAny || request.is404)) {
    exchange.allow = found?.allow ?? null
    exchange.meant = () => meantBy(methods, request)
  }
  const correlation = request.headers['x-correlation-id']
  if (typeof correlation === 'string' && /^[\x20-\x7e]{1,128}$/.test(correlation))
    reply.header('x-correlation-id', correlation)
  // Hooks apply their own limits.
  if (hook) return done()
  // The route decides, not the path, which can be written in several ways.
  const isApi = compiled !== null || exchange.allow !== null || request.url.startsWith('/v1')
  if (open || !isApi || bringsKeyInForm(request)) {
    const isLimited = open === true && probe !== true
    const next: Done = (refusal) =>
      done(refusal ?? (isLimited ? overLimit(app, exchange) : undefined) ?? missing(request))
    return limitUnauthenticated(app, exchange, reply, null, next, files === true ? filesPolicy : addressPolicy)
  }
  try {
    const principal = principalOf(app, request, exchange.ip)
    if (principal instanceof Promise)
      principal.then(
        (found) => admitPrincipal(app, request, reply, found, done),
        (error: Error) => limitUnauthenticated(app, exchange, reply, error, done),
      )
    else admitPrincipal(app, request, reply, principal, done)
  } catch (error) {
    limitUnauthenticated(app, exchange, reply, asError(error), done)
  }
}

/** Principal of a request: from the key or token in its header, else from the session cookie. */
export function principalOf(app: App, request: FastifyRequest, ip: string): Principal | Promise<Principal> {
  const { method, headers } = request
  const credential = credentialOf(request)
  const token = credential === undefined ? sessionTokenOf(headers) : null
  if (token === null) return app.authenticator.authenticate(credential, ip)
  refuseForgery(method, headers, token)
  return app.authenticator.authenticateSession(token, environmentOf(headers), ip)
}

/** Refuses two Authorization headers: Node uses the first, a proxy may have checked the other. */
function credentialOf({ headers, raw: { rawHeaders } }: FastifyRequest): string | undefined {
  const name = 'authorization'
  let found = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const given = rawHeaders[i]
    if (given?.length === name.length && given.toLowerCase() === name) found++
  }
  if (found > 1) throw new AppError('UNAUTHORIZED', 'the header Authorization is given twice: send one credential')
  return headers.authorization
}

/** Admits a key sent in a form, by the same rules. Other routes accept none there. */
export async function admitByForm(app: App, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { body, exchange } = request
  const given =
    exchange.compiled?.route.keyInForm && typeof body === 'object' && body !== null && 'client_secret' in body
  if (!given)
    throw refusalOf(
      app,
      exchange,
      new AppError('UNAUTHORIZED', 'the Authorization header and client_secret are missing'),
    )
  const principal = await authenticateForm(app, exchange, String(body.client_secret))
  await new Promise<void>((resolve, reject) => {
    admitPrincipal(app, request, reply, principal, (refusal) => (refusal ? reject(refusal) : resolve()))
  })
}

async function authenticateForm(app: App, exchange: Exchange, secret: string): Promise<Principal> {
  try {
    return await app.authenticator.authenticate(`Bearer ${secret}`, exchange.ip)
  } catch (error) {
    throw refusalOf(app, exchange, asError(error))
  }
}

function admitPrincipal(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  principal: Principal,
  done: Done,
): void {
  const { exchange, headers } = request
  if (principal.tenant.environment === 'live' && headers[sandboxMark] === 'true')
    return limitUnauthenticated(
      app,
      exchange,
      reply,
      new AppError('UNAUTHORIZED', 'the sandbox takes test keys only'),
      done,
    )
  if (isForElsewhere(app, request, principal)) return forward(app, request, reply, done)
  exchange.principal = principal
  reply.header('pamoja-environment', principal.tenant.environment)
  const { expiresAt } = principal.facts
  if (expiresAt) reply.header('pamoja-key-expires', expiresAt.toISOString())
  admitKnown(app, exchange, principal, reply, (refusal) => done(refusal ?? missing(request)))
}

/** Operation that was probably meant, such as `POST /api/v1/sms/send`; it quotes nothing of the request. */
function meantBy(methods: Methods, { method, url, headers, exchange }: FastifyRequest): string | null {
  // A stranger over the rate limit gets no suggestion, since finding one takes time.
  const nearest = exchange.asStranger?.refusedBy ? null : methods.nearestTo(method, url)
  if (nearest === null) return null
  const prefix = headers[sandboxMark] === 'true' ? '/sandbox/api' : '/api'
  return `${nearest.method} ${prefix}${nearest.pattern.replace(/:(\w+)/g, '{$1}')}`
}

/** Error for an unknown path; it comes before errors of the body. */
function missing(request: FastifyRequest): AppError | undefined {
  const { exchange, is404, routeOptions } = request
  return is404 || (routeOptions.config.isAny && exchange.compiled === null) ? nothingAt(request) : undefined
}

/** Starts a request: assigns its id and the headers of every response. */
export function begin(
  app: App,
  trustedProxies: BlockList,
  request: FastifyRequest,
  reply: FastifyReply,
  compiled: CompiledRoute | null,
): Exchange {
  const receivedMs = app.clock.nowMs()
  const { id, uuid } = newIdAndUuid('request', receivedMs)
  const client = forwardedFor(app, request.raw)
  const exchange: Exchange = {
    uuid,
    id,
    startedAt: performance.now(),
    receivedMs,
    ip: client ?? addressOf(request, trustedProxies),
    isForwarded: client !== null,
    principal: null,
    asStranger: null,
    compiled,
    allow: null,
    meant: null,
    rawBody: '',
    unknown: [],
    errorCode: null,
    replyText: null,
    resultText: null,
    span: null,
    doorPath: doorPathOf(request.headers),
  }
  request.exchange = exchange
  if (app.tracer) exchange.span = beginSpan(app.tracer, request)
  reply.header('x-request-id', exchange.id)
  reply.header('cache-control', 'no-store')
  reply.header('strict-transport-security', transportSecurity)
  return exchange
}

function beginSpan(tracer: Tracer, { method, headers, routeOptions, exchange }: FastifyRequest): Span {
  const { operation, path = routeOptions.config.isAny ? undefined : routeOptions.url } = exchange.compiled?.route ?? {}
  return tracer.request(path === undefined ? method : `${method} ${path}`, headers.traceparent, {
    'http.request.method': method,
    'pamoja.request_id': exchange.id,
    ...(path === undefined ? {} : { 'http.route': path }),
    ...(operation === undefined ? {} : { 'pamoja.operation': operation }),
  })
}

/** OAuth 2 client credentials are in the body, so the key is checked after it is read. */
function bringsKeyInForm({ exchange, headers }: FastifyRequest): boolean {
  const form = headers['content-type']?.toLowerCase().startsWith('application/x-www-form-urlencoded') ?? false
  return form && headers.authorization === undefined && exchange.compiled?.route.keyInForm === true
}

/** Rate limit of requests without valid credentials, per IP address. */
export function limitUnauthenticated(
  app: App,
  exchange: Exchange,
  reply: FastifyReply,
  refusal: Error | null,
  done: Done,
  policyOf: (ip: string) => Policy = addressPolicy,
): void {
  const admission = app.limits.admit([policyOf(exchange.ip)])
  if (admission instanceof Promise) return void admission.then((later) => finish(later), done)
  finish(admission)

  function finish(decided: Admission): void {
    reply.headers(rateHeaders(decided, exchange.receivedMs))
    exchange.asStranger = decided
    done(refusal === null ? undefined : refusalOf(app, exchange, refusal))
  }
}

/** Error for missing or invalid credentials, or RATE_LIMITED after too many. */
function refusalOf(app: App, { asStranger }: Exchange, refusal: Error): Error {
  // A key that could not be looked up may be valid: while the database is unavailable, that is the error.
  const isStranger = !isUnavailable(refusal)
  const isLimited = isStranger && asStranger?.refusedBy && app.config.PAMOJA_RATE_LIMITS === 'on'
  return isLimited ? tooMany(app, asStranger, 'RATE_LIMITED') : refusal
}

/** Rate limit error of a public page; health checks are exempt, and a form is checked after its key is read. */
function overLimit(app: App, { asStranger }: Exchange): AppError | undefined {
  return asStranger?.refusedBy && app.config.PAMOJA_RATE_LIMITS === 'on'
    ? tooMany(app, asStranger, 'RATE_LIMITED')
    : undefined
}

/** Limit of one IPv4 address or IPv6 /64 network without valid credentials. */
export function addressPolicy(ip: string): Policy {
  return { name: 'address', key: `address:${networkOf(ip)}`, limit: strangerLimit, windowMs: 1_000, shared: false }
}

/** Limit of static files for one address, which a whole network may share. */
function filesPolicy(ip: string): Policy {
  return { name: 'address', key: `files:${networkOf(ip)}`, limit: filesPerSecond, windowMs: 1_000, shared: false }
}

/** Network of an address: the IPv4 address itself, or the IPv6 /64. */
export function networkOf(ip: string): string {
  const address = parseAddress(ip)
  // The first 64 bits identify an IPv6 network, however its address is written.
  return address?.version === 6 ? `${(address.bits >> 64n).toString(16)}::/64` : ip
}

function admitKnown(app: App, exchange: Exchange, principal: Principal, reply: FastifyReply, done: Done): void {
  const { allow } = exchange
  const route = exchange.compiled?.route
  const plan = route?.limit && route.method !== 'GET' ? principal.planPolicies[route.limit] : undefined
  const forbidden =
    route && allow === null
      ? (scopeRefusal(route, principal) ??
        confirmationRefusal(route.scope, route.method, principal.signedInAtMs, exchange.receivedMs))
      : null
  const policies = plan && !forbidden ? [...principal.keyPolicies, plan] : principal.keyPolicies
  try {
    const admission = app.limits.admit(policies)
    if (admission instanceof Promise) admission.then(finish, (error: Error) => done(error))
    else finish(admission)
  } catch (error) {
    done(asError(error))
  }

  function finish(admission: Admission): void {
    reply.headers(rateHeaders(admission, exchange.receivedMs))
    if (admission.refusedBy && app.config.PAMOJA_RATE_LIMITS === 'on')
      return done(
        tooMany(
          app,
          admission,
          admission.refusedBy.name === plan?.name && route?.limit ? limitCode(route.limit) : 'RATE_LIMITED',
        ),
      )
    if (allow !== null) {
      reply.header('allow', allow)
      const meant = exchange.meant?.() ?? null
      const suggestion = meant === null ? '' : `; did you mean ${meant}?`
      return done(new AppError('METHOD_NOT_ALLOWED', `this address takes ${allow}${suggestion}`))
    }
    done(forbidden ?? undefined)
  }
}

/** Refusal of a route to a credential; null when it may be used. */
export function scopeRefusal({ scope }: Route, { scopes, facts }: Principal): AppError | null {
  if (facts.suspended && scope !== 'any') return new AppError('ACCOUNT_SUSPENDED', 'the account is suspended')
  if (scope.startsWith('sandbox:') && facts.environment !== 'test')
    return new AppError('FORBIDDEN', 'the sandbox takes test keys only; this is a live one')
  if (scope === 'any' || (allows(scopes, scope) && (scope !== 'operator' || facts.operator))) return null
  return new AppError('FORBIDDEN', `the scope ${scope} is missing`, { extra: { required_scope: scope } })
}

export function tooMany(app: App, { tightest }: Admission, code: ErrorCode): AppError {
  app.metrics.refusals.inc({ policy: tightest.name })
  const seconds = Math.max(1, Math.ceil(tightest.resetMs / 1000))
  return new AppError(
    code,
    `the limit is ${tightest.limit} requests in ${tightest.windowMs / 1000} s; try again in ${seconds} s`,
    {
      retryAfterSeconds: seconds,
      extra: { limit: tightest.limit, window: tightest.windowMs / 1000, policy: tightest.name },
    },
  )
}

/** Client IP address: the peer's, or the one a trusted proxy reports. */
function addressOf({ raw }: FastifyRequest, trustedProxies: BlockList): string {
  return clientAddress(raw, trustedProxies)
}

export function clientAddress({ socket, headers }: IncomingMessage, trustedProxies: BlockList): string {
  const peer = (socket.remoteAddress ?? '0.0.0.0').replace(/^::ffff:/, '')
  const forwarded = headers['x-forwarded-for']
  if (typeof forwarded !== 'string' || !trustedProxies.check(peer, isIPv6(peer) ? 'ipv6' : 'ipv4')) return peer
  // Last address that is not a trusted proxy: earlier entries were written by the client.
  const hops = forwarded.split(',').map((hop) => hop.trim().replace(/^::ffff:/, ''))
  const client = hops.findLast((hop) => isIP(hop) !== 0 && !trustedProxies.check(hop, isIPv6(hop) ? 'ipv6' : 'ipv4'))
  return client ?? peer
}
