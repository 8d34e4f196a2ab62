// SPDX-License-Identifier: Apache-2.0
// telebirr: the wallet of Ethio telecom.
import type { MobileFacts } from '../providers/facts.ts'

export const telebirrFacts: MobileFacts = {
  provider: 'telebirr',
  name: 'telebirr',
  tile: [['telebirr'], '#8dc63f', '#17211e'],
  confirmsOn: 'page',
  expirySeconds: 900,
  wholeUnitsOnly: false,
  places: [['ET', 'ETB', 'Ethio Telecom', '*127#']],
}
