// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Breaker } from '../../../platform/connections/breaker.ts'
import { providerBreaker } from './breaker.ts'

const record = (breaker: Breaker, answers: string, atMs = 0): void => {
  for (const answer of answers) breaker.record(answer === '+', atMs)
}

test('a provider is up until half of twenty requests got no answer', () => {
  const breaker = providerBreaker({ opens: true })
  record(breaker, '-'.repeat(19))
  assert.deepEqual([breaker.status, breaker.admits(0)], ['up', true], 'too few to tell')
  const mixed = providerBreaker({ opens: true })
  record(mixed, '+++-'.repeat(5))
  assert.deepEqual([mixed.status, mixed.admits(0)], ['degraded', true])
  record(mixed, '-'.repeat(6))
  assert.deepEqual([mixed.status, mixed.admits(0)], ['down', false])
})

test('a provider that is down is tried with three requests after half a minute', () => {
  const breaker = providerBreaker({ opens: true })
  record(breaker, '-'.repeat(20))
  assert.equal(breaker.admits(29_999), false)
  assert.deepEqual(
    [1, 2, 3, 4].map(() => breaker.admits(30_000)),
    [true, true, true, false],
  )
  record(breaker, '-', 30_000)
  assert.equal(breaker.admits(59_999), false, 'still down: half a minute more')
  assert.equal(breaker.admits(60_000), true)
  record(breaker, '+', 60_000)
  assert.deepEqual([breaker.status, breaker.admits(60_000)], ['up', true])
})

test('probes of which nothing is ever heard do not keep a provider down for good', () => {
  const breaker = providerBreaker({ opens: true })
  record(breaker, '-'.repeat(20))
  for (let probe = 0; probe < 3; probe++) assert.equal(breaker.admits(30_000), true)
  assert.equal(breaker.admits(59_999), false)
  assert.equal(breaker.admits(60_000), true)
})

test('a simulated provider is asked whatever it answered before', () => {
  const breaker = providerBreaker({ opens: false })
  record(breaker, '-'.repeat(40))
  assert.deepEqual([breaker.status, breaker.admits(0)], ['up', true])
})
