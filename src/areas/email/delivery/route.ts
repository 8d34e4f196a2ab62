// SPDX-License-Identifier: Apache-2.0
// Route of a message: the servers that may take it, in their order, and the security required of each. MTA-STS is a rule of
// the domain, fetched over HTTPS; DANE is one of the server, found in signed DNS records, and comes first (RFC 8461 §2).
import { classOfAddress, parseAddress } from '../../../kernel/addresses.ts'
import type { App } from '../../../platform/app.ts'
import type { Environment } from '../../../platform/tenant.ts'
import { daneProblem, usableTlsa } from '../../../protocols/dane.ts'
import { allowsServer, type StsPolicy } from '../../../protocols/mta-sts.ts'
import type { DnssecAnswer } from '../dns/dnssec-resolver.ts'
import { type DeliveryDns, deliveryDnsFor } from '../dns/resolvers.ts'
import { mailWorld } from '../mail-world.ts'
import type { Server } from './destinations.ts'
import { authoritiesFor, policiesFor } from './security.ts'
import type { TestedPolicy } from './sts-policies.ts'
import type { Verdict } from './verdict.ts'

const smtpPort = 25
const maxServers = 5
const maxAddresses = 4

interface Route {
  /** Group of servers, which share connections. */
  readonly name: string
  readonly servers: readonly Server[]
  readonly isRelayed: boolean
  /** MTA-STS policy in testing mode: mail that breaks it is delivered and counted. */
  readonly testing: TestedPolicy | null
}

/** Route of a message, or a verdict without one; `busy` when it cannot be looked up now. */
export async function routeFor(app: App, environment: Environment, to: string): Promise<Route | Verdict | 'busy'> {
  const relay = environment === 'live' ? app.config.PAMOJA_MAIL_RELAY : null
  if (relay !== null) return relayRoute(app, new URL(relay))
  const dns = deliveryDnsFor(app, environment)
  const policies = policiesFor(app, environment)
  if (!dns || !policies) return 'busy'
  const domain = domainToAsk(environment, to)
  const [found, policy] = await Promise.all([dns.exchanges(domain), policies.of(domain)])
  if (policy === 'busy') return 'busy'
  if (found.kind === 'failed') return found.isBusy ? 'busy' : deferred(found.reason)
  if (found.kind === 'none' && found.isNameMissing) return unknownDomain(`the domain ${domain} does not exist`)
  // Without MX records the domain itself is the server (RFC 5321 §5.1).
  const hosts = found.kind === 'found' ? found.values.map(({ host }) => host) : [domain]
  if (hosts.every((host) => host === '' || host === '.')) return unknownDomain(`the domain ${domain} takes no mail`)
  return new MxRoutes(app, environment, dns, domain, policy).to(hosts, found.isSecure, found.kind === 'found')
}

/** Sandbox recipients whose server is special have a domain of their own. */
function domainToAsk(environment: Environment, to: string): string {
  const domain = to.slice(to.lastIndexOf('@') + 1).toLowerCase()
  const special =
    environment === 'test' ? /^(notls|badtls|sts|badsts|dane|baddane)(?:\+[^@]*)?@/.exec(to.toLowerCase()) : null
  return special ? `${special[1]}.${domain}` : domain
}

/** Servers of one host, or the reason why it is skipped; busy when no resolver could be asked. */
type Host = { servers: readonly Server[] } | Skipped
type Skipped = { problem: string | null; isBusy?: boolean | undefined }

/** Security required of a server. */
type RequiredSecurity = Pick<Server, 'level' | 'tls' | 'rule' | 'pinned' | 'chainProblem' | 'secureContext'> & {
  servername?: string
}

/** Routes to the mail servers of a domain, under its policy. */
class MxRoutes {
  readonly #app: App
  readonly #environment: Environment
  readonly #dns: DeliveryDns
  readonly #domain: string
  readonly #policy: StsPolicy | null

  constructor(app: App, environment: Environment, dns: DeliveryDns, domain: string, policy: StsPolicy | null) {
    this.#app = app
    this.#environment = environment
    this.#dns = dns
    this.#domain = domain
    this.#policy = policy
  }

