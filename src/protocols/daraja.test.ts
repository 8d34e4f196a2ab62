// SPDX-License-Identifier: Apache-2.0
// Vectors after the provider's own documentation: what is sent byte for byte, and what its answers mean.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  passwordOf,
  readStkCallback,
  readStkPushAnswer,
  readStkQueryAnswer,
  stkCallbackBody,
  stkPushBody,
  stkQueryBody,
} from './daraja.ts'

const at = new Date('2026-03-01T21:15:30.900Z')
const passkey = 'bfb279f9aa9bdbcf158e97dd71a467cd2e0c893059b10f78e6b72ada1ed2c919'

test('a push is written in the provider’s own time, with texts that its prompt can show', () => {
  const body = stkPushBody({
    shortcode: '174379',
    passkey,
    amount: '1500',
    phone: '+254708374149',
    callbackUrl: 'https://api.example/hooks/p/x',
    reference: 'order/77 “für Ada” and more',
    description: 'Order 77, thank you',
    at,
  })
  assert.deepEqual(body, {
    BusinessShortCode: '174379',
    Password: Buffer.from(`174379${passkey}20260302001530`).toString('base64'),
    Timestamp: '20260302001530',
    TransactionType: 'CustomerPayBillOnline',
    Amount: '1500',
    PartyA: '254708374149',
    PartyB: '174379',
    PhoneNumber: '254708374149',
    CallBackURL: 'https://api.example/hooks/p/x',
    AccountReference: 'order77 fr A',
    TransactionDesc: 'Order 77 than',
  })
  assert.equal(body.Password, passwordOf('174379', passkey, '20260302001530'))
  const bare = stkPushBody({
    shortcode: '1',
    passkey,
    amount: '1',
    phone: '+254700000001',
    callbackUrl: 'x',
    reference: '“”',
    description: '',
    at,
  })
  assert.deepEqual([bare.AccountReference, bare.TransactionDesc], ['Payment', 'Payment'])
  assert.deepEqual(stkQueryBody({ shortcode: '174379', passkey, at }, 'ws_CO_1'), {
    BusinessShortCode: '174379',
    Password: body.Password,
    Timestamp: '20260302001530',
    CheckoutRequestID: 'ws_CO_1',
  })
})

test('the answer to a push is accepted, refused, about the token, of one that is busy, or none that is known', () => {
  const rows: [status: number, body: unknown, expected: object][] = [
    [
      200,
      {
        MerchantRequestID: '29115-34620561-1',
        CheckoutRequestID: 'ws_CO_191220191020363925',
        ResponseCode: '0',
        ResponseDescription: 'Success. Request accepted for processing',
        CustomerMessage: 'Success. Request accepted for processing',
      },
      { kind: 'accepted', checkoutId: 'ws_CO_191220191020363925' },
    ],
    [200, { CheckoutRequestID: 'x', ResponseCode: 0 }, { kind: 'accepted', checkoutId: 'x' }],
    [
      400,
      { requestId: '1', errorCode: '400.002.02', errorMessage: 'Bad Request - Invalid Amount' },
      { kind: 'refused', code: '400.002.02', message: 'Bad Request - Invalid Amount' },
    ],
    [404, { errorCode: '404.001.03', errorMessage: 'Invalid Access Token' }, { kind: 'token' }],
    [401, { errorCode: '400.003.01', errorMessage: 'Invalid Access Token' }, { kind: 'token' }],
    [401, { errorCode: '401.002.01', errorMessage: 'Error Occurred - Invalid Access Token' }, { kind: 'token' }],
    [500, { errorCode: '500.003.02', errorMessage: 'System is busy' }, { kind: 'busy' }],
    [500, { errorCode: '500.003.03', errorMessage: 'Quota Violation' }, { kind: 'busy' }],
    [429, { fault: { faultstring: 'Spike arrest violation' } }, { kind: 'busy' }],
    [200, { ResponseCode: '1', ResponseDescription: 'no' }, { kind: 'refused', code: '1', message: 'no' }],
    [502, '<html>', { kind: 'strange' }],
    [200, null, { kind: 'strange' }],
    [200, [], { kind: 'strange' }],
    [200, { ResponseCode: {}, errorCode: [] }, { kind: 'strange' }],
  ]
  for (const [status, body, expected] of rows)
    assert.deepEqual(readStkPushAnswer(status, body), expected, JSON.stringify(body))
})

test('an open prompt is answered as an error, and is none', () => {
  const rows: [status: number, body: unknown, expected: object][] = [
    [500, { errorCode: '500.001.1001', errorMessage: 'The transaction is being processed' }, { kind: 'pending' }],
    [200, { ResponseCode: '0', ResultCode: '1032', ResultDesc: 'x' }, { kind: 'final', resultCode: '1032' }],
    [200, { ResponseCode: '0', ResultCode: 0 }, { kind: 'final', resultCode: '0' }],
    [404, { errorCode: '404.001.03' }, { kind: 'token' }],
    [401, { errorCode: '401.002.01' }, { kind: 'token' }],
    [500, { errorCode: '500.003.02' }, { kind: 'strange' }],
    [500, { ResultCode: '0' }, { kind: 'strange' }],
    [200, 'paid', { kind: 'strange' }],
  ]
  for (const [status, body, expected] of rows)
    assert.deepEqual(readStkQueryAnswer(status, body), expected, JSON.stringify(body))
})

test('a callback is read by the names of its items, in whatever order and type they come', () => {
  const paid = {
    Body: {
      stkCallback: {
        MerchantRequestID: '29115-34620561-1',
        CheckoutRequestID: 'ws_CO_1',
        ResultCode: 0,
        ResultDesc: 'The service request is processed successfully.',
        CallbackMetadata: {
          Item: [
            { Name: 'Balance' },
            { Name: 'PhoneNumber', Value: 254708374149 },
            { Name: 'MpesaReceiptNumber', Value: 'NLJ7RT61SV' },
            { Name: 'Amount', Value: 1.5 },
          ],
        },
      },
    },
  }
  const expected = { checkoutId: 'ws_CO_1', resultCode: '0', amount: '1.5', receipt: 'NLJ7RT61SV' }
  assert.deepEqual(readStkCallback(paid), expected)
  const refused = { Body: { stkCallback: { CheckoutRequestID: 'ws_CO_1', ResultCode: '1032', ResultDesc: 'x' } } }
  assert.deepEqual(readStkCallback(refused), {
    checkoutId: 'ws_CO_1',
    resultCode: '1032',
    amount: null,
    receipt: null,
  })
  for (const nonsense of [null, 'x', [], {}, { Body: [] }, { Body: { stkCallback: { ResultCode: 0 } } }])
    assert.equal(readStkCallback(nonsense), null, JSON.stringify(nonsense))
})

test('both ends agree on a callback', () => {
  for (const [resultCode, amount, receipt] of [
    ['0', '1500', 'S1'],
    ['1', null, null],
  ] as const) {
    const told = { checkoutId: 'ws_CO_1', resultCode, amount, receipt }
    const how = { merchantRequestId: 'm', description: 'd', phone: '+254700000001', at }
    assert.deepEqual(readStkCallback(JSON.parse(JSON.stringify(stkCallbackBody(told, how)))), told)
  }
})
