// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isInProgress } from './in-progress.ts'

const rows = [
  ['planned', true, 9_999, true, 'the request that accepted it is about to send it'],
  ['planned', true, 10_000, false, 'that request is dead'],
  ['planned', false, 0, false, 'no request sends it'],
  ['sending', true, 39_999, true, 'whoever sent it waits for the answer'],
  ['sending', false, 39_999, true, 'be it a request or a job'],
  ['sending', true, 40_000, false, 'whoever sent it is dead'],
  ['accepted', true, 0, false, 'the provider has it'],
] as const

for (const [state, inline, quietMs, expected, why] of rows)
  test(`${state} for ${quietMs} ms, ${inline ? 'by its request' : 'by its job'}: ${why}`, () => {
    assert.equal(isInProgress(state, inline, quietMs), expected)
  })
