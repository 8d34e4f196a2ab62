// SPDX-License-Identifier: Apache-2.0
// Payout objects of replies and events, and the hold of its money.
import type { Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import type { Step } from '../../../ledger/wallets.ts'
import { maskedAccount } from '../providers/banks.ts'
import { sentenceOf } from '../records/payment.ts'
import type { Payout } from '../records/payout-events.ts'
import type { BatchRow } from './batch-store.ts'
import type { PayoutRow } from './store.ts'

/** Hold of a payout; those of a batch share one. */
export function holdOf({ id, batch_id }: Pick<PayoutRow, 'id' | 'batch_id'>): Step {
  return { sourceId: batch_id ?? id, step: 'payout:hold' }
}

/** Names a step of a payout among those of its hold. */
export function stepOf(
  { id, batch_id }: Pick<PayoutRow, 'id' | 'batch_id'>,
  step: 'settle' | 'fee',
  /** Whether the payout was taken back before, and is paid after all. */
  isLate = false,
): string {
  return `payout:${step}${batch_id === null ? '' : `:${id}`}${isLate ? ':late' : ''}`
}

export function recordOf(row: PayoutRow): Static<typeof Payout> {
  return {
    payout_id: idOf('payout', row.id),
    status: row.status,
    amount: row.amount,
    currency: row.currency,
    recipient: {
      name: row.recipient.name ?? null,
      ...(row.recipient.email === undefined ? {} : { email: row.recipient.email }),
      phone: row.phone,
      bank: row.bank && maskedAccount(row.bank),
    },
    fee: row.fee,
    method: row.method,
    provider: row.provider,
    description: row.description,
    reference: row.reference,
    batch_id: row.batch_id && idOf('payoutBatch', row.batch_id),
    metadata: row.metadata,
    scheduled_at: row.scheduled_at,
    in_review: row.in_review,
    risk: row.risk,
    provider_reference: row.provider_reference,
    failure_reason: row.failure_reason,
    failure_message: sentenceOf(row.failure_reason),
    created_at: row.created_at,
    completed_at: row.completed_at,
    updated_at: row.updated_at,
  }
}

/** Body of an event: the main fields at the top, the whole payout below. */
export function toldOf(row: PayoutRow) {
  const payout = recordOf(row)
  const { payout_id, status, amount, currency, recipient, metadata, failure_reason } = payout
  const head = { livemode: row.environment === 'live', sequence: row.sequence }
  return { ...head, payout_id, status, amount, currency, recipient, metadata, failure_reason, payout }
}

export function batchOf(row: BatchRow) {
  const { status, total_count, accepted_count, completed_count, failed_count, cancelled_count } = row
  const { total_amount, total_fee } = row
  return {
    batch_id: idOf('payoutBatch', row.id),
    status,
    total_count,
    accepted_count,
    completed_count,
    failed_count,
    cancelled_count,
    total_amount,
    total_fee,
    currency: row.currency,
    created_at: row.created_at,
  }
}

export function payoutUuid(id: string): string {
  const uuid = uuidOf('payout', id) ?? uuidOf('transaction', id)
  if (uuid === null) throw noSuchPayout()
  return uuid
}

export function noSuchPayout(): AppError {
  return new AppError('NOT_FOUND', 'there is no such payout; the ids of payouts begin with po_')
}
