// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeWish, encodeWish, type Wish } from './wish.ts'

test('a wish is read as it was written, and what is none is passed over', () => {
  const wish: Wish = { account: 'a', delayMs: 5, outcome: '02', isOutOfCoverage: true, clockOffsetMs: 7 }
  assert.deepEqual(decodeWish(encodeWish(wish)), wish)
  assert.equal(decodeWish({}), null)
  const raw = (text: string) => decodeWish({ unknown: [{ tag: 0x1400, value: Buffer.from(text) }] })
  assert.equal(raw('{'), null)
  const none = { account: 'undefined', delayMs: null, outcome: null, isOutOfCoverage: false, clockOffsetMs: 0 }
  for (const text of ['null', '7', '[]', '{"delayMs":-1,"outcome":2,"isOutOfCoverage":"yes","clockOffsetMs":"1"}'])
    assert.deepEqual(raw(text), none, text)
  assert.equal(raw('{"delayMs":1e12}')?.delayMs, 3_600_000)
})
