// SPDX-License-Identifier: Apache-2.0
// Times of SMPP (3.4, section 7.1.1): absolute, as YYMMDDhhmmsstnnp with quarters of an hour from UTC, or relative, as the
// same digits with R at the end.
import { dayMs, hourMs, minuteMs } from '../../kernel/time.ts'

const form = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d)(\d\d)([R+-])$/

/** Moment that a text names; null where it is empty, undefined where it is no time. */
export function momentOf(text: string, nowMs: number): number | null | undefined {
  if (text === '') return null
  const [, year = 0, month = 0, day = 0, hours = 0, minutes = 0, seconds = 0, , quarters = 0] = (
    form.exec(text) ?? []
  ).map(Number)
  const ofDayMs = hours * hourMs + minutes * minuteMs + seconds * 1000
  if (text.endsWith('R')) {
    if (!form.test(text)) return undefined
    const at = new Date(nowMs)
    at.setUTCFullYear(at.getUTCFullYear() + year, at.getUTCMonth() + month)
    return at.getTime() + day * dayMs + ofDayMs
  }
  const isReal = form.test(text) && month >= 1 && month <= 12 && day >= 1 && hours < 24 && minutes < 60 && seconds < 60
  const date = new Date(Date.UTC(2000 + year, month - 1, day))
  if (!isReal || date.getUTCDate() !== day || quarters > 48) return undefined
  const offsetMs = quarters * 15 * minuteMs * (text.endsWith('-') ? -1 : 1)
  return date.getTime() + ofDayMs - offsetMs
}
