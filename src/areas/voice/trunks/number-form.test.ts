// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countryOfTrunk, type NumberFormat, readingsOf, writtenFor } from './number-form.ts'

for (const [text, country, expected] of [
  ['+254700500001', null, '+254700500001'],
  ['254700500001', null, '+254700500001'],
  ['00254700500001', null, '+254700500001'],
  ['0700500001', 'KE', '+254700500001'],
  ['700500001', 'KE', '+254700500001'],
  ['254700500001', 'KE', '+254700500001'],
  ['0707000001', 'CI', '+2250707000001'],
  ['771234567', 'SN', '+221771234567'],
  ['0700500001', null, undefined],
  ['(0700) 500-001', 'KE', '+254700500001'],
  ['+254700500001;verstat=TN-Validation-Passed-A2', null, '+254700500001'],
  ['anonymous', 'KE', undefined],
  ['line-7', 'KE', undefined],
] as const)
  test(`${text} from a trunk of ${country ?? 'no country'} is ${expected ?? 'no number'}`, () =>
    assert.equal(readingsOf(text, country)[0], expected))

for (const [number, format, country, expected] of [
  ['+254700500001', 'e164', 'KE', '+254700500001'],
  ['+254700500001', 'digits', 'KE', '254700500001'],
  ['+254700500001', 'international', 'KE', '00254700500001'],
  ['+254700500001', 'national', 'KE', '0700500001'],
  ['+256700500001', 'national', 'KE', '00256700500001'],
  ['+254700500001', 'national', null, '00254700500001'],
] as [string, NumberFormat, string | null, string][])
  test(`${number} is written ${expected} in the form ${format} of ${country ?? 'no country'}`, () =>
    assert.equal(writtenFor(number, format, country), expected))

test('the country of a trunk is its own, or that of all its prefixes', () => {
  assert.equal(countryOfTrunk({ country: null, prefixes: ['+254'] }), 'KE')
  assert.equal(countryOfTrunk({ country: null, prefixes: ['+254', '+256'] }), null)
  assert.equal(countryOfTrunk({ country: null, prefixes: ['+'] }), null)
  assert.equal(countryOfTrunk({ country: 'UG', prefixes: ['+'] }), 'UG')
})
