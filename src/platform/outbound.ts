// SPDX-License-Identifier: Apache-2.0
// The one door through which a URL given by a customer, or by an operator, is ever requested. Names are resolved here, once for each
// connection; every address is checked; and only a checked address is dialled, so that a name which changes its mind
// between the check and the connection (DNS rebinding) gains nothing. Redirects are answers, never followed.
// Connections belong to one endpoint each, so that a slow receiver delays nobody but itself.
import { X509Certificate } from 'node:crypto'
import type { LookupAddress } from 'node:dns'
import { Resolver, lookup as systemLookup } from 'node:dns/promises'
import { performance } from 'node:perf_hooks'
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls'
import { type buildConnector, Client, type Dispatcher } from 'undici'
import { type Address, parseAddress } from '../kernel/addresses.ts'
import { AppError } from '../kernel/errors.ts'
import { type OutboundPolicy, type Purpose, parseTarget, type Target, UrlRules, type UrlUse } from './customer-urls.ts'
import {
  type Connection,
  codeOf,
  dial,
  Failure,
  failureOf,
  isLostConnection,
  maxHeaderBytes,
  type OutboundError,
  since,
} from './dial.ts'
import type { Environment } from './tenant.ts'

export interface OutboundRequest extends Purpose {
  /** What to keep apart: requests of different pools never share a connection or wait for each other. */
  pool: string
  url: string
  /** Follows what the URL has. For what differs from request to request: parsed URLs are remembered. */
  query?: string
  method: 'GET' | 'POST'
  /** Pairs in a flat list (name, value, name, value) are the cheaper form. Not `host`, nothing hop-by-hop. */
  headers: Record<string, string> | string[]
  body: string | Buffer | null
  /** From the start of the request to the end of the answer's headers. */
  timeoutMs?: number
  /** How much of the answer's body is kept; 4 KiB unless told. */
  maxAnswerBytes?: number
  /** Never repeated on another connection when one that had been idle breaks: then nobody knows whether it arrived. */
  once?: boolean
  /** How many requests of this pool may run at once; further ones wait, and their time starts when they start. */
  connections: number
}

interface Timing {
  /** Until the end of the answer's headers, or until the request failed. */
  durationMs: number
  /** Null when nothing of the kind was done: on a connection that was open already, for an address, over http. */
  dnsMs: number | null
  connectMs: number | null
  tlsMs: number | null
}

export type Outcome =
  | {
      kind: 'answered'
      status: number
      /** Names in lower case; repeated ones joined with a comma. */
      headers: Record<string, string>
      /** As much as was asked for, as text that can be stored anywhere: what is not UTF-8 and U+0000 became U+FFFD. */
      body: string
      truncated: boolean
      timing: Timing
      ip: string
    }
  | {
      kind: 'failed'
      error: OutboundError
      /** One sentence that may be shown to the customer: it tells nothing of an address that was refused. */
      reason: string
      timing: Timing
      ip: string | null
    }

/** As dns.promises.lookup with `all`. */
export type Lookup = (hostname: string) => Promise<readonly LookupAddress[]>

const defaultTimeoutMs = 5_000
const bodyTimeoutMs = 1_000
const checkTimeoutMs = 2_000
export const usualAnswerBytes = 4 * 1024
/** 1xx answers before the real one. */
const maxInformational = 16
/** Without a Keep-Alive header of the receiver's, and at most with one. */
const keepAliveMs = 10_000
const maxKeepAliveMs = 60_000
const defaultLimits = {
  /** Idle connections of all pools together; beyond, the one that was idle longest is closed. */
  idleConnections: 512,
  /** A busy connection is closed at this age too, because its address was checked when it was opened. */
  connectionAgeMs: 5 * 60_000,
  /** Requests that wait in one pool. The scheduler above keeps to `connections`, so that reaching this is a bug. */
  waiting: 1_000,
}
const maxTargets = 2_048
const dnsTryMs = 1_500
const dnsTries = 2

export class Outbound {
  readonly #rules: UrlRules
  readonly #lookup: Lookup
  readonly #connections: Connections
  /** Parsed URLs, so that an endpoint's is not parsed for each delivery. */
  readonly #targets = new Map<string, Target | { problem: string }>()

