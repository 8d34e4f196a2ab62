// SPDX-License-Identifier: Apache-2.0
// Rate limits on one node and on several that share a database. Most tests use a window of a minute, in which nothing
// expires: admissions can then be counted exactly on any machine.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { createTestDatabase } from '../../test/database.ts'
import { eventually, patienceMs } from '../../test/eventually.ts'
import { runs } from '../../test/properties.ts'
import { Database, isUnavailable } from './db.ts'
import { rateHeaders } from './limits/headers.ts'
import { Ring } from './limits/ring.ts'
import type { Policy, PolicyState } from './limits/share.ts'
import { type Admission, Limits, type LimitsOptions } from './limits.ts'
import { Signals } from './nodes/signals.ts'

const minuteMs = 60_000
/** Far longer than a test: slots then move only because another node gave them up. */
const endlessLeaseMs = 3_600_000
const patient = { timeout: patienceMs(60_000) }

const database = await createTestDatabase(['platform'])
const { url } = database

after(() => database.drop())

test('a window never holds more than the limit, and nothing is refused that the limit allows', () => {
  const arrivals = fc.array(
    fc.record({ gapMs: fc.integer({ min: 0, max: 60 }), slots: fc.integer({ min: 0, max: 40 }) }),
  )
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 1, max: 40 }),
      arrivals,
      (windowMs, limit, steps) => {
        const ring = new Ring(windowMs)
        const admitted: number[] = []
        let nowMs = 1_000.5
        for (const { gapMs } of steps) {
          nowMs += gapMs < 30 ? 0 : gapMs - 30
          const counting = admitted.filter((time) => nowMs - time < windowMs).length
          assert.equal(ring.used(nowMs), counting)
          if (ring.used(nowMs) < limit) {
            ring.add(nowMs)
            admitted.push(nowMs)
          } else assert.equal(counting, limit)
          if (gapMs === 30) ring.trim()
        }
        admitted.forEach((time, index) => {
          const later = admitted[index + limit]
          if (later !== undefined) assert.ok(later - time >= windowMs, `${limit + 1} admissions in ${later - time} ms`)
        })
      },
    ),
    { numRuns: runs(500) },
  )
})

test('a customer is told when a unit comes free, and when the window is full again', () => {
  const ring = new Ring(1_000)
  for (const nowMs of [0, 100, 200, 300]) ring.add(nowMs)
  const rows: [slots: number, freeInMs: number][] = [
    [5, 0],
    [4, 700],
    [3, 800],
    [1, 1_000],
    [0, 1_000],
  ]
  for (const [slots, freeInMs] of rows) assert.equal(ring.freeInMs(300, slots), freeInMs, `${slots} slots`)
  assert.equal(ring.emptyInMs(300), 1_000)
  assert.equal(ring.used(1_100), 2)
  assert.equal(ring.emptyInMs(1_100), 200)
  assert.equal(ring.used(1_300), 0)
  assert.equal(ring.emptyInMs(1_300), 0)
})

test('a burst of a million is counted exactly, and its memory is given back', () => {
  const ring = new Ring(1_000)
  for (let index = 0; index < 1_000_000; index++) ring.add(index / 1_000)
  assert.equal(ring.used(1_000), 999_999)
  assert.equal(ring.used(1_999), 999)
  ring.trim()
  ring.trim()
  assert.equal(ring.used(1_999.5), 499)
})

test('a limit of this node alone works without a database', async () => {
  const { limits } = unreachable()
  const policy = local('address', 20)
  for (let left = 19; left >= 0; left--) {
    const admission = atOnce(limits.admit([policy]))
    assert.deepEqual([admission.admitted, admission.tightest.remaining], [true, left])
  }
  const refused = atOnce(limits.admit([policy]))
  assert.equal(refused.admitted, false)
  assert.equal(refused.refusedBy, refused.tightest)
  assert.equal(refused.tightest.remaining, 0)
  assert.ok(refused.tightest.resetMs > 0 && refused.tightest.resetMs <= minuteMs)
  assert.equal(atOnce(limits.admit([{ ...policy, limit: 21 }])).admitted, true)
  assert.equal(atOnce(limits.admit([{ ...policy, limit: 20 }])).admitted, false)
})

