// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { SegmentedMessage } from 'sms-segments-calculator'
import { segmentsOf } from './message.ts'

describe('a text is counted in segments', () => {
  const cases: [
    name: string,
    text: string,
    wanted: 'auto' | 'gsm7' | 'ucs2',
    encoding: string,
    segments: number,
    left: number,
  ][] = [
    ['one character', 'x', 'auto', 'gsm7', 1, 159],
    ['160', 'x'.repeat(160), 'auto', 'gsm7', 1, 0],
    ['161', 'x'.repeat(161), 'auto', 'gsm7', 2, 145],
    ['306', 'x'.repeat(306), 'auto', 'gsm7', 2, 0],
    ['307', 'x'.repeat(307), 'auto', 'gsm7', 3, 152],
    ['an escape at the border goes to the next part', `${'x'.repeat(152)}{${'x'.repeat(152)}`, 'auto', 'gsm7', 3, 152],
    ['70 of UCS-2', 'ቁ'.repeat(70), 'auto', 'ucs2', 1, 0],
    ['134 of UCS-2', 'ቁ'.repeat(134), 'auto', 'ucs2', 2, 0],
    ['a pair at the border goes to the next part', `${'ቁ'.repeat(66)}😀${'ቁ'.repeat(10)}`, 'auto', 'ucs2', 2, 55],
    ['a flag at the border is cut between its letters', `${'ቁ'.repeat(65)}🇰🇪${'ቁ'.repeat(65)}`, 'auto', 'ucs2', 2, 0],
    ['the longest', '😀'.repeat(1530), 'auto', 'ucs2', 47, 43],
    ['accents that GSM has', 'àéèù', 'auto', 'gsm7', 1, 156],
    ['accents that it has not', 'âêî', 'gsm7', 'gsm7', 1, 157],
    ['plain text as UCS-2', 'x'.repeat(70), 'ucs2', 'ucs2', 1, 0],
  ]
  for (const [name, text, wanted, encoding, segments, left] of cases)
    it(`${name}: ${segments}`, () => {
      const counted = segmentsOf(text, wanted)
      assert.deepEqual([counted?.encoding, counted?.segments, counted?.unitsLeft], [encoding, segments, left])
    })

  it('as others count them', () => {
    for (const text of ['Habari', 'x'.repeat(500), `${'x'.repeat(150)}€€€€€`, 'ا'.repeat(200), `😀${'x'.repeat(69)}`])
      assert.equal(segmentsOf(text)?.segments, new SegmentedMessage(text).segmentsCount, text)
  })

  it('and what cannot be written is not counted', () => {
    assert.equal(segmentsOf('😀', 'gsm7'), null)
    assert.equal(segmentsOf('ا', 'gsm7'), null)
  })
})
