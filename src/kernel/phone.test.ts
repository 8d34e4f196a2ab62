// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { exampleIn, factsOf, hasLengthOfItsCountry, isE164, networks, placeOf, writtenIn } from './phone.ts'

describe('a number is E.164', () => {
  const cases: [text: string, expected: boolean][] = [
    ['+254712345678', true],
    ['+12', true],
    ['+123456789012345', true],
    ['+1234567890123456', false],
    ['+1', false],
    ['+0712345678', false],
    ['254712345678', false],
    ['+254 712345678', false],
    ['+254712345678\n', false],
    ['+٢٥٤٧١٢٣٤٥٦٧٨', false],
    ['', false],
  ]
  for (const [text, expected] of cases)
    it(`${JSON.stringify(text)}: ${expected}`, () => assert.equal(isE164(text), expected))
})

describe('a number belongs to a country and a network', () => {
  const cases: [phone: string, country: string | null, network: string | null][] = [
    ['+254712345678', 'KE', 'Safaricom'],
    ['+254733000001', 'KE', 'Airtel'],
    ['+254747000001', 'KE', 'JTL'],
    ['+254757000001', 'KE', 'Safaricom'],
    ['+255754000001', 'TZ', 'Vodacom'],
    ['+256772000001', 'UG', 'MTN'],
    ['+250788000001', 'RW', 'MTN'],
    ['+2348030000001', 'NG', 'MTN'],
    ['+233244000001', 'GH', 'MTN'],
    ['+254202000001', 'KE', null],
    ['+212661234567', 'MA', 'Maroc Telecom'],
    ['+14155552671', 'US', null],
    ['+14165550123', 'CA', null],
    ['+447400123456', 'GB', null],
    ['+77012345678', 'KZ', null],
    ['+79161234567', 'RU', null],
    ['+999123456', null, null],
  ]
  for (const [phone, country, network] of cases)
    it(`${phone}: ${country}, ${network}`, () => assert.deepEqual(placeOf(phone), { country, network }))
})

it('a number of an impossible length is told, whichever comes first', () => {
  for (const phone of ['+254711', '+254711000001', '+99971100000', '+14155550123', '+1415555012', '+254711'])
    assert.equal(hasLengthOfItsCountry(phone), ['+254711000001', '+14155550123'].includes(phone), phone)
})

it('the numbering plans say what kind of number it is', () => {
  assert.deepEqual(factsOf('+254202000001').type, 'fixed_line')
  assert.deepEqual(factsOf('+254711000001').networkCode, '63902')
  assert.equal(factsOf('+254000').valid, false)
})

it('every African country with mobile ranges has its networks, each named once', () => {
  const countries = new Set(networks.map(({ country }) => country))
  for (const country of [
    'KE',
    'TZ',
    'UG',
    'RW',
    'ET',
    'NG',
    'GH',
    'ZA',
    'ZM',
    'SN',
    'CI',
    'CM',
    'EG',
    'MA',
    'CD',
    'MZ',
  ])
    assert.ok(countries.has(country), country)
  const names = networks.map(({ country, network }) => `${country} ${network}`)
  assert.equal(new Set(names).size, names.length)
})

describe('an example of a number is one that could be typed', () => {
  const cases: [countries: string[], expected: string | null][] = [
    [['KE'], '0712 123456'],
    [['KE', 'KE'], '0712 123456'],
    [['SN', 'CI'], '+221 70 123 45 67'],
    [['ZZ'], null],
    [[], null],
  ]
  for (const [countries, expected] of cases)
    it(`in ${countries.join(' and ') || 'no country'}: ${expected}`, () => {
      assert.equal(exampleIn(countries), expected)
      if (expected !== null) assert.notEqual(writtenIn(expected, countries), null)
    })
  it('in every country with mobile networks here', () => {
    for (const country of new Set(networks.map((network) => network.country)))
      assert.ok(writtenIn(exampleIn([country]) ?? '', [country]), country)
  })
})
