// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { dayOf, momentText, parseDay, parseMoment } from './time.ts'

test('moments carry an offset and name a day that exists', () => {
  const rows: [string, string | null][] = [
    ['2026-03-01T09:15:30Z', '2026-03-01T09:15:30.000Z'],
    ['2026-03-01T12:15:30.5+03:00', '2026-03-01T09:15:30.500Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['2026-02-29T00:00:00Z', null],
    ['2026-13-01T00:00:00Z', null],
    ['2026-00-10T00:00:00Z', null],
    ['2026-03-01T24:00:00Z', null],
    ['2026-03-01T09:60:00Z', null],
    ['2026-03-01T09:15:60Z', null],
    ['2026-03-01T09:15:30', null],
    ['2026-03-01 09:15:30Z', null],
    ['2026-03-01T09:15:30+25:00', null],
    ['2026-03-01', null],
    ['1e3', null],
    ['', null],
  ]
  for (const [text, moment] of rows) assert.equal(parseMoment(text)?.toISOString() ?? null, moment, text)
})

test('days are plain dates in UTC', () => {
  assert.equal(parseDay('2026-03-01')?.toISOString(), '2026-03-01T00:00:00.000Z')
  for (const bad of ['2026-02-30', '2026-3-1', '26-03-01', '2026-03-01T00:00:00Z', ''])
    assert.equal(parseDay(bad), null, bad)
  assert.equal(dayOf(new Date('2026-03-01T23:59:59.999Z')), '2026-03-01')
})

test('a moment is written as JSON writes it, whatever was written before', () => {
  const moments = fc.array(fc.date({ noInvalidDate: true }), { minLength: 1, maxLength: 10 })
  fc.assert(
    fc.property(moments, fc.integer({ min: 0, max: 2_000 }), (dates, laterMs) => {
      for (const date of dates)
        for (const moment of [date, new Date(Math.min(date.getTime() + laterMs, 8.64e15))])
          assert.equal(momentText(moment), moment.toISOString())
    }),
  )
  assert.throws(() => momentText(new Date(Number.NaN)), RangeError)
})
