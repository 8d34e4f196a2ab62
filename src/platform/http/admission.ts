// SPDX-License-Identifier: Apache-2.0
// Admission of requests: credentials first, then the limits, then the route's scope, in the order that http.ts gives. What is
// decided here needs no body; it costs a request that is refused as little as possible.
import type { IncomingMessage } from 'node:http'
import { type BlockList, isIP, isIPv6 } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { parseAddress } from '../../kernel/addresses.ts'
import { AppError, type ErrorCode } from '../../kernel/errors.ts'
import { newIdAndUuid } from '../../kernel/ids.ts'
import type { App } from '../app.ts'
import { allows } from '../auth/scopes.ts'
import { confirmationRefusal, environmentOf, refuseForgery, sessionTokenOf } from '../auth/sessions.ts'
import type { Principal } from '../auth.ts'
import { isUnavailable } from '../db.ts'
import { rateHeaders } from '../limits/headers.ts'
import { limitCode } from '../limits/plan-limits.ts'
import type { Policy } from '../limits/share.ts'
import type { Admission } from '../limits.ts'
import type { Route } from '../route.ts'
import type { Span, Tracer } from '../tracing.ts'
import { asError, type CompiledRoute, type Exchange, nothingAt } from './exchange.ts'
import type { Methods } from './methods.ts'

/** Requests a second without valid credentials, from one address. */
const strangerLimit = 20
/** Set on requests that came to the sandbox's address. */
export const sandboxMark = 'pamoja-sandbox'

/** Browsers remember for a year that this host speaks HTTPS. */
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
  const { compiled = null, allow = null, open, probe, hook } = request.routeOptions.config
  const exchange = begin(app, trustedProxies, request, reply, compiled)
  exchange.allow = request.is404 ? methods.allowedAt(request.url) : allow
  const correlation = request.headers['x-correlation-id']
  if (typeof correlation === 'string' && /^[\x20-\x7e]{1,128}$/.test(correlation))
    reply.header('x-correlation-id', correlation)
  // Its own limits are asked next, and by nobody else.
  if (hook) return done()
  // Which route it is, is not read from the path: that can be written in more ways than one.
  const isApi = compiled !== null || exchange.allow !== null || request.url.startsWith('/v1')
  if (open || !isApi || bringsKeyInForm(request)) {
    const isLimited = open === true && probe !== true
    return admitStranger(app, exchange, reply, null, (refusal) =>
      done(refusal ?? (isLimited ? overLimit(app, exchange) : undefined) ?? missing(request)),
    )
  }
  try {
    const principal = principalOf(app, request, exchange.ip)
    if (principal instanceof Promise)
      principal.then(
        (found) => admitPrincipal(app, request, reply, found, done),
        (error: Error) => admitStranger(app, exchange, reply, error, done),
      )
    else admitPrincipal(app, request, reply, principal, done)
  } catch (error) {
    admitStranger(app, exchange, reply, asError(error), done)
  }
}

/** Whoever the credentials of a request belong to: a key or token in its header, else the session in its cookie. */
export function principalOf(app: App, request: FastifyRequest, ip: string): Principal | Promise<Principal> {
  const { method, headers } = request
  const credential = credentialOf(request)
  const token = credential === undefined ? sessionTokenOf(headers) : null
  if (token === null) return app.authenticator.authenticate(credential, ip)
  refuseForgery(method, headers, token)
  return app.authenticator.authenticateSession(token, environmentOf(headers), ip)
}

/** Of two, Node would hand on the first; whoever stands in between may have looked at the other. */
function credentialOf({ headers, raw: { rawHeaders } }: FastifyRequest): string | undefined {
  const name = 'authorization'
  let found = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const given = rawHeaders[i]
    if (given?.length === name.length && given.toLowerCase() === name) found++
  }
  if (found > 1) throw new AppError('UNAUTHORIZED', 'the header Authorization is there twice: send one credential')
  return headers.authorization
}

