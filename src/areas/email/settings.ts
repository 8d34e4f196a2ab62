// SPDX-License-Identifier: Apache-2.0
// Settings of mail: host name, ports and relay.
import { isIP } from 'node:net'
import { addresses, formed, host, integer, secret, secretUrl, text } from '../../config/setting.ts'

export const emailSettings = {
  PAMOJA_MAIL_HOST: text(
    'mail.pamoja.test',
    'DNS name of the mail service; customers’ CNAME records point to names below it.',
  ),
  PAMOJA_MAIL_ADDRESSES: addresses(
    ['127.0.0.1'],
    'Public addresses of the mail service, published in its DNS and SPF records.',
  ),
  PAMOJA_MAIL_RELAY: secretUrl(['smtp:', 'smtps:'], 'Relay for all live mail, such as smtp://user:password@relay:587.'),
  PAMOJA_MAIL_HOOK_TOKEN: secret(
    formed(
      'Secret in the URL for events of the relay or a feedback loop: /hooks/inbound/email/<token>.',
      (given) => /^[\w-]{24,128}$/.test(given),
      'must have 24 to 128 letters, digits, - and _',
    ),
  ),
  PAMOJA_EMAIL_DANE_RESOLVER: formed(
    'DNSSEC-validating resolver over a trusted path, such as 127.0.0.1:53, for MX, addresses and DANE of live mail; without it, DANE is not used.',
    (given) => isIP(resolverAddress(given).host) > 0 && resolverAddress(given).port > 0,
    'must be an address and a port such as 127.0.0.1:53 or [::1]:53',
  ),
  PAMOJA_SMTP_HOST: host('127.0.0.1', 'Address of SMTP submission, bounces and DNS.'),
  PAMOJA_SMTP_PORT: integer(587, 0, 65535, 'Port of SMTP submission; a free one if it is in use.'),
  PAMOJA_BOUNCE_PORT: integer(
    25,
    0,
    65535,
    'Port for bounces and complaints from other mail servers; a free one if it is in use.',
  ),
  PAMOJA_SMTP_BALANCERS: addresses(
    [],
    'Addresses of TCP load balancers in front of SMTP submission and bounces, which are exempt from connection limits per network.',
  ),
  PAMOJA_DNS_PORT: integer(53, 0, 65535, 'Port of the DNS server for PAMOJA_MAIL_HOST; a free one if it is in use.'),
} as const

/** Address and port of a resolver; port 53 unless given. */
export function resolverAddress(given: string): { host: string; port: number } {
  const [, six, four, port = '53'] = /^(?:\[([0-9a-f:.]+)\]|([^:]+))(?::(\d{1,5}))?$/i.exec(given) ?? []
  return { host: six ?? four ?? '', port: Number(port) <= 65_535 ? Number(port) : 0 }
}
