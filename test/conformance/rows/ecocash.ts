// SPDX-License-Identifier: Apache-2.0
// EcoCash: what each of its answers means.
import type { PaymentRows } from '../provider-rows.ts'

const payments: PaymentRows = {
  country: 'ZW',
  currency: 'USD',
  beginning: '+26377100',
  endings: {
    '0002': 'INSUFFICIENT_FUNDS',
    '0004': 'USER_CANCELLED',
    '0005': 'PROVIDER_ERROR',
    '0006': 'PROVIDER_ERROR',
    '0007': 'TRANSACTION_TIMEOUT',
  },
  accepts: [200, { sourceReference: 'x' }],
  forgets: null,
  says: [
    [[401, { message: 'Unauthorized' }], { kind: 'unavailable' }],
    [[400, { message: 'Bad Request' }], { kind: 'refused', reason: 'PROVIDER_ERROR', code: '400' }],
    [[429], { kind: 'unavailable' }],
    [[503], { kind: 'unavailable' }],
    [[500, { message: 'x' }], { kind: 'unknown' }],
    [[408], { kind: 'unknown' }],
  ],
  queries: [
    [[404], { kind: 'missing' }],
    [[200, { status: 'PENDING_VALIDATION' }], { kind: 'pending' }],
    [[200, { status: 'SUCCESS', ecocashReference: 'MP1', amount: { amount: 5 } }], { kind: 'paid', receipt: 'MP1' }],
    [[200, { status: 'CANCELLED' }], { kind: 'refused', reason: 'USER_CANCELLED' }],
    [[200, { status: 'EXPIRED' }], { kind: 'refused', reason: 'TRANSACTION_TIMEOUT' }],
    [[200, { status: 'SUCCESS', amount: { amount: '5,00' } }], { kind: 'unreadable', words: '5,00' }],
    [[200, { status: 'ROUTED' }], { kind: 'unknown' }],
    [[200, { status: 'FAILED' }], { kind: 'refused', reason: 'PROVIDER_ERROR', code: 'FAILED' }],
  ],
}

export const ecocashRows = { payments, refunds: 'none', payouts: 'none' } as const
