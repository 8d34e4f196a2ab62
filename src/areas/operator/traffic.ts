// SPDX-License-Identifier: Apache-2.0
// Traffic of all accounts: messages, calls, sessions and payments by channel and by connection, in slots of time, for charts.
import { Type } from 'typebox'
import { type Route, read } from '../../platform/api/route.ts'
import { slotMs, type TrafficSum, trafficSince, trafficUpto } from '../../platform/operator/tallies.ts'
import { At, Nullable, OneOf } from '../../platform/schema/fields.ts'

/** Ranges, each in slots that make a readable chart; slots are whole times of those that are counted. */
const ranges = {
  day: { seconds: 1_800, count: 48 },
  week: { seconds: 6 * 3_600, count: 28 },
  month: { seconds: 24 * 3_600, count: 30 },
} as const

const Values = Type.Array(Type.Number(), { description: 'Values by slot, oldest first' })

const TrafficReply = Type.Object(
  {
    start: At({ description: 'Start of the first slot' }),
    slot_seconds: Type.Integer({ description: 'Length of a slot, in seconds' }),
    counted_until: Nullable(At({ description: 'Time up to which records are counted; null before the first count' })),
    channels: Type.Array(
      Type.Object({
        name: Type.String({ description: 'Channel, such as `sms`, `payments` or `payouts`' }),
        total: Type.Number({ description: 'Sum of the values' }),
        before: Type.Number({ description: 'Sum over the previous period of the same length, for comparison' }),
        values: Values,
      }),
      { description: 'Records of one environment by channel' },
    ),
    connections: Type.Array(
      Type.Object({
        environment: Type.String({ description: '`test` or `live`' }),
        channel: Type.String({ description: 'Channel of the connection' }),
        name: Type.String({ description: 'Carrier, provider or gateway' }),
        values: Values,
      }),
      { description: 'Records by connection, of both environments' },
    ),
  },
  { title: 'InstallationTraffic' },
)

const readTraffic = read({
  method: 'GET',
  path: '/v1/operator/traffic',
  operation: 'operator.traffic',
  summary: 'Get the traffic of all accounts over time',
  description: 'Each record is counted once, about a minute after its creation, by the real clock.',
  scope: 'operator',
  query: Type.Object({
    range: Type.Optional(
      OneOf(['day', 'week', 'month'], { description: 'Last 24 hours, 7 days or 30 days; default `day`' }),
    ),
    environment: Type.Optional(
      OneOf(['test', 'live'], { description: 'Filter `channels` by environment; default `live`' }),
    ),
  }),
  reply: { status: 200, schema: TrafficReply },
  examples: [{ name: 'The last day of test', query: { range: 'day', environment: 'test' } }],
  handle: async ({ db, traffic, clock }, { query: { range = 'day', environment = 'live' } }) => {
    const { seconds, count } = ranges[range]
    const endMs = Math.ceil(clock.nowMs() / slotMs) * slotMs
    const startMs = endMs - seconds * count * 1_000
    const [upto, sums] = await Promise.all([
      trafficUpto(db),
      trafficSince(db, new Date(startMs - seconds * count * 1_000), seconds),
    ])
    const channels = traffic.map(({ channel: name }) => {
      const own = sums.filter((one) => one.channel === name && one.environment === environment)
      const values = inSlots(own, count)
      const before = totalOf(own.filter(({ slot }) => slot < count).map(({ records }) => records))
      return { name, total: totalOf(values), before, values }
    })
    return {
      ...{ start: new Date(startMs), slot_seconds: seconds, counted_until: upto, channels },
      connections: connectionsOf(sums).map(([{ environment: of, channel, connection: name }, all]) => {
        return { environment: of, channel, name, values: inSlots(all, count) }
      }),
    }
  },
})

const totalOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

/** Sums of each connection, with the first of them. */
function connectionsOf(sums: readonly TrafficSum[]): [TrafficSum, TrafficSum[]][] {
  const all = new Map<string, [TrafficSum, TrafficSum[]]>()
  for (const one of sums) {
    if (one.connection === '') continue
    const key = `${one.environment} ${one.channel} ${one.connection}`
    const known = all.get(key)
    if (known) known[1].push(one)
    else all.set(key, [one, [one]])
  }
  return [...all.values()]
}

/** Values of the second half of the slots that were read: the first is the time to compare with. */
function inSlots(sums: readonly TrafficSum[], count: number): number[] {
  const values = Array.from({ length: count }, () => 0)
  for (const { slot, records } of sums)
    if (slot >= count && slot < 2 * count) values[slot - count] = (values[slot - count] ?? 0) + records
  return values
}

export const trafficRoutes: readonly Route[] = [readTraffic]
