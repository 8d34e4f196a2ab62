// SPDX-License-Identifier: Apache-2.0
// Jobs. A job row is written by the statement that made the need for it and removed by the one that met it. Rows are
// born leased to the node that made them, which starts them from memory once its commit returns; the table is read only
// for what is scheduled, failed or orphaned. A lease is `run_at` pushed forward: the jobs of a dead node fall due by
// themselves, within the lease, and recovery is the ordinary poll.
import type { Static, TSchema } from 'typebox'
import { backoffMs } from '../kernel/backoff.ts'
import { bucketCount, buckets, newUuid, nilUuid } from '../kernel/ids.ts'
import type { Clock } from './clock.ts'
import { encodeItems, type RowIn, rowType } from './commit/row-encoding.ts'
import { type Committer, operation } from './commit.ts'
import { type Database, isUnavailable, one, type Queryable, statement } from './db.ts'
import { type Logger, messageOf } from './log.ts'
import { mine, type Tenant, tenantOf } from './tenant.ts'
import type { Trace, Tracer } from './tracing.ts'
import { Lane, laneName, type Row } from './work/lane.ts'
import { defaultLeaseSeconds } from './work/lease.ts'

const pollMs = 250
/** How often leases are extended while one lasts. */
const extensionsPerLease = 5
/** How long a job waits that could not reach the database. */
const awayMs = 1_000
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
  /** It is to be run at another place, or with another payload: `job.lane@place`, or `job.lane` for null. */
  | { kind: 'move'; place: string | null; payload: unknown; afterMs: number }

export interface Run<Payload> {
  readonly id: string
  readonly bucket: number
  readonly tenant: Tenant | null
  readonly key: string | null
  /** What follows the @ in the name of its lane. */
  readonly place: string | null
  /** Grows with every run; a settlement that carries an old one changes nothing. */
  readonly attempt: number
  /** Runs that failed, one after the other, up to now. */
  readonly failures: number
  readonly payload: Payload
}

export interface Job<Context, P extends TSchema = TSchema> {
  /** Names the queue, `area.verb`; `area.verb@place` is one of its own, for the nodes that serve that place. */
  readonly lane: string
  /** Which role of the program runs it. */
  readonly role: 'dispatch' | 'webhooks' | 'timers' | 'carriers'
  readonly payload: P
  readonly concurrency: number
  /** Waits between attempts; when they are used up the job is put aside for an operator. */
  readonly retrySeconds: readonly number[]
  /**
   * Its moment matters: a test clock that is moved past it stops there until it is done, and what it has begun is settled, as
   * far as `isSettling` knows.
   */
  readonly calendar?: { isSettling?(context: Context, tenant: Tenant): Promise<boolean> }
  /** How many more rows a handler that only hands them on can take; without it `concurrency` says. */
  room?(context: Context): number
  handle(context: Context, run: Run<Static<P>>): Promise<Outcome>
}

/** A job as work.add takes it; `job: jobRow` is the column of a group commit that has something done. */
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

/** A job about to be written: its cell in the item of a group commit. `owner` set: this node starts it after the commit. */
export interface NewJob extends RowIn<typeof jobRow> {
  readonly id: string
  readonly bucket: number
  readonly lane: string
  readonly payload: string
  /** The trace that asked for it. Known to this node only: a job that another one takes begins a trace of its own. */
  readonly trace: Trace | null
}

export const addAll = statement.tenant<{ buckets: readonly number[]; jobs: Buffer }, object>(
  'work.add',
  'select work.add($jobs::work.job_item[])',
)

const claim = statement.everywhere<
  { node: string; buckets: readonly number[]; lanes: string[]; limits: number[]; leases: number[] },
  Row
>(
  'work.claim',
  `select bucket, id, lane, account_id, environment, key, attempt, failures, payload
     from work.claim($node::uuid, $buckets::smallint[], $lanes::text[], $limits::int[], $leases::int[])`,
)

/** The same for one lane that is shared out: some of each account that waits, but for those that have their part. */
const claimInTurn = statement.everywhere<
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

/** Keeps the leases of jobs that are still running, fenced by their attempt. One that was settled meanwhile has no owner. */
const extend = statement.everywhere<
  { node: string; buckets: readonly number[]; ids: string[]; attempts: number[]; leases: number[] },
  object
>(
  'work.extend',
  'select work.extend($node::uuid, $buckets::smallint[], $ids::uuid[], $attempts::int[], $leases::int[])',
)

