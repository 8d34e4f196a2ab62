// SPDX-License-Identifier: Apache-2.0
// EcoCash's Open API, held against the bodies of its public documentation.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ecocashPaths, ecocashPaymentBody, ecocashStateBody, readEcocashAnswer, readEcocashState } from './ecocash.ts'

const reference = '325a802f-943e-47c2-addf-010285f09cea'

test('a payment, and the question about it', () => {
  assert.equal(ecocashPaths.payment('live'), '/api/v2/payment/instant/c2b/live')
  assert.equal(ecocashPaths.state('sandbox'), '/api/v1/transaction/c2b/status/sandbox')
  const payment = { reference, phone: '+263774222475', amount: '10.5', currency: 'USD', reason: 'Bread, milk' }
  assert.deepEqual(ecocashPaymentBody(payment), {
    customerMsisdn: '263774222475',
    amount: 10.5,
    reason: 'Bread milk',
    currency: 'USD',
    sourceReference: reference,
  })
  assert.equal(ecocashPaymentBody({ ...payment, currency: 'ZWG' }).currency, 'ZiG')
  assert.deepEqual(ecocashStateBody(payment), { sourceMobileNumber: '263774222475', sourceReference: reference })
})

test('what the answers say', () => {
  for (const [status, body, kind] of [
    [200, { sourceReference: reference }, 'accepted'],
    [200, null, 'strange'],
    [401, { message: 'Unauthorized' }, 'token'],
    [400, { message: 'Bad Request' }, 'refused'],
    [429, null, 'busy'],
    [500, { message: 'x' }, 'strange'],
    [408, null, 'strange'],
    [409, { message: 'Conflict' }, 'strange'],
  ] as const)
    assert.equal(readEcocashAnswer(status, body).kind, kind, JSON.stringify(body))
  const paid = {
    amount: { amount: 100, currency: 'USD' },
    customerMsisdn: '263778548832',
    reference,
    ecocashReference: 'MP250908.1537.A22242',
    status: 'SUCCESS',
    transactionDateTime: '2025-09-08 15:37:16',
  }
  assert.deepEqual(readEcocashState(200, paid), {
    kind: 'paid',
    receipt: 'MP250908.1537.A22242',
    amount: '100',
    currency: 'USD',
  })
  const zig = readEcocashState(200, { ...paid, amount: { amount: 100, currency: 'ZiG' } })
  assert.equal(zig.kind === 'paid' && zig.currency, 'ZWG')
  assert.deepEqual(readEcocashState(200, { status: 'PENDING_VALIDATION' }), { kind: 'pending' })
  assert.deepEqual(readEcocashState(200, { status: 'Failed' }), { kind: 'failed', word: 'FAILED' })
  assert.equal(readEcocashState(404, null).kind, 'missing')
  for (const [status, body] of [
    [200, {}],
    [200, { status: 'QUEUED' }],
    [500, paid],
  ] as const)
    assert.equal(readEcocashState(status, body).kind, 'strange')
})