  constructor(options: { policy: OutboundPolicy; lookup?: Lookup; limits?: Partial<typeof defaultLimits> }) {
    this.#rules = new UrlRules(options.policy)
    this.#lookup = options.lookup ?? (options.policy.production ? nameServerLookup() : hostLookup)
    this.#connections = new Connections(this.#rules, this.#lookup, options.policy, {
      ...defaultLimits,
      ...options.limits,
    })
  }

  /**
   * Throws INVALID_URL, with a sentence that names `field` and says what to do, when the URL may not be called. A name
   * that does not resolve, or not in time, is accepted: it is checked again at every connection.
   */
  async checkUrl(url: string, use: UrlUse, environment: Environment, field: string): Promise<void> {
    const target = parseTarget(url)
    const problem = 'problem' in target ? target.problem : await this.#problemOf(target, { use, environment })
    if (problem !== null) throw new AppError('INVALID_URL', `${field} ${problem}.`)
  }

  /** Makes one request. What the other side does is an outcome; a rejection is a mistake of the caller's. */
  send(request: OutboundRequest): Promise<Outcome> {
    const target = this.#target(request.url)
    if ('problem' in target) return Promise.resolve(blocked(target.problem))
    return this.#connections.send(target, request)
  }

  /** Closes idle connections and waits for the requests in progress, which their timeouts bound. */
  close(): Promise<void> {
    return this.#connections.close()
  }

  async #problemOf(target: Target, purpose: Purpose): Promise<string | null> {
    const problem = this.#rules.problemOf(target, purpose)
    if (problem !== null || target.literal !== null) return problem
    let timer: NodeJS.Timeout | undefined
    const tooLate = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, checkTimeoutMs, null)
    })
    const found = await Promise.race([this.#lookup(target.hostname).catch(() => null), tooLate])
    clearTimeout(timer)
    if (found === null || found.length === 0) return this.#rules.problemOfUnresolved(target)
    return this.#rules.problemOfAddresses(target, purpose, found.map(parsed))
  }

  #target(url: string): Target | { problem: string } {
    const known = this.#targets.get(url)
    if (known) return known
    const target = parseTarget(url)
    const [oldest] = this.#targets.size >= maxTargets ? this.#targets.keys() : []
    if (oldest !== undefined) this.#targets.delete(oldest)
    this.#targets.set(url, target)
    return target
  }
}

/** Requests to one origin on behalf of one owner. It exists while it has connections or requests that wait for one. */
interface Pool {
  readonly key: string
  readonly target: Target
  readonly purpose: Purpose
  /** How many lanes there are, and may be. */
  size: number
  limit: number
  readonly idle: Lane[]
  readonly waiting: Exchange[]
  /** Lets the next connection skip the costly part of the TLS handshake. */
  session: Buffer | null
}

/** One connection, or the place for one, and the request that has it. */
interface Lane {
  readonly pool: Pool
  readonly client: Client
  exchange: Exchange | null
  connection: Connection | null
  isDiscarded: boolean
}

/** Who has which connection. One HTTP client for each connection, so that it is known which one a request got. */
class Connections {
  readonly #rules: UrlRules
  readonly #lookup: Lookup
  readonly #limits: typeof defaultLimits
  readonly #secureContext: SecureContext
  readonly #proxy: string | null
  readonly #pools = new Map<string, Pool>()
  /** In the order in which they became idle. */
  readonly #idle = new Set<Lane>()
  #running = 0
  #whenIdle: (() => void) | null = null
  #closed: Promise<void> | null = null

  constructor(rules: UrlRules, lookup: Lookup, { extraCa, proxy }: OutboundPolicy, limits: typeof defaultLimits) {
    this.#rules = rules
    this.#proxy = proxy
    this.#lookup = lookup
    this.#limits = limits
    // A text that is no certificate would be passed over in silence below.
    if (extraCa !== null) new X509Certificate(extraCa)
    const ca = extraCa === null ? {} : { ca: [...rootCertificates, extraCa] }
    this.#secureContext = createSecureContext({ minVersion: 'TLSv1.2', ...ca })
  }

