// SPDX-License-Identifier: Apache-2.0
// When a provider is asked again how something went: a payment, a payout or a refund. Each has a table of its own, counted
// from when the provider was last asked for it or last took it a step further. Nothing of the table is used up by coming
// late or by hearing nothing, so that a node that was down and a provider that was away cost little time.

const daySeconds = 86_400

/** When to look: seconds after the provider was asked. */
export type Looks = readonly [first: number, ...rest: number[]]

/** Once a day, for so many days. */
export function days(count: number): number[] {
  return Array.from({ length: count }, (_, n) => (n + 1) * daySeconds)
}

/** However short the table's own times are, nobody looks sooner. */
const leastMs = 100
/** A provider that did not answer is asked again after a part of the time that it has had, if that is not next to nothing. */
const silentPart = 1 / 4
const silentSeconds = 30

/**
 * How long to wait for the next look; null when there is none. `quietMs` is how long ago the provider was asked for it,
 * `scale` how much slower than the table's time passes.
 */
export function nextLookMs(looks: Looks, quietMs: number, isAnswered: boolean, scale: number): number | null {
  const quiet = quietMs / 1_000 / scale
  // Who comes late for one look has had the next one too if that is due in a moment.
  const next = looks.find((seconds) => seconds > quiet + looks[0] / 2)
  if (next === undefined) return null
  const wait = next - quiet
  const seconds = isAnswered ? wait : Math.min(wait, Math.max(silentSeconds, quiet * silentPart))
  return Math.max(leastMs, seconds * 1_000 * scale)
}
