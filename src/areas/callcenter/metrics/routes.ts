// SPDX-License-Identifier: Apache-2.0
// Routes of metrics: real time, once or streamed every second, and historical reports as JSON or CSV.
import { setTimeout as pause } from 'node:timers/promises'
import { type Static, Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { uuidOf } from '../../../kernel/ids.ts'
import { formatMicros } from '../../../kernel/money.ts'
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
  offered: count('Calls that came to a queue or an agent, and calls that agents made'),
  answered: count('Calls that were answered'),
  abandoned: count('Callers who gave up waiting, the short ones too'),
  short_abandoned: Type.Integer({ description: 'Gave up within five seconds' }),
  overflowed: count('Calls that a queue sent to its overflow'),
  transferred: count('Calls that an agent handed to somebody else'),
  service_level_percent: Nullable(Type.Number(), {
    description: 'Answered in time, of answered and abandoned without the short ones; null if nobody called',
  }),
  asa_seconds: Nullable(Type.Number({ description: 'Mean wait of those who were answered' })),
  aht_seconds: Nullable(Type.Number({ description: 'Mean of talk, hold and wrap-up' })),
  abandon_rate_percent: Nullable(Type.Number({ description: 'Abandoned, of offered; null if nobody called' })),
  occupancy_percent: Nullable(Type.Number({ description: 'Time on calls and wrap-up, of that and the time free' })),
}

const M = {
  waiting: count('Callers who wait now'),
  longest_wait_seconds: count('Seconds that the longest of them waits; 0 if nobody does'),
  estimated_wait_seconds: Nullable(
    count('Seconds that one who comes now would wait, in the slowest queue; null while no agent is there'),
  ),
  active_calls: count('Calls in which somebody speaks with an agent now'),
  agents_logged_in: count('Agents who are logged in'),
  agents_available: count('Agents who are free'),
  agents_on_call: count('Agents who are on a call or being rung'),
  agents_wrap_up: count('Agents who are wrapping up a call'),
  agents_paused: count('Agents on a break, away, in training or in a meeting'),
  ...counts,
}

