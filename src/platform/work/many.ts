// SPDX-License-Identifier: Apache-2.0
// Batches of jobs: a transaction that did the work of many settles them and adds their successors with one statement
// each in every cell.

import { encodeItems } from '../commit/row-encoding.ts'
import { type Queryable, statement } from '../db.ts'
import { jobRow, type NewJob, type Run, settle } from '../work.ts'
import { addAll } from './store.ts'

const settleAll = statement.tenant<{ buckets: readonly number[]; node: string; items: Buffer }, object>(
  'work.settle_all',
  'select settled from work.settle($node::uuid, $items::work.settle_item[])',
)

/** Outcome of a job: done, or run again. */
export interface Settlement {
  readonly run: Pick<Run<unknown>, 'bucket' | 'id' | 'attempt'>
  /** Delay until it is run again; null when it is done. */
  readonly againMs: number | null
}

/** Adds prepared jobs; each is begun after the commit. */
export async function addJobs(tx: Queryable, jobs: readonly NewJob[]): Promise<void> {
  for (const part of tx.apart(jobs, ({ bucket }) => bucket)) {
    const buckets = part.map(({ bucket }) => bucket)
    await tx.query(addAll, { buckets, jobs: encodeItems(jobRow.columns, part) })
  }
}

/** Settles jobs in the transaction that did their work; their handlers return `settled`. Fenced by the attempt. */
export async function settleJobs(tx: Queryable, node: string, settlements: readonly Settlement[]): Promise<void> {
  const items = settlements.map(({ run: { bucket, id, attempt }, againMs }) => ({
    bucket,
    id,
    attempt,
    delay_ms: againMs === null ? null : BigInt(Math.max(0, Math.round(againMs))),
  }))
  for (const part of tx.apart(items, ({ bucket }) => bucket)) {
    const buckets = part.map(({ bucket }) => bucket)
    await tx.query(settleAll, { buckets, node, items: encodeItems(settle.takes, part) })
  }
}
