// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Priority } from '../message.ts'
import { FairQueue } from './fair-queue.ts'

/** An account and a number; the letter before them is the class. */
const classes: Readonly<Record<string, Priority>> = { o: 'otp', t: 'transactional', b: 'bulk' }

interface Item {
  name: string
  account: string
  priority: Priority
  weight: number
}

const itemOf = (name: string): Item => ({
  name,
  account: name.slice(1, 2),
  priority: classes[name.slice(0, 1)] ?? 'bulk',
  // One account pays for more.
  weight: name.slice(1, 2) === 'W' ? 3 : 1,
})

const orders: [string, string, string][] = [
  ['a password goes before everything that waits', 'bA1 bA2 tA1 oB1', 'oB1 tA1 bA1 bA2'],
  ['a single text goes before the bulk of another', 'bA1 bA2 bA3 tB1', 'tB1 bA1 bA2 bA3'],
  ['a small bulk goes beside a big one', 'bA1 bA2 bA3 bA4 bB1 bB2', 'bA1 bB1 bA2 bB2 bA3 bA4'],
  [
    'an account of weight three has three of its texts in a turn',
    'bA1 bA2 bA3 bW1 bW2 bW3 bW4 bW5',
    'bA1 bW1 bW2 bW3 bA2 bW4 bW5 bA3',
  ],
  ['many passwords of one account leave room for those of another', 'oA1 oA2 oA3 oB1', 'oA1 oB1 oA2 oA3'],
]
for (const [what, added, taken] of orders)
  test(what, () => {
    const queue = new FairQueue<Item>(100)
    for (const name of added.split(' ')) queue.add(itemOf(name))
    assert.equal(drain(queue).join(' '), taken)
  })

test('one account’s bulk fills neither the line of another’s bulk nor that of passwords', () => {
  const queue = new FairQueue<Item>(100)
  let much = 0
  while (queue.hasRoom(itemOf('bA'), 1)) queue.add(itemOf(`bA${much++}`))
  assert.equal(much, 50)
  assert.ok(queue.hasRoom(itemOf('bB'), 10), 'another account has room in the same class')
  assert.ok(queue.hasRoom(itemOf('oA'), 10), 'the same account has room for passwords')
  assert.equal(queue.hasRoom(itemOf('bB'), 51), false)
})

test('what could not go is the next of its account, and nothing is forgotten', () => {
  const queue = new FairQueue<Item>(100)
  for (const name of ['bA1', 'bA2', 'oB1']) queue.add(itemOf(name))
  const first = queue.take()
  assert.equal(first?.name, 'oB1')
  if (first) queue.giveBack(first)
  assert.equal(queue.size, 3)
  assert.deepEqual(
    queue.takeAll().map(({ name }) => name),
    ['oB1', 'bA1', 'bA2'],
  )
  assert.equal(queue.take(), undefined)
})

function drain(queue: FairQueue<Item>): string[] {
  const taken: string[] = []
  for (let item = queue.take(); item; item = queue.take()) taken.push(item.name)
  return taken
}
