// SPDX-License-Identifier: Apache-2.0
// Whoever accepts a payment, payout or refund in a request also sends it; its job only sees to it that somebody does. A
// job that comes too early finds out here that the request is still at it.
import type { Outcome } from '../../platform/work.ts'

/**
 * By then whoever accepted something has begun to send it, or is dead; and whoever began has heard, or is dead. A request to
 * a provider is waited for half a minute, however fast the sandbox's time passes, so that it makes neither of them shorter.
 */
const plannedMs = 10_000
const sendingMs = 40_000

/** To look again soon: somebody else is at it. */
export const soon: Outcome = { kind: 'again', afterMs: 1_000 }

/** `inline`: the request that accepted it sends it. `quietMs`: for how long its state has been what it is. */
export function isAtWork(state: string, inline: boolean, quietMs: number): boolean {
  return (state === 'planned' && inline && quietMs < plannedMs) || (state === 'sending' && quietMs < sendingMs)
}
