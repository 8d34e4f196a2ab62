// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { handsetOf, isSomebody } from './handset.ts'

const cases: [string, string[], string | null][] = [
  ['+254712303535', [], '+254712303535'],
  ['+254712303535', ['UG'], '+254712303535'],
  ['00254712303535', [], '+254712303535'],
  ['+254 712-303 535', [], '+254712303535'],
  ['0712303535', ['KE'], '+254712303535'],
  ['712303535', ['KE'], '+254712303535'],
  ['254712303535', ['KE'], '+254712303535'],
  ['+712303535', ['KE'], '+254712303535'],
  ['0712303535', [], null],
  ['0712303535', ['KE', 'KE'], '+254712303535'],
  ['0712345678', ['KE', 'TZ'], null],
  ['0712303535', ['XX'], null],
  ['70123456', ['BF'], '+22670123456'],
  ['70123456', [], '70123456'],
  ['22141', ['KE'], '22141'],
  ['SAFARICOM', [], 'SAFARICOM'],
  ['0712', ['KE'], null],
  ['5', ['KE'], null],
]
for (const [from, countries, expected] of cases)
  test(`${from} of ${countries.join(' or ') || 'nowhere'} is ${expected ?? 'nobody'}`, () =>
    assert.equal(handsetOf(from, [countries]), expected))

test('the first group of countries that leaves no doubt counts', () => {
  assert.equal(handsetOf('0712345678', [[], ['KE', 'TZ'], ['TZ']]), '+255712345678')
  assert.equal(handsetOf('0712345678', [['KE'], ['TZ']]), '+254712345678')
})

test('what no number looks like is nobody wherever it comes from', () => {
  for (const from of ['5', '0712', '', '+', '1234567890123456', 'x'.repeat(21), '#100'])
    assert.equal(isSomebody(from), false, from)
  for (const from of ['22141', '0712303535', '254712303535', '+254712303535', 'PAMOJA', 'ኢትዮ ቴሌኮም'])
    assert.ok(isSomebody(from), from)
})
