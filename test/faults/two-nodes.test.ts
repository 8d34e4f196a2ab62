// SPDX-License-Identifier: Apache-2.0
// Two nodes on one database behave as one installation: same keys, same money, same limits, and either may leave.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../eventually.ts'
import { examine } from './examine.ts'
import { type Account, chooseSeed, type Installation, randomFrom, startInstallation } from './harness.ts'
import { Load, notePrice } from './load.ts'
import { type Answered, Pipeline } from './pipeline.ts'

const seed = chooseSeed()
const random = randomFrom(seed)
let installation: Installation
before(async () => {
  installation = await startInstallation({ nodes: 2, database: 'shared' })
})
after(() => installation.stop())

test('one idempotency key sent to both nodes at once makes one note and one charge', async () => {
  const account = await installation.account()
  const keys = Array.from({ length: 20 }, (_, i) => `order-${i}`)
  const answers = await Promise.all(
    keys.map((key) =>
      Promise.all(
        [0, 1, 0, 1].map((node) =>
          installation
            .client(node, account.key)
            .post('/v1/notes', { text: 'Once' }, { headers: { 'idempotency-key': key } }),
        ),
      ),
    ),
  )
  for (const replies of answers) {
    const done = replies.filter(({ status }) => status === 200)
    assert.ok(done.length > 0)
    assert.equal(new Set(done.map(({ text }) => text)).size, 1, 'everybody reads the same answer')
    for (const { status, body } of replies.filter(({ status }) => status !== 200))
      assert.deepEqual([status, body.error.code], [409, 'REQUEST_IN_PROGRESS'])
  }
  const notes = new Set(answers.flat().flatMap(({ status, body }) => (status === 200 ? [body.note_id] : [])))
  assert.equal(notes.size, keys.length)
  assert.equal(await installation.balance(account), account.credited - keys.length * notePrice)
})

test('a wallet that can pay for 25 notes pays for 25, however many are asked of both nodes', async () => {
  const account = await installation.account({ credit: 25 * notePrice })
  const replies = await Promise.all(
    Array.from({ length: 80 }, (_, i) =>
      installation.client(i % 2, account.key).post('/v1/notes', { text: `Note ${i}` }),
    ),
  )
  const count = (status: number) => replies.filter((reply) => reply.status === status).length
  assert.deepEqual([count(200), count(402)], [25, 55])
  assert.ok(replies.every(({ status, body }) => status === 200 || body.error.code === 'INSUFFICIENT_BALANCE'))
  assert.equal(await installation.balance(account), 0)
})

test('a key revoked at one node stops at the other', async () => {
  const account = await installation.account()
  const { body: made } = await installation.client(0, account.key).post('/v1/api-keys', { name: 'Lost laptop' })
  assert.equal((await installation.client(1, made.key).get('/v1/auth/whoami')).status, 200)
  assert.equal((await installation.client(0, account.key).delete(`/v1/api-keys/${made.id}`)).status, 200)
  await eventually(
    async () => (await installation.client(1, made.key).get('/v1/auth/whoami')).status === 401,
    'the key to stop',
  )
})

test('a key may ask both nodes together 100 times in any second, not more', async (t) => {
  const account = await installation.account({ limitPerSecond: null })
  const [limit, windowMs] = [100, 1_000]
  const pipelines = await pipelinesOf(account)
  for (let round = 1; round <= 3; round++) {
    // What was admitted before counts no longer.
    await pause(windowMs)
    const sinceMs = performance.now()
    // Each node is asked more often than both may admit together.
    const answers = (await Promise.all(pipelines.map((one) => one.ask('GET', '/v1/auth/whoami', 150)))).flat()
    const admitted = answers.filter(({ status }) => status === 200)
    t.diagnostic(`${admitted.length} of ${answers.length} admitted in ${Math.round(performance.now() - sinceMs)} ms`)
    neverMore(admitted, limit, windowMs, sinceMs)
    assert.ok(admitted.length >= limit / 2, 'the limit is not half as strict again')
    for (const { status, retryAfterSeconds } of answers)
      assert.ok(status === 200 || (status === 429 && (retryAfterSeconds ?? 0) >= 1), `${status}`)
  }
  for (const one of pipelines) one.close()
})

test('a plan of 100 texts a minute has 100 for both nodes together, and all of them', async () => {
  const account = await installation.account({ plan: 'starter' })
  const [limit, windowMs] = [100, 60_000]
  const pipelines = await pipelinesOf(account)
  const admitted: Answered[] = []
  const sinceMs = performance.now()
  /** A text without a recipient is refused by what is asked after the limit, so it counts and goes nowhere. */
  const ask = async (one: Pipeline, times: number): Promise<void> => {
    const answers = await one.ask('POST', '/v1/sms/send', times)
    for (const { status } of answers) assert.ok(status === 422 || status === 429, `${status}`)
    admitted.push(...answers.filter(({ status }) => status === 422))
  }
  // All at once at first; then, what one node has left over, the other gets as soon as it asks for it.
  await Promise.all(pipelines.map((one) => ask(one, 30)))
  await eventually(async () => {
    for (const one of pipelines) await ask(one, 1)
    return admitted.length >= limit
  }, 'all of the limit to be admitted')
  for (const one of pipelines) await ask(one, 20)
  neverMore(admitted, limit, windowMs, sinceMs)
  for (const one of pipelines) one.close()
})

function pipelinesOf({ key }: Account): Promise<Pipeline[]> {
  return Promise.all([0, 1].map((node) => Pipeline.open(installation.origin(node), installation.ca, key)))
}

