// SPDX-License-Identifier: Apache-2.0
// M-Pesa in Kenya: where it is and what its statements look like.
import type { MobileFacts } from '../providers/facts.ts'

export const darajaFacts: MobileFacts = {
  provider: 'mpesa',
  name: 'M-Pesa',
  tile: [['M-Pesa'], '#0b6b3f', '#ffffff'],
  confirmsOn: 'phone',
  expirySeconds: 120,
  wholeUnitsOnly: true,
  places: [['KE', 'KES', 'Safaricom', '*334#']],
  statement: {
    receipt: ['Receipt No.', 'Receipt'],
    time: ['Completion Time', 'Date'],
    paid_in: ['Paid In'],
    withdrawn: ['Withdrawn'],
    balance: ['Balance'],
    phone: ['Other Party Info'],
    status: ['Transaction Status', 'Status'],
    type: ['Reason Type', 'Transaction Type'],
    details: ['Details'],
  },
}
