// SPDX-License-Identifier: Apache-2.0
// telebirr: what each of its answers means.
import type { PaymentRows } from '../provider-rows.ts'

const done = (biz_content: object) => ({ result: 'SUCCESS', code: '0', biz_content })

const payments: PaymentRows = {
  country: 'ET',
  currency: 'ETB',
  beginning: '+25191100',
  // It has one word for whatever went wrong.
  endings: Object.fromEntries(['0002', '0004', '0005', '0006', '0007'].map((ending) => [ending, 'PROVIDER_ERROR'])),
  acceptedAs: 'action',
  accepts: [200, done({ merch_order_id: 'x', prepay_id: 'p' })],
  forgets: [401, { result: 'FAIL', code: '4010002' }],
  says: [
    [[200, { result: 'FAIL', code: '60200001' }], { kind: 'refused', reason: 'PROVIDER_ERROR', code: '60200001' }],
    [[400], { kind: 'refused', reason: 'PROVIDER_ERROR', code: '400' }],
    [[429], { kind: 'unavailable' }],
    [[503], { kind: 'unavailable' }],
    [[200, done({})], { kind: 'unknown' }],
    [[500, { result: 'FAIL', code: '1' }], { kind: 'unknown' }],
  ],
  queries: [
    ...['WAIT_PAY', 'PAYING', 'ACCEPTED'].map(
      (order_status) => [[200, done({ order_status })], { kind: 'pending' }] as const,
    ),
    [
      [200, done({ order_status: 'PAY_SUCCESS', total_amount: '1000.00', trans_id: 'T1' })],
      { kind: 'paid', receipt: 'T1' },
    ],
    [[200, done({ order_status: 'PAY_SUCCESS', total_amount: '1.000,00' })], { kind: 'unreadable', words: '1.000,00' }],
    [
      [200, done({ order_status: 'PAY_SUCCESS', total_amount: '5', trans_currency: 'USD' })],
      { kind: 'paid', currency: 'USD' },
    ],
    [[200, done({ order_status: 'PAY_FAILED' })], { kind: 'refused', reason: 'PROVIDER_ERROR' }],
    [[200, done({ order_status: 'ORDER_CLOSED' })], { kind: 'refused', reason: 'TRANSACTION_TIMEOUT' }],
    [[200, { result: 'FAIL', code: '60200002' }], { kind: 'unknown' }],
  ],
}

export const telebirrRows = { payments, refunds: 'none', payouts: 'none' } as const
