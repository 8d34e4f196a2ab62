// SPDX-License-Identifier: Apache-2.0
// Worker: claims due jobs, runs them, extends their leases and stores their outcomes, on one node.
import type { Static, TSchema } from 'typebox'
import { bucketCount, buckets, newUuid, nilUuid } from '../../kernel/ids.ts'
import type { Clock } from '../clock.ts'
import { encodeItems } from '../commit/row-encoding.ts'
import type { Committer } from '../commit.ts'
import type { Cell } from '../db/cell.ts'
import { type Database, isMoving, one, type Queryable, settled } from '../db.ts'
import type { Logger } from '../telemetry/log.ts'
import { type Tracer, traceIn, withTrace } from '../telemetry/tracing.ts'
import type { Tenant } from '../tenant.ts'
import { type Job, jobRow, type NewJob, type Outcome, settle } from '../work.ts'
import { attempt, delayOf } from './attempt.ts'
import { Lane, laneName, type Row } from './lane.ts'
import { defaultLeaseSeconds } from './lease.ts'
import {
  addAll,
  bringForward,
  claim,
  claimInTurn,
  extend,
  isDueOf,
  move,
  nextOf,
  putOff,
  releaseAll,
  releaseSome,
} from './store.ts'

const pollMs = 250
/** Extensions per lease time. */
const extensionsPerLease = 5
const maxClaim = 200

export interface WorkOptions<Context> {
  db: Database
  committer: Committer
  clock: Clock
  log: Logger
  nodeId: string
  jobs: readonly Job<Context>[]
  /** Roles of this node; other jobs are left to other nodes. */
  roles: readonly string[]
  tracer?: Tracer | null
  /** Lease time, as work.lease() returns it in the sessions of `db` and of the committer; 10 by default. */
  leaseSeconds?: number
}

/** Job leased by this node. */
interface Held {
  readonly row: Row
  /** Whether the run ended and its outcome is being stored. */
  isSettling: boolean
  /** Row claimed again meanwhile, to be run once more. */
  next: Row | null
}

/** Jobs of one node: its lanes, leases and polls. */
export class Work<Context> {
  readonly #options: WorkOptions<Context>
  readonly leaseSeconds: number
  readonly #lanes = new Map<string, Lane<Job<Context>>>()
  /** Leased jobs, running or queued. */
  readonly #held = new Map<string, Held>()
  #context: Context | null = null
  #timers: NodeJS.Timeout[] = []
  /** Polls in progress, by cell. */
  readonly #polling = new Map<Cell, Promise<void>>()
  #isExtending = false
  #stopped = false

  constructor(options: WorkOptions<Context>) {
    this.#options = options
    this.leaseSeconds = options.leaseSeconds ?? defaultLeaseSeconds
    for (const job of options.jobs) this.#open(job, null)
  }

