// SPDX-License-Identifier: Apache-2.0
// When periods begin and end. Every boundary is counted from the anchor, never from the boundary before it, so that a
// month that is too short for the anchor's day does not shorten those after it: 31 January, 28 February, 31 March. Days
// are days on the account's wall clock, also where it is moved for summer. Boundaries are whole seconds.
import { Temporal } from 'temporal-polyfill'
import { dayMs } from '../../../kernel/time.ts'

export const intervals = ['day', 'week', 'month', 'year'] as const
export type Interval = (typeof intervals)[number]

export interface Calendar {
  interval: Interval
  intervalCount: number
  /** One of the boundaries, by the wall clock: `2026-01-31T09:15:30`. */
  anchor: string
  /** The day of the month that boundaries fall on, or the last of a month that does not have it. */
  anchorDay: number
  timeZone: string
}

export interface Period {
  start: Date
  end: Date
}

/** The boundary so many intervals after the anchor, or before it. */
export function boundary(calendar: Calendar, index: number): Date {
  const { interval, intervalCount, anchor, anchorDay, timeZone } = calendar
  const from = readWall(anchor)
  const count = index * intervalCount
  return instantOf(
    interval === 'day' || interval === 'week'
      ? new Date(from.getTime() + count * (interval === 'week' ? 7 : 1) * dayMs)
      : inMonth(from, count * (interval === 'year' ? 12 : 1), anchorDay),
    timeZone,
  )
}

/** The whole interval that a moment lies in; a moment that is a boundary begins one. */
export function intervalAt(calendar: Calendar, at: Date): Period {
  // Counted in intervals as long as they usually are, the guess lies near.
  let index = Math.floor((at.getTime() - readWall(calendar.anchor).getTime()) / (usualDays(calendar) * dayMs))
  let start = boundary(calendar, index)
  while (start > at) start = boundary(calendar, --index)
  for (;;) {
    const end = boundary(calendar, index + 1)
    if (end > at) return { start, end }
    start = end
    index++
  }
}

/** A moment by the wall clock of a time zone, without parts of a second. */
export function wallClock(at: Date, timeZone: string): string {
  return zoned(at, timeZone).toPlainDateTime().round({ smallestUnit: 'second', roundingMode: 'floor' }).toString()
}

/** The day that a moment lies in by the wall clock of a time zone. */
export function wallDay(at: Date, timeZone: string): string {
  return zoned(at, timeZone).toPlainDate().toString()
}

/** The first moment of a day in a time zone. */
export function startOfDay(day: string, timeZone: string): Date {
  return new Date(Temporal.PlainDate.from(day).toZonedDateTime(timeZone).epochMilliseconds)
}

/** The same time of day on another date. */
export function onDay(wall: string, day: string): string {
  return Temporal.PlainDate.from(day).toPlainDateTime(Temporal.PlainDateTime.from(wall).toPlainTime()).toString()
}

/** The next time, from a moment on, that a day of the month comes round: the last of a month that does not have it. */
export function nextDayOfMonth(wall: string, day: number): string {
  const from = readWall(wall)
  const inThisMonth = inMonth(from, 0, day)
  const next = inThisMonth < from ? inMonth(from, 1, day) : inThisMonth
  return next.toISOString().slice(0, 19)
}

/** So many days later by the wall clock of a time zone. */
export function daysAfter(at: Date, days: number, timeZone: string): Date {
  return new Date(zoned(at, timeZone).add({ days }).epochMilliseconds)
}

/** The first moment, from one on, at which a wall clock shows an hour from `from` to just before `to`. */
export function withinHours(at: Date, timeZone: string, from: number, to: number): Date {
  const now = zoned(at, timeZone)
  if (now.hour >= from && now.hour < to) return at
  const morning = now.startOfDay().with({ hour: from })
  return new Date((now.hour < from ? morning : morning.add({ days: 1 })).epochMilliseconds)
}

function usualDays({ interval, intervalCount }: Calendar): number {
  return { day: 1, week: 7, month: 30.436875, year: 365.2425 }[interval] * intervalCount
}

/** A wall clock as though it were in UTC: what is reckoned with it knows no time zone. */
function readWall(wall: string): Date {
  return new Date(`${wall}Z`)
}

function inMonth(from: Date, months: number, day: number): Date {
  const date = new Date(from)
  date.setUTCDate(1)
  date.setUTCMonth(date.getUTCMonth() + months)
  const month = new Date(date)
  month.setUTCMonth(month.getUTCMonth() + 1, 0)
  date.setUTCDate(Math.min(day, month.getUTCDate()))
  return date
}

/** A time of day that a clock skips is as much later; of one that it shows twice, the first counts. */
function instantOf(wall: Date, timeZone: string): Date {
  const plain = new Temporal.PlainDateTime(
    wall.getUTCFullYear(),
    wall.getUTCMonth() + 1,
    wall.getUTCDate(),
    wall.getUTCHours(),
    wall.getUTCMinutes(),
    wall.getUTCSeconds(),
  )
  return new Date(plain.toZonedDateTime(timeZone, { disambiguation: 'compatible' }).epochMilliseconds)
}

function zoned(at: Date, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(timeZone)
}
