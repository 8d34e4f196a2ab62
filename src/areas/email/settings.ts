// SPDX-License-Identifier: Apache-2.0
// Settings of mail: host name, ports and relay.
import { isIP } from 'node:net'
import { addresses, formed, host, integer, secret, secretUrl, text } from '../../config/setting.ts'

export const emailSettings = {
  PAMOJA_MAIL_HOST: text(
    'mail.pamoja.test',
    'Name of the mail service in the DNS; customers’ CNAME records lead to names under it.',
  ),
  PAMOJA_MAIL_ADDRESSES: addresses(
    ['127.0.0.1'],
    'Public addresses of the mail service, which its DNS answers with and SPF allows.',
  ),
  PAMOJA_MAIL_RELAY: secretUrl(
    ['smtp:', 'smtps:'],
    'Mail server that takes all live mail, such as smtp://user:password@relay:587.',
  ),
  PAMOJA_MAIL_HOOK_TOKEN: secret(
    formed(
      'Secret in the address under which the relay or a feedback loop tells what became of mail: /hooks/inbound/email/<token>.',
      (given) => /^[\w-]{24,128}$/.test(given),
      'must have 24 to 128 letters, digits, - and _',
    ),
  ),
  PAMOJA_EMAIL_DANE_RESOLVER: formed(
    'DNS resolver that checks signatures (DNSSEC), such as 127.0.0.1:53, over a path nobody can tamper with: live mail asks it for MX, addresses and DANE. Without one there is no DANE.',
    (given) => isIP(resolverAddress(given).host) > 0 && resolverAddress(given).port > 0,
    'must be an address and a port such as 127.0.0.1:53 or [::1]:53',
  ),
  PAMOJA_SMTP_HOST: host('127.0.0.1', 'Address on which SMTP submission and bounces are taken, and the DNS answers.'),
  PAMOJA_SMTP_PORT: integer(587, 0, 65535, 'Port of SMTP submission; a free one when it is taken.'),
  PAMOJA_BOUNCE_PORT: integer(
    25,
    0,
    65535,
    'Port on which other mail servers bring bounces and complaints; a free one when it is taken.',
  ),
  PAMOJA_SMTP_BALANCERS: addresses(
    [],
    'TCP balancers in front of SMTP submission and bounces: their connections are anybody’s, and are not counted as those of one network.',
  ),
  PAMOJA_DNS_PORT: integer(53, 0, 65535, 'Port of the DNS server for PAMOJA_MAIL_HOST; a free one when it is taken.'),
} as const

/** Address and port of a resolver; port 53 unless given. */
export function resolverAddress(given: string): { host: string; port: number } {
  const [, six, four, port = '53'] = /^(?:\[([0-9a-f:.]+)\]|([^:]+))(?::(\d{1,5}))?$/i.exec(given) ?? []
  return { host: six ?? four ?? '', port: Number(port) <= 65_535 ? Number(port) : 0 }
}
