// SPDX-License-Identifier: Apache-2.0
// The noun: business hours in a time zone, with holidays: whether they are open at a moment, and the next change. Pure.
import { type Static, Type } from 'typebox'
import { dayMs, minuteMs } from '../../../kernel/time.ts'
import { Day, TimeZone } from '../../../platform/schema/fields.ts'
import { Destination } from '../schema.ts'

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const
type Weekday = (typeof weekdays)[number]

/** Days ahead searched for the next change. */
const maxDaysAhead = 14

const Time = (description: string) =>
  Type.String({
    pattern: '^([01]\\d|2[0-9]|3[0-9]|4[0-7]):[0-5]\\d$|^48:00$',
    rule: 'must be a time such as 08:00, or 26:00 for 02:00 of the next day',
    description,
  })

const Interval = Type.Object({ open: Time('Opening time'), close: Time('Closing time') })
const Intervals = (description: string) =>
  Type.Array(Interval, { maxItems: 4, rule: 'must be at most 4 intervals', description })
const aDay = Type.Optional(Intervals('Opening hours of the day; default closed'))

export const HoursDocument = Type.Object({
  timezone: TimeZone({ description: 'Time zone of the times below' }),
  weekly: Type.Object(
    {
      monday: aDay,
      tuesday: aDay,
      wednesday: aDay,
      thursday: aDay,
      friday: aDay,
      saturday: aDay,
      sunday: aDay,
    },
    { description: 'Opening hours of the week; a day without intervals is closed' },
  ),
  holidays: Type.Optional(
    Type.Array(
      Type.Object({
        date: Day({ description: 'Date of the holiday' }),
        name: Type.Optional(Type.String({ maxLength: 64, description: 'Label' })),
        intervals: Type.Optional(Intervals('Opening hours; default closed all day')),
        every_year: Type.Optional(Type.Boolean({ description: 'True repeats it every year' })),
      }),
      { maxItems: 400, rule: 'must be at most 400 holidays', description: 'Days with other opening hours' },
    ),
  ),
  closed_action: Type.Optional(Destination),
})

/** Request to set business hours. Which queues keep them is a fact of the queues. */
export const HoursSet = Type.Object({
  name: Type.String({
    minLength: 1,
    maxLength: 64,
    rule: 'must have 1 to 64 characters',
    description: 'Unique name: hours of the same name are replaced',
  }),
  ...HoursDocument.properties,
  queue_ids: Type.Optional(
    Type.Array(Type.String({ maxLength: 40 }), {
      maxItems: 2_000,
      rule: 'must be at most 2000 queues',
      description:
        'Complete list of the queues with these hours: sets their `business_hours_id`, and removes it from queues that are not listed, which are then always open. Default: no queue is changed',
    }),
  ),
})

export type HoursOf = Static<typeof HoursDocument>

/** Why well-formed intervals are invalid; null when valid. */
export function intervalProblem({ weekly, holidays = [] }: HoursOf): string | null {
  const all = [...Object.values(weekly), ...holidays.map(({ intervals = [] }) => intervals)]
  for (const intervals of all)
    for (const { open, close } of intervals ?? []) {
      if (minutesOf(open) >= 24 * 60) return `must not open after midnight: ${open}`
      if (minutesOf(close) <= minutesOf(open)) return `must close after it opens: ${open} to ${close}`
      if (minutesOf(close) > minutesOf(open) + 24 * 60)
        return `must be open for at most a day at once: ${open} to ${close}`
    }
  return null
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  return hours * 60 + minutes
}

/** Wall clock time in a time zone. */
interface WallTime {
  /** YYYY-MM-DD. */
  date: string
  weekday: Weekday
  minute: number
}

const formats = new Map<string, Intl.DateTimeFormat>()

export function wallTime(moment: Date, timezone: string): WallTime {
  let format = formats.get(timezone)
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone: timezone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
    })
    formats.set(timezone, format)
  }
  const parts = new Map(format.formatToParts(moment).map(({ type, value }) => [type, value]))
  const date = `${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`
  return { date, weekday: weekdayOf(date), minute: Number(parts.get('hour')) * 60 + Number(parts.get('minute')) }
}

function weekdayOf(date: string): Weekday {
  return weekdays[new Date(`${date}T00:00:00Z`).getUTCDay()] ?? 'sunday'
}

function dayBefore(date: string): string {
  return new Date(new Date(`${date}T00:00:00Z`).getTime() - dayMs).toISOString().slice(0, 10)
}

/** Intervals of a date: those of a holiday, else of the weekday. */
function intervalsOf({ weekly, holidays = [] }: HoursOf, date: string): { open: string; close: string }[] {
  const holiday =
    holidays.find((one) => one.date === date) ??
    holidays.find((one) => one.every_year === true && one.date.slice(5) === date.slice(5))
  return holiday ? (holiday.intervals ?? []) : (weekly[weekdayOf(date)] ?? [])
}

/** Whether an interval of the day, or one of the day before that passes midnight, contains the minute. */
export function isOpenAt(hours: HoursOf, moment: Date): boolean {
  const { date, minute } = wallTime(moment, hours.timezone)
  const holds = (intervals: readonly { open: string; close: string }[], at: number) =>
    intervals.some(({ open, close }) => minutesOf(open) <= at && at < minutesOf(close))
  return holds(intervalsOf(hours, date), minute) || holds(intervalsOf(hours, dayBefore(date)), minute + 24 * 60)
}

/** Next opening or closing; null when none within two weeks. Hours change at whole minutes. */
export function nextChange(hours: HoursOf, moment: Date): Date | null {
  const isOpen = isOpenAt(hours, moment)
  const first = Math.floor(moment.getTime() / minuteMs) * minuteMs
  const last = first + maxDaysAhead * dayMs
  // Search by quarters of an hour and by the boundaries of each day, so that short intervals are found, then by
  // minutes.
  let before = first
  for (const at of looks(hours, first, last)) {
    if (isOpenAt(hours, new Date(at)) !== isOpen) return exactly(hours, isOpen, before, at)
    before = at
  }
  return null
}

/** Moments to check: every quarter of an hour and every boundary of a day. */
function looks(hours: HoursOf, first: number, last: number): number[] {
  const minutes = new Set<number>()
  const all = [...Object.values(hours.weekly), ...(hours.holidays ?? []).map(({ intervals = [] }) => intervals)]
  for (const intervals of all)
    for (const { open, close } of intervals ?? []) for (const time of [open, close]) minutes.add(minutesOf(time) % 60)
  const found: number[] = []
  for (let at = first + minuteMs; at <= last; at += minuteMs) {
    const minute = Math.floor(at / minuteMs) % 60
    if (minute % 15 === 0 || minutes.has(minute)) found.push(at)
  }
  return found
}

function exactly(hours: HoursOf, wasOpen: boolean, from: number, to: number): Date {
  for (let at = from + minuteMs; at < to; at += minuteMs)
    if (isOpenAt(hours, new Date(at)) !== wasOpen) return new Date(at)
  return new Date(to)
}
