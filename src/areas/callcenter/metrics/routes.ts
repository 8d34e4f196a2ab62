// SPDX-License-Identifier: Apache-2.0
// Routes of metrics: real time, once or streamed every second, and historical reports as JSON or CSV.
import { setTimeout as pause } from 'node:timers/promises'
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { uuidOf } from '../../../kernel/ids.ts'
import { formatMicros } from '../../../kernel/money.ts'
import { dayMs } from '../../../kernel/time.ts'
import { type Reader, type Route, read, type StreamMessage } from '../../../platform/api/route.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import type { Queryable } from '../../../platform/db.ts'
import { csvLine } from '../../../platform/http/csv.ts'
import { Amount, At, Nullable, OneOf, TimeZone } from '../../../platform/schema/fields.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { Sla } from '../queues/queue.ts'
import { agentStatuses } from '../schema.ts'
import { occasionOf } from '../switchboard.ts'
import { realtime, realtimeText } from './boards.ts'
import { intervals } from './intervals.ts'
import { type Window, windows } from './realtime.ts'
import { type Group, groupColumns, groups, type ReportRow, type ReportWish, rangeOf, report } from './report.ts'

const pushEveryMs = 1_000
/** Age of metrics that streams of an account share. */
const sharedMs = 500

const count = (description: string) => Type.Integer({ description })
const counts = {
  offered: count(
    'Calls that reached a queue or an agent, and calls placed by agents. A call that was moved or transferred counts once, and once for each queue or agent in rows by them',
  ),
  answered: count('Calls that were answered, counted as `offered`'),
  abandoned: count('Callers who hung up while waiting, short abandons included'),
  short_abandoned: Type.Integer({ description: 'Abandons within five seconds' }),
  overflowed: count('Calls that a queue sent to its overflow'),
  transferred: count('Calls that an agent transferred'),
  service_level_percent: Nullable(Type.Number(), {
    description:
      'Service level: answered within the threshold ÷ (answered + abandoned), short abandons excluded; null without calls',
  }),
  asa_seconds: Nullable(Type.Number({ description: 'Average wait of answered calls (ASA)' })),
  aht_seconds: Nullable(Type.Number({ description: 'Average handle time: talk, hold and wrap-up' })),
  abandon_rate_percent: Nullable(Type.Number({ description: 'Abandoned ÷ offered calls; null without calls' })),
  occupancy_percent: Nullable(
    Type.Number({ description: 'Occupancy: time on calls and wrap-up ÷ (time on calls, wrap-up and free)' }),
  ),
}

const M = {
  waiting: count('Number of callers waiting now'),
  longest_wait_seconds: count('Longest current wait in seconds; 0 in an empty queue'),
  estimated_wait_seconds: Nullable(
    count('Estimated wait of a new caller in the slowest queue, in seconds; null while no agent is logged in'),
  ),
  active_calls: count('Calls with an agent now'),
  agents_logged_in: count('Agents who are logged in'),
  agents_available: count('Agents who are free'),
  agents_on_call: count('Agents who are on a call or being rung'),
  agents_wrap_up: count('Agents who are wrapping up a call'),
  agents_paused: count('Agents on a break, away, in training or in a meeting'),
  ...counts,
}

