// SPDX-License-Identifier: Apache-2.0
// Backoff: when to try again, by a table of waits with a little chance in it, so that what failed together does not
// return together.

/** The wait before attempt `attempt + 1`, in milliseconds, within ±`jitter` of the table; null when the table is used up. */
export function backoffMs(
  tableSeconds: readonly number[],
  attempt: number,
  jitter: number,
  random: number,
): number | null {
  const seconds = tableSeconds[attempt - 1]
  return seconds === undefined ? null : Math.round(seconds * 1000 * (1 + jitter * (2 * random - 1)))
}
