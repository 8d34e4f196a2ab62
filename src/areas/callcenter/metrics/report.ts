// SPDX-License-Identifier: Apache-2.0
// Historical reports: contacts are read page by page and totalled by interval and group.
import { AppError } from '../../../kernel/errors.ts'
import { idOf, nilUuid } from '../../../kernel/ids.ts'
import { withheldNumber } from '../../../kernel/phone.ts'
import { dayMs, minuteMs, parseDay, parseMoment } from '../../../kernel/time.ts'
import type { Queryable } from '../../../platform/db.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { wallTime } from '../routing/hours.ts'
import { countOf, endOf, type Interval, momentOfWall, startOf } from './intervals.ts'
import { type MoreMeasures, occupancy, ReportTally, type Stretch } from './measure.ts'
import { pageOfContacts, type ReportedContact, stretchesBetween } from './store.ts'

export const groups = ['queue', 'agent', 'number', 'direction', 'hour_of_day', 'disposition'] as const
export type Group = (typeof groups)[number]

/** Columns of each group. */
export const groupColumns = {
  queue: 'queue_id',
  agent: 'agent_id',
  number: 'number',
  direction: 'direction',
  hour_of_day: 'hour_of_day',
  disposition: 'disposition',
} as const satisfies Record<Group, string>

const maxDays = 366
/** Latest end of a report: later ones cannot be written with a year of four digits in every time zone. */
const lastMs = Date.parse('9999-01-01T00:00:00Z')
const maxRows = 5_000
const maxContacts = 2_000_000
const pageSize = 20_000

export interface ReportWish {
  from: Date
  to: Date
  /** Length of a row; `whole`: all of the time. */
  interval: Interval | 'whole'
  groups: readonly Group[]
  timezone: string
  queue: string | null
  agent: string | null
}

export type ReportRow = MoreMeasures & {
  interval_start: Date | null
  keys: Partial<Record<Group, string | number | null>>
  occupancy_percent: number | null
}

/** Number of waits of a length; the longest have no end. */
interface Waits {
  under_seconds: number | null
  calls: number
}

interface Reported {
  rows: ReportRow[]
  totals: ReportRow
  waits: Waits[]
}

/** Ends of the lengths in seconds by which waits are counted. */
const waitEnds = [10, 20, 40, 60, 90, null] as const

function histogram(waits: readonly number[]): Waits[] {
  const counts = waitEnds.map(() => 0)
  for (const wait of waits) {
    const at = waitEnds.findIndex((end) => end === null || wait < end)
    counts[at] = (counts[at] ?? 0) + 1
  }
  return waitEnds.map((under_seconds, i) => ({ under_seconds, calls: counts[i] ?? 0 }))
}

/** Time range of a request; dates are days of its time zone, the last one included. */
export function rangeOf(from: string, to: string, timezone: string): { from: Date; to: Date } {
  const first = bound(from, timezone, 0)
  const last = bound(to, timezone, 1)
  if (!first || !last || last.getTime() > lastMs)
    throw new AppError(
      'INVALID_DATE_RANGE',
      'from and to are dates such as 2026-03-01, or times such as 2026-03-01T09:15:30Z, before the year 9999',
    )
  if (first >= last) throw new AppError('INVALID_DATE_RANGE', 'from is not before to')
  if (last.getTime() - first.getTime() > maxDays * dayMs + dayMs / 8)
    throw new AppError('INVALID_DATE_RANGE', `a report covers at most ${maxDays} days`)
  return { from: first, to: last }
}

function bound(text: string, timezone: string, plusDays: number): Date | null {
  const day = parseDay(text)
  if (!day) return parseMoment(text)
  const wanted = new Date(day.getTime() + plusDays * dayMs)
  return wanted.getTime() > lastMs ? null : momentOfWall(wanted.toISOString().slice(0, 10), 0, timezone)
}

function requireRows({ interval, from, to }: ReportWish): void {
  if (interval !== 'whole' && countOf(interval, from.getTime(), to.getTime()) > maxRows)
    throw new AppError(
      'INVALID_DATE_RANGE',
      `the report would have more than ${maxRows} rows: take longer intervals, or fewer days`,
    )
}

export async function report(queryable: Queryable, tenant: Tenant, wish: ReportWish, nowMs: number): Promise<Reported> {
  requireRows(wish)
  const sums = new Sums(wish, nowMs)
  for await (const contact of contactsOf(queryable, tenant, wish)) sums.add(contact)
  const { from: since, to: until, agent } = wish
  const stretches = await queryable.query(stretchesBetween, { ...tenant, since, until, agent })
  return sums.result(stretches)
}

async function* contactsOf(queryable: Queryable, tenant: Tenant, wish: ReportWish): AsyncGenerator<ReportedContact> {
  const { from: since, to: until, queue, agent } = wish
  let afterAt = new Date(since.getTime() - 1)
  let afterId = nilUuid
  for (let read = 0; read < maxContacts; read += pageSize) {
    const page = await queryable.query(pageOfContacts, {
      ...tenant,
      since,
      until,
      queue,
      agent,
      afterAt,
      afterId,
      limit: pageSize,
    })
    yield* page
    const last = page.at(-1)
    if (!last || page.length < pageSize) return
    afterAt = last.entered_at
    afterId = last.id
  }
  throw new AppError('INVALID_DATE_RANGE', `the report covers more than ${maxContacts} calls: choose fewer days`)
}

