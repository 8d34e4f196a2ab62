// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { Type } from 'typebox'
import { startWorkers } from '../../test/workers.ts'
import { eventually, startWorld } from '../../test/world.ts'
import { bucketOf, idOf, newUuid } from '../kernel/ids.ts'
import { systemClock } from './clock.ts'
import { Database, statement } from './db.ts'
import { createLog } from './telemetry/log.ts'
import type { Tenant } from './tenant.ts'
import { defaultLeaseSeconds, leaseSetting } from './work/lease.ts'
import { failedJobs } from './work/queues.ts'
import { Work } from './work/worker.ts'
import type { Job, NewJob, Outcome, Run } from './work.ts'

interface Row {
  id: string
  lane: string
  owner: string | null
  attempt: number
  failures: number
  last_error: string | null
  dead: boolean
  /** Seconds until due; negative when overdue. */
  due_in: number
}

const Payload = Type.Object({ name: Type.String() })
type Trial = Job<Context, typeof Payload>

/** Handlers are set by each test, by the name in the payload. */
interface Context {
  node: string
}
const handlers = new Map<string, (context: Context, run: Run<{ name: string }>) => Promise<Outcome>>()

const trial: Trial = {
  lane: 'trial.run',
  role: 'dispatch',
  payload: Payload,
  concurrency: 3,
  retrySeconds: [3600, 7200],
  handle: (context, run) => handlers.get(run.payload.name)?.(context, run) ?? Promise.resolve({ kind: 'done' }),
}

const log = createLog({ level: 'silent', pretty: false, file: '/dev/null' })
const account = newUuid(systemClock.nowMs())
const tenant: Tenant = { bucket: bucketOf(account), account, environment: 'test' }
const { database, db, committer, nodes } = await startWorkers<Context>()
afterEach(() => handlers.clear())

test('a job starts on the node that made it, from memory, as soon as it is written', async () => {
  const { work, node } = newNode()
  const seen = signal<Run<{ name: string }>>()
  const release = signal<void>()
  handlers.set('born', async (_context, run) => {
    seen.resolve(run)
    await release.promise
    return { kind: 'done' }
  })
  const job = work.prepare(trial, tenant, { name: 'born' })
  await work.add(db, job)
  const born = await rowOf(job)
  assert.equal(born?.owner, node)
  assert.equal(born?.attempt, 1)
  assert.ok(born && born.due_in > 5 && born.due_in <= defaultLeaseSeconds, 'leased to the node that made it')
  // Its lease keeps it from being polled: only its own node can start it, once complete.
  work.begin(job)
  work.start({ node })
  const run = await seen.promise
  assert.deepEqual({ ...run.tenant }, { ...tenant })
  assert.equal(run.attempt, 1)
  release.resolve()
  await gone(job)
})

test('a job for later waits in the table until it is due, on whichever node has time', async () => {
  const maker = newNode()
  const job = maker.work.prepare(trial, tenant, { name: 'later' }, { key: 'k', delayMs: 3_600_000 })
  await maker.work.add(db, job)
  maker.work.begin(job)
  const row = await rowOf(job)
  assert.equal(row?.owner, null)
  assert.equal(row?.attempt, 0)
  assert.ok(row && row.due_in > 3500)
  const ran = signal<Run<{ name: string }>>()
  handlers.set('later', async (_context, run) => {
    ran.resolve(run)
    return { kind: 'done' }
  })
  await hurry(job)
  newNode({ started: true })
  assert.equal((await ran.promise).key, 'k')
  await gone(job)
})

test('the jobs of a dead node are taken over when their lease has run out, and not before', async () => {
  const dead = newNode()
  const job = dead.work.prepare(trial, tenant, { name: 'orphan' })
  await dead.work.add(db, job)
  const ran = signal<Run<{ name: string }>>()
  handlers.set('orphan', async (_context, run) => {
    ran.resolve(run)
    return { kind: 'done' }
  })
  const living = newNode({ started: true })
  // Another due job is claimed by a poll that sees both.
  const other = dead.work.prepare(trial, null, { name: 'due' }, { delayMs: 1 })
  await living.work.add(db, other)
  await gone(other)
  assert.equal((await rowOf(job))?.owner, dead.node)
  await hurry(job)
  assert.equal((await ran.promise).attempt, 2)
  await gone(job)
})

