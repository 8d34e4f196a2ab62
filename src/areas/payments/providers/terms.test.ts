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