test('a request that one limit refuses consumes none of the others', async () => {
  const { limits } = unreachable()
  const wide = local('key', 10)
  const narrow = local('plan-sms', 3)
  for (let count = 0; count < 3; count++) assert.equal(atOnce(limits.admit([wide, narrow])).admitted, true)
  for (let count = 0; count < 20; count++) {
    const { admitted, refusedBy, tightest, states } = atOnce(limits.admit([wide, narrow]))
    assert.equal(admitted, false)
    assert.equal(refusedBy?.name, 'plan-sms')
    assert.equal(tightest, refusedBy)
    assert.deepEqual(
      states.map(({ name, remaining }) => [name, remaining]),
      [
        ['key', 7],
        ['plan-sms', 0],
      ],
    )
  }
  assert.equal(atOnce(limits.admit([wide])).states[0]?.remaining, 6)
})

test('the tightest limit is the one with the smallest part left', () => {
  const { limits } = unreachable()
  const wide = local('key', 100)
  const narrow = local('plan-sms', 10)
  assert.equal(atOnce(limits.admit([wide, narrow])).tightest.name, 'plan-sms')
  for (let count = 0; count < 50; count++) atOnce(limits.admit([wide]))
  assert.equal(atOnce(limits.admit([wide, narrow])).tightest.name, 'key')
})

test('a node that remembers as many keys as it may refuses new ones until an old one is idle', patient, async () => {
  const { limits } = unreachable({ maxKeys: 2 })
  const lasting = local('address', 5)
  const passing = { ...local('address', 5), windowMs: 20 }
  assert.equal(atOnce(limits.admit([lasting])).admitted, true)
  assert.equal(atOnce(limits.admit([passing])).admitted, true)
  await until(() => atOnce(limits.admit([local('address', 5)])).admitted)
  const { admitted, tightest } = atOnce(limits.admit([local('address', 5)]))
  assert.deepEqual([admitted, tightest.limit, tightest.remaining], [false, 5, 0])
  assert.equal(atOnce(limits.admit([lasting])).tightest.remaining, 3)
})

test('a shared limit is not decided without the database', async () => {
  const { limits } = unreachable()
  await assert.rejects(async () => limits.admit([shared('key', 5), shared('plan-sms', 5)]), isUnavailable)
  await assert.rejects(async () => limits.peek([shared('key', 5)]), isUnavailable)
})

test('one node alone may use the whole limit, asking the database once for all keys of a turn', async (t) => {
  const { limits } = await node(t)
  const policies = Array.from({ length: 30 }, () => shared('key', 100))
  const first = await Promise.all(policies.map((policy) => limits.admit([policy, policies[0] ?? policy])))
  assert.ok(first.every(({ admitted }) => admitted))
  const [, policy] = policies
  assert.ok(policy)
  for (let left = 98; left >= 0; left--) {
    const admission = await limits.admit([policy])
    assert.deepEqual([admission.admitted, admission.tightest.remaining], [true, left])
  }
  assert.equal(atOnce(limits.admit([policy])).admitted, false)
  assert.deepEqual(
    (await holders(policy.key)).map(({ slots }) => slots),
    [100],
  )
  // A node that dies loses little: it leases an eighth, and twice what it uses.
  for (const { key } of policies.slice(2))
    assert.deepEqual(
      (await holders(key)).map(({ slots, call }) => [slots, call]),
      [[13, 1]],
    )
})

test('two nodes together admit exactly the limit, wherever the requests arrive', patient, async (t) => {
  const ada = await node(t)
  const ben = await node(t)
  const policy = shared('plan-sms', 37)
  assert.equal(await spend([ada, ben], policy), 37)
  for (let tries = 0; tries < 3; tries++) {
    for (const { limits } of [ada, ben]) assert.equal((await limits.admit([policy])).admitted, false)
  }
})

for (const used of [1, 5, 9]) {
  test(`a second node gets what a first leaves of a limit of 10 after ${used}`, patient, async (t) => {
    const ada = await node(t)
    const ben = await node(t)
    const policy = shared('plan-sms', 10)
    for (let count = 0; count < used; count++) assert.equal((await ada.limits.admit([policy])).admitted, true)
    for (let count = used; count < 10; count++) await until(async () => (await ben.limits.admit([policy])).admitted)
    assert.equal((await ben.limits.admit([policy])).admitted, false)
    assert.equal((await ada.limits.admit([policy])).admitted, false)
  })
}

