// SPDX-License-Identifier: Apache-2.0
// Payments, payouts and refunds in progress elsewhere. The request that accepts one also sends it, and its job sends it only
// if the request did not; a job that comes too early finds out here that the request is still sending.
import type { Outcome } from '../../../platform/work.ts'

/**
 * After 10 s the request that accepted it is sending or crashed; after 40 s the sender has its answer or crashed. A provider's
 * answer is waited for half a minute, however fast the sandbox's time passes, so that neither is scaled.
 */
const plannedMs = 10_000
const sendingMs = 40_000

/** Outcome of a job that finds another at work on the same: try again in a second. */
export const soon: Outcome = { kind: 'again', afterMs: 1_000 }

/** `inline`: the request that accepted it sends it. `quietMs`: for how long its state has been what it is. */
export function isInProgress(state: string, inline: boolean, quietMs: number): boolean {
  return (state === 'planned' && inline && quietMs < plannedMs) || (state === 'sending' && quietMs < sendingMs)
}
