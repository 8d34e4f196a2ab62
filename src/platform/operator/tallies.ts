// SPDX-License-Identifier: Apache-2.0
// Traffic of the whole installation, in slots of ten minutes. A chore counts every record once, when it is a minute old, so that a
// chart of a month reads a few thousand rows, however many messages there were.
import type { App } from '../app.ts'
import { type Database, statement } from '../db.ts'
import type { Chore } from '../nodes/maintenance.ts'

export const slotMs = 10 * 60_000
/** Age of the youngest records that are counted: what was begun before is committed by then. */
const settledMs = 60_000
/** What was before the first count is left out beyond this. */
const firstMs = 60 * 60_000
const keepMs = 62 * 24 * 60 * 60_000
/** Slots that are counted at a time: after an outage the rest follows in the next rounds. */
const maxSlots = 36

const countedUpto = statement.home<Record<never, never>, { upto: Date }>(
  'platform.traffic_counted_upto',
  'select upto from platform.traffic_counted',
)

const beginAt = statement.home<{ upto: Date }, object>(
  'platform.begin_traffic',
  'insert into platform.traffic_counted (upto) values ($upto) on conflict do nothing',
)

/** Moves the mark; nothing where another node has moved it meanwhile. */
const moveMark = statement.home<{ before: Date; upto: Date }, { upto: Date }>(
  'platform.move_traffic_mark',
  'update platform.traffic_counted set upto = $upto where upto = $before returning upto',
)

const addTraffic = statement.home<
  {
    slot: Date
    environments: readonly string[]
    channels: readonly string[]
    connections: readonly string[]
    records: readonly number[]
  },
  object
>(
  'platform.add_traffic',
  `insert into platform.traffic as t (slot, environment, channel, connection, records)
   select $slot, u.environment, u.channel, u.connection, u.records
     from unnest($environments::text[], $channels::text[], $connections::text[], $records::bigint[])
       as u(environment, channel, connection, records)
   on conflict (slot, environment, channel, connection) do update set records = t.records + excluded.records`,
)

const forgetTraffic = statement.home<{ before: Date }, object>(
  'platform.forget_traffic',
  'delete from platform.traffic where slot < $before',
)

const readTraffic = statement.home<{ from: Date; seconds: number }, TrafficSum>(
  'platform.read_traffic',
  `select floor(extract(epoch from slot - $from::timestamptz) / $seconds::int)::int as slot, environment, channel, connection,
          sum(records)::float8 as records
     from platform.traffic where slot >= $from group by 1, 2, 3, 4`,
)

export interface TrafficSum {
  /** Number of the slot of the chart, from 0. */
  readonly slot: number
  readonly environment: string
  readonly channel: string
  readonly connection: string
  readonly records: number
}

export const trafficChore: Chore = {
  name: 'traffic of the installation',
  everyMs: 60_000,
  run: countTraffic,
}

async function countTraffic({ db, clock, traffic }: App): Promise<void> {
  const nowMs = clock.nowMs()
  const uptoMs = nowMs - settledMs
  await db.query(beginAt, { upto: new Date(Math.floor((uptoMs - firstMs) / slotMs) * slotMs) })
  let fromMs = (await trafficUpto(db))?.getTime() ?? uptoMs
  for (let slots = 0; fromMs < uptoMs && slots < maxSlots; slots++) {
    const slot = Math.floor(fromMs / slotMs) * slotMs
    const endMs = Math.min(slot + slotMs, uptoMs)
    const counted = await Promise.all(
      traffic.map(async (one) =>
        (await one.tally(db, fromMs, endMs)).map((tallied) => ({ ...tallied, channel: one.channel })),
      ),
    )
    const all = counted.flat()
    const isMoved = await db.homeTx(async (tx) => {
      const moved = await tx.query(moveMark, { before: new Date(fromMs), upto: new Date(endMs) })
      if (moved.length > 0 && all.length > 0)
        await tx.query(addTraffic, {
          slot: new Date(slot),
          environments: all.map(({ environment }) => environment),
          channels: all.map(({ channel }) => channel),
          connections: all.map(({ connection }) => connection),
          records: all.map(({ records }) => records),
        })
      return moved.length > 0
    })
    if (!isMoved) return
    fromMs = endMs
  }
  await db.query(forgetTraffic, { before: new Date(nowMs - keepMs) })
}

/** Up to when records are counted; null before the first count. */
export async function trafficUpto(db: Database): Promise<Date | null> {
  return (await db.query(countedUpto, {}))[0]?.upto ?? null
}

/** Records of all accounts since a moment, in slots of so many seconds. */
export function trafficSince(db: Database, from: Date, seconds: number): Promise<TrafficSum[]> {
  return db.query(readTraffic, { from, seconds })
}
