// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { runs } from '../../test/properties.ts'
import { type BookOptions, Journal } from './journal.ts'

const dir = mkdtempSync(join(tmpdir(), 'pamoja-journal-'))
after(() => rmSync(dir, { recursive: true }))

interface Order {
  amount: number
  isPaid?: boolean
}

const dayMs = 86_400_000
let files = 0
const newFile = (): string => join(dir, `${++files}.journal`)

/** A journal with one book, as a provider that starts opens it. */
function open(
  file: string | null,
  options: Partial<BookOptions<Order>> & { nowMs?: number; problems?: unknown[] } = {},
) {
  const { nowMs = 1_000, problems = [], ...more } = options
  const onProblem = (error: unknown): void => void problems.push(error)
  const journal = new Journal({ file, now: () => nowMs, timeScale: 1, onProblem })
  return { journal, book: journal.book<Order>({ name: 'orders', most: 100, ...more }) }
}

test('what was put, changed and deleted is the same after a start, in the order in which it came', () => {
  const file = newFile()
  const { journal, book } = open(file)
  for (const key of ['a', 'b\t\nwith "odd" signs %', 'c', 'd']) book.put(key, { amount: 1 })
  const first = book.get('a')
  assert.ok(first)
  first.isPaid = true
  book.keep('a')
  book.put('c', { amount: 3 })
  book.delete('d')
  journal.stop()
  assert.deepEqual(open(file).book.entries(), [
    ['a', { amount: 1, isPaid: true }],
    ['b\t\nwith "odd" signs %', { amount: 1 }],
    ['c', { amount: 3 }],
  ])
  assert.equal(statSync(file).mode & 0o777, 0o600, 'only its owner reads it')
})

test('wherever a kill cut the file, all whole lines are read, and what is written next is too', () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(5), { minLength: 1, maxLength: 20 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (keys, cut) => {
        const file = newFile()
        const { journal, book } = open(file)
        const sizes = [statSync(file).size]
        keys.forEach((key, amount) => {
          book.put(String(key), { amount })
          sizes.push(statSync(file).size)
        })
        journal.stop()
        const [begin = 0, end = 0] = [sizes[0], sizes.at(-1)]
        const size = Math.floor(begin + cut * (end - begin))
        truncateSync(file, size)
        const whole = sizes.filter((one) => one <= size).length - 1
        const expected = new Map(keys.slice(0, whole).map((key, amount) => [String(key), { amount }]))
        const again = open(file)
        assert.deepEqual(new Map(again.book.entries()), expected)
        again.book.put('next', { amount: -1 })
        again.journal.stop()
        assert.deepEqual(new Map(open(file).book.entries()), expected.set('next', { amount: -1 }))
      },
    ),
    { numRuns: runs(50) },
  )
})

test('what was due and not done is done after a start, once, and again after what it gives', async () => {
  const file = newFile()
  const { journal, book } = open(file)
  book.put('late', { amount: 1 }, 60_000)
  book.put('soon', { amount: 2 }, 0)
  book.put('never', { amount: 3 })
  journal.stop()
  const done: [string, number][] = []
  const twice = new Promise<void>((resolve) => {
    const second = open(file, {
      nowMs: 61_000,
      async due({ amount }, key) {
        done.push([key, amount])
        if (done.length === 3) {
          second.journal.stop()
          resolve()
        }
        return key === 'soon' && done.length < 3 ? 0 : undefined
      },
    })
    assert.deepEqual([second.book.isDue('late'), second.book.isDue('never')], [true, false])
    second.journal.begin()
  })
  await twice
  assert.deepEqual(done.sort(), [
    ['late', 1],
    ['soon', 2],
    ['soon', 2],
  ])
})

