// SPDX-License-Identifier: Apache-2.0
// What counts of a callback and of the provider's own answer, when both say that it was paid.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Verdict } from '../providers/provider.ts'
import { calledOf, fuller, surer } from './mobile-money.ts'

const bare = { kind: 'paid', receipt: null, micros: null } as const
const called = { kind: 'paid', receipt: 'C', micros: 5n, currency: 'UGX' } as const
const unread = { kind: 'unreadable', receipt: 'C', words: 'much' } as const

test('what the provider says when it is asked counts, and a callback’s word for the rest, in amount and currency', () => {
  const rows: [Parameters<typeof surer>[0], Parameters<typeof surer>[1], Verdict][] = [
    [bare, called, called],
    [{ ...bare, receipt: 'R' }, called, { ...called, receipt: 'R' }],
    [{ ...bare, micros: 6n }, called, { kind: 'paid', receipt: 'C', micros: 6n, currency: 'UGX' }],
    [{ ...bare, micros: 6n, currency: 'KES' }, called, { kind: 'paid', receipt: 'C', micros: 6n, currency: 'KES' }],
    [{ ...bare, currency: 'KES' }, called, { kind: 'paid', receipt: 'C', micros: 5n, currency: 'KES' }],
    [bare, { ...called, micros: null }, { ...called, micros: null }],
    [bare, unread, unread],
    [{ ...bare, micros: 6n }, unread, { kind: 'paid', receipt: 'C', micros: 6n }],
  ]
  for (const [confirmed, heard, expected] of rows) assert.deepEqual(surer(confirmed, heard), expected)
})

test('a callback is read again as it was noted', () => {
  const none = { called_amount: null, called_currency: null, called_words: null, called_receipt: null }
  assert.equal(calledOf(none), null)
  assert.deepEqual(calledOf({ ...none, called_amount: 5n, called_currency: 'UGX', called_receipt: 'C' }), called)
  const uncounted = { ...none, called_currency: 'UGX', called_receipt: 'C' }
  assert.deepEqual(calledOf(uncounted), { ...called, micros: null })
  assert.deepEqual(calledOf({ ...none, called_words: 'much', called_receipt: 'C' }), unread)
  const both = { ...none, called_amount: 5n, called_currency: 'UGX', called_words: 'much', called_receipt: 'C' }
  assert.deepEqual(calledOf(both), called, 'an amount counts, and not what could not be read')
})

test('a callback that names no amount does not take the place of one that told of other money', () => {
  const asked = { amount: 5n, currency: 'KES' }
  const uncounted = { ...called, micros: null }
  const rows: [Parameters<typeof fuller>[0], Parameters<typeof fuller>[1], Verdict][] = [
    [bare, null, bare],
    [bare, uncounted, uncounted],
    [{ ...bare, currency: 'KES' }, uncounted, uncounted],
    [bare, unread, unread],
    [{ ...bare, micros: 5n }, uncounted, { ...bare, micros: 5n }],
    [{ ...bare, currency: 'UGX' }, unread, { ...bare, currency: 'UGX' }],
    [
      { ...bare, receipt: 'R' },
      { ...uncounted, receipt: null },
      { ...uncounted, receipt: 'R' },
    ],
  ]
  for (const [said, noted, expected] of rows) assert.deepEqual(fuller(said, noted, asked), expected)
})
