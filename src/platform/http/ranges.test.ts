// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { knows, rangeOf } from './ranges.ts'

test('one range is read as RFC 9110 has it, and everything else is passed over', () => {
  const rows: [string | undefined, number, ReturnType<typeof rangeOf>][] = [
    [undefined, 10, null],
    ['bytes=0-0', 10, { first: 0, last: 0 }],
    ['bytes=2-5', 10, { first: 2, last: 5 }],
    ['BYTES=2-5', 10, { first: 2, last: 5 }],
    ['bytes=2-', 10, { first: 2, last: 9 }],
    ['bytes=2-99', 10, { first: 2, last: 9 }],
    ['bytes=-3', 10, { first: 7, last: 9 }],
    ['bytes=-99', 10, { first: 0, last: 9 }],
    ['bytes=-0', 10, 'outside'],
    ['bytes=10-', 10, 'outside'],
    ['bytes=10-12', 10, 'outside'],
    ['bytes=0-', 0, 'outside'],
    ['bytes=-5', 0, 'outside'],
    ['bytes=99999999999999999999-', 10, 'outside'],
    ['bytes=5-2', 10, null],
    ['bytes=-', 10, null],
    ['bytes=a-b', 10, null],
    ['bytes=0-1,3-4', 10, null],
    ['lines=0-1', 10, null],
  ]
  for (const [header, size, expected] of rows) assert.deepEqual(rangeOf(header, size), expected, String(header))
})

test('a client knows a tag if it names it, weakly or among others, or names any', () => {
  for (const header of ['"a"', 'W/"a"', '"b", "a"', '*']) assert.ok(knows(header, '"a"'), header)
  for (const header of [undefined, '', '"b"', 'a']) assert.ok(!knows(header, '"a"'), String(header))
})
