// SPDX-License-Identifier: Apache-2.0
// The DNS of the sandbox: a name server with the records that were published in it. Every name that has no records of its
// own has the sandbox's mail exchanger, so that mail to any address arrives; names under .invalid do not exist.

import type { TextLookup } from '../protocols/dkim/verify.ts'
import { DnsServer } from '../protocols/dns/server.ts'
import type { Answer, DnsRecord, RecordType } from '../protocols/dns/wire.ts'

const maxRecords = 20_000
const maxAliases = 8

/**
 * Servers of the sandbox: recipients whose server has no TLS, or a broken one, are on servers of their own, and so are those
 * whose domain publishes how its servers are known (`sts`, `dane`), rightly or not.
 */
export const exchangers = {
  usual: 'mx1.sandbox.pamoja.test',
  notls: 'notls.mx.sandbox.pamoja.test',
  badtls: 'badtls.mx.sandbox.pamoja.test',
  sts: 'sts.mx.sandbox.pamoja.test',
  badsts: 'badsts.mx.sandbox.pamoja.test',
  dane: 'dane.mx.sandbox.pamoja.test',
  baddane: 'baddane.mx.sandbox.pamoja.test',
} as const

const specials = ['notls', 'badtls', 'sts', 'badsts', 'dane', 'baddane'] as const
type Special = (typeof specials)[number]

/** Which server a domain such as `badtls.shop.test` is on; null for the usual one. */
function specialOf(domain: string): Special | null {
  const [first] = domain.split('.')
  return specials.find((one) => one === first) ?? null
}

/** MTA-STS policy of a domain of the sandbox; null where it has none. */
export function usualPolicyOf(domain: string): string | null {
  const special = specialOf(domain)
  if (special !== 'sts' && special !== 'badsts') return null
  return `version: STSv1\r\nmode: enforce\r\nmx: ${exchangers[special]}\r\nmax_age: 86400\r\n`
}

export class MailNames implements TextLookup {
  readonly #records = new Map<string, DnsRecord[]>()
  readonly #delegated = new Map<string, (name: string, type: RecordType | null) => Promise<Answer>>()
  readonly #host: string
  #server: DnsServer | null = null
  #size = 0
  /** Whether every question is answered with a failure, as when the DNS is away. */
  isAway = false
  /** Zones whose answers count as signed and checked (DNSSEC), as a resolver would say. */
  readonly signed = new Set(['mx.sandbox.pamoja.test'])
  /** Names whose answers have bad signatures: a resolver fails on them. */
  readonly spoiled = new Set<string>()

  private constructor(host: string) {
    this.#host = host
  }

  static async start(host: string): Promise<MailNames> {
    const names = new MailNames(host)
    for (const name of Object.values(exchangers)) names.publish({ name, type: 'A', value: host })
    names.#server = await DnsServer.start((question) => names.answer(question), { host, port: 0 })
    return names
  }

  get port(): number {
    return this.#server?.port ?? 0
  }

  async stop(): Promise<void> {
    await this.#server?.stop()
  }

  /** Adds a record; false when there are too many. A CNAME replaces the one before it. */
  publish(record: DnsRecord): boolean {
    const name = record.name.toLowerCase().replace(/\.$/, '')
    const known = this.#records.get(name) ?? []
    const isSame = (one: DnsRecord) =>
      one.type === record.type && (one.value === record.value || record.type === 'CNAME')
    const kept = known.filter((one) => !isSame(one))
    if (this.#size >= maxRecords && kept.length === known.length) return false
    this.#size += kept.length + 1 - known.length
    this.#records.set(name, [...kept, { ...record, name }])
    return true
  }

  /** Takes away the records of a name, of one type, or all of them. */
  withdraw(wanted: string, type: RecordType | null = null): number {
    const name = wanted.toLowerCase().replace(/\.$/, '')
    const known = this.#records.get(name) ?? []
    const kept = type === null ? [] : known.filter((one) => one.type !== type)
    if (kept.length > 0) this.#records.set(name, kept)
    else this.#records.delete(name)
    this.#size -= known.length - kept.length
    return known.length - kept.length
  }

  /** Answers names of a zone by a function, unless a record of theirs was published here. */
  delegate(zone: string, answer: (name: string, type: RecordType | null) => Promise<Answer>): void {
    this.#delegated.set(zone, answer)
  }

  recordsOf(name: string): readonly DnsRecord[] {
    return this.#records.get(name.toLowerCase()) ?? []
  }

  async answer(question: { name: string; type: RecordType | null }): Promise<Answer> {
    const answer = await this.#answer(question)
    const isAuthenticated = [question, ...answer.answers].every(({ name }) => this.#isSigned(name))
    return { ...answer, isAuthenticated }
  }

  #isSigned(name: string): boolean {
    const special = specialOf(name)
    if (special === 'dane' || special === 'baddane') return true
    return [...this.signed].some((zone) => name === zone || name.endsWith(`.${zone}`))
  }

  async #answer({ name, type }: { name: string; type: RecordType | null }): Promise<Answer> {
    if (this.isAway || this.spoiled.has(name)) return { code: 'failure', answers: [] }
    if (name === 'invalid' || name.endsWith('.invalid')) return { code: 'nonexistent', answers: [] }
    const answers: DnsRecord[] = []
    let at = name
    for (let i = 0; i < maxAliases; i++) {
      const known = this.#records.get(at) ?? []
      const zone =
        known.length > 0 ? undefined : [...this.#delegated.keys()].find((one) => at === one || at.endsWith(`.${one}`))
      if (zone !== undefined) {
        const theirs = await this.#delegated.get(zone)?.(at, type)
        return { code: theirs?.code ?? 'failure', answers: [...answers, ...(theirs?.answers ?? [])] }
      }
      const found = known.filter((one) => one.type === type)
      if (found.length > 0) return { code: 'ok', answers: [...answers, ...found] }
      const alias = known.find((one) => one.type === 'CNAME')
      if (!alias) return { code: 'ok', answers: [...answers, ...this.#usual(at, type, known.length > 0)] }
      answers.push(alias)
      at = alias.value.toLowerCase().replace(/\.$/, '')
    }
    return { code: 'failure', answers: [] }
  }

  #usual(name: string, type: RecordType | null, isKnown: boolean): DnsRecord[] {
    if (type === 'A' && name.startsWith('mta-sts.')) return [{ name, type, value: this.#host }]
    if (type === 'TXT' && name.startsWith('_mta-sts.') && usualPolicyOf(name.slice('_mta-sts.'.length)) !== null)
      return [{ name, type, value: 'v=STSv1; id=1;' }]
    if (type !== 'MX' || (isKnown && this.recordsOf(name).some((one) => one.type === 'A'))) return []
    return [{ name, type: 'MX', value: `10 ${exchangers[specialOf(name) ?? 'usual']}` }]
  }

  async txt(name: string): Promise<string[]> {
    return this.#values(name, 'TXT')
  }

  async addresses(name: string): Promise<string[]> {
    return this.#values(name, 'A')
  }

  async exchanges(name: string): Promise<string[]> {
    return (await this.#values(name, 'MX')).map((value) => value.split(' ')[1] ?? '')
  }

  async #values(name: string, type: RecordType): Promise<string[]> {
    const { code, answers } = await this.answer({ name: name.toLowerCase(), type })
    if (code === 'failure') throw new Error('the DNS is away')
    return answers.filter((one) => one.type === type).map(({ value }) => value)
  }
}