const Realtime = Type.Object(
  {
    generated_at: At({ description: 'Time of the measurement' }),
    window: OneOf(windows, { description: 'Window of the counts; `today` is since midnight UTC' }),
    totals: Type.Object(M, { description: 'Totals of all queues, or of the requested one' }),
    queues: Type.Array(
      Type.Object({
        queue_id: Type.String({ description: 'Id of the queue, such as `que_…`' }),
        name: Type.String({ description: 'Name of the queue' }),
        sla: Sla,
        ...M,
      }),
      { description: 'Metrics by queue, or of the requested one' },
    ),
    agents: Type.Array(
      Type.Object({
        agent_id: Type.String({ description: 'Your own id for the agent' }),
        name: Nullable(Type.String({ description: 'Display name for supervisors and colleagues; null if none' })),
        status: OneOf(agentStatuses, { description: 'Current status; only `available` agents are offered calls' }),
        reason: Nullable(
          Type.String({ description: 'Reason of the status, such as `lunch` or `no_answer`; null if none' }),
        ),
        since: At({ description: 'Time of the last change of status' }),
        call_id: Nullable(
          Type.String({ description: 'Id of the call that rings, is active or in wrap-up; null if none' }),
        ),
        queue_id: Nullable(Type.String({ description: 'Id of the queue of the current call; null if none' })),
        about: Nullable(
          Type.String({
            description:
              'Choices of the caller in menus, such as `My order, Late`; null without a current call or a menu',
          }),
        ),
        calls_handled: count('Calls of the window that the agent answered'),
        talk_seconds: count('Seconds of talk and hold in these calls'),
        occupancy_percent: Nullable(
          Type.Number({
            description:
              'Occupancy: time on calls and wrap-up ÷ (time on calls, wrap-up and free); null if there was none',
          }),
        ),
      }),
      { description: 'Agents who are logged in, of the requested queue' },
    ),
  },
  { title: 'RealtimeMetrics' },
)

/** Queue UUID of a query; null when missing or malformed. */
function queueIn(id: string | undefined): string | null {
  if (id === undefined) return null
  const uuid = uuidOf('queue', id)
  if (uuid === null) throw new AppError('INVALID_REQUEST', 'queue_id must be the id of a queue, que_…')
  return uuid
}

const now = read({
  method: 'GET',
  path: '/v1/call-center/metrics/realtime',
  operation: 'callcenter.realtime',
  summary: 'Get real-time queue and agent metrics',
  description: 'With `stream=1` and `Accept: text/event-stream` the metrics are streamed every second.',
  scope: 'callcenter:read',
  query: Type.Object({
    queue_id: Type.Optional(
      Type.String({ maxLength: 40, description: 'Filter by id of the queue, `que_…`; default all' }),
    ),
    window: Type.Optional(OneOf(windows, { description: 'Time window of the counts; default today' })),
    stream: Type.Optional(OneOf(['0', '1', 'true', 'false'], { description: '`1` streams the metrics every second' })),
  }),
  reply: { status: 200, schema: Realtime },
  examples: [{ name: 'Today', query: {} }],
  handle: (app, { query }, { tenant, nowMs }) =>
    realtime(app, tenant, { window: query.window ?? 'today', queue: queueIn(query.queue_id), nowMs }),
  messages: async (app, { query }, caller, reader) =>
    pushed(app, caller, query.window ?? 'today', queueIn(query.queue_id), reader),
})

async function* pushed(
  app: App,
  { tenant }: Caller,
  window: Window,
  queue: string | null,
  { signal }: Reader,
): AsyncGenerator<StreamMessage> {
  for (let i = 1; !signal.aborted; i++) {
    const { nowMs } = await occasionOf(app, tenant)
    const data = await realtimeText(app, tenant, { window, queue, nowMs, maxAgeMs: sharedMs })
    yield { id: String(i), event: 'metrics', data }
    // All streams go on at the whole second, so that one computation serves them.
    const restMs = pushEveryMs - (app.clock.nowMs() % pushEveryMs)
    await pause(restMs < sharedMs ? restMs + pushEveryMs : restMs, undefined, { signal }).catch(() => undefined)
  }
}

const metricColumns = {
  ...counts,
  talk_seconds: count('Seconds of talk, without hold'),
  hold_seconds: count('Time on hold, all calls together'),
  wrap_up_seconds: count('Time after calls until the agent is available again'),
  max_wait_seconds: count('Longest wait in a queue, in seconds; 0 if there was none'),
  wait_p50: Nullable(Type.Number({ description: 'Median wait in queues, in seconds; null if there was none' })),
  wait_p90: Nullable(
    Type.Number({ description: '90th percentile of waits in queues, in seconds; null if there was none' }),
  ),
  first_call_resolution_percent: Nullable(
    Type.Number({ description: 'Percentage of answered calls whose caller did not call again within a day' }),
  ),
  cost: Amount({ description: 'Cost of the calls, in major units of the account’s currency' }),
}
type Metric = keyof typeof metricColumns
const metricNames: readonly Metric[] = [
  'offered',
  'answered',
  'abandoned',
  'short_abandoned',
  'overflowed',
  'transferred',
  'service_level_percent',
  'asa_seconds',
  'aht_seconds',
  'abandon_rate_percent',
  'occupancy_percent',
  'talk_seconds',
  'hold_seconds',
  'wrap_up_seconds',
  'max_wait_seconds',
  'wait_p50',
  'wait_p90',
  'first_call_resolution_percent',
  'cost',
]

