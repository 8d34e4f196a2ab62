// SPDX-License-Identifier: Apache-2.0
// Jobs. A job row is written by the statement that made the need for it and removed by the one that met it. Rows are
// born leased to the node that made them, which starts them from memory once its commit returns; the table is read only
// for what is scheduled, failed or orphaned. A lease is `run_at` pushed forward: the jobs of a dead node fall due by
// themselves, within leaseSeconds, and recovery is the ordinary poll.
import type { Static, TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { backoffMs } from '../kernel/backoff.ts'
import { bucketCount, newUuid } from '../kernel/ids.ts'
import type { Clock } from './clock.ts'
import { type Committer, operation } from './commit.ts'
import { type Database, isUnavailable, type Queryable, statement } from './db.ts'
import { type Logger, messageOf } from './log.ts'
import type { Window } from './page.ts'
import type { Tenant } from './tenant.ts'
import type { Trace, Tracer } from './tracing.ts'

/** How long a born-leased row waits before another node may take it (also written in work.add). */
export const bornLeaseSeconds = 14

const pollMs = 250
const extendMs = 2_000
/** How long a job waits that could not reach the database. */
const awayMs = 1_000
/** Born-leased jobs a lane may have waiting in memory; beyond it rows are left to whichever node has room. */
const maxLocalBacklog = 2_000
const maxClaim = 200
const jitter = 0.2

export type Outcome =
  /** The job is over: the row goes, in a shared commit. */
  | { kind: 'done' }
  /** The handler's own commit has removed or rescheduled the row already. */
  | { kind: 'settled' }
  /** Nothing failed; run again later (a timer that fired early, a poll). Does not use up the retry table. */
  | { kind: 'again'; afterMs: number }
  /** It did not work this time: run again as the retry table says, or after `afterMs`. */
  | { kind: 'retry'; reason: string; afterMs?: number }

export interface Run<Payload> {
  readonly id: string
  readonly bucket: number
  readonly tenant: Tenant | null
  readonly key: string | null
  /** Grows with every run; a settlement that carries an old one changes nothing. */
  readonly attempt: number
  /** Runs that failed, one after the other, up to now. */
  readonly failures: number
  readonly payload: Payload
}

export interface Job<Context, P extends TSchema = TSchema> {
  /** Names the queue, `area.verb`. */
  readonly lane: string
  /** Which role of the program runs it. */
  readonly role: 'dispatch' | 'webhooks' | 'timers' | 'carriers'
  readonly payload: P
  readonly concurrency: number
  readonly leaseSeconds: number
  /** Waits between attempts; when they are used up the job is put aside for an operator. */
  readonly retrySeconds: readonly number[]
  /** How many more rows a handler that only hands them on can take; without it `concurrency` says. */
  room?(context: Context): number
  handle(context: Context, run: Run<Static<P>>): Promise<Outcome>
}

/** A job about to be written. `owner` set: this node starts it right after the commit. */
export interface NewJob {
  readonly id: string
  readonly bucket: number
  readonly lane: string
  readonly account: string | null
  readonly environment: string | null
  readonly key: string | null
  readonly owner: string | null
  readonly delayMs: number
  readonly payload: string
  /** The trace that asked for it. Known to this node only: a job that another one takes begins a trace of its own. */
  readonly trace: Trace | null
}

interface Row {
  bucket: number
  id: string
  lane: string
  account_id: string | null
  environment: 'test' | 'live' | null
  key: string | null
  attempt: number
  failures: number
  payload: unknown
  trace?: Trace | null
}

const add = statement<
  {
    bucket: number
    id: string
    lane: string
    account: string | null
    environment: string | null
    key: string | null
    owner: string | null
    delayMs: number
    payload: string
  },
  object
>(
  'work.add',
  `select work.add(array[row($bucket::smallint, $id::uuid, $lane::text, $account::uuid, $environment::text, $key::text,
                              $owner::uuid, $delayMs::bigint, $payload::jsonb)::work.job_item])`,
)

const claim = statement<{ node: string; buckets: number[]; lanes: string[]; limits: number[]; leases: number[] }, Row>(
  'work.claim',
  `select bucket, id, lane, account_id, environment, key, attempt, failures, payload
     from work.claim($node::uuid, $buckets::smallint[], $lanes::text[], $limits::int[], $leases::int[])`,
)

/** Keeps the leases of jobs that are still running, fenced by their attempt. One that was settled meanwhile has no owner. */
const extend = statement<
  { node: string; buckets: number[]; ids: string[]; attempts: number[]; leases: number[] },
  object
>(
  'work.extend',
  `update work.jobs j set run_at = now() + r.seconds * interval '1 second'
     from unnest($buckets::smallint[], $ids::uuid[], $attempts::int[], $leases::int[]) as r(bucket, id, attempt, seconds)
    where j.bucket = r.bucket and j.id = r.id and j.attempt = r.attempt and j.owner = $node::uuid`,
)

/** Hands back what a stopping node has not finished: due at once, for whoever polls next. */
const handBack = statement<{ node: string; buckets: number[] }, object>(
  'work.hand_back',
  `update work.jobs set run_at = now(), owner = null where owner = $node and bucket = any($buckets::smallint[])`,
)

/** A test account's clock moved: what waits for it (not what is being run) falls due that much earlier. */
const bringForward = statement<{ bucket: number; account: string; environment: string; ms: number }, object>(
  'work.bring_forward',
  `update work.jobs set run_at = run_at - $ms::bigint * interval '1 millisecond'
    where bucket = $bucket and account_id = $account and environment = $environment and owner is null
      and run_at < 'infinity'`,
)

export const settle = operation(
  'work.settle',
  { bucket: 'smallint', id: 'uuid', attempt: 'int', delay_ms: 'bigint', error: 'text' },
  { settled: 'boolean' },
)

interface LaneState<Context> {
  job: Job<Context>
  check: Validator<Record<never, never>, TSchema>
  running: number
  backlog: Row[]
}

export interface WorkOptions<Context> {
  db: Database
  committer: Committer
  clock: Clock
  log: Logger
  nodeId: string
  jobs: readonly Job<Context>[]
  /** Roles this node plays; jobs of other roles are left to other nodes. */
  roles: readonly string[]
  tracer?: Tracer | null
}

export class Work<Context> {
  readonly #options: WorkOptions<Context>
  readonly #lanes = new Map<string, LaneState<Context>>()
  readonly #running = new Map<string, { row: Row; leaseSeconds: number }>()
  readonly #buckets = Array.from({ length: bucketCount }, (_, i) => i)
  #context: Context | null = null
  #timers: NodeJS.Timeout[] = []
  #polling: Promise<void> | null = null
  #stopped = false

  constructor(options: WorkOptions<Context>) {
    this.#options = options
    for (const job of options.jobs)
      if (options.roles.includes(job.role))
        this.#lanes.set(job.lane, { job, check: Compile(job.payload), running: 0, backlog: [] })
  }

  /** Describes a job to be written in the caller's own commit; call `begin` with it once that commit is durable. */
  prepare<P extends TSchema>(
    job: Job<Context, P>,
    tenant: Tenant | null,
    payload: Static<P>,
    { key = null, delayMs = 0 }: { key?: string | null; delayMs?: number } = {},
  ): NewJob {
    const id = newUuid(this.#options.clock.nowMs())
    const lane = this.#lanes.get(job.lane)
    const here = delayMs === 0 && lane !== undefined && !this.#stopped && lane.backlog.length < maxLocalBacklog
    return {
      id,
      bucket: tenant?.bucket ?? Number.parseInt(id.slice(-2), 16) % bucketCount,
      lane: job.lane,
      account: tenant?.account ?? null,
      environment: tenant?.environment ?? null,
      key,
      owner: here ? this.#options.nodeId : null,
      delayMs,
      payload: JSON.stringify(payload),
      trace: this.#options.tracer?.current() ?? null,
    }
  }

  /** Writes a prepared job inside a plain transaction. */
  async add(tx: Queryable, { trace: _, ...job }: NewJob): Promise<void> {
    await tx.query(add, job)
  }

  /** Starts a born-leased job whose commit is durable. */
  begin(job: NewJob): void {
    const lane = job.owner ? this.#lanes.get(job.lane) : undefined
    if (!lane || this.#stopped) return
    lane.backlog.push({
      bucket: job.bucket,
      id: job.id,
      lane: job.lane,
      account_id: job.account,
      environment: job.environment === 'live' ? 'live' : job.environment === 'test' ? 'test' : null,
      key: job.key,
      attempt: 1,
      failures: 0,
      payload: JSON.parse(job.payload),
      trace: job.trace,
    })
    this.#fill(lane)
  }

  start(context: Context): void {
    this.#context = context
    if (this.#lanes.size === 0) return
    this.#timers = [setInterval(() => this.poke(), pollMs), setInterval(() => this.#extend(), extendMs)]
    for (const timer of this.#timers) timer.unref()
    for (const lane of this.#lanes.values()) this.#fill(lane)
    this.poke()
  }

  /** Looks for due jobs now rather than at the next tick. */
  poke(): void {
    if (this.#stopped || this.#polling || this.#context === null) return
    this.#polling = this.#poll()
      .catch((error) => this.#options.log.warn({ error }, 'jobs could not be claimed; trying again'))
      .finally(() => {
        this.#polling = null
      })
  }

  /** Moves a test account's waiting jobs forward by the distance its clock moved. */
  async bringForward(tx: Queryable, tenant: Tenant, ms: number): Promise<void> {
    await tx.query(bringForward, {
      bucket: tenant.bucket,
      account: tenant.account,
      environment: tenant.environment,
      ms,
    })
  }

  /** Jobs this node is running, and those waiting in its memory. */
  load(): { running: number; waiting: number } {
    let waiting = 0
    for (const lane of this.#lanes.values()) waiting += lane.backlog.length
    return { running: this.#running.size, waiting }
  }

  /** Stops taking jobs, waits for the running ones up to `deadlineMs`, and hands the rest back. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopped = true
    for (const timer of this.#timers) clearInterval(timer)
    await this.#polling
    for (const lane of this.#lanes.values()) lane.backlog.length = 0
    const until = performance.now() + deadlineMs
    while (this.#running.size > 0 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 10))
    await this.#options.db.query(handBack, { node: this.#options.nodeId, buckets: this.#buckets }).catch((error) => {
      this.#options.log.warn({ error }, 'leases could not be handed back; they run out by themselves')
    })
  }

  async #poll(): Promise<void> {
    const context = this.#context
    if (context === null) return
    for (;;) {
      const room = [...this.#lanes.values()]
        .map(({ job, running, backlog }) => ({
          job,
          most: Math.min(maxClaim, (job.room?.(context) ?? job.concurrency) - running - backlog.length),
        }))
        .filter(({ most }) => most > 0)
      if (room.length === 0 || this.#stopped) return
      const rows = await this.#options.db.query(claim, {
        node: this.#options.nodeId,
        buckets: this.#buckets,
        lanes: room.map(({ job }) => job.lane),
        limits: room.map(({ most }) => most),
        leases: room.map(({ job }) => job.leaseSeconds),
      })
      for (const row of rows) {
        const lane = this.#lanes.get(row.lane)
        const mine = this.#running.get(row.id)?.row ?? lane?.backlog.find(({ id }) => id === row.id)
        // A run of this very node went on after its lease had run out: it has the lease again, and is not begun twice.
        if (mine) mine.attempt = row.attempt
        else if (lane) {
          lane.backlog.push(row)
          this.#fill(lane)
        }
      }
      if (!room.some(({ job, most }) => rows.filter((row) => row.lane === job.lane).length === most)) return
    }
  }

  #fill(lane: LaneState<Context>): void {
    // Requests may come a moment before the program is complete; their jobs wait for it.
    while (this.#context !== null && lane.running < lane.job.concurrency) {
      const row = lane.backlog.shift()
      if (!row) return
      lane.running++
      void this.#run(lane, row).finally(() => {
        lane.running--
        this.#fill(lane)
      })
    }
  }

  async #run(lane: LaneState<Context>, row: Row): Promise<void> {
    this.#running.set(row.id, { row, leaseSeconds: lane.job.leaseSeconds })
    try {
      const { tracer } = this.#options
      await this.#settle(lane.job, row, tracer ? await this.#traced(tracer, lane, row) : await this.#attempt(lane, row))
    } catch (error) {
      // The lease runs out and the job is taken again: nothing is lost by a settlement that did not arrive.
      this.#options.log.warn({ error, lane: row.lane, job: row.id }, 'a job could not be settled')
    } finally {
      this.#running.delete(row.id)
    }
  }

  async #traced(tracer: Tracer, lane: LaneState<Context>, row: Row): Promise<Outcome> {
    const span = tracer.job(`run ${row.lane}`, row.trace ?? null, {
      'pamoja.lane': row.lane,
      'pamoja.job': row.id,
      'pamoja.attempt': row.attempt,
    })
    const outcome = await tracer.within(span, () => this.#attempt(lane, row))
    span.end({ 'pamoja.outcome': outcome.kind }, outcome.kind === 'retry')
    return outcome
  }

  async #attempt({ job, check }: LaneState<Context>, row: Row): Promise<Outcome> {
    if (this.#context === null) throw new Error('a job ran before the program was started')
    const { id, bucket, key, attempt, failures, payload } = row
    if (!check.Check(payload))
      return { kind: 'retry', reason: 'the payload does not have the shape this version expects' }
    const tenant =
      row.account_id && row.environment
        ? { bucket: row.bucket, account: row.account_id, environment: row.environment }
        : null
    try {
      return await job.handle(this.#context, { id, bucket, tenant, key, attempt, failures, payload })
    } catch (error) {
      // A database that is away or full is no failure of the job, and must not use up its attempts.
      if (isUnavailable(error)) return { kind: 'again', afterMs: awayMs }
      this.#options.log.error({ error, lane: row.lane, job: row.id, attempt: row.attempt }, 'a job failed')
      return { kind: 'retry', reason: messageOf(error) }
    }
  }

  async #settle(job: Job<Context>, row: Row, outcome: Outcome): Promise<void> {
    if (outcome.kind === 'settled') return
    await this.#options.committer.commit(settle, {
      bucket: row.bucket,
      id: row.id,
      attempt: row.attempt,
      delay_ms: delayOf(job, row.failures, outcome),
      error: outcome.kind === 'retry' ? outcome.reason.slice(0, 500) : null,
    })
  }

  #extend(): void {
    const held = [...this.#running.values()]
    for (const lane of this.#lanes.values())
      for (const row of lane.backlog) held.push({ row, leaseSeconds: lane.job.leaseSeconds })
    if (held.length === 0) return
    this.#options.db
      .query(extend, {
        node: this.#options.nodeId,
        buckets: held.map(({ row }) => row.bucket),
        ids: held.map(({ row }) => row.id),
        attempts: held.map(({ row }) => row.attempt),
        leases: held.map(({ leaseSeconds }) => leaseSeconds),
      })
      .catch((error) => this.#options.log.warn({ error }, 'leases could not be extended'))
  }
}

/** Null removes the row, a negative number puts it aside, any other is the wait in milliseconds. */
function delayOf(job: Job<never>, failures: number, outcome: Exclude<Outcome, { kind: 'settled' }>): bigint | null {
  if (outcome.kind === 'done') return null
  if (outcome.kind === 'again') return BigInt(Math.max(0, Math.round(outcome.afterMs)))
  const wait = backoffMs(job.retrySeconds, failures + 1, jitter, Math.random())
  if (wait === null) return -1n
  return BigInt(Math.max(0, Math.round(outcome.afterMs ?? wait)))
}

// For the area whose jobs they are ----------------------------------------------------------------------------------

/** Jobs of one tenant, lane and key that wait: no node has them at this moment. */
interface Waiting {
  bucket: number
  account: string
  environment: string
  lane: string
}

const countWaiting = statement<Waiting & { keys: readonly string[] }, { key: string; waiting: number }>(
  'work.count_waiting',
  `select key, count(*)::int as waiting from work.jobs
    where bucket = $bucket and account_id = $account and environment = $environment and owner is null
      and lane = $lane and key = any($keys::text[])
    group by key`,
)

const hastenWaiting = statement<Waiting & { key: string }, object>(
  'work.hasten_waiting',
  `update work.jobs set run_at = now()
    where bucket = $bucket and account_id = $account and environment = $environment and owner is null
      and lane = $lane and key = $key and run_at > now() and run_at < 'infinity'`,
)

const withdrawWaiting = statement<Waiting & { key: string; most: number }, { id: string }>(
  'work.withdraw_waiting',
  `delete from work.jobs
    where bucket = $bucket and id in (
      select id from work.jobs
       where bucket = $bucket and account_id = $account and environment = $environment and owner is null
         and lane = $lane and key = $key
       order by id limit $most::int for update skip locked)
   returning id`,
)

/** How many jobs wait under each of the keys. */
export async function waitingUnder(
  queryable: Queryable,
  tenant: Tenant,
  lane: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await queryable.query(countWaiting, { ...tenant, lane, keys })
  return new Map(rows.map(({ key, waiting }) => [key, waiting]))
}

/** Lets the jobs that wait under a key fall due now. */
export async function hasten(tx: Queryable, tenant: Tenant, lane: string, key: string): Promise<void> {
  await tx.query(hastenWaiting, { ...tenant, lane, key })
}

/** Removes jobs that wait under a key, the oldest first, and gives their ids. */
export async function withdraw(
  tx: Queryable,
  tenant: Tenant,
  lane: string,
  key: string,
  most: number,
): Promise<string[]> {
  return (await tx.query(withdrawWaiting, { ...tenant, lane, key, most })).map(({ id }) => id)
}

// For operators ----------------------------------------------------------------------------------------------------

const everyBucket = Array.from({ length: bucketCount }, (_, i) => i)

export interface QueueState {
  lane: string
  due: number
  running: number
  scheduled: number
  failed: number
  oldest_seconds: number
}

const countQueues = statement<{ buckets: number[] }, QueueState>(
  'work.count_queues',
  `select lane, count(*) filter (where run_at <= now())::int as due,
          count(*) filter (where owner is not null and run_at > now())::int as running,
          count(*) filter (where owner is null and run_at > now() and run_at < 'infinity')::int as scheduled,
          count(*) filter (where run_at = 'infinity')::int as failed,
          coalesce(max(extract(epoch from now() - run_at)) filter (where run_at <= now()), 0)::float8 as oldest_seconds
     from work.jobs where bucket = any($buckets::smallint[]) group by lane order by lane`,
)

export interface FailedJob {
  id: string
  lane: string
  account_id: string | null
  environment: string | null
  attempt: number
  last_error: string | null
  created_at: Date
}

const listFailed = statement<
  { buckets: number[]; lane: string | null; after: string | null; descending: boolean; limit: number },
  FailedJob
>(
  'work.list_failed',
  `select id, lane, account_id, environment, attempt, last_error, created_at from work.jobs
    where bucket = any($buckets::smallint[]) and run_at = 'infinity' and ($lane::text is null or lane = $lane)
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

const reviveFailed = statement<{ buckets: number[]; id: string }, { id: string }>(
  'work.retry_failed',
  `update work.jobs set run_at = now(), failures = 0
    where bucket = any($buckets::smallint[]) and id = $id and run_at = 'infinity' returning id`,
)

const removeFailed = statement<{ buckets: number[]; id: string }, { id: string }>(
  'work.discard_failed',
  `delete from work.jobs where bucket = any($buckets::smallint[]) and id = $id and run_at = 'infinity' returning id`,
)

export async function queues(queryable: Queryable): Promise<QueueState[]> {
  return queryable.query(countQueues, { buckets: everyBucket })
}

export async function failedJobs(queryable: Queryable, window: Window, lane: string | null): Promise<FailedJob[]> {
  return queryable.query(listFailed, { buckets: everyBucket, lane, ...window })
}

export async function retryFailed(tx: Queryable, id: string): Promise<boolean> {
  return (await tx.query(reviveFailed, { buckets: everyBucket, id })).length > 0
}

export async function discardFailed(tx: Queryable, id: string): Promise<boolean> {
  return (await tx.query(removeFailed, { buckets: everyBucket, id })).length > 0
}