test('a job that fails is tried as its table says, then put aside for a person', async () => {
  newNode({ started: true })
  handlers.set('fails', async (_context, { failures }) => ({ kind: 'retry', reason: `failure ${failures + 1}` }))
  const job = await due('fails')
  for (const [n, seconds] of [
    [1, 3600],
    [2, 7200],
  ] as const) {
    const row = await until(async () => {
      const found = await rowOf(job)
      return found?.failures === n && found
    }, `failure ${n}`)
    assert.equal(row.owner, null)
    assert.equal(row.last_error, `failure ${n}`)
    assert.ok(row.due_in > seconds * 0.79 && row.due_in <= seconds * 1.2, `waits ${row.due_in} s`)
    await hurry(job)
  }
  const row = await until(async () => {
    const found = await rowOf(job)
    return found?.dead && found
  }, 'the job to be put aside')
  assert.equal(row.last_error, 'failure 3')
  const [listed] = await failedJobs(db, { limit: 10, descending: true, after: null }, 'trial.run')
  assert.equal(listed?.id, job.id)
})

test('a handler may say itself how long to wait', async () => {
  newNode({ started: true })
  handlers.set('own', async () => ({ kind: 'retry', reason: 'busy', afterMs: 600_000 }))
  const job = await due('own')
  const row = await until(async () => {
    const found = await rowOf(job)
    return found?.failures === 1 && found
  }, 'the failure')
  assert.ok(row.due_in > 590 && row.due_in < 601)
})

test('a handler that throws is a failure with the words of its error', async () => {
  newNode({ started: true })
  handlers.set('throws', async () => {
    throw new Error('the carrier hung up')
  })
  const job = await due('throws')
  const row = await until(async () => {
    const found = await rowOf(job)
    return found?.failures === 1 && found
  }, 'the failure')
  assert.equal(row.last_error, 'the carrier hung up')
})

test('a payload of another version is a failure, not a crash', async () => {
  const job = await due('wrong')
  await database.sql(`update work.jobs set payload = '{"nome": 1}' where id = $1`, [job.id])
  newNode({ started: true })
  const row = await until(async () => {
    const found = await rowOf(job)
    return found?.failures === 1 && found
  }, 'the failure')
  assert.match(row.last_error ?? '', /payload/)
})

test('running again is not failing: it may happen more often than the table is long', async () => {
  newNode({ started: true })
  let runs = 0
  handlers.set('again', async () =>
    ++runs <= 6 ? { kind: 'again', afterMs: 0 } : { kind: 'retry', reason: 'at last' },
  )
  const job = await due('again')
  const row = await until(async () => {
    const found = await rowOf(job)
    return found?.last_error === 'at last' && found
  }, 'the failure')
  assert.equal(runs, 7)
  assert.equal(row.attempt, 7)
  assert.equal(row.failures, 1)
  assert.equal(row.dead, false)
})

test('a job that is claimed while its run is being settled is begun, not left until its lease runs out', async () => {
  const { work } = newNode({ started: true })
  const wanted = 300
  let runs = 0
  handlers.set('eager', async () =>
    ++runs < wanted ? { kind: 'again', afterMs: 0 } : { kind: 'retry', reason: 'at last' },
  )
  const job = await due('eager')
  const row = await until(async () => {
    work.poke()
    const found = await rowOf(job)
    return found?.last_error === 'at last' && found
  }, 'the failure')
  assert.deepEqual([runs, row.attempt], [wanted, wanted], 'no claim was for nothing')
})

