// SPDX-License-Identifier: Apache-2.0
// Dates as customers write and read them: RFC 3339 moments with an offset, and plain UTC days. No clock is read here.

const secondMs = 1_000
export const minuteMs = 60 * secondMs
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

const rfc3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?(?:Z|[+-](\d{2}):(\d{2}))$/

/** A moment such as 2026-03-01T09:15:30Z or 2026-03-01T12:15:30.5+03:00; null when it is not one. */
export function parseMoment(text: string): Date | null {
  const match = rfc3339.exec(text)
  if (!match) return null
  const [, year, month, day, hour, minute, second, offsetHour = '0', offsetMinute = '0'] = match
  if (!isDay(Number(year), Number(month), Number(day))) return null
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return null
  return new Date(text)
}

/** The first moment of a UTC day written YYYY-MM-DD; null when there is no such day. */
export function parseDay(text: string): Date | null {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)
  if (!match || !isDay(Number(match[1]), Number(match[2]), Number(match[3]))) return null
  return new Date(`${text}T00:00:00.000Z`)
}

let lastSecond = Number.NaN
let textOfLastSecond = ''

/**
 * A moment as replies, events and logs write it. Most of what is written together is of the same second, whose text is
 * kept: `toISOString` takes 3 µs, several times for each request, and this well below one.
 */
export function momentText(moment: Date): string {
  const ms = moment.getTime()
  const second = Math.floor(ms / secondMs)
  if (second !== lastSecond) {
    textOfLastSecond = moment.toISOString().slice(0, -4)
    lastSecond = second
  }
  return `${textOfLastSecond}${String(ms - second * secondMs).padStart(3, '0')}Z`
}

export function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10)
}

function isDay(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(year, month - 1, day))
  return date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}
