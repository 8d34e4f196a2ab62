// SPDX-License-Identifier: Apache-2.0
// M-Pesa of Vodacom: another company's than that of Kenya, with another API. Customers may call both mpesa.
import type { MobileFacts } from '../providers/facts.ts'

export const mpesaOpenFacts: MobileFacts = {
  provider: 'vodacom_mpesa',
  alsoCalled: ['mpesa'],
  name: 'M-Pesa (Vodacom)',
  tile: [['M-Pesa'], '#c8102e', '#ffffff'],
  confirmsOn: 'phone',
  expirySeconds: 120,
  wholeUnitsOnly: true,
  places: [['TZ', 'TZS', 'Vodacom', '*150*00#']],
}
