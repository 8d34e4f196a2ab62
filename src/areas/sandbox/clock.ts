// SPDX-License-Identifier: Apache-2.0
// A test account's clock on its way: what falls due in between is done in its order and at its own moment, as if the time had
// passed, before the clock goes on. It stops only for jobs that say so (`calendar`), such as the renewal of a subscription;
// whatever else became due is due on arrival.
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { moveClock } from '../accounts/area.ts'

/** What falls due within this time of the first is one stop: subscriptions of the same minute are renewed together. */
const togetherMs = 30_000
/** How long is waited at a stop for what was begun there, such as a payer who is asked. */
const stopMs = 5_000
/** How long a move may take in all, and how many stops it may have; the rest of the way is one jump. */
const walkMs = 25_000
const mostStops = 500
const lookMs = 20

/** Moves the clock from stop to stop, as far as the last one before the end. Gives how far that was, in milliseconds. */
export async function walk(app: App, caller: Caller, forwardMs: number): Promise<number> {
  const { tenant } = caller
  const endMs = performance.now() + walkMs
  let walkedMs = 0
  for (let stops = 0; stops < mostStops && performance.now() < endMs; stops++) {
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
