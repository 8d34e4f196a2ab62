// SPDX-License-Identifier: Apache-2.0
// DNS resolvers of the mail area: the public DNS for live mail, the sandbox's for test mail. Delivery uses a resolver that
// checks signatures (DNSSEC) where one is configured.
import type { App } from '../../../platform/app.ts'
import { DnsResolver, type Found, type MailExchange } from '../../../platform/outbound/dns.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Environment } from '../../../platform/tenant.ts'
import { mailWorld } from '../mail-world.ts'
import { resolverAddress } from '../settings.ts'
import { type DnssecAnswer, DnssecResolver } from './dnssec-resolver.ts'

const both = onePerApp((app) => {
  const world = mailWorld.of(app)
  return {
    live: new DnsResolver(),
    test: world && new DnsResolver({ servers: [`${world.host}:${world.dnsPort}`], forMs: 0 }),
  }
})

/** Resolver of an environment; null for test mail on a node whose sandbox is not used, which leaves it to the one that is. */
export function dnsFor(app: App, environment: Environment): DnsResolver | null {
  return isLeft(app, environment) ? null : both(app)[environment]
}

function isLeft(app: App, environment: Environment): boolean {
  return environment === 'test' && mailWorld.ofAll(app) === null
}

/** DNS queries of delivery. */
export interface DeliveryDns {
  exchanges(domain: string): Promise<DnssecAnswer<MailExchange>>
  addresses(host: string): Promise<DnssecAnswer<string>>
  alias(host: string): Promise<DnssecAnswer<string>>
  certificates(host: string): Promise<DnssecAnswer<string>>
}

const delivery = onePerApp((app) => {
  const world = mailWorld.of(app)
  const { PAMOJA_EMAIL_DANE_RESOLVER: resolver } = app.config
  return {
    live: resolver === null ? withoutSignatures(both(app).live) : new DnssecResolver(resolverAddress(resolver)),
    test: world && new DnssecResolver({ host: world.host, port: world.dnsPort }, { forMs: 0 }),
  }
})

/** Resolver for deliveries; null as for `dnsFor`. */
export function deliveryDnsFor(app: App, environment: Environment): DeliveryDns | null {
  return isLeft(app, environment) ? null : delivery(app)[environment]
}

/** Resolver without DNSSEC: Node does not tell whether signatures were checked, so no answer counts as signed. */
function withoutSignatures(dns: DnsResolver): DeliveryDns {
  const unsigned = async <T>(name: string, found: Promise<Found<T>>): Promise<DnssecAnswer<T>> => ({
    ...(await found),
    name,
    isSecure: false,
  })
  const nothing = async (name: string) => ({ kind: 'none', isNameMissing: false, name, isSecure: false }) as const
  return {
    exchanges: (domain) => unsigned(domain, dns.exchanges(domain)),
    addresses: (host) => unsigned(host, dns.addresses(host)),
    alias: nothing,
    certificates: nothing,
  }
}
