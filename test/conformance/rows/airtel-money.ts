// SPDX-License-Identifier: Apache-2.0
// Airtel Money: what each of its answers means.
import type { Told } from '../answers.ts'
import type { PaymentRows, PayoutRows, RefundRows } from '../provider-rows.ts'

const airtel = (response_code: string, status?: string) => ({
  ...(status ? { data: { transaction: { id: 'x', status, airtel_money_id: 'MP1' } } } : {}),
  status: { response_code, success: status !== undefined },
})

const payments: PaymentRows = {
  country: 'UG',
  currency: 'UGX',
  beginning: '+25675200',
  endings: {
    '0002': 'INSUFFICIENT_FUNDS',
    '0004': 'USER_CANCELLED',
    '0005': 'WRONG_PIN',
    '0006': 'PAYER_LIMIT_REACHED',
    '0007': 'TRANSACTION_TIMEOUT',
  },
  accepts: [200, airtel('DP00800001006', 'SUCCESS')],
  forgets: [401, { error: 'invalid_token' }],
  says: [
    [[400, airtel('DP00800001004')], { kind: 'refused', reason: 'PAYER_LIMIT_REACHED' }],
    [[200, airtel('DP00800001010')], { kind: 'refused', reason: 'PROVIDER_ERROR' }],
    [[200, airtel('DP00800001000')], { kind: 'unknown' }],
    [[500, airtel('DP00800001005')], { kind: 'unknown' }],
    [[429], { kind: 'unavailable' }],
  ],
  queries: [
    [[404, airtel('DP00800001025')], { kind: 'missing' }],
    [[200, airtel('DP00800001006', 'TIP')], { kind: 'pending' }],
    [[200, airtel('DP00800001000', 'TA')], { kind: 'pending' }],
    [[200, airtel('DP00800001001', 'TS')], { kind: 'paid', receipt: 'MP1' }],
    [[200, airtel('DP00800001029', 'TE')], { kind: 'refused', reason: 'TRANSACTION_TIMEOUT' }],
    ...(
      [
        ['002', 'WRONG_PIN'],
        ['003', 'PAYER_LIMIT_REACHED'],
        ['005', 'TRANSACTION_TIMEOUT'],
        ['007', 'INSUFFICIENT_FUNDS'],
        ['008', 'USER_CANCELLED'],
        ['009', 'PROVIDER_ERROR'],
        ['024', 'TRANSACTION_TIMEOUT'],
      ] as const
    ).map(([code, reason]): Told => [[200, airtel(`DP00800001${code}`, 'TF')], { kind: 'refused', reason }]),
  ],
}

const refunds: RefundRows = {
  accepts: [[200, airtel('DP00800001001', 'SUCCESS')], { kind: 'paid', receipt: 'MP1' }],
  forgets: [401, { error: 'invalid_token' }],
  refunds: [
    [[400, airtel('DP00800001007')], { kind: 'refused', reason: 'PROVIDER_FLOAT_LOW' }],
    [[400, airtel('DP00800001010')], { kind: 'refused', reason: 'RECIPIENT_NOT_FOUND' }],
    [[400, airtel('DP00800001003')], { kind: 'refused', reason: 'RECIPIENT_LIMIT_REACHED' }],
    [[404, airtel('DP00800001025')], { kind: 'refused', reason: 'PROVIDER_ERROR' }],
    [[200, airtel('DP00800001000')], { kind: 'unknown' }],
    [[200, airtel('DP00800001006', 'TIP')], { kind: 'unknown' }],
    [[500, airtel('DP00800001005')], { kind: 'unknown' }],
    [[429], { kind: 'unavailable' }],
  ],
  queries: [],
  results: [],
  takesParts: false,
  needsReceipt: true,
}

const payouts: PayoutRows = {
  country: 'UG',
  currency: 'UGX',
  beginning: '+25675200',
  accepts: [200, airtel('DP00900001006', 'TIP')],
  forgets: [401, { error: 'invalid_token' }],
  says: [
    [[200, airtel('DP00900001001', 'TS')], { kind: 'accepted' }],
    [[400, airtel('DP00900001012')], { kind: 'refused', reason: 'RECIPIENT_NOT_FOUND' }],
    [[200, airtel('DP00900001000')], { kind: 'unknown' }],
    [[500, airtel('DP00900001007')], { kind: 'unknown' }],
    [[429], { kind: 'unavailable' }],
  ],
  queries: [
    [[404, airtel('DP00900001015')], { kind: 'missing' }],
    [[200, airtel('DP00900001006', 'TIP')], { kind: 'pending' }],
    [[200, airtel('DP00900001000', 'TA')], { kind: 'pending' }],
    [[200, airtel('DP00900001001', 'TS')], { kind: 'paid', receipt: 'MP1' }],
    [[200, airtel('DP00900001007', 'TF')], { kind: 'refused', reason: 'PROVIDER_FLOAT_LOW' }],
    [[200, airtel('DP00900001003', 'TF')], { kind: 'refused', reason: 'RECIPIENT_LIMIT_REACHED' }],
    [[200, airtel('DP00900001014', 'TF')], { kind: 'refused', reason: 'PROVIDER_ERROR' }],
  ],
  answers: [],
  results: [],
}

export const airtelRows = { payments, refunds, payouts }
