// SPDX-License-Identifier: Apache-2.0
// M-Pesa's Open API, held against the bodies of its public documentation.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  mpesaOpenPath,
  mpesaOpenPaymentBody,
  mpesaOpenQuery,
  readMpesaOpenAnswer,
  readMpesaOpenState,
} from './mpesa-open.ts'

test('a payment, and the question about it', () => {
  assert.equal(mpesaOpenPath('vodacomTZN', 'c2bPayment/singleStage'), '/ipg/v2/vodacomTZN/c2bPayment/singleStage/')
  const payment = {
    conversationId: 'asv02e5958774f7ba228d83d0d689761',
    reference: 'T1234C',
    country: 'TZN',
    currency: 'TZS',
    serviceProviderCode: '000000',
    phone: '+255744553111',
    amount: '10',
    description: 'Shoes, two',
  }
  assert.deepEqual(mpesaOpenPaymentBody(payment), {
    input_Amount: '10',
    input_Country: 'TZN',
    input_Currency: 'TZS',
    input_CustomerMSISDN: '255744553111',
    input_ServiceProviderCode: '000000',
    input_ThirdPartyConversationID: 'asv02e5958774f7ba228d83d0d689761',
    input_TransactionReference: 'T1234C',
    input_PurchasedItemsDesc: 'Shoes two',
  })
  const asked = { reference: 'r', conversationId: 'c', serviceProviderCode: '000000', country: 'TZN' }
  assert.equal(
    mpesaOpenQuery(asked).toString(),
    'input_QueryReference=r&input_ServiceProviderCode=000000&input_ThirdPartyConversationID=c&input_Country=TZN',
  )
})

const answered = (output_ResponseCode: string, more: object = {}) => ({ output_ResponseCode, ...more })

test('what the answers say', () => {
  for (const [status, body, expected] of [
    [201, answered('INS-0', { output_TransactionID: '49XCDF6' }), { kind: 'accepted', receipt: '49XCDF6' }],
    [201, answered('INS-0', { output_TransactionID: 'N/A' }), { kind: 'accepted', receipt: null }],
    [500, answered('INS-0'), { kind: 'strange' }],
    [401, answered('INS-6'), { kind: 'token' }],
    [400, answered('INS-989'), { kind: 'token' }],
    [500, answered('INS-16'), { kind: 'busy', code: 'INS-16' }],
    [408, answered('INS-9'), { kind: 'strange' }],
    [409, answered('INS-10'), { kind: 'strange' }],
    [500, answered('INS-1'), { kind: 'strange' }],
    [422, answered('INS-2006'), { kind: 'refused', code: 'INS-2006' }],
    [500, answered('INS-2006'), { kind: 'refused', code: 'INS-2006' }],
    [500, answered('INS-13'), { kind: 'strange' }],
    [400, answered('INS-13'), { kind: 'refused', code: 'INS-13' }],
    [200, null, { kind: 'strange' }],
  ] as const)
    assert.deepEqual(readMpesaOpenAnswer(status, body), expected, JSON.stringify(body))
  const state = (word: string) =>
    answered('INS-0', { output_ResponseTransactionStatus: word, output_OriginalTransactionID: 'T' })
  for (const [status, body, expected] of [
    [200, state('Completed'), { kind: 'paid', receipt: 'T' }],
    [200, state('Pending'), { kind: 'pending' }],
    [200, state('Cancelled'), { kind: 'ended', word: 'cancelled' }],
    [200, state(''), { kind: 'strange' }],
    [400, answered('INS-19'), { kind: 'missing' }],
    [400, answered('INS-18'), { kind: 'missing' }],
    [401, null, { kind: 'token' }],
    [500, answered('INS-1'), { kind: 'strange' }],
  ] as const)
    assert.deepEqual(readMpesaOpenState(status, body), expected, JSON.stringify(body))
})
