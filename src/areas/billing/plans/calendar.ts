// SPDX-License-Identifier: Apache-2.0
// Billing period boundaries. Each is counted from the anchor, not from the previous boundary, so that a short month
// does not shift later ones: 31 January, 28 February, 31 March. Days follow the account's wall clock, including
// daylight saving; boundaries are whole seconds.
import { Temporal } from 'temporal-polyfill'
import { dayMs } from '../../../kernel/time.ts'

export const intervals = ['day', 'week', 'month', 'year'] as const
export type Interval = (typeof intervals)[number]

export interface Calendar {
  interval: Interval
  intervalCount: number
  /** Anchor boundary in wall clock time: `2026-01-31T09:15:30`. */
  anchor: string
  /** Day of the month of boundaries; the last day in months without it. */
  anchorDay: number
  timeZone: string
}

export interface Period {
  start: Date
  end: Date
}

/** Boundary `index` intervals after the anchor; negative ones lie before it. */
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

/** Interval that contains a moment; a boundary starts its interval. */
export function intervalAt(calendar: Calendar, at: Date): Period {
  // First guess from the usual interval length; the loop below corrects it.
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

/** Wall clock time of a moment in a time zone, in whole seconds. */
export function wallClock(at: Date, timeZone: string): string {
  return zoned(at, timeZone).toPlainDateTime().round({ smallestUnit: 'second', roundingMode: 'floor' }).toString()
}

/** Calendar day of a moment in a time zone. */
export function wallDay(at: Date, timeZone: string): string {
  return zoned(at, timeZone).toPlainDate().toString()
}

/** First moment of a day in a time zone. */
export function startOfDay(day: string, timeZone: string): Date {
  return new Date(Temporal.PlainDate.from(day).toZonedDateTime(timeZone).epochMilliseconds)
}

/** Wall clock time moved to another date. */
export function onDay(wall: string, day: string): string {
  return Temporal.PlainDate.from(day).toPlainDateTime(Temporal.PlainDateTime.from(wall).toPlainTime()).toString()
}

/** Next occurrence of a day of the month; the last day in months without it. */
export function nextDayOfMonth(wall: string, day: number): string {
  const from = readWall(wall)
  const inThisMonth = inMonth(from, 0, day)
  const next = inThisMonth < from ? inMonth(from, 1, day) : inThisMonth
  return next.toISOString().slice(0, 19)
}

/** Moment a number of calendar days later in a time zone. */
export function daysAfter(at: Date, days: number, timeZone: string): Date {
  return new Date(zoned(at, timeZone).add({ days }).epochMilliseconds)
}

/** First moment at or after `at` whose local hour is from `from` to before `to`. */
export function withinHours(at: Date, timeZone: string, from: number, to: number): Date {
  const now = zoned(at, timeZone)
  if (now.hour >= from && now.hour < to) return at
  const morning = now.startOfDay().with({ hour: from })
  return new Date((now.hour < from ? morning : morning.add({ days: 1 })).epochMilliseconds)
}

function usualDays({ interval, intervalCount }: Calendar): number {
  return { day: 1, week: 7, month: 30.436875, year: 365.2425 }[interval] * intervalCount
}

/** Wall clock time read as UTC, for arithmetic without a time zone. */
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

/** Moment of a wall clock time: a skipped time moves forward by the gap, a repeated one means its first occurrence. */
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
