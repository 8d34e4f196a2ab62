// SPDX-License-Identifier: Apache-2.0
// Circuit breaker of a registry: opens after five failures within half a minute without an answer between them.
import { Breaker } from '../../../platform/connections/breaker.ts'

const most = 5
const windowMs = 30_000

export function registryBreaker(): Breaker {
  return new Breaker({
    remembers: most,
    withinMs: windowMs,
    isFailing: ({ inARow }) => inARow >= most,
    waitMs: windowMs,
    probes: most,
  })
}
