// SPDX-License-Identifier: Apache-2.0
// EcoCash: the wallet of Econet in Zimbabwe, in both moneys of the country.
import type { MobileFacts } from '../providers/facts.ts'

export const ecocashFacts: MobileFacts = {
  provider: 'ecocash',
  name: 'EcoCash',
  tile: [['EcoCash'], '#1a3f95', '#ffffff'],
  confirmsOn: 'phone',
  expirySeconds: 120,
  wholeUnitsOnly: false,
  places: [
    ['ZW', 'USD', 'Econet', '*151#'],
    ['ZW', 'ZWG', 'Econet', '*151#'],
  ],
}
