// SPDX-License-Identifier: Apache-2.0
// MTN MoMo: where it is and what its statements look like.
import type { MobileFacts } from '../providers/facts.ts'

export const momoFacts: MobileFacts = {
  provider: 'mtn_momo',
  name: 'MTN MoMo',
  tile: [['MTN', 'MoMo'], '#ffcb05', '#17211e'],
  confirmsOn: 'phone',
  expirySeconds: 120,
  wholeUnitsOnly: false,
  places: [
    ['UG', 'UGX', 'MTN', '*165#'],
    ['RW', 'RWF', 'MTN', '*182#'],
    ['GH', 'GHS', 'MTN', '*170#'],
    ['ZM', 'ZMW', 'MTN', '*115#'],
    ['CM', 'XAF', 'MTN Cameroon', '*126#'],
    ['CG', 'XAF', 'MTN', '*105#'],
    ['BJ', 'XOF', 'MTN', '*880#'],
    ['CI', 'XOF', 'MTN', '*133#'],
    ['NG', 'NGN', 'MTN', '*671#'],
    ['SZ', 'SZL', 'Swazi MTN', '*007#'],
    ['GN', 'GNF', 'Areeba', '*440#'],
    ['LR', 'LRD', 'Lonestar Cell', '*156#'],
  ],
  statement: {
    receipt: ['Id', 'Transaction Id', 'Financial Transaction Id'],
    time: ['Date', 'Transaction Date'],
    amount: ['Amount'],
    fee: ['Fee'],
    balance: ['Balance', 'Available Balance'],
    phone: ['From', 'From Account', 'Payer'],
    payee: ['To', 'To Account', 'Payee'],
    status: ['Status'],
    type: ['Type', 'Transaction Type'],
    details: ['Payer Message', 'Information', 'Note'],
  },
}
