// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { numberOf, numberPatternForm, usualPattern } from './invoice-number.ts'

function isNumberPattern(text: string): boolean {
  return new RegExp(numberPatternForm).test(text)
}

test('a number follows its pattern', () => {
  const at = new Date('2026-03-01T00:00:00Z')
  assert.equal(numberOf(usualPattern, 42n, at), 'INV-2026-000042')
  assert.equal(numberOf(usualPattern, 12_345_678n, at), 'INV-2026-12345678')
  assert.equal(numberOf('{seq}', 7n, at), '7')
  assert.equal(numberOf('ACME/{year}/{seq:3}', 7n, at), 'ACME/2026/007')
  for (const good of ['{seq}', 'A{seq:12}', '{year}-{seq}', 'INV 1.{seq:4}']) assert.ok(isNumberPattern(good), good)
  const bad = [
    '',
    'INV',
    '{seq}-{year}',
    '{year}{seq}',
    'A1{seq}',
    '{seq:0}',
    '{seq:13}',
    '<{seq}',
    `${'A'.repeat(40)}{seq}`,
  ]
  for (const one of bad) assert.ok(!isNumberPattern(one), one)
})

test('two numbers of one account differ, whatever its patterns were', () => {
  const word = fc.constantFrom('', 'A', 'A1-', '1/', '{year}-', 'INV-{year}-', '12 ')
  const pattern = fc.tuple(word, fc.constantFrom('{seq}', '{seq:1}', '{seq:6}')).map((parts) => parts.join(''))
  const sequence = fc.bigInt({ min: 1n, max: 10n ** 9n })
  fc.assert(
    fc.property(pattern, pattern, sequence, sequence, (first, second, one, other) => {
      fc.pre(one !== other && isNumberPattern(first) && isNumberPattern(second))
      const at = new Date('2026-03-01T00:00:00Z')
      assert.notEqual(numberOf(first, one, at), numberOf(second, other, at))
    }),
  )
})
