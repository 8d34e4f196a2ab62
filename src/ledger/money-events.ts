// SPDX-License-Identifier: Apache-2.0
// Head and first fields of every event that tells of money: payments, payouts, wallets and invoices.
import { Type } from 'typebox'
import type { Head } from '../platform/events.ts'

export const moneyHead: Head = { id: 'id', event: 'name', event_id: 'id', created_at: 'at', timestamp: 'at' }

export const moneyFields = {
  livemode: Type.Boolean({ description: 'False in the test environment' }),
  sequence: Type.Integer({ description: 'Sequence number among the events of one object, from 1' }),
}
