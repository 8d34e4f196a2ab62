// SPDX-License-Identifier: Apache-2.0
// Waiting for what happens elsewhere, in a file of its own: most who wait need nothing else of the world.
import { availableParallelism, loadavg } from 'node:os'

/** Patience on a machine of one's own, where only what never happens takes as long. */
const ownMachineMs = 30_000
/** Looks before giving up: a machine that stood still for a while gave no time to what is waited for either. */
const leastLooks = 200
/** Even so nothing is waited for longer than this many times. */
const mostTimes = 10
/** Looking costs time that others could work in: the longer it takes already, the less often. */
const shortestPauseMs = 20
const longestPauseMs = 100

/** Patience just now: where more wants to run than there are processors, everything takes so many times longer. */
export function patienceMs(onOwnMachineMs = ownMachineMs): number {
  const [waiting = 0] = loadavg()
  return Math.round(onOwnMachineMs * Math.max(1, waiting / availableParallelism()))
}

/**
 * Waits until `look` gives something, asking again and again; gives up loudly. `withinMs` is for what waits for a real timer
 * that long.
 */
export async function eventually<T>(
  look: () => Promise<T | null | undefined | false>,
  what: string,
  withinMs = ownMachineMs,
): Promise<T> {
  const sinceMs = performance.now()
  for (let looks = 1; ; looks++) {
    const found = await look()
    if (found) return found
    const waitedMs = performance.now() - sinceMs
    const times = waitedMs / patienceMs(withinMs)
    if (times > mostTimes || (times > 1 && looks >= leastLooks))
      throw new Error(`waited in vain for ${what}, ${Math.round(waitedMs / 1_000)} s`)
    const pauseMs = Math.min(longestPauseMs, Math.max(shortestPauseMs, waitedMs / 10))
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
