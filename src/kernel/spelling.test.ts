// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { editDistance, nearest } from './spelling.ts'

for (const [a, b, distance] of [
  ['send', 'send', 0],
  ['sned', 'send', 1],
  ['sen', 'send', 1],
  ['sends', 'send', 1],
  ['sand', 'send', 1],
  ['esnd', 'send', 1],
  ['', 'send', 4],
  ['send', '', 4],
  ['payment', 'payout', 3],
] as const)
  test(`${a || 'nothing'} is ${distance} from ${b || 'nothing'}`, () => assert.equal(editDistance(a, b), distance))

for (const [word, meant] of [
  ['sned', 'send'],
  ['recieve', 'receive'],
  ['sand!', null],
  ['', null],
  ['x'.repeat(100_000), null],
] as const)
  test(`${word.slice(0, 10) || 'nothing'} means ${meant}`, () =>
    assert.equal(nearest(word, ['send', 'receive']), meant))