const someMetrics = Type.Partial(Type.Object(metricColumns), { description: 'Totals of all rows' })
const someKeys = {
  queue_id: Type.Optional(
    Nullable(Type.String({ description: 'Queue of the row, if grouped by queue; null: calls without a queue' })),
  ),
  agent_id: Type.Optional(
    Nullable(Type.String({ description: 'Agent of the row, if grouped by agent; null: calls without an agent' })),
  ),
  number: Type.Optional(Nullable(Type.String({ description: 'Number of yours, if grouped by number' }))),
  direction: Type.Optional(Nullable(Type.String({ description: 'Direction, if grouped by direction' }))),
  hour_of_day: Type.Optional(
    Nullable(Type.Integer({ description: 'Hour of the day, 0 to 23 in `timezone`, if grouped by it' })),
  ),
  disposition: Type.Optional(
    Nullable(Type.String({ description: 'Outcome noted by agents, if grouped by disposition; null if none' })),
  ),
}

const Report = Type.Object(
  {
    from: At({ description: 'Start of the period' }),
    to: At({ description: 'End of the period, exclusive' }),
    interval: OneOf(intervals, { description: 'Length of the rows' }),
    timezone: Type.String({ description: 'Time zone of days and hours, such as Africa/Nairobi' }),
    group_by: Type.Array(OneOf(groups), { description: 'Grouping of the rows besides the interval' }),
    metrics: Type.Array(Type.String(), { description: 'Columns of `rows` and `totals`' }),
    rows: Type.Array(
      Type.Object({
        interval_start: At({ description: 'Start of the interval; the next one begins where it ends' }),
        ...someKeys,
        ...someMetrics.properties,
      }),
      { description: 'Rows by interval and group with at least one call, oldest first' },
    ),
    totals: someMetrics,
    waits: Type.Array(
      Type.Object({
        under_seconds: Nullable(
          count(
            'Upper bound of the wait in seconds, exclusive; the previous entry has the lower bound; null: no upper bound',
          ),
        ),
        calls: count('Number of waits in queues of this length'),
      }),
      { description: 'Distribution of the waits in queues over all rows, shortest first' },
    ),
  },
  { title: 'CallCenterReport' },
)

const Words = (words: readonly string[], description: string) =>
  Type.Optional(
    Type.Array(Type.Unsafe<string>({ type: 'string', enum: [...words] }), {
      maxItems: words.length,
      rule: `must be some of ${words.join(', ')}, separated by commas`,
      description,
    }),
  )

