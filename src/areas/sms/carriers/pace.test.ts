// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Pace } from './pace.ts'

/** How many parts go out in a second, asked every millisecond. */
function inSecond(pace: Pace, fromMs: number): number {
  let sent = 0
  for (let ms = 0; ms < 1_000; ms++) while (sent < 10_000 && pace.take(fromMs + ms) === 0) sent++
  return sent
}

test('a bind sends no more than its rate', () => {
  const pace = new Pace(50, 0)
  inSecond(pace, 0)
  assert.ok(Math.abs(inSecond(pace, 1_000) - 50) <= 1)
})

test('a rate below one burst still lets every part out in its time', () => {
  const pace = new Pace(2, 0)
  assert.equal(pace.take(0), 0)
  const waitMs = pace.take(0)
  assert.equal(waitMs, 500)
  assert.equal(pace.take(waitMs), 0)
})

test('a complaint halves the rate once, and it is won back little by little', () => {
  const pace = new Pace(100, 0)
  pace.slowDown(0)
  pace.slowDown(1)
  assert.equal(Math.round(pace.ratePerSecond), 50)
  assert.ok(pace.take(2) > 0, 'nothing is sent right after a complaint')
  pace.take(10_000)
  assert.ok(pace.ratePerSecond > 70 && pace.ratePerSecond < 80)
  pace.take(20_000)
  assert.equal(pace.ratePerSecond, 100)
})

test('a bind without a limit learns one from a complaint and forgets it when all is well', () => {
  const pace = new Pace(null, 0)
  assert.equal(inSecond(pace, 0), 10_000)
  pace.slowDown(1_000)
  assert.equal(pace.ratePerSecond, 5_000)
  pace.take(30_000)
  assert.equal(pace.ratePerSecond, Number.POSITIVE_INFINITY)
  assert.equal(inSecond(pace, 30_000), 10_000)
})
