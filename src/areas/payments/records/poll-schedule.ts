// SPDX-License-Identifier: Apache-2.0
// Poll schedule: when a provider is asked for the outcome of a payment, payout or refund. Each has a table of its own, counted
// from when the provider was last sent a request for it or last took it a step further. A poll that comes late or gets no
// answer uses up nothing of the table, so that a node that was down and a provider that was away cost little time.

const daySeconds = 86_400

/** Times of the polls, in seconds after the request. */
export type PollSchedule = readonly [first: number, ...rest: number[]]

/** Polls once a day, for a number of days. */
export function days(count: number): number[] {
  return Array.from({ length: count }, (_, n) => (n + 1) * daySeconds)
}

/** Shortest wait, however short the times of the table are. */
const leastMs = 100
/** Waits after a poll without an answer: a part of the time since the request, and at least so many seconds. */
const silentPart = 1 / 4
const silentSeconds = 30

/**
 * Waits before the next poll; null when there is none. `quietMs` is the time since the request, `scale` how much slower than
 * the table's time passes.
 */
export function nextPollMs(polls: PollSchedule, quietMs: number, isAnswered: boolean, scale: number): number | null {
  const quiet = quietMs / 1_000 / scale
  // A poll that comes late stands for the next one too, if that is due in a moment.
  const next = polls.find((seconds) => seconds > quiet + polls[0] / 2)
  if (next === undefined) return null
  const wait = next - quiet
  const seconds = isAnswered ? wait : Math.min(wait, Math.max(silentSeconds, quiet * silentPart))
  return Math.max(leastMs, seconds * 1_000 * scale)
}
