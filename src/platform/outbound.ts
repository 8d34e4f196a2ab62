// SPDX-License-Identifier: Apache-2.0
// The one door through which a URL given by a customer, or by an operator, is ever requested. Names are resolved once for
// each connection; every address is checked; and only a checked address is dialled, so that a name which changes its mind
// between the check and the connection (DNS rebinding) gains nothing. Redirects are answers, never followed.
// Connections belong to one endpoint each, so that a slow receiver delays nobody but itself.
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

  /** Addresses of a host that may be reached by other means than HTTP; none if one of them may not be, or nobody knows it. */
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

  /** Closes idle connections and waits for the requests in progress, which their timeouts bound. */
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
