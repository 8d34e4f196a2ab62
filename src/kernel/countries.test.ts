// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getCountries } from 'libphonenumber-js'
import { isCountry } from './countries.ts'

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']

test('there are the 249 countries of ISO 3166-1 and the three that only telephones know', () => {
  const all = letters.flatMap((first) => letters.map((second) => first + second)).filter(isCountry)
  assert.equal(all.length, 249 + 3)
  for (const code of ['XX', 'ZZ', 'UK', 'EU', 'YU', 'ke', 'KEN', 'K', '']) assert.equal(isCountry(code), false, code)
})

test('wherever a telephone number can belong is a country', () => {
  assert.deepEqual(
    getCountries().filter((code) => !isCountry(code)),
    [],
  )
})