  send(target: Target, request: OutboundRequest): Promise<Outcome> {
    if (this.#closed) return Promise.reject(new Misuse('a request after close()'))
    const key = `${request.environment} ${request.use} ${target.origin} ${request.pool}`
    let pool = this.#pools.get(key)
    if (!pool) {
      const problem = this.#rules.problemOf(target, request)
      if (problem !== null) return Promise.resolve(blocked(problem))
      pool = newPool(key, target, request)
      this.#pools.set(key, pool)
    }
    if (pool.waiting.length >= this.#limits.waiting)
      return Promise.reject(new Misuse(`more than ${this.#limits.waiting} requests wait for one endpoint`))
    pool.limit = Math.max(1, request.connections)
    this.#running += 1
    return this.#begin(pool, request, pathOf(target, request.query))
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#whenIdle = resolve
      for (const lane of this.#idle) this.#discard(lane)
      if (this.#running === 0) resolve()
    })
    return this.#closed
  }

  /** The exchange has its answer and the connection may serve the next. */
  release(lane: Lane): void {
    this.#ended(lane)
    const { pool, connection } = lane
    const isTooOld = connection === null || performance.now() - connection.openedAt > this.#limits.connectionAgeMs
    if (isTooOld || this.#closed || pool.size > pool.limit) return this.#discard(lane)
    const next = pool.waiting.shift()
    if (next) return this.#start(lane, next)
    pool.idle.push(lane)
    this.#idle.add(lane)
    const [oldest] = this.#idle.size > this.#limits.idleConnections ? this.#idle : []
    if (oldest) this.#discard(oldest)
  }

  /** The exchange is over and its connection is of no more use. */
  abandon(lane: Lane): void {
    this.#ended(lane)
    this.#discard(lane)
  }

  /** Gives the exchange another connection, newly opened, in place of one that was closed while it was idle. */
  restart(lane: Lane, exchange: Exchange): void {
    const fresh = this.#newLane(lane.pool)
    lane.exchange = null
    fresh.exchange = exchange
    this.#discard(lane)
    exchange.dispatch(fresh)
  }

  #begin(pool: Pool, request: OutboundRequest, path: string): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const exchange = new Exchange(this, request, path, resolve, reject)
      const lane = pool.idle.pop()
      if (lane) this.#start(lane, exchange)
      else if (pool.size < pool.limit) this.#start(this.#newLane(pool), exchange)
      else pool.waiting.push(exchange)
    })
  }

  #start(lane: Lane, exchange: Exchange): void {
    this.#idle.delete(lane)
    lane.exchange = exchange
    exchange.start(lane)
  }

  #ended(lane: Lane): void {
    lane.exchange = null
    this.#running -= 1
    if (this.#running === 0) this.#whenIdle?.()
  }

  #newLane(pool: Pool): Lane {
    const client = new Client(pool.target.origin, {
      connect: (_options, callback) => this.#open(lane, callback),
      pipelining: 1,
      maxHeaderSize: maxHeaderBytes,
      // The timer of the exchange covers both, and the connection too.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: maxKeepAliveMs,
    })
    const lane: Lane = { pool, client, exchange: null, connection: null, isDiscarded: false }
    pool.size += 1
    client.on('disconnect', () => {
      if (lane.exchange === null) this.#discard(lane)
    })
    return lane
  }

  #discard(lane: Lane): void {
    if (lane.isDiscarded) return
    lane.isDiscarded = true
    const { pool, client, connection } = lane
    this.#idle.delete(lane)
    const place = pool.idle.indexOf(lane)
    if (place >= 0) pool.idle.splice(place, 1)
    pool.size -= 1
    // Later, because this may be called from inside the client; and always with an error, because the client takes a
    // connection that ends without one for the end of an answer and looks for more of it.
    queueMicrotask(() => {
      connection?.dialling?.destroy()
      client.destroy(new Misuse('a request on a discarded connection'), () => {})
    })
    const next = pool.size < pool.limit ? pool.waiting.shift() : undefined
    if (next) this.#start(this.#newLane(pool), next)
    else if (pool.size === 0) this.#pools.delete(pool.key)
  }

  #open(lane: Lane, callback: buildConnector.Callback): void {
    const { pool, exchange } = lane
    const connection: Connection = {
      openedAt: performance.now(),
      dialling: null,
      ip: null,
      dnsMs: null,
      connectMs: null,
      tlsMs: null,
    }
    lane.connection = connection
    if (exchange) exchange.isReused = false
    this.#addresses(pool, connection).then(
      (addresses) => {
        if (lane.isDiscarded) return
        const isStrict = !this.#rules.acceptsAnyCertificate(addresses.map(parsed))
        const [secureContext, proxy] = [this.#secureContext, this.#proxy]
        dial({ pool, connection, addresses, isStrict, secureContext, proxy }, callback)
      },
      (error: Error) => {
        if (!lane.isDiscarded) callback(error, null)
      },
    )
  }

  /** All addresses the target has, each of them allowed, or a rejection with a Failure. */
  async #addresses({ target, purpose }: Pool, connection: Connection): Promise<readonly LookupAddress[]> {
    if (target.literal !== null) return [{ address: target.hostname, family: target.literal.version }]
    const found = await this.#lookup(target.hostname).catch(() => [])
    connection.dnsMs = since(connection.openedAt)
    if (found.length === 0) throw new Failure('DNS_FAILED', 'The host name does not resolve.')
    if (this.#rules.problemOfAddresses(target, purpose, found.map(parsed)) !== null)
      throw new Failure('ADDRESS_BLOCKED', notAllowed)
    return found
  }
}

