// SPDX-License-Identifier: Apache-2.0
// A registry on a free port of this machine. Its token is made anew at every start.
import { randomBytes } from 'node:crypto'
import { simulatedRegistry as simulator } from '../areas/identity/registry/simulated.ts'
import { RegistrySimulator } from '../simulators/registry.ts'
import { starter } from './starter.ts'

export const simulatedRegistry = starter(simulator, async ({ clock, sharedHost: host }) => {
  const token = randomBytes(16).toString('hex')
  const running = await RegistrySimulator.start({ host, token, now: () => clock.nowMs() })
  return { gives: { url: running.url, token }, address: running.url, stop: () => running.stop() }
})