/** Lets in whoever brought the key in a form, by the same rules as everyone else. Other routes take no key there. */
export async function enterByForm(app: App, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { body, exchange } = request
  const given =
    exchange.compiled?.route.keyInForm && typeof body === 'object' && body !== null && 'client_secret' in body
  if (!given)
    throw refusalOf(
      app,
      exchange,
      new AppError('UNAUTHORIZED', 'there is neither an Authorization header nor a client_secret'),
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
    return admitStranger(app, exchange, reply, new AppError('UNAUTHORIZED', 'the sandbox takes test keys only'), done)
  exchange.principal = principal
  reply.header('pamoja-environment', principal.tenant.environment)
  const { expiresAt } = principal.facts
  if (expiresAt) reply.header('pamoja-key-expires', expiresAt.toISOString())
  admitKnown(app, exchange, principal, reply, (refusal) => done(refusal ?? missing(request)))
}

/** Where there is nothing, nobody has to send a body that is well formed to be told so. */
function missing(request: FastifyRequest): AppError | undefined {
  return request.is404 ? nothingAt(request) : undefined
}

/** Gives a request its id, and its response the headers that every response has. */
export function begin(
  app: App,
  trustedProxies: BlockList,
  request: FastifyRequest,
  reply: FastifyReply,
  compiled: CompiledRoute | null,
): Exchange {
  const receivedMs = app.clock.nowMs()
  const { id, uuid } = newIdAndUuid('request', receivedMs)
  const exchange: Exchange = {
    uuid,
    id,
    startedAt: performance.now(),
    receivedMs,
    ip: addressOf(request, trustedProxies),
    principal: null,
    asStranger: null,
    compiled,
    allow: null,
    rawBody: '',
    unknown: [],
    errorCode: null,
    replyText: null,
    resultText: null,
    span: null,
  }
  request.exchange = exchange
  if (app.tracer) exchange.span = beginSpan(app.tracer, request)
  reply.header('x-request-id', exchange.id)
  reply.header('cache-control', 'no-store')
  reply.header('strict-transport-security', transportSecurity)
  return exchange
}

function beginSpan(tracer: Tracer, { method, headers, routeOptions, exchange }: FastifyRequest): Span {
  const { url: path } = routeOptions
  const operation = exchange.compiled?.route.operation
  return tracer.request(path === undefined ? method : `${method} ${path}`, headers.traceparent, {
    'http.request.method': method,
    'pamoja.request_id': exchange.id,
    ...(path === undefined ? {} : { 'http.route': path }),
    ...(operation === undefined ? {} : { 'pamoja.operation': operation }),
  })
}

/** OAuth 2 client credentials stand in the body, so the key is looked at once the body is read. */
function bringsKeyInForm({ exchange, headers }: FastifyRequest): boolean {
  const form = headers['content-type']?.toLowerCase().startsWith('application/x-www-form-urlencoded') ?? false
  return form && headers.authorization === undefined && exchange.compiled?.route.keyInForm === true
}

/** Requests without valid credentials share a small limit per address. */
export function admitStranger(
  app: App,
  exchange: Exchange,
  reply: FastifyReply,
  refusal: Error | null,
  done: Done,
): void {
  const admission = app.limits.admit([addressPolicy(exchange.ip)])
  if (admission instanceof Promise) return void admission.then((later) => finish(later), done)
  finish(admission)

  function finish(decided: Admission): void {
    reply.headers(rateHeaders(decided, exchange.receivedMs))
    exchange.asStranger = decided
    done(refusal === null ? undefined : refusalOf(app, exchange, refusal))
  }
}

/** What somebody without valid credentials is told: why they are not, or that there were too many of them. */
function refusalOf(app: App, { asStranger }: Exchange, refusal: Error): Error {
  // A key that could not be looked up may be a good one: while the database is away everybody hears that, and nothing else.
  const isStranger = !isUnavailable(refusal)
  const isLimited = isStranger && asStranger?.refusedBy && app.config.PAMOJA_RATE_LIMITS === 'on'
  return isLimited ? tooMany(app, asStranger, 'RATE_LIMITED') : refusal
}

/** Why a page that is open to everybody is not given; health is always told, and a form is judged once its key is read. */
function overLimit(app: App, { asStranger }: Exchange): AppError | undefined {
  return asStranger?.refusedBy && app.config.PAMOJA_RATE_LIMITS === 'on'
    ? tooMany(app, asStranger, 'RATE_LIMITED')
    : undefined
}

/** What one address, or one IPv6 network, may do without valid credentials. */
export function addressPolicy(ip: string): Policy {
  return { name: 'address', key: `address:${networkOf(ip)}`, limit: strangerLimit, windowMs: 1_000, shared: false }
}

/** The address itself, or the IPv6 network that somebody has whole. */
export function networkOf(ip: string): string {
  const address = parseAddress(ip)
  // The same network can be written in many ways; its first 64 bits cannot.
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
      return done(new AppError('METHOD_NOT_ALLOWED', `this address takes ${allow}`))
    }
    done(forbidden ?? undefined)
  }
}

/** Why a credential may not use a route; null when it may. */
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

/** The client's address: the peer's, or what a proxy we trust says it is. */
function addressOf({ raw }: FastifyRequest, trustedProxies: BlockList): string {
  return clientAddress(raw, trustedProxies)
}

export function clientAddress({ socket, headers }: IncomingMessage, trustedProxies: BlockList): string {
  const peer = (socket.remoteAddress ?? '0.0.0.0').replace(/^::ffff:/, '')
  const forwarded = headers['x-forwarded-for']
  if (typeof forwarded !== 'string' || !trustedProxies.check(peer, isIPv6(peer) ? 'ipv6' : 'ipv4')) return peer
  // The last address that is not one of ours: everything before it was written by the client.
  const hops = forwarded.split(',').map((hop) => hop.trim().replace(/^::ffff:/, ''))
  const client = hops.findLast((hop) => isIP(hop) !== 0 && !trustedProxies.check(hop, isIPv6(hop) ? 'ipv6' : 'ipv4'))
  return client ?? peer
}