function pathOf({ path }: Target, query = ''): string {
  return query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`
}

function newPool(key: string, target: Target, { use, environment, connections }: OutboundRequest): Pool {
  const purpose = { use, environment }
  return { key, target, purpose, size: 0, limit: connections, idle: [], waiting: [], session: null }
}

const notAllowed = 'The URL leads to an address that may not be called; give a host with a public address.'

class Misuse extends Error {}

/** One request and its answer, as the HTTP client's handler; the client's older form, which makes no objects of its own. */
class Exchange implements Dispatcher.DispatchHandler {
  /** Sent on a connection that had served another request before. */
  isReused = false
  readonly #connections: Connections
  readonly #options: Dispatcher.DispatchOptions
  readonly #timeoutMs: number
  readonly #maxAnswerBytes: number
  readonly #resolve: (outcome: Outcome) => void
  readonly #reject: (error: Error) => void
  #lane: Lane | null = null
  #timer: NodeJS.Timeout | undefined
  #startedAt = 0
  #durationMs = 0
  /** Restarted before, or not to be. */
  #isRestarted: boolean
  #isAnswering = false
  #isSettled = false
  #informational = 0
  #status = 0
  #headers: Record<string, string> = {}
  #body: Buffer | null = null

  constructor(
    connections: Connections,
    request: OutboundRequest,
    path: string,
    resolve: (outcome: Outcome) => void,
    reject: (error: Error) => void,
  ) {
    this.#connections = connections
    this.#timeoutMs = request.timeoutMs ?? defaultTimeoutMs
    this.#maxAnswerBytes = request.maxAnswerBytes ?? usualAnswerBytes
    this.#isRestarted = request.once ?? false
    this.#options = { path, method: request.method, headers: request.headers, body: request.body }
    this.#resolve = resolve
    this.#reject = reject
  }

  start(lane: Lane): void {
    this.#startedAt = performance.now()
    this.#timer = setTimeout(onTimeout, this.#timeoutMs, this)
    this.isReused = lane.connection !== null
    this.dispatch(lane)
  }

  dispatch(lane: Lane): void {
    this.#lane = lane
    lane.client.dispatch(this.#options, this)
  }

  onConnect(): void {}

  onResponseStarted(): void {
    this.#isAnswering = true
  }

  onHeaders(status: number, headers: Buffer[]): boolean {
    if (this.#isSettled) return false
    if (status < 200) {
      this.#informational += 1
      if (this.#informational > maxInformational)
        this.#fail('CONNECTION_FAILED', 'The answer did not come to its point.')
      return true
    }
    this.#durationMs = since(this.#startedAt)
    this.#status = status
    this.#headers = headersOf(headers)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(onTimeout, bodyTimeoutMs, this)
    return true
  }

  onData(chunk: Buffer): boolean {
    if (this.#isSettled) return false
    this.#body = this.#body === null ? chunk : Buffer.concat([this.#body, chunk])
    if (this.#body.length <= this.#maxAnswerBytes) return true
    this.#answer(true)
    return false
  }

  onComplete(): void {
    if (!this.#isSettled) this.#answer(false)
  }

  onError(error: Error): void {
    if (this.#isSettled) return
    // The status is known: what the body would have been is of no consequence.
    if (this.#status !== 0) return this.#answer(true)
    const lane = this.#lane
    if (lane && this.isReused && !this.#isAnswering && !this.#isRestarted && isLostConnection(error)) {
      this.#isRestarted = true
      // Later, because the client is still busy with the end of the connection.
      queueMicrotask(() => {
        if (!this.#isSettled) this.#connections.restart(lane, this)
      })
      return
    }
    if (error instanceof Failure) return this.#fail(error.error, error.message)
    if (isMisuse(error)) {
      this.#settle(false)
      this.#reject(new Misuse('a request that cannot be written', { cause: error }))
      return
    }
    const failure = failureOf(error, 'open')
    this.#fail(failure.error, failure.message)
  }

  timeOut(): void {
    if (this.#isSettled) return
    if (this.#status !== 0) return this.#answer(true)
    this.#fail('TIMEOUT', `No answer came within ${this.#timeoutMs / 1_000} seconds.`)
  }

  #answer(truncated: boolean): void {
    const { ip, timing } = this.#settle(!truncated)
    const body = this.#body === null ? '' : textOf(this.#body, this.#maxAnswerBytes, truncated)
    this.#resolve({
      kind: 'answered',
      status: this.#status,
      headers: this.#headers,
      body,
      truncated,
      timing,
      ip: ip ?? '',
    })
  }

  #fail(error: OutboundError, reason: string): void {
    this.#durationMs = since(this.#startedAt)
    const { ip, timing } = this.#settle(false)
    this.#resolve({ kind: 'failed', error, reason, timing, ip })
  }

  /** The end, once: how long it took and where it went; the connection goes back, or is closed. */
  #settle(mayServeAnother: boolean): { ip: string | null; timing: Timing } {
    this.#isSettled = true
    clearTimeout(this.#timer)
    const lane = this.#lane
    const connection = lane?.connection ?? null
    const opened = this.isReused ? null : connection
    const timing = {
      durationMs: this.#durationMs,
      dnsMs: opened?.dnsMs ?? null,
      connectMs: opened?.connectMs ?? null,
      tlsMs: opened?.tlsMs ?? null,
    }
    if (lane && mayServeAnother) this.#connections.release(lane)
    else if (lane) this.#connections.abandon(lane)
    return { ip: connection?.ip ?? null, timing }
  }
}

