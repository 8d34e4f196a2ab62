// SPDX-License-Identifier: Apache-2.0
// Clock: the only place that reads the time of day. Everything else is given one, so that tests control it.

export interface Clock {
  /** Milliseconds since 1970, UTC. */
  nowMs(): number
}

export const systemClock: Clock = { nowMs: () => Date.now() }
