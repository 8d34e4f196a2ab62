// SPDX-License-Identifier: Apache-2.0
// M-Pesa of Vodacom: what each of its answers means.
import type { Told } from '../answers.ts'
import type { PaymentRows } from '../provider-rows.ts'

const code = (output_ResponseCode: string, more: object = {}) => ({ output_ResponseCode, ...more })
const state = (output_ResponseTransactionStatus: string) =>
  code('INS-0', { output_ResponseTransactionStatus, output_OriginalTransactionID: 'T1' })

const payments: PaymentRows = {
  country: 'TZ',
  currency: 'TZS',
  beginning: '+25574400',
  // Why nobody paid is told in the answer, where the provider waits for the payer; asked later, it has few words for it.
  endings: {
    '0002': 'PROVIDER_ERROR',
    '0004': 'USER_CANCELLED',
    '0005': 'PROVIDER_ERROR',
    '0006': 'PROVIDER_ERROR',
    '0007': 'TRANSACTION_TIMEOUT',
  },
  accepts: [201, code('INS-0', { output_TransactionID: '49XCDF6' })],
  forgets: [401, code('INS-989')],
  says: [
    [[201, code('INS-0', { output_TransactionID: 'N/A' })], { kind: 'accepted' }],
    ...(
      [
        ['INS-2006', 'INSUFFICIENT_FUNDS'],
        ['INS-5', 'USER_CANCELLED'],
        ['INS-4', 'PAYER_NOT_FOUND'],
        ['INS-2051', 'PAYER_NOT_FOUND'],
        ['INS-990', 'PAYER_LIMIT_REACHED'],
        ['INS-991', 'PAYER_LIMIT_REACHED'],
        ['INS-6', 'PROVIDER_ERROR'],
        ['INS-13', 'PROVIDER_ERROR'],
      ] as const
    ).map(([one, reason]): Told => [[400, code(one)], { kind: 'refused', reason, code: one }]),
    [[500, code('INS-16')], { kind: 'unavailable' }],
    [[429], { kind: 'unavailable' }],
    [[408, code('INS-9')], { kind: 'unknown' }],
    [[409, code('INS-10')], { kind: 'unknown' }],
    [[500, code('INS-1')], { kind: 'unknown' }],
  ],
  queries: [
    [[400, code('INS-19')], { kind: 'missing' }],
    [[200, state('Pending')], { kind: 'pending' }],
    [[200, state('Authorized')], { kind: 'pending' }],
    [[200, state('Completed')], { kind: 'paid', receipt: 'T1' }],
    [[200, state('Cancelled')], { kind: 'refused', reason: 'USER_CANCELLED' }],
    [[200, state('Declined')], { kind: 'refused', reason: 'USER_CANCELLED' }],
    [[200, state('Expired')], { kind: 'refused', reason: 'TRANSACTION_TIMEOUT' }],
    [[200, state('Failed')], { kind: 'refused', reason: 'PROVIDER_ERROR' }],
    [[500, code('INS-1')], { kind: 'unknown' }],
  ],
}

export const mpesaOpenRows = { payments, refunds: 'none', payouts: 'none' } as const
