// SPDX-License-Identifier: Apache-2.0
// Connection pools of outbound requests: limits per origin, queue, idle timeout, and address checks.
import { X509Certificate } from 'node:crypto'
import type { LookupAddress } from 'node:dns'
import { createRequire } from 'node:module'
import { performance } from 'node:perf_hooks'
import type { SecureContext } from 'node:tls'
import type { buildConnector } from 'undici'
import { type Address, parseAddress } from '../../kernel/addresses.ts'
import type { OutboundPolicy, Purpose, Target, UrlRules } from './customer-urls.ts'
import {
  type Connection,
  type Destination,
  dial,
  Failure,
  maxHeaderBytes,
  newConnection,
  secureContextOf,
  since,
} from './dial.ts'
import { Exchange, type Lane as LaneOfExchange, Misuse, type OutboundRequest, type Outcome } from './exchange.ts'

/** Like dns.promises.lookup with `all`. */
export type Lookup = (hostname: string) => Promise<readonly LookupAddress[]>

/** Keep-alive time without a header of the receiver, and the maximum with one. */
const keepAliveMs = 10_000
const maxKeepAliveMs = 60_000
export const defaultLimits = {
  /** Limit of idle connections of all pools; the one idle longest is closed. */
  idleConnections: 512,
  /** Maximum age, because the address was checked when the connection was opened. */
  connectionAgeMs: 5 * 60_000,
  /** Queue limit of one pool. The scheduler above keeps to `connections`, so reaching it is a bug. */
  waiting: 1_000,
}

/** Pool: requests to one origin for one owner. It exists while it has connections or queued requests. */
interface Pool {
  readonly key: string
  readonly target: Target
  readonly purpose: Purpose
  /** Number of lanes, and their limit. */
  size: number
  limit: number
  readonly idle: Lane[]
  readonly waiting: Exchange[]
  /** TLS session for resumption. */
  session: Buffer | null
}

/** Lane: one connection, or a slot for one, and its request. */
interface Lane extends LaneOfExchange {
  readonly pool: Pool
  exchange: Exchange | null
  connection: Connection | null
  isDiscarded: boolean
}

const load = createRequire(import.meta.url)

/** undici loads with the first request: loading takes a twentieth of the start. */
function undici(): typeof import('undici') {
  return load('undici')
}

/** Connections. One HTTP client per connection, so that it is known which one a request got. */
export class Connections {
  readonly #rules: UrlRules
  readonly #lookup: Lookup
  readonly #limits: typeof defaultLimits
  readonly #secureContext: SecureContext
  readonly #extraCa: string | null
  readonly #proxy: string | null
  readonly #pools = new Map<string, Pool>()
  /** Idle lanes, in order of becoming idle. */
  readonly #idle = new Set<Lane>()
  #running = 0
  #whenIdle: (() => void) | null = null
  #closed: Promise<void> | null = null

  constructor(rules: UrlRules, lookup: Lookup, { extraCa, proxy }: OutboundPolicy, limits: typeof defaultLimits) {
    this.#rules = rules
    this.#proxy = proxy
    this.#lookup = lookup
    this.#limits = limits
    // An invalid certificate would be ignored silently below, so it is parsed here.
    if (extraCa !== null) new X509Certificate(extraCa)
    this.#extraCa = extraCa
    this.#secureContext = secureContextOf(extraCa)
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

  #release(lane: Lane): void {
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

  #abandon(lane: Lane): void {
    this.#ended(lane)
    this.#discard(lane)
  }

