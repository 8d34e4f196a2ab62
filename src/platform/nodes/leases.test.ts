// SPDX-License-Identifier: Apache-2.0
// Leases: one owner at a time whatever crashes, and no write by one that lost its lease. Nodes are Leases with their
// own pools on one database; a node crashes when its pool is closed.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { after, afterEach, beforeEach, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import pino from 'pino'
import { createTestDatabase } from '../../../test/database.ts'
import { patienceMs } from '../../../test/eventually.ts'
import { Database, statement } from '../db.ts'
import { fence, type Lease, LeaseLostError, Leases, type Term } from './leases.ts'

/** Far longer than a test: nothing expires during one. */
const longSeconds = 3_600
const shortSeconds = 2
const waitMs = patienceMs()
/** Waited on, it lets the whole thread stand still. */
const stillness = new Int32Array(new SharedArrayBuffer(4))
const patient = { timeout: 2 * waitMs }

const database = await createTestDatabase(['platform'])
await database.sql('create table public.written (by text not null)')
const write = statement.home<{ by: string }, object>('test.write', 'insert into public.written (by) values ($by)')

interface Node {
  id: string
  db: Database
  leases: Leases
}

let nodes: Node[] = []
let name = ''

beforeEach(() => {
  name = `test:${randomUUID()}`
})

afterEach(async () => {
  for (const { db, leases } of nodes) {
    await leases.stop()
    // A test that crashed a node has closed its pool already.
    await db.close().catch(() => undefined)
  }
  nodes = []
})

after(() => database.drop())

test('of many nodes that want a lease at once exactly one gets it', patient, async () => {
  const crowd = Array.from({ length: 6 }, startNode)
  for (const round of [1n, 2n, 3n]) {
    const got = (await Promise.all(crowd.map(({ leases }) => leases.tryAcquire(name, longSeconds)))).filter(isLease)
    assert.equal(got.length, 1)
    assert.equal(got[0]?.epoch, round)
    assert.equal(got[0]?.signal.aborted, false)
    await got[0]?.release()
  }
})

test('leases of different names do not know each other', patient, async () => {
  const { leases } = startNode()
  const [one, two] = await Promise.all(['a', 'b'].map((part) => leases.tryAcquire(`${name}:${part}`, longSeconds)))
  assert.deepEqual([one?.epoch, two?.epoch], [1n, 1n])
})

test(
  'a lease that was given up is free at once, with a higher epoch, and its holder is told to stop',
  patient,
  async () => {
    const [here, there] = [startNode(), startNode()]
    const first = await acquired(here)
    assert.equal(await there.leases.tryAcquire(name, longSeconds), null)
    assert.equal(await here.leases.tryAcquire(name, longSeconds), null)
    await first.release()
    await first.release()
    assert.equal(first.signal.aborted, true)
    const second = await acquired(there)
    assert.equal(second.epoch, 2n)
    // Releasing a lost lease takes nothing from the new owner.
    await first.release()
    assert.equal(await here.leases.tryAcquire(name, longSeconds), null)
    assert.equal(second.signal.aborted, false)
  },
)

test('a living owner keeps its lease long past the first term', patient, async () => {
  const [here, there] = [startNode(), startNode()]
  const lease = await acquired(here, 5)
  const { expires_at: firstTerm } = await row()
  await until(async () => (await row()).now > firstTerm)
  assert.equal(await there.leases.tryAcquire(name, longSeconds), null)
  assert.equal(lease.signal.aborted, false)
  assert.deepEqual([(await row()).owner, (await row()).epoch], [here.id, '1'])
})

test('a dead owner is followed by another node, but not before it has stopped itself', patient, async () => {
  const [here, there] = [startNode(), startNode()]
  const lost = await acquired(here, shortSeconds)
  await here.db.close()
  const taken = await acquiredInTime(there)
  assert.equal(lost.signal.aborted, true)
  assert.equal(taken.epoch, 2n)
  assert.ok(lost.signal.reason instanceof LeaseLostError)
  assert.match(lost.signal.reason.message, /could not be renewed in time/)
})

test('an owner whose database no longer answers stops by its own clock', patient, async () => {
  const [here, there] = [startNode(), startNode()]
  const lost = await acquired(here, shortSeconds)
  const blocker = new pg.Client(database.url)
  await blocker.connect()
  try {
    await blocker.query('begin')
    await blocker.query('select from platform.leases where name = $1 for update', [name])
    await stopped(lost)
    assert.match(String(lost.signal.reason), /could not be renewed in time/)
    await blocker.query('commit')
  } finally {
    await blocker.end()
  }
  // The stuck renewal arrives now; it must not extend the lease.
  assert.equal((await acquiredInTime(there)).epoch, 2n)
})

test('an owner that was given no time to run finds out that its lease is over before it is told', patient, async () => {
  const lease = await acquired(startNode(), shortSeconds)
  assert.equal(lease.isHeld, true)
  const overMs = performance.now() + shortSeconds * 1_000
  while (performance.now() < overMs) Atomics.wait(stillness, 0, 0, 100)
  assert.deepEqual([lease.isHeld, lease.signal.aborted], [false, false])
  await stopped(lease)
})

test('an owner that finds another in its place stops', patient, async () => {
  const here = startNode()
  const lease = await acquired(here, 3)
  await database.sql('update platform.leases set owner = $2, epoch = epoch + 1 where name = $1', [name, randomUUID()])
  await stopped(lease)
  assert.match(String(lease.signal.reason), /another node has it/)
})

test('a lease that has run out is not revived by a late renewal', patient, async () => {
  const here = startNode()
  const lease = await acquired(here, 3)
  await expire()
  await stopped(lease)
  assert.match(String(lease.signal.reason), /it ran out/)
})

