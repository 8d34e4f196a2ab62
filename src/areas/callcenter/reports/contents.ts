// SPDX-License-Identifier: Apache-2.0
// Contents of a report by mail: its lines as CSV, and the words and figures of its PDF.
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { listAgents } from '../agents/store.ts'
import { endOf, type Interval } from '../metrics/intervals.ts'
import type { ReportWish } from '../metrics/report.ts'
import { reportCsv, reported } from '../metrics/routes.ts'
import { listQueues } from '../queues/store.ts'
import { wallTime } from '../routing/hours.ts'
import type { ReportPaper } from './paper.ts'
import { periodAt, type Schedule } from './schedule.ts'

/** Lines of the table on paper; the CSV has all. */
const maxLines = 500

const titles = { queues: 'Queues', agents: 'Agents', calls: 'Calls' } as const

type Reported = Awaited<ReturnType<typeof reported>>
type Row = Partial<Reported['rows'][number]>

export interface Contents {
  readonly period: ReturnType<typeof periodAt>
  readonly csv: string
  readonly paper: ReportPaper
  /** One sentence for the mail. */
  readonly summary: string
}

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
  const nameOf = (row: Row): string => {
    if (schedule.report === 'calls') return labelled(row.interval_start ?? from, schedule, timezone)
    const id = schedule.report === 'queues' ? row.queue_id : row.agent_id
    return id == null ? (schedule.report === 'queues' ? 'No queue' : 'Nobody') : (names.get(id) ?? id)
  }
  const { totals } = time
  const days = firstDay === lastDay ? firstDay : `${firstDay} to ${lastDay}`
  return {
    period,
    csv: schedule.report === 'calls' ? reportCsv(table) : reportCsv(table, nameOf),
    summary:
      `${totals.offered ?? 0} calls, ${totals.answered ?? 0} answered, ${totals.abandoned ?? 0} abandoned` +
      `${totals.service_level_percent == null ? '' : `, ${share(totals.service_level_percent)} in time`}.`,
    paper: {
      accountName,
      title: `${titles[schedule.report]}: ${schedule.name}`,
      period: `${days}, ${timezone}${tenant.environment === 'test' ? '. A test: no real calls.' : ''}`,
      at,
      figures: [
        ['Calls', String(totals.offered ?? 0)],
        ['Answered', String(totals.answered ?? 0)],
        ['Abandoned', String(totals.abandoned ?? 0)],
        ['In time', share(totals.service_level_percent)],
        ['Average wait', clock(totals.asa_seconds)],
        ['Average call', clock(totals.aht_seconds)],
      ],
      bars: time.rows.length === 0 ? [] : barsOf(time.rows, { from, to }, schedule, timezone),
      head: [firstColumn(schedule), 'Calls', 'Answered', 'Abandoned', 'In time', 'Wait', 'Call'],
      rows: table.rows.slice(0, maxLines).map((row) => [nameOf(row), ...figuresOf(row)]),
      note: noteOf(table.rows.length),
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

function noteOf(lines: number): string {
  if (lines === 0) return 'There were no calls in this time.'
  return lines > maxLines ? `The first ${maxLines} of ${lines} lines; the CSV file has all of them.` : ''
}

function firstColumn({ report, every }: Schedule): string {
  if (report === 'queues') return 'Queue'
  if (report === 'agents') return 'Agent'
  return every === 'day' ? 'Hour' : 'Day'
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
