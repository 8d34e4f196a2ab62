// SPDX-License-Identifier: Apache-2.0
// Orange Money: what each of its answers means.
import type { PaymentRows } from '../provider-rows.ts'

const payments: PaymentRows = {
  country: 'CI',
  currency: 'XOF',
  beginning: '+225070000',
  // It has one word for whatever went wrong.
  endings: Object.fromEntries(['0002', '0004', '0005', '0006', '0007'].map((ending) => [ending, 'PROVIDER_ERROR'])),
  kept: { pay_token: 'p', notif_token: 'n' },
  acceptedAs: 'action',
  accepts: [201, { status: 201, pay_token: 'p', payment_url: 'http://127.0.0.1:9/p', notif_token: 'n' }],
  forgets: [401, { code: 42, message: 'Expired credentials' }],
  says: [
    [[400, { code: 21 }], { kind: 'refused', reason: 'PROVIDER_ERROR', code: '21' }],
    [[429], { kind: 'unavailable' }],
    [[503, { code: 5 }], { kind: 'unavailable' }],
    [[201, { status: 201, pay_token: 'p' }], { kind: 'unknown' }],
    [[500, { code: 1 }], { kind: 'unknown' }],
  ],
  queries: [
    [[201, { status: 'INITIATED' }], { kind: 'pending' }],
    [[201, { status: 'PENDING' }], { kind: 'pending' }],
    [[201, { status: 'SUCCESS', txnid: 'MP1' }], { kind: 'paid', receipt: 'MP1' }],
    [[200, { status: 'EXPIRED' }], { kind: 'refused', reason: 'TRANSACTION_TIMEOUT' }],
    [[200, { status: 'FAILED' }], { kind: 'refused', reason: 'PROVIDER_ERROR' }],
    [[404, { code: 60 }], { kind: 'unknown' }],
  ],
}

export const orangeMoneyRows = { payments, refunds: 'none', payouts: 'none' } as const
