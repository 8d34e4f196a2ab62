// SPDX-License-Identifier: Apache-2.0
// When a provider is left alone: half of the last twenty requests got no usable answer. A simulator fails by the number that it
// is given, which says nothing about the next one: its breaker never opens.
import { Breaker, type BreakerPolicy } from '../../../platform/connections/breaker.ts'

const remembers = 20

const policy: BreakerPolicy = {
  remembers,
  isFailing: ({ known, failures }) => known === remembers && failures >= known / 2,
  isDegraded: ({ known, failures }) => known === remembers && failures >= known / 4,
  waitMs: 30_000,
  probes: 3,
}

export function providerBreaker({ opens }: { opens: boolean }): Breaker {
  return new Breaker(opens ? policy : { ...policy, isFailing: () => false, isDegraded: () => false })
}
