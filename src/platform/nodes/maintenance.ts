// SPDX-License-Identifier: Apache-2.0
// Maintenance chores, run by one node at a time: partitions, old idempotency keys, retention. The lease holder works;
// when it dies another takes over. Most chores may run twice; only partitions are fenced, because two nodes creating
// the same table block each other.
import { buckets, firstUuidAt } from '../../kernel/ids.ts'
import { dayMs } from '../../kernel/time.ts'
import type { App } from '../app.ts'
import { atMost } from '../concurrency/at-most.ts'
import { gone } from '../db/merging.ts'
import { type AcrossTx, one, statement } from '../db.ts'
import { strandedLanes } from '../work/queues.ts'
import { fence, type Term } from './leases.ts'
import { forgetDeadNodes } from './nodes.ts'

const leaseSeconds = 30
const tickMs = 10_000
const usualMs = 10 * 60_000
/** Times a stopping node waits for a chore. Chores may be interrupted anywhere: the next node restarts them. */
const finishMs = 5_000

/** Chore: periodic task of one node at a time. */
export interface Chore {
  name: string
  /** Every ten minutes by default. */
  everyMs?: number
  run(app: App, lease: Term): Promise<void>
}

/** Lock timeout: a waiting table lock blocks everyone behind it; the next round retries. */
const lockTimeoutMs = 2_000

const ensurePartitions = statement.everywhere<{ parent: string; period: string; ahead: number; fill: number }, object>(
  'platform.ensure_partitions',
  'select platform.ensure_partitions($parent::text, $period::text, $ahead::int, $fill::int)',
)

const dropPartitions = statement.everywhere<{ parent: string; before: Date }, { dropped: number }>(
  'platform.drop_partitions',
  'select platform.drop_partitions($parent::text, $before::timestamptz) as dropped',
)

const purgeKeys = statement.everywhere<{ buckets: readonly number[]; most: number }, { gone: number }>(
  'platform.purge_idempotency',
  `with gone as (
     delete from platform.idempotency
      where bucket = any($buckets::smallint[])
        and ctid = any(array(select k.ctid from platform.idempotency k
                              where k.bucket = any($buckets::smallint[]) and k.created_at < now() - interval '25 hours'
                              limit $most))
     returning 1
   ) select count(*)::int as gone from gone`,
  gone,
)

const purgeTestRequests = statement.everywhere<
  { buckets: readonly number[]; before: string; most: number },
  { gone: number }
>(
  'platform.purge_test_requests',
  `with gone as (
     delete from platform.requests r
      using (select o.bucket, o.account_id, o.environment, o.id from platform.requests o
              where o.bucket = any($buckets::smallint[]) and o.environment = 'test' and o.id < $before::uuid
              limit $most) old
      where (r.bucket, r.account_id, r.environment, r.id) = (old.bucket, old.account_id, old.environment, old.id)
        and r.id < $before::uuid
     returning 1
   ) select count(*)::int as gone from gone`,
  gone,
)

/** Table partitioned by the time in its ids. */
export interface Partitioned {
  readonly table: string
  readonly period: 'day' | 'month'
  readonly ahead: number
  /** Retention of rows: days, a setting, or for ever (null). */
  readonly keepDays: number | 'PAMOJA_EVENT_DAYS' | null
  /** Fill factor, for rows that are soon updated. */
  readonly fill?: number
}

/** Partitioned tables of the platform; the ledger and the areas declare theirs. */
export const platformPartitions: readonly Partitioned[] = [
  { table: 'platform.audit', period: 'month', ahead: 2, keepDays: null },
  { table: 'platform.requests', period: 'day', ahead: 3, keepDays: 30 },
  { table: 'platform.frames', period: 'day', ahead: 3, keepDays: 30 },
  { table: 'events.events', period: 'month', ahead: 2, keepDays: 'PAMOJA_EVENT_DAYS' },
]

