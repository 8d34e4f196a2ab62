// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  brandOf,
  fullYear,
  holdsCardNumber,
  isPast,
  lineWithoutCardNumbers,
  passesLuhn,
  withoutCardNumbers,
} from './card.ts'

/** Digits with their check digit. */
const numbers = (lengths: readonly number[]) =>
  fc
    .constantFrom(...lengths)
    .chain((length) => fc.stringMatching(new RegExp(`^[1-9][0-9]{${length - 2}}$`)))
    .map((start) => `${start}${[...'0123456789'].find((digit) => passesLuhn(`${start}${digit}`))}`)

test('brands by their first digits and their length', () => {
  const rows: [string, string | null][] = [
    ['4242424242424242', 'visa'],
    ['4222222222222', 'visa'],
    ['424242424242424', null],
    ['5555555555554444', 'mastercard'],
    ['2221000000000009', 'mastercard'],
    ['2720990000000007', 'mastercard'],
    ['2721000000000000', null],
    ['5061460410120223210', 'verve'],
    ['5060990000000000', 'verve'],
    ['5061990000000000', null],
    ['6500270000000000', 'verve'],
    ['378282246310005', 'american-express'],
    ['341111111111111', 'american-express'],
    ['6011111111111117', null],
    ['', null],
  ]
  for (const [digits, brand] of rows) assert.equal(brandOf(digits), brand, digits)
})

test('one digit that is wrong is always noticed', () => {
  fc.assert(
    fc.property(numbers([13, 15, 16, 19]), fc.nat(), fc.integer({ min: 1, max: 9 }), (digits, place, change) => {
      const at = place % digits.length
      const other = (Number(digits[at]) + change) % 10
      assert.ok(!passesLuhn(`${digits.slice(0, at)}${other}${digits.slice(at + 1)}`))
    }),
  )
})

test('a card is good until its month is over everywhere', () => {
  assert.equal(fullYear(27), 2027)
  assert.equal(fullYear(2027), 2027)
  assert.equal(isPast(2, 26, Date.UTC(2026, 2, 1, 11)), false)
  assert.equal(isPast(2, 2026, Date.UTC(2026, 2, 1, 12)), true)
  assert.equal(isPast(12, 2026, Date.UTC(2026, 11, 31)), false)
})

test('whatever may be a card number is masked in a text, and a line of JSON stays one', () => {
  fc.assert(
    fc.property(numbers([13, 14, 15, 16, 17, 18, 19]), fc.string(), fc.boolean(), (digits, text, spaced) => {
      const shown = spaced ? digits.replace(/(\d{4})(?=\d)/g, '$1 ') : digits
      const around = text.replace(/\d/g, '')
      assert.ok(!withoutCardNumbers(`${around}x${shown}x${around}`).includes(shown))
      const line = JSON.stringify({
        text: `${around}:${shown},`,
        [`k${digits}`]: Number(digits),
        list: [Number(digits)],
      })
      const kept = lineWithoutCardNumbers(line)
      assert.ok(!kept.includes(digits) && !kept.includes(shown), kept)
      JSON.parse(kept)
    }),
  )
  assert.equal(withoutCardNumbers('order 4242424242424241 of 2026'), 'order 4242424242424241 of 2026')
})

test('a card number is found with its blanks and dashes, other numbers are not one', () => {
  for (const text of ['4242424242424242', 'my 4242 4242 4242 4242.', '3782-822463-10005', 'x5061460410120223210'])
    assert.ok(holdsCardNumber(text), text)
  for (const text of ['1763208000000', '4242424242424241', '9999999999999995', '', '42424242424242420000', 'abc'])
    assert.ok(!holdsCardNumber(text), text)
})
