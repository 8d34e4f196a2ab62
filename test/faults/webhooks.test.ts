// SPDX-License-Identifier: Apache-2.0
// Deliveries while nodes are killed, endpoints vanish and receivers misbehave: nothing is lost, nobody waits for another.
// PAMOJA_TEST_SEED=<seed> chooses the same moments and victims again.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { uuidOf } from '../../src/kernel/ids.ts'
import type { Client } from '../client.ts'
import { eventually } from '../eventually.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { floodBytes, startBadReceivers } from './bad-receivers.ts'
import { examine } from './examine.ts'
import { type Account, chooseSeed, type Installation, randomFrom, startInstallation } from './harness.ts'
import { Hearing, unfinished } from './hearing.ts'
import { Load } from './load.ts'
import { strike } from './strikes.ts'

const megabyte = 1024 * 1024
/** Leases of 14 and 30 s may have to end first. */
const resumeWithinMs = 90_000

const seed = chooseSeed()
const random = randomFrom(seed)
let installation: Installation

before(async () => {
  installation = await startInstallation({ nodes: 2, environment: { PAMOJA_RATE_LIMITS: 'off' } })
  // Leases that ended before their node was done with them.
  await installation.sql('create table notes.lost_leases (job uuid)')
  await installation.sql(
    `create function notes.note_lost_lease() returns trigger language plpgsql as $$
     begin insert into notes.lost_leases values (new.id); return null; end $$`,
  )
  await installation.sql(
    `create trigger lost_leases after update on work.jobs for each row
     when (new.lane = 'webhooks.deliver' and new.attempt > old.attempt and old.owner is not null)
     execute function notes.note_lost_lease()`,
  )
})
after(() => installation.stop())

test('two nodes deliver side by side, and nobody hears anything twice', async () => {
  const hearing = await Hearing.start()
  try {
    const account = await installation.account()
    await hearing.subscribe(installation, account)
    await write(account, 400)
    await eventually(async () => (await unfinished(installation)).length === 0, 'everything to be delivered')
    const events = [...hearing.events()]
    assert.equal(new Set(events.map(([, { note }]) => note)).size, 400)
    await assertRepeatedOnlyForLostLeases(hearing.receiver)
  } finally {
    await hearing.stop()
  }
})

test('a thousand pending deliveries stop with their endpoint, and go on if it is enabled again', async () => {
  const receiver = await startReceiver()
  try {
    const account = await installation.account()
    const client = installation.client(0, account.key)
    const [off = '', gone = '', hasty = ''] = await Promise.all(
      ['/off', '/gone', '/hasty'].map(async (path) => {
        const made = await client.post('/v1/webhooks', { url: receiver.url(path), events: ['*'], rate_limit: 10 })
        return made.body.id
      }),
    )
    await write(account, 1_000)
    for (const hook of [off, hasty])
      assert.equal((await client.patch(`/v1/webhooks/${hook}`, { enabled: false })).status, 200)
    assert.equal((await client.delete(`/v1/webhooks/${gone}`)).status, 200)
    await everyNodeHeard()
    const before = stopped(receiver)
    // This one is enabled while nodes are still putting its deliveries back.
    const resume = { enabled: true, rate_limit: null }
    assert.equal((await client.patch(`/v1/webhooks/${hasty}`, resume)).status, 200)

    await eventually(async () => (await countDeliveries(gone)).pending === 0, 'all to be cancelled', resumeWithinMs)
    await eventually(async () => (await countDeliveries(off)).leased === 0, 'all to be put back', resumeWithinMs)
    // One from each node may have been on its way.
    assert.ok(stopped(receiver) <= before + 2, `${before}, then ${stopped(receiver)}`)
    const { delivered, cancelled } = await countDeliveries(gone)
    assert.deepEqual([delivered + cancelled, delivered], [1_000, requests(receiver, '/gone').length])
    assert.ok(delivered < 1_000)
    const waiting = await countDeliveries(off)
    assert.deepEqual([waiting.delivered + waiting.pending, waiting.cancelled], [1_000, 0])

    assert.equal((await client.patch(`/v1/webhooks/${off}`, resume)).status, 200)
    for (const [hook, path] of [
      [off, '/off'],
      [hasty, '/hasty'],
    ] as const) {
      await eventually(
        async () => (await countDeliveries(hook)).delivered === 1_000,
        `the rest of ${path}`,
        resumeWithinMs,
      )
      const heard = requests(receiver, path).map(({ body }) => JSON.parse(body).note_id)
      assert.equal(new Set(heard).size, 1_000)
    }
    await assertRepeatedOnlyForLostLeases(receiver)
    assert.deepEqual(await unfinished(installation), [])
  } finally {
    await receiver.stop()
  }
})

