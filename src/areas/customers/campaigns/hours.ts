// SPDX-License-Identifier: Apache-2.0
// Hours of recipients: when it is a time of theirs, and when their night is over.
import { placeOf } from '../../../kernel/phone.ts'
import { minuteMs } from '../../../kernel/time.ts'
import { zoneOf } from '../../../kernel/time-zones.ts'

const clocks = new Map<string, Intl.DateTimeFormat>()
const dayMinutes = 24 * 60

/** Quiet hours, as times of the day. */
export interface QuietHours {
  readonly from: string
  readonly to: string
}

export interface Whereabouts {
  readonly timezone: string | null
  readonly country: string | null
  readonly phones: readonly string[]
}

/** Time zone of a customer: theirs, or that of their country, their number's, or the account's. */
export function zoneFor({ timezone, country, phones }: Whereabouts, homeCountry: string): string {
  const [phone] = phones
  const ofNumber = () => (phone === undefined ? null : zoneOf(placeOf(phone).country))
  return timezone ?? zoneOf(country) ?? ofNumber() ?? zoneOf(homeCountry) ?? 'UTC'
}

/** First moment from one on that is not in the quiet hours of a zone. */
export function afterQuiet(zone: string, hours: QuietHours | null, atMs: number): number {
  if (hours === null) return atMs
  const [from, to] = [minutesOf(hours.from), minutesOf(hours.to)]
  const minute = Math.floor((localMs(zone, atMs) / minuteMs) % dayMinutes)
  const isQuiet = from <= to ? minute >= from && minute < to : minute >= from || minute < to
  if (from === to || !isQuiet) return atMs
  return Math.floor(atMs / minuteMs) * minuteMs + ((to - minute + dayMinutes) % dayMinutes) * minuteMs
}

/** Moment at which the clock of a zone shows a time, given as if it were UTC. */
export function momentIn(zone: string, shownMs: number): number {
  const guess = shownMs - (localMs(zone, shownMs) - shownMs)
  return shownMs - (localMs(zone, guess) - guess)
}

function minutesOf(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number)
  return hours * 60 + minutes
}

const maxShown = 1_000
/** What clocks showed lately, by zone and minute: many recipients are asked for at one time. */
const shown = new Map<string, number>()

/** What the clock of a zone shows, as if it were UTC, to the minute. */
function localMs(zone: string, atMs: number): number {
  const key = `${zone} ${Math.floor(atMs / minuteMs)}`
  let known = shown.get(key)
  if (known === undefined) {
    known = readMs(zone, atMs)
    if (shown.size >= maxShown) shown.clear()
    shown.set(key, known)
  }
  return known
}

function readMs(zone: string, atMs: number): number {
  let clock = clocks.get(zone)
  if (!clock) {
    const parts = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const
    clock = new Intl.DateTimeFormat('en-CA', { timeZone: zone, hourCycle: 'h23', ...parts })
    clocks.set(zone, clock)
  }
  const [day = '', time = ''] = clock.format(atMs).split(', ')
  return Date.parse(`${day}T${time}:00Z`)
}
