// SPDX-License-Identifier: Apache-2.0
// Files as tables: what is read of every way in which providers write the same thing, and rows that come in any pieces.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { rowsOf } from '../../../platform/http/csv-rows.ts'
import { type Columns, linesIn, placesIn } from './columns.ts'

const about = { country: 'KE', utcOffset: '+03:00' }
const mpesaNames = ['Receipt No.', 'Completion Time', 'Details', 'Transaction Status', 'Paid In', 'Withdrawn', 'Balance', 'Reason Type', 'Other Party Info'] // biome-ignore format: names of columns

function mpesa(fields: {
  receipt?: string
  time?: string
  status?: string
  in?: string
  out?: string
  type?: string
  who?: string
  balance?: string
}) {
  const places = placesIn(mpesaNames, 'mpesa', {})
  assert.ok(places)
  const { receipt = 'R1', time = '01-03-2026 10:00:00', status = 'Completed', balance = '' } = fields
  return linesIn(
    [receipt, time, '', status, fields.in ?? '', fields.out ?? '', balance, fields.type ?? '', fields.who ?? ''],
    places,
    about,
  )
}

test('the names of columns are found in any order, whatever their case and punctuation', () => {
  const rows: [provider: string, cells: string[], given: Columns, found: object | null][] = [
    [
      'mpesa',
      ['balance', 'receipt no', 'COMPLETION TIME', 'Paid In'],
      {},
      { receipt: 1, time: 2, paid_in: 3, balance: 0 },
    ],
    ['mtn_momo', ['Id', 'Date', 'Amount'], {}, { receipt: 0, time: 1, amount: 2 }],
    [
      'airtel_money',
      ['Transaction ID', 'Transaction Date', 'Transaction Amount'],
      {},
      { receipt: 0, time: 1, amount: 2 },
    ],
    ['mpesa', ['Account', 'Short code'], {}, null],
    ['mpesa', ['Receipt No.', 'Completion Time'], {}, null],
    ['mpesa', ['Ref', 'When', 'Paid In'], { receipt: 'Ref', time: 'When' }, { receipt: 0, time: 1, paid_in: 2 }],
    ['mpesa', ['Receipt No.', 'Completion Time', 'Paid In'], { phone: 'Who' }, null],
  ]
  for (const [provider, cells, given, found] of rows) assert.deepEqual(placesIn(cells, provider, given), found)
})

test('amounts, times and kinds of an M-Pesa statement', () => {
  const rows: [given: Parameters<typeof mpesa>[0], kind: string, micros: bigint, at?: string][] = [
    [{ in: '1,500.00' }, 'collection', 1_500_000_000n, '2026-03-01T07:00:00.000Z'],
    [{ in: '0.5', time: '2026-03-01 23:59:59' }, 'collection', 500_000n, '2026-03-01T20:59:59.000Z'],
    [{ in: 'KES 12', time: '01/03/2026 10:00' }, 'collection', 12_000_000n, '2026-03-01T07:00:00.000Z'],
    [{ in: '12 KES', time: '2026-03-01T10:00:00Z' }, 'collection', 12_000_000n, '2026-03-01T10:00:00.000Z'],
    [{ out: '-20.00', type: 'Pay Bill Charge' }, 'fee', 20_000_000n],
    [{ out: '20', type: 'Pay merchant fee' }, 'fee', 20_000_000n],
    [{ out: '(1,000)', type: 'Organization Settlement' }, 'settlement', 1_000_000_000n],
    [{ out: '5', type: 'Transfer to bank account' }, 'settlement', 5_000_000n],
    [{ out: '5', type: 'Customer reversal' }, 'other', 5_000_000n],
    [{ in: '5', type: 'Refund of a charge' }, 'collection', 5_000_000n],
  ]
  for (const [given, kind, micros, at] of rows) {
    const lines = mpesa(given)
    assert.ok(Array.isArray(lines), JSON.stringify(given))
    assert.deepEqual([lines.length, lines[0]?.kind, lines[0]?.micros], [1, kind, micros], JSON.stringify(given))
    if (at !== undefined) assert.equal(lines[0]?.at.toISOString(), at)
  }
})

test('of money out the payee is named, where the file has a column for it', () => {
  const names = ['Id', 'Date', 'From', 'To', 'Amount']
  const places = placesIn(names, 'mtn_momo', {})
  assert.ok(places)
  const rows: [cells: string[], phone: string | null][] = [
    [['1', '2026-03-01 10:00:00', '254700000001', '254700000002', '5'], '+254700000001'],
    [['2', '2026-03-01 10:00:00', '254700000001', '254700000002', '-5'], '+254700000002'],
    [['3', '2026-03-01 10:00:00', '254700000001', '', '-5'], '+254700000001'],
  ]
  for (const [cells, phone] of rows) {
    const lines = linesIn(cells, places, about)
    assert.ok(Array.isArray(lines))
    assert.equal(lines[0]?.phone, phone)
  }
})

