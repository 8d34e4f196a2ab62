// SPDX-License-Identifier: Apache-2.0
// Paper in Arabic: which letters stand where, and that they are joined.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inflateSync } from 'node:zlib'
import { paperOf, Sheet } from './sheet.ts'
import { directionIn, linesOf, runsOf } from './two-ways.ts'

const shown: readonly [line: string, direction: 'ltr' | 'rtl', fromTheLeft: readonly string[]][] = [
  ['المكالمات', 'rtl', ['المكالمات']],
  ['الأكثر: 250', 'rtl', ['250', 'الأكثر: ']],
  ['المبيعات (نيروبي)', 'rtl', ['المبيعات )نيروبي(']],
  ['من 2026-11-11 إلى 2026-11-17', 'rtl', ['2026-11-17', ' إلى ', '2026-11-11', 'من ']],
  ['ملف CSV فيه', 'rtl', [' فيه', 'CSV', 'ملف ']],
  ['Amina أمينة عثمان 12', 'ltr', ['Amina ', '12', 'أمينة عثمان ']],
  ['0:45', 'rtl', ['0:45']],
]

for (const [line, direction, fromTheLeft] of shown)
  test(`“${line}” stands on paper in the order in which it is read`, () => {
    const runs = runsOf(line, direction)
    assert.deepEqual(
      runs.map(({ shown: one }) => one),
      fromTheLeft,
    )
    for (const { said } of runs) assert.ok(line.includes(said), `${said} is said as it was written`)
  })

test('lines are broken at spaces, inside words only where one is wider than a line, and begin where their first letter says', () => {
  assert.deepEqual(
    linesOf('ab cd ef\nghijkl', 5, ({ length }) => length),
    ['ab cd', 'ef', 'ghijk', 'l'],
  )
  assert.equal(directionIn('12 أمينة Ltd', 'ltr'), 'rtl')
  assert.equal(directionIn('12', 'rtl'), 'rtl')
})

/** Glyphs of each text that is drawn, and where it begins. */
async function drawn(draw: (sheet: Sheet) => void, direction: 'ltr' | 'rtl') {
  const info = { title: 'ورقة', author: 'أمينة', createdAt: new Date(0) }
  const pdf = (await paperOf(info, (document) => draw(new Sheet(document, direction)))).toString('latin1')
  const pages = [...pdf.matchAll(/stream\n([\s\S]*?)\nendstream/g)].map(([, packed = '']) =>
    inflateSync(Buffer.from(packed, 'latin1')).toString('latin1'),
  )
  return pages.flatMap((page) =>
    [...page.matchAll(/\nBT\n([\s\S]*?)\nET/g)].map(([, block = '']) => ({
      left: Number(/1 0 0 1 ([\d.]+)/.exec(block)?.[1]),
      glyphs: [...block.matchAll(/<([0-9a-f]+)>/g)].flatMap(([, hex = '']) => hex.match(/.{4}/g) ?? []),
    })),
  )
}

test('letters of Arabic are joined: each has the shape of its place in the word', async () => {
  const [alone, word] = await drawn((sheet) => {
    sheet.y = sheet.text('ه', [0, 200, 'left'], [10, '#000000'])
    sheet.text('ههه', [0, 200, 'left'], [10, '#000000'])
  }, 'ltr')
  assert.equal(new Set([...(alone?.glyphs ?? []), ...(word?.glyphs ?? [])]).size, 4)
})

test('a sheet from right to left begins at the right, and its figures end at the left', async () => {
  const [name, figure] = await drawn((sheet) => {
    sheet.text('المكالمات', [0, 200, 'left'], [10, '#000000'])
    sheet.figure('12', [395, 100, 'right'], [10, '#000000'])
  }, 'rtl')
  assert.ok((name?.left ?? 0) > 400, 'the name stands at the right margin')
  assert.equal(figure?.left, 50)
})
