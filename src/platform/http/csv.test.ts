// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { Amount, At, Nullable } from '../schema/fields.ts'
import { csv } from './csv.ts'

const Row = Type.Object({
  name: Type.String(),
  cost: Amount(),
  at: Nullable(At()),
  tags: Type.Array(Type.String()),
})

async function textOf(rows: readonly object[]): Promise<string> {
  let text = ''
  for await (const part of csv(Row, async () => ({ rows, nextCursor: null }))) text += part
  return text
}

test('a row is a line in the order of its fields, and what spreadsheets would run is text', async () => {
  const at = new Date('2026-03-01T09:15:30Z')
  assert.equal(
    await textOf([
      { name: 'plain', cost: 800_000n, at, tags: ['a', 'b'], secret: 'x' },
      { name: 'a "b",\nc', cost: 0n, at: null, tags: [] },
      { name: '=1+1', cost: -1n, at: null, tags: [] },
      { name: '+254711000001', cost: 1_000_000n, at: null, tags: [] },
      { name: '+2547****0001', cost: 0n, at: null, tags: [] },
      { name: '+1*2', cost: 0n, at: null, tags: [] },
    ]),
    [
      'name,cost,at,tags',
      'plain,0.8,2026-03-01T09:15:30.000Z,"[""a"",""b""]"',
      '"a ""b"",\nc",0,,[]',
      "'=1+1,-0.000001,,[]",
      '+254711000001,1,,[]',
      '+2547****0001,0,,[]',
      "'+1*2,0,,[]",
      '',
    ].join('\r\n'),
  )
})

test('a list without an end is cut after a hundred thousand rows', async () => {
  const rows = Array.from({ length: 200 }, () => ({ name: 'x', cost: 0n, at: null, tags: [] }))
  let lines = 0
  for await (const part of csv(Row, async () => ({ rows, nextCursor: 'more' })))
    lines += String(part).split('\r\n').length - 1
  assert.equal(lines, 100_001)
})
