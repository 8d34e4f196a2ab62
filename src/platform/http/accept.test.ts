// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prefersCsv } from './accept.ts'

const rows: [accept: string | undefined, isCsv: boolean][] = [
  [undefined, false],
  ['', false],
  ['*/*', false],
  ['application/json', false],
  ['text/csv', true],
  ['TEXT/CSV; header=present', true],
  ['text/*', true],
  ['text/csv, application/json', true],
  ['application/json, text/csv', false],
  ['application/json, text/plain, */*', false],
  ['text/csv, */*', true],
  ['*/*, text/csv', false],
  ['text/csv;q=0.5, application/json', false],
  ['application/json;q=0.5, text/csv', true],
  ['application/json;q=0.5,text/csv;q=0.500', false],
  ['*/*;q=0.1, text/csv', true],
  ['text/csv;q=0', false],
  ['text/csv;q=0, text/*', false],
  ['application/json;q=0, text/csv;q=0.1', true],
  ['application/json;q=0', false],
  ['text/csv;q=much', true],
  ['text/csvx', false],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', false],
]

test('CSV is given where it weighs more than JSON, or as much and stands first', () => {
  for (const [accept, isCsv] of rows) assert.equal(prefersCsv(accept, undefined), isCsv, accept)
})

test('a format in the address wins over every header', () => {
  for (const [accept] of rows) {
    assert.equal(prefersCsv(accept, 'csv'), true, accept)
    assert.equal(prefersCsv(accept, 'json'), false, accept)
  }
})
