// SPDX-License-Identifier: Apache-2.0
// Orange Money's web payment, held against the bodies of its public documentation.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  orangeMoneyNoticeBody,
  orangeMoneyPath,
  orangeMoneyPaymentBody,
  orangeMoneyStateBody,
  readOrangeMoneyAnswer,
  readOrangeMoneyNotice,
  readOrangeMoneyState,
} from './orange-money.ts'

test('a payment is opened', () => {
  assert.equal(orangeMoneyPath('dev', 'webpayment'), '/orange-money-webpay/dev/v1/webpayment')
  const body = orangeMoneyPaymentBody({
    merchantKey: 'a1b2c3d4',
    currency: 'OUV',
    orderId: 'MY_ORDER_ID_08082105_0023457',
    amount: '1200',
    returnUrl: 'https://myvirtualshop.webnode.es',
    notifyUrl: 'https://www.merchant-example2.org/notif',
    language: 'fr',
    reference: 'ref Merchant/é',
  })
  assert.deepEqual(body, {
    merchant_key: 'a1b2c3d4',
    currency: 'OUV',
    order_id: 'MY_ORDER_ID_08082105_0023457',
    amount: 1200,
    return_url: 'https://myvirtualshop.webnode.es',
    cancel_url: 'https://myvirtualshop.webnode.es',
    notif_url: 'https://www.merchant-example2.org/notif',
    lang: 'fr',
    reference: 'ref Merchant',
  })
})

test('what the answers say', () => {
  const opened = {
    status: 201,
    message: 'OK',
    pay_token: 'f5720dd906203c62033ffe64ed75614878878',
    payment_url: 'https://webpayment.orange-money.com/payment/pay_token/f5720dd906203c62033ffe64ed75614878878',
    notif_token: 'dd497bda3b250e536186fc0663f32f40',
  }
  assert.deepEqual(readOrangeMoneyAnswer(201, opened), {
    kind: 'opened',
    payToken: opened.pay_token,
    paymentUrl: opened.payment_url,
    notifyToken: opened.notif_token,
  })
  for (const [status, body, kind] of [
    [201, { ...opened, payment_url: undefined }, 'strange'],
    [401, { code: 42, message: 'Expired credentials' }, 'token'],
    [400, { code: 21, message: 'Missing body field' }, 'refused'],
    [429, null, 'busy'],
    [500, { code: 1 }, 'strange'],
  ] as const)
    assert.equal(readOrangeMoneyAnswer(status, body).kind, kind, JSON.stringify(body))
})

test('how a payment went, and the notice about it', () => {
  const asked = { orderId: 'o', amount: '1200', payToken: 'p' }
  assert.deepEqual(orangeMoneyStateBody(asked), { order_id: 'o', amount: 1200, pay_token: 'p' })
  const paid = { status: 'SUCCESS', order_id: 'o', txnid: 'MP150709.1341.A00073' }
  assert.deepEqual(readOrangeMoneyState(201, paid), { state: 'SUCCESS', receipt: paid.txnid })
  assert.deepEqual(readOrangeMoneyState(200, { status: 'INITIATED' }), { state: 'INITIATED', receipt: null })
  for (const [status, body] of [
    [404, paid],
    [200, { status: 'PAID' }],
    [200, null],
  ] as const)
    assert.equal(readOrangeMoneyState(status, body), null)
  const notice = { state: 'SUCCESS', notifyToken: 'n', receipt: 'MP1' } as const
  assert.deepEqual(orangeMoneyNoticeBody(notice), { status: 'SUCCESS', notif_token: 'n', txnid: 'MP1' })
  assert.deepEqual(readOrangeMoneyNotice(orangeMoneyNoticeBody(notice)), notice)
  for (const nonsense of [null, {}, { status: 'SUCCESS' }, { status: 'PENDING', notif_token: 'n' }])
    assert.equal(readOrangeMoneyNotice(nonsense), null)
})
