// SPDX-License-Identifier: Apache-2.0
// Jobs by the hundred, for a transaction that does what many of them want: theirs are settled and those that follow are
// written with one statement each.
import { type Queryable, statement } from '../db.ts'
import type { NewJob, Run } from '../work.ts'

const addAll = statement<{ jobs: string }, object>(
  'work.add_all',
  'select work.add(array(select j from jsonb_populate_recordset(null::work.job_item, $jobs::jsonb) j))',
)

const settleAll = statement<{ node: string; items: string }, object>(
  'work.settle_all',
  `select settled from work.settle($node::uuid, array(
     select i from jsonb_populate_recordset(null::work.settle_item, $items::jsonb) i))`,
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
  const rows = jobs.map(({ id, bucket, lane, account, environment, key, owner, delayMs, payload }) => {
    const facts = { id, bucket, lane, account_id: account, environment, key, owner, delay_ms: Math.round(delayMs) }
    return { ...facts, payload: JSON.parse(payload) }
  })
  await tx.query(addAll, { jobs: JSON.stringify(rows) })
}

/** Settles jobs in the transaction that did what they wanted; their handlers give `settled`. Fenced as ever by the attempt. */
export async function settleJobs(tx: Queryable, node: string, settlements: readonly Settlement[]): Promise<void> {
  const items = settlements.map(({ run: { bucket, id, attempt }, againMs }) => ({
    bucket,
    id,
    attempt,
    delay_ms: againMs === null ? null : Math.max(0, Math.round(againMs)),
    error: null,
  }))
  await tx.query(settleAll, { node, items: JSON.stringify(items) })
}
