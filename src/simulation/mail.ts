// SPDX-License-Identifier: Apache-2.0
// Mail servers, mailboxes and a DNS on free ports of this machine, which take test mail.
import { mailWorld } from '../areas/email/mail-world.ts'
import { readMessage } from '../simulators/mail-catcher.ts'
import { MailExchanger } from '../simulators/mail-exchanger.ts'
import { exchangers } from '../simulators/mail-names.ts'
import { host, starter } from './starter.ts'

export const simulatedMail = starter(
  mailWorld,
  async ({ clock, timeScale, ca, identity, ready, journalOf, onProblem }) => {
    const exchanger = await MailExchanger.start({
      host,
      now: () => clock.nowMs(),
      timeScale,
      identity,
      ca,
      journalFile: journalOf('mail'),
      ready,
      onProblem,
    })
    const { names, catcher } = exchanger
    return {
      gives: {
        host,
        dnsPort: names.port,
        portOf: (name) => exchanger.portOf(name),
        publish: (record) => names.publish(record),
        withdraw: (name, type) => names.withdraw(name, type),
        recordsOf: (name) => names.recordsOf(name),
        delegate: (zone, answer) => names.delegate(zone, answer),
        takeDnsAway: (isAway) => {
          names.isAway = isAway
        },
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