test('a run that does not fail forgets the failures before it', async () => {
  newNode({ started: true })
  const outcomes: Outcome[] = [
    { kind: 'retry', reason: 'one', afterMs: 0 },
    { kind: 'retry', reason: 'two', afterMs: 0 },
    { kind: 'again', afterMs: 0 },
    { kind: 'retry', reason: 'three', afterMs: 3_600_000 },
  ]
  handlers.set('recovers', async () => outcomes.shift() ?? { kind: 'done' })
  const job = await due('recovers')
  const row = await until(async () => {
    const found = await rowOf(job)
    return found?.last_error === 'three' && found
  }, 'the last failure')
  assert.equal(row.failures, 1)
})

test('a handler that settled its job itself is believed', async () => {
  newNode({ started: true })
  handlers.set('removes', async (_context, run) => {
    await database.sql('delete from work.jobs where id = $1', [run.id])
    return { kind: 'settled' }
  })
  handlers.set('moves', async (_context, run) => {
    await database.sql(`update work.jobs set owner = null, run_at = now() + interval '1 day' where id = $1`, [run.id])
    return { kind: 'settled' }
  })
  const removed = await due('removes')
  const moved = await due('moves')
  await gone(removed)
  await until(async () => ((await rowOf(moved))?.due_in ?? 0) > 86_000, 'the job to be moved')
  const done = await due('done')
  await gone(done)
  assert.equal((await rowOf(moved))?.attempt, 1)
})

test('a long run keeps its lease, and nobody else begins it meanwhile', async () => {
  newNode({ started: true })
  newNode({ started: true })
  let runs = 0
  const release = signal<void>()
  handlers.set('long', async () => {
    runs++
    await release.promise
    return { kind: 'done' }
  })
  const job = await due('long')
  await until(async () => runs === 1, 'the run')
  assert.ok(((await rowOf(job))?.due_in ?? 0) <= defaultLeaseSeconds, 'leased no longer than a new row is')
  await database.sql(`update work.jobs set run_at = now() + interval '3 seconds' where id = $1`, [job.id])
  await until(async () => ((await rowOf(job))?.due_in ?? 0) > 4, 'the lease to be extended')
  release.resolve()
  await gone(job)
  assert.equal(runs, 1)
})

test('a lease is not extended over a job that is settled already', async () => {
  newNode({ started: true })
  const release = signal<void>()
  const running = new Set<string>()
  for (const name of ['settled', 'running'])
    handlers.set(name, async () => {
      running.add(name)
      await release.promise
      return { kind: 'settled' }
    })
  const settled = await due('settled')
  const other = await due('running')
  await until(async () => running.size === 2, 'both to run')
  await database.sql(`update work.jobs set owner = null, run_at = 'infinity' where id = $1`, [settled.id])
  await database.sql(`update work.jobs set run_at = now() + interval '3 seconds' where id = $1`, [other.id])
  await until(async () => ((await rowOf(other))?.due_in ?? 0) > 4, 'the other’s lease to be extended')
  assert.equal((await rowOf(settled))?.dead, true)
  release.resolve()
})

test('a node that lost its lease without noticing settles nothing', async () => {
  const slow = newNode({ started: true })
  const ran: string[] = []
  const release = new Map([[slow.node, signal<void>()]])
  handlers.set('fenced', async (context) => {
    ran.push(context.node)
    await release.get(context.node)?.promise
    return { kind: 'done' }
  })
  // As many as may run at once, so that it polls for no more.
  const job = await due('fenced')
  await due('fenced')
  await due('fenced')
  await until(async () => ran.length === 3, 'the first runs')
  const quick = newNode()
  release.set(quick.node, signal<void>())
  quick.work.start({ node: quick.node })
  await until(async () => {
    // The slow node is alive and extends its lease: expire it until the other has it.
    if ((await rowOf(job))?.owner === slow.node) await hurry(job)
    return ran.includes(quick.node)
  }, 'the run of the other node')
  release.get(slow.node)?.resolve()
  await slow.work.stop(30_000)
  const row = await rowOf(job)
  assert.equal(row?.owner, quick.node)
  assert.equal(row?.attempt, 2)
  assert.equal((await database.sql('select 1 from work.jobs')).length, 1, 'what it still held it settled')
  release.get(quick.node)?.resolve()
  await gone(job)
})

