// SPDX-License-Identifier: Apache-2.0
// Orange Money: where its web payments are. Its statements have no columns that are publicly described.
import type { MobileFacts } from '../providers/facts.ts'

export const orangeMoneyFacts: MobileFacts = {
  provider: 'orange_money',
  name: 'Orange Money',
  tile: [['Orange', 'Money'], '#f16e00', '#17211e'],
  confirmsOn: 'page',
  expirySeconds: 600,
  wholeUnitsOnly: true,
  places: [
    ['CI', 'XOF', 'Orange', '#144#'],
    ['SN', 'XOF', 'Orange', '#144#'],
    ['ML', 'XOF', 'Orange', '#144#'],
    ['BF', 'XOF', 'Orange', '*144#'],
    ['CM', 'XAF', 'Orange', '#150#'],
    ['GN', 'GNF', 'Orange', '*144#'],
    ['MG', 'MGA', 'Orange', '#144#'],
  ],
}
