// SPDX-License-Identifier: Apache-2.0
// Registries of issuing countries. Operators bring their own behind this port; with test keys the number that the caller
// typed chooses the answer, and nothing else.
import type { Environment } from '../../platform/tenant.ts'

interface RegistryQuery {
  readonly country: string
  readonly id_type: string
  readonly id_number: string
  readonly last_name: string | null
  readonly date_of_birth: string | null
}

type RegistryAnswer = 'match' | 'mismatch' | 'not_found' | 'review' | 'down'

interface Registry {
  lookup(query: RegistryQuery): Promise<RegistryAnswer>
}

const endings: readonly (readonly [string, RegistryAnswer])[] = [
  ['0000', 'not_found'],
  ['0001', 'mismatch'],
  ['0003', 'down'],
  ['0007', 'review'],
]

const simulated: Registry = {
  lookup: async ({ id_number }) => endings.find(([ending]) => id_number.endsWith(ending))?.[1] ?? 'match',
}

/** No registry is connected: it answers nothing. */
const none: Registry = { lookup: async () => 'down' }

export function registryFor(environment: Environment): Registry {
  return environment === 'test' ? simulated : none
}
