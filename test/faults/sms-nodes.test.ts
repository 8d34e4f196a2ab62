// SPDX-License-Identifier: Apache-2.0
// Two nodes and the binds they share: each is open on one of them, messages find their way to it from either, and when its
// node is killed the other goes on, with the promise of each route about what was under way.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { SmscSimulator } from '../../src/simulators/smsc.ts'
import { eventually } from '../eventually.ts'
import { type Account, type Installation, startInstallation } from './harness.ts'

const sessions = 2
const window = 5
const price = 0.8
/** Text -> over which binds handsets got it. */
const arrivals = new Map<string, string[]>()
let first: SmscSimulator
let second: SmscSimulator
let installation: Installation

before(async () => {
  const onMessage = ({ text, systemId }: { text: string; systemId: string }) =>
    arrivals.set(text, [...(arrivals.get(text) ?? []), systemId])
  first = await SmscSimulator.start({ accounts: { first: 'secret' }, delayMs: 50, onMessage })
  second = await SmscSimulator.start({ accounts: { second: 'secret' }, delayMs: 50, onMessage })
  installation = await startInstallation({
    nodes: 2,
    database: 'shared',
    environment: { PAMOJA_RATE_LIMITS: 'off' },
  })
  for (const [name, { port }] of Object.entries({ first, second })) {
    const bind = { name, host: '127.0.0.1', port, system_id: name, password: 'secret', sessions, window }
    const made = await installation.operator().post('/v1/operator/sms/binds', {
      ...bind,
      // Nothing is taken for unanswered here unless its node was killed.
      response_timeout_seconds: 60,
    })
    assert.equal(made.status, 201, made.text)
    await eventually(async () => (await ownerOf(name)) !== null, `${name} to be open`)
  }
  await newRoute({})
})
after(async () => {
  await installation.stop()
  await first.stop()
  await second.stop()
})

test('each bind is open on one node, and messages from either node go over it', async () => {
  assert.notEqual(await ownerOf('first'), await ownerOf('second'), 'the nodes share the binds')
  const ada = await installation.account()
  const texts = await sendAll(ada, 'either', 20)
  await ended(ada, 'delivered', 20)
  for (const text of texts) assert.deepEqual(arrivals.get(text), ['first'])
  assert.deepEqual([first.sessions.size, second.sessions.size], [sessions, sessions])
})

test('a message whose bind is down goes over one that the other node has open', async () => {
  const ada = await installation.account()
  first.refuseWith = 0x00000008
  const texts = await sendAll(ada, 'around', 10)
  await ended(ada, 'delivered', 10)
  first.refuseWith = null
  for (const text of texts) assert.deepEqual(arrivals.get(text), ['second'])
})

test('when the node of a bind is killed the other takes it over, with what was under way and the receipts to come', async (t) => {
  const ada = await installation.account()
  // Their receipts come thirty times as late as usual.
  for (let i = 0; i < 5; i++) await send(ada, 0, '+254711000007', `late ${i}`)
  await ended(ada, 'sent', 5)
  first.silent = true
  const texts = await sendAll(ada, 'heir', 30)
  await eventually(async () => first.unanswered === sessions * window, 'the window to be full')
  const { dead, heir } = await killOwnerOf('first')
  const killedMs = performance.now()
  first.silent = false
  await eventually(async () => (await ownerOf('first')) === heir, 'the other node to have the bind')
  t.diagnostic(`taken over after ${Math.round(performance.now() - killedMs)} ms`)
  await ended(ada, 'delivered', 35)
  t.diagnostic(`all delivered after ${Math.round(performance.now() - killedMs)} ms`)
  for (const text of texts) assert.ok(arrivals.has(text))
  assert.equal(first.sessions.size, sessions, 'no more sessions than agreed')
  await installation.startNode(dead)
  assert.equal(await installation.balance(ada), ada.credited - 35 * price)
})

test('a route that must not send twice gives up what was being written when its node was killed, and sends the rest', async () => {
  const ada = await installation.account()
  await newRoute({ account_id: ada.id, on_unknown: 'maybe_never' })
  first.silent = true
  const texts = await sendAll(ada, 'once', 30)
  await eventually(async () => first.unanswered >= sessions * window, 'the window to be full')
  const { dead } = await killOwnerOf('first')
  first.silent = false
  await ended(ada, 'failed', sessions * window)
  await ended(ada, 'delivered', 30 - sessions * window)
  for (const text of texts) assert.ok((arrivals.get(text)?.length ?? 0) <= 1, `${text} arrived twice`)
  const failed = await installation.sql<{ error_code: string; carrier_code: string }>(
    `select distinct error_code, carrier_code from sms.messages where status = 'failed'`,
  )
  assert.deepEqual(failed, [{ error_code: 'CARRIER_ERROR', carrier_code: 'NO_ANSWER' }])
  await installation.startNode(dead)
  assert.equal(await installation.balance(ada), ada.credited - (30 - sessions * window) * price)
})

