// SPDX-License-Identifier: Apache-2.0
// Waiting jobs by key: count, hasten or withdraw them.
import { type Queryable, statement } from '../db.ts'
import { mine, type Tenant } from '../tenant.ts'

/** Jobs of one tenant and lane. */
interface Waiting {
  bucket: number
  account: string
  environment: string
  lane: string
}

/** Leased jobs are found by their lease's end, which is at most as many as nodes hold. */
const countWaiting = statement.tenant<
  Waiting & { keys: readonly string[]; underWay: readonly string[] },
  { key: string; waiting: number }
>(
  'work.count_waiting',
  `select key, count(*)::int as waiting
     from (select key from work.jobs
            where ${mine} and owner is null and lane = $lane and key = any($keys::text[])
           union all
           select key from work.jobs
            where ${mine} and owner is not null and lane = $lane and key = any($keys) and id <> all($underWay::uuid[])
              and run_at > now() - work.lease() and run_at <= now() + work.lease()) waiting
    group by key`,
)

const hastenWaiting = statement.tenant<Waiting & { key: string }, object>(
  'work.hasten_waiting',
  `update work.jobs set run_at = now()
    where ${mine} and owner is null
      and lane = $lane and key = $key and run_at > now() and run_at < 'infinity'`,
)

const withdrawWaiting = statement.tenant<Waiting & { key: string; most: number }, { id: string }>(
  'work.withdraw_waiting',
  `delete from work.jobs
    where bucket = $bucket and id in (
      select id from work.jobs
       where ${mine} and owner is null
         and lane = $lane and key = $key
       order by id limit $most::int for update skip locked)
   returning id`,
)

/** Number of waiting jobs per key, leased or not, except those in `underWay`. */
export async function waitingUnder(
  queryable: Queryable,
  tenant: Tenant,
  lane: string,
  keys: readonly string[],
  underWay: ReadonlySet<string>,
): Promise<ReadonlyMap<string, number>> {
  const rows = await queryable.query(countWaiting, { ...tenant, lane, keys, underWay: [...underWay] })
  return new Map(rows.map(({ key, waiting }) => [key, waiting]))
}

/** Makes the jobs of a key due now. */
export async function hasten(tx: Queryable, tenant: Tenant, lane: string, key: string): Promise<void> {
  await tx.query(hastenWaiting, { ...tenant, lane, key })
}

/** Deletes waiting jobs of a key, oldest first; returns their ids. */
export async function withdraw(
  tx: Queryable,
  tenant: Tenant,
  lane: string,
  key: string,
  most: number,
): Promise<string[]> {
  return (await tx.query(withdrawWaiting, { ...tenant, lane, key, most })).map(({ id }) => id)
}
