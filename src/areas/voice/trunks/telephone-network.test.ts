// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { latenessLimitMs } from './telephone-network.ts'

test('audio that is a little late refuses calls in production, not in development', () => {
  const limit = (NODE_ENV: 'production' | 'development', given: number) =>
    latenessLimitMs({ NODE_ENV, PAMOJA_VOICE_LATENESS_MS: given })
  assert.equal(limit('production', 0), 60)
  assert.equal(limit('development', 0), 5_000)
  assert.equal(limit('production', 200), 200)
  assert.equal(limit('development', 20), 20)
})
