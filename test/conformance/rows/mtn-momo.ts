// SPDX-License-Identifier: Apache-2.0
// MTN MoMo: what each of its answers means.
import type { Told } from '../answers.ts'
import type { PaymentRows, PayoutRows, RefundRows } from '../provider-rows.ts'

const payments: PaymentRows = {
  country: 'UG',
  currency: 'UGX',
  beginning: '+25677000',
  endings: {
    '0002': 'INSUFFICIENT_FUNDS',
    '0004': 'USER_CANCELLED',
    '0005': 'USER_CANCELLED',
    '0006': 'PAYER_LIMIT_REACHED',
    '0007': 'TRANSACTION_TIMEOUT',
  },
  accepts: [202],
  forgets: [401, { error: 'invalid_token' }],
  says: [
    [[409, { code: 'RESOURCE_ALREADY_EXIST' }], { kind: 'accepted' }],
    [[400, { code: 'PAYER_NOT_FOUND' }], { kind: 'refused', reason: 'PAYER_NOT_FOUND' }],
    [[400], { kind: 'refused', reason: 'PROVIDER_ERROR', code: '400' }],
    [[503, { code: 'SERVICE_UNAVAILABLE' }], { kind: 'unavailable' }],
    [[429], { kind: 'unavailable' }],
    [[500, { code: 'INTERNAL_PROCESSING_ERROR' }], { kind: 'unknown' }],
  ],
  queries: [
    [[404, { code: 'RESOURCE_NOT_FOUND' }], { kind: 'missing' }],
    [[200, { status: 'PENDING' }], { kind: 'pending' }],
    [[200, { status: 'SUCCESSFUL', amount: '5', financialTransactionId: '9' }], { kind: 'paid', receipt: '9' }],
    ...(
      [
        ['NOT_ENOUGH_FUNDS', 'INSUFFICIENT_FUNDS'],
        ['LOW_BALANCE_OR_PAYEE_LIMIT_REACHED_OR_NOT_ALLOWED', 'INSUFFICIENT_FUNDS'],
        ['APPROVAL_REJECTED', 'USER_CANCELLED'],
        ['PAYER_NOT_FOUND', 'PAYER_NOT_FOUND'],
        ['PAYER_LIMIT_REACHED', 'PAYER_LIMIT_REACHED'],
        ['EXPIRED', 'TRANSACTION_TIMEOUT'],
        ['COULD_NOT_PERFORM_TRANSACTION', 'TRANSACTION_TIMEOUT'],
        ['SERVICE_UNAVAILABLE', 'PROVIDER_UNAVAILABLE'],
        ['INTERNAL_PROCESSING_ERROR', 'PROVIDER_ERROR'],
      ] as const
    ).map(([code, reason]): Told => [[200, { status: 'FAILED', reason: code }], { kind: 'refused', reason, code }]),
  ],
}

const refunds: RefundRows = {
  accepts: [[202], { kind: 'accepted' }],
  forgets: [401, { error: 'invalid_token' }],
  refunds: [
    [[409, { code: 'RESOURCE_ALREADY_EXIST' }], { kind: 'accepted' }],
    [[404, { code: 'RESOURCE_NOT_FOUND' }], { kind: 'refused', reason: 'PROVIDER_ERROR' }],
    [[400, { code: 'PAYEE_NOT_FOUND' }], { kind: 'refused', reason: 'RECIPIENT_NOT_FOUND' }],
    [[503, { code: 'SERVICE_UNAVAILABLE' }], { kind: 'unavailable' }],
    [[429], { kind: 'unavailable' }],
    [[500, { code: 'INTERNAL_PROCESSING_ERROR' }], { kind: 'unknown' }],
  ],
  queries: [
    [[404, { code: 'RESOURCE_NOT_FOUND' }], { kind: 'missing' }],
    [[200, { status: 'PENDING' }], { kind: 'pending' }],
    [[200, { status: 'SUCCESSFUL', amount: '5', financialTransactionId: '9' }], { kind: 'paid', receipt: '9' }],
    [[200, { status: 'FAILED', reason: 'NOT_ENOUGH_FUNDS' }], { kind: 'refused', reason: 'PROVIDER_FLOAT_LOW' }],
    [
      [200, { status: 'FAILED', reason: { code: 'PAYEE_NOT_FOUND' } }],
      { kind: 'refused', reason: 'RECIPIENT_NOT_FOUND' },
    ],
    [
      [200, { status: 'FAILED', reason: 'PAYEE_LIMIT_REACHED' }],
      { kind: 'refused', reason: 'RECIPIENT_LIMIT_REACHED' },
    ],
    [
      [200, { status: 'FAILED', reason: 'PAYEE_NOT_ALLOWED_TO_RECEIVE' }],
      { kind: 'refused', reason: 'RECIPIENT_LIMIT_REACHED' },
    ],
    [[200, { status: 'FAILED', reason: 'NOT_ALLOWED' }], { kind: 'refused', reason: 'PROVIDER_ERROR' }],
  ],
  results: [
    [{ externalId: 'x', status: 'SUCCESSFUL', amount: '5', financialTransactionId: '9' }, 'x', { kind: 'paid' }],
    [{ externalId: 'x', status: 'FAILED' }, 'x', { kind: 'refused' }],
  ],
  takesParts: true,
  needsReceipt: false,
}

const payouts: PayoutRows = {
  country: 'UG',
  currency: 'UGX',
  beginning: '+25677000',
  accepts: [202],
  forgets: [401, { error: 'invalid_token' }],
  says: [
    [[409, { code: 'RESOURCE_ALREADY_EXIST' }], { kind: 'accepted' }],
    [[400, { code: 'PAYEE_NOT_FOUND' }], { kind: 'refused', reason: 'RECIPIENT_NOT_FOUND' }],
    [[503, { code: 'SERVICE_UNAVAILABLE' }], { kind: 'unavailable' }],
    [[429], { kind: 'unavailable' }],
    [[500, { code: 'INTERNAL_PROCESSING_ERROR' }], { kind: 'unknown' }],
  ],
  queries: [
    [[404, { code: 'RESOURCE_NOT_FOUND' }], { kind: 'missing' }],
    [[200, { status: 'PENDING' }], { kind: 'pending' }],
    [[200, { status: 'SUCCESSFUL', amount: '5', financialTransactionId: '9' }], { kind: 'paid', receipt: '9' }],
    ...(
      [
        ['NOT_ENOUGH_FUNDS', 'PROVIDER_FLOAT_LOW'],
        ['PAYEE_NOT_FOUND', 'RECIPIENT_NOT_FOUND'],
        ['PAYEE_NOT_ALLOWED_TO_RECEIVE', 'RECIPIENT_LIMIT_REACHED'],
        ['INTERNAL_PROCESSING_ERROR', 'PROVIDER_ERROR'],
      ] as const
    ).map(([code, reason]): Told => [[200, { status: 'FAILED', reason: code }], { kind: 'refused', reason, code }]),
  ],
  answers: [],
  results: [[{ status: 'SUCCESSFUL', externalId: 'ours', amount: '5' }, { kind: 'paid' }]],
}

export const momoRows = { payments, refunds, payouts }
