// SPDX-License-Identifier: Apache-2.0
// Traffic of an account: messages by channel and money in and out, in slots of time, for charts.
import { Type } from 'typebox'
import { type Route, read } from '../../platform/api/route.ts'
import { allows } from '../../platform/auth/scopes.ts'
import type { Slots, Traffic } from '../../platform/operator/traffic.ts'
import { At, OneOf } from '../../platform/schema/fields.ts'

const hourSeconds = 3_600
const daySeconds = 24 * hourSeconds
const million = 1_000_000

/** Ranges, each in slots that make a readable chart. */
const ranges = {
  day: { seconds: hourSeconds, count: 24 },
  week: { seconds: 6 * hourSeconds, count: 28 },
  month: { seconds: daySeconds, count: 30 },
} as const

const SeriesRecord = Type.Object({
  name: Type.String({ description: 'Channel, such as `sms`; `in` or `out` for money' }),
  total: Type.Number({ description: 'Sum of the values' }),
  before: Type.Number({ description: 'Sum over the previous period of the same length, for comparison' }),
  values: Type.Array(Type.Number(), { description: 'Values by slot, oldest first' }),
})

const TrafficReply = Type.Object(
  {
    start: At({ description: 'Start of the first slot' }),
    slot_seconds: Type.Integer({ description: 'Length of a slot, in seconds' }),
    channels: Type.Array(SeriesRecord, { description: 'Messages, calls and sessions by channel' }),
    currency: Type.String({ description: 'Currency of the amounts, ISO 4217: the currency of the account' }),
    money: Type.Array(SeriesRecord, { description: 'Completed payments and payouts, in major units' }),
  },
  { title: 'AccountTraffic' },
)

const readTraffic = read({
  method: 'GET',
  path: '/v1/account/traffic',
  operation: 'account.traffic',
  summary: 'Get traffic and money over time',
  description: 'Covers the areas that the credential can read. Slots end now; in test, by the test clock.',
  scope: 'account:read',
  query: Type.Object({
    range: Type.Optional(
      OneOf(['day', 'week', 'month'], { description: 'Last 24 hours, 7 days or 30 days; default `day`' }),
    ),
  }),
  reply: { status: 200, schema: TrafficReply },
  examples: [{ name: 'The last day', query: { range: 'day' } }],
  handle: async (app, { query: { range = 'day' } }, { tenant, principal, nowMs, receivedMs }) => {
    const { seconds, count } = ranges[range]
    const spanMs = seconds * count * 1_000
    const slots: Slots = { seconds, count, startMs: nowMs - spanMs, realStartMs: receivedMs - spanMs }
    const { currency } = principal.facts
    const wanted = app.traffic.filter(({ scope }) => allows(principal.scopes, scope))
    const series = async (one: Traffic, unit: number) => {
      const sums = await one.sums(app.db, tenant, slots, currency)
      const values = sums.values.map((value) => value / unit)
      const total = values.reduce((sum, value) => sum + value, 0)
      return { name: one.name, total, before: sums.before / unit, values }
    }
    const [channels, money] = await Promise.all([
      Promise.all(wanted.filter(({ is }) => is === 'records').map((one) => series(one, 1))),
      Promise.all(wanted.filter(({ is }) => is === 'money').map((one) => series(one, million))),
    ])
    return { start: new Date(slots.startMs), slot_seconds: seconds, channels, currency, money }
  },
})

export const trafficRoutes: readonly Route[] = [readTraffic]