  #replace(lane: Lane): void {
    const { exchange } = lane
    const fresh = this.#newLane(lane.pool)
    lane.exchange = null
    fresh.exchange = exchange
    this.#discard(lane)
    exchange?.dispatch(fresh)
  }

  #begin(pool: Pool, request: OutboundRequest, path: string): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const exchange = new Exchange(request, path, resolve, reject)
      const lane = pool.idle.pop()
      if (lane) this.#start(lane, exchange)
      else if (pool.size < pool.limit) this.#start(this.#newLane(pool), exchange)
      else {
        pool.waiting.push(exchange)
        exchange.wait(() => this.#leave(pool, exchange))
      }
    })
  }

  /** The exchange timed out in the queue. */
  #leave(pool: Pool, exchange: Exchange): void {
    pool.waiting.splice(pool.waiting.indexOf(exchange), 1)
    this.#countDown()
  }

  #start(lane: Lane, exchange: Exchange): void {
    this.#idle.delete(lane)
    lane.exchange = exchange
    exchange.start(lane)
  }

  #ended(lane: Lane): void {
    lane.exchange = null
    this.#countDown()
  }

  #countDown(): void {
    this.#running -= 1
    if (this.#running === 0) this.#whenIdle?.()
  }

  #newLane(pool: Pool): Lane {
    const { Client } = undici()
    const client = new Client(pool.target.origin, {
      connect: (_options, callback) => this.#open(lane, callback),
      pipelining: 1,
      maxHeaderSize: maxHeaderBytes,
      // The timer of the exchange covers headers, body and connect.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: maxKeepAliveMs,
    })
    const lane: Lane = {
      pool,
      client,
      exchange: null,
      connection: null,
      isDiscarded: false,
      release: () => this.#release(lane),
      abandon: () => this.#abandon(lane),
      replace: () => this.#replace(lane),
    }
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
    // Deferred, because this may be called from inside the client; always with an error, because the client takes a
    // clean end for the end of a response.
    queueMicrotask(() => {
      connection?.dialling?.destroy()
      client.destroy(new Misuse('a request on a discarded connection'), () => {})
    })
    const next = pool.size < pool.limit ? pool.waiting.shift() : undefined
    if (next) this.#start(this.#newLane(pool), next)
    else if (pool.size === 0) this.#pools.delete(pool.key)
  }

  #open(lane: Lane, opened: buildConnector.Callback): void {
    const { pool, exchange } = lane
    const connection = newConnection()
    lane.connection = connection
    if (exchange) exchange.isReused = false
    const callback = within(exchange?.connectTimeoutMs ?? null, connection, opened)
    this.#addressesFor(pool, connection).then(
      (addresses) => {
        if (lane.isDiscarded) return
        const isStrict = !this.#rules.acceptsAnyCertificate(addresses.map(addressOf))
        const [secureContext, proxy] = [this.#secureContext, this.#proxy]
        dial({ pool, connection, addresses, isStrict, secureContext, proxy }, callback)
      },
      (error: Error) => {
        if (!lane.isDiscarded) callback(error, null)
      },
    )
  }

  /** Destination for another protocol, checked as every connection is, or a rejection with a Failure. */
  async destination(target: Target, purpose: Purpose): Promise<Destination> {
    const problem = this.#rules.problemOf(target, purpose)
    if (problem !== null) throw new Failure('ADDRESS_BLOCKED', `The URL ${problem}.`)
    const addresses = await this.#addresses(target, purpose)
    const isStrict = !this.#rules.acceptsAnyCertificate(addresses.map(addressOf))
    return { target, addresses, isStrict, extraCa: this.#extraCa, proxy: this.#proxy }
  }

  async #addressesFor({ target, purpose }: Pool, connection: Connection): Promise<readonly LookupAddress[]> {
    try {
      return await this.#addresses(target, purpose)
    } finally {
      if (target.literal === null) connection.dnsMs = since(connection.openedAt)
    }
  }

  /** All addresses of a target, each allowed, or a rejection with a Failure. */
  async #addresses(target: Target, purpose: Purpose): Promise<readonly LookupAddress[]> {
    if (target.literal !== null) return [{ address: target.hostname, family: target.literal.version }]
    const found = await this.#lookup(target.hostname).catch(() => [])
    if (found.length === 0) throw new Failure('DNS_FAILED', 'The host name does not resolve.')
    if (this.#rules.problemOfAddresses(target, purpose, found.map(addressOf)) !== null)
      throw new Failure('ADDRESS_BLOCKED', notAllowed)
    return found
  }
}

/** Connects timeout. Without one, the exchange's timeout applies. */
function within(ms: number | null, connection: Connection, opened: buildConnector.Callback): buildConnector.Callback {
  if (ms === null) return opened
  let isOver = false
  const expire = (): void => {
    if (isOver) return
    isOver = true
    opened(new Failure('TIMEOUT', `No connection was open within ${ms / 1_000} seconds.`), null)
    connection.dialling?.destroy()
  }
  // After a turn in which nothing ran here, what arrived meanwhile is read before the time is called over.
  const timer = setTimeout(() => setImmediate(expire), ms)
  return (...found) => {
    clearTimeout(timer)
    if (isOver) return
    isOver = true
    opened(...found)
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

/** Outcome of a request to a URL that may not be called. */
export function blocked(problem: string): Outcome {
  const timing = { durationMs: 0, dnsMs: null, connectMs: null, tlsMs: null }
  return {
    kind: 'failed',
    error: 'ADDRESS_BLOCKED',
    reason: `The URL ${problem}.`,
    mayHaveArrived: false,
    timing,
    ip: null,
  }
}

export function addressOf(found: LookupAddress): Address | null {
  return parseAddress(found.address)
}
