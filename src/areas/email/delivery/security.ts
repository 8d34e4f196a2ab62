// SPDX-License-Identifier: Apache-2.0
// Security sources of an environment: MTA-STS policies, and the certificate authorities that are trusted. The sandbox has
// its own of both.
import { createSecureContext, type SecureContext } from 'node:tls'
import type { App } from '../../../platform/app.ts'
import { Outbound } from '../../../platform/outbound.ts'
import { onePerApp } from '../../../platform/program/one-per-app.ts'
import type { Environment } from '../../../platform/tenant.ts'
import { dnsFor } from '../dns/resolvers.ts'
import { mailWorld } from '../mail-world.ts'
import { StsPolicies } from './sts-policies.ts'
import { tlsTally } from './tls-tally.ts'

const https = 443

interface Security {
  readonly policies: StsPolicies
  /** Authorities whose certificates count; null for the well-known ones. */
  readonly authorities: SecureContext | null
  close(): Promise<void>
}

const both = onePerApp((app) => ({ live: liveSecurity(app), test: sandboxSecurity(app) }))

/** Policies of an environment; null for test mail on a node without a sandbox. */
export function policiesFor(app: App, environment: Environment): StsPolicies | null {
  return both(app)[environment]?.policies ?? null
}

export function authoritiesFor(app: App, environment: Environment): SecureContext | null {
  return both(app)[environment]?.authorities ?? null
}

export async function closeSecurity(app: App): Promise<void> {
  await both.made(app)?.test?.close()
}

function liveSecurity(app: App): Security | null {
  const dns = dnsFor(app, 'live')
  if (!dns) return null
  const policies = new StsPolicies(app, 'live', { dns, outbound: app.outbound, port: https }, (result) =>
    tlsTally(app).fetched(result),
  )
  return { policies, authorities: null, close: async () => undefined }
}

/** Security of test mail: the sandbox's DNS leads to its policy host, whose certificates are checked like any other. */
function sandboxSecurity(app: App): Security | null {
  const world = mailWorld.of(app)
  const dns = dnsFor(app, 'test')
  if (!world || !dns) return null
  const outbound = new Outbound({
    policy: {
      production: true,
      allowPrivate: false,
      allowHttp: false,
      allowCidrs: [world.host],
      denyCidrs: [],
      extraCa: world.ca,
      proxy: null,
    },
    lookup: async (name) => {
      const found = await dns.addresses(name)
      const values = found.kind === 'found' ? found.values : []
      return values.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    },
  })
  const policies = new StsPolicies(app, 'test', { dns, outbound, port: world.policyPort }, (result) =>
    tlsTally(app).fetched(result),
  )
  return { policies, authorities: createSecureContext({ ca: world.ca }), close: () => outbound.close() }
}
