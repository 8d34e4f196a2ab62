// SPDX-License-Identifier: Apache-2.0
// Report intervals by the wall clock of a time zone. Pure.
import { dayMs, minuteMs } from '../../../kernel/time.ts'
import { wallTime } from '../routing/hours.ts'

export const intervals = ['15m', '30m', 'hour', 'day', 'week', 'month'] as const
export type Interval = (typeof intervals)[number]

const lengthMs: Readonly<Record<Interval, number>> = {
  '15m': 15 * minuteMs,
  '30m': 30 * minuteMs,
  hour: 60 * minuteMs,
  day: dayMs,
  week: 7 * dayMs,
  month: 28 * dayMs,
}

/** Upper bound of the number of intervals in a time range. */
export function countOf(interval: Interval, fromMs: number, toMs: number): number {
  return Math.ceil((toMs - fromMs) / lengthMs[interval]) + 1
}

const longestLeapMs = 120 * minuteMs

/** Moment at which the wall clock shows a minute of a date, or at which it leaps over it: in Cairo, midnight of a day in April. */
export function momentOfWall(date: string, minute: number, timezone: string): Date {
  const wanted = Date.parse(`${date}T00:00:00Z`) + minute * minuteMs
  const shownAt = (ms: number): number => {
    const shown = wallTime(new Date(ms), timezone)
    return Date.parse(`${shown.date}T00:00:00Z`) + shown.minute * minuteMs
  }
  // Iterate: the first guess may have the UTC offset from before a clock change.
  let guess = wanted
  for (let i = 0; i < 2; i++) guess += wanted - shownAt(guess)
  if (shownAt(guess) === wanted) return new Date(guess)
  // A minute that the clock leaps over is never shown, and the guess is near the leap.
  let leap = guess - longestLeapMs
  while (shownAt(leap) < wanted) leap += minuteMs
  return new Date(leap)
}

/** Start of the interval that contains a moment. */
export function startOf(moment: Date, interval: Interval, timezone: string): Date {
  const { date, minute } = wallTime(moment, timezone)
  switch (interval) {
    case '15m':
      return momentOfWall(date, minute - (minute % 15), timezone)
    case '30m':
      return momentOfWall(date, minute - (minute % 30), timezone)
    case 'hour':
      return momentOfWall(date, minute - (minute % 60), timezone)
    case 'day':
      return momentOfWall(date, 0, timezone)
    case 'week': {
      const sinceMonday = (new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7
      const monday = new Date(Date.parse(`${date}T00:00:00Z`) - sinceMonday * dayMs).toISOString().slice(0, 10)
      return momentOfWall(monday, 0, timezone)
    }
    case 'month':
      return momentOfWall(`${date.slice(0, 7)}-01`, 0, timezone)
  }
}

/** End of the interval that starts at a moment. */
export function endOf(start: Date, interval: Interval, timezone: string): Date {
  const within =
    interval === 'month' ? 32 * dayMs : lengthMs[interval] + (interval === 'day' || interval === 'week' ? dayMs / 2 : 0)
  // An hour that the clock shows twice is one interval.
  for (let ms = start.getTime() + within; ; ms += within) {
    const end = startOf(new Date(ms), interval, timezone)
    if (end > start) return end
  }
}