const testRequestDays = 7
const purgedAtOnce = 10_000

/** Chores of the platform, including the partitions of all areas. */
export const platformChores = (partitioned: readonly Partitioned[]): readonly Chore[] => [
  {
    name: 'stranded jobs',
    everyMs: 60_000,
    async run({ db, log }) {
      for (const { lane, jobs } of await strandedLanes(db))
        log.error(
          { lane, jobs },
          'jobs wait in a queue that no node serves: start a node with the role for it; see GET /v1/operator/jobs',
        )
    },
  },
  { name: 'partitions', run: (app, lease) => keepPartitions(app, lease, partitioned) },
  {
    name: 'retention of idempotency keys',
    run: ({ db }) => inBatches((most) => db.query(purgeKeys, { buckets, most })),
  },
  {
    name: 'retention of test requests',
    run: ({ db, clock }) => {
      const before = firstUuidAt(clock.nowMs() - testRequestDays * dayMs)
      return inBatches((most) => db.query(purgeTestRequests, { buckets, before, most }))
    },
  },
  { name: 'retention of files', run: ({ storage }) => storage.tidy() },
  { name: 'retention of nodes', run: ({ db }) => forgetDeadNodes(db) },
]

/** Deletes in batches: after an outage there is more than one statement can do in time. */
async function inBatches(purge: (most: number) => Promise<{ gone: number }[]>): Promise<void> {
  while ((await one(purge(purgedAtOnce))).gone >= purgedAtOnce);
}

async function keepPartitions(
  { db, clock, config }: App,
  lease: Term,
  partitioned: readonly Partitioned[],
): Promise<void> {
  for (const { table, period, ahead, keepDays, fill = 100 } of partitioned) {
    const inCell = async (tx: AcrossTx): Promise<void> => {
      await fence(tx, lease)
      await tx.query(ensurePartitions, { parent: table, period, ahead, fill })
      if (keepDays === null) return
      const days = typeof keepDays === 'number' ? keepDays : config[keepDays]
      await tx.query(dropPartitions, { parent: table, before: new Date(clock.nowMs() - days * dayMs) })
    }
    const works = db.cells.map((only) => db.acrossTx(inCell, { lockTimeoutMs, only }))
    const failed = (await Promise.allSettled(works)).find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
  }
}

/** Whether a chore is due in this round; a round slightly early counts. */
export function isDue({ everyMs = usualMs }: Chore, sinceMs: number): boolean {
  return sinceMs >= everyMs - tickMs / 2
}

/** Runs chores on this node. Returns the stop function, which waits a while for a chore in progress. */
export function runMaintenance(app: App, chores: readonly Chore[]): () => Promise<void> {
  const lastRun = new Map<Chore, number>()
  let stopped = false
  let running: Promise<void> | null = null
  const tick = (): void => {
    running ??= round().finally(() => {
      running = null
    })
  }
  const timer = setInterval(tick, tickMs)
  timer.unref()
  tick()
  return async () => {
    stopped = true
    clearInterval(timer)
    if (running) await atMost(finishMs, running, undefined)
  }

  async function round(): Promise<void> {
    try {
      const nowMs = performance.now()
      const due = chores.filter((chore) => isDue(chore, nowMs - (lastRun.get(chore) ?? Number.NEGATIVE_INFINITY)))
      if (due.length === 0) return
      const lease = await app.leases.tryAcquire('maintenance', leaseSeconds)
      if (!lease) return
      for (const chore of due) {
        if (lease.signal.aborted || stopped) break
        await chore
          .run(app, lease)
          .catch((error) =>
            app.log.error(
              { error, chore: chore.name },
              'maintenance task failed: it runs again at its next time; check the error if this repeats',
            ),
          )
        lastRun.set(chore, nowMs)
      }
      await lease.release()
    } catch (error) {
      app.log.warn({ error }, 'maintenance not done: tried again; check the database if this repeats')
    }
  }
}
