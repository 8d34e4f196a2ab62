// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { mayHold, Turns } from './turns.ts'

const orders: [string, string, string][] = [
  ['one holder is served in its order', 'a1 a2 a3', 'a1 a2 a3'],
  ['two holders take turns', 'a1 a2 a3 b1 b2', 'a1 b1 a2 b2 a3'],
  ['a single item does not wait for a long line', 'a1 a2 a3 a4 a5 a6 b1', 'a1 b1 a2 a3 a4 a5 a6'],
  ['three holders, one of them with little', 'a1 a2 a3 b1 c1 c2', 'a1 b1 c1 a2 c2 a3'],
]
for (const [what, added, taken] of orders)
  test(what, () => {
    const turns = new Turns<string>()
    for (const item of added.split(' ')) turns.add(item.slice(0, 1), item)
    assert.equal(drain(turns).join(' '), taken)
  })

test('what is given back is the next of its holder', () => {
  const turns = new Turns<string>()
  for (const item of ['a1', 'a2', 'b1']) turns.add(item.slice(0, 1), item)
  const first = turns.take() ?? ''
  turns.giveBack('a', first)
  assert.deepEqual(drain(turns), ['b1', 'a1', 'a2'])
})

test('nothing is lost or doubled, a holder’s order stands, and who waits is passed by nobody twice', () => {
  const steps = fc.array(fc.oneof(fc.constantFrom('a', 'b', 'c', 'd'), fc.constant(null)), { maxLength: 200 })
  fc.assert(
    fc.property(steps, (script) => {
      const turns = new Turns<string>()
      const waiting = new Map<string, string[]>()
      /** For each holder that waits: whom it saw being served since it was last served, or came. */
      const passed = new Map<string, Set<string>>()
      script.forEach((holder, i) => {
        if (holder !== null) {
          turns.add(holder, `${holder}${i}`)
          if (!waiting.get(holder)?.length) passed.set(holder, new Set())
          waiting.set(holder, [...(waiting.get(holder) ?? []), `${holder}${i}`])
          return
        }
        const item = turns.take()
        const served = item?.slice(0, 1) ?? ''
        assert.equal(item, waiting.get(served)?.shift())
        for (const [other, seen] of passed)
          if (other !== served && waiting.get(other)?.length) {
            assert.ok(!seen.has(served), `${served} went twice before ${other}`)
            seen.add(served)
          }
        passed.set(served, new Set())
      })
      const left = [...waiting.values()].flat()
      assert.equal(turns.size, left.length)
      assert.deepEqual(turns.takeAll().sort(), left.sort())
      assert.equal(turns.size, 0)
    }),
  )
})

test('however greedy the holders are, a newcomer finds places, and in time all hold the same', () => {
  const capacity = 1_000
  const held = [0, 0, 0, 0]
  const total = () => held.reduce((sum, one) => sum + one, 0)
  const grab = (holder: number) => {
    while (mayHold(held[holder] ?? 0, 1, capacity - total())) held[holder] = (held[holder] ?? 0) + 1
  }
  for (const holder of held.keys()) {
    assert.ok(capacity - total() >= 100, 'there is room when it comes')
    grab(holder)
  }
  assert.equal(held[0], 500)
  for (let round = 0; round < capacity; round++)
    for (const holder of held.keys()) {
      held[holder] = (held[holder] ?? 0) - 1
      grab(holder)
    }
  for (const one of held) assert.ok(Math.abs(one - capacity / (held.length + 1)) <= held.length, held.join())
})

function drain(turns: Turns<string>): string[] {
  const taken: string[] = []
  for (let item = turns.take(); item !== undefined; item = turns.take()) taken.push(item)
  return taken
}
