// SPDX-License-Identifier: Apache-2.0
// The only place that reads the time of day. Everything else is handed a clock, so tests can own it.

export interface Clock {
  /** Milliseconds since 1970, UTC. */
  nowMs(): number
}

export const systemClock: Clock = { nowMs: () => Date.now() }
