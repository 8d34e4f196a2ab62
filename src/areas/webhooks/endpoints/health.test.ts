// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { durationBounds, durationSlots, percentile } from './health.ts'

const counts = (filled: Readonly<Record<number, number>>) =>
  Array.from({ length: durationSlots }, (_, slot) => filled[slot] ?? 0)

const rows: [filled: Record<number, number>, part: number, expected: number | null][] = [
  [{}, 0.5, null],
  [{ 0: 10 }, 0.5, 3],
  [{ 0: 1 }, 1, 5],
  [{ 6: 100 }, 0.5, 88],
  [{ 6: 100 }, 0.95, 99],
  [{ 6: 90, 12: 10 }, 0.5, 89],
  [{ 6: 90, 12: 10 }, 0.9, 100],
  [{ 6: 90, 12: 10 }, 0.95, 625],
  [{ 19: 3 }, 0.5, 5_000],
]
for (const [filled, part, expected] of rows)
  test(`of ${JSON.stringify(filled)}, ${part * 100} % took at most ${expected} ms`, () => {
    assert.equal(percentile(counts(filled), part), expected)
  })

test('a percentile never falls as its part grows', () => {
  const mixed = durationBounds.map((_, slot) => (slot * 7) % 5)
  let last = 0
  for (let part = 0; part <= 1; part += 0.01) {
    const found = percentile(mixed, part) ?? assert.fail()
    assert.ok(found >= last, `${part}: ${found} after ${last}`)
    last = found
  }
})

test('bounds rise, and there is one counter beyond the last', () => {
  assert.deepEqual(
    [...durationBounds].sort((a, b) => a - b),
    [...durationBounds],
  )
  assert.equal(durationSlots, durationBounds.length + 1)
})
