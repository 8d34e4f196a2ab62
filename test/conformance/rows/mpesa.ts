// SPDX-License-Identifier: Apache-2.0
// M-Pesa in Kenya: what each of its answers means.
import type { Told } from '../answers.ts'
import type { PaymentRows, PayoutRows, RefundRows } from '../provider-rows.ts'

const refusal = (errorCode: string) => ({ requestId: '1', errorCode, errorMessage: 'x' })
const taken = { OriginatorConversationID: '1-2-1', ConversationID: 'AG_1', ResponseCode: '0' }
const reversed = (ResultCode: string | number, amount?: string) => ({
  Result: {
    ResultCode,
    OriginatorConversationID: '1-2-1',
    ConversationID: 'AG_1',
    TransactionID: 'RX1',
    ...(amount ? { ResultParameters: { ResultParameter: [{ Key: 'Amount', Value: amount }] } } : {}),
  },
})

const result = (ResultCode: number | string, parameters: Record<string, string | number> = {}) => ({
  Result: {
    ResultCode,
    OriginatorConversationID: 'ours',
    ConversationID: 'AG_1',
    TransactionID: 'NLJ41HAY6Q',
    ResultParameters: { ResultParameter: Object.entries(parameters).map(([Key, Value]) => ({ Key, Value })) },
  },
})
const status = (TransactionStatus: string) =>
  result(0, { TransactionStatus, OriginatorConversationID: 'asked-about', ReceiptNo: 'NLJ41HAY6Q', Amount: 10 })

const payments: PaymentRows = {
  country: 'KE',
  currency: 'KES',
  beginning: '+25470000',
  endings: {
    '0002': 'INSUFFICIENT_FUNDS',
    '0004': 'USER_CANCELLED',
    '0005': 'WRONG_PIN',
    '0006': 'PAYER_LIMIT_REACHED',
    '0007': 'PAYER_UNREACHABLE',
  },
  accepts: [200, { CheckoutRequestID: 'ws_CO_1', ResponseCode: '0' }],
  forgets: [404, refusal('404.001.03')],
  says: [
    [[400, refusal('400.002.02')], { kind: 'refused', reason: 'PROVIDER_ERROR', code: '400.002.02' }],
    [[500, refusal('500.003.02')], { kind: 'unavailable' }],
    [[503, refusal('500.003.03')], { kind: 'unavailable' }],
    [[429, { fault: { faultstring: 'Spike arrest violation' } }], { kind: 'unavailable' }],
    [[500, refusal('500.001.1001')], { kind: 'refused', reason: 'PROVIDER_ERROR' }],
    [
      [500, { errorCode: '500.001.1001', errorMessage: 'Unable to lock subscriber, a transaction is in process' }],
      { kind: 'refused', reason: 'TRANSACTION_IN_PROGRESS' },
    ],
    [[500, refusal('500.002.1001')], { kind: 'unknown' }],
    [[200, { ResponseCode: '0' }], { kind: 'unknown' }],
  ],
  queries: [
    [[500, refusal('500.001.1001')], { kind: 'pending' }],
    [[200, { ResultCode: '4999' }], { kind: 'pending' }],
    ...(
      [
        ['1', 'INSUFFICIENT_FUNDS'],
        ['17', 'TRANSACTION_IN_PROGRESS'],
        ['1001', 'TRANSACTION_IN_PROGRESS'],
        ['1019', 'TRANSACTION_TIMEOUT'],
        ['1032', 'USER_CANCELLED'],
        ['1037', 'PAYER_UNREACHABLE'],
        ['2001', 'WRONG_PIN'],
        ['8006', 'WRONG_PIN'],
        ['9999', 'PROVIDER_ERROR'],
      ] as const
    ).map(([code, reason]): Told => [[200, { ResultCode: code }], { kind: 'refused', reason, code }]),
    [[200, { ResultCode: 0 }], { kind: 'paid' }],
  ],
}

