// SPDX-License-Identifier: Apache-2.0
// Waiting for what happens elsewhere, in a file of its own: most who wait need nothing else of the world.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'

/** Patience on a quiet machine of usual speed, where only what never happens takes as long. */
const quietMs = 30_000
/** Looks before giving up: a machine that stood still for a while gave no time to what is waited for either. */
const leastLooks = 200
/** Looking costs time that others could work in: the longer it takes already and the more who wait for it, the less often. */
const shortestPauseMs = 20
const longestPauseMs = 100
const mostPatience = 5

/** Processor time that the yardstick takes where these tests were written. */
const usualYardstickMs = 20

/** How many times slower the processor is than where these tests were written, by a fixed piece of work; at least 1. */
const slowness = Math.max(1, yardstickMs() / usualYardstickMs)

function yardstickMs(): number {
  const since = process.cpuUsage()
  const block = Buffer.alloc(1_024 * 1_024)
  const hash = createHash('sha256')
  for (let i = 0; i < 5; i++) hash.update(block)
  hash.digest()
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1_000
}

/** How many times longer things take just now: by the speed of the processor, and by what waits for each of them. */
function crowding(): number {
  const [lately = 0] = loadavg()
  return slowness * Math.max(1, Math.max(lately, runnable()) / availableParallelism())
}

/** Processes and threads that run or want to in this moment; the average of the last minute rises too late. */
export function runnable(): number {
  if (process.platform !== 'linux') return 0
  const [, , , counts = ''] = readFileSync('/proc/loadavg', 'utf8').split(' ')
  return Number(counts.split('/')[0])
}

/** Time to give something that takes up to `onQuietMs` on a quiet machine, on this one as it is now. */
export function patienceMs(onQuietMs = quietMs): number {
  return Math.round(onQuietMs * crowding())
}

/** Calls `then` once a time has passed that is measured in the work of the machine; gives what calls it off. */
export function whenPatienceEnds(onQuietMs: number, then: () => void): () => void {
  let leftMs = onQuietMs
  let lastMs = performance.now()
  const timer = setInterval(() => {
    const nowMs = performance.now()
    leftMs -= (nowMs - lastMs) / crowding()
    lastMs = nowMs
    if (leftMs > 0) return
    clearInterval(timer)
    then()
  }, 1_000)
  return () => clearInterval(timer)
}

/** Processor time of this process, as it would be where these tests were written: what others do takes none of it. */
export function workedMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000 / slowness
}

/**
 * Waits until `look` gives something, asking again and again; gives up loudly. `withinMs` is for what waits for a real timer
 * that long. A limit is measured in work: a second in which the machine was crowded four times counts as a quarter.
 */
export async function eventually<T>(
  look: () => Promise<T | null | undefined | false>,
  what: string,
  withinMs = quietMs,
): Promise<T> {
  const sinceMs = performance.now()
  let passedMs = 0
  let lastMs = sinceMs
  for (let looks = 1; ; looks++) {
    const found = await look()
    if (found) return found
    const nowMs = performance.now()
    passedMs += (nowMs - lastMs) / crowding()
    lastMs = nowMs
    if (passedMs > withinMs && looks >= leastLooks)
      throw new Error(`waited in vain for ${what}, ${Math.round((nowMs - sinceMs) / 1_000)} s`)
    const longestMs = longestPauseMs * Math.min(mostPatience, crowding())
    const pauseMs = Math.min(longestMs, Math.max(shortestPauseMs, (nowMs - sinceMs) / 10))
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
