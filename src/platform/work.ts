// SPDX-License-Identifier: Apache-2.0
// Jobs, as areas declare and write them. A job row is inserted by the commit that causes the work and deleted by the one
// that completes it. Rows are born leased to the node that wrote them, which starts them from memory after its commit; the
// table is polled only for scheduled, failed and orphaned jobs. A lease is `run_at` pushed forward: jobs of a dead node
// fall due when their lease runs out, and the ordinary poll recovers them. `work/worker.ts` runs them.
import type { Static, TSchema } from 'typebox'
import { type RowIn, rowType } from './commit/row-encoding.ts'
import { operation } from './commit.ts'
import type { Tenant } from './tenant.ts'

/** Outcome of one run of a job. */
export type Outcome =
  /** Done: the row is deleted, in a group commit. */
  | { kind: 'done' }
  /** The handler's own commit has deleted or rescheduled the row. */
  | { kind: 'settled' }
  /** Nothing failed; run again later (a timer that fired early, a poll). Not counted as a retry. */
  | { kind: 'again'; afterMs: number }
  /** Failed: retry after the next delay of the job, or after `afterMs`. */
  | { kind: 'retry'; reason: string; afterMs?: number }
  /** Runs at another place, or with another payload: in the lane `job.lane@place`, or `job.lane` for null. */
  | { kind: 'move'; place: string | null; payload: unknown; afterMs: number }

/** Run of a job, as its handler gets it. */
export interface Run<Payload> {
  readonly id: string
  readonly bucket: number
  readonly tenant: Tenant | null
  readonly key: string | null
  /** Part after the @ of its lane. */
  readonly place: string | null
  /** Fencing token: grows with every run; settling with an old one changes nothing. */
  readonly attempt: number
  /** Consecutive failed runs so far. */
  readonly failures: number
  readonly payload: Payload
}

/** Job declaration of an area. */
export interface Job<Context, P extends TSchema = TSchema> {
  /** Queue name, `area.verb`; `area.verb@place` is a queue for the nodes that serve that place. */
  readonly lane: string
  /** Role of the nodes that run it. */
  readonly role: 'dispatch' | 'webhooks' | 'timers' | 'carriers'
  readonly payload: P
  readonly concurrency: number
  /** Retry delays; after the last one the job is set aside for an operator. */
  readonly retrySeconds: readonly number[]
  /**
   * Time-critical in the sandbox: a clock moved past the job stops there until it is done, and until what it started is
   * settled, as far as `isSettling` knows.
   */
  readonly calendar?: { isSettling?(context: Context, tenant: Tenant): Promise<boolean> }
  /** Further rows a handler that only queues them can take; `concurrency` by default. */
  room?(context: Context): number
  handle(context: Context, run: Run<Static<P>>): Promise<Outcome>
}

/** Job row for work.add; `job: jobRow` is its column in a group commit. */
export const jobRow = rowType('work.job_item', {
  bucket: 'smallint',
  id: 'uuid',
  lane: 'text',
  account_id: 'uuid',
  environment: 'text',
  key: 'text',
  owner: 'uuid',
  delay_ms: 'bigint',
  payload: 'jsonb',
})

/** Job to be written, as the cell of a group commit. With `owner` set, this node starts it after the commit. */
export interface NewJob extends RowIn<typeof jobRow> {
  readonly id: string
  readonly bucket: number
  readonly lane: string
  readonly payload: string
}

/** Group commit that settles jobs: deletes or reschedules their rows, fenced by the attempt. */
export const settle = operation.tenant(
  'work.settle',
  { bucket: 'smallint', id: 'uuid', attempt: 'int', delay_ms: 'bigint', error: 'text' },
  { settled: 'boolean' },
)
