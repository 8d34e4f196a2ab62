// SPDX-License-Identifier: Apache-2.0
// Session timers (RFC 4028): who refreshes a call and when it is given up for dead, read from the headers of both sides.
import { parseParameters } from './header-values.ts'
import type { SipHeaders, SipResponse } from './message.ts'

export const shortestSessionSeconds = 90
const daySeconds = 86_400

interface SessionInterval {
  seconds: number
  refresher: 'uac' | 'uas' | null
}

export function readSessionExpires(headers: SipHeaders): SessionInterval | null {
  const value = headers.get('session-expires')
  const found = /^(\d{1,9})\s*(;[\s\S]*)?$/.exec(value ?? '')
  if (!found) return null
  const refresher = parseParameters(found[2] ?? '')
    .get('refresher')
    ?.toLowerCase()
  return { seconds: Number(found[1]), refresher: refresher === 'uac' || refresher === 'uas' ? refresher : null }
}

export interface SessionPlan {
  seconds: number
  /** Whether this side refreshes; otherwise it waits for the other. */
  isOurs: boolean
}

/**
 * Milliseconds until this side acts: refreshes at half of the interval, or gives the call up shortly before its end. No call is as
 * long as a day, and timers of more than 24 of them would go off at once.
 */
export function dueAfterMs({ seconds, isOurs }: SessionPlan): number {
  return 1_000 * Math.min(daySeconds, isOurs ? seconds / 2 : seconds - Math.min(32, seconds / 3))
}

/** Session timer plan after an answer to our INVITE: who refreshes, and when. */
export function planOf({ headers }: SipResponse, self: 'uac' | 'uas'): SessionPlan | null {
  const agreed = readSessionExpires(headers)
  if (!agreed || agreed.seconds < shortestSessionSeconds) return null
  return { seconds: agreed.seconds, isOurs: (agreed.refresher ?? 'uac') === self }
}
