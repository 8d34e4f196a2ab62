// SPDX-License-Identifier: Apache-2.0
// Vectors after the provider's own documentation: what is sent, and what its answers mean.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { paymentResultBody, readPaymentResult, readRequestToPayAnswer, requestToPayBody } from './momo.ts'

const externalId = '0190a5c0-7a1e-7c3b-9f10-5b1f5b1f5b1f'

test('a request to pay names the payer without a plus, and has texts that the provider takes', () => {
  const asked = { amount: '1500', currency: 'UGX', externalId, phone: '+256772123456' }
  assert.deepEqual(requestToPayBody({ ...asked, payerMessage: 'Order 77, “für Ada”!', payeeNote: 'order/77' }), {
    amount: '1500',
    currency: 'UGX',
    externalId,
    payer: { partyIdType: 'MSISDN', partyId: '256772123456' },
    payerMessage: 'Order 77 fr Ada',
    payeeNote: 'order77',
  })
  const bare = requestToPayBody({ ...asked, payerMessage: '“”', payeeNote: 'x'.repeat(300) })
  assert.deepEqual([bare.payerMessage, bare.payeeNote.length], ['Payment', 160])
})

test('the answer to a request to pay', () => {
  const rows: [status: number, body: unknown, expected: object][] = [
    [202, null, { kind: 'accepted' }],
    [409, { code: 'RESOURCE_ALREADY_EXIST', message: 'Duplicated reference id.' }, { kind: 'repeated' }],
    [409, null, { kind: 'repeated' }],
    [409, { code: 'OTHER' }, { kind: 'refused', code: 'OTHER' }],
    [400, { code: 'PAYER_NOT_FOUND', message: 'x' }, { kind: 'refused', code: 'PAYER_NOT_FOUND' }],
    [400, null, { kind: 'refused', code: '400' }],
    [401, { error: 'invalid_token' }, { kind: 'token' }],
    [429, null, { kind: 'busy', code: '429' }],
    [503, { code: 'SERVICE_UNAVAILABLE' }, { kind: 'busy', code: 'SERVICE_UNAVAILABLE' }],
    [503, null, { kind: 'strange' }],
    [500, { code: 'INTERNAL_PROCESSING_ERROR' }, { kind: 'strange' }],
    [200, {}, { kind: 'strange' }],
    [408, null, { kind: 'strange' }],
  ]
  for (const [status, body, expected] of rows)
    assert.deepEqual(readRequestToPayAnswer(status, body), expected, `${status} ${JSON.stringify(body)}`)
})

test('how it went is read whatever form the reason has', () => {
  const paid = {
    amount: 100,
    currency: 'UGX',
    financialTransactionId: 363440463,
    externalId,
    payer: { partyIdType: 'MSISDN', partyId: '256772123456' },
    status: 'SUCCESSFUL',
  }
  assert.deepEqual(readPaymentResult(paid), {
    externalId,
    status: 'SUCCESSFUL',
    amount: '100',
    currency: 'UGX',
    financialTransactionId: '363440463',
    reason: null,
  })
  for (const reason of ['PAYER_NOT_FOUND', { code: 'PAYER_NOT_FOUND', message: 'Payee does not exist' }])
    assert.equal(readPaymentResult({ externalId, status: 'FAILED', reason })?.reason, 'PAYER_NOT_FOUND')
  assert.equal(readPaymentResult({ status: 'FAILED' })?.reason, null)
  for (const nonsense of [null, 'x', [], {}, { status: 'PAID' }, { status: 1 }])
    assert.equal(readPaymentResult(nonsense), null, JSON.stringify(nonsense))
})

test('both ends agree on how it went', () => {
  const place = { currency: 'UGX', phone: '+256772123456' }
  for (const result of [
    { status: 'PENDING', amount: '5', financialTransactionId: null, reason: null },
    { status: 'SUCCESSFUL', amount: '5.5', financialTransactionId: '9', reason: null },
    { status: 'FAILED', amount: '5', financialTransactionId: null, reason: 'EXPIRED' },
  ] as const) {
    const whole = { externalId, currency: place.currency, ...result }
    assert.deepEqual(readPaymentResult(JSON.parse(JSON.stringify(paymentResultBody(whole, place)))), whole)
  }
})
