// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fitsOneScreen, pagesOf, transliterated, turnedTo } from './screen.ts'
import { candidatesOf, extraParts, isDialled, isShortcode } from './shortcode.ts'

test('182 letters of the GSM alphabet or 80 others are one screen', () => {
  assert.equal(pagesOf('a'.repeat(182)).length, 1)
  assert.equal(pagesOf('€'.repeat(91)).length, 1, 'an escaped letter counts twice')
  assert.equal(pagesOf('€'.repeat(92)).length, 2)
  assert.equal(pagesOf('ọ'.repeat(80)).length, 1)
  assert.equal(pagesOf('ọ'.repeat(81)).length, 2)
})

test('a longer text is cut where a word ends, and each page says how to go on and back', () => {
  const text = 'Karibu ọ '.repeat(20).trim()
  const pages = pagesOf(text, { more: 'Zaidi', back: 'Rudi' })
  assert.ok(pages.length > 2)
  for (const page of pages) assert.ok(fitsOneScreen(page), page)
  assert.match(pages[0] ?? '', /\n98 Zaidi$/)
  assert.doesNotMatch(pages[0] ?? '', /0 Rudi/)
  assert.match(pages[1] ?? '', /\n0 Rudi\n98 Zaidi$/)
  assert.match(pages.at(-1) ?? '', /\n0 Rudi$/)
  assert.doesNotMatch(pages.join(''), /Kari\n/)
})

test('any text is shown whole on screens that networks carry', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 182 }), (text) => {
      const pages = pagesOf(text)
      for (const page of pages) assert.ok(fitsOneScreen(page) && page.length > 0)
      const shown = pages.map((page) => page.replace(/\n0 Back/, '').replace(/\n98 More$/, '')).join('')
      if (pages.length > 1) assert.equal(shown.replaceAll(/\s/g, ''), text.replaceAll(/\s/g, ''))
    }),
  )
})

test('98 and 0 turn pages, and belong to the application where there is no such page', () => {
  assert.deepEqual(
    [turnedTo('98', 0, 2), turnedTo('98', 1, 2), turnedTo('0', 1, 2), turnedTo('0', 0, 2)],
    [1, null, 0, null],
  )
  assert.equal(turnedTo('1', 0, 2), null)
})

test('accents become letters of the GSM alphabet where there is one for each', () => {
  assert.equal(transliterated('ọjọ́'), 'ojo')
  assert.equal(transliterated('ሰላም'), 'ሰላም')
})

test('the form of shortcodes', () => {
  for (const code of ['*384#', '*384*1#', '*123456*1234567890#']) assert.ok(isShortcode(code), code)
  for (const code of ['384', '*384', '*1234567#', '**#', '*384*#', '*384*12345678901#', '*1*1*1*1*1*1*1*1*1*1#'])
    assert.ok(!isShortcode(code), code)
  assert.ok(isDialled('*384*1**2#') && !isDialled('#384*'))
})

test('the longest shortcode answers, and the rest of what was dialled are the first inputs', () => {
  assert.deepEqual(candidatesOf('*384*1*2#'), ['*384*1*2#', '*384*1#', '*384#'])
  assert.deepEqual(extraParts('*384*1*2#', '*384#'), ['1', '2'])
  assert.deepEqual(extraParts('*384#', '*384#'), [])
})
