// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Handover } from './handover.ts'

test('a thing is told once, and then forgotten', () => {
  const memory = new Handover<number>(60_000, 10)
  memory.keep('a', 1)
  assert.equal(memory.take('b'), null)
  assert.equal(memory.take('a'), 1)
  assert.equal(memory.take('a'), null)
})

test('a thing that nobody asked for in time is not told', () => {
  const memory = new Handover<number>(0, 10)
  memory.keep('a', 1)
  assert.equal(memory.take('a'), null)
})

test('only so many things are remembered, the latest of them', () => {
  const memory = new Handover<number>(60_000, 3)
  for (let n = 0; n < 10; n++) memory.keep(`${n}`, n)
  assert.deepEqual(
    Array.from({ length: 10 }, (_, n) => memory.take(`${n}`)),
    [null, null, null, null, null, null, null, 7, 8, 9],
  )
})

test('all of it can be forgotten', () => {
  const memory = new Handover<number>(60_000, 3)
  memory.keep('a', 1)
  memory.clear()
  assert.equal(memory.take('a'), null)
})