  /**
   * Serves the jobs of a place, such as a connection this node holds. What its last node had in hand stays leased: if that is alive
   * it stores what it did, and if it is dead the lease runs out.
   */
  serve(job: Job<Context>, place: string): void {
    if (!this.#lanes.has(laneName(job.lane, place))) this.#open(job, place)
  }

  /** Stops serving a place: queued jobs are released, running ones finish. */
  async leave(job: Job<Context>, place: string): Promise<void> {
    const lane = this.#lanes.get(laneName(job.lane, place))
    if (!lane) return
    this.#lanes.delete(lane.name)
    const rows = lane.empty()
    for (const { id } of rows) this.#held.delete(id)
    const release = async (part: readonly Row[]): Promise<void> => {
      await this.#options.db.cellOf(part[0]?.bucket ?? -1).query(releaseSome, {
        node: this.#options.nodeId,
        buckets: part.map(({ bucket }) => bucket),
        ids: part.map(({ id }) => id),
        attempts: part.map(({ attempt }) => attempt),
      })
    }
    await this.#inParts(rows, release).catch((error) =>
      this.#options.log.warn(
        { error },
        'leases of jobs not released: they run out by themselves; check the database if this repeats',
      ),
    )
  }

  /** Does something to jobs, those of each cell apart: one that is away keeps nothing from those of the others. */
  async #inParts<Job extends { bucket: number }>(
    jobs: readonly Job[],
    work: (part: readonly Job[]) => Promise<void>,
  ): Promise<void> {
    await settled(this.#options.db.separate(jobs, ({ bucket }) => bucket).map(work))
  }

  #open(job: Job<Context>, place: string | null): void {
    if (!this.#options.roles.includes(job.role)) return
    const lane = new Lane(job, place)
    this.#lanes.set(lane.name, lane)
  }

  /** Prepares a job for the caller's own commit; call `begin` with it once that commit is durable. */
  prepare<P extends TSchema>(
    job: Pick<Job<Context, P>, 'lane' | 'payload'>,
    tenant: Tenant | null,
    payload: Static<P>,
    { key = null, delayMs = 0, place = null }: { key?: string | null; delayMs?: number; place?: string | null } = {},
  ): NewJob {
    const id = newUuid(this.#options.clock.nowMs())
    const name = laneName(job.lane, place)
    const trace = this.#options.tracer?.current() ?? null
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
      payload: JSON.stringify(withTrace(payload, trace)),
    }
  }

  /** Inserts a prepared job in a plain transaction. */
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

  /** Polls for due jobs now rather than at the next tick. */
  poke(): void {
    for (const cell of this.#options.db.cells) {
      if (this.#stopped || this.#polling.has(cell) || this.#context === null) continue
      const polling = this.#poll(cell)
        .catch((error) =>
          this.#options.log.warn({ error }, 'jobs not claimed: tried again; check the database if this repeats'),
        )
        .finally(() => this.#polling.delete(cell))
      this.#polling.set(cell, polling)
    }
  }

  /** Brings a test account's waiting jobs forward by the distance its clock moved. */
  async bringForward(tx: Queryable, tenant: Tenant, ms: number): Promise<void> {
    await tx.query(bringForward, {
      bucket: tenant.bucket,
      account: tenant.account,
      environment: tenant.environment,
      ms,
    })
  }

  /** Puts the time-critical jobs of a tenant off: its clock went back. What merely waits its turn is not late by that. */
  async putOffCalendar(tx: Queryable, tenant: Tenant, ms: number): Promise<void> {
    await tx.query(putOff, { ...tenant, ms, lanes: this.#calendar.map(({ lane }) => lane) })
  }

  /** Milliseconds until a test account's next time-critical job; null when none waits. */
  async nextOnCalendar(tenant: Tenant): Promise<number | null> {
    const lanes = this.#calendar.map(({ lane }) => lane)
    return (await one(this.#options.db.query(nextOf, { ...tenant, lanes }))).in_ms
  }

  /** Whether `calendar` jobs of a tenant, which a move of the sandbox clock waits for, are due, running or settling. */
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

  /** Numbers of running and queued jobs on this node. */
  load(): { running: number; waiting: number } {
    let waiting = 0
    for (const lane of this.#lanes.values()) waiting += lane.waiting
    return { running: this.#held.size - waiting, waiting }
  }

  /** Stops claiming, waits up to `deadlineMs` for running jobs, and releases the rest. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopped = true
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.all(this.#polling.values())
    for (const lane of this.#lanes.values()) for (const { id } of lane.empty()) this.#held.delete(id)
    const until = performance.now() + deadlineMs
    while (this.#held.size > 0 && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 10))
    await this.#options.db.query(releaseAll, { node: this.#options.nodeId, buckets }).catch((error) => {
      this.#options.log.warn(
        { error },
        'leases of jobs not released: they run out by themselves; check the database if this repeats',
      )
    })
  }

  async #poll(cell: Cell): Promise<void> {
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
      const isCrowded = ({ lane, passedOver }: (typeof open)[number]) =>
        lane.claimsIn(cell.name).isCrowded || passedOver.length > 0
      isMore = await this.#claimByAge(
        cell,
        open.filter((each) => !isCrowded(each)),
      )
      for (const { lane, most, passedOver } of open.filter(isCrowded))
        if (await this.#claimInTurn(cell, lane, most, passedOver)) isMore = true
    }
  }

  /** Claims the oldest jobs of each lane. Returns whether there may be more. */
  async #claimByAge(cell: Cell, room: readonly { lane: Lane<Job<Context>>; most: number }[]): Promise<boolean> {
    if (room.length === 0) return false
    const rows = await this.#admitted(cell, (own) =>
      cell.query(claim, {
        node: this.#options.nodeId,
        buckets: own,
        lanes: room.map(({ lane }) => lane.name),
        limits: room.map(({ most }) => most),
        leases: room.map(() => this.leaseSeconds),
      }),
    )
    this.#claimed(rows)
    const full = room.filter(({ lane, most }) => rows.filter((row) => row.lane === lane.name).length === most)
    for (const { lane } of full) lane.claimsIn(cell.name).isCrowded = lane.place !== null
    return full.length > 0
  }

  /** Claims jobs of a shared lane, account by account. Returns whether there may be more. */
  async #claimInTurn(
    cell: Cell,
    lane: Lane<Job<Context>>,
    most: number,
    passedOver: readonly string[],
  ): Promise<boolean> {
    const claims = lane.claimsIn(cell.name)
    const rows = await this.#admitted(cell, (own) =>
      cell.query(claimInTurn, {
        node: this.#options.nodeId,
        buckets: own,
        lane: lane.name,
        most,
        lease: this.leaseSeconds,
        since: claims.lastAccount,
        passedOver,
      }),
    )
    this.#claimed(rows)
    const wasLast = rows.length === 0 && claims.lastAccount === nilUuid
    claims.lastAccount = rows.reduce((last, { account_id: id }) => (id !== null && id > last ? id : last), nilUuid)
    claims.isCrowded = !wasLast || passedOver.length > 0
    return !wasLast
  }

  /** Does something to jobs of a cell; where it refuses a bucket, which is being moved, to those of its other buckets. */
  async #admitted<R>(cell: Cell, ask: (buckets: readonly number[]) => Promise<R>): Promise<R> {
    const own = this.#options.db.bucketsIn(cell)
    try {
      return await ask(own)
    } catch (error) {
      if (!isMoving(error)) throw error
      this.#options.db.noticeMoved(error)
      const admitted = await cell.admitted()
      return ask(own.filter((bucket) => admitted === null || admitted.includes(bucket)))
    }
  }

  #claimed(rows: readonly Row[]): void {
    for (const row of rows) {
      const mine = this.#held.get(row.id)
      const lane = this.#lanes.get(row.lane)
      // Rescheduled for now and claimed again, before this node knew that its outcome was stored.
      if (mine?.isSettling) mine.next = row
      // A run of this node outlived its lease: it regains the lease and is not started twice.
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
    // Requests may come before the program has started completely; their jobs wait.
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

  /** Runs a job and stores its outcome; returns the row when it is to run here again, in this lane or another. */
  async #run(lane: Lane<Job<Context>>, row: Row): Promise<Row | null> {
    const held = this.#held.get(row.id)
    try {
      if (this.#context === null) throw new Error('a job ran before the program was started')
      const outcome = await attempt(this.#context, lane, row, this.#options)
      if (held) held.isSettling = true
      const moved = await this.#settle(lane.job, row, outcome)
      return moved ?? (this.#stopped ? null : (held?.next ?? null))
    } catch (error) {
      // The lease runs out and the job is claimed again: nothing is lost.
      this.#options.log.warn(
        { error, lane: row.lane, job: row.id },
        'outcome of a job not stored: the job runs again when its lease runs out; check the database',
      )
      return null
    } finally {
      this.#held.delete(row.id)
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
      payload: JSON.stringify(withTrace(payload, traceIn(row.payload))),
      delay_ms: BigInt(Math.max(0, Math.round(afterMs))),
      keep,
    })
    return keep && moved ? { ...row, lane, payload, attempt: row.attempt + 1, failures: 0 } : null
  }

  /** Extends the leases of jobs on this node. */
  async extend(jobs: readonly Pick<Row, 'bucket' | 'id' | 'attempt'>[]): Promise<void> {
    await this.#inParts(jobs, async (part) => {
      const cell = this.#options.db.cellOf(part[0]?.bucket ?? -1)
      await this.#admitted(cell, async (own) => {
        const isWhole = own === this.#options.db.bucketsIn(cell)
        const admitted = isWhole ? part : part.filter(({ bucket }) => own.includes(bucket))
        await cell.query(extend, {
          node: this.#options.nodeId,
          buckets: admitted.map(({ bucket }) => bucket),
          ids: admitted.map(({ id }) => id),
          attempts: admitted.map(({ attempt }) => attempt),
          leases: admitted.map(() => this.leaseSeconds),
        })
      })
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