test('what is not complete moves nothing, and what cannot be read is said', () => {
  for (const status of ['Failed', 'Pending', 'Cancelled', 'incomplete'])
    assert.deepEqual(mpesa({ status, in: '5' }), [])
  for (const status of ['', 'COMPLETED', 'Success', 'successful', 'TS']) {
    const lines = mpesa({ status, in: '5' })
    assert.ok(Array.isArray(lines) && lines.length === 1, status)
  }
  assert.deepEqual(mpesa({}), [], 'no money')
  for (const bad of [
    { receipt: '', in: '5' },
    { receipt: 'x'.repeat(101), in: '5' },
    { time: '31-02-2026 10:00:00', in: '5' },
    { time: '01-03-2026', in: '5' },
    { time: '01-03-2026 24:00:00', in: '5' },
    { in: 'five' },
    { in: '1,50.00' },
    { in: '0.1234567' },
    { in: '99999999999999' },
    { in: '5', balance: '?' },
  ])
    assert.ok('problem' in mpesa(bad), JSON.stringify(bad))
})

test('the payer’s number, as much of it as the provider shows', () => {
  const rows: [cell: string, phone: string | null][] = [
    ['254700000001 - ASHA', '+254700000001'],
    ['+254700000001', '+254700000001'],
    ['0700000001 - ASHA', '+254700000001'],
    ['700000001', '+254700000001'],
    ['2547****0001', '+2547____0001'],
    ['07xxxxx001 ASHA', '+2547_____001'],
    ['ASHA', null],
    ['', null],
  ]
  for (const [who, phone] of rows) {
    const lines = mpesa({ in: '5', who })
    assert.ok(Array.isArray(lines))
    assert.equal(lines[0]?.phone, phone, who)
  }
})

test('a fee beside an amount is a line of its own', () => {
  const places = placesIn(['Id', 'Date', 'Amount', 'Fee', 'Balance'], 'mtn_momo', {})
  assert.ok(places)
  const lines = linesIn(['1', '2026-03-01 10:00:00', '100', '1.5', '98.5'], places, {
    country: 'UG',
    utcOffset: '+03:00',
  })
  assert.ok(Array.isArray(lines))
  assert.deepEqual(
    lines.map(({ kind, micros, balanceMicros }) => [kind, micros, balanceMicros]),
    [
      ['collection', 100_000_000n, 98_500_000n],
      ['fee', 1_500_000n, 98_500_000n],
    ],
  )
})

test('whatever is written as CSV is read as it was, in whatever pieces it comes', async () => {
  const cell = fc
    .string({ unit: fc.constantFrom('a', '"', ',', '\n', ';', 'é', '😀', ' x'), maxLength: 6 })
    .map((text) => text.trim())
  const row = fc.tuple(fc.constant('first'), cell, cell, fc.constant('last'))
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { maxLength: 8 }),
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom('\n', '\r\n', '\r'),
      async (rows, size, end) => {
        const text = rows.map((cells) => cells.map((one) => `"${one.replaceAll('"', '""')}"`).join(',')).join(end)
        const read: (readonly string[])[] = []
        for await (const some of rowsOf(pieces(Buffer.from(text), size), 1_000_000))
          read.push(...some.map(({ cells }) => cells))
        assert.deepEqual(read, rows)
      },
    ),
  )
})

test('a comma in a sentence above the table separates nothing in it', async () => {
  const text = 'Statement of Duka Ltd, Nairobi;;;\nAccount;174379;;\nReceipt;Time;Amount;Details\nR1;x;1,500;a, b\n'
  const read: (readonly string[])[] = []
  for await (const some of rowsOf(pieces(Buffer.from(text), 7), 1_000)) read.push(...some.map(({ cells }) => cells))
  assert.deepEqual(read.slice(1), [
    ['Account', '174379', '', ''],
    ['Receipt', 'Time', 'Amount', 'Details'],
    ['R1', 'x', '1,500', 'a, b'],
  ])
})

test('a file that is too long is let go of when it is', async () => {
  const read = async () => {
    for await (const _ of rowsOf(pieces(Buffer.from('a,b\n'.repeat(100)), 10), 99)) void _
  }
  await assert.rejects(read, /at most 99 bytes/)
})

async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
