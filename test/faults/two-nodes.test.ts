// SPDX-License-Identifier: Apache-2.0
// Two nodes on one database behave as one installation: same keys, same money, same limits, and either may leave.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../eventually.ts'
import { examine } from './examine.ts'
import { chooseSeed, type Installation, randomFrom, startInstallation } from './harness.ts'
import { Load, notePrice } from './load.ts'

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

test('a key may ask both nodes together 20 times in any second, not more', async (t) => {
  // So few that a machine which is busy with other things still asks more often.
  const account = await installation.account({ limitPerSecond: 20 })
  const windowMs = 1_000
  const admitted: { fromMs: number; toMs: number }[] = []
  const ask = async (node: number): Promise<number> => {
    const fromMs = performance.now()
    const { status, headers } = await installation.client(node, account.key).get('/v1/auth/whoami')
    if (status === 200) admitted.push({ fromMs, toMs: performance.now() })
    else assert.ok(status === 429 && Number(headers['retry-after']) >= 1)
    return status
  }
  const asked: Promise<number>[] = []
  for (let i = 0; i < 160; i++) {
    asked.push(ask(0), ask(1))
    await pause(2)
  }
  const statuses = await Promise.all(asked)
  t.diagnostic(`${admitted.length} of ${statuses.length} admitted`)
  assert.ok(statuses.includes(429))
  assert.ok(admitted.length >= 10, 'the limit is not half as strict again')
  // An admission happened somewhere between question and answer, so only a breach that is beyond doubt counts as one.
  for (const { fromMs: startMs } of admitted) {
    const within = admitted.filter(({ fromMs, toMs }) => fromMs >= startMs && toMs - startMs < windowMs)
    assert.ok(within.length <= 20, `${within.length} within a second`)
  }
})

test('a price set at one node is charged at the other', async () => {
  const account = await installation.account()
  const set = await installation
    .operator(0)
    .post('/v1/operator/prices', { area: 'notes', unit: 'note', account_id: account.id, amount: 2, currency: 'KES' })
  assert.equal(set.status, 200)
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
