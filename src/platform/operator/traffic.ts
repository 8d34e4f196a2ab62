// SPDX-License-Identifier: Apache-2.0
// Traffic over time: areas name their rows, which are counted, or whose money is added up, by slots of time. For an account that is
// done when it is asked; for the whole installation the rows of a slot are counted once (tallies.ts).
import { firstUuidAt } from '../../kernel/ids.ts'
import { type Database, statement } from '../db.ts'
import type { Tenant } from '../tenant.ts'

/** Slots of equal length that end now, by the account's clock. */
export interface Slots {
  /** Start of the first slot, in milliseconds, by the account's clock. */
  readonly startMs: number
  readonly seconds: number
  readonly count: number
  /** The same start by the real clock, which ids use. */
  readonly realStartMs: number
}

export interface Traffic {
  /** Channel: `sms`; or `in` and `out` for money. */
  readonly name: string
  readonly scope: string
  readonly is: 'records' | 'money'
  /** Sums of the slots, and of the equal time before them. */
  sums(db: Database, tenant: Tenant, slots: Slots, currency: string): Promise<{ values: number[]; before: number }>
  /** What the installation calls these rows, such as `payments` for money that comes in. */
  readonly channel: string
  /** Counts the rows of all accounts that were made from one moment up to another, by environment and connection. */
  tally(db: Database, fromMs: number, uptoMs: number): Promise<Tallied[]>
}

interface Tallied {
  readonly environment: string
  /** Carrier, provider or gateway; empty where there is none. */
  readonly connection: string
  readonly records: number
}

interface Rows {
  readonly name: string
  readonly scope: string
  readonly is?: Traffic['is']
  /** Table, as `t`. */
  readonly from: string
  /** Column of the account's own time. */
  readonly at: string
  readonly where?: string
  /** What is added up; 1 for each row unless given. */
  readonly sum?: string
  readonly channel?: string
  /** Column that names the carrier, provider or gateway. */
  readonly connection?: string
  /** Whether the table is cut by month, so that only the parts of the time that is asked for are opened. */
  readonly isByMonth?: boolean
}

const firstUuid = firstUuidAt(0)

export function traffic(rows: Rows): Traffic {
  const {
    name,
    scope,
    is = 'records',
    from,
    at,
    where = 'true',
    sum = '1',
    channel = name,
    connection,
    isByMonth,
  } = rows
  const counted = statement.tenant<
    Tenant & { first: string; start: Date; seconds: number; currency: string },
    { slot: number; value: number }
  >(
    `traffic.${is}_${name}`,
    `select floor(extract(epoch from ${at} - $start::timestamptz) / $seconds::int)::int as slot, sum(${sum})::float8 as value
       from ${from} t
      where t.bucket = $bucket and t.account_id = $account and t.environment = $environment
        and t.id >= $first::uuid and ${at} >= $start and $currency::text is not null and ${where}
      group by 1`,
    { mayBeLate: true },
  )
  // The accounts are found by stepping through the primary key, which takes one look for each, however many rows they have.
  const tallied = statement.everywhere<{ floor: string; first: string; end: string }, Tallied>(
    `traffic.tally_${channel}`,
    `with recursive tenants as (
       (select t.bucket, t.account_id, t.environment from ${from} t where t.id >= $floor::uuid
         order by t.bucket, t.account_id, t.environment limit 1)
        union all
       select n.bucket, n.account_id, n.environment
         from tenants o
        cross join lateral (
          select t.bucket, t.account_id, t.environment from ${from} t
           where (t.bucket, t.account_id, t.environment) > (o.bucket, o.account_id, o.environment) and t.id >= $floor::uuid
           order by t.bucket, t.account_id, t.environment limit 1) n)
     select o.environment, c.connection, sum(c.records)::float8 as records
       from tenants o
      cross join lateral (
        select ${connection ? `coalesce(${connection}, '')` : `''::text`} as connection, count(*) as records from ${from} t
         where t.bucket = o.bucket and t.account_id = o.account_id and t.environment = o.environment
           and t.id >= $first::uuid and t.id < $end::uuid
         group by 1) c
      group by o.environment, c.connection`,
    { mayBeLate: true },
  )
  return {
    ...{ name, scope, is, channel },
    tally(db, fromMs, uptoMs) {
      const day = new Date(fromMs)
      const floor = isByMonth ? firstUuidAt(Date.UTC(day.getUTCFullYear(), day.getUTCMonth())) : firstUuid
      return db.query(tallied, { floor, first: firstUuidAt(fromMs), end: firstUuidAt(uptoMs) })
    },
    async sums(db, { bucket, account, environment }, { startMs, seconds, count, realStartMs }, currency) {
      const values = Array.from({ length: count }, () => 0)
      const spanMs = count * seconds * 1_000
      const asked = { first: firstUuidAt(realStartMs - spanMs), start: new Date(startMs - spanMs), seconds, currency }
      let before = 0
      for (const { slot, value } of await db.query(counted, { bucket, account, environment, ...asked }))
        if (slot < count) before += value
        else if (slot < 2 * count) values[slot - count] = value
      return { values, before }
    },
  }
}
