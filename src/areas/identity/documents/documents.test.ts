// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { catalogue, countryOf, entryFor } from '../catalogue.ts'
import { numberRules } from '../number-rules.ts'
import { dateIn, similarity } from './visual-zone.ts'
import { fieldsOfZone } from './zone-fields.ts'

const nowMs = Date.UTC(2026, 10, 17)

test('the fields of a zone stand where ICAO 9303 has them', () => {
  // Specimens of ICAO 9303, parts 4 and 5.
  const passport = fieldsOfZone(
    {
      format: 'TD3',
      lines: ['P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<', 'L898902C36UTO7408122F1204159ZE184226B<<<<<10'],
    },
    nowMs,
  )
  assert.deepEqual(
    [passport.document_number, passport.last_name, passport.first_name, passport.date_of_birth, passport.expiry_date],
    ['L898902C3', 'ERIKSSON', 'ANNA MARIA', '1974-08-12', '2012-04-15'],
  )
  assert.deepEqual([passport.sex, passport.nationality, passport.personal_number], ['F', 'UTO', 'ZE184226B'])
  const card = fieldsOfZone(
    {
      format: 'TD1',
      lines: ['I<UTOD231458907<<<<<<<<<<<<<<<', '7408122F1204159UTO<<<<<<<<<<<6', 'ERIKSSON<<ANNA<MARIA<<<<<<<<<<'],
    },
    nowMs,
  )
  assert.deepEqual([card.document_number, card.date_of_birth, card.last_name], ['D23145890', '1974-08-12', 'ERIKSSON'])
})

test('printed dates are read as documents write them', () => {
  const rows: [string, string | null][] = [
    ['15 FEB 1990', '1990-02-15'],
    ['15FEB1990', '1990-02-15'],
    ['1 February 2031', '2031-02-01'],
    ['15/02/1990', '1990-02-15'],
    ['1990-02-15', '1990-02-15'],
    ['AK0123456', null],
  ]
  for (const [text, date] of rows) assert.equal(dateIn(text), date, text)
})

test('numbers that were verified have a check digit, and all others can only warn', () => {
  const za = numberRules.find(({ country }) => country === 'ZA')
  assert.equal(za?.checksum?.('8001015009087'), true)
  assert.equal(za?.checksum?.('8001015009086'), false)
  assert.deepEqual(za?.embeds?.('8001015009087'), { birth: '1980-01-01', sex: 'M' })
  assert.deepEqual(
    numberRules.filter(({ isVerified }) => isVerified).map(({ name }) => name),
    ['passport', 'ZA identity number'],
  )
})

test('the catalogue has 54 countries, each with a passport, and says where it is unsure', () => {
  assert.equal(new Set(catalogue.map(({ country }) => country)).size, 54)
  assert.equal(catalogue.filter(({ type }) => type === 'passport').length, 54)
  assert.ok(catalogue.every(({ source }) => source.length > 0))
  assert.deepEqual([countryOf('KEN'), countryOf('ke'), countryOf('FRA')], ['KE', 'KE', null])
  assert.throws(() => entryFor('nin_slip', 'KE'), /INVALID_DOCUMENT_TYPE/)
})

test('names are compared without marks and order of letters lost', () => {
  assert.equal(similarity('Wanjikũ', 'WANJIKU'), 1)
  assert.ok(similarity('WANJIKU', 'WANJIRU') > 0.85)
  assert.ok(similarity('WANJIKU', 'OKONKWO') < 0.5)
})
