// SPDX-License-Identifier: Apache-2.0
// SQL of the job queue: adding, claiming, extending, releasing and moving jobs.
import { operation } from '../commit.ts'
import { statement } from '../db.ts'
import { mine, type Tenant } from '../tenant.ts'
import type { Row } from './lane.ts'

export const addAll = statement.tenant<{ buckets: readonly number[]; jobs: Buffer }, object>(
  'work.add',
  'select work.add($jobs::work.job_item[])',
)

/** Claims the oldest due jobs of each lane. */
export const claim = statement.everywhere<
  { node: string; buckets: readonly number[]; lanes: string[]; limits: number[]; leases: number[] },
  Row
>(
  'work.claim',
  `select bucket, id, lane, account_id, environment, key, attempt, failures, payload
     from work.claim($node::uuid, $buckets::smallint[], $lanes::text[], $limits::int[], $leases::int[])`,
)

/** Claims jobs of one shared lane, some of each account, except accounts that have used up their share. */
export const claimInTurn = statement.everywhere<
  {
    node: string
    buckets: readonly number[]
    lane: string
    most: number
    lease: number
    since: string
    passedOver: readonly string[]
  },
  Row
>(
  'work.claim_in_turn',
  `select bucket, id, lane, account_id, environment, key, attempt, failures, payload
     from work.claim_in_turn($node::uuid, $buckets::smallint[], $lane::text, $most::int, $lease::int, $since::uuid,
                             $passedOver::uuid[])`,
)

/** Extends the leases of running jobs, fenced by their attempt. A job settled meanwhile has no owner. */
export const extend = statement.everywhere<
  { node: string; buckets: readonly number[]; ids: string[]; attempts: number[]; leases: number[] },
  object
>(
  'work.extend',
  'select work.extend($node::uuid, $buckets::smallint[], $ids::uuid[], $attempts::int[], $leases::int[])',
)

/** Releases all leases of a stopping node: its jobs are due at once. */
export const releaseAll = statement.everywhere<{ node: string; buckets: readonly number[] }, object>(
  'work.hand_back',
  `update work.jobs set run_at = now(), owner = null where owner = $node and bucket = any($buckets::smallint[])`,
)

/** Releases the leases of some jobs, fenced by their attempt. */
export const releaseSome = statement.everywhere<
  { node: string; buckets: readonly number[]; ids: string[]; attempts: number[] },
  object
>('work.hand_back_some', 'select work.hand_back($node::uuid, $buckets::smallint[], $ids::uuid[], $attempts::int[])')

/** Brings an account's waiting jobs forward after its sandbox clock moved; running ones stay. */
export const bringForward = statement.tenant<Tenant & { ms: number }, object>(
  'work.bring_forward',
  `update work.jobs set run_at = run_at - $ms::bigint * interval '1 millisecond'
    where ${mine} and owner is null
      and run_at < 'infinity'`,
)

/** Puts jobs of these lanes off, when a test account's clock goes back to the real time. */
export const putOff = statement.tenant<Tenant & { ms: number; lanes: readonly string[] }, object>(
  'work.put_off',
  `update work.jobs set run_at = run_at + $ms::bigint * interval '1 millisecond'
    where ${mine} and owner is null and run_at < 'infinity' and lane = any($lanes::text[])`,
)

/** Milliseconds until the next waiting job of these lanes; null when none waits. */
export const nextOf = statement.tenant<Tenant & { lanes: readonly string[] }, { in_ms: number | null }>(
  'work.next_of',
  `select ceil(extract(epoch from min(run_at) - now()) * 1000)::float8 as in_ms from work.jobs
    where ${mine} and owner is null and run_at < 'infinity' and lane = any($lanes::text[])`,
)

/** Whether jobs of these lanes are running or due. */
export const isDueOf = statement.tenant<Tenant & { lanes: readonly string[] }, { found: boolean }>(
  'work.is_due_of',
  `select exists (select from work.jobs
                   where ${mine} and lane = any($lanes::text[]) and (owner is not null or run_at <= now())) as found`,
)

/** Group commit that moves jobs to another lane, fenced by the attempt. */
export const move = operation.tenant(
  'work.move',
  {
    bucket: 'smallint',
    id: 'uuid',
    attempt: 'int',
    lane: 'text',
    payload: 'jsonb',
    delay_ms: 'bigint',
    keep: 'boolean',
  },
  { moved: 'boolean' },
)