test('what is due is done once, whether it was put before or after the journal begins, and one that fails is over', async () => {
  const file = newFile()
  const done: string[] = []
  const problems: unknown[] = []
  const { journal, book } = open(file, {
    problems,
    async due(_order, key) {
      done.push(key)
      if (key === 'fails') throw new Error('it cannot be told')
      return undefined
    },
  })
  book.put('before', { amount: 1 }, 0)
  book.put('fails', { amount: 1 }, 0)
  const playing = book.play('before')
  journal.begin()
  journal.begin()
  book.put('after', { amount: 1 }, 0)
  await playing
  for (const key of ['before', 'fails', 'after']) await book.play(key)
  assert.deepEqual(done.sort(), ['after', 'before', 'fails'])
  assert.equal(problems.length, 1)
  journal.stop()
  const { book: again } = open(file)
  assert.deepEqual(
    ['before', 'fails', 'after'].map((key) => again.isDue(key)),
    [false, false, false],
  )
})

test('something put again while its due is done is not ended by it', async () => {
  let finish: () => void = () => undefined
  const { book, journal } = open(null, {
    due: () =>
      new Promise<undefined>((resolve) => {
        finish = () => resolve(undefined)
      }),
  })
  book.put('a', { amount: 1 }, 60_000)
  const playing = book.play('a')
  book.put('a', { amount: 2 }, 60_000)
  finish()
  await playing
  assert.equal(book.isDue('a'), true)
  journal.stop()
})

test('the oldest is forgotten beyond the bound, and at a start what nobody touched for 90 days', () => {
  const file = newFile()
  const forgotten: number[] = []
  const { journal, book } = open(file, { most: 3, forgotten: ({ amount }) => void forgotten.push(amount) })
  for (let amount = 1; amount <= 5; amount++) book.put(String(amount), { amount })
  assert.deepEqual([book.size, forgotten], [3, [1, 2]])
  journal.stop()
  assert.deepEqual(
    open(file, { most: 3 })
      .book.values()
      .map(({ amount }) => amount),
    [3, 4, 5],
  )
  assert.equal(open(file, { most: 3, nowMs: 90 * dayMs + 1_000 }).book.size, 3)
  assert.equal(open(file, { nowMs: 90 * dayMs + 1_001 }).book.size, 0)
})

test('the file is written anew when most of it is no longer true, and says the same', () => {
  const file = newFile()
  const { journal, book } = open(file)
  for (let amount = 0; amount < 30_000; amount++) book.put(String(amount % 10), { amount })
  const lines = (): number => readFileSync(file, 'utf8').split('\n').length
  assert.ok(lines() < 12_000, `${lines()} lines`)
  journal.stop()
  const again = open(file)
  assert.deepEqual(again.book.get('9'), { amount: 29_999 })
  again.journal.begin()
  assert.ok(lines() < 30, `${lines()} lines after a start`)
  again.book.put('new', { amount: 1 })
  again.journal.stop()
  assert.deepEqual(open(file).book.get('new'), { amount: 1 })
})

test('a file beyond its bound is begun anew', () => {
  const file = newFile()
  const { journal, book } = open(file)
  book.put('a', { amount: 1 })
  journal.stop()
  // Sparse: it takes no room.
  truncateSync(file, 256 * 1024 * 1024 + 1)
  assert.equal(open(file).book.size, 0)
  assert.ok(statSync(file).size < 100)
})

test('a file of another format is begun anew, and lines that are none of ours are passed over', () => {
  const file = newFile()
  writeFileSync(file, 'something else\norders\ta\t1\t\t{}\n')
  const { journal, book } = open(file)
  assert.equal(book.size, 0)
  book.put('a', { amount: 1 })
  journal.stop()
  appendFileSync(file, 'orders\tb\t1\t\t{not json\norders\t%\t1\t\t{}\n\nstrangers\tc\t1\t\t{}\norders\td\t1\n')
  assert.deepEqual(open(file).book.entries(), [['a', { amount: 1 }]])
})

test('where nothing can be written the books are in memory, and somebody is told once', () => {
  const problems: unknown[] = []
  const { journal, book } = open(join(newFile(), 'below'), { problems })
  assert.equal(problems.length, 0, 'a directory is made')
  journal.stop()
  writeFileSync(join(dir, 'a-file'), '')
  const other = open(join(dir, 'a-file', 'below'), { problems })
  other.book.put('a', { amount: 1 })
  assert.deepEqual([problems.length, other.book.get('a')], [1, { amount: 1 }])
  assert.equal(book.size, 0)
})
