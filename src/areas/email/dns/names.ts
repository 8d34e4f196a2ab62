// SPDX-License-Identifier: Apache-2.0
// Where addresses are looked up: the DNS of the world for live mail, that of the sandbox for test mail.
import type { App } from '../../../platform/app.ts'
import { Names } from '../../../platform/names.ts'
import { onePerApp } from '../../../platform/one-per-app.ts'
import type { Environment } from '../../../platform/tenant.ts'
import { mailWorld } from '../mail-world.ts'

const both = onePerApp((app) => {
  const world = mailWorld.of(app)
  return { live: new Names(), test: world && new Names({ servers: [`${world.host}:${world.dnsPort}`], forMs: 0 }) }
})

/** Null on a node without a sandbox, which test mail has to wait for. */
export function namesFor(app: App, environment: Environment): Names | null {
  return both(app)[environment]
}
