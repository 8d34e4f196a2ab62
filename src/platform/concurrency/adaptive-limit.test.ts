// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AdaptiveLimit } from './adaptive-limit.ts'

test('the limit doubles with each round of successes up to the maximum, and halves with a failure', () => {
  const limit = new AdaptiveLimit(4)
  assert.equal(limit.within(100), 4)
  assert.equal(limit.within(3), 3)
  for (let n = 0; n < 4; n++) limit.succeeded(100)
  assert.equal(limit.within(100), 8)
  for (let n = 0; n < 200; n++) limit.succeeded(100)
  assert.equal(limit.within(100), 100)
  limit.failed()
  assert.equal(limit.within(100), 50)
  for (let n = 0; n < 20; n++) limit.failed()
  assert.equal(limit.within(100), 1)
  limit.restart(2)
  assert.equal(limit.within(100), 2)
})
