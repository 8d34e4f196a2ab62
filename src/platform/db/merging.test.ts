// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstBy, gone, pageById, summed } from './merging.ts'

const rows = (...ids: string[]): { id: string }[] => ids.map((id) => ({ id }))
const ids = (found: { id: string }[]): string[] => found.map(({ id }) => id)

test('a page of several cells is the one that a single database gives, with the row that tells of a next page', () => {
  const page = pageById<{ id: string }>(({ id }) => id)
  const answers = rows('c', 'a', 'd', 'b')
  assert.deepEqual(ids(page(answers, { descending: true, limit: 2 })), ['d', 'c', 'b'])
  assert.deepEqual(ids(page(answers, { descending: false, limit: 2 })), ['a', 'b', 'c'])
  assert.deepEqual(ids(page(answers, { descending: false, limit: 9 })), ['a', 'b', 'c', 'd'])
})

test('the first rows of several cells go by their key', () => {
  const first = firstBy<{ id: string }, { limit: number }>(
    ({ id }) => id,
    ({ limit }) => limit,
  )
  assert.deepEqual(ids(first(rows('c', 'a', 'b'), { limit: 2 })), ['a', 'b'])
  const last = firstBy<{ id: string }, object>(
    ({ id }) => id,
    () => 1,
    true,
  )
  assert.deepEqual(ids(last(rows('c', 'a', 'd', 'b'), {})), ['d'])
})

test('rows of one key become one, and what was purged is added up', () => {
  const lanes = [
    { lane: 'a', jobs: 1 },
    { lane: 'b', jobs: 2 },
    { lane: 'a', jobs: 3 },
  ]
  const add = (a: { lane: string; jobs: number }, b: { jobs: number }) => ({ ...a, jobs: a.jobs + b.jobs })
  assert.deepEqual(summed<{ lane: string; jobs: number }>(({ lane }) => lane, add)(lanes), [
    { lane: 'a', jobs: 4 },
    { lane: 'b', jobs: 2 },
  ])
  assert.deepEqual(gone.merge([{ gone: 3 }, { gone: 4 }]), [{ gone: 7 }])
})
