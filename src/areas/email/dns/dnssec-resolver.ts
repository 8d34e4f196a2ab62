// SPDX-License-Identifier: Apache-2.0
// DNSSEC resolver for mail: asks a resolver that checks signatures, and tells of each answer whether it was signed. The flag
// and the records come in the same answer, so that nothing can come in between.
import type { Found, MailExchange } from '../../../platform/outbound/dns.ts'
import { DnsClient, type ResolverAddress } from '../../../protocols/dns/client.ts'
import type { AskedType, Response } from '../../../protocols/dns/response.ts'

const maxAsking = 500
const rememberMs = 60_000
const maxRemembered = 20_000
const maxAliases = 8

/** DNS answer, and whether its signatures were checked. `name` is that of the records, behind aliases. */
export type DnssecAnswer<T> = Found<T> & { readonly isSecure: boolean; readonly name: string }

export class DnssecResolver {
  readonly #client: DnsClient
  readonly #forMs: number
  readonly #remembered = new Map<string, { untilMs: number; answer: Promise<DnssecAnswer<string>> }>()
  #asking = 0

  /** `forMs` is the cache time of answers. */
  constructor(resolver: ResolverAddress, { forMs = rememberMs }: { forMs?: number } = {}) {
    this.#client = new DnsClient(resolver)
    this.#forMs = forMs
  }

  /** MX records in order of preference. */
  async exchanges(domain: string): Promise<DnssecAnswer<MailExchange>> {
    const found = await this.#ask(domain, 'MX')
    if (found.kind !== 'found') return found
    const values = found.values.map((value) => {
      const [preference = '', host = ''] = value.split(' ')
      return { host, preference: Number(preference) }
    })
    return { ...found, values: values.sort((a, b) => a.preference - b.preference) }
  }

  /** Addresses, IPv6 before IPv4; secure when the answers for both are. */
  async addresses(host: string): Promise<DnssecAnswer<string>> {
    const both = await Promise.all([this.#ask(host, 'AAAA'), this.#ask(host, 'A')])
    const found = both.filter((one) => one.kind === 'found')
    const values = found.flatMap((one) => (one.kind === 'found' ? one.values : []))
    const name = found[0]?.name ?? host
    if (values.length > 0) return { kind: 'found', values, name, isSecure: found.every((one) => one.isSecure) }
    const [six, four] = both
    return four.kind === 'failed' ? four : six.kind === 'failed' ? six : four
  }

  /** Alias of a host by itself, which may be signed though what it leads to is not (RFC 7672 §2.1.3). */
  alias(host: string): Promise<DnssecAnswer<string>> {
    return this.#ask(host, 'CNAME')
  }

  /** TLSA records of a host's SMTP (RFC 7672 §2.2), such as `3 1 1 8d02…`. */
  certificates(host: string): Promise<DnssecAnswer<string>> {
    return this.#ask(`_25._tcp.${host}`, 'TLSA')
  }

  #ask(name: string, type: AskedType): Promise<DnssecAnswer<string>> {
    const question = `${type} ${name}`
    const nowMs = performance.now()
    const known = this.#remembered.get(question)
    if (known && known.untilMs > nowMs) return known.answer
    if (this.#asking >= maxAsking)
      return Promise.resolve({
        kind: 'failed',
        reason: 'too many questions to the DNS at once',
        isBusy: true,
        name,
        isSecure: false,
      })
    this.#asking += 1
    const answer = this.#client
      .ask(name, type)
      .then((response) => answerOf(response, name.toLowerCase(), type))
      .finally(() => {
        this.#asking -= 1
      })
    if (this.#forMs > 0) this.#remember(question, answer, nowMs)
    return answer
  }

  #remember(question: string, answer: Promise<DnssecAnswer<string>>, nowMs: number): void {
    const [oldest] = this.#remembered.size >= maxRemembered ? this.#remembered.keys() : []
    if (oldest !== undefined) this.#remembered.delete(oldest)
    this.#remembered.set(question, { answer, untilMs: nowMs + this.#forMs })
    void answer.then(({ kind }) => {
      if (kind === 'failed') this.#remembered.delete(question)
    })
  }
}

/** Answer from a response. A resolver answers bad signatures with a failure, like an unreachable name server. */
function answerOf(response: Response | null, asked: string, type: AskedType): DnssecAnswer<string> {
  const failed = (reason: string): DnssecAnswer<string> => ({ kind: 'failed', reason, name: asked, isSecure: false })
  if (!response) return failed('the DNS does not answer')
  const { code, records, isAuthenticated: isSecure } = response
  if (code !== 0 && code !== 3) return failed(`the DNS does not answer for ${asked}, or with bad signatures (${code})`)
  let name = asked
  for (let i = 0; i <= maxAliases; i++) {
    const values = records.filter((one) => one.name === name && one.type === type).map(({ value }) => value)
    if (values.length > 0) return { kind: 'found', values, name, isSecure }
    const alias = records.find((one) => one.name === name && one.type === 'CNAME')
    if (!alias) return { kind: 'none', isNameMissing: code === 3, name, isSecure }
    name = alias.value
  }
  return failed(`${asked} has too many aliases`)
}
