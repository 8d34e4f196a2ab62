// SPDX-License-Identifier: Apache-2.0
// Jobs by the hundred, for a transaction that does what many of them want: theirs are settled and those that follow are
// written with one statement each.

import { encodeItems } from '../commit/row-encoding.ts'
import { type Queryable, statement } from '../db.ts'
import { addAll, jobRow, type NewJob, type Run, settle } from '../work.ts'

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
  const buckets = jobs.map(({ bucket }) => bucket)
  await tx.query(addAll, { buckets, jobs: encodeItems(jobRow.columns, jobs) })
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