test('a node that is told to stop hands its binds over, and nothing is sent twice', async () => {
  const ada = await installation.account()
  const owner = await ownerOf('first')
  assert.ok(owner !== null)
  const sending = sendAll(ada, 'polite', 20, 1 - owner)
  assert.equal(await installation.stopNode(owner), 0)
  const texts = await sending
  const look = 1 - owner
  await eventually(async () => (await ownerOf('first')) === look, 'the other node to have the bind')
  await ended(ada, 'delivered', 20)
  for (const text of texts) assert.equal(arrivals.get(text)?.length, 1)
  await installation.startNode(owner)
  assert.deepEqual(installation.crashes, [])
  const { ok, problems } = await verifyLedger(installation.db)
  assert.ok(ok, problems.join())
})

test('a node that loses a bind and goes on stores what it had sent, and the other does not send it again', async () => {
  const ada = await installation.account()
  const owner = await ownerOf('first')
  assert.ok(owner !== null)
  const heir = 1 - owner
  const database = new pg.Client({ connectionString: installation.databaseUrl })
  await database.connect()
  try {
    // Keeps what was sent from being stored, and nothing else.
    await database.query('begin; lock table sms.carrier_ids in share mode')
    const texts = await sendAll(ada, 'kept', 20)
    await eventually(async () => texts.every((text) => arrivals.has(text)), 'the texts to arrive')
    await installation.sql(`update platform.leases set expires_at = '-infinity' where name = 'sms.bind:first'`)
    await eventually(async () => (await ownerOf('first')) === heir, 'the other node to have the bind')
    await send(ada, owner, '+254722302000', 'kept behind them')
    await eventually(async () => arrivals.has('kept behind them'), 'the other node to send what waits at the bind')
    await database.query('commit')
    await eventually(
      async () => (await installation.sql(`select from work.jobs where lane like 'sms.submit%'`)).length === 0,
      'all of it to be stored',
    )
    for (const text of [...texts, 'kept behind them']) assert.deepEqual(arrivals.get(text), ['first'], text)
  } finally {
    await database.end()
  }
})

async function newRoute(settings: object): Promise<void> {
  const [node = 0] = installation.runningNodes()
  const made = await installation.operator(node).post('/v1/operator/sms/routes', {
    ...{ environment: 'test', tiers: [[{ bind: 'first' }], [{ bind: 'second' }]] },
    ...settings,
  })
  assert.equal(made.status, 201, made.text)
  for (const each of installation.runningNodes())
    await eventually(async () => {
      const { body } = await installation.operator(each).get('/v1/operator/sms/routes')
      return body.data.every(({ in_force }: { in_force: boolean }) => in_force)
    }, 'the route to be in force')
}

/** Which of the nodes has all sessions of a bind open; null: none. */
async function ownerOf(name: string): Promise<number | null> {
  for (const node of installation.runningNodes()) {
    const { body } = await installation.operator(node).get('/v1/operator/sms/binds')
    if (body.data.find((bind: { name: string }) => bind.name === name).bound === sessions) return node
  }
  return null
}

async function killOwnerOf(name: string): Promise<{ dead: number; heir: number }> {
  const dead = await ownerOf(name)
  assert.ok(dead !== null)
  await installation.killNode(dead)
  return { dead, heir: 1 - dead }
}

/** Sends texts over both nodes in turn, or over one. */
async function sendAll(account: Account, what: string, many: number, node?: number): Promise<string[]> {
  const texts = Array.from({ length: many }, (_, i) => `${what} ${i}`)
  await Promise.all(texts.map((text, i) => send(account, node ?? i % 2, `+25472230${1_000 + i}`, text)))
  return texts
}

async function send(account: Account, node: number, to: string, message: string): Promise<void> {
  const { status, text } = await installation
    .client(node, account.key)
    .post('/v1/sms/send', { to, from: 'PAMOJA', message })
  assert.equal(status, 200, text)
}

async function ended(account: Account, status: string, many: number): Promise<void> {
  const [node = 0] = installation.runningNodes()
  await eventually(
    async () => {
      const { body } = await installation.client(node, account.key).get(`/v1/sms?status=${status}&limit=100`)
      return body.data.length === many
    },
    `${many} messages to be ${status}`,
    60_000,
  )
}