function onTimeout(exchange: Exchange): void {
  exchange.timeOut()
}

/** The client refuses to write such a request; nothing went out. */
function isMisuse(error: Error): boolean {
  const codes = ['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH']
  return error instanceof Misuse || codes.includes(codeOf(error))
}

function blocked(problem: string): Outcome {
  const timing = { durationMs: 0, dnsMs: null, connectMs: null, tlsMs: null }
  return { kind: 'failed', error: 'ADDRESS_BLOCKED', reason: `The URL ${problem}.`, timing, ip: null }
}

function parsed(found: LookupAddress): Address | null {
  return parseAddress(found.address)
}

function headersOf(pairs: readonly Buffer[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let i = 0; i + 1 < pairs.length; i += 2) {
    const name = pairs[i]?.toString('latin1').toLowerCase() ?? ''
    const value = pairs[i + 1]?.toString('latin1') ?? ''
    headers[name] = Object.hasOwn(headers, name) ? `${headers[name]}, ${value}` : value
  }
  return headers
}

/** Of a text that was cut, a last character that is not whole is left out. */
function textOf(bytes: Buffer, maxBytes: number, isCut: boolean): string {
  const text = new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: isCut })
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text
}

/** As other programs of this machine see names, its hosts file included. */
export const hostLookup: Lookup = (hostname) => systemLookup(hostname, { all: true, verbatim: true })

/**
 * Asks the name servers directly. The system's own lookup occupies one of the process's four worker threads until the
 * last server has not answered; four names whose owner lets them hang would stop everybody's lookups and files.
 */
function nameServerLookup(): Lookup {
  const resolver = new Resolver({ timeout: dnsTryMs, tries: dnsTries })
  return async (hostname) => {
    const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    return [
      ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : []),
      ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []),
    ]
  }
}
