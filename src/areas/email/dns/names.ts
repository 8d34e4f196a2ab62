// SPDX-License-Identifier: Apache-2.0
// DNS resolver: the public DNS for live mail, the sandbox's for test mail. Where there is a resolver that checks signatures,
// delivery asks that one.
import type { App } from '../../../platform/app.ts'
import { type Exchange, type Found, Names } from '../../../platform/outbound/dns.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Environment } from '../../../platform/tenant.ts'
import { mailWorld } from '../mail-world.ts'
import { resolverAddress } from '../settings.ts'
import { SecureNames, type Vouched } from './secure-names.ts'

const both = onePerApp((app) => {
  const world = mailWorld.of(app)
  return { live: new Names(), test: world && new Names({ servers: [`${world.host}:${world.dnsPort}`], forMs: 0 }) }
})

/** Null on a node without a sandbox; test mail waits for one that has it. */
export function namesFor(app: App, environment: Environment): Names | null {
  return both(app)[environment]
}

/** What delivery asks the DNS. */
export interface DeliveryNames {
  exchanges(domain: string): Promise<Vouched<Exchange>>
  addresses(host: string): Promise<Vouched<string>>
  certificates(host: string): Promise<Vouched<string>>
}

const delivery = onePerApp((app) => {
  const world = mailWorld.of(app)
  const { PAMOJA_EMAIL_DANE_RESOLVER: resolver } = app.config
  return {
    live: resolver === null ? withoutSignatures(both(app).live) : new SecureNames(resolverAddress(resolver)),
    test: world && new SecureNames({ host: world.host, port: world.dnsPort }, { forMs: 0 }),
  }
})

/** Null as for `namesFor`. */
export function deliveryNamesFor(app: App, environment: Environment): DeliveryNames | null {
  return delivery(app)[environment]
}

/** Node's resolver keeps to itself whether signatures were checked: nothing is vouched for, and no TLSA is asked for. */
function withoutSignatures(names: Names): DeliveryNames {
  const vouched = async <T>(name: string, found: Promise<Found<T>>): Promise<Vouched<T>> => ({
    ...(await found),
    name,
    isSecure: false,
  })
  return {
    exchanges: (domain) => vouched(domain, names.exchanges(domain)),
    addresses: (host) => vouched(host, names.addresses(host)),
    certificates: async (host) => ({ kind: 'none', isNameMissing: false, name: host, isSecure: false }),
  }
}