test('a client that moves to another node has the whole limit there once its window is over', patient, async (t) => {
  const ada = await node(t)
  const ben = await node(t)
  const policy = { ...shared('key', 5), windowMs: 2_000 }
  assert.equal((await ada.limits.admit([policy])).admitted, true)
  await until(async () => (await ada.limits.peek([policy]))[0]?.resetMs === 0)
  await until(async () => (await ben.limits.admit([policy])).admitted)
  for (let count = 1; count < 5; count++) await until(async () => (await ben.limits.admit([policy])).admitted)
})

test('nodes that want many keys at once name all of them to the holders', patient, async (t) => {
  const ada = await node(t)
  const ben = await node(t)
  const named = new Set<string>()
  ada.signals.on('limits', (text) => {
    for (const line of text.split('\n').slice(1)) named.add(line.slice(line.indexOf(' ') + 1))
  })
  const policies = Array.from({ length: 500 }, () => shared('key', 2))
  for (const { limits } of [ada, ben]) await Promise.all(policies.map((policy) => limits.admit([policy])))
  await until(() => policies.every(({ key }) => named.has(key)))
})

test('two nodes under fire never admit more than the limit in any window', patient, async (t) => {
  const policy = { ...shared('key', 20), windowMs: 250 }
  const admissions: { fromMs: number; toMs: number }[] = []
  const fire = async ({ limits }: Node): Promise<void> => {
    while (admissions.length < 160) {
      const fromMs = performance.now()
      const { admitted } = await limits.admit([policy])
      if (admitted) admissions.push({ fromMs, toMs: performance.now() })
      else await turn()
    }
  }
  const nodes = [await node(t, { leaseMs: 400 }), await node(t, { leaseMs: 400 })]
  await Promise.all(nodes.flatMap((each) => [fire(each), fire(each), fire(each)]))
  // Each admission happened between two clock readings, so only a certain breach counts.
  const starts = admissions.map(({ fromMs }) => fromMs).sort((a, b) => a - b)
  for (const start of starts) {
    const within = admissions.filter(({ fromMs, toMs }) => fromMs >= start && toMs - start < policy.windowMs)
    assert.ok(within.length <= policy.limit, `${within.length} admissions within ${policy.windowMs} ms`)
  }
})

test('the slots of a killed node come back when its lease and one window are over, not before', patient, async (t) => {
  const leaseMs = 300
  const ada = await node(t, { leaseMs })
  const ben = await node(t, { leaseMs })
  const policy = { ...shared('key', 5), windowMs: 200 }
  const sinceMs = performance.now()
  for (let count = 0; count < 5; count++) assert.equal((await ada.limits.admit([policy])).admitted, true)
  await ada.kill()
  await until(async () => (await ben.limits.admit([policy])).admitted)
  assert.ok(performance.now() - sinceMs >= leaseMs + policy.windowMs)
  assert.deepEqual(
    (await holders(policy.key)).map(({ node, slots }) => [node, slots]),
    [[ben.nodeId, 2]],
  )
})

test('a node cut off from the database admits nothing after its lease has ended', patient, async (t) => {
  const { limits, kill } = await node(t, { leaseMs: 300 })
  const policy = shared('key', 1_000_000)
  assert.equal((await limits.admit([policy])).admitted, true)
  await kill()
  await assert.rejects(() => until(async () => !(await limits.admit([policy])).admitted))
})

test('a node that stops leaves its free slots to the others at once, and its used ones after the window', async (t) => {
  const ada = await node(t)
  const ben = await node(t)
  const policy = shared('plan-sms', 5)
  assert.equal((await ada.limits.admit([policy])).admitted, true)
  await ada.limits.stop()
  for (let count = 0; count < 4; count++) assert.equal((await ben.limits.admit([policy])).admitted, true)
  assert.equal((await ben.limits.admit([policy])).admitted, false)
  await assert.rejects(async () => ada.limits.admit([shared('key', 5)]), /stopped/)
})

test('a lease is renewed while its key is used, and lapses when it is not', patient, async (t) => {
  const { limits } = await node(t, { leaseMs: 200 })
  const policy = { ...shared('key', 1), windowMs: 100 }
  assert.equal((await limits.admit([policy])).admitted, true)
  await until(async () => (await holders(policy.key))[0]?.call === 2)
  await until(async () => (await lease(randomUUID(), 1, [policy], [1]))[0]?.granted === 1)
})