const refunds: RefundRows = {
  accepts: [[200, taken], { kind: 'accepted', providerId: '1-2-1' }],
  forgets: [404, refusal('404.001.03')],
  refunds: [
    [[200, { ConversationID: 'AG_1', ResponseCode: '0' }], { kind: 'pending' }],
    [[400, refusal('400.002.02')], { kind: 'refused', reason: 'PROVIDER_ERROR', code: '400.002.02' }],
    [[503, refusal('500.003.02')], { kind: 'unavailable' }],
    [[500, refusal('500.001.1001')], { kind: 'unknown' }],
  ],
  queries: [
    [[200, taken], { kind: 'asked' }],
    [[400, refusal('400.002.02')], { kind: 'unknown' }],
  ],
  results: [
    [reversed(0, '1000.00'), '1-2-1', { kind: 'paid', receipt: 'RX1' }],
    [reversed('0'), '1-2-1', { kind: 'paid', receipt: 'RX1' }],
    [reversed('R000001'), '1-2-1', { kind: 'paid', receipt: null }],
    [reversed('R000002'), '1-2-1', { kind: 'refused', reason: 'PROVIDER_ERROR', code: 'R000002' }],
    [reversed(1), '1-2-1', { kind: 'refused', reason: 'PROVIDER_FLOAT_LOW', code: '1' }],
    [reversed(11), '1-2-1', { kind: 'refused', reason: 'PROVIDER_ERROR', code: '11' }],
    [reversed(21), '1-2-1', { kind: 'refused', reason: 'PROVIDER_ERROR', code: '21' }],
    [reversed(2001), '1-2-1', { kind: 'refused', reason: 'PROVIDER_ERROR', code: '2001' }],
  ],
  takesParts: false,
  needsReceipt: true,
}

const payouts: PayoutRows = {
  country: 'KE',
  currency: 'KES',
  beginning: '+25470000',
  accepts: [200, { ConversationID: 'AG_1', OriginatorConversationID: 'x', ResponseCode: '0' }],
  forgets: [404, refusal('404.001.03')],
  says: [
    [[400, refusal('400.002.02')], { kind: 'refused', reason: 'PROVIDER_ERROR', code: '400.002.02' }],
    [[200, { ResponseCode: '2001' }], { kind: 'refused', code: '2001' }],
    [[500, refusal('500.002.1001')], { kind: 'unknown' }],
    [[503, refusal('500.003.02')], { kind: 'unavailable' }],
    [[503, refusal('500.003.03')], { kind: 'unavailable' }],
    [[429, { fault: { faultstring: 'Spike arrest violation' } }], { kind: 'unavailable' }],
  ],
  queries: [
    [[200, { ConversationID: 'AG_1', ResponseCode: '0' }], { kind: 'asked' }],
    [[400, refusal('400.002.02')], { kind: 'unknown' }],
  ],
  answers: [
    [status('Completed'), { kind: 'paid', receipt: 'NLJ41HAY6Q' }],
    [status('Reversed'), { kind: 'reversed' }],
    [status('Pending'), { kind: 'pending' }],
    [status('Authorized'), { kind: 'pending' }],
    ...['Failed', 'Declined', 'Cancelled', 'Expired'].map((word) => [status(word), { kind: 'refused' }] as const),
    [result('R000002'), { kind: 'missing' }],
    [result(0), { kind: 'unknown' }],
    [result(2001), { kind: 'unknown' }],
  ],
  results: [
    [result(0, { TransactionAmount: 10 }), { kind: 'paid', receipt: 'NLJ41HAY6Q' }],
    [result(0, { TransactionAmount: '1,0' }), { kind: 'unreadable', receipt: 'NLJ41HAY6Q', words: '1,0' }],
    [result('1'), { kind: 'refused', reason: 'PROVIDER_FLOAT_LOW' }],
    [result(4), { kind: 'refused', reason: 'RECIPIENT_LIMIT_REACHED' }],
    [result(8), { kind: 'refused', reason: 'RECIPIENT_LIMIT_REACHED' }],
    [result(2040), { kind: 'refused', reason: 'RECIPIENT_NOT_FOUND' }],
    [result('SFC_IC0003'), { kind: 'refused', reason: 'RECIPIENT_NOT_FOUND' }],
    [result(9999), { kind: 'refused', reason: 'PROVIDER_ERROR', code: '9999' }],
    [result(15), { kind: 'unknown' }],
  ],
}

export const mpesaRows = { payments, refunds, payouts }