class Sums {
  readonly #wish: ReportWish
  readonly #nowMs: number
  readonly #cells = new Map<string, { start: Date; keys: ReportRow['keys']; tally: ReportTally }>()
  readonly #all = new ReportTally()
  readonly #starts = new Map<number, Date>()
  /** Last answered call of each caller, for first-call resolution. */
  readonly #last = new Map<string, { atMs: number; call: string; tally: ReportTally }>()

  constructor(wish: ReportWish, nowMs: number) {
    this.#wish = wish
    this.#nowMs = nowMs
  }

  add(contact: ReportedContact): void {
    const tally = this.#cellOf(contact)
    tally.add(contact, this.#nowMs)
    this.#all.add(contact, this.#nowMs)
    if (contact.direction === 'inbound' && contact.from_number !== withheldNumber) this.#followUp(contact, tally)
  }

  #followUp({ from_number, entered_at, outcome, call_id: call }: ReportedContact, tally: ReportTally): void {
    const before = this.#last.get(from_number)
    // A transferred call is not a second call.
    if (before?.call === call) return
    if (before && entered_at.getTime() - before.atMs <= dayMs) {
      before.tally.calledAgain()
      this.#all.calledAgain()
    }
    if (outcome === 'answered') this.#last.set(from_number, { atMs: entered_at.getTime(), call, tally })
    else this.#last.delete(from_number)
  }

  #cellOf(contact: ReportedContact): ReportTally {
    const start = this.#startOf(contact.entered_at)
    const keys: ReportRow['keys'] = {}
    for (const group of this.#wish.groups) keys[group] = this.#keyOf(group, contact)
    const name = `${start.getTime()} ${JSON.stringify(keys)}`
    const known = this.#cells.get(name)
    if (known) return known.tally
    if (this.#cells.size >= maxRows)
      throw new AppError(
        'INVALID_DATE_RANGE',
        `the report would have more than ${maxRows} rows: take longer intervals, or fewer groups`,
      )
    const tally = new ReportTally()
    this.#cells.set(name, { start, keys, tally })
    return tally
  }

  /** Cache key: time zone offsets are multiples of 15 minutes, so a quarter of an hour lies in one interval. */
  #startOf(moment: Date): Date {
    const { interval, from, timezone } = this.#wish
    if (interval === 'whole') return from
    const quarter = Math.floor(moment.getTime() / (15 * minuteMs))
    let start = this.#starts.get(quarter)
    if (!start) {
      start = startOf(moment, interval, timezone)
      this.#starts.set(quarter, start)
    }
    return start
  }

  #keyOf(group: Group, contact: ReportedContact): string | number | null {
    switch (group) {
      case 'queue':
        return contact.queue_id === null ? null : idOf('queue', contact.queue_id)
      case 'agent':
        return contact.agent_id
      case 'number':
        return contact.direction === 'inbound' ? contact.to_number : contact.from_number
      case 'direction':
        return contact.direction
      case 'hour_of_day':
        return Math.floor(wallTime(contact.entered_at, this.#wish.timezone).minute / 60)
      case 'disposition':
        return contact.disposition
    }
  }

  result(stretches: readonly Stretch[]): Reported {
    const { from, to, interval, timezone, groups: by, queue, agent } = this.#wish
    const ofAgents = agent !== null || by.includes('agent') || by.includes('disposition')
    const scope = ofAgents ? 'contact' : queue !== null || by.includes('queue') ? 'queue' : 'call'
    const rows = [...this.#cells.values()]
      .sort(
        (a, b) => a.start.getTime() - b.start.getTime() || (JSON.stringify(a.keys) < JSON.stringify(b.keys) ? -1 : 1),
      )
      .map(({ start, keys, tally }) => {
        const own = by.includes('agent') ? stretches.filter(({ agent_id }) => agent_id === keys.agent) : stretches
        // Agent time belongs to no queue or number: it is reported per agent and in total only.
        const isTold = by.every((group) => group === 'agent')
        const sinceMs = Math.max(start.getTime(), from.getTime())
        const end = interval === 'whole' ? to : endOf(start, interval, timezone)
        const untilMs = Math.min(end.getTime(), to.getTime(), this.#nowMs)
        return {
          ...tally.more(scope),
          interval_start: start,
          keys,
          occupancy_percent: isTold ? occupancy(own, sinceMs, untilMs) : null,
        }
      })
    const untilMs = Math.min(to.getTime(), this.#nowMs)
    const totals = {
      ...this.#all.more(agent !== null ? 'contact' : queue !== null ? 'queue' : 'call'),
      interval_start: null,
      keys: {},
      occupancy_percent: occupancy(stretches, from.getTime(), untilMs),
    }
    return { rows, totals, waits: histogram(this.#all.waits) }
  }
}