test('a run that outlives its lease on a node nobody replaced is not begun twice there', async () => {
  newNode({ started: true })
  let runs = 0
  let attempt = 0
  const release = signal<void>()
  handlers.set('outlives', async (_context, run) => {
    runs++
    await release.promise
    attempt = run.attempt
    return { kind: 'done' }
  })
  const job = await due('outlives')
  await until(async () => runs === 1, 'the run')
  await until(async () => {
    if ((await rowOf(job))?.attempt === 1) await hurry(job)
    return (await rowOf(job))?.attempt === 2
  }, 'the lease to be taken again')
  // The node knows of it once it extends the lease it took.
  await database.sql(`update work.jobs set run_at = now() + interval '3 seconds' where id = $1 and attempt = 2`, [
    job.id,
  ])
  await until(async () => ((await rowOf(job))?.due_in ?? 0) > 4, 'the lease to be extended')
  release.resolve()
  await gone(job)
  assert.equal(runs, 1)
  assert.equal(attempt, 2, 'what the handler settles by itself counts too')
})

test('a job that is moved has all its attempts again, also where it goes on from memory', async () => {
  newNode({ started: true })
  handlers.set('stumbles', async (_context, { failures }) =>
    failures === 0
      ? { kind: 'retry', reason: 'once', afterMs: 0 }
      : { kind: 'move', place: null, payload: { name: 'arrives' }, afterMs: 0 },
  )
  const arrived = signal<number>()
  handlers.set('arrives', async (_context, { failures }) => {
    arrived.resolve(failures)
    return { kind: 'done' }
  })
  const job = await due('stumbles')
  assert.equal(await arrived.promise, 0)
  await gone(job)
})

test('no more jobs of a lane run at once than it allows', async () => {
  const { work } = newNode({ started: true })
  const release = signal<void>()
  let now = 0
  let most = 0
  handlers.set('crowd', async () => {
    most = Math.max(most, ++now)
    await release.promise
    now--
    return { kind: 'done' }
  })
  const jobs = Array.from({ length: 30 }, (_, n) => work.prepare(trial, tenant, { name: 'crowd' }, { delayMs: n % 2 }))
  for (const job of jobs) {
    await work.add(db, job)
    work.begin(job)
  }
  await until(async () => now === 3, 'as many to run as may')
  release.resolve()
  await until(async () => (await database.sql('select 1 from work.jobs')).length === 0, 'all to be done')
  assert.equal(most, 3)
})

test('a stopping node hands back what it has not finished', async () => {
  const leaving = newNode({ started: true })
  const release = signal<void>()
  const ran: string[] = []
  handlers.set('unfinished', async (context) => {
    ran.push(context.node)
    if (context.node === leaving.node) await release.promise
    return { kind: 'done' }
  })
  const jobs: NewJob[] = []
  for (let n = 0; n < 5; n++) {
    const job = leaving.work.prepare(trial, tenant, { name: 'unfinished' })
    await leaving.work.add(db, job)
    leaving.work.begin(job)
    jobs.push(job)
  }
  await until(async () => ran.length === 3, 'as many to run as may')
  assert.deepEqual(leaving.work.load(), { running: 3, waiting: 2 })
  await leaving.work.stop(0)
  for (const job of jobs) {
    const row = await rowOf(job)
    assert.equal(row?.owner, null)
    assert.ok(row && row.due_in <= 0)
  }
  assert.equal(leaving.work.prepare(trial, tenant, { name: 'unfinished' }).owner, null, 'it takes no more')
  const other = newNode({ started: true })
  for (const job of jobs) await gone(job)
  assert.equal(ran.filter((node) => node === other.node).length, 5)
  release.resolve()
})

test('a stopping node waits for what runs', async () => {
  const { work } = newNode({ started: true })
  const release = signal<void>()
  const begun = signal<void>()
  handlers.set('finishes', async () => {
    begun.resolve()
    await release.promise
    return { kind: 'done' }
  })
  const job = await due('finishes')
  await begun.promise
  const stopped = work.stop(30_000)
  release.resolve()
  await stopped
  assert.equal(await rowOf(job), undefined)
})

