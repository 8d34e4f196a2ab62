// SPDX-License-Identifier: Apache-2.0
// Wave: where its checkout is. Subscribers of any network may have an account, so that it has to be named.
import type { MobileFacts } from '../providers/facts.ts'

export const waveFacts: MobileFacts = {
  provider: 'wave',
  name: 'Wave',
  tile: [['Wave'], '#1dc4ff', '#17211e'],
  confirmsOn: 'page',
  expirySeconds: 1_800,
  wholeUnitsOnly: true,
  places: [
    ['SN', 'XOF', null, null],
    ['CI', 'XOF', null, null],
    ['ML', 'XOF', null, null],
    ['BF', 'XOF', null, null],
    ['GM', 'GMD', null, null],
    ['UG', 'UGX', null, null],
  ],
}
