// SPDX-License-Identifier: Apache-2.0
// When a delivery that failed is tried again: a table that begins with seconds and ends a day after the event. Times are
// the account's own, so that a sandbox clock runs through the day in seconds.
import { backoffMs } from '../../kernel/backoff.ts'
import { dayMs } from '../../kernel/time.ts'

/** The waits after the first to the ninth attempt; the tenth is followed by the last one, a day after the event. */
const retrySeconds = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 25_200] as const
export const maxAttempts = retrySeconds.length + 2
export const retryForMs = dayMs
const jitter = 0.1

export interface Failure {
  /** Attempts made so far, the failed one included. */
  attempts: number
  /** Time of the event. */
  createdMs: number
  failedMs: number
  /** When the receiver asked to be tried again; null: it did not ask. */
  askedForMs: number | null
  /** Random number from 0 to 1. */
  random: number
}

/** Time of the next attempt; null for none. */
export function nextAttemptMs({ attempts, createdMs, failedMs, askedForMs, random }: Failure): number | null {
  const endMs = createdMs + retryForMs
  if (attempts >= maxAttempts || failedMs >= endMs) return null
  const waitMs = backoffMs(retrySeconds, attempts, jitter, random)
  const plannedMs = waitMs === null ? endMs : Math.min(failedMs + waitMs, endMs)
  return askedForMs !== null && askedForMs > plannedMs && askedForMs <= endMs ? Math.round(askedForMs) : plannedMs
}

/** Delay that a Retry-After header asks for, in milliseconds from `nowMs` (real time, as its date is); else null. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null
  const text = header.trim()
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000
  // RFC 9110 knows three forms of a date, all of which name the day or the month in letters.
  const atMs = /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs)
}
