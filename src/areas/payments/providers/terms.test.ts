// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { currencies, isCurrency } from '../../../kernel/money.ts'
import { collectionFeeOf, feeOf, isWithin, type Terms, termsOf } from './terms.ts'

const nobodySaid = { prices: { quote: () => null }, clock: { nowMs: () => 0 } }
const tenant = { account: '' }
const kenya = { provider: 'mpesa', country: 'KE' }

test('until an operator says otherwise, the usual terms hold', () => {
  const rows: [
    direction: 'in' | 'out',
    method: 'mobile_money' | 'card' | 'bank_transfer',
    percent: bigint,
    max: bigint,
  ][] = [
    ['in', 'mobile_money', 1_500_000n, 250_000_000_000n],
    ['in', 'card', 2_900_000n, 2_500_000_000_000n],
    ['in', 'bank_transfer', 1_000_000n, 2_500_000_000_000n],
    ['out', 'mobile_money', 500_000n, 250_000_000_000n],
    ['out', 'bank_transfer', 500_000n, 2_500_000_000_000n],
  ]
  for (const [direction, method, percent, max] of rows)
    assert.deepEqual(termsOf(nobodySaid, tenant, { direction, method, ...kenya }, 'KES'), {
      percent,
      fixed: 0n,
      min: 1_000_000n,
      max,
    })
  const pounds = termsOf(nobodySaid, tenant, { direction: 'in', method: 'card', ...kenya }, 'GBP')
  assert.deepEqual([isWithin(pounds, 500_000n), isWithin(pounds, 499_999n)], [true, false])
  assert.deepEqual([isWithin(pounds, 10_000_000_000n), isWithin(pounds, 10_000_000_001n)], [true, false])
})

/** Code, decimals, and how little and how much goes at once over mobile money. */
const bounds: readonly [code: string, decimals: number, min: number, max: number][] = [
  ['KES', 2, 1, 250_000], ['TZS', 2, 20, 5_000_000], ['UGX', 0, 50, 5_000_000], ['RWF', 0, 20, 2_500_000],
  ['ETB', 2, 1, 250_000], ['GHS', 2, 1, 20_000], ['NGN', 2, 20, 2_500_000], ['ZAR', 2, 1, 25_000],
  ['ZMW', 2, 1, 50_000], ['XOF', 0, 5, 1_000_000], ['XAF', 0, 5, 1_000_000], ['EGP', 2, 1, 50_000],
  ['MAD', 2, 1, 10_000], ['DZD', 2, 2, 250_000], ['TND', 3, 0.5, 5_000], ['AOA', 2, 10, 1_000_000],
  ['BWP', 2, 1, 25_000], ['BIF', 0, 25, 5_000_000], ['CVE', 2, 1, 200_000], ['KMF', 0, 5, 500_000],
  ['CDF', 2, 25, 5_000_000], ['DJF', 0, 2, 250_000], ['SZL', 2, 1, 25_000], ['GMD', 2, 1, 100_000],
  ['GNF', 0, 100, 10_000_000], ['LSL', 2, 1, 25_000], ['LRD', 2, 2, 250_000], ['MGA', 2, 50, 5_000_000],
  ['MWK', 2, 20, 2_500_000], ['MRU', 2, 1, 50_000], ['MUR', 2, 1, 50_000], ['MZN', 2, 1, 100_000],
  ['NAD', 2, 1, 25_000], ['STN', 2, 1, 25_000], ['SCR', 2, 1, 25_000], ['SLE', 2, 1, 25_000],
  ['SOS', 2, 5, 1_000_000], ['SSP', 2, 50, 5_000_000], ['ZWG', 2, 1, 50_000], ['USD', 2, 0.5, 2_000],
  ['EUR', 2, 0.5, 1_000], ['GBP', 2, 0.5, 1_000], ['ERN', 2, 1, 25_000], ['LYD', 3, 0.5, 10_000],
  ['SDG', 2, 50, 5_000_000],
] // biome-ignore format: a table reads better dense

test('each of the 45 currencies has its decimals and its bounds; cards and banks take ten times as much', () => {
  assert.deepEqual(
    bounds.map(([code]) => code),
    Object.keys(currencies),
  )
  for (const [code, decimals, min, max] of bounds) {
    assert.ok(isCurrency(code))
    assert.equal(currencies[code], decimals, code)
    const within = (method: 'mobile_money' | 'card' | 'bank_transfer') => {
      const terms = termsOf(nobodySaid, tenant, { direction: 'in', method, ...kenya }, code)
      return [Number(terms.min) / 1e6, Number(terms.max) / 1e6]
    }
    assert.deepEqual(within('mobile_money'), [min, max], code)
    assert.deepEqual(within('card'), [min, max * 10], code)
    assert.deepEqual(within('bank_transfer'), [min, max * 10], code)
  }
})

test('a fee is what the terms say, to half a minor unit, and never more than was collected', () => {
  const codes = Object.keys(currencies).filter(isCurrency)
  const amounts = fc.bigInt({ min: 1n, max: 10n ** 15n })
  const percents = fc.bigInt({ min: 0n, max: 100_000_000n })
  const fixed = fc.bigInt({ min: 0n, max: 10n ** 12n })
  fc.assert(
    fc.property(fc.constantFrom(...codes), amounts, percents, fixed, (currency, amount, percent, more) => {
      const minorUnit = 10n ** BigInt(6 - currencies[currency])
      const money = { currency, micros: amount * minorUnit }
      const terms: Terms = { percent, fixed: more, min: 0n, max: 0n }
      const fee = feeOf(terms, money)
      assert.equal(fee % minorUnit, 0n)
      // A hundred million times as much, so that nothing is rounded here.
      const difference = (fee - more) * 100_000_000n - money.micros * percent
      const half = 50_000_000n * minorUnit
      assert.ok(difference <= half && difference >= -half, 'within half a minor unit')
      const isMore = fee > money.micros
      assert.equal(collectionFeeOf(terms, money), isMore ? money.micros : fee)
    }),
  )
})