  async to(hosts: readonly string[], isSecure: boolean, hasRecord: boolean): Promise<Route | Verdict | 'busy'> {
    const allowed = hosts.filter((host) => this.#isAllowed(host)).slice(0, maxServers)
    // A host of a signed domain may do without the policy's permission; whether it does is known from its TLSA records.
    const candidates = hosts.filter((host, i) => allowed.includes(host) || (isSecure && i < maxServers))
    if (candidates.length === 0)
      return deferred(`${this.#rule} allows none of its mail servers: ${hosts.slice(0, maxServers).join(', ')}`)
    const each = await Promise.all(candidates.map((host) => this.#host(host, isSecure)))
    const usable = each.flatMap((one) => ('servers' in one && one.servers.length > 0 ? [one.servers] : []))
    const servers = usable.slice(0, maxServers).flat()
    if (servers.length > 0) {
      const testing = this.#policy?.mode === 'testing' ? { domain: this.#domain, policy: this.#policy } : null
      return { name: candidates.join(' '), servers, isRelayed: false, testing }
    }
    if (each.some((one) => 'problem' in one && one.isBusy)) return 'busy'
    const problem = each.flatMap((one) => ('problem' in one && one.problem !== null ? [one.problem] : []))[0]
    if (problem !== undefined) return deferred(problem)
    return hasRecord
      ? deferred('the mail servers of the domain have no address that can be used')
      : unknownDomain('the domain takes no mail')
  }

  async #host(host: string, isSecure: boolean): Promise<Host> {
    const addresses = await this.#dns.addresses(host)
    if (addresses.kind === 'failed') return { problem: addresses.reason, isBusy: addresses.isBusy }
    if (addresses.kind !== 'found') return { problem: null }
    const signed = isSecure ? await this.#signedNames(host, addresses) : []
    if ('problem' in signed) return signed
    const required = await this.#requiredOf(host, signed)
    if ('problem' in required) return required
    const usable = addresses.values.filter((one) => mayReach(this.#environment, one)).slice(0, maxAddresses)
    const common = { hello: this.#app.config.PAMOJA_MAIL_HOST, port: this.#portOf(addresses.name), servername: host }
    return { servers: usable.map((address) => ({ ...common, ...required, host: address })) }
  }

  /**
   * Names of a host under which its TLSA records may be: what it is an alias of and itself, or itself alone where only the
   * alias is signed (RFC 7672 §2.2.2).
   */
  async #signedNames(host: string, addresses: DnssecAnswer<string>): Promise<readonly string[] | Skipped> {
    if (addresses.isSecure) return [addresses.name, host]
    if (addresses.name === host.toLowerCase()) return []
    const alias = await this.#dns.alias(host)
    if (alias.kind === 'failed') return { problem: `DANE of ${host}: ${alias.reason}`, isBusy: alias.isBusy }
    return alias.kind === 'found' && alias.isSecure ? [host] : []
  }

  /** Security required of a host: by its TLSA records (RFC 7672 §2.2), otherwise by the policy. */
  async #requiredOf(host: string, signedNames: readonly string[]): Promise<RequiredSecurity | Skipped> {
    for (const name of new Set(signedNames)) {
      const found = await this.#dns.certificates(name)
      if (found.kind === 'failed') return { problem: `DANE of ${host}: ${found.reason}`, isBusy: found.isBusy }
      if (found.kind !== 'found' || !found.isSecure) continue
      const dane = this.#daneOf(name, host, found.values)
      // Unusable TLSA records require less than a policy does.
      if (dane.level === 'dane' || this.#policy?.mode !== 'enforce') return dane
      break
    }
    const secureContext = authoritiesFor(this.#app, this.#environment)
    const trusted = secureContext ? { secureContext } : {}
    if (this.#policy?.mode !== 'enforce') return { level: 'plain', tls: 'opportunistic', ...trusted }
    if (!this.#isAllowed(host)) return { problem: `${this.#rule} does not allow the mail server ${host}` }
    return { level: 'mta_sts', tls: 'required', rule: this.#rule, ...trusted }
  }

  /** Security that TLSA records require: without a usable one, TLS with any certificate (RFC 7672 §2.2). */
  #daneOf(name: string, host: string, values: readonly string[]): RequiredSecurity {
    const records = usableTlsa(values)
    const common = { tls: 'encrypted', servername: name, rule: `DANE of ${host}` } as const
    if (records.length === 0) return { ...common, level: 'encrypted' }
    const names = [...new Set([name, host, this.#domain])]
    return {
      ...common,
      level: 'dane',
      pinned: `${this.#domain} ${[...values].sort().join(',')}`,
      chainProblem: (chain) => daneProblem(records, chain, names, new Date(this.#app.clock.nowMs())),
    }
  }

  #isAllowed(host: string): boolean {
    return this.#policy?.mode !== 'enforce' || allowsServer(this.#policy, host)
  }

  get #rule(): string {
    return `MTA-STS of ${this.#domain}`
  }

  #portOf(host: string): number {
    return this.#environment === 'live' ? smtpPort : (mailWorld.of(this.#app)?.portOf(host) ?? smtpPort)
  }
}

/** Refuses private addresses for live mail: an MX record could point into this network. The sandbox answers only with its own. */
export function mayReach(environment: Environment, address: string): boolean {
  if (environment === 'test') return true
  const parsed = parseAddress(address)
  return parsed !== null && classOfAddress(parsed) === 'public'
}

function relayRoute(app: App, { protocol, hostname, port, username, password }: URL): Route {
  const isImplicitTls = protocol === 'smtps:'
  const auth = username
    ? { auth: { username: decodeURIComponent(username), password: decodeURIComponent(password) } }
    : {}
  const usual = isImplicitTls ? 465 : 587
  // A password requires TLS.
  const tls = username ? 'required' : 'opportunistic'
  const server: Server = {
    hello: app.config.PAMOJA_MAIL_HOST,
    host: hostname,
    servername: hostname,
    port: Number(port) || usual,
    level: 'plain',
    tls,
    isImplicitTls,
    ...auth,
  }
  return { name: 'relay', servers: [server], isRelayed: true, testing: null }
}

function deferred(reason: string): Verdict {
  return { kind: 'deferred', reason, reply: null, isThrottled: false }
}

function unknownDomain(reason: string): Verdict {
  return { kind: 'bounced', type: 'hard', category: 'domain_error', reason, reply: null, suppresses: true }
}
