// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { runs } from '../../../../test/properties.ts'
import { type Currency, currencies } from '../../../kernel/money.ts'
import { unusedOf } from './bill.ts'
import { priceOfPart } from './proration.ts'

const march = { start: new Date('2026-03-01T00:00:00Z'), end: new Date('2026-04-01T00:00:00Z') }

const rows: [micros: bigint, currency: Currency, from: string, to: string, expected: bigint][] = [
  [3_100_000_000n, 'KES', '2026-03-01T00:00:00Z', '2026-04-01T00:00:00Z', 3_100_000_000n],
  [3_100_000_000n, 'KES', '2026-03-31T00:00:00Z', '2026-04-01T00:00:00Z', 100_000_000n],
  [3_100_000_000n, 'KES', '2026-02-01T00:00:00Z', '2026-03-02T00:00:00Z', 100_000_000n],
  [3_100_000_000n, 'KES', '2026-03-31T23:59:59.001Z', '2026-04-01T00:00:00Z', 0n],
  [1_000_000_000n, 'KES', '2026-03-31T00:00:00Z', '2026-04-01T00:00:00Z', 32_260_000n],
  [1_000_000_000n, 'UGX', '2026-03-31T00:00:00Z', '2026-04-01T00:00:00Z', 32_000_000n],
  [1_000_000_000n, 'TND', '2026-03-31T00:00:00Z', '2026-04-01T00:00:00Z', 32_258_000n],
  // Half a minor unit rounds to even.
  [31_000_000n * 5n, 'UGX', '2026-03-31T12:00:00Z', '2026-04-01T00:00:00Z', 2_000_000n],
  [31_000_000n * 7n, 'UGX', '2026-03-31T12:00:00Z', '2026-04-01T00:00:00Z', 4_000_000n],
  [1_000_000_000n, 'KES', '2026-04-01T00:00:00Z', '2026-03-01T00:00:00Z', 0n],
]

test('a part of a period costs its part of the price', () => {
  for (const [micros, currency, from, to, expected] of rows)
    assert.equal(
      priceOfPart(micros, currency, march, new Date(from), new Date(to)),
      expected,
      `${micros} ${from} ${to}`,
    )
})

test('however often a plan is changed, a period costs its prices by their time, within a minor unit for each change', () => {
  const seconds = (march.end.getTime() - march.start.getTime()) / 1_000
  const change = fc.record({
    at: fc.integer({ min: 0, max: seconds }),
    price: fc.bigInt({ min: 0n, max: 10n ** 12n }),
  })
  fc.assert(
    fc.property(
      fc.constantFrom<Currency>('KES', 'UGX', 'TND'),
      fc.bigInt({ min: 0n, max: 10n ** 12n }),
      fc.array(change, { maxLength: 20 }),
      (currency, first, changes) => {
        const unit = 10n ** BigInt(6 - currencies[currency])
        changes.sort((a, b) => a.at - b.at)
        let price = first * unit
        let due = price * BigInt(seconds)
        let billed = price
        // The refund is a part of the last bill, which was rounded itself.
        let paid = { paid_from: march.start, paid_amount: price, period_end: march.end, currency }
        for (const { at, price: next } of changes) {
          const from = new Date(march.start.getTime() + at * 1_000)
          const rest = priceOfPart(next * unit, currency, march, from, march.end)
          billed += rest - unusedOf(paid, from)
          paid = { ...paid, paid_from: from, paid_amount: rest }
          due += (next * unit - price) * BigInt(seconds - at)
          price = next * unit
        }
        const off = billed * BigInt(seconds) - due
        const bound = unit * BigInt(changes.length) * BigInt(seconds)
        assert.ok((off < 0n ? -off : off) <= bound, `${billed} is off by ${off} of ${bound}`)
      },
    ),
    { numRuns: runs(1_000) },
  )
})