/** Hands back what a stopping node has not finished: due at once, for whoever polls next. */
const handBack = statement.everywhere<{ node: string; buckets: readonly number[] }, object>(
  'work.hand_back',
  `update work.jobs set run_at = now(), owner = null where owner = $node and bucket = any($buckets::smallint[])`,
)

/** The same for some jobs, fenced by their attempt. */
const handBackSome = statement.everywhere<
  { node: string; buckets: readonly number[]; ids: string[]; attempts: number[] },
  object
>('work.hand_back_some', 'select work.hand_back($node::uuid, $buckets::smallint[], $ids::uuid[], $attempts::int[])')

/** Another node has no business with the jobs of a place that this one alone serves: they are due at once. */
const takeFromOthers = statement.everywhere<{ node: string; buckets: readonly number[]; lane: string }, object>(
  'work.take_from_others',
  `update work.jobs set run_at = now(), owner = null
    where lane = $lane and lane like '%@%' and owner is not null and owner <> $node::uuid and run_at < 'infinity'
      and bucket = any($buckets::smallint[])`,
)

/** A test account's clock moved: what waits for it (not what is being run) falls due that much earlier. */
const bringForward = statement.tenant<Tenant & { ms: number }, object>(
  'work.bring_forward',
  `update work.jobs set run_at = run_at - $ms::bigint * interval '1 millisecond'
    where ${mine} and owner is null
      and run_at < 'infinity'`,
)

const nextOf = statement.tenant<Tenant & { lanes: readonly string[] }, { in_ms: number | null }>(
  'work.next_of',
  `select ceil(extract(epoch from min(run_at) - now()) * 1000)::float8 as in_ms from work.jobs
    where ${mine} and owner is null and run_at < 'infinity' and lane = any($lanes::text[])`,
)

/** Whether some are being run, or would be if somebody had looked. */
const isDueOf = statement.tenant<Tenant & { lanes: readonly string[] }, { found: boolean }>(
  'work.is_due_of',
  `select exists (select from work.jobs
                   where ${mine} and lane = any($lanes::text[]) and (owner is not null or run_at <= now())) as found`,
)

export const settle = operation.tenant(
  'work.settle',
  { bucket: 'smallint', id: 'uuid', attempt: 'int', delay_ms: 'bigint', error: 'text' },
  { settled: 'boolean' },
)

const move = operation.tenant(
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
  /** What work.lease() gives in the sessions of `db` and of the committer; 10 unless told. */
  leaseSeconds?: number
}

/** A job in this node's memory. */
interface Held {
  readonly row: Row
  /** Its run is over, and that is being stored. */
  isSettling: boolean
  /** The row as it was claimed meanwhile, to be run once more. */
  next: Row | null
}

export class Work<Context> {
  readonly #options: WorkOptions<Context>
  readonly leaseSeconds: number
  readonly #lanes = new Map<string, Lane<Job<Context>>>()
  /** What this node has leased, whether it runs or waits. */
  readonly #held = new Map<string, Held>()
  #context: Context | null = null
  #timers: NodeJS.Timeout[] = []
  #polling: Promise<void> | null = null
  #isExtending = false
  #stopped = false

  constructor(options: WorkOptions<Context>) {
    this.#options = options
    this.leaseSeconds = options.leaseSeconds ?? defaultLeaseSeconds
    for (const job of options.jobs) this.#open(job, null)
  }

  /** Takes the jobs of a place that this node has come to serve, such as those for a connection which it holds. */
  serve(job: Job<Context>, place: string): void {
    if (!this.#lanes.has(laneName(job.lane, place))) this.#open(job, place)
  }

  /** The same for a place that no other node serves: what the last one had in hand need not wait for its leases to end. */
  async takeOver(job: Job<Context>, place: string): Promise<void> {
    const { db, nodeId: node } = this.#options
    await db.query(takeFromOthers, { node, buckets, lane: laneName(job.lane, place) })
    this.serve(job, place)
  }

  /** Leaves the jobs of a place to whoever serves it next, but for those that are being run. */
  async leave(job: Job<Context>, place: string): Promise<void> {
    const lane = this.#lanes.get(laneName(job.lane, place))
    if (!lane) return
    this.#lanes.delete(lane.name)
    const rows = lane.empty()
    if (rows.length === 0) return
    for (const { id } of rows) this.#held.delete(id)
    await this.#options.db
      .query(handBackSome, {
        node: this.#options.nodeId,
        buckets: rows.map(({ bucket }) => bucket),
        ids: rows.map(({ id }) => id),
        attempts: rows.map(({ attempt }) => attempt),
      })
      .catch((error) =>
        this.#options.log.warn(
          { error },
          'leases of jobs not released: they run out by themselves; check the database if this repeats',
        ),
      )
  }

