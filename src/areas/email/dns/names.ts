// SPDX-License-Identifier: Apache-2.0
// DNS resolver: the public DNS for live mail, the sandbox's for test mail.
import type { App } from '../../../platform/app.ts'
import { Names } from '../../../platform/names.ts'
import { onePerApp } from '../../../platform/one-per-app.ts'
import type { Environment } from '../../../platform/tenant.ts'
import { mailWorld } from '../mail-world.ts'

const both = onePerApp((app) => {
  const world = mailWorld.of(app)
  return { live: new Names(), test: world && new Names({ servers: [`${world.host}:${world.dnsPort}`], forMs: 0 }) }
})

/** Null on a node without a sandbox; test mail waits for one that has it. */
export function namesFor(app: App, environment: Environment): Names | null {
  return both(app)[environment]
}
