// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Candidate, choose, estimatedWait, inOrder, queueDefaults, type Strategy } from './queue.ts'

const agent = (agentId: string, idle: number, calls: number, level: number, queues = ['q']): Candidate => ({
  agentId,
  idleSinceMs: idle,
  callsTaken: calls,
  skills: [{ name: 'billing', level }],
  queues,
})
const free = [agent('a', 300, 1, 2), agent('b', 100, 5, 4), agent('c', 200, 0, 3), agent('d', 50, 0, 5, [])]
const call = { skills: [], waitedSeconds: 0, refusedBy: [], wantedAgent: null }

function chosen(strategy: Strategy, more: object = {}, about: object = {}, lastAgent: string | null = null): string[] {
  const document = { ...queueDefaults, strategy, ...more }
  return choose({ id: 'q', document, lastAgent }, { ...call, ...about }, free).map(({ agentId }) => agentId)
}

test('each strategy chooses as it says', () => {
  assert.deepEqual(chosen('longest_idle'), ['b'])
  assert.deepEqual(chosen('least_calls'), ['c'])
  assert.deepEqual(chosen('skills', { skills_required: [{ name: 'billing', min_level: 2 }] }), ['b'])
  assert.deepEqual(chosen('ring_all'), ['b', 'c', 'a'])
  assert.deepEqual(chosen('priority', { agents: ['c', 'd', 'a'] }), ['c'])
  assert.deepEqual(chosen('round_robin'), ['a'])
  assert.deepEqual(chosen('round_robin', {}, {}, 'a'), ['b'])
  assert.deepEqual(chosen('round_robin', {}, {}, 'c'), ['a'])
})

test('agents need the skills, which relax while a caller waits; those who refused are passed over', () => {
  const needs = { skills_required: [{ name: 'billing', min_level: 5 }], skill_relax_seconds: 30 }
  assert.deepEqual(chosen('longest_idle', needs), [])
  assert.deepEqual(chosen('longest_idle', needs, { waitedSeconds: 29 }), [])
  assert.deepEqual(chosen('longest_idle', needs, { waitedSeconds: 30 }), ['b'])
  assert.deepEqual(chosen('ring_all', needs, { waitedSeconds: 60 }), ['b', 'c'])
  assert.deepEqual(chosen('ring_all', needs, { waitedSeconds: 150 }), ['b', 'c', 'a'])
  assert.deepEqual(chosen('longest_idle', {}, { refusedBy: ['b'] }), ['c'])
  assert.deepEqual(chosen('longest_idle', {}, { wantedAgent: 'd' }), ['d'])
  assert.deepEqual(chosen('longest_idle', {}, { skills: [{ name: 'swahili' }] }), [])
})

test('callers are served by priority, which rises while they wait, and then by their time', () => {
  const waiting = fc.array(
    fc.record({ priority: fc.integer({ min: 1, max: 10 }), enteredMs: fc.integer({ min: 0, max: 900_000 }) }),
    { maxLength: 20 },
  )
  fc.assert(
    fc.property(waiting, (all) => {
      const line = inOrder(
        all.map((one, i) => ({ ...one, id: String(i), agingSeconds: 60 })),
        900_000,
      )
      const aged = line.map(({ priority, enteredMs }) => priority + Math.floor((900_000 - enteredMs) / 60_000))
      for (let i = 1; i < line.length; i++) {
        const [before = 0, here = 0] = [aged[i - 1], aged[i]]
        assert.ok(before > here || (before === here && (line[i - 1]?.enteredMs ?? 0) <= (line[i]?.enteredMs ?? 0)))
      }
      assert.equal(line.length, all.length)
    }),
  )
})

test('a wait is expected by the place, the agents and how long calls take', () => {
  assert.equal(estimatedWait(1, { working: 0, available: 0 }, 100), null)
  assert.equal(estimatedWait(2, { working: 3, available: 2 }, 100), 0)
  assert.equal(estimatedWait(5, { working: 2, available: 1 }, 100), 200)
  assert.equal(estimatedWait(1, { working: 1, available: 0 }, null), 180)
})
