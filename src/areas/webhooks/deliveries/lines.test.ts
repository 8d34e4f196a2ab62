// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Tenant } from '../../../platform/tenant.ts'
import { type Line, Lines } from './lines.ts'
import { Queue } from './queue.ts'

const tenant = (account: string): Tenant => ({ bucket: 0, account, environment: 'live' })

/** The keys of the lines that are served, each again and again. */
function served(lines: Lines, turns: number, serve: (line: Line) => boolean = () => true): string[] {
  const keys: string[] = []
  for (let turn = 0; turn < turns; turn += 1)
    lines.nextTurn((line) => {
      if (!serve(line)) return false
      keys.push(line.key)
      lines.giveTurn(line)
      return true
    })
  return keys
}

test('accounts take turns, and the endpoints of an account among themselves', () => {
  const lines = new Lines()
  for (const [account, endpoint] of [
    ['a', 'a1'],
    ['a', 'a2'],
    ['a', 'a3'],
    ['b', 'b1'],
  ] as const)
    lines.giveTurn(lines.of(tenant(account), endpoint, null))
  assert.equal(lines.accountsInTurn, 2)
  assert.deepEqual(served(lines, 8), ['a1', 'b1', 'a2', 'b1', 'a3', 'b1', 'a1', 'b1'])
})

test('a line that cannot be served keeps its place among the others', () => {
  const lines = new Lines()
  for (const endpoint of ['a1', 'a2']) lines.giveTurn(lines.of(tenant('a'), endpoint, null))
  assert.deepEqual(
    served(lines, 4, ({ key }) => key !== 'a1'),
    ['a2', 'a2'],
  )
  assert.deepEqual(served(lines, 2), ['a1', 'a2'])
})

test('callbacks have a line for each host and environment', () => {
  const lines = new Lines()
  const one = lines.of(tenant('a'), null, 'https://hooks.example.com/one?x=/')
  assert.equal(lines.of(tenant('a'), null, 'https://hooks.example.com/two'), one)
  assert.equal(lines.of(tenant('a'), null, 'https://hooks.example.com'), one)
  assert.notEqual(lines.of({ ...tenant('a'), environment: 'test' }, null, 'https://hooks.example.com/one'), one)
  assert.notEqual(lines.of(tenant('a'), null, 'https://other.example.com/one'), one)
})

test('what has changed is looked up again: an endpoint, the callbacks of an account, or everything', () => {
  const lines = new Lines()
  const endpoint = lines.of(tenant('a'), 'a1', null)
  const callback = lines.of(tenant('a'), null, 'https://hooks.example.com/')
  const other = lines.of(tenant('b'), 'b1', null)
  const known = () => [endpoint, callback, other].filter(({ targetUntilMs }) => targetUntilMs > 0).length
  const remember = () => {
    for (const line of lines.values()) line.targetUntilMs = 1
  }
  remember()
  lines.forget('a1')
  assert.deepEqual([endpoint.targetUntilMs, known()], [0, 2])
  lines.forget('callback:a')
  assert.deepEqual([callback.targetUntilMs, known()], [0, 1])
  remember()
  lines.forgetAll()
  assert.equal(known(), 0)
})

test('so many lines are remembered; the first that has nothing to do goes, unless it is known to fail', () => {
  const lines = new Lines()
  const failing = lines.of(tenant('a'), 'e0', null)
  failing.breaker.open(0)
  for (let i = 1; i < 10_000; i += 1) lines.of(tenant('a'), `e${i}`, null)
  const second = lines.of(tenant('a'), 'e1', null)
  lines.of(tenant('a'), 'one more', null)
  assert.equal([...lines.values()].length, 10_000)
  assert.equal(lines.of(tenant('a'), 'e0', null), failing)
  assert.notEqual(lines.of(tenant('a'), 'e1', null), second)
})

test('a queue gives what came first, however much came and went', () => {
  const queue = new Queue<number>()
  let [given, taken] = [0, 0]
  for (let round = 0; round < 5_000; round += 1) {
    for (let i = 0; i < (round % 7) + 1; i += 1) queue.push(given++)
    for (let i = 0; i < (round % 5) + 1 && queue.length > 0; i += 1) assert.equal(queue.shift(), taken++)
    assert.deepEqual([queue.length, queue.first()], [given - taken, given === taken ? undefined : taken])
  }
  queue.clear()
  assert.deepEqual([queue.length, queue.shift()], [0, undefined])
})
