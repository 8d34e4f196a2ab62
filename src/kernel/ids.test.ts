// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bucketOf, firstUuidAt, idOf, msOfId, newId, newUuid, timeOfUuid, uuidOf } from './ids.ts'

test('an id is its prefix and 26 Crockford characters, and leads back to its UUID', () => {
  for (let i = 0; i < 1000; i++) {
    const uuid = newUuid(1_700_000_000_000 + i)
    const id = idOf('apiKey', uuid)
    assert.match(id, /^key_[0-9a-hjkmnp-tv-z]{26}$/)
    assert.equal(uuidOf('apiKey', id), uuid)
    assert.equal(timeOfUuid(uuid).getTime(), 1_700_000_000_000 + i)
  }
})

test('known UUIDs have known texts', () => {
  assert.equal(idOf('account', '00000000-0000-0000-0000-000000000000'), 'acc_00000000000000000000000000')
  assert.equal(idOf('account', 'ffffffff-ffff-ffff-ffff-ffffffffffff'), 'acc_7zzzzzzzzzzzzzzzzzzzzzzzzz')
  assert.equal(idOf('account', '0188bac7-4afa-78aa-bc3b-bd1eef28d881'), 'acc_01h2xcejqtf2nbrexx3vqjhp41')
})

test('the digits of a UUID without its dashes have the same id', () => {
  assert.equal(idOf('account', '0188bac74afa78aabc3bbd1eef28d881'), 'acc_01h2xcejqtf2nbrexx3vqjhp41')
})

test('what is not a UUID has no id', () => {
  for (const bad of ['', '0188bac7', '0188bac7-4afa-78aa-bc3b-bd1eef28d88g', '0188bac7-4afa-78aa-bc3b-bd1eef28d8g8'])
    assert.throws(() => idOf('account', bad), /not a UUID/)
})

test('ids made later sort later, also within one millisecond and when the clock steps back', () => {
  const base = 1_900_000_000_000
  const made = Array.from({ length: 10_000 }, (_, i) => newId('event', base + (i % 7)))
  assert.deepEqual(made, [...made].sort())
  assert.equal(new Set(made).size, made.length)
})

test('what is not an id of the kind is refused', () => {
  const id = newId('account', 1_900_000_000_000)
  for (const bad of [
    '',
    'acc_',
    id.slice(0, -1),
    `${id}0`,
    id.replace('acc_', 'key_'),
    `acc_8${id.slice(5)}`,
    `acc_${'u'.repeat(26)}`,
    `acc-${id.slice(4)}`,
    `acc_${'é'.repeat(26)}`,
  ])
    assert.equal(uuidOf('account', bad), null, bad)
  assert.equal(
    uuidOf('account', id.toUpperCase().replace('ACC', 'acc')),
    uuidOf('account', id),
    'upper case is read too',
  )
})

test('every UUID survives the way to an id and back', () => {
  fc.assert(
    fc.property(fc.uuid(), (uuid) => {
      assert.equal(uuidOf('webhook', idOf('webhook', uuid)), uuid)
      const bucket = bucketOf(uuid)
      assert.ok(bucket >= 0 && bucket < 256)
    }),
  )
})

test('the first UUID of a moment sorts before every id made in it and after every earlier one', () => {
  const at = 2_000_000_000_000
  assert.ok(newUuid(at - 1) < firstUuidAt(at))
  assert.ok(firstUuidAt(at) <= newUuid(at))
})

test('a moment before the first id or after the last has the first UUID there is, or one beyond every id', () => {
  assert.equal(firstUuidAt(Date.parse('1960-01-01')), firstUuidAt(0))
  assert.ok(newUuid(2_000_000_000_001) < firstUuidAt(Date.parse('9999-12-31')))
  assert.equal(firstUuidAt(8.64e15), 'ffffffff-ffff-7000-8000-000000000000')
})

test('an id of any kind says when it was made; what is none says nothing', () => {
  const atMs = Date.parse('2100-03-01T09:15:30.123Z')
  assert.equal(msOfId(newId('account', atMs)), atMs)
  assert.equal(msOfId(newId('webhook', atMs + 1)), atMs + 1)
  for (const text of ['', 'wh_', '+254711000001', `wh${'0'.repeat(26)}`, `wh_${'u'.repeat(26)}`, '_'.repeat(30)])
    assert.equal(msOfId(text), null, text)
})
