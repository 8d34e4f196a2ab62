// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Gatherer } from './gather.ts'

/** Gatherer whose batches end on command. */
function gathered({ most = 3, atOnce = 2, ofHolder = 1 } = {}) {
  const batches: { items: readonly string[]; end(): void; fail(error: Error): void }[] = []
  const gathering = new Gatherer<string, string>({
    most,
    atOnce,
    ofHolder,
    run: (items) =>
      new Promise((resolve, reject) => {
        batches.push({ items, end: () => resolve(items.map((item) => item.toUpperCase())), fail: reject })
      }),
  })
  const begun = () => batches.map(({ items }) => items.join(''))
  return { gathering, batches, begun }
}

const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

test('what comes together is done together, up to so many, and each gets its own result', async () => {
  const { gathering, batches, begun } = gathered()
  const results = [...'abcd'].map((item) => gathering.join(item, 'one'))
  await turn()
  assert.deepEqual(begun(), ['abc'])
  batches[0]?.end()
  await turn()
  assert.deepEqual(begun(), ['abc', 'd'])
  batches[1]?.end()
  assert.deepEqual(await Promise.all(results), ['A', 'B', 'C', 'D'])
})

test('a holder has one batch at a time, what comes meanwhile gathers, and holders take turns', async () => {
  const { gathering, batches, begun } = gathered({ atOnce: 1 })
  const all = [...'abcdef'].map((item) => gathering.join(item, 'one'))
  await turn()
  all.push(gathering.join('x', 'two'), gathering.join('y', 'two'), gathering.join('g', 'one'))
  await turn()
  assert.deepEqual(begun(), ['abc'])
  for (let i = 0; i < 4; i++) {
    batches[i]?.end()
    await turn()
  }
  assert.deepEqual(begun(), ['abc', 'def', 'xy', 'g'])
  assert.equal((await Promise.all(all)).join(''), 'ABCDEFXYG')
})

test('no more than so many batches are done at once', async () => {
  const { gathering, batches, begun } = gathered({ atOnce: 2 })
  for (const holder of 'abc') void gathering.join(holder, holder)
  await turn()
  assert.deepEqual(begun(), ['a', 'b'])
  batches[1]?.end()
  await turn()
  assert.deepEqual(begun(), ['a', 'b', 'c'])
})

test('a batch that fails fails for all of it, and the next goes on', async () => {
  const { gathering, batches } = gathered({ most: 2 })
  const results = [...'abc'].map((item) => gathering.join(item, 'one'))
  const seen = Promise.allSettled(results)
  await turn()
  batches[0]?.fail(new Error('away'))
  await turn()
  batches[1]?.end()
  assert.deepEqual(
    (await seen).map(({ status }) => status),
    ['rejected', 'rejected', 'fulfilled'],
  )
})

test('a batch that gives too few results fails for those it left out', async () => {
  const gathering = new Gatherer<string, string>({ most: 5, atOnce: 1, run: async ([first = '']) => [first] })
  const [a, b] = await Promise.allSettled([gathering.join('a', 'one'), gathering.join('b', 'one')])
  assert.deepEqual([a?.status, b?.status], ['fulfilled', 'rejected'])
})

test('a holder that may have several batches at once gets the next while one is under way', async () => {
  const { gathering, batches, begun } = gathered({ most: 2, atOnce: 2, ofHolder: 2 })
  const results = [...'abcde'].map((item) => gathering.join(item))
  await turn()
  await turn()
  assert.deepEqual(begun(), ['ab', 'cd'])
  batches[1]?.end()
  await turn()
  assert.deepEqual(begun(), ['ab', 'cd', 'e'])
  for (const { end } of batches) end()
  assert.equal((await Promise.all(results)).join(''), 'ABCDE')
})

test('what finds too many waiting is refused at once', async () => {
  const { gathering } = gathered({ most: 1, atOnce: 1 })
  const waiting = Array.from({ length: 20_000 }, () => gathering.join('a'))
  await assert.rejects(gathering.join('b'), { code: 'SERVICE_UNAVAILABLE' })
  assert.equal(waiting.length, 20_000)
})