/**
 * Nothing was asked before `sinceMs`, and nothing is answered before it is admitted: whoever has more answers by any moment
 * than the windows until then may hold has let in too many, however late the answers come.
 */
function neverMore(admitted: readonly Answered[], limit: number, windowMs: number, sinceMs: number): void {
  const times = admitted.map(({ atMs }) => atMs).sort((a, b) => a - b)
  for (const [index, atMs] of times.entries()) {
    const windows = Math.floor((atMs - sinceMs) / windowMs) + 1
    assert.ok(index < limit * windows, `${index + 1} within ${Math.round(atMs - sinceMs)} ms`)
  }
}

test('a price set at one node is charged at the other', async () => {
  const account = await installation.account()
  const set = await installation
    .operator(0)
    .post('/v1/operator/prices', { area: 'notes', unit: 'note', account_id: account.id, amount: 2, currency: 'KES' })
  assert.equal(set.status, 201)
  await eventually(async () => {
    const { body } = await installation.client(1, account.key).post('/v1/notes', { text: 'Habari' })
    return Number(body.cost) === 2
  }, 'the new price to be charged')
})

test('a plan changed at one node holds at the other', async () => {
  assert.equal(
    (await installation.operator(0).post('/v1/operator/plans', { name: 'shared', limits: { sms: 500 } })).status,
    201,
  )
  const account = await installation.account({ plan: 'shared' })
  const limitAt = async (node: number): Promise<number> => {
    const { body } = await installation.client(node, account.key).get('/v1/limits')
    return body.limits.find(({ policy }: { policy: string }) => policy === 'plan-sms').limit
  }
  assert.equal(await limitAt(1), 500)
  assert.equal((await installation.operator(0).patch('/v1/operator/plans/shared', { limits: { sms: 7 } })).status, 200)
  await eventually(async () => (await limitAt(1)) === 7, 'the new limit to hold')
})

test('each job that falls due is taken by exactly one node', async (t) => {
  const account = await installation.account()
  const { body: note } = await installation.client(0, account.key).post('/v1/notes', { text: 'Again and again' })
  await installation.sql('create table notes.claims (job uuid, node uuid)')
  await installation.sql(
    `create function notes.note_claim() returns trigger language plpgsql as $$
     begin insert into notes.claims values (new.id, new.owner); return null; end $$`,
  )
  await installation.sql(
    `create trigger claims after update on work.jobs for each row when (new.owner is not null and new.attempt > old.attempt)
     execute function notes.note_claim()`,
  )
  const jobs = 600
  await installation.sql(
    `select work.add(array(select row(n.bucket, gen_random_uuid(), 'notes.publish', n.account_id, n.environment, null, null, 0,
                                      jsonb_build_object('note', n.id))::work.job_item
                             from notes.notes n, generate_series(1, ${jobs}) where n.id = $1))`,
    [note.note_id],
  )
  await eventually(
    async () => (await installation.sql('select 1 from work.jobs limit 1')).length === 0,
    'all jobs to be run',
  )
  const claims = await installation.sql<{ node: string; taken: number; jobs: number }>(
    `select node, count(*)::int as taken, (select count(distinct job) from notes.claims)::int as jobs from notes.claims group by node`,
  )
  t.diagnostic(`taken: ${claims.map(({ taken }) => taken).join(' and ')}`)
  assert.equal(claims[0]?.jobs, jobs)
  assert.equal(
    claims.reduce((sum, { taken }) => sum + taken, 0),
    jobs,
  )
  await installation.sql('drop trigger claims on work.jobs')
})

test('a node that is told to stop under load leaves nobody without an answer', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const load = new Load({
    installation,
    accounts: [await installation.account(), await installation.account()],
    random,
  })
  load.start()
  await eventually(async () => load.acknowledged > 100, 'the load to run')
  await pause(random() * 500)
  const stopped = installation.nodeId(0)
  assert.equal(await installation.stopNode(0), 0)
  const left = await installation.sql<{ id: string }>('select id from work.jobs where owner = $1', [stopped])
  assert.deepEqual(left, [], 'what it had not finished is handed back')
  const before = load.acknowledged
  await eventually(async () => load.acknowledged > before + 100, 'the other node to carry on')
  const findings = await examine(installation, load)
  assert.deepEqual(load.unexpected, [])
  const answers = [...load.answers.keys()].filter(
    (answer) => !['200', 'ECONNRESET', 'ECONNREFUSED', 'EPIPE'].includes(answer),
  )
  assert.deepEqual(answers, [], 'connections are closed, requests are not refused')
  assert.equal(load.replayed, 0, 'no request was carried out and then left without its answer')
  assert.deepEqual(
    [findings.unanswered, findings.lost, findings.unpublished, findings.miscounted, findings.stuck],
    [[], [], [], [], []],
  )
  assert.deepEqual(findings.ledger.problems, [])
  assert.deepEqual(installation.crashes, [])
})

test('housekeeping moves to another node, and the lease says so', async () => {
  const lease = async () => {
    const [row] = await installation.sql<{ owner: string; epoch: string }>(
      `select owner, epoch from platform.leases where name = 'maintenance'`,
    )
    return row
  }
  const before = await lease()
  assert.ok(before)
  await installation.startNode(0)
  const taken = await eventually(async () => {
    const now = await lease()
    return now?.owner === installation.nodeId(0) && now
  }, 'the new node to keep house')
  assert.ok(BigInt(taken.epoch) > BigInt(before.epoch))
})
