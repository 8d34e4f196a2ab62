// SPDX-License-Identifier: Apache-2.0
// Rows of CSV files are the same however the file is cut in pieces: whole lines are read at once, and letter by letter where one is cut.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Row, rowsOf } from './csv-rows.ts'

const files = [
  'id,name,phone\r\na, Asha ,1\r\n\r\n,,\r\nb,"B ""x"", c",2\r\nc,"two\r\nlines",3\r\n\r\nd;e,f\tg,4',
  '\ufeffid;name;phone\na;b,c;1\n\n\nd;"e;f";2\rg;h;3\n i ; j ;k\n',
  'Statement of May, 2026\nid\tname\tphone\na\tb, c;d\té\nb\t\t\n"c"\t"d"\t"e"\n',
]

async function rowsIn(text: string, pieceBytes: number): Promise<Row[]> {
  const bytes = Buffer.from(text)
  const rows: Row[] = []
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
  }
  for await (const some of rowsOf(pieces(), 1_000_000)) rows.push(...some)
  return rows
}

test('rows and the lines that they begin at are the same in one piece, in some and byte by byte', async () => {
  for (const file of files) {
    const whole = await rowsIn(file, 1_000_000)
    assert.ok(whole.length >= 4)
    for (const pieceBytes of [1, 2, 7, 30])
      assert.deepEqual(await rowsIn(file, pieceBytes), whole, `${pieceBytes} bytes`)
  }
  assert.deepEqual(await rowsIn(files[0] ?? '', 1_000_000), [
    { number: 1, cells: ['id', 'name', 'phone'] },
    { number: 2, cells: ['a', 'Asha', '1'] },
    { number: 5, cells: ['b', 'B "x", c', '2'] },
    { number: 6, cells: ['c', 'two\r\nlines', '3'] },
    { number: 9, cells: ['d;e', 'f\tg', '4'] },
  ])
})

test('a line that is too long or has too many cells is refused with its number', async () => {
  const long = `a,b,c\n1,2,3\n${'x'.repeat(20_001)}\n`
  for (const pieceBytes of [1_000_000, 64]) {
    await assert.rejects(rowsIn(long, pieceBytes), /line 3 has more than 20000 characters/)
    await assert.rejects(rowsIn(`a,b,c\n${','.repeat(200)}\n`, pieceBytes), /line 2 has more than 200 cells/)
  }
})
