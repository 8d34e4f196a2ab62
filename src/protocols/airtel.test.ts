// SPDX-License-Identifier: Apache-2.0
// Vectors after copies of the provider's documentation: what is sent, and what its answers mean.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  airtelAnswerBody,
  airtelCodes,
  airtelPaymentBody,
  readAirtelPaymentAnswer,
  readAirtelResult,
} from './airtel.ts'

test('a payment names its market twice and its payer without the calling code', () => {
  const payment = { id: 'a-1', country: 'UG', currency: 'UGX', msisdn: '752123456', amount: '1500.5' }
  assert.deepEqual(airtelPaymentBody({ ...payment, reference: 'order/77 “Ada”' }), {
    reference: 'order77 Ada',
    subscriber: { country: 'UG', currency: 'UGX', msisdn: '752123456' },
    transaction: { amount: 1500.5, country: 'UG', currency: 'UGX', id: 'a-1' },
  })
  assert.equal(airtelPaymentBody({ ...payment, reference: '//' }).reference, 'Payment')
})

test('the answer to a payment', () => {
  const taken = {
    data: { transaction: { id: 'a-1', status: 'SUCCESS' } },
    status: {
      code: '200',
      message: 'SUCCESS',
      result_code: 'ESB000010',
      response_code: 'DP00800001006',
      success: true,
    },
  }
  const said = (response_code: string, success = false) => ({ status: { response_code, success } })
  const rows: [status: number, body: unknown, expected: object][] = [
    [200, taken, { kind: 'accepted' }],
    [200, said('DP00800001001', true), { kind: 'accepted' }],
    [200, said('DP00800001000', true), { kind: 'strange' }],
    [200, said('DP00800001000'), { kind: 'strange' }],
    [200, said('DP00800001007'), { kind: 'refused', code: 'DP00800001007' }],
    [400, said('DP00800001004'), { kind: 'refused', code: 'DP00800001004' }],
    [500, said('DP00800001005'), { kind: 'strange' }],
    [401, { error: 'invalid_token' }, { kind: 'token' }],
    [429, null, { kind: 'busy', code: '429' }],
    [502, '<html>', { kind: 'strange' }],
    [200, [], { kind: 'strange' }],
    [200, { status: { response_code: {} } }, { kind: 'strange' }],
  ]
  for (const [status, body, expected] of rows)
    assert.deepEqual(readAirtelPaymentAnswer(status, body), expected, `${status} ${JSON.stringify(body)}`)
})

test('how it went', () => {
  const state = (status: string, response_code = 'DP00800001001') => ({
    data: { transaction: { airtel_money_id: 'C36', id: 'a-1', message: 'x', status } },
    status: { response_code, success: true },
  })
  const rows: [status: number, body: unknown, expected: object][] = [
    [200, state('TS'), { kind: 'paid', receipt: 'C36' }],
    [200, { data: { transaction: { status: 'TS' } } }, { kind: 'paid', receipt: null }],
    [200, state('TF', 'DP00800001007'), { kind: 'failed', code: 'DP00800001007' }],
    [200, { data: { transaction: { status: 'TF' } } }, { kind: 'failed', code: 'TF' }],
    [200, state('TE'), { kind: 'failed', code: 'DP00800001029' }],
    [200, state('TIP', 'DP00800001006'), { kind: 'pending' }],
    [200, state('TA', 'DP00800001000'), { kind: 'pending' }],
    [404, { status: { response_code: 'DP00800001025' } }, { kind: 'missing' }],
    [401, {}, { kind: 'token' }],
    [500, state('TS'), { kind: 'strange' }],
    [404, '<html>', { kind: 'strange' }],
    [200, state('PAID'), { kind: 'strange' }],
  ]
  for (const [status, body, expected] of rows)
    assert.deepEqual(readAirtelResult(status, body), expected, `${status} ${JSON.stringify(body)}`)
})

test('both ends agree on an answer', () => {
  const told = (code: string, transaction?: Record<string, string>): unknown =>
    JSON.parse(JSON.stringify(airtelAnswerBody(code, transaction)))
  assert.equal(readAirtelPaymentAnswer(200, told(airtelCodes.inProcess, { id: 'a' })).kind, 'accepted')
  assert.equal(readAirtelPaymentAnswer(400, told(airtelCodes.badAmount)).kind, 'refused')
  assert.equal(readAirtelResult(404, told(airtelCodes.notFound)).kind, 'missing')
  assert.deepEqual(readAirtelResult(200, told(airtelCodes.wrongPin, { status: 'TF' })), {
    kind: 'failed',
    code: airtelCodes.wrongPin,
  })
})
