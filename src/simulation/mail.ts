// SPDX-License-Identifier: Apache-2.0
// Mail servers, mailboxes and a DNS on free ports of this machine, which take test mail.
import { generateKeyPairSync } from 'node:crypto'
import { mailWorld } from '../areas/email/mail-world.ts'
import { issueCa, issueLeaf } from '../platform/http/x509.ts'
import { readMessage } from '../simulators/mail-catcher.ts'
import { MailExchanger } from '../simulators/mail-exchanger.ts'
import { exchangers } from '../simulators/mail-names.ts'
import { host, starter } from './starter.ts'

export const simulatedMail = starter(
  mailWorld,
  async ({ clock, timeScale, ca, identity, ready, journalOf, onProblem }) => {
    const authority = new MailAuthority(new Date(clock.nowMs()))
    const exchanger = await MailExchanger.start({
      host,
      now: () => clock.nowMs(),
      timeScale,
      identity,
      identityOf: (name) => authority.identityOf(name),
      ca,
      journalFile: journalOf('mail'),
      ready,
      onProblem,
    })
    const { names, catcher, policies } = exchanger
    return {
      gives: {
        host,
        dnsPort: names.port,
        ca: authority.certificate,
        policyPort: policies.port,
        publishPolicy: (domain, answer) => policies.publish(domain, answer),
        policyRequests: (domain) => policies.asked.get(domain) ?? 0,
        portOf: (name) => exchanger.portOf(name),
        publish: (record) => names.publish(record),
        withdraw: (name, type) => names.withdraw(name, type),
        recordsOf: (name) => names.recordsOf(name),
        delegate: (zone, answer) => names.delegate(zone, answer),
        takeDnsAway: (isAway) => {
          names.isAway = isAway
        },
        sign: (zone) => void names.signed.add(zone),
        spoil: (name, isSpoiled) => void (isSpoiled ? names.spoiled.add(name) : names.spoiled.delete(name)),
        reportTo: (address) => exchanger.reportTo(address),
        mail: () => catcher.all(),
        find: (id) => catcher.get(id),
        read: ({ content }) => readMessage(content),
        checks: (mail) => catcher.checks(mail),
      },
      address: `smtp://${host}:${exchanger.portOf(exchangers.usual)}`,
      moreAddresses: { dns: `dns://${host}:${names.port}` },
      stop: () => exchanger.stop(),
    }
  },
)

/** Authority of the sandbox's mail servers and policy hosts. Its key is in memory only, and only the sandbox trusts it. */
class MailAuthority {
  readonly #key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  readonly #serverKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  readonly #now: Date
  readonly #ca

  constructor(now: Date) {
    this.#now = now
    this.#ca = issueCa(this.#key, null, now)
  }

  get certificate(): string {
    return this.#ca.toString()
  }

  identityOf(name: string): { key: string; cert: string } {
    const leaf = issueLeaf(this.#serverKey, this.#ca, this.#key, [name], this.#now)
    const key = this.#serverKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    return { key, cert: `${leaf}${this.#ca}` }
  }
}