test('a changed limit holds at once, up and down', async (t) => {
  const { limits } = await node(t)
  const policy = shared('key', 3)
  const rows: [limit: number, admitted: number, remaining: number][] = [
    [3, 3, 0],
    [5, 2, 0],
    [4, 0, 0],
    [5, 0, 0],
    [8, 3, 0],
    [0, 0, 0],
    [9, 1, 0],
  ]
  for (const [limit, admitted, remaining] of rows) {
    let count = 0
    while ((await limits.admit([{ ...policy, limit }])).admitted) count++
    assert.equal(count, admitted, `at ${limit}`)
    assert.equal((await limits.peek([{ ...policy, limit }]))[0]?.remaining, remaining)
  }
})

test('a changed limit holds at once for all nodes together', patient, async (t) => {
  const nodes = [await node(t), await node(t)]
  const policy = shared('key', 10)
  for (const { limits } of nodes) await until(async () => (await limits.admit([policy])).admitted)
  const rows: [limit: number, admitted: number][] = [
    [4, 2],
    [3, 0],
    [9, 5],
  ]
  for (const [limit, admitted] of rows) assert.equal(await spend(nodes, { ...policy, limit }, admitted), admitted)
})

test('looking at the limits consumes nothing', async (t) => {
  const { limits } = await node(t)
  const policies = [shared('key', 5), local('address', 3)]
  const look = async () => (await limits.peek(policies)).map(({ name, remaining }) => [name, remaining])
  for (let count = 0; count < 3; count++)
    assert.deepEqual(await look(), [
      ['key', 5],
      ['address', 3],
    ])
  assert.deepEqual(
    (await limits.peek(policies)).map(({ resetMs }) => resetMs),
    [0, 0],
  )
  assert.equal((await limits.admit(policies)).admitted, true)
  assert.deepEqual(await look(), [
    ['key', 4],
    ['address', 2],
  ])
})

test('the database never lets nodes hold more than the limit, whatever they ask for', patient, async () => {
  const step = fc.record({
    node: fc.integer({ min: 0, max: 2 }),
    wanted: fc.integer({ min: 0, max: 30 }),
    usedPart: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 20 }), fc.array(step, { maxLength: 12 }), async (limit, steps) => {
      const policy = shared('key', limit)
      const nodes = [randomUUID(), randomUUID(), randomUUID()]
      const held = [0, 0, 0]
      for (const [index, { node, wanted, usedPart }] of steps.entries()) {
        const used = Math.floor((held[node] ?? 0) * usedPart)
        const [row] = await lease(nodes[node] ?? '', index + 1, [policy], [wanted], [used])
        assert.ok(row && row.granted <= wanted)
        held[node] = Math.max(row.granted, used)
        const sum = held.reduce((total, slots) => total + slots, 0)
        assert.ok(sum <= limit, `${held} of ${limit}`)
        assert.equal(row.free, limit - sum)
        if (wanted > row.granted) assert.equal(row.free, 0)
        assert.equal(row.others, held.filter((slots, other) => other !== node && slots > 0).length)
      }
    }),
    { numRuns: runs(40) },
  )
})

test('a call that was overtaken by a later one of its node changes nothing', async () => {
  const policy = shared('key', 10)
  const ada = randomUUID()
  assert.equal((await lease(ada, 2, [policy], [10]))[0]?.granted, 10)
  assert.deepEqual(await lease(ada, 1, [policy], [3]), [])
  assert.equal((await lease(randomUUID(), 1, [policy], [10]))[0]?.granted, 0)
})

test('nodes that ask for the same keys in different orders do not block each other', patient, async () => {
  const policies = Array.from({ length: 60 }, () => shared('key', 1_000))
  const wanted = policies.map(() => 10)
  const calls = Array.from({ length: 12 }, (_, turned) =>
    lease(randomUUID(), 1, [...policies.slice(turned * 5), ...policies.slice(0, turned * 5)], wanted),
  )
  for (const rows of await Promise.all(calls)) assert.equal(rows.length, 60)
  for (const { key } of policies) assert.equal((await holders(key)).length, 12)
})