  #open(job: Job<Context>, place: string | null): void {
    if (!this.#options.roles.includes(job.role)) return
    const lane = new Lane(job, place)
    this.#lanes.set(lane.name, lane)
  }

  /** Describes a job to be written in the caller's own commit; call `begin` with it once that commit is durable. */
  prepare<P extends TSchema>(
    job: Pick<Job<Context, P>, 'lane' | 'payload'>,
    tenant: Tenant | null,
    payload: Static<P>,
    { key = null, delayMs = 0, place = null }: { key?: string | null; delayMs?: number; place?: string | null } = {},
  ): NewJob {
    const id = newUuid(this.#options.clock.nowMs())
    const name = laneName(job.lane, place)
    const here = delayMs === 0 && !this.#stopped && this.#lanes.get(name)?.admits(tenant?.account ?? null) === true
    return {
      id,
      bucket: tenant?.bucket ?? Number.parseInt(id.slice(-2), 16) % bucketCount,
      lane: name,
      account_id: tenant?.account ?? null,
      environment: tenant?.environment ?? null,
      key,
      owner: here ? this.#options.nodeId : null,
      delay_ms: BigInt(Math.round(delayMs)),
      payload: JSON.stringify(payload),
      trace: this.#options.tracer?.current() ?? null,
    }
  }

  /** Writes a prepared job inside a plain transaction. */
  async add(tx: Queryable, job: NewJob): Promise<void> {
    await tx.query(addAll, { buckets: [job.bucket], jobs: encodeItems(jobRow.columns, [job]) })
  }

  /** Starts a born-leased job whose commit is durable. */
  begin(job: NewJob): void {
    const lane = job.owner ? this.#lanes.get(job.lane) : undefined
    if (!lane || this.#stopped) return
    this.#take(lane, {
      bucket: job.bucket,
      id: job.id,
      lane: job.lane,
      account_id: job.account_id,
      environment: job.environment === 'live' ? 'live' : job.environment === 'test' ? 'test' : null,
      key: job.key,
      attempt: 1,
      failures: 0,
      payload: JSON.parse(job.payload),
      trace: job.trace,
    })
  }

