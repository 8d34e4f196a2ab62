// SPDX-License-Identifier: Apache-2.0
// Listener of the authoritative name server for the mail zone.
import type { AreaListener } from '../../../platform/program/listeners.ts'
import { DnsServer } from '../../../protocols/dns/server.ts'
import { answerZone } from './zone.ts'

export const dnsListener: AreaListener = {
  name: 'zone',
  role: 'api',
  over: 'udp',
  scheme: 'dns',
  host: 'PAMOJA_SMTP_HOST',
  port: 'PAMOJA_DNS_PORT',
  async open(app, { host, port }) {
    const server = await DnsServer.start(({ name, type }) => answerZone(app, name, type), { host, port })
    return { port: server.port, close: () => server.stop() }
  },
}
