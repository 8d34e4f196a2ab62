// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Currency, currencies, formatMicros } from '../../../kernel/money.ts'
import { type Discount, type NewItem, reckon, split } from './calculation.ts'

const known = fc.constantFrom(...(Object.keys(currencies) as Currency[]))

function minorUnitOf(currency: Currency): bigint {
  return 10n ** BigInt(6 - currencies[currency])
}

interface Row {
  what: string
  currency?: Currency
  items: NewItem[]
  discount?: Discount
  taxInclusive?: boolean
  /** Amount, discount and tax of each line. */
  lines: [string, string, string][]
  /** Subtotal, discounts, tax and total. */
  figures: [string, string, string, string]
}

const item = (unit_amount: number | string, more: Partial<NewItem> = {}): NewItem => ({
  description: 'x',
  unit_amount,
  ...more,
})

const rows: Row[] = [
  {
    what: 'tax on top',
    items: [item(1500, { quantity: 2, tax_rate: 16 })],
    lines: [['3000', '0', '480']],
    figures: ['3000', '0', '480', '3480'],
  },
  {
    what: 'tax within',
    items: [item(116, { tax_rate: 16 })],
    taxInclusive: true,
    lines: [['116', '0', '16']],
    figures: ['116', '0', '16', '116'],
  },
  {
    what: 'half a cent goes to the even cent, on each line by itself',
    items: [item(0.5, { tax_rate: 1 }), item(1.5, { tax_rate: 1 }), item(2.5, { tax_rate: 1 })],
    lines: [
      ['0.5', '0', '0'],
      ['1.5', '0', '0.02'],
      ['2.5', '0', '0.02'],
    ],
    figures: ['4.5', '0', '0.04', '4.54'],
  },
  {
    what: 'a fraction of something',
    items: [item('19.99', { quantity: '0.333333' })],
    lines: [['6.66', '0', '0']],
    figures: ['6.66', '0', '0', '6.66'],
  },
  {
    what: 'a discount on the whole is split so that nothing is lost',
    items: [item(10), item(10), item(10)],
    discount: { amount: 10 },
    lines: [
      ['10', '3.34', '0'],
      ['10', '3.33', '0'],
      ['10', '3.33', '0'],
    ],
    figures: ['30', '10', '0', '20'],
  },
  {
    what: 'tax is on what is left of a line',
    items: [item(200, { tax_rate: 10, discount: { percent: 25 } }), item(100, { tax_rate: 20, discount: 50 })],
    discount: { percent: 10 },
    lines: [
      ['200', '65', '13.5'],
      ['100', '55', '9'],
    ],
    figures: ['300', '120', '22.5', '202.5'],
  },
  {
    what: 'a currency without decimals',
    currency: 'UGX',
    items: [item(1001, { quantity: 1.5, tax_rate: 18 })],
    lines: [['1502', '0', '270']],
    figures: ['1502', '0', '270', '1772'],
  },
  {
    what: 'all of it is given',
    items: [item(99.99, { tax_rate: 16 })],
    discount: { percent: 100 },
    lines: [['99.99', '99.99', '0']],
    figures: ['99.99', '99.99', '0', '0'],
  },
  {
    what: 'something free has no discount',
    items: [item(0), item(5)],
    discount: { amount: 5 },
    lines: [
      ['0', '0', '0'],
      ['5', '5', '0'],
    ],
    figures: ['5', '5', '0', '0'],
  },
]

for (const { what, currency = 'KES', items, discount, taxInclusive = false, lines, figures } of rows)
  test(`an invoice is reckoned: ${what}`, () => {
    const found = reckon({ currency, items, taxInclusive, ...(discount ? { discount } : {}) })
    assert.deepEqual(
      found.items.map((line) => [line.amount, line.discount, line.tax].map(formatMicros)),
      lines,
    )
    assert.deepEqual([found.subtotal, found.discountTotal, found.taxTotal, found.total].map(formatMicros), figures)
  })

