// SPDX-License-Identifier: Apache-2.0
// Waiting: woken by this node, by another, or by a poll, and never beyond the timeout or the limit. Nodes are separate
// Signals on one database.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import pino from 'pino'
import { createTestDatabase } from '../../../test/database.ts'
import { eventually, patienceMs } from '../../../test/eventually.ts'
import { Signals } from './signals.ts'
import { Waiting } from './waiting.ts'
import { Wakes } from './wakes.ts'

/** Far longer than a test: no timer fires during one. */
const neverMs = 3_600_000
const patient = { timeout: 2 * patienceMs() }
const log = pino({ enabled: false })

const database = await createTestDatabase(['platform'])
const signals: Signals[] = []
after(async () => {
  for (const one of signals) await one.stop()
  await database.drop()
})

const happened = new Set<string>()
let looks = 0

const usual = {
  name: 'trial',
  most: 3,
  lookMs: neverMs,
  isTold: true,
  async happened(_db: unknown, { ids }: { ids: readonly string[] }) {
    looks++
    return ids.filter((id) => happened.has(id)).map((id) => ({ id }))
  },
}

interface Node {
  waiting: Waiting
  wakes: Wakes
}

async function startNode(kind: Partial<typeof usual> & { looksFirst?: boolean } = {}): Promise<Node> {
  const db = database.connect()
  const own = new Signals(db)
  signals.push(own)
  await own.start()
  const wakes = new Wakes({ db, log, signals: own })
  return { wakes, waiting: new Waiting({ db, log, nodeId: randomUUID() }, wakes, { ...usual, ...kind }) }
}

function something() {
  return { bucket: 1, account: randomUUID(), id: randomUUID() }
}

test('what happens on another node wakes those who wait, and nobody else', patient, async () => {
  const [here, there] = [await startNode(), await startNode()]
  const [one, other] = [something(), something()]
  const first = here.waiting.until(one, neverMs)
  const second = here.waiting.until(one, neverMs)
  const third = here.waiting.until(other, neverMs)
  // The other node must have received the interest, which it does not report: repeat the event until it has.
  await eventually(async () => {
    there.waiting.happened(one.id)
    return here.waiting.count === 1
  }, 'those who wait to be woken')
  await Promise.all([first.over, second.over])
  third.stop()
  await third.over
  assert.equal(here.waiting.count, 0)
})

test('what nobody said is found by a look', patient, async () => {
  const { waiting } = await startNode({ lookMs: 20 })
  const one = something()
  const { over } = waiting.until(one, neverMs)
  happened.add(one.id)
  await over
})

test('what happened just before is found at once where the kind says so', patient, async () => {
  const { waiting } = await startNode({ looksFirst: true })
  const one = something()
  happened.add(one.id)
  await waiting.until(one, neverMs).over
})

test('a wait ends with its time, with the node, and at once where too many wait', patient, async () => {
  const { waiting } = await startNode()
  await waiting.until(something(), 5).over
  const kept = Array.from({ length: usual.most }, () => waiting.until(something(), neverMs))
  assert.equal(waiting.count, usual.most)
  await waiting.until(something(), neverMs).over
  assert.equal(waiting.count, usual.most)
  waiting.stop()
  await Promise.all(kept.map(({ over }) => over))
  await waiting.until(something(), neverMs).over
})

test('a node that stops cuts a wait off at once, or when the time is over that it is left', patient, async () => {
  const { waiting } = await startNode({ most: 10 })
  const [at, later, woken] = [something(), something(), something()]
  const cut = waiting.until(at, neverMs)
  const left = waiting.until(later, neverMs, 50)
  const heard = waiting.until(woken, neverMs, neverMs)
  waiting.stop()
  assert.equal(await cut.over, 'stopped')
  assert.equal(waiting.count, 2, 'the others are left their time')
  assert.equal(await left.over, 'stopped')
  assert.equal(await waiting.until(something(), neverMs).over, 'stopped')
  waiting.wake(woken.id)
  assert.equal(await heard.over, 'news')
})

test('nobody looks while nobody waits', patient, async () => {
  const { waiting } = await startNode({ lookMs: 1 })
  await waiting.until(something(), 5).over
  const before = looks
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.equal(looks, before)
})

test('a thousand wakes arrive, each once, in few messages', patient, async () => {
  const [here, there] = [await startNode(), await startNode()]
  const heard: string[] = []
  here.wakes.on('other', (text) => heard.push(text))
  const ids = Array.from({ length: 1_000 }, () => randomUUID())
  for (const id of ids) there.wakes.ring('other', id)
  await eventually(async () => heard.length >= ids.length, 'all wakes to be heard')
  assert.deepEqual(heard, ids)
})

test('while wakes are being sent, others gather for one message', patient, async () => {
  const db = database.connect()
  let [begun, most] = [0, 0]
  let open = (): void => undefined
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  /** The database answers when the gate is opened. */
  class Slow extends Signals {
    override async send(...message: Parameters<Signals['send']>): Promise<void> {
      begun++
      most = Math.max(most, begun)
      await gate
      await super.send(...message)
      begun--
    }
  }
  const own = new Slow(db)
  signals.push(own)
  await own.start()
  const wakes = new Wakes({ db, log, signals: own })
  const heard: string[] = []
  wakes.on('trial', (text) => heard.push(text))
  wakes.ring('trial', 'first')
  await eventually(async () => begun === 1, 'the first to be sent')
  for (const text of ['second', 'third']) {
    wakes.ring('trial', text)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  assert.equal(most, 1)
  open()
  await eventually(async () => heard.length === 3, 'all of them to be heard')
  assert.deepEqual([heard, most], [['first', 'second', 'third'], 1])
})
