// SPDX-License-Identifier: Apache-2.0
// Traffic of an account over time: areas name their rows, which are counted, or whose money is added up, by slots of time.
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
}

export function traffic({ name, scope, is = 'records', from, at, where = 'true', sum = '1' }: Rows): Traffic {
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
  return {
    ...{ name, scope, is },
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
