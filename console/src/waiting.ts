// SPDX-License-Identifier: Apache-2.0
// What waits for whoever reads, for the badges of the navigation, and how far the test clock is ahead: one answer for all of it,
// read again some seconds after something happened.
import { useEffect } from 'preact/hooks'
import { accountWaiting, operatorWaiting } from '#sdk/operations.ts'
import { api } from './api.ts'
import { tellTimesAhead } from './kit/words.ts'
import { useLive } from './live.ts'
import { store } from './store.ts'

export const counts = store<Readonly<Record<string, number>>>({})
/** Seconds by which the clock of the test account is ahead. */
export const clockAhead = store(0)

export function keepClock(seconds: number): void {
  tellTimesAhead(seconds * 1_000)
  clockAhead.set(seconds)
}

/** The last question: an answer to an earlier one is of another environment, or old. */
let lastRead = 0

async function read(isOperating: boolean): Promise<void> {
  const own = ++lastRead
  const { counts: now, clock_offset_seconds: ahead } = isOperating
    ? { ...(await operatorWaiting(api)), clock_offset_seconds: 0 }
    : await accountWaiting(api)
  if (own !== lastRead) return
  counts.set(now)
  keepClock(ahead)
}

/** Keeps the counts up to date while it is shown. */
export function useWaiting(environment: string, isOperating: boolean): void {
  const again = () => read(isOperating).catch(() => undefined)
  useEffect(() => void again(), [environment, isOperating])
  useLive('', again, { everyMs: 10_000 })
}