test('a failed renewal is tried again before the lease runs out', patient, async () => {
  const here = startNode()
  const lease = await acquired(here, 6)
  const { expires_at: firstTerm } = await row()
  // Every renewal fails until one was seen to fail.
  await database.sql(`
    create sequence public.failures;
    create function public.fail() returns trigger language plpgsql as
      $$ begin perform nextval('public.failures'); raise exception 'not now'; end $$;
    create trigger fail before update on platform.leases for each row when (old.name = '${name}') execute function public.fail()`)
  await until(async () => (await database.sql('select from public.failures where is_called')).length > 0)
  await database.sql('drop trigger fail on platform.leases; drop function public.fail; drop sequence public.failures')
  await until(async () => (await row()).expires_at > firstTerm || lease.signal.aborted)
  assert.equal(lease.signal.aborted, false)
})

test('an owner inside the fence writes; one that was replaced cannot', patient, async () => {
  const [here, there] = [startNode(), startNode()]
  const old = await acquired(here)
  await guardedWrite(here, old, `${name}:old`)
  // As if the owner slept past the end of its lease and still believes in it.
  await expire()
  const current = await acquired(there)
  assert.equal(old.signal.aborted, false)
  await assert.rejects(guardedWrite(here, old, `${name}:too late`), LeaseLostError)
  await guardedWrite(there, current, `${name}:new`)
  // Nor can it release what it lost.
  await old.release()
  assert.equal(await here.leases.tryAcquire(name, longSeconds), null)
  const rows = await database.sql<{ by: string }>('select by from public.written where by like $1', [`${name}%`])
  assert.deepEqual(rows.map(({ by }) => by).sort(), [`${name}:new`, `${name}:old`])
})

test('a lease that never was guards nothing', patient, async () => {
  const here = startNode()
  await assert.rejects(guardedWrite(here, { name, epoch: 1n }, name), LeaseLostError)
})

test('a new owner waits for a write inside the fence, and renewals do not', patient, async () => {
  const [here, there] = [startNode(), startNode()]
  const lease = await acquired(here)
  const { lateOwner } = await here.db.acrossTx(async (tx) => {
    await fence(tx, lease)
    // The same kind of update as a renewal: it passes.
    await expire()
    const lateOwner = acquired(there)
    await until(async () => (await database.sql(waiting)).length === 1)
    await tx.query(write, { by: name })
    return { lateOwner }
  })
  assert.equal((await lateOwner).epoch, 2n)
  assert.equal((await database.sql('select from public.written where by = $1', [name])).length, 1)
})

test('a stopping node gives back everything and takes nothing more', patient, async () => {
  const [here, there] = [startNode(), startNode()]
  const lease = await acquired(here)
  const underWay = here.leases.tryAcquire(`${name}:late`, longSeconds)
  await here.leases.stop()
  assert.equal(lease.signal.aborted, true)
  assert.equal(await underWay, null)
  assert.equal(await here.leases.tryAcquire(`${name}:later`, longSeconds), null)
  for (const part of ['', ':late', ':later']) assert.ok(await there.leases.tryAcquire(name + part, longSeconds), part)
})

test('giving back a lease while the database is away throws nothing', patient, async () => {
  const here = startNode()
  const lease = await acquired(here)
  await here.db.close()
  await lease.release()
  assert.equal(lease.signal.aborted, true)
})

test('a lease lasts between a moment and an hour', patient, async () => {
  const { leases } = startNode()
  for (const seconds of [0, -1, Number.NaN, 3_601])
    await assert.rejects(leases.tryAcquire(name, seconds), /cannot last/)
})

const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`

function startNode(): Node {
  const id = randomUUID()
  const options = { url: database.url, poolSize: 4, statementTimeoutMs: 30_000, applicationName: 'test' }
  const db = new Database(options, () => {})
  const node = { id, db, leases: new Leases({ db, nodeId: id, log: pino({ level: 'silent' }) }) }
  nodes.push(node)
  return node
}

async function acquired({ leases }: Node, ttlSeconds = longSeconds): Promise<Lease> {
  const lease = await leases.tryAcquire(name, ttlSeconds)
  assert.ok(lease, 'the lease is not free')
  return lease
}

/** Retries until acquired, like a waiting node. */
async function acquiredInTime({ leases }: Node): Promise<Lease> {
  let lease: Lease | null = null
  await until(async () => {
    lease = await leases.tryAcquire(name, longSeconds)
    return lease !== null
  })
  assert.ok(lease)
  return lease
}

async function guardedWrite({ db }: Node, lease: Term, by: string): Promise<void> {
  await db.acrossTx(async (tx) => {
    await fence(tx, lease)
    await tx.query(write, { by })
  })
}

async function expire(): Promise<void> {
  await database.sql(`set lock_timeout = '30s'; update platform.leases set expires_at = now() where name = '${name}'`)
}

async function row(): Promise<{ owner: string; epoch: string; expires_at: Date; now: Date }> {
  const [found] = await database.sql<{ owner: string; epoch: string; expires_at: Date; now: Date }>(
    'select owner, epoch, expires_at, now() as now from platform.leases where name = $1',
    [name],
  )
  assert.ok(found)
  return found
}

async function stopped({ signal }: Lease): Promise<void> {
  await until(async () => signal.aborted)
}

/** With a timeout, so that a failure does not hang. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + waitMs
  while (!(await condition())) {
    assert.ok(performance.now() < endMs, 'what the test waits for did not happen')
    await pause(20)
  }
}

function isLease(lease: Lease | null): lease is Lease {
  return lease !== null
}
