// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rangeOf } from './byte-ranges.ts'

const cases: [string | undefined, ReturnType<typeof rangeOf>][] = [
  [undefined, null],
  ['bytes=0-9', { start: 0, end: 10 }],
  ['bytes=90-', { start: 90, end: 100 }],
  ['bytes=90-1000', { start: 90, end: 100 }],
  ['bytes=-10', { start: 90, end: 100 }],
  ['bytes=-1000', { start: 0, end: 100 }],
  ['bytes=99-99', { start: 99, end: 100 }],
  ['bytes=100-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=9-3', null],
  ['bytes=-', null],
  ['bytes=0-1,5-6', null],
  ['lines=0-9', null],
  ['bytes=x-9', null],
]

for (const [header, range] of cases)
  test(`of 100 bytes, ${header ?? 'no header'} asks for ${JSON.stringify(range)}`, () => {
    assert.deepEqual(rangeOf(header, 100), range)
  })