test('a node leaves the jobs of other roles alone', async () => {
  newNode({ started: true, roles: ['api'] })
  const job = await due('for dispatch')
  newNode({ started: true, roles: ['api', 'webhooks'] })
  const maker = newNode({ roles: ['api'] })
  assert.equal(maker.work.prepare(trial, tenant, { name: 'x' }).owner, null, 'it leaves the start to others')
  assert.equal((await rowOf(job))?.attempt, 0)
  newNode({ started: true })
  await gone(job)
})

test('a test account’s clock brings its waiting jobs forward, and nothing else', async () => {
  const { work } = newNode()
  const stranger: Tenant = { ...tenant, account: newUuid(systemClock.nowMs()) }
  const make = async (who: Tenant, delayMs: number): Promise<NewJob> => {
    const job = work.prepare(trial, who, { name: 'clock' }, { delayMs })
    await work.add(db, job)
    return job
  }
  const waiting = await make(tenant, 7_200_000)
  const foreign = await make(stranger, 7_200_000)
  const live = await make({ ...tenant, environment: 'live' }, 7_200_000)
  const leased = await make(tenant, 0)
  const dead = await make(tenant, 7_200_000)
  await database.sql(`update work.jobs set run_at = 'infinity' where id = $1`, [dead.id])
  await work.bringForward(db, tenant, 3_600_000)
  const dueIn = async (job: NewJob): Promise<number> => (await rowOf(job))?.due_in ?? 0
  assert.ok((await dueIn(waiting)) <= 3600 && (await dueIn(waiting)) > 3500)
  assert.ok((await dueIn(foreign)) > 7100)
  assert.ok((await dueIn(live)) > 7100)
  assert.ok((await dueIn(leased)) > 5, 'what is being run keeps its lease')
  assert.equal((await rowOf(dead))?.dead, true)
})

test('an operator sees what was put aside, runs it again or gives it up', async () => {
  const world = await startWorld()
  try {
    const insert = `insert into work.jobs (bucket, id, lane, run_at, account_id, environment, attempt, failures, payload, last_error)
                    values ($1, $2, 'notes.publish', 'infinity', $3, 'test', 4, 4, '{"note": "00000000-0000-0000-0000-000000000000"}', 'gave up')`
    const ids = [newUuid(systemClock.nowMs()), newUuid(systemClock.nowMs())]
    const { beside } = world.app.db.cellOf(tenant.bucket)
    for (const id of ids) await beside.query(insert, [tenant.bucket, id, account])
    const { body: list } = await world.operator.get('/v1/operator/jobs?lane=notes.publish')
    assert.deepEqual(
      list.data.map(({ id }: { id: string }) => id),
      ids.map((id) => idOf('job', id)).reverse(),
    )
    assert.equal(list.data[0].last_error, 'gave up')
    assert.equal(list.data[0].attempts, 4)
    assert.equal(list.data[0].account_id, idOf('account', account))
    const [first = '', second = ''] = ids.map((id) => idOf('job', id))

    const retried = await world.operator.post(`/v1/operator/jobs/${first}/retry`)
    assert.equal(retried.status, 200)
    assert.equal(retried.body.status, 'queued')
    const left = async (id: string | undefined) =>
      (await beside.query('select from work.jobs where id = $1', [id])).rows
    await until(async () => (await left(ids[0])).length === 0, 'the job to be done this time')
    assert.equal((await world.operator.post(`/v1/operator/jobs/${first}/retry`)).status, 404)

    const discarded = await world.operator.delete(`/v1/operator/jobs/${second}`)
    assert.equal(discarded.body.status, 'discarded')
    assert.equal((await left(ids[1])).length, 0)
    assert.equal((await world.operator.delete(`/v1/operator/jobs/${second}`)).status, 404)
    assert.equal((await world.operator.get('/v1/operator/jobs')).body.data.length, 0)
    const { body: audit } = await world.operator.get('/v1/audit-log')
    assert.deepEqual(
      audit.data.slice(0, 2).map(({ action }: { action: string }) => action),
      ['job.discard', 'job.retry'],
    )
  } finally {
    await world.stop()
  }
})