test('the headers describe the tightest limit and list all', () => {
  const key: PolicyState = { name: 'key', limit: 100, windowMs: 1_000, remaining: 87, resetMs: 640 }
  const plan: PolicyState = { name: 'plan-sms', limit: 500, windowMs: 60_000, remaining: 0, resetMs: 1_001 }
  const full: PolicyState = { name: 'address', limit: 20, windowMs: 1_500, remaining: 20, resetMs: 0 }
  const nowMs = 1_700_000_000_400
  const rows: [Admission, string[]][] = [
    [
      { admitted: true, refusedBy: null, tightest: key, states: [key] },
      ['100', '87', '1700000002', '"key";q=100;w=1', '"key";r=87;t=1'],
    ],
    [
      { admitted: false, refusedBy: plan, tightest: plan, states: [key, plan] },
      ['500', '0', '1700000002', '"key";q=100;w=1, "plan-sms";q=500;w=60', '"key";r=87;t=1, "plan-sms";r=0;t=2'],
    ],
    [
      { admitted: true, refusedBy: null, tightest: full, states: [full] },
      ['20', '20', '1700000001', '"address";q=20;w=2', '"address";r=20;t=0'],
    ],
    [
      { admitted: true, refusedBy: null, tightest: { ...key, limit: 7 }, states: [{ ...key, limit: 7 }] },
      ['7', '87', '1700000002', '"key";q=7;w=1', '"key";r=87;t=1'],
    ],
  ]
  for (const [admission, [limit, remaining, reset, policy, left]] of [...rows, ...rows]) {
    assert.deepEqual(rateHeaders(admission, nowMs), {
      'x-ratelimit-limit': limit,
      'x-ratelimit-remaining': remaining,
      'x-ratelimit-reset': reset,
      'ratelimit-policy': policy,
      ratelimit: left,
    })
  }
})

interface Node {
  limits: Limits
  signals: Signals
  nodeId: string
  /** Crash without a goodbye. */
  kill(): Promise<void>
}

async function node(t: TestContext, options: Pick<LimitsOptions, 'leaseMs'> = {}): Promise<Node> {
  const db = new Database({ url, poolSize: 4, statementTimeoutMs: 30_000, applicationName: 'limits test' }, () => {})
  const signals = new Signals(db)
  const nodeId = randomUUID()
  const limits = new Limits({ db, signals, nodeId, leaseMs: endlessLeaseMs, ...options })
  await signals.start()
  limits.start()
  let killed = false
  const kill = async (): Promise<void> => {
    killed = true
    await signals.stop()
    await db.close()
  }
  t.after(async () => {
    await limits.stop()
    if (!killed) await kill()
  })
  return { limits, signals, nodeId, kill }
}

/** Sends requests to all nodes until the limit is used up, and one more to each. Returns the number admitted. */
async function spend(nodes: readonly Node[], policy: Policy, allowed = policy.limit): Promise<number> {
  let count = 0
  const ask = async (): Promise<void> => {
    for (const { limits } of nodes) if ((await limits.admit([policy])).admitted) count++
  }
  await until(async () => {
    if (count < allowed) await ask()
    return count >= allowed
  })
  await ask()
  return count
}

/** Limits with an unreachable database. */
function unreachable(options: Pick<LimitsOptions, 'maxKeys'> = {}): { limits: Limits } {
  const nowhere = 'postgres://nobody@localhost/nothing?host=/nonexistent'
  const db = new Database({ url: nowhere, poolSize: 1, statementTimeoutMs: 1_000, applicationName: 'test' }, () => {})
  return { limits: new Limits({ db, signals: new Signals(db), nodeId: randomUUID(), ...options }) }
}

function shared(name: string, limit: number): Policy {
  return { name, key: `${name}:${randomUUID()}`, limit, windowMs: minuteMs, shared: true }
}

function local(name: string, limit: number): Policy {
  return { ...shared(name, limit), shared: false }
}

function atOnce(admission: Admission | Promise<Admission>): Admission {
  assert.ok(!(admission instanceof Promise), 'the answer should not need the database')
  return admission
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  await eventually(async () => condition(), 'it to come true')
}

/** Holders of a key's slots in the database. */
async function holders(key: string): Promise<{ node: string; slots: number; call: number }[]> {
  return database.sql(
    `select holder.key as node, (holder.value ->> 'slots')::int as slots, (holder.value ->> 'call')::int as call
       from platform.rate_slots as held, jsonb_each(held.holders) as holder where held.key = $1`,
    [key],
  )
}

/** One lease call, without a node. */
async function lease(
  node: string,
  call: number,
  policies: readonly Policy[],
  wanted: readonly number[],
  used: readonly number[] = policies.map(() => 0),
): Promise<{ granted: number; free: number; others: number }[]> {
  const keys = policies.map(({ key }) => key)
  const limits = policies.map(({ limit }) => limit)
  const windows = policies.map(({ windowMs }) => windowMs)
  return database.sql('select granted, free, others from platform.lease_slots($1, $2, 600000, $3, $4, $5, $6, $7)', [
    ...[node, call, keys, limits, windows, wanted, used],
  ])
}
