// SPDX-License-Identifier: Apache-2.0
// Outbound HTTP client for all URLs given by customers or operators (SSRF protection). Names are resolved once per
// connection, every address is checked, and only a checked address is dialled, so that DNS rebinding gains nothing.
// Redirects are not followed. Connections belong to one endpoint each, so that a slow receiver delays only itself.
import { Resolver, lookup as systemLookup } from 'node:dns/promises'
import { AppError } from '../kernel/errors.ts'
import { atMost } from './concurrency/at-most.ts'
import { addressOf, blocked, Connections, defaultLimits, type Lookup } from './outbound/connections.ts'
import {
  type OutboundPolicy,
  type Purpose,
  parseTarget,
  type Target,
  UrlRules,
  type UrlUse,
} from './outbound/customer-urls.ts'
import { type Destination, Failure } from './outbound/dial.ts'
import type { OutboundRequest, Outcome } from './outbound/exchange.ts'
import type { Environment } from './tenant.ts'

const checkTimeoutMs = 2_000
const maxTargets = 2_048
const dnsTryMs = 1_500
const dnsTries = 2

export class Outbound {
  readonly #rules: UrlRules
  readonly #lookup: Lookup
  readonly #connections: Connections
  /** Cache of parsed URLs. */
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
   * Throws INVALID_URL, with a sentence that names `field`, when the URL may not be called. A name that does not resolve
   * in time is accepted: every connection checks again.
   */
  async checkUrl(url: string, use: UrlUse, environment: Environment, field: string): Promise<void> {
    const target = parseTarget(url)
    const problem = 'problem' in target ? target.problem : await this.#problemOf(target, { use, environment })
    if (problem !== null) throw new AppError('INVALID_URL', `${field} ${problem}.`)
  }

  /** Sends one request. Failures of the other side are outcomes; a rejection is a bug of the caller. */
  send(request: OutboundRequest): Promise<Outcome> {
    const target = this.#target(request.url)
    if ('problem' in target) return Promise.resolve(blocked(target.problem))
    return this.#connections.send(target, request)
  }

  /** Allowed addresses of a host for other protocols; empty if one is not allowed or the name is unknown. */
  async addressesOf(host: string, purpose: Purpose): Promise<string[]> {
    const target = parseTarget(`https://${host.includes(':') ? `[${host}]` : host}/`)
    if ('problem' in target || this.#rules.problemOf(target, purpose) !== null) return []
    if (target.literal !== null) return [target.hostname]
    const found = await atMost(
      checkTimeoutMs,
      this.#lookup(target.hostname).catch(() => []),
      [],
    )
    const isAllowed = this.#rules.problemOfAddresses(target, purpose, found.map(addressOf)) === null
    return isAllowed ? found.map(({ address }) => address) : []
  }

  /** Whether an IP address may be reached; for protocols that name one inside an exchange, such as SIP. */
  mayReach(address: string, purpose: Purpose): boolean {
    const target = parseTarget(`https://${address.includes(':') ? `[${address}]` : address}/`)
    return !('problem' in target) && target.literal !== null && this.#rules.problemOf(target, purpose) === null
  }

  /** Destination of a URL for another protocol, which `connectTo` dials; a Failure when it may not be called. */
  async destinationOf(url: string, purpose: Purpose): Promise<Destination | Failure> {
    const target = this.#target(url)
    if ('problem' in target) return new Failure('ADDRESS_BLOCKED', `The URL ${target.problem}.`)
    const late = new Failure('DNS_FAILED', 'The host name does not resolve in time.')
    const found = this.#connections.destination(target, purpose).catch((error: unknown) => {
      if (error instanceof Failure) return error
      throw error
    })
    return atMost(checkTimeoutMs, found, late)
  }

  /** Closes idle connections and waits for requests in progress. */
  close(): Promise<void> {
    return this.#connections.close()
  }

  async #problemOf(target: Target, purpose: Purpose): Promise<string | null> {
    const problem = this.#rules.problemOf(target, purpose)
    if (problem !== null || target.literal !== null) return problem
    const lookup = this.#lookup(target.hostname).catch(() => null)
    const found = await atMost(checkTimeoutMs, lookup, null)
    if (found === null || found.length === 0) return this.#rules.problemOfUnresolved(target)
    return this.#rules.problemOfAddresses(target, purpose, found.map(addressOf))
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

/** System resolver, including the hosts file. */
export const hostLookup: Lookup = (hostname) => systemLookup(hostname, { all: true, verbatim: true })

/**
 * DNS resolver without the system's lookup, which blocks one of four worker threads until the last server timed out:
 * four hanging names would stop all lookups and file access.
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