test('whatever is killed during delivery, every event is delivered, under the id it had', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const hearing = await Hearing.start()
  try {
    const accounts = [await installation.account(), await installation.account(), await installation.account()]
    for (const account of accounts) await hearing.subscribe(installation, account)
    const load = new Load({ installation, accounts, random })
    load.start()
    await eventually(async () => hearing.receiver.received.length > 20, 'the first events')
    // Both die while their receiver has the requests and has not answered.
    hearing.hold()
    await eventually(async () => hearing.held >= 8, 'requests to be under way')
    await Promise.all([installation.killNode(0), installation.killNode(1)])
    await eventually(async () => hearing.cut.size >= 8, 'the requests to be cut')
    const cut = [...hearing.cut]
    hearing.release()
    await Promise.all([installation.startNode(0), installation.startNode(1)])
    await strike('one node', installation, load, random)
    await strike('PostgreSQL', installation, load, random)

    const findings = await examine(installation, load)
    assert.deepEqual([...load.unexpected, ...installation.crashes], [])
    assert.deepEqual(await unfinished(installation), [])
    assert.deepEqual(hearing.missed(load.writes), [])
    const events = hearing.events()
    for (const event of cut) assert.ok((events.get(event)?.times ?? 0) > 1, `${event} was not told again`)
    const repeated = [...events.values()].filter(({ times }) => times > 1).length
    t.diagnostic(`${events.size} events, ${repeated} of them heard more than once`)
    assert.deepEqual(
      [findings.lost, findings.unanswered, findings.unpublished, findings.miscounted, findings.stuck],
      [[], [], [], [], []],
    )
    assert.deepEqual(findings.ledger.problems, [])
  } finally {
    await hearing.stop()
  }
})

test('receivers that misbehave cost neither the others their events nor the node its memory', async (t) => {
  const events = 60
  const receiver = await startReceiver()
  const bad = await startBadReceivers()
  try {
    const neighbour = await installation.account()
    const account = await installation.account()
    const client = installation.client(0, account.key)
    const register = async (by: Client, url: string): Promise<string> =>
      (await by.post('/v1/webhooks', { url, events: ['note.published'] })).body.id
    const good = await register(client, receiver.url('/same'))
    await register(installation.client(0, neighbour.key), receiver.url('/neighbour'))
    // The first requests of a process cost memory whoever is asked.
    await write(account, events)
    await eventually(async () => requests(receiver, '/same').length === events, 'the good days')
    const hooks = new Map<string, string>()
    for (const [way, url] of Object.entries(bad.urls)) hooks.set(way, await register(client, url))
    const memory = await Promise.all([0, 1].map((node) => installation.figure(node, 'process_resident_memory_bytes')))

    await Promise.all([write(account, events), write(neighbour, events)])
    await eventually(async () => requests(receiver, '/same').length === 2 * events, 'the endpoint beside the bad ones')
    await eventually(async () => requests(receiver, '/neighbour').length === events, 'the endpoint of another account')
    await eventually(async () => (await countDeliveries(good)).delivered === 2 * events, 'it to be stored')

    const expected: [way: string, error: string | null, status: number | null][] = [
      ['hangs', 'TIMEOUT', null],
      ['drips', 'TIMEOUT', null],
      ['closes', 'CONNECTION_FAILED', null],
      ['resets', 'CONNECTION_FAILED', null],
      ['oldTls', 'TLS_FAILED', null],
      ['floods', null, 200],
      ['dripsBody', null, 200],
    ]
    for (const [way, error, status] of expected) {
      const attempt = await firstAttempt(client, hooks.get(way) ?? '')
      assert.deepEqual([attempt.error, attempt.status], [error, status], way)
      assert.ok((attempt.response_body ?? '').length <= 4_096, way)
      if (way === 'floods') assert.equal(attempt.response_body, 'x'.repeat(4_096))
    }
    await eventually(async () => bad.floods() === events, 'every flood to be cut short')
    assert.ok(bad.maxTaken() < floodBytes / 4, `${bad.maxTaken()} bytes of a flood were taken`)
    for (const [node, before] of memory.entries()) {
      const grown = (await installation.figure(node, 'process_resident_memory_bytes')) - before
      t.diagnostic(`node ${node} grew by ${Math.round(grown / megabyte)} MB`)
      assert.ok(grown < floodBytes / 2, `node ${node} grew by ${grown} bytes`)
    }
    t.diagnostic(`at most ${Math.round(bad.maxTaken() / 1024)} KiB of a flood were taken`)
    assert.deepEqual(installation.crashes, [])
  } finally {
    await bad.stop()
    await receiver.stop()
  }
})

