// SPDX-License-Identifier: Apache-2.0
// Session analytics over a range of days: completion rate, drop-off points and paths.
import { type Static, Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { type Route, read } from '../../platform/api/route.ts'
import { one, statement } from '../../platform/db.ts'
import { At, dayRangeQuery, Nullable, OneOf } from '../../platform/schema/fields.ts'
import { days, shownBounds } from '../../platform/schema/lists.ts'
import { mine, type Tenant } from '../../platform/tenant.ts'

const maxDays = 92
const maxRows = 20

const metrics = [
  'sessions',
  'completion_rate',
  'avg_duration',
  'popular_paths',
  'drop_off',
  'error_rate',
  'app_latency',
  'networks',
] as const
type Metric = (typeof metrics)[number]

const rate = (description: string) => Type.Optional(Nullable(Type.Number({ description })))
const milliseconds = (description: string) => Nullable(Type.Number({ description }))

const Figures = Type.Object(
  {
    period: Type.Object(
      {
        start_date: Type.String({ description: 'First day, UTC; included' }),
        end_date: Type.String({ description: 'Last day, UTC; included' }),
      },
      { description: 'Period covered: sessions that began on these days' },
    ),
    shortcode: Nullable(Type.String({ description: 'Requested code; null: all of yours' })),
    sessions: Type.Optional(Type.Integer({ description: 'Number of sessions that began' })),
    completion_rate: rate('Percentage of the ended sessions that were completed'),
    avg_duration: rate('Average duration in seconds'),
    popular_paths: Type.Optional(
      Type.Array(
        Type.Object({
          path: Type.String({ sensitive: true, description: 'Inputs joined by `>`, such as `1>2`' }),
          count: Type.Integer({ description: 'Sessions with these inputs' }),
        }),
        { description: 'The most frequent inputs, at most 20' },
      ),
    ),
    drop_off: Type.Optional(
      Type.Array(
        Type.Object({
          step: Type.Integer({ description: 'Number of the screen, from 1' }),
          screen: Type.String({ sensitive: true, description: 'First line of the screen that the subscriber left' }),
          sessions: Type.Integer({ description: 'Number of sessions that ended at the screen' }),
          rate: Type.Number({ description: 'Percentage of all sessions' }),
        }),
        { description: 'Screens at which sessions expired or were abandoned, most frequent first, at most 20' },
      ),
    ),
    error_rate: rate('Percentage of the ended sessions in which the application or the network failed'),
    app_latency: Type.Optional(
      Type.Object(
        {
          p50: milliseconds('Median response time of screens in milliseconds; null without screens'),
          p95: milliseconds('95th percentile of the response time in milliseconds; null without screens'),
          p99: milliseconds('99th percentile of the response time in milliseconds; null without screens'),
        },
        { description: 'Response time of your application' },
      ),
    ),
    networks: Type.Optional(
      Type.Array(
        Type.Object({
          network: Nullable(Type.String({ description: 'Network of the subscribers; null if it is not known' })),
          sessions: Type.Integer({ description: 'Number of sessions of its subscribers' }),
        }),
        { description: 'Sessions by network, largest first, at most 20' },
      ),
    ),
    series: Type.Optional(
      Type.Array(
        Type.Object({
          at: At({ description: 'Start of the hour or day, UTC' }),
          sessions: Type.Integer({ description: 'Number of sessions that began in the interval' }),
          completed: Type.Integer({ description: 'Number of these sessions that were completed' }),
        }),
        { description: 'Hours or days with a session, oldest first; only with `interval`' },
      ),
    ),
  },
  { title: 'UssdAnalytics' },
)

interface Range extends Tenant {
  readonly from: string
  readonly to: string
  readonly since: Date | null
  readonly until: Date | null
  readonly shortcode: string | null
}
type RangeOf<More = object> = { [K in keyof (Range & More)]: (Range & More)[K] }

const inRange = `${mine} and id >= $from::uuid and id < $to::uuid
      and ($since::timestamptz is null or created_at >= $since) and ($until::timestamptz is null or created_at < $until)
      and ($shortcode::text is null or shortcode = $shortcode)`

const count = statement.tenant<
  RangeOf,
  { sessions: number; over: number; completed: number; failed: number; seconds: number | null }
>(
  'ussd.count_sessions',
  `select count(*)::int as sessions, count(ended_at)::int as over, count(*) filter (where reason = 'completed')::int as completed,
          count(*) filter (where reason in ('app_timeout', 'app_error', 'undeliverable'))::int as failed,
          avg(extract(epoch from ended_at - created_at))::float8 as seconds
     from ussd.sessions where ${inRange}`,
  { mayBeLate: true },
)

const countPaths = statement.tenant<RangeOf<{ most: number }>, { path: string; count: number }>(
  'ussd.count_paths',
  `select path, count(*)::int as count
     from (select (select string_agg(h.step ->> 'input', '>' order by h.n)
                     from jsonb_array_elements(history) with ordinality as h(step, n)) as path
             from ussd.sessions where ${inRange}) p
    where path is not null group by path order by count desc, path limit $most::int`,
  { mayBeLate: true },
)

const countDropOff = statement.tenant<RangeOf<{ most: number }>, { step: number; screen: string; sessions: number }>(
  'ussd.count_drop_off',
  `select step, left(split_part(coalesce(screen, ''), chr(10), 1), 60) as screen, count(*)::int as sessions
     from ussd.sessions where ${inRange} and reason in ('expired', 'user_cancelled', 'network_released')
    group by 1, 2 order by sessions desc, step limit $most::int`,
  { mayBeLate: true },
)

const measureLatency = statement.tenant<RangeOf, { p50: number | null; p95: number | null; p99: number | null }>(
  'ussd.measure_app_latency',
  `select percentile_cont(0.5) within group (order by ms) as p50, percentile_cont(0.95) within group (order by ms) as p95,
          percentile_cont(0.99) within group (order by ms) as p99
     from (select (h.step ->> 'app_ms')::float8 as ms
             from ussd.sessions, jsonb_array_elements(history) as h(step)
            where ${inRange}) l`,
  { mayBeLate: true },
)

const countNetworks = statement.tenant<RangeOf<{ most: number }>, { network: string | null; sessions: number }>(
  'ussd.count_networks',
  `select network, count(*)::int as sessions from ussd.sessions where ${inRange}
    group by network order by sessions desc, network limit $most::int`,
  { mayBeLate: true },
)

const countSeries = statement.tenant<RangeOf<{ interval: string }>, { at: Date; sessions: number; completed: number }>(
  'ussd.count_series',
  `select date_trunc($interval::text, created_at, 'UTC') as at, count(*)::int as sessions,
          count(*) filter (where reason = 'completed')::int as completed
     from ussd.sessions where ${inRange} group by 1 order by 1`,
  { mayBeLate: true },
)

const analytics = read({
  method: 'GET',
  path: '/v1/ussd/analytics',
  operation: 'ussd.analytics',
  summary: 'Get USSD session statistics',
  scope: 'ussd:read',
  query: Type.Object({
    ...dayRangeQuery,
    shortcode: Type.Optional(Type.String({ maxLength: 120, description: 'Short code; # is written %23 in a query' })),
    metrics: Type.Optional(
      Type.String({
        maxLength: 200,
        description: `Metrics to return: ${metrics.join(', ')}; default all. \`popular_paths\` is always included`,
      }),
    ),
    interval: Type.Optional(OneOf(['hour', 'day'], { description: 'Length of the intervals; adds `series`' })),
  }),
  reply: { status: 200, schema: Figures },
  errors: ['INVALID_DATE_RANGE', 'INVALID_REQUEST'],
  examples: [{ name: 'Two figures of the last 30 days', query: { metrics: 'sessions,completion_rate' } }],
  handle: async (app, { query }, caller) => {
    const wanted = wantedOf(query.metrics)
    const period = days(query, caller.nowMs, maxDays)
    const bounds = shownBounds({ start_date: period.from, end_date: period.to }, caller)
    const range: RangeOf = { ...caller.tenant, ...bounds, shortcode: query.shortcode ?? null }
    const top = { ...range, most: maxRows }
    const has = (metric: Metric): boolean => wanted.has(metric)
    const counted = await one(app.db.query(count, range))
    const reply: Static<typeof Figures> = {
      period: { start_date: period.from, end_date: period.to },
      shortcode: range.shortcode,
    }
    if (has('sessions')) reply.sessions = counted.sessions
    if (has('completion_rate')) reply.completion_rate = percent(counted.completed, counted.over)
    if (has('avg_duration')) reply.avg_duration = rounded(counted.seconds)
    if (has('error_rate')) reply.error_rate = percent(counted.failed, counted.over)
    reply.popular_paths = await app.db.query(countPaths, top)
    if (has('drop_off')) {
      const left = await app.db.query(countDropOff, top)
      reply.drop_off = left.map((row) => ({ ...row, rate: percent(row.sessions, counted.sessions) ?? 0 }))
    }
    if (has('app_latency')) {
      const { p50, p95, p99 } = await one(app.db.query(measureLatency, range))
      reply.app_latency = { p50: rounded(p50), p95: rounded(p95), p99: rounded(p99) }
    }
    if (has('networks')) reply.networks = await app.db.query(countNetworks, top)
    if (query.interval) reply.series = await app.db.query(countSeries, { ...range, interval: query.interval })
    return reply
  },
})

function wantedOf(text: string | undefined): ReadonlySet<Metric> {
  if (text === undefined) return new Set(metrics)
  const names = text.split(',').map((name) => name.trim())
  const known = metrics.filter((metric) => names.includes(metric))
  const strange = names.find((name) => !metrics.some((metric) => metric === name))
  if (strange !== undefined)
    throw new AppError('INVALID_REQUEST', `metrics: ${strange} is unknown; available: ${metrics.join(', ')}`)
  return new Set(known)
}

function percent(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.round((part / whole) * 1_000) / 10
}

function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value * 10) / 10
}

export const analyticsRoutes: readonly Route[] = [analytics]
