// SPDX-License-Identifier: Apache-2.0
// Answers of a bank as a table: what is certain is read, and nothing else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BankAnswer, banksIn, noticeIdIn, readBankAnswer } from './bank.ts'

const nothing = { paidAmount: '', currency: 'KES', reference: null, code: '', account: null }

test('every answer is read for what it says, and a strange one as strange', () => {
  const into = { bank_name: 'B', bank_code: '01', account_number: '7', account_name: 'N' }
  const rows: [status: number, body: unknown, expected: BankAnswer][] = [
    [
      202,
      { id: 'a', status: 'pending', currency: 'KES' },
      { kind: 'object', object: { ...nothing, id: 'a', state: 'pending' } },
    ],
    [
      201,
      { id: 'a', status: 'open', currency: 'KES', account: into },
      { kind: 'object', object: { ...nothing, id: 'a', state: 'open', account: into } },
    ],
    [
      200,
      { id: 'a', status: 'paid', currency: 'KES', paid_amount: '10.5', reference: 'R' },
      { kind: 'object', object: { ...nothing, id: 'a', state: 'paid', paidAmount: '10.5', reference: 'R' } },
    ],
    [
      200,
      { id: 'a', status: 'failed', currency: 'KES', code: 'INSUFFICIENT_FUNDS' },
      { kind: 'object', object: { ...nothing, id: 'a', state: 'failed', code: 'INSUFFICIENT_FUNDS' } },
    ],
    [200, { id: 'a', status: 'paid', currency: 'KES' }, { kind: 'strange' }],
    [200, { id: 'a', status: 'paid', paid_amount: {} }, { kind: 'strange' }],
    [200, { id: 'a', status: 'perhaps' }, { kind: 'strange' }],
    [200, { status: 'pending' }, { kind: 'strange' }],
    [200, [], { kind: 'strange' }],
    [200, null, { kind: 'strange' }],
    [500, { id: 'a', status: 'paid', paid_amount: '1' }, { kind: 'strange' }],
    [422, { code: 'ACCOUNT_NOT_FOUND' }, { kind: 'refused', code: 'ACCOUNT_NOT_FOUND' }],
    [401, {}, { kind: 'key' }],
    [404, {}, { kind: 'missing' }],
    [429, {}, { kind: 'busy' }],
    [503, null, { kind: 'busy' }],
  ]
  for (const [status, body, expected] of rows)
    assert.deepEqual(readBankAnswer(status, body), expected, JSON.stringify(body))
})

test('notices name what they are about, and banks are those with a code and a name', () => {
  assert.equal(noticeIdIn({ id: 'a', status: 'paid' }), 'a')
  for (const body of [null, [], {}, { id: {} }, 'a']) assert.equal(noticeIdIn(body), null)
  assert.deepEqual(banksIn({ banks: [{ code: '01', name: 'A' }, { code: 1 }, 'x'] }), [{ code: '01', name: 'A' }])
  assert.deepEqual(banksIn(null), [])
})
