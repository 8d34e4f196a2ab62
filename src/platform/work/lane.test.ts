// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { eventually } from '../../../test/eventually.ts'
import { startWorkers } from '../../../test/workers.ts'
import { bucketOf, newUuid } from '../../kernel/ids.ts'
import { systemClock } from '../clock.ts'
import { createLog } from '../telemetry/log.ts'
import type { Job, Outcome, Run } from '../work.ts'
import { Work } from './worker.ts'

const Payload = Type.Object({ name: Type.String() })

interface Context {
  handle(run: Run<{ name: string }>): Promise<Outcome>
}

const trial: Job<Context, typeof Payload> = {
  lane: 'trial.run',
  role: 'dispatch',
  payload: Payload,
  concurrency: 4,
  retrySeconds: [3600],
  handle: (context, run) => context.handle(run),
}
const done: Outcome = { kind: 'done' }

const log = createLog({ level: 'silent', pretty: false, file: '/dev/null' })
const [ada = '', ben = ''] = Array.from({ length: 2 }, () => newUuid(systemClock.nowMs()))
const { database, db, committer, nodes } = await startWorkers<Context>()

test('who has little does not wait behind who has much, although that waited longer', async () => {
  await waiting('here', ada, 500)
  await waiting('here', ben, 5)
  const order: string[] = []
  const { work } = newNode(async ({ tenant }) => {
    order.push(tenant?.account === ben ? 'ben' : 'ada')
    return done
  })
  work.serve(trial, 'here')
  await eventually(async () => (await left()) === 0, 'all jobs to be done')
  assert.equal(order.length, 505)
  assert.ok(order.lastIndexOf('ben') < 50, `the last of the five was the ${order.lastIndexOf('ben')}th`)
})

test('an account that has its part of a lane gets no more of it, and what another makes starts at once', async () => {
  const started: string[] = []
  let release: () => void = () => undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const { work } = newNode(async ({ tenant }) => {
    started.push(tenant?.account === ben ? 'ben' : 'ada')
    if (tenant?.account === ada) await released
    return done
  })
  work.serve(trial, 'here')
  const owned = Array.from({ length: 10 }, () => {
    const job = work.prepare(trial, tenantOf(ada), { name: 'much' }, { place: 'here' })
    work.begin(job)
    return job.owner !== null
  })
  // Eight slots: half of them for one account alone.
  assert.deepEqual(
    owned,
    Array.from({ length: 10 }, (_, i) => i < 4),
  )
  const job = work.prepare(trial, tenantOf(ben), { name: 'little' }, { place: 'here' })
  assert.notEqual(job.owner, null)
  work.begin(job)
  release()
  await eventually(async () => started.includes('ben'), 'the other account’s job')
})

test('the jobs of a place are run by the node that serves it, and by the next one when it leaves', async () => {
  const ran: string[] = []
  const note = (name: string) => async () => {
    ran.push(name)
    return done
  }
  const [one, two] = [newNode(note('one')), newNode(note('two'))]
  two.work.serve(trial, 'there')
  one.work.serve(trial, 'here')
  const job = two.work.prepare(trial, tenantOf(ada), { name: 'for here' }, { place: 'here' })
  assert.equal(job.owner, null, 'it is left to whoever serves the place')
  await two.work.add(db, job)
  await eventually(async () => (await left()) === 0, 'it to be done')
  assert.deepEqual(ran, ['one'])
  await one.work.leave(trial, 'here')
  await waiting('here', ada, 1)
  two.work.serve(trial, 'here')
  await eventually(async () => (await left()) === 0, 'the next to be done')
  assert.deepEqual(ran, ['one', 'two'])
})

test('what another node has in hand stays with it when its place is served here, until its lease runs out', async () => {
  await waiting('here', ada, 3)
  await database.sql(
    `update work.jobs set owner = gen_random_uuid(), attempt = attempt + 1, run_at = now() + interval '1 hour'`,
  )
  await waiting('here', ben, 1)
  const ran: string[] = []
  const { work } = newNode(async ({ tenant, attempt }) => {
    ran.push(`${tenant?.account === ben ? 'ben' : 'ada'} ${attempt}`)
    return done
  })
  work.serve(trial, 'here')
  await eventually(async () => (await left()) === 3, 'what nobody has to be done')
  assert.deepEqual(ran, ['ben 1'])
  await database.sql('update work.jobs set run_at = now()')
  await eventually(async () => (await left()) === 0, 'the rest to be done')
  assert.deepEqual(ran, ['ben 1', 'ada 2', 'ada 2', 'ada 2'])
})

test('a job that moves goes on at its new place with what it was given, on this node or on another', async () => {
  const ran: string[] = []
  const follow =
    (node: string) =>
    async ({ place, payload, attempt }: Run<{ name: string }>): Promise<Outcome> => {
      ran.push(`${node}: ${payload.name} at ${place}, attempt ${attempt}`)
      if (place === null) return { kind: 'move', place: 'here', payload: { name: 'second' }, afterMs: 0 }
      if (place === 'here') return { kind: 'move', place: 'there', payload: { name: 'third' }, afterMs: 0 }
      return done
    }
  const [one, two] = [newNode(follow('one')), newNode(follow('two'), [])]
  one.work.serve(trial, 'here')
  two.work.serve(trial, 'there')
  const job = one.work.prepare(trial, tenantOf(ada), { name: 'first' })
  await one.work.add(db, job)
  one.work.begin(job)
  await eventually(async () => (await left()) === 0, 'it to be done')
  assert.deepEqual(ran, [
    'one: first at null, attempt 1',
    'one: second at here, attempt 2',
    'two: third at there, attempt 3',
  ])
})

function newNode(handle: Context['handle'], jobs = [trial]): { work: Work<Context> } {
  const node = newUuid(systemClock.nowMs())
  const work = new Work<Context>({ db, committer, clock: systemClock, log, nodeId: node, jobs, roles: ['dispatch'] })
  nodes.push(work)
  work.start({ handle })
  return { work }
}

function tenantOf(account: string) {
  return { bucket: bucketOf(account), account, environment: 'test' as const }
}

/** Inserts due jobs for the nodes that serve their place. */
async function waiting(place: string, account: string, many: number): Promise<void> {
  await database.sql(
    `select work.add(array(select row($1::smallint, gen_random_uuid(), 'trial.run@' || $2, $3::uuid, 'test', null, null, 0,
                                      '{"name": "waiting"}')::work.job_item from generate_series(1, $4::int)))`,
    [bucketOf(account), place, account, many],
  )
}

async function left(): Promise<number> {
  for (const node of nodes) node.poke()
  const [row] = await database.sql<{ count: number }>('select count(*)::int from work.jobs')
  return row?.count ?? 0
}
