// SPDX-License-Identifier: Apache-2.0
// Analytics of messages: counts, delivery rate, latency and cost over a range of days, in all, per country and per network.
import { type Static, Type } from 'typebox'
import { dayMs } from '../../kernel/time.ts'
import { type Route, read } from '../../platform/api/route.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { one, statement } from '../../platform/db.ts'
import { Amount, CountryCode, Nullable } from '../../platform/schema/fields.ts'
import { days, shownBounds } from '../../platform/schema/lists.ts'
import { mine } from '../../platform/tenant.ts'
import { callersCurrency } from './prices/pricing.ts'

const maxDays = 92

const AnalyticsQuery = Type.Object({
  from_date: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'First day, UTC: YYYY-MM-DD; default 29 days before the last',
    }),
  ),
  to_date: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'Last day, UTC, inclusive: YYYY-MM-DD; default today. At most 92 days in all',
    }),
  ),
  country: Type.Optional(CountryCode({ description: 'Filter by country of the number; default all' })),
})

const figures = {
  messages: Type.Integer({ description: 'Total number of messages' }),
  queued: Type.Integer({ description: 'Messages not sent yet' }),
  sent: Type.Integer({ description: 'Accepted by the network, without a report so far' }),
  delivered: Type.Integer({ description: 'Messages delivered to the handset' }),
  failed: Type.Integer({ description: 'Messages that failed' }),
  delivery_rate: Nullable(Type.Number({ description: 'Delivered ÷ (delivered + failed), 0 to 1' })),
  segments: Type.Integer({ description: 'Number of charged segments' }),
  cost: Amount({ description: 'Cost less refunds' }),
}

const seconds = Nullable(Type.Number(), {
  description: 'Seconds from acceptance by the network to the delivery report',
})

const AnalyticsReply = Type.Object(
  {
    from_date: Type.String({ description: 'First day' }),
    to_date: Type.String({ description: 'Last day' }),
    currency: Type.String({ description: 'Currency of the cost, ISO 4217' }),
    ...figures,
    latency_seconds: Type.Object(
      { p50: seconds, p95: seconds, p99: seconds },
      { description: 'Seconds within which 50, 95 and 99 % of messages arrived' },
    ),
    countries: Type.Array(
      Type.Object({
        country: Nullable(Type.String({ description: 'Country, ISO 3166; null if it is unknown' })),
        ...figures,
      }),
      { description: 'Figures by country' },
    ),
    networks: Type.Array(
      Type.Object({
        network: Nullable(Type.String({ description: 'Name of the network, such as `Safaricom`; null if unknown' })),
        country: Nullable(Type.String({ description: 'Country, ISO 3166; null if it is unknown' })),
        ...figures,
        daily_delivery_rates: Type.Array(Nullable(Type.Number()), {
          description: 'Delivery rate of each day, oldest first; null on days without delivered or failed messages',
        }),
      }),
      { description: 'Figures by network' },
    ),
    errors: Type.Array(
      Type.Object({
        error_code: Type.String({ description: 'Reason for the failure' }),
        messages: Type.Integer({ description: 'Number of messages that failed' }),
      }),
      { description: 'Messages by error code' },
    ),
  },
  { title: 'SmsAnalytics' },
)

interface Parameters {
  bucket: number
  account: string
  environment: string
  from: string
  to: string
  since: Date | null
  until: Date | null
  country: string | null
  currency: string
}

/** Messages of one network in one state; or of one network on one day, counted from the first of them, in any state. */
interface Group {
  country: string | null
  network: string | null
  status: string | null
  error_code: string | null
  day: number | null
  delivered: number
  decided: number
  messages: number
  segments: number
  cost: bigint
}

/** Condition of the messages counted, with our own answers, which are in no currency. */
const chosen = `${mine} and id >= $from::uuid and id < $to::uuid
      and created_at >= $since and created_at < $until
      and direction = 'outbound' and (currency = $currency or currency is null)
      and ($country::text is null or country = $country)`

/** Messages that failed before they were sent were refunded. Both groupings are made in one look through the messages. */
const groups = statement.tenant<Parameters, Group>(
  'sms.analytics',
  `select country, network, status, error_code, day, count(*)::int as messages, sum(segments)::int as segments,
          (count(*) filter (where status = 'delivered'))::int as delivered,
          (count(*) filter (where status in ('delivered', 'failed')))::int as decided,
          coalesce(sum(cost) filter (where status <> 'failed' or sent_at is not null), 0)::bigint as cost
     from sms.messages
    cross join lateral (select floor(extract(epoch from created_at - $since::timestamptz) / 86400)::int as day) d
    where ${chosen}
    group by grouping sets ((country, network, status, error_code), (country, network, day))`,
  { mayBeLate: true },
)

