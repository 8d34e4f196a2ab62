// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { base32Of, stepOf, totpOf, totpUri } from './totp.ts'

const secret = Buffer.from('12345678901234567890')

test('codes are those of RFC 6238, appendix B, cut to six digits', () => {
  const table: readonly [seconds: number, code: string][] = [
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ]
  for (const [seconds, code] of table) assert.equal(totpOf(secret, Math.floor(seconds / 30)), code)
})

test('a code is taken a step early or late, once, and nothing else is', () => {
  const nowMs = 1_111_111_111_000
  const now = Math.floor(nowMs / 30_000)
  assert.equal(stepOf(secret, totpOf(secret, now), nowMs, 0), now)
  assert.equal(stepOf(secret, totpOf(secret, now - 1), nowMs, 0), now - 1)
  assert.equal(stepOf(secret, totpOf(secret, now + 1), nowMs, 0), now + 1)
  assert.equal(stepOf(secret, totpOf(secret, now + 2), nowMs, 0), null)
  assert.equal(stepOf(secret, totpOf(secret, now), nowMs, now), null)
  for (const wrong of ['', '12345', '1234567', 'abcdef']) assert.equal(stepOf(secret, wrong, nowMs, 0), null)
})

test('a secret is written as authenticators read it', () => {
  assert.equal(base32Of(secret), 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ')
  assert.match(totpUri(secret, 'ada@example.com'), /^otpauth:\/\/totp\/Pamoja:ada%40example\.com\?secret=GEZD/)
})
