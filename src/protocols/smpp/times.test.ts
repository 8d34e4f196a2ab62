// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { momentOf } from './times.ts'

const now = '2026-11-18T09:30:00.000Z'

const cases: [string, string | null | undefined][] = [
  ['', null],
  ['261118100000000+', '2026-11-18T10:00:00.000Z'],
  ['261118130000012+', '2026-11-18T10:00:00.000Z'],
  ['261118070000012-', '2026-11-18T10:00:00.000Z'],
  ['000001020304000R', '2026-11-19T11:33:04.000Z'],
  ['000100000000000R', '2026-12-18T09:30:00.000Z'],
  ['270229100000000+', undefined],
  ['261318100000000+', undefined],
  ['261118250000000+', undefined],
  ['261118100000049+', undefined],
  ['261118100000000', undefined],
  ['0000010203040R', undefined],
  ['tomorrow', undefined],
]

for (const [text, expected] of cases)
  test(`"${text}" is ${expected}`, () => {
    const moment = momentOf(text, Date.parse(now))
    assert.equal(typeof moment === 'number' ? new Date(moment).toISOString() : moment, expected)
  })
