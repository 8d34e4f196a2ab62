// SPDX-License-Identifier: Apache-2.0
// Jobs by the hundred, for a transaction that does what many of them want: theirs are settled and those that follow are
// written with one statement each.
import { type Queryable, statement } from '../db.ts'
import { encodeItems } from '../items.ts'
import { type NewJob, type Run, settle } from '../work.ts'

const jobColumns = {
  bucket: 'smallint',
  id: 'uuid',
  lane: 'text',
  account_id: 'uuid',
  environment: 'text',
  key: 'text',
  owner: 'uuid',
  delay_ms: 'bigint',
  payload: 'jsonb',
} as const

const addAll = statement.tenant<{ buckets: readonly number[]; jobs: Buffer }, object>(
  'work.add_all',
  'select work.add($jobs::work.job_item[])',
)

const settleAll = statement.tenant<{ buckets: readonly number[]; node: string; items: Buffer }, object>(
  'work.settle_all',
  'select settled from work.settle($node::uuid, $items::work.settle_item[])',
)

/** What becomes of a job's row: it goes, or is run again after so long. */
export interface Settlement {
  readonly run: Pick<Run<unknown>, 'bucket' | 'id' | 'attempt'>
  /** Null: done. */
  readonly againMs: number | null
}

/** Writes prepared jobs; begin each of them once the transaction is durable. */
export async function addJobs(tx: Queryable, jobs: readonly NewJob[]): Promise<void> {
  if (jobs.length === 0) return
  const items = jobs.map(({ id, bucket, lane, account, environment, key, owner, delayMs, payload }) => {
    const delay_ms = BigInt(Math.round(delayMs))
    return { id, bucket, lane, account_id: account, environment, key, owner, delay_ms, payload }
  })
  await tx.query(addAll, { buckets: items.map(({ bucket }) => bucket), jobs: encodeItems(jobColumns, items) })
}

/** Settles jobs in the transaction that did what they wanted; their handlers give `settled`. Fenced as ever by the attempt. */
export async function settleJobs(tx: Queryable, node: string, settlements: readonly Settlement[]): Promise<void> {
  const items = settlements.map(({ run: { bucket, id, attempt }, againMs }) => ({
    bucket,
    id,
    attempt,
    delay_ms: againMs === null ? null : BigInt(Math.max(0, Math.round(againMs))),
  }))
  const buckets = items.map(({ bucket }) => bucket)
  await tx.query(settleAll, { buckets, node, items: encodeItems(settle.takes, items) })
}
