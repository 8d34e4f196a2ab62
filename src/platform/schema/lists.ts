// SPDX-License-Identifier: Apache-2.0
// Lists: cursors over time-ordered ids, and ranges of days. A cursor is the last row's UUID; new rows do not shift
// later pages.
import { AppError } from '../../kernel/errors.ts'
import { firstUuidAt, nilUuid } from '../../kernel/ids.ts'
import { dayMs, dayOf, parseDay, parseMoment } from '../../kernel/time.ts'

const defaultLimit = 50
const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export interface ListQuery {
  limit?: number
  cursor?: string
  order?: 'asc' | 'desc'
}

/** List window: rows strictly after `after` in order, one more than the page holds. */
export interface Window {
  limit: number
  descending: boolean
  after: string | null
}

export function windowOf({ limit = defaultLimit, cursor, order = 'desc' }: ListQuery): Window {
  const after = cursor === undefined ? null : Buffer.from(cursor, 'base64url').toString()
  if (after !== null && !uuidForm.test(after)) throw new AppError('INVALID_REQUEST', 'cursor is invalid')
  return { limit, descending: order === 'desc', after }
}

/** Page of a list. */
export interface Page<Row> {
  rows: readonly Row[]
  nextCursor: string | null
}

/** Builds a page: drops the extra row and sets the next cursor. */
export function pageOf<Row extends { id: string }, Out>(
  { limit }: Window,
  rows: readonly Row[],
  shape: (row: Row) => Out,
): Page<Out> {
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  return { rows: page.map(shape), nextCursor: last ? Buffer.from(last.id).toString('base64url') : null }
}

/** Page of a small list that is read whole, newest first: all of it unless `limit` is given, reversed for `asc`. */
export function pageOfWhole<Row>(
  { limit, cursor, order = 'desc' }: ListQuery,
  all: readonly Row[],
  nameOf: (row: Row) => string,
): Page<Row> {
  const rows = order === 'asc' ? all.toReversed() : all
  const last = cursor === undefined ? null : Buffer.from(cursor, 'base64url').toString()
  const before = last === null ? -1 : rows.findIndex((row) => nameOf(row) === last)
  if (last !== null && before === -1) throw new AppError('INVALID_REQUEST', 'cursor is invalid')
  const rest = rows.slice(before + 1)
  const page = rest.slice(0, limit)
  const end = page.length < rest.length ? page.at(-1) : undefined
  return { rows: page, nextCursor: end === undefined ? null : Buffer.from(nameOf(end)).toString('base64url') }
}

const usualNames = ['start_date', 'end_date'] as const

export interface DayRange {
  start_date?: string
  end_date?: string
}

/** Range of days, both included, as id bounds: from (inclusive) and to (exclusive). */
export function idBounds(range: DayRange): { from: string; to: string } {
  return idsBetween(momentsOf(range, usualNames), 0)
}

/** Request time by the real clock, which ids use, and by the account's. */
interface Clocks {
  receivedMs: number
  nowMs: number
}

/** Bounds on ids and on shown times. */
export interface ShownBounds {
  from: string
  to: string
  since: Date | null
  until: Date | null
}

/**
 * Bounds for times shown by the account's clock, which in the sandbox may be ahead of the ids' clock: ids only narrow
 * the search, `since` (inclusive) and `until` (exclusive) are exact.
 */
export function shownBounds(
  range: DayRange,
  clocks: Clocks,
  names: readonly [string, string] = usualNames,
): ShownBounds {
  const { fromMs, toMs } = momentsOf(range, names)
  return shownBetween(
    { from: fromMs === null ? null : new Date(fromMs), to: toMs === null ? null : new Date(toMs) },
    clocks,
  )
}

/** Bounds for a window of time: from (inclusive) and to (exclusive). */
export function shownBetween({ from, to }: TimeWindow, { receivedMs, nowMs }: Clocks): ShownBounds {
  const moments = { fromMs: from?.getTime() ?? null, toMs: to?.getTime() ?? null }
  // The sandbox clock only moves forward, so no shown time differed by more than today's offset.
  return { ...idsBetween(moments, nowMs - receivedMs), since: from, until: to }
}

interface TimeWindow {
  from: Date | null
  to: Date | null
}

/** Time window of `from` (inclusive) and `to` (exclusive); a day counts whole. */
export function timeWindow(query: { from?: string; to?: string }): TimeWindow {
  const from = query.from === undefined ? null : new Date(boundOf(query.from, 'from').from)
  const to = query.to === undefined ? null : endOf(query.to, 'to')
  if (from && to && from >= to) throw new AppError('INVALID_DATE_RANGE', 'from is not before to')
  return { from, to }
}

function endOf(text: string, field: string): Date {
  const { from, to } = boundOf(text, field)
  return new Date(parseDay(text) ? to : from)
}

interface Moments {
  fromMs: number | null
  toMs: number | null
}

function momentsOf(range: DayRange, [startName, endName]: readonly [string, string]): Moments {
  const start = range.start_date === undefined ? null : boundOf(range.start_date, startName)
  const end = range.end_date === undefined ? null : boundOf(range.end_date, endName)
  if (start && end && start.from >= end.to) throw new AppError('INVALID_DATE_RANGE', `${startName} is after ${endName}`)
  return { fromMs: start?.from ?? null, toMs: end?.to ?? null }
}

function idsBetween({ fromMs, toMs }: Moments, aheadMs: number): { from: string; to: string } {
  return {
    // No id is older than 1970.
    from: fromMs === null ? nilUuid : firstUuidAt(Math.max(0, fromMs - aheadMs)),
    to: toMs === null ? 'ffffffff-ffff-ffff-ffff-ffffffffffff' : firstUuidAt(Math.max(0, toMs)),
  }
}

/** Range of days, limited in length, with its default: the last 30 days, or the 30 before its end. */
export function days(
  range: DayRange,
  nowMs: number,
  most: number,
  [startName, endName]: readonly [string, string] = ['start_date', 'end_date'],
): { from: string; to: string } {
  const to = range.end_date ?? dayOf(new Date(nowMs))
  const end = parseDay(to)
  const from = range.start_date ?? dayOf(new Date((end?.getTime() ?? nowMs) - 29 * dayMs))
  const start = parseDay(from)
  if (!start || !end)
    throw new AppError('INVALID_DATE_RANGE', `${startName} and ${endName} are days such as 2026-03-01`)
  if (start > end) throw new AppError('INVALID_DATE_RANGE', `${startName} is after ${endName}`)
  if ((end.getTime() - start.getTime()) / dayMs >= most)
    throw new AppError('INVALID_DATE_RANGE', `the range is longer than ${most} days`)
  return { from, to }
}

function boundOf(text: string, field: string): { from: number; to: number } {
  const day = parseDay(text)
  if (day) return { from: day.getTime(), to: day.getTime() + dayMs }
  const moment = parseMoment(withPlus(text))
  if (moment) return { from: moment.getTime(), to: moment.getTime() + 1 }
  throw new AppError(
    'INVALID_DATE_RANGE',
    `${field} is neither a date such as 2026-03-01 nor a time such as 2026-03-01T09:15:30Z`,
  )
}

/** Time in a query string, where an unescaped plus sign of `+03:00` became a space. */
function withPlus(time: string): string {
  return time.replace(/ (?=\d\d:\d\d$)/, '+')
}
