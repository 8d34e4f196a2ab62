// SPDX-License-Identifier: Apache-2.0
// Wave: what each of its answers means.
import type { PaymentRows } from '../provider-rows.ts'

const session = (change: object = {}) => ({
  ...{ id: 'cos-1', amount: '1000', checkout_status: 'open', payment_status: 'processing' },
  ...{ wave_launch_url: 'http://127.0.0.1:9/c/cos-1', last_payment_error: null },
  ...change,
})
const expired = { checkout_status: 'expired', payment_status: 'cancelled' }

const payments: PaymentRows = {
  country: 'SN',
  currency: 'XOF',
  beginning: '+22177000',
  endings: {
    '0002': 'INSUFFICIENT_FUNDS',
    // Whoever leaves the page is waited for until it is over.
    '0004': 'TRANSACTION_TIMEOUT',
    '0005': 'PROVIDER_ERROR',
    '0006': 'PROVIDER_ERROR',
    '0007': 'PROVIDER_ERROR',
  },
  kept: { session: 'cos-1' },
  acceptedAs: 'action',
  accepts: [200, session()],
  forgets: null,
  says: [
    [[401, { code: 'no-matching-api-key' }], { kind: 'unavailable' }],
    [[403, { code: 'api-key-revoked' }], { kind: 'unavailable' }],
    [[400, { code: 'request-validation-error' }], { kind: 'refused', reason: 'PROVIDER_ERROR' }],
    [[404], { kind: 'refused', reason: 'PROVIDER_ERROR', code: '404' }],
    [[429], { kind: 'unavailable' }],
    [[503], { kind: 'unavailable' }],
    [[200, session({ wave_launch_url: '' })], { kind: 'unknown' }],
  ],
  queries: [
    [[200, session()], { kind: 'pending' }],
    [[404, { code: 'not-found' }], { kind: 'missing' }],
    [
      [200, session({ checkout_status: 'complete', payment_status: 'succeeded', transaction_id: 'T1' })],
      { kind: 'paid', receipt: 'T1' },
    ],
    [[200, session(expired)], { kind: 'refused', reason: 'TRANSACTION_TIMEOUT' }],
    [
      [200, session({ ...expired, last_payment_error: { code: 'insufficient-funds' } })],
      { kind: 'refused', reason: 'INSUFFICIENT_FUNDS' },
    ],
    [
      [200, session({ ...expired, last_payment_error: { code: 'payer-mobile-mismatch' } })],
      { kind: 'refused', reason: 'PAYER_NOT_FOUND' },
    ],
    [
      [200, session({ ...expired, last_payment_error: { code: 'blocked-account' } })],
      { kind: 'refused', reason: 'PROVIDER_ERROR', code: 'blocked-account' },
    ],
  ],
}

export const waveRows = { payments, refunds: 'none', payouts: 'none' } as const
