// SPDX-License-Identifier: Apache-2.0
// Quiet hours for promotional messages: by the recipient's own clock, from nine in the evening to eight in the morning,
// or earlier where the country says so. A promotional message that falls into them waits for the morning.
import { minuteMs } from '../../../kernel/time.ts'
import { zoneOf } from '../../../kernel/time-zones.ts'

const usual = { from: 21 * 60, to: 8 * 60 }
/** Countries whose regulator ends the day earlier. */
const earlier = { from: 20 * 60, to: 8 * 60 }
const exceptions: Readonly<Record<string, typeof usual>> = { NG: earlier, UG: earlier, ZA: earlier }

const clocks = new Map<string, Intl.DateTimeFormat>()

/**
 * The first moment, from one on, at which people of a country may be advertised to. Where the clock of a country is not
 * known, that of the account's own counts.
 */
export function afterQuietHours(country: string | null, homeCountry: string, atMs: number): number {
  const zone = zoneOf(country) ?? zoneOf(homeCountry) ?? 'UTC'
  const hours = exceptions[country ?? ''] ?? usual
  const quietMinutes = quietMinutesLeft(zone, hours, atMs)
  if (quietMinutes === 0) return atMs
  const morningMs = Math.floor(atMs / minuteMs) * minuteMs + quietMinutes * minuteMs
  // A night in which clocks are moved is longer or shorter than it looks from its beginning.
  return morningMs + quietMinutesLeft(zone, hours, morningMs) * minuteMs
}

function quietMinutesLeft(zone: string, { from, to }: typeof usual, atMs: number): number {
  const minute = minuteOfDay(zone, atMs)
  return minute >= from ? 24 * 60 - minute + to : Math.max(0, to - minute)
}

function minuteOfDay(zone: string, atMs: number): number {
  let clock = clocks.get(zone)
  if (!clock) {
    clock = new Intl.DateTimeFormat('en', { timeZone: zone, hourCycle: 'h23', hour: '2-digit', minute: '2-digit' })
    clocks.set(zone, clock)
  }
  const [hour = 0, minute = 0] = clock.format(atMs).split(':').map(Number)
  return hour * 60 + minute
}
