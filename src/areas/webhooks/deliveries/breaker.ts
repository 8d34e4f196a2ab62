// SPDX-License-Identifier: Apache-2.0
// When an endpoint is left alone: ten failures in a row, or more than nine tenths of the last fifty to a hundred. From then on
// one delivery is tried every half minute. The time is the account's own.
import { Breaker } from '../../../platform/connections/breaker.ts'

export const probeEveryMs = 30_000

export function endpointBreaker(): Breaker {
  return new Breaker({
    remembers: 100,
    isFailing: ({ known, failures, inARow }) => inARow >= 10 || (known >= 50 && failures > 0.9 * known),
    waitMs: probeEveryMs,
    probes: 1,
  })
}
