// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { registryBreaker } from './breaker.ts'

test('five failures within half a minute close it for half a minute; an answer forgets them', () => {
  const failures = registryBreaker()
  for (let at = 0; at < 4; at++) failures.record(false, at)
  failures.record(true, 4)
  for (let at = 5; at < 9; at++) failures.record(false, at)
  assert.equal(failures.admits(9), true)
  failures.record(false, 9)
  assert.equal(failures.admits(9), false)
  assert.equal(failures.admits(30_008), false)
  assert.equal(failures.admits(30_009), true)
})

test('failures that lie far apart close nothing', () => {
  const failures = registryBreaker()
  for (let at = 0; at < 20; at++) failures.record(false, at * 10_000)
  assert.equal(failures.admits(200_000), true)
})
