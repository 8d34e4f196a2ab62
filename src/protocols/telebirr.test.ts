// SPDX-License-Identifier: Apache-2.0
// telebirr's web checkout: what is signed, and what its answers and notices say.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import {
  isTelebirrSigned,
  readTelebirrAnswer,
  readTelebirrNotice,
  readTelebirrState,
  telebirrAnswerBody,
  telebirrNoticeBody,
  telebirrOrderBody,
  telebirrPageUrl,
  telebirrQueryBody,
} from './telebirr.ts'

const pair = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString()
const merchant = { appId: '850259717365760', shortCode: '500001' }
const moment = { nonce: '5K8264ILTKCH16CQ2502SI8ZNMTM67VS', atSeconds: 1_535_166_225 }
const order = {
  ...merchant,
  orderId: '201907151435001',
  amount: '12.5',
  currency: 'ETB',
  title: 'iPhone-X, 64 GB',
  notifyUrl: 'https://shop.example/notify',
  returnUrl: 'https://shop.example/back',
  minutes: 10,
}

test('an order is signed over all of its fields', () => {
  const body = telebirrOrderBody(order, moment, privateKey)
  assert.deepEqual(
    [body.method, body.timestamp, body.version, body.sign_type],
    ['payment.preorder', '1535166225', '1.0', 'SHA256WithRSA'],
  )
  const { merch_order_id, title, timeout_express, payee_identifier } = body.biz_content
  assert.deepEqual(
    [merch_order_id, title, timeout_express, payee_identifier],
    ['201907151435001', 'iPhoneX 64 GB', '10m', '500001'],
  )
  assert.ok(isTelebirrSigned(body, publicKey))
  assert.ok(isTelebirrSigned(telebirrQueryBody(merchant, order.orderId, moment, privateKey), publicKey))
  const changed = { ...body, biz_content: { ...body.biz_content, total_amount: '1' } }
  for (const other of [changed, { ...body, nonce_str: 'x' }, { ...body, sign: '' }, null])
    assert.equal(isTelebirrSigned(other, publicKey), false)
})

test('the page has the order in its address, signed', () => {
  const url = new URL(telebirrPageUrl('https://pay.example/payment/web/paygate', merchant, 'p-1', moment, privateKey))
  const { sign = '', sign_type: _, version, trade_type, ...fields } = Object.fromEntries(url.searchParams)
  assert.deepEqual(
    [url.pathname, version, trade_type, fields.prepay_id],
    ['/payment/web/paygate', '1.0', 'Checkout', 'p-1'],
  )
  assert.ok(isTelebirrSigned({ ...fields, sign }, publicKey))
})

test('what answers and notices say', () => {
  const opened = telebirrAnswerBody({ merch_order_id: '1', prepay_id: 'p-1' })
  assert.deepEqual(readTelebirrAnswer(200, opened), { kind: 'opened', prepayId: 'p-1' })
  for (const [status, body, kind] of [
    [200, telebirrAnswerBody({}), 'strange'],
    [200, { result: 'FAIL', code: '60200001' }, 'refused'],
    [400, null, 'refused'],
    [401, null, 'token'],
    [429, null, 'busy'],
    [500, { result: 'FAIL', code: '1' }, 'strange'],
    [200, null, 'strange'],
  ] as const)
    assert.equal(readTelebirrAnswer(status, body).kind, kind, JSON.stringify(body))
  const paid = telebirrAnswerBody({
    order_status: 'PAY_SUCCESS',
    total_amount: '12.50',
    trans_currency: 'ETB',
    trans_id: '49485948475845',
  })
  assert.deepEqual(readTelebirrState(200, paid), {
    state: 'PAY_SUCCESS',
    amount: '12.50',
    currency: 'ETB',
    receipt: '49485948475845',
  })
  for (const [status, body] of [
    [500, paid],
    [200, { ...paid, result: 'FAIL' }],
    [200, telebirrAnswerBody({ order_status: 'LOST' })],
  ] as const)
    assert.equal(readTelebirrState(status, body), null)
  const notice = { orderId: '1', isPaid: true, amount: '12.50', currency: 'ETB', receipt: 't' }
  assert.deepEqual(readTelebirrNotice(telebirrNoticeBody(notice)), notice)
  for (const nonsense of [null, {}, { merch_order_id: '1', trade_status: 'Paying' }, { trade_status: 'Completed' }])
    assert.equal(readTelebirrNotice(nonsense), null)
})