test('the lease is a setting, which SQL and the node that polls go by', async () => {
  const world = await startWorld({ PAMOJA_JOB_LEASE_SECONDS: 3, PAMOJA_ROLES: ['api'] })
  try {
    const { work } = world.app
    assert.equal(work.leaseSeconds, 3)
    const asked = { url: world.databaseUrl, poolSize: 1, statementTimeoutMs: 0, applicationName: 'test' }
    const seconds = async (sessionSettings: Readonly<Record<string, string>>) => {
      const pool = new Database({ ...asked, sessionSettings }, () => undefined)
      const [row] = await pool.query(currentLease, {})
      await pool.close()
      return row?.seconds
    }
    assert.equal(await seconds(leaseSetting(3)), 3)
    assert.equal(await seconds(leaseSetting(defaultLeaseSeconds)), defaultLeaseSeconds)
    const [own] = await world.app.db.query(currentLease, {})
    assert.equal(own?.seconds, 3)
  } finally {
    await world.stop()
  }
})

test('a job that was revived has all its attempts again', async () => {
  newNode({ started: true })
  handlers.set('revived', async () => ({ kind: 'retry', reason: 'still' }))
  const job = await due('revived')
  await database.sql(`update work.jobs set run_at = now(), failures = 0, attempt = 9 where id = $1`, [job.id])
  const row = await until(async () => {
    const found = await rowOf(job)
    return found?.failures === 1 && found
  }, 'the failure')
  assert.equal(row.dead, false)
})

const currentLease = statement.home<object, { seconds: number }>(
  'test.current_lease',
  'select extract(epoch from work.lease())::int as seconds',
)

function newNode({ started = false, roles = ['dispatch'] }: { started?: boolean; roles?: string[] } = {}): {
  work: Work<Context>
  node: string
} {
  const node = newUuid(systemClock.nowMs())
  const work = new Work<Context>({ db, committer, clock: systemClock, log, nodeId: node, jobs: [trial], roles })
  if (started) work.start({ node })
  nodes.push(work)
  return { work, node }
}

/** Inserts a due job for any node that polls. */
async function due(name: string): Promise<NewJob> {
  const maker = new Work<Context>({
    db,
    committer,
    clock: systemClock,
    log,
    nodeId: newUuid(systemClock.nowMs()),
    jobs: [],
    roles: [],
  })
  const job = maker.prepare(trial, tenant, { name })
  await maker.add(db, job)
  return job
}

async function hurry(job: NewJob): Promise<void> {
  await database.sql('update work.jobs set run_at = now() where bucket = $1 and id = $2', [job.bucket, job.id])
}

async function rowOf({ bucket, id }: NewJob): Promise<Row | undefined> {
  const [row] = await database.sql<Row>(
    `select id, lane, owner, attempt, failures, last_error, run_at = 'infinity' as dead,
            (case when run_at < 'infinity' then extract(epoch from run_at - clock_timestamp()) else 0 end)::float8 as due_in
       from work.jobs where bucket = $1 and id = $2`,
    [bucket, id],
  )
  return row
}

/** Polls a condition, and poke the work poll meanwhile. */
function until<T>(look: () => Promise<T | null | undefined | false>, what: string): Promise<T> {
  return eventually(() => {
    for (const node of nodes) node.poke()
    return look()
  }, what)
}

async function gone(job: NewJob): Promise<void> {
  await until(async () => (await rowOf(job)) === undefined, 'the job to be done')
}

/** SQL in another database than this file's. */

function signal<T>(): { promise: Promise<T>; resolve(value: T): void } {
  let resolve: (value: T) => void = () => undefined
  const promise = new Promise<T>((done) => {
    resolve = done
  })
  return { promise, resolve: (value) => resolve(value) }
}