test('what cannot be reckoned is refused, and says which field', () => {
  const refused: [items: NewItem[], discount: Discount | undefined, problem: RegExp][] = [
    [[item(1, { quantity: 0 })], undefined, /items\[0\]\.quantity: must be more than 0/],
    [[item(1, { quantity: '0.0000001' })], undefined, /items\[0\]\.quantity: allows 6 decimals/],
    [[item(1), item(-1)], undefined, /items\[1\]\.unit_amount/],
    [[item('1.001')], undefined, /items\[0\]\.unit_amount: KES allows 2 decimals/],
    [[item(1, { tax_rate: 100.5 })], undefined, /items\[0\]\.tax_rate: must be at most 100/],
    [[item(1, { tax_rate: '1.00001' })], undefined, /items\[0\]\.tax_rate: allows 4 decimals/],
    [[item(1, { discount: 1.01 })], undefined, /items\[0\]\.discount: must be at most 1/],
    [[item(1, { discount: { percent: 101 } })], undefined, /items\[0\]\.discount\.percent/],
    [[item(1)], { amount: 2 }, /discount: must be at most 1/],
    [[item(1)], { percent: 200 }, /discount\.percent/],
    [[item(9_000_000_000_000), item(1)], undefined, /come to more than/],
    [[item(9_000_000_000_000, { quantity: 1_000_000 })], undefined, /come to more than/],
  ]
  for (const [items, discount, problem] of refused)
    assert.throws(
      () => reckon({ currency: 'KES', items, taxInclusive: false, ...(discount ? { discount } : {}) }),
      problem,
    )
})

test('parts add up to the whole, and none is more than one away from its share', () => {
  const weights = fc.array(fc.bigInt({ min: 0n, max: 10n ** 18n }), { minLength: 1, maxLength: 200 })
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n }), weights, (whole, given) => {
      const parts = split(whole, given)
      const weight = given.reduce((all, one) => all + one, 0n)
      if (weight === 0n) return
      assert.equal(
        parts.reduce((all, one) => all + one, 0n),
        whole,
      )
      parts.forEach((part, i) => {
        const exact = whole * (given[i] ?? 0n)
        assert.ok(part * weight - exact < weight && exact - part * weight < weight)
      })
    }),
  )
})

test('whatever is billed, lines add up, nothing is negative and every figure is one that can be paid', () => {
  const arbitrary = known.chain((currency) => {
    const money = fc.bigInt({ min: 0n, max: 10n ** 9n }).map((minor) => formatMicros(minor * minorUnitOf(currency)))
    const percent = fc.integer({ min: 0, max: 1_000_000 }).map((parts) => formatMicros(BigInt(parts) * 100n))
    const line = fc.record({
      description: fc.constant('x'),
      quantity: fc.bigInt({ min: 1n, max: 10n ** 9n }).map(formatMicros),
      unit_amount: money,
      tax_rate: percent,
      discount: fc.record({ percent }),
    })
    return fc.record({
      currency: fc.constant(currency),
      items: fc.array(line, { minLength: 1, maxLength: 20 }),
      discount: fc.record({ percent }),
      taxInclusive: fc.boolean(),
    })
  })
  fc.assert(
    fc.property(arbitrary, (given) => {
      const { items, subtotal, discountTotal, taxTotal, total } = reckon(given)
      const minorUnit = minorUnitOf(given.currency)
      const sum = (key: 'amount' | 'discount' | 'tax') => items.reduce((all, one) => all + one[key], 0n)
      assert.deepEqual([sum('amount'), sum('discount'), sum('tax')], [subtotal, discountTotal, taxTotal])
      assert.equal(total, subtotal - discountTotal + (given.taxInclusive ? 0n : taxTotal))
      for (const one of [subtotal, discountTotal, taxTotal, total]) assert.ok(one >= 0n && one % minorUnit === 0n)
      for (const { amount, discount, tax, taxRate, quantity, unitAmount } of items) {
        assert.ok(discount <= amount)
        const within = (rounded: bigint, numerator: bigint, denominator: bigint) =>
          assert.ok(magnitude(rounded * denominator - numerator) * 2n <= minorUnit * denominator)
        within(amount, quantity * unitAmount, 1_000_000n)
        within(tax, (amount - discount) * taxRate, 100_000_000n + (given.taxInclusive ? taxRate : 0n))
      }
    }),
  )
})

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value
}
