// SPDX-License-Identifier: Apache-2.0
// Airtel Money: where it is and what its statements look like.
import type { MobileFacts } from '../providers/facts.ts'

export const airtelFacts: MobileFacts = {
  provider: 'airtel_money',
  name: 'Airtel Money',
  tile: [['Airtel', 'Money'], '#b3201f', '#ffffff'],
  confirmsOn: 'phone',
  expirySeconds: 120,
  wholeUnitsOnly: false,
  places: [
    ['KE', 'KES', 'Airtel', '*334#'],
    ['UG', 'UGX', 'Airtel', '*185#'],
    ['TZ', 'TZS', 'Airtel', '*150*60#'],
    ['ZM', 'ZMW', 'Airtel', '*115#'],
    ['RW', 'RWF', 'Airtel', '*182#'],
    ['MW', 'MWK', 'Airtel', '*211#'],
    ['CD', 'CDF', 'Airtel', '*501#'],
    ['MG', 'MGA', 'Airtel', '*436#'],
    ['GA', 'XAF', 'Airtel', '*150#'],
  ],
  statement: {
    receipt: ['Transaction ID', 'Airtel Money ID'],
    time: ['Transaction Date', 'Date', 'Transaction Date Time'],
    amount: ['Transaction Amount', 'Amount'],
    fee: ['Service Charge', 'Fee'],
    balance: ['Balance', 'Closing Balance', 'Post Balance'],
    phone: ['Sender MSISDN', 'Payer MSISDN', 'Customer MSISDN', 'MSISDN'],
    payee: ['Receiver MSISDN', 'Payee MSISDN', 'Recipient MSISDN'],
    status: ['Transaction Status', 'Status'],
    type: ['Transaction Type', 'Service Type'],
    details: ['Reference', 'Remarks'],
  },
}