const latency = statement.tenant<Parameters, { p50: number | null; p95: number | null; p99: number | null }>(
  'sms.analytics_latency',
  `select percentile_cont(0.5) within group (order by l.seconds) as p50,
          percentile_cont(0.95) within group (order by l.seconds) as p95,
          percentile_cont(0.99) within group (order by l.seconds) as p99
     from (select extract(epoch from delivered_at - sent_at)::float8 as seconds
             from sms.messages where ${chosen} and delivered_at is not null) l`,
  { mayBeLate: true },
)

const analytics = read({
  method: 'GET',
  path: '/v1/sms/analytics',
  operation: 'sms.analytics',
  summary: 'Get text statistics',
  description: `Covers at most ${maxDays} days; messages are counted on the day of acceptance.`,
  scope: 'sms:read',
  query: AnalyticsQuery,
  reply: { status: 200, schema: AnalyticsReply },
  errors: ['INVALID_DATE_RANGE'],
  examples: [{ name: 'The last 30 days', query: {} }],
  handle: (app, { query }, caller) => analyse(app, query, caller),
})

async function analyse(
  app: App,
  query: Static<typeof AnalyticsQuery>,
  caller: Caller,
): Promise<Static<typeof AnalyticsReply>> {
  const range = {
    ...(query.from_date === undefined ? {} : { start_date: query.from_date }),
    ...(query.to_date === undefined ? {} : { end_date: query.to_date }),
  }
  const { from, to } = days(range, caller.nowMs, maxDays, ['from_date', 'to_date'])
  const { since, until, ...ids } = shownBounds({ start_date: from, end_date: to }, caller)
  const currency = callersCurrency(caller)
  const parameters = {
    ...caller.tenant,
    ...ids,
    since,
    until,
    country: query.country ?? null,
    currency,
  }
  const [all, { p50, p95, p99 }] = await Promise.all([
    app.db.query(groups, parameters),
    one(app.db.query(latency, parameters)),
  ])
  const rows = all.filter(({ day }) => day === null)
  const rates = dailyRates(all, dayCount(from, to))
  const countries = [...new Set(rows.map(({ country }) => country))]
    .map((country) => ({ country, ...figuresOf(rows.filter((row) => row.country === country)) }))
    .sort((a, b) => b.messages - a.messages)
  const networks = countries
    .flatMap(({ country }) => {
      const own = rows.filter((row) => row.country === country)
      return [...new Set(own.map(({ network }) => network))].map((network) => ({
        ...{ network, country },
        ...figuresOf(own.filter((row) => row.network === network)),
        daily_delivery_rates: rates.get(nameOf({ network, country })) ?? [],
      }))
    })
    .sort((a, b) => b.messages - a.messages)
  const codes = [...new Set(rows.flatMap(({ error_code }) => error_code ?? []))]
  const errors = codes
    .map((error_code) => ({
      error_code,
      messages: sum(
        rows.filter((row) => row.error_code === error_code),
        'messages',
      ),
    }))
    .sort((a, b) => b.messages - a.messages)
  const latency_seconds = { p50: toMs(p50), p95: toMs(p95), p99: toMs(p99) }
  return { from_date: from, to_date: to, currency, ...figuresOf(rows), latency_seconds, countries, networks, errors }
}

/** Seconds to the millisecond, which is as well as moments are known. */
function toMs(seconds: number | null): number | null {
  return seconds === null ? null : Math.round(seconds * 1_000) / 1_000
}

function figuresOf(rows: readonly Group[]) {
  const count = (status: string) =>
    sum(
      rows.filter((row) => row.status === status),
      'messages',
    )
  const [delivered, failed] = [count('delivered'), count('failed')]
  const over = delivered + failed
  return {
    messages: sum(rows, 'messages'),
    queued: count('queued'),
    sent: count('sent'),
    delivered,
    failed,
    delivery_rate: rateOf(delivered, over),
    segments: sum(rows, 'segments'),
    cost: rows.reduce((total, { cost }) => total + cost, 0n),
  }
}

const rateOf = (delivered: number, decided: number): number | null =>
  decided === 0 ? null : Math.round((delivered / decided) * 10_000) / 10_000

const nameOf = ({ network, country }: Pick<Group, 'network' | 'country'>): string => JSON.stringify([country, network])

/** Rates of each network, day by day. */
function dailyRates(all: readonly Group[], days: number): Map<string, (number | null)[]> {
  const rates = new Map<string, (number | null)[]>()
  for (const one of all) {
    // A message of a moved test clock may have been created outside of the days that its id is of.
    if (one.day === null || one.day < 0 || one.day >= days) continue
    const name = nameOf(one)
    const own = rates.get(name) ?? Array.from<number | null>({ length: days }).fill(null)
    own[one.day] = rateOf(one.delivered, one.decided)
    rates.set(name, own)
  }
  return rates
}

/** Days from the first to the last, both included. */
const dayCount = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / dayMs + 1

function sum(rows: readonly Group[], field: 'messages' | 'segments'): number {
  return rows.reduce((total, row) => total + row[field], 0)
}

export const analyticsRoutes: readonly Route[] = [analytics]
