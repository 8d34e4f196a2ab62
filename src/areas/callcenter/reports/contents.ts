// SPDX-License-Identifier: Apache-2.0
// Contents of a report by mail: its lines as CSV, and the words and figures of its PDF.
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { directionOf, type Language, type Words, wordsIn } from '../../../platform/web/language.ts'
import { listAgents } from '../agents/store.ts'
import { endOf, type Interval } from '../metrics/intervals.ts'
import type { ReportWish } from '../metrics/report.ts'
import { reportCsv, reported } from '../metrics/routes.ts'
import { listQueues } from '../queues/store.ts'
import { wallTime } from '../routing/hours.ts'
import { maxOf, type ReportPaper } from './paper.ts'
import { headingTexts, reportTexts } from './report-texts.ts'
import { periodAt, type Schedule } from './schedule.ts'

/** Lines of the table on paper; the CSV has all. */
const maxLines = 500

type Reported = Awaited<ReturnType<typeof reported>>
type Row = Partial<Reported['rows'][number]>

export interface Contents {
  readonly period: ReturnType<typeof periodAt>
  readonly csv: string
  readonly paper: ReportPaper
  /** Days that it covers, as the mail says them. */
  readonly days: string
  /** One sentence for the mail. */
  readonly summary: string
  readonly words: ReportWords
}

type ReportWords = Words<keyof typeof reportTexts>

/** Columns of the table on paper, after the name. */
const columns = ['calls', 'answered', 'abandoned', 'inTime', 'wait', 'call'] as const

interface Reporting {
  readonly name: string
  readonly timezone: string
}

/** Report of a schedule for a time at which it is due. */
export async function contentsAt(
  app: App,
  tenant: Tenant,
  schedule: Schedule,
  at: Date,
  { name: accountName, timezone }: Reporting,
): Promise<Contents> {
  const period = periodAt(schedule, at, timezone)
  const { from, to, firstDay, lastDay } = period
  const queue = schedule.queue_id === null ? null : uuidOf('queue', schedule.queue_id)
  const wish: ReportWish = { from, to, interval: 'whole', groups: [], timezone, queue, agent: null }
  const ask = (more: Partial<ReportWish>) => reported(app.db, tenant, { ...wish, ...more }, at.getTime())
  const time = await ask({ interval: stepOf(schedule) })
  const table =
    schedule.report === 'calls' ? time : await ask({ groups: [schedule.report === 'queues' ? 'queue' : 'agent'] })
  const names = await namesOf(app, tenant, schedule)
  const words = wordsIn(reportTexts, schedule.language)
  const nameOf = (row: Row) => {
    if (schedule.report === 'calls') return labelled(row.interval_start ?? from, schedule, timezone)
    const id = schedule.report === 'queues' ? row.queue_id : row.agent_id
    return id == null ? words(schedule.report === 'queues' ? 'noQueue' : 'nobody') : (names.get(id) ?? id)
  }
  const { totals } = time
  const days = firstDay === lastDay ? firstDay : words('days', { from: firstDay, to: lastDay })
  const bars = time.rows.length === 0 ? [] : barsOf(time.rows, { from, to }, schedule, timezone)
  return {
    period,
    words,
    days,
    csv: csvIn(schedule, table, nameOf),
    summary: words(totals.service_level_percent == null ? 'summary' : 'summaryInTime', {
      ...{ calls: totals.offered ?? 0, answered: totals.answered ?? 0, abandoned: totals.abandoned ?? 0 },
      share: share(totals.service_level_percent),
    }),
    paper: {
      direction: directionOf(schedule.language),
      accountName,
      title: words('title', { kind: words(schedule.report), name: schedule.name }),
      period: `${days}, ${timezone}${tenant.environment === 'test' ? `. ${words('test')}` : ''}`,
      at,
      figures: [
        [words('calls'), String(totals.offered ?? 0)],
        [words('answered'), String(totals.answered ?? 0)],
        [words('abandoned'), String(totals.abandoned ?? 0)],
        [words('inTime'), share(totals.service_level_percent)],
        [words('averageWait'), clock(totals.asa_seconds)],
        [words('averageCall'), clock(totals.aht_seconds)],
      ],
      bars,
      legend: {
        answered: words('answered'),
        abandoned: words('abandoned'),
        most: words('most', { count: maxOf(bars) }),
      },
      head: [words(firstColumn(schedule)), ...columns.map((name) => words(name))],
      rows: table.rows.slice(0, maxLines).map((row) => [nameOf(row), ...figuresOf(row)]),
      note: noteOf(table.rows.length, words),
    },
  }
}

function stepOf({ every }: Schedule): Interval {
  return every === 'day' ? 'hour' : 'day'
}

/** A bar for every hour or day, also for those without calls, which a report has no line for. */
function barsOf(
  rows: readonly Row[],
  { from, to }: { from: Date; to: Date },
  schedule: Schedule,
  timezone: string,
): ReportPaper['bars'] {
  const counted = new Map(rows.map((row) => [row.interval_start?.getTime(), row]))
  const bars = []
  for (let start = from; start < to; start = endOf(start, stepOf(schedule), timezone)) {
    const { answered = 0, abandoned = 0 } = counted.get(start.getTime()) ?? {}
    bars.push({ label: labelled(start, schedule, timezone), answered, abandoned })
  }
  return bars
}

function noteOf(lines: number, words: ReportWords): string {
  if (lines === 0) return words('none')
  return lines > maxLines ? words('further', { count: maxLines, all: lines }) : ''
}

function firstColumn({ report, every }: Schedule): keyof typeof reportTexts {
  if (report === 'queues') return 'queue'
  if (report === 'agents') return 'agent'
  return every === 'day' ? 'hour' : 'day'
}

/** Heading of a column of the CSV. */
function headingIn(language: Language): (column: string) => string {
  return (column) => Object.entries(headingTexts).find(([name]) => name === column)?.[1][language] ?? column
}

/** Lines as a file, which spreadsheets take for Unicode where its headings are words. */
function csvIn({ report, language }: Schedule, table: Reported, nameOf: (row: Row) => string): string {
  const csv = reportCsv(table, report === 'calls' ? undefined : nameOf, headingIn(language))
  return language === 'en' ? csv : `\ufeff${csv}`
}

function figuresOf(row: Row): string[] {
  const { offered = 0, answered = 0, abandoned = 0, service_level_percent, asa_seconds, aht_seconds } = row
  const counts = [offered, answered, abandoned].map(String)
  return [...counts, share(service_level_percent), clock(asa_seconds), clock(aht_seconds)]
}

function share(percent: number | null | undefined): string {
  return percent == null ? '-' : `${Math.round(percent)} %`
}

/** Seconds as minutes and seconds. */
function clock(seconds: number | null | undefined): string {
  if (seconds == null) return '-'
  const whole = Math.round(seconds)
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`
}

function labelled(start: Date, { every }: Schedule, timezone: string): string {
  const { date, minute } = wallTime(start, timezone)
  return every === 'day' ? `${String(Math.floor(minute / 60)).padStart(2, '0')}:00` : date.slice(5)
}

/** Names of queues or agents by their ids. */
async function namesOf(app: App, tenant: Tenant, { report }: Schedule): Promise<ReadonlyMap<string, string>> {
  if (report === 'calls') return new Map()
  if (report === 'queues') {
    const queues = await app.db.query(listQueues, tenant)
    return new Map(queues.map(({ id, name }) => [idOf('queue', id), name]))
  }
  const agents = await app.db.query(listAgents, tenant)
  return new Map(agents.map(({ agent_id, name }) => [agent_id, name ?? agent_id]))
}