const Realtime = Type.Object(
  {
    generated_at: At({ description: 'When it was measured' }),
    window: OneOf(windows, { description: 'What the counts cover; `today` is since midnight UTC' }),
    totals: Type.Object(M, { description: 'All queues together, or the one that is asked for' }),
    queues: Type.Array(
      Type.Object({
        queue_id: Type.String({ description: 'Id of the queue, such as `que_…`' }),
        name: Type.String({ description: 'Name of the queue' }),
        sla: Sla,
        ...M,
      }),
      { description: 'Each queue, or the one that is asked for' },
    ),
    agents: Type.Array(
      Type.Object({
        agent_id: Type.String({ description: 'Your own id of the agent' }),
        name: Nullable(Type.String({ description: 'As supervisors and colleagues see it; null unless given' })),
        status: OneOf(agentStatuses, { description: 'What the agent does; only `available` is given calls' }),
        since: At({ description: 'When the agent took on this status' }),
        call_id: Nullable(
          Type.String({ description: 'The call that rings, goes on or is wrapped up; null without one' }),
        ),
        queue_id: Nullable(Type.String({ description: 'The queue that call came through; null without one' })),
        calls_handled: count('Calls of the window that the agent answered'),
        talk_seconds: count('Seconds of talk and hold in them'),
        occupancy_percent: Nullable(
          Type.Number({ description: 'Time on calls and wrap-up, of that and the time free; null without any' }),
        ),
      }),
      { description: 'Agents who are logged in; of the queue that is asked for' },
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
  description: 'With `stream=1` and `Accept: text/event-stream` it is told again every second.',
  scope: 'callcenter:read',
  query: Type.Object({
    queue_id: Type.Optional(
      Type.String({ maxLength: 40, description: 'Only the queue with this id, `que_…`; all of them unless told' }),
    ),
    window: Type.Optional(OneOf(windows, { description: 'Of the counts; today unless told' })),
    stream: Type.Optional(OneOf(['0', '1', 'true', 'false'], { description: '1 pushes it every second' })),
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
  hold_seconds: count('Seconds that callers were kept on hold'),
  wrap_up_seconds: count('Seconds that agents took after calls'),
  max_wait_seconds: count('Seconds of the longest wait in a queue; 0 if nobody waited'),
  wait_p50: Nullable(Type.Number({ description: 'Seconds within which 50 % of waits in queues end; null if none' })),
  wait_p90: Nullable(Type.Number({ description: 'Seconds within which 90 % of waits in queues end; null if none' })),
  first_call_resolution_percent: Nullable(
    Type.Number({ description: 'Answered calls whose caller did not call again within a day' }),
  ),
  cost: Amount({ description: 'What the calls cost, in major units of the account’s currency' }),
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

const someMetrics = Type.Partial(Type.Object(metricColumns), { description: 'Over all rows' })
const someKeys = {
  queue_id: Type.Optional(Nullable(Type.String({ description: 'Grouped by queue: which; null: calls without one' }))),
  agent_id: Type.Optional(Nullable(Type.String({ description: 'Grouped by agent: who; null: calls without one' }))),
  number: Type.Optional(Nullable(Type.String({ description: 'Grouped by number: which of yours' }))),
  direction: Type.Optional(Nullable(Type.String({ description: 'Grouped by direction: inbound or outbound' }))),
  hour_of_day: Type.Optional(Nullable(Type.Integer({ description: 'Grouped by hour_of_day: 0 to 23 in `timezone`' }))),
  disposition: Type.Optional(
    Nullable(Type.String({ description: 'Grouped by disposition: what agents noted; null if nothing' })),
  ),
}

const Report = Type.Object(
  {
    from: At({ description: 'From when calls are counted' }),
    to: At({ description: 'Until when, this moment not included' }),
    interval: OneOf(intervals, { description: 'Length of time that a row covers' }),
    timezone: Type.String({ description: 'Of days and hours, such as Africa/Nairobi' }),
    group_by: Type.Array(OneOf(groups), { description: 'What rows are cut by besides the interval' }),
    metrics: Type.Array(Type.String(), { description: 'Columns that `rows` and `totals` have' }),
    rows: Type.Array(
      Type.Object({
        interval_start: At({ description: 'When the interval of the row begins' }),
        ...someKeys,
        ...someMetrics.properties,
      }),
      { description: 'One for each interval and group that had a call, oldest first' },
    ),
    totals: someMetrics,
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
  description: 'At most 366 days and 5,000 rows. Rows without a call are left out.',
  scope: 'callcenter:read',
  query: Type.Object({
    from: Type.Optional(Type.String({ maxLength: 40, description: 'First day, or a time; 29 days ago unless told' })),
    to: Type.Optional(Type.String({ maxLength: 40, description: 'Last day, included, or a time; today unless told' })),
    interval: Type.Optional(OneOf(intervals, { description: 'day unless told' })),
    group_by: Words(groups, 'Rows are cut by these too'),
    queue_id: Type.Optional(
      Type.String({ maxLength: 40, description: 'Only the queue with this id, `que_…`; all of them unless told' }),
    ),
    agent_id: Type.Optional(
      Type.String({ maxLength: 64, description: 'Only calls and time of this agent; of all unless told' }),
    ),
    timezone: Type.Optional(TimeZone({ description: 'Of days and hours; UTC unless told' })),
    metrics: Words(metricNames, 'Only these columns'),
    format: Type.Optional(OneOf(['json', 'csv'], { description: '`csv` gives a file, whatever `Accept` says' })),
  }),
  reply: { status: 200, schema: Report },
  errors: ['INVALID_DATE_RANGE'],
  examples: [{ name: 'By queue', query: { group_by: ['queue'] } }],
  handle: async (app, { query }, { tenant, nowMs }) => {
    const { timezone = 'UTC', interval = 'day', agent_id = null } = query
    const dayText = (ms: number) => new Date(ms).toISOString().slice(0, 10)
    const range = rangeOf(query.from ?? dayText(nowMs - 29 * 86_400_000), query.to ?? dayText(nowMs), timezone)
    const by = groups.filter((group) => query.group_by?.includes(group))
    const metrics = metricNames.filter((name) => query.metrics === undefined || query.metrics.includes(name))
    const wish = { ...range, interval, groups: by, timezone, queue: queueIn(query.queue_id), agent: agent_id }
    return { interval, ...(await reported(app.db, tenant, wish, nowMs, metrics)) }
  },
  csv: reportCsv,
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
  const { rows, totals } = await report(queryable, tenant, wish, nowMs)
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
  }
}

/** A report as a file, with a line for each row. */
export function reportCsv({
  rows,
  metrics,
  group_by,
}: Pick<Static<typeof Report>, 'rows' | 'metrics' | 'group_by'>): string {
  const columns = metricNames.filter((name) => metrics.includes(name))
  const keys = group_by.map((group) => groupColumns[group])
  const lines = rows.map((row) =>
    csvLine([row.interval_start, ...keys.map((key) => row[key] ?? null), ...columns.map((name) => plain(row[name]))]),
  )
  return csvLine(['interval_start', ...keys, ...columns]) + lines.join('')
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
