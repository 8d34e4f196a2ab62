// SPDX-License-Identifier: Apache-2.0
// Attempt: one run of a job's handler, and the retry delay that follows from its outcome.
import { backoffMs } from '../../kernel/backoff.ts'
import { isUnavailable } from '../db.ts'
import { type Logger, messageOf } from '../telemetry/log.ts'
import { type Tracer, traceIn } from '../telemetry/tracing.ts'
import { tenantOf } from '../tenant.ts'
import type { Job, Outcome } from '../work.ts'
import type { Lane, Row } from './lane.ts'

/** Delay of a job that found the database unavailable. */
const unavailableMs = 1_000
const jitter = 0.2

/** Runs a job's handler, in a span of its own when tracing is on. */
export async function attempt<Context>(
  context: Context,
  lane: Lane<Job<Context>>,
  row: Row,
  { log, tracer }: { log: Logger; tracer?: Tracer | null },
): Promise<Outcome> {
  if (!tracer) return handle(context, lane, row, log)
  const span = tracer.job(`run ${row.lane}`, traceIn(row.payload), {
    'pamoja.lane': row.lane,
    'pamoja.job': row.id,
    'pamoja.attempt': row.attempt,
  })
  const outcome = await tracer.within(span, () => handle(context, lane, row, log))
  span.end({ 'pamoja.outcome': outcome.kind }, outcome.kind === 'retry')
  return outcome
}

async function handle<Context>(
  context: Context,
  { job, check, place }: Lane<Job<Context>>,
  row: Row,
  log: Logger,
): Promise<Outcome> {
  const { id, bucket, key, failures, payload } = row
  if (!check.Check(payload))
    return { kind: 'retry', reason: 'the payload does not have the shape this version expects' }
  const { account_id, environment } = row
  const tenant = account_id && environment ? tenantOf({ bucket, account_id, environment }) : null
  try {
    return await job.handle(context, {
      id,
      bucket,
      tenant,
      place,
      key,
      // The attempt grows when the run regains its lease.
      get attempt() {
        return row.attempt
      },
      failures,
      payload,
    })
  } catch (error) {
    // An unavailable or full database is not a failure of the job, and does not count as a retry.
    if (isUnavailable(error)) return { kind: 'again', afterMs: unavailableMs }
    log.error(
      { error, lane: row.lane, job: row.id, attempt: row.attempt },
      'job failed: it is retried as its lane says; check the error if this repeats',
    )
    return { kind: 'retry', reason: messageOf(error) }
  }
}

/** Delay in milliseconds before the next run; null deletes the row, a negative one sets it aside for an operator. */
export function delayOf(
  job: Pick<Job<never>, 'retrySeconds'>,
  failures: number,
  outcome: Exclude<Outcome, { kind: 'settled' | 'move' }>,
): bigint | null {
  if (outcome.kind === 'done') return null
  if (outcome.kind === 'again') return BigInt(Math.max(0, Math.round(outcome.afterMs)))
  const wait = backoffMs(job.retrySeconds, failures + 1, jitter, Math.random())
  if (wait === null) return -1n
  return BigInt(Math.max(0, Math.round(outcome.afterMs ?? wait)))
}
