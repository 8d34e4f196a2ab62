// SPDX-License-Identifier: Apache-2.0
// A dispute as customers read it.
import type { Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import type { Dispute } from '../records/events.ts'
import type { DisputeRow } from './store.ts'

export function disputeOf(row: DisputeRow): Static<typeof Dispute> {
  return {
    dispute_id: idOf('dispute', row.id),
    payment_id: idOf('payment', row.payment_id),
    status: row.status,
    amount: row.amount,
    currency: row.currency,
    amount_held: row.status === 'open' ? row.held : 0n,
    amount_owed: row.owed,
    reason: row.reason,
    provider_reference: row.provider_id,
    created_at: row.created_at,
    closed_at: row.closed_at,
    evidence_sent_at: row.evidence_sent_at,
  }
}

export function disputeUuid(id: string): string {
  const uuid = uuidOf('dispute', id)
  if (uuid === null) throw noSuchDispute()
  return uuid
}

export function noSuchDispute(): AppError {
  return new AppError('NOT_FOUND', 'there is no such dispute; the ids of disputes begin with dsp_')
}