const reports = read({
  method: 'GET',
  path: '/v1/call-center/reports',
  operation: 'callcenter.report',
  summary: 'Get a call centre report as JSON or CSV',
  description: 'Covers at most 366 days and 5,000 rows. Rows without a call are omitted.',
  scope: 'callcenter:read',
  query: Type.Object({
    from: Type.Optional(Type.String({ maxLength: 40, description: 'First day, or a time; default 29 days ago' })),
    to: Type.Optional(Type.String({ maxLength: 40, description: 'Last day, inclusive, or a time; default today' })),
    interval: Type.Optional(OneOf(intervals, { description: 'Length of the rows; default day' })),
    group_by: Words(groups, 'Further grouping of the rows'),
    queue_id: Type.Optional(
      Type.String({ maxLength: 40, description: 'Filter by id of the queue, `que_…`; default all' }),
    ),
    agent_id: Type.Optional(Type.String({ maxLength: 64, description: 'Filter by agent; default all' })),
    timezone: Type.Optional(TimeZone({ description: 'Time zone of days and hours; default UTC' })),
    metrics: Words(metricNames, 'Columns to return'),
    format: Type.Optional(OneOf(['json', 'csv'], { description: '`csv` returns a file, regardless of `Accept`' })),
  }),
  reply: { status: 200, schema: Report },
  errors: ['INVALID_DATE_RANGE'],
  examples: [{ name: 'By queue', query: { group_by: ['queue'] } }],
  handle: async (app, { query }, { tenant, nowMs }) => {
    const { timezone = 'UTC', interval = 'day', agent_id = null } = query
    const dayText = (ms: number) => new Date(ms).toISOString().slice(0, 10)
    const range = rangeOf(query.from ?? dayText(nowMs - 29 * dayMs), query.to ?? dayText(nowMs), timezone)
    const by = groups.filter((group) => query.group_by?.includes(group))
    const metrics = metricNames.filter((name) => query.metrics === undefined || query.metrics.includes(name))
    const wish = { ...range, interval, groups: by, timezone, queue: queueIn(query.queue_id), agent: agent_id }
    return { interval, ...(await reported(app.db, tenant, wish, nowMs, metrics)) }
  },
  csv: (report) => reportCsv(report),
})

/** A report as it is answered. */
export async function reported(
  queryable: Queryable,
  tenant: Tenant,
  wish: ReportWish,
  nowMs: number,
  metrics: readonly Metric[] = metricNames,
): Promise<Omit<Static<typeof Report>, 'interval'>> {
  const { from, to, timezone, groups: by } = wish
  const { rows, totals, waits } = await report(queryable, tenant, wish, nowMs)
  return {
    from,
    to,
    timezone,
    group_by: [...by],
    metrics: [...metrics],
    rows: rows.map((row) => ({
      interval_start: row.interval_start ?? from,
      ...keysOf(row, by),
      ...only(row, metrics),
    })),
    totals: only(totals, metrics),
    waits,
  }
}

type Reported = Pick<Static<typeof Report>, 'rows' | 'metrics' | 'group_by'>

/** A report as a file, with a line for each row, and a column of names where there are names. */
export function reportCsv(
  { rows, metrics, group_by }: Reported,
  nameOf?: (row: Reported['rows'][number]) => string,
  heading: (column: string) => string = (column) => column,
): string {
  const columns = metricNames.filter((name) => metrics.includes(name))
  const keys = group_by.map((group) => groupColumns[group])
  const lines = rows.map((row) =>
    csvLine([
      ...[row.interval_start, ...(nameOf ? [nameOf(row)] : []), ...keys.map((key) => row[key] ?? null)],
      ...columns.map((name) => plain(row[name])),
    ]),
  )
  const head = ['interval_start', ...(nameOf ? ['name'] : []), ...keys, ...columns]
  return csvLine(head.map(heading)) + lines.join('')
}

function plain(value: number | bigint | null | undefined): string | number | null {
  return typeof value === 'bigint' ? formatMicros(value) : (value ?? null)
}

function keysOf({ keys }: ReportRow, by: readonly Group[]) {
  const text = (group: Group) => (keys[group] === null || keys[group] === undefined ? null : String(keys[group]))
  return {
    ...(by.includes('queue') ? { queue_id: text('queue') } : {}),
    ...(by.includes('agent') ? { agent_id: text('agent') } : {}),
    ...(by.includes('number') ? { number: text('number') } : {}),
    ...(by.includes('direction') ? { direction: text('direction') } : {}),
    ...(by.includes('hour_of_day') ? { hour_of_day: Number(keys.hour_of_day) } : {}),
    ...(by.includes('disposition') ? { disposition: text('disposition') } : {}),
  }
}

function only(row: ReportRow, metrics: readonly Metric[]): Static<typeof someMetrics> {
  const kept: Static<typeof someMetrics> = {}
  for (const name of metrics) Object.assign(kept, { [name]: row[name] })
  return kept
}

export const metricRoutes: readonly Route[] = [now, reports]