  start(context: Context): void {
    this.#context = context
    if (this.#lanes.size === 0) return
    const extendMs = (this.leaseSeconds * 1_000) / extensionsPerLease
    this.#timers = [setInterval(() => this.poke(), pollMs), setInterval(() => void this.#extendHeld(), extendMs)]
    for (const timer of this.#timers) timer.unref()
    for (const lane of this.#lanes.values()) this.#fill(lane)
    this.poke()
  }

  /** Looks for due jobs now rather than at the next tick. */
  poke(): void {
    if (this.#stopped || this.#polling || this.#context === null) return
    this.#polling = this.#poll()
      .catch((error) =>
        this.#options.log.warn({ error }, 'jobs not claimed: tried again; check the database if this repeats'),
      )
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

  /** In how many milliseconds the next job of a test account is due whose moment matters; null when none waits. */
  async nextOnCalendar(tenant: Tenant): Promise<number | null> {
    const lanes = this.#calendar.map(({ lane }) => lane)
    return (await one(this.#options.db.query(nextOf, { ...tenant, lanes }))).in_ms
  }

  /** Whether what was due of them is not done yet. */
  async isBusyOnCalendar(tenant: Tenant): Promise<boolean> {
    const lanes = this.#calendar.map(({ lane }) => lane)
    if ((await one(this.#options.db.query(isDueOf, { ...tenant, lanes }))).found) return true
    for (const { calendar } of this.#calendar)
      if (this.#context !== null && (await calendar?.isSettling?.(this.#context, tenant))) return true
    return false
  }

  get #calendar(): readonly Job<Context>[] {
    return this.#options.jobs.filter(({ calendar }) => calendar !== undefined)
  }

  /** Jobs this node is running, and those waiting in its memory. */
  load(): { running: number; waiting: number } {
    let waiting = 0
    for (const lane of this.#lanes.values()) waiting += lane.waiting
    return { running: this.#held.size - waiting, waiting }
  }

  /** Stops taking jobs, waits for the running ones up to `deadlineMs`, and hands the rest back. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopped = true
    for (const timer of this.#timers) clearInterval(timer)
    await this.#polling
    for (const lane of this.#lanes.values()) for (const { id } of lane.empty()) this.#held.delete(id)
    const until = performance.now() + deadlineMs
    while (this.#held.size > 0 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 10))
    await this.#options.db.query(handBack, { node: this.#options.nodeId, buckets }).catch((error) => {
      this.#options.log.warn(
        { error },
        'leases of jobs not released: they run out by themselves; check the database if this repeats',
      )
    })
  }

  async #poll(): Promise<void> {
    const context = this.#context
    if (context === null) return
    for (let isMore = true; isMore; ) {
      const open = [...this.#lanes.values()]
        .map((lane) => ({
          lane,
          most: Math.min(maxClaim, lane.room(lane.job.room?.(context) ?? lane.job.concurrency)),
          passedOver: lane.passedOver(),
        }))
        .filter(({ most }) => most > 0)
      if (this.#stopped) return
      const isCrowded = ({ lane, passedOver }: (typeof open)[number]) => lane.isCrowded || passedOver.length > 0
      isMore = await this.#claimByAge(open.filter((each) => !isCrowded(each)))
      for (const { lane, most, passedOver } of open.filter(isCrowded))
        if (await this.#claimInTurn(lane, most, passedOver)) isMore = true
    }
  }

  /** The oldest of each lane. Gives whether there may be more. */
  async #claimByAge(room: readonly { lane: Lane<Job<Context>>; most: number }[]): Promise<boolean> {
    if (room.length === 0) return false
    const rows = await this.#options.db.query(claim, {
      node: this.#options.nodeId,
      buckets,
      lanes: room.map(({ lane }) => lane.name),
      limits: room.map(({ most }) => most),
      leases: room.map(() => this.leaseSeconds),
    })
    this.#claimed(rows)
    const full = room.filter(({ lane, most }) => rows.filter((row) => row.lane === lane.name).length === most)
    for (const { lane } of full) lane.isCrowded = lane.place !== null
    return full.length > 0
  }

  async #claimInTurn(lane: Lane<Job<Context>>, most: number, passedOver: readonly string[]): Promise<boolean> {
    const rows = await this.#options.db.query(claimInTurn, {
      node: this.#options.nodeId,
      buckets,
      lane: lane.name,
      most,
      lease: this.leaseSeconds,
      since: lane.lastAccount,
      passedOver,
    })
    this.#claimed(rows)
    const wasLast = rows.length === 0 && lane.lastAccount === nilUuid
    lane.lastAccount = rows.reduce((last, { account_id: id }) => (id !== null && id > last ? id : last), nilUuid)
    lane.isCrowded = !wasLast || passedOver.length > 0
    return !wasLast
  }

  #claimed(rows: readonly Row[]): void {
    for (const row of rows) {
      const mine = this.#held.get(row.id)
      const lane = this.#lanes.get(row.lane)
      // It was settled to be run again at once, and claimed before this node had heard that it is settled.
      if (mine?.isSettling) mine.next = row
      // A run of this very node went on after its lease had run out: it has the lease again, and is not begun twice.
      else if (mine) mine.row.attempt = row.attempt
      else if (lane) this.#take(lane, row)
    }
  }

  #take(lane: Lane<Job<Context>>, row: Row): void {
    this.#held.set(row.id, { row, isSettling: false, next: null })
    lane.add(row)
    this.#fill(lane)
  }

  #fill(lane: Lane<Job<Context>>): void {
    // Requests may come a moment before the program is complete; their jobs wait for it.
    while (this.#context !== null) {
      const row = lane.take()
      if (!row) return
      void this.#run(lane, row).then((next) => {
        lane.end(row)
        const elsewhere = next && this.#lanes.get(next.lane)
        if (elsewhere) this.#take(elsewhere, next)
        this.#fill(lane)
      })
    }
  }

  /** Gives the row again when it is to be run here once more, in this lane or another. */
  async #run(lane: Lane<Job<Context>>, row: Row): Promise<Row | null> {
    const held = this.#held.get(row.id)
    try {
      const { tracer } = this.#options
      const outcome = tracer ? await this.#traced(tracer, lane, row) : await this.#attempt(lane, row)
      if (held) held.isSettling = true
      const moved = await this.#settle(lane.job, row, outcome)
      return moved ?? (this.#stopped ? null : (held?.next ?? null))
    } catch (error) {
      // The lease runs out and the job is taken again: nothing is lost by a settlement that did not arrive.
      this.#options.log.warn(
        { error, lane: row.lane, job: row.id },
        'outcome of a job not stored: the job runs again when its lease runs out; check the database',
      )
      return null
    } finally {
      this.#held.delete(row.id)
    }
  }

  async #traced(tracer: Tracer, lane: Lane<Job<Context>>, row: Row): Promise<Outcome> {
    const span = tracer.job(`run ${row.lane}`, row.trace ?? null, {
      'pamoja.lane': row.lane,
      'pamoja.job': row.id,
      'pamoja.attempt': row.attempt,
    })
    const outcome = await tracer.within(span, () => this.#attempt(lane, row))
    span.end({ 'pamoja.outcome': outcome.kind }, outcome.kind === 'retry')
    return outcome
  }

  async #attempt({ job, check, place }: Lane<Job<Context>>, row: Row): Promise<Outcome> {
    if (this.#context === null) throw new Error('a job ran before the program was started')
    const { id, bucket, key, failures, payload } = row
    if (!check.Check(payload))
      return { kind: 'retry', reason: 'the payload does not have the shape this version expects' }
    const { account_id, environment } = row
    const tenant = account_id && environment ? tenantOf({ bucket, account_id, environment }) : null
    try {
      return await job.handle(this.#context, {
        id,
        bucket,
        tenant,
        place,
        key,
        // It grows when the run gets its lease back.
        get attempt() {
          return row.attempt
        },
        failures,
        payload,
      })
    } catch (error) {
      // A database that is away or full is no failure of the job, and must not use up its attempts.
      if (isUnavailable(error)) return { kind: 'again', afterMs: awayMs }
      this.#options.log.error(
        { error, lane: row.lane, job: row.id, attempt: row.attempt },
        'job failed: it is retried as its lane says; check the error if this repeats',
      )
      return { kind: 'retry', reason: messageOf(error) }
    }
  }

  async #settle(job: Job<Context>, row: Row, outcome: Outcome): Promise<Row | null> {
    if (outcome.kind === 'settled') return null
    if (outcome.kind === 'move') return this.#move(job, row, outcome)
    await this.#options.committer.commit(settle, {
      bucket: row.bucket,
      id: row.id,
      attempt: row.attempt,
      delay_ms: delayOf(job, row.failures, outcome),
      error: outcome.kind === 'retry' ? outcome.reason.slice(0, 500) : null,
    })
    return null
  }

  async #move(
    job: Job<Context>,
    row: Row,
    { place, payload, afterMs }: Outcome & { kind: 'move' },
  ): Promise<Row | null> {
    const lane = laneName(job.lane, place)
    const keep = afterMs <= 0 && !this.#stopped && this.#lanes.get(lane)?.admits(row.account_id) === true
    const { moved } = await this.#options.committer.commit(move, {
      bucket: row.bucket,
      id: row.id,
      attempt: row.attempt,
      lane,
      payload: JSON.stringify(payload),
      delay_ms: BigInt(Math.max(0, Math.round(afterMs))),
      keep,
    })
    return keep && moved ? { ...row, lane, payload, attempt: row.attempt + 1, failures: 0 } : null
  }

  /** Leases anew what this node has in hand. */
  async extend(jobs: readonly Pick<Row, 'bucket' | 'id' | 'attempt'>[]): Promise<void> {
    if (jobs.length === 0) return
    await this.#options.db.query(extend, {
      node: this.#options.nodeId,
      buckets: jobs.map(({ bucket }) => bucket),
      ids: jobs.map(({ id }) => id),
      attempts: jobs.map(({ attempt }) => attempt),
      leases: jobs.map(() => this.leaseSeconds),
    })
  }

  async #extendHeld(): Promise<void> {
    if (this.#isExtending) return
    this.#isExtending = true
    try {
      await this.extend([...this.#held.values()].map(({ row }) => row))
    } catch (error) {
      this.#options.log.warn(
        { error },
        'leases of jobs not extended: another node may run some of them again; check the database',
      )
    } finally {
      this.#isExtending = false
    }
  }
}

/** Null removes the row, a negative number puts it aside, any other is the wait in milliseconds. */
function delayOf(
  job: Job<never>,
  failures: number,
  outcome: Exclude<Outcome, { kind: 'settled' | 'move' }>,
): bigint | null {
  if (outcome.kind === 'done') return null
  if (outcome.kind === 'again') return BigInt(Math.max(0, Math.round(outcome.afterMs)))
  const wait = backoffMs(job.retrySeconds, failures + 1, jitter, Math.random())
  if (wait === null) return -1n
  return BigInt(Math.max(0, Math.round(outcome.afterMs ?? wait)))
}
