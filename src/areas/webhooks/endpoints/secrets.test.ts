// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inForce, newSecret } from './secrets.ts'

const rotation = { secret: 'old', next: 'new', activatesAt: new Date(1_000) }
const rows: [held: { secret: string; next: string | null; activatesAt: Date | null }, nowMs: number, object][] = [
  [{ secret: 'old', next: null, activatesAt: null }, 5_000, { current: 'old', next: null }],
  [rotation, 999, { current: 'old', next: 'new' }],
  [rotation, 1_000, { current: 'new', next: null }],
  [rotation, 1_001, { current: 'new', next: null }],
]
for (const [held, nowMs, expected] of rows)
  test(`at ${nowMs}, ${JSON.stringify(held)} signs with ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(inForce(held, nowMs), expected)
  })

test('a secret is whsec_ and 32 bytes in base64, and no two are the same', () => {
  const made = Array.from({ length: 50 }, newSecret)
  for (const secret of made) {
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
    assert.equal(Buffer.from(secret.slice(6), 'base64').length, 32)
  }
  assert.equal(new Set(made).size, 50)
})