/** Notes through both nodes, a few at a time. */
async function write(account: Account, notes: number): Promise<void> {
  let next = 0
  const writer = async (): Promise<void> => {
    while (next < notes) {
      const number = next++
      const { status, text } = await installation
        .client(number % 2, account.key)
        .post('/v1/notes', { text: `Note ${number}` })
      assert.equal(status, 200, text)
    }
  }
  await Promise.all(Array.from({ length: 16 }, writer))
}

function requests(receiver: Receiver, path: string): Receiver['received'] {
  return receiver.received.filter(({ url }) => url === path)
}

/** Requests to the endpoints that are to hear nothing more. */
function stopped(receiver: Receiver): number {
  return requests(receiver, '/off').length + requests(receiver, '/gone').length
}

/**
 * A delivery is sent twice if its lease was lost, and only then; or if its answer came too late for the node, since the
 * receiver is in this process, which may be busy.
 */
async function assertRepeatedOnlyForLostLeases(receiver: Receiver): Promise<void> {
  const seen = new Set<string>()
  const repeated = new Set<string>()
  for (const { headers } of receiver.received) {
    const id = String(headers['x-service-delivery-id'])
    if (seen.has(id)) repeated.add(uuidOf('delivery', id) ?? id)
    seen.add(id)
  }
  const lost = await installation.sql<{ job: string }>(
    `select job from notes.lost_leases union select id from webhooks.deliveries where log like '%"TIMEOUT"%'`,
  )
  const excused = new Set(lost.map(({ job }) => job))
  assert.deepEqual(
    [...repeated].filter((id) => !excused.has(id)),
    [],
  )
}

/** Nodes hear of changes in their order: who knows of this one knows of all before it. */
async function everyNodeHeard(): Promise<void> {
  const account = await installation.account()
  await installation
    .operator(0)
    .post('/v1/operator/prices', { area: 'notes', unit: 'note', account_id: account.id, amount: 2, currency: 'KES' })
  for (const node of installation.runningNodes())
    await eventually(async () => {
      const { body } = await installation.client(node, account.key).post('/v1/notes', { text: 'Habari' })
      return Number(body.cost) === 2
    }, 'the new price to be charged')
}

interface Counts {
  delivered: number
  cancelled: number
  pending: number
  /** Pending ones that some node has. */
  leased: number
}

async function countDeliveries(hook: string): Promise<Counts> {
  const [counts] = await installation.sql<Counts>(
    `select count(*) filter (where d.status = 'delivered')::int as delivered,
            count(*) filter (where d.status = 'cancelled')::int as cancelled,
            count(*) filter (where d.status in ('pending', 'delivering'))::int as pending,
            count(*) filter (where j.owner is not null or j.run_at <= now())::int as leased
       from webhooks.deliveries d left join work.jobs j on j.bucket = d.bucket and j.id = d.id
      where d.endpoint_id = $1`,
    [uuidOf('webhook', hook)],
  )
  return counts ?? assert.fail('nothing was counted')
}

interface Attempt {
  error: string | null
  status: number | null
  response_body: string | null
}

async function firstAttempt(client: Client, hook: string): Promise<Attempt> {
  const delivery = await eventually(async () => {
    const { body } = await client.get(`/v1/webhooks/${hook}/deliveries?order=asc&limit=10`)
    return body.data.find(({ attempts }: { attempts: number }) => attempts > 0)
  }, 'an attempt')
  const { body } = await client.get(`/v1/webhooks/${hook}/deliveries/${delivery.id}`)
  return body.attempts_log[0]
}
