// SPDX-License-Identifier: Apache-2.0
// Simulated mail servers, mailboxes and DNS of the sandbox.
import { Simulator } from '../../platform/program/simulators.ts'
import type { Answer, DnsRecord, RecordType } from '../../protocols/dns/wire.ts'

export interface CaughtMail {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly content: Buffer
  readonly tls: string | null
  readonly peer: string
  readonly at: Date
}

interface Checked {
  readonly result: string
  readonly domain: string
}

interface MailChecks {
  readonly dkim: readonly (Checked & { selector: string; algorithm: string; reason: string | null })[]
  readonly spf: Checked
  readonly dmarc: Checked & { policy: string | null }
  readonly tls: string | null
  readonly headers: readonly { name: string; value: string }[]
  readonly links: readonly string[]
}

interface ReadMail {
  readonly subject: string
  readonly header_from: string
  readonly header_to: string
  readonly html: string | null
  readonly text: string | null
  readonly attachments: readonly { filename: string; content_type: string; size: number }[]
}

/** Answer of a policy host: usually 200, text/plain and the policy. */
interface PolicyAnswer {
  readonly body: string
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Name that the certificate is for, instead of that of the policy host. */
  readonly certificateFor?: string
}

export interface MailWorld {
  readonly host: string
  readonly dnsPort: number
  /** Authority of the simulated servers' certificates, which test mail trusts. */
  readonly ca: string
  /** Port of every `mta-sts.<domain>`. */
  readonly policyPort: number
  publishPolicy(domain: string, answer: PolicyAnswer | null): void
  policyRequests(domain: string): number
  /** Port of a simulated mail server; they are not all on 25. */
  portOf(exchanger: string): number | null
  publish(record: DnsRecord): boolean
  withdraw(name: string, type: RecordType | null): number
  recordsOf(name: string): readonly DnsRecord[]
  /** Delegates a zone to our own DNS server. */
  delegate(zone: string, answer: (name: string, type: RecordType | null) => Promise<Answer>): void
  /** Makes the DNS fail. */
  takeDnsAway(isAway: boolean): void
  /** Has a zone's answers count as signed (DNSSEC). */
  sign(zone: string): void
  /** Gives a name bad signatures. */
  spoil(name: string, isSpoiled: boolean): void
  reportTo(address: { host: string; port: number } | null): void
  /** Newest first. */
  mail(): readonly CaughtMail[]
  find(id: string): CaughtMail | null
  read(mail: CaughtMail): ReadMail
  checks(mail: CaughtMail): Promise<MailChecks>
}

export const mailWorld = new Simulator<MailWorld>('mx')

/** Domain shared by all test accounts. */
export const sandboxDomain = 'sandbox.pamoja.test'
