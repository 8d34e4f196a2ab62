// SPDX-License-Identifier: Apache-2.0
// DNS resolver. Results are values: found, none, or a DNS failure; taking a failure for "none" would bounce mail and lose
// domains. Queries are limited in time and number.
import { Resolver } from 'node:dns/promises'
import { errorCode } from '../../kernel/error-code.ts'

const timeoutMs = 3_000
const tries = 2
const maxAsking = 500
const rememberMs = 60_000
const maxRemembered = 20_000
const maxServers = 8

export type Found<T> =
  | { kind: 'found'; values: T[] }
  /** The name exists without such a record, or does not exist. */
  | { kind: 'none'; isNameMissing: boolean }
  /** `isBusy`: nobody was asked, because too many questions are under way. */
  | { kind: 'failed'; reason: string; isBusy?: true }

export interface MailExchange {
  readonly host: string
  readonly preference: number
}

export interface Service {
  readonly host: string
  readonly port: number
  readonly priority: number
  readonly weight: number
}

export class DnsResolver {
  readonly #resolver: Resolver
  readonly #remembered = new Map<string, { untilMs: number; answer: Promise<Found<unknown>> }>()
  readonly #forMs: number
  #asking = 0

  /** `servers` as `address:port`; the system's by default. `forMs` is the cache time of answers. */
  constructor({ servers, forMs = rememberMs }: { servers?: readonly string[]; forMs?: number } = {}) {
    this.#resolver = new Resolver({ timeout: timeoutMs, tries })
    if (servers) this.#resolver.setServers([...servers])
    this.#forMs = forMs
  }

  /** MX records in order of preference. */
  async exchanges(name: string): Promise<Found<MailExchange>> {
    const found = await this.#ask(`MX ${name}`, () => this.#resolver.resolveMx(name))
    if (found.kind !== 'found') return found
    const values = found.values.map(({ exchange, priority }) => ({
      host: exchange.toLowerCase(),
      preference: priority,
    }))
    return { kind: 'found', values: values.sort((a, b) => a.preference - b.preference) }
  }

  /** Addresses, IPv6 before IPv4. */
  async addresses(name: string): Promise<Found<string>> {
    const [v6, v4] = await Promise.all([
      this.#ask(`AAAA ${name}`, () => this.#resolver.resolve6(name)),
      this.#ask(`A ${name}`, () => this.#resolver.resolve4(name)),
    ])
    const values = [v6, v4].flatMap((found) => (found.kind === 'found' ? found.values : []))
    if (values.length > 0) return { kind: 'found', values }
    return v4.kind === 'failed' ? v4 : v6.kind === 'failed' ? v6 : v4
  }

  async texts(name: string): Promise<Found<string>> {
    const found = await this.#ask(`TXT ${name}`, () => this.#resolver.resolveTxt(name))
    return found.kind === 'found' ? { kind: 'found', values: found.values.map((parts) => parts.join('')) } : found
  }

  async aliases(name: string): Promise<Found<string>> {
    return this.#ask(`CNAME ${name}`, () => this.#resolver.resolveCname(name))
  }

  async services(name: string): Promise<Found<Service>> {
    const found = await this.#ask(`SRV ${name}`, () => this.#resolver.resolveSrv(name))
    if (found.kind !== 'found') return found
    return {
      kind: 'found',
      values: found.values.map(({ name: host, port, priority, weight }) => ({ host, port, priority, weight })),
    }
  }

  /** Resolver that asks the authoritative servers of a name's zone, without a cache; null when they cannot be found. */
  async authoritative(name: string): Promise<DnsResolver | null> {
    for (let zone = name; zone.includes('.'); zone = zone.slice(zone.indexOf('.') + 1)) {
      const servers = await this.#ask(`NS ${zone}`, () => this.#resolver.resolveNs(zone))
      if (servers.kind === 'failed') return null
      if (servers.kind === 'none') continue
      const found = await Promise.all(servers.values.slice(0, maxServers).map((server) => this.addresses(server)))
      const addresses = found.flatMap((one) => (one.kind === 'found' ? one.values : []))
      return addresses.length > 0
        ? new DnsResolver({ servers: addresses.map((one) => (one.includes(':') ? `[${one}]` : one)), forMs: 0 })
        : null
    }
    return null
  }

  #ask<T>(question: string, ask: () => Promise<T[]>): Promise<Found<T>>
  #ask(question: string, ask: () => Promise<unknown[]>): Promise<Found<unknown>> {
    const nowMs = performance.now()
    const known = this.#remembered.get(question)
    if (known && known.untilMs > nowMs) return known.answer
    if (this.#asking >= maxAsking)
      return Promise.resolve({ kind: 'failed', reason: 'too many questions to the DNS at once', isBusy: true })
    this.#asking += 1
    const answer = ask()
      .then((values): Found<unknown> => ({ kind: 'found', values }), failed)
      .finally(() => {
        this.#asking -= 1
      })
    if (this.#forMs > 0) this.#remember(question, answer, nowMs)
    return answer
  }

  #remember(question: string, answer: Promise<Found<unknown>>, nowMs: number): void {
    const [oldest] = this.#remembered.size >= maxRemembered ? this.#remembered.keys() : []
    if (oldest !== undefined) this.#remembered.delete(oldest)
    this.#remembered.set(question, { answer, untilMs: nowMs + this.#forMs })
    void answer.then(({ kind }) => {
      if (kind === 'failed') this.#remembered.delete(question)
    })
  }
}

function failed(error: unknown): Found<never> {
  const code = errorCode(error)
  if (code === 'ENOTFOUND' || code === 'EBADNAME') return { kind: 'none', isNameMissing: true }
  if (code === 'ENODATA') return { kind: 'none', isNameMissing: false }
  return { kind: 'failed', reason: `the DNS does not answer (${code})` }
}
