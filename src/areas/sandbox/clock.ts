// SPDX-License-Identifier: Apache-2.0
// Moves of a test account's clock. Jobs marked `calendar`, such as the renewal of a subscription, run in order and each
// at its own moment before the clock moves on, as if the time had passed; all other jobs are due on arrival.
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { moveClock } from '../accounts/area.ts'

/** Jobs due within this time of the first share a stop: subscriptions of the same minute are renewed together. */
const togetherMs = 30_000
/** Time to wait at a stop for what was begun there, such as a payment request. */
const stopMs = 5_000
/** Time of a whole move, and its number of stops; the rest of the way is one jump. */
const walkMs = 25_000
const maxStops = 500
const lookMs = 20

/** Moves the clock from stop to stop, as far as the last one before the end. Gives how far that was, in milliseconds. */
export async function walk(app: App, caller: Caller, forwardMs: number): Promise<number> {
  const { tenant } = caller
  const endMs = performance.now() + walkMs
  let walkedMs = 0
  for (let stops = 0; stops < maxStops && performance.now() < endMs; stops++) {
    const nextMs = await app.work.nextOnCalendar(tenant)
    if (nextMs === null) break
    const stepMs = Math.max(0, nextMs) + togetherMs
    if (walkedMs + stepMs >= forwardMs) break
    await app.db.acrossTx((tx) => moveClock(app, tx, stepMs, caller))
    walkedMs += stepMs
    await quiet(app, caller, Math.min(endMs, performance.now() + stopMs))
  }
  return walkedMs
}

async function quiet(app: App, { tenant }: Caller, untilMs: number): Promise<void> {
  do {
    app.work.poke()
    await pause(lookMs)
  } while (performance.now() < untilMs && (await app.work.isBusyOnCalendar(tenant)))
}
