// SPDX-License-Identifier: Apache-2.0
// Counts of what waits for a person: payouts to approve, endpoints that fail. Areas declare them, and one answer has them all.
import { buckets } from '../../kernel/ids.ts'
import { type Database, one, statement } from '../db.ts'
import type { Tenant } from '../tenant.ts'

/** Counting stops here: nobody reads a larger badge. */
export const maxCounted = 999

interface Named {
  /** Field of the answer: `payouts_to_approve`. */
  readonly name: string
  readonly description: string
}

export interface WaitingCount extends Named {
  /** Scope of who reads it; `operator` for what is of the whole installation. */
  readonly scope: string
  count(db: Database, tenant: Tenant): Promise<number>
}

interface Rows extends Named {
  /** Table, as `t`. */
  readonly from: string
  /** Condition on its rows, by an index. */
  readonly where: string
}

/** Rows of one account. */
export function waitingRows({ name, description, from, where, scope }: Rows & { scope: string }): WaitingCount {
  const counted = statement.tenant<Tenant & { most: number }, { count: number }>(
    `waiting.${name}`,
    `select count(*)::int as count from (
       select 1 from ${from} t
        where t.bucket = $bucket and t.account_id = $account and t.environment = $environment and ${where}
        limit $most::int) as found`,
  )
  return {
    ...{ name, description, scope },
    count: async (db, { bucket, account, environment }) =>
      (await one(db.query(counted, { bucket, account, environment, most: maxCounted }))).count,
  }
}

/** Rows of all accounts, for operators. */
export function waitingRowsOfAll({ name, description, from, where }: Rows): WaitingCount {
  const counted = statement.everywhere<{ buckets: readonly number[]; most: number }, { count: number }>(
    `waiting.${name}`,
    `select count(*)::int as count from (
       select 1 from ${from} t where t.bucket = any($buckets::smallint[]) and ${where} limit $most::int) as found`,
  )
  return {
    ...{ name, description, scope: 'operator' },
    count: async (db) => {
      const rows = await db.query(counted, { buckets, most: maxCounted })
      return rows.reduce((sum, { count }) => sum + count, 0)
    },
  }
}
