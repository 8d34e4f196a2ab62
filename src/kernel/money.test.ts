// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { currencies, divideHalfEven, formatMicros, formatMoney, parseAmount } from './money.ts'

test('amounts are read to the micro', () => {
  const rows: [number | string, number, bigint][] = [
    [100, 2, 100_000_000n],
    [100.5, 2, 100_500_000n],
    [0.05, 2, 50_000n],
    [0.0075, 6, 7_500n],
    ['100.50', 2, 100_500_000n],
    ['0', 2, 0n],
    [0.3, 2, 300_000n],
    [9_000_000_000_000, 0, 9_000_000_000_000_000_000n],
    ['1234567890123.45', 2, 1_234_567_890_123_450_000n],
  ]
  for (const [value, decimals, micros] of rows) assert.equal(parseAmount(value, decimals), micros, String(value))
})

test('what is not an exact amount is refused with a sentence', () => {
  const rows: [number | string, number, RegExp][] = [
    [-1, 2, /plain decimal/],
    [1e21, 2, /plain decimal/],
    [1e-7, 2, /plain decimal/],
    [Number.NaN, 2, /plain decimal/],
    ['1e3', 2, /plain decimal/],
    ['', 2, /plain decimal/],
    [' 1', 2, /plain decimal/],
    ['1.', 2, /plain decimal/],
    ['0x10', 2, /plain decimal/],
    [1.001, 2, /allows 2 decimals/],
    [0.5, 0, /allows no decimals/],
    ['99999999999999', 2, /plain decimal/],
    ['9000000000000.01', 2, /takes at most 9000000000000$/],
    [9_999_999_999_999, 0, /takes at most 9000000000000$/],
    ['1234567890123.456', 3, /15 significant/],
  ]
  for (const [value, decimals, problem] of rows) {
    const result = parseAmount(value, decimals)
    assert.ok(typeof result === 'object', String(value))
    assert.match(result.problem, problem)
  }
})

test('every amount is written as the number that was read', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 999_999_999_999_999n }), (micros) => {
      assert.equal(parseAmount(formatMicros(micros), 6), micros)
      assert.equal(formatMicros(-micros), micros === 0n ? '0' : `-${formatMicros(micros)}`)
    }),
  )
  assert.equal(formatMicros(9_223_372_036_854_775_807n), '9223372036854.775807')
})

test('people read amounts with the decimals of the currency', () => {
  assert.equal(formatMoney({ micros: 12_500_000n, currency: 'KES' }), 'KES 12.50')
  assert.equal(formatMoney({ micros: 12_000_000n, currency: 'UGX' }), 'UGX 12')
  assert.equal(formatMoney({ micros: 7_500n, currency: 'USD' }), 'USD 0.0075')
  assert.equal(Object.keys(currencies).length, 45)
})

test('halves go to the even side', () => {
  const rows: [bigint, bigint, bigint][] = [
    [5n, 2n, 2n],
    [7n, 2n, 4n],
    [-5n, 2n, -2n],
    [-7n, 2n, -4n],
    [5n, -2n, -2n],
    [10n, 3n, 3n],
    [11n, 3n, 4n],
    [-11n, 3n, -4n],
    [6n, 3n, 2n],
  ]
  for (const [numerator, denominator, quotient] of rows) assert.equal(divideHalfEven(numerator, denominator), quotient)
})
