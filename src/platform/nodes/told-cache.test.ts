// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ToldCache } from './told-cache.ts'

function line() {
  const gaps: (() => void)[] = []
  return {
    connected: true,
    onGap: (listener: () => void) => void gaps.push(listener),
    cut() {
      this.connected = false
      for (const gap of gaps) gap()
    },
  }
}

function counting() {
  let loads = 0
  return { load: async () => ++loads, count: () => loads }
}

test('what is known is not asked for again until it is forgotten', async () => {
  const cache = new ToldCache<number>(line(), { most: 10, goodForMs: 60_000 })
  const { load } = counting()
  assert.deepEqual([await cache.of('a', load), await cache.of('a', load)], [1, 1])
  cache.forget('a')
  assert.equal(await cache.of('a', load), 2)
  cache.forgetAll()
  assert.equal(await cache.of('a', load), 3)
})

test('nothing is trusted while the line is cut', async () => {
  const signals = line()
  const cache = new ToldCache<number>(signals, { most: 10, goodForMs: 60_000 })
  const { load } = counting()
  await cache.of('a', load)
  signals.cut()
  assert.deepEqual([await cache.of('a', load), await cache.of('a', load)], [2, 3])
})

test('a change that comes while it is read is not missed, and a failure is not kept', async () => {
  const cache = new ToldCache<number>(line(), { most: 10, goodForMs: 60_000 })
  const { load } = counting()
  const reading = cache.of('a', load)
  cache.forget('a')
  await reading
  assert.equal(await cache.of('a', load), 2)
  await assert.rejects(cache.of('b', async () => assert.fail('the database is away')))
  assert.equal(await cache.of('b', load), 3)
})

test('so many are kept and no more, for so long and no longer', async () => {
  const { load, count } = counting()
  const small = new ToldCache<number>(line(), { most: 2, goodForMs: 60_000 })
  for (const key of ['a', 'b', 'c', 'b', 'c']) await small.of(key, load)
  assert.equal(count(), 3)
  await small.of('a', load)
  assert.equal(count(), 4, 'the oldest was forgotten')
  const short = new ToldCache<number>(line(), { most: 2, goodForMs: 0 })
  for (let time = 0; time < 2; time++) await short.of('a', load)
  assert.equal(count(), 6)
})
