// SPDX-License-Identifier: Apache-2.0
// Job queues for operators: backlog per lane, failed jobs to retry, and jobs of places that no longer exist.

import { buckets } from '../../kernel/ids.ts'
import { pageById, summed } from '../db/merging.ts'
import { type Queryable, statement } from '../db.ts'
import type { Window } from '../schema/lists.ts'

export interface QueueState {
  lane: string
  due: number
  running: number
  scheduled: number
  failed: number
  oldest_seconds: number
}

const countQueues = statement.everywhere<{ buckets: readonly number[] }, QueueState>(
  'work.count_queues',
  `select lane, count(*) filter (where run_at <= now())::int as due,
          count(*) filter (where owner is not null and run_at > now())::int as running,
          count(*) filter (where owner is null and run_at > now() and run_at < 'infinity')::int as scheduled,
          count(*) filter (where run_at = 'infinity')::int as failed,
          coalesce(max(extract(epoch from now() - run_at)) filter (where run_at <= now()), 0)::float8 as oldest_seconds
     from work.jobs where bucket = any($buckets::smallint[]) group by lane order by lane`,
  {
    merge: summed(
      ({ lane }) => lane,
      (a, b) => ({
        lane: a.lane,
        due: a.due + b.due,
        running: a.running + b.running,
        scheduled: a.scheduled + b.scheduled,
        failed: a.failed + b.failed,
        oldest_seconds: Math.max(a.oldest_seconds, b.oldest_seconds),
      }),
    ),
  },
)

export interface FailedJob {
  id: string
  lane: string
  account_id: string | null
  environment: string | null
  attempt: number
  last_error: string | null
  created_at: Date
  state: 'failed' | 'stranded'
}

/** Stranded: due for a minute at a place where no job is leased now. A lease that ran out is that of a dead node. */
const isStranded = `(j.lane like '%@%' and j.run_at <= now() - interval '1 minute'
       and not exists (select from work.jobs o where o.lane = j.lane and o.owner is not null
                          and o.run_at > now() and o.run_at < 'infinity'))`

const listFailed = statement.everywhere<
  { buckets: readonly number[]; lane: string | null; after: string | null; descending: boolean; limit: number },
  FailedJob
>(
  'work.list_failed',
  `select id, lane, account_id, environment, attempt, last_error, created_at,
          case when run_at = 'infinity' then 'failed' else 'stranded' end as state
     from work.jobs j
    where bucket = any($buckets::smallint[]) and (run_at = 'infinity' or ${isStranded})
      and ($lane::text is null or lane = $lane)
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
  { merge: pageById(({ id }) => id) },
)

const reviveFailed = statement.everywhere<{ buckets: readonly number[]; id: string }, { id: string }>(
  'work.retry_failed',
  `update work.jobs j set run_at = now(), owner = null, failures = 0,
          lane = case when run_at = 'infinity' then lane else split_part(lane, '@', 1) end
    where bucket = any($buckets::smallint[]) and id = $id and (run_at = 'infinity' or ${isStranded}) returning id`,
)

const removeFailed = statement.everywhere<{ buckets: readonly number[]; id: string }, { id: string }>(
  'work.discard_failed',
  `delete from work.jobs j
    where bucket = any($buckets::smallint[]) and id = $id and (run_at = 'infinity' or ${isStranded}) returning id`,
)

const countStranded = statement.everywhere<{ buckets: readonly number[] }, { lane: string; jobs: number }>(
  'work.count_stranded',
  `select lane, count(*)::int as jobs from work.jobs j
    where bucket = any($buckets::smallint[]) and ${isStranded} group by lane order by lane`,
  {
    merge: summed(
      ({ lane }) => lane,
      (a, b) => ({ ...a, jobs: a.jobs + b.jobs }),
    ),
  },
)

/** Lanes of unserved places with their number of jobs. */
export async function strandedLanes(queryable: Queryable): Promise<{ lane: string; jobs: number }[]> {
  return queryable.query(countStranded, { buckets })
}

export async function queues(queryable: Queryable): Promise<QueueState[]> {
  return queryable.query(countQueues, { buckets })
}

export async function failedJobs(queryable: Queryable, window: Window, lane: string | null): Promise<FailedJob[]> {
  return queryable.query(listFailed, { buckets, lane, ...window })
}

export async function retryFailed(tx: Queryable, id: string): Promise<boolean> {
  return (await tx.query(reviveFailed, { buckets, id })).length > 0
}

export async function discardFailed(tx: Queryable, id: string): Promise<boolean> {
  return (await tx.query(removeFailed, { buckets, id })).length > 0
}

const returnStray = statement.everywhere<
  { buckets: readonly number[]; lanes: readonly string[]; places: readonly string[] },
  object
>(
  'work.return_strays',
  `update work.jobs set lane = split_part(lane, '@', 1), owner = null, run_at = now()
    where lane like '%@%' and split_part(lane, '@', 1) = any($lanes::text[])
      and not split_part(lane, '@', 2) = any($places::text[])
      and run_at < 'infinity' and (owner is null or run_at <= now()) and bucket = any($buckets::smallint[])`,
)

/** Moves jobs of other places than these back to the plain lane. */
export async function returnStrays(
  queryable: Queryable,
  lanes: readonly string[],
  places: readonly string[],
): Promise<void> {
  await queryable.query(returnStray, { buckets, lanes, places })
}
