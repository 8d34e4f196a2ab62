// SPDX-License-Identifier: Apache-2.0
// All SQL of batches of payouts: the batch, what was refused of it, and the counts that end it.
import { statement } from '../../../platform/db.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'
import type { PayoutRow, PayoutStatus } from './store.ts'

export interface BatchRow {
  id: string
  status: 'processing' | 'completed' | 'cancelled'
  currency: string
  total_count: number
  accepted_count: number
  completed_count: number
  failed_count: number
  cancelled_count: number
  open_count: number
  total_amount: bigint
  total_fee: bigint
  reference: string | null
  description: string | null
  metadata: Record<string, string | number | boolean>
  callback_url: string | null
  sequence: number
  request_id: string | null
  created_at: Date
}

const batchColumns = `id, status, currency, total_count, accepted_count, completed_count, failed_count, cancelled_count,
  open_count, total_amount, total_fee, reference, description, metadata, callback_url, sequence, request_id, created_at`

/** New batch; no row when the reference was used before. A batch without an accepted payout ends at once. */
export const insertBatch = statement.tenant<
  One & {
    currency: string
    total: number
    accepted: number
    amount: bigint
    fee: bigint
    reference: string | null
    description: string | null
    metadata: string
    callbackUrl: string | null
    requestId: string | null
    at: Date
  },
  BatchRow
>(
  'payments.insert_payout_batch',
  `insert into payments.payout_batches (bucket, account_id, environment, id, currency, total_count, accepted_count,
     failed_count, open_count, total_amount, total_fee, reference, description, metadata, callback_url, request_id, created_at,
     status, sequence, completed_at)
   values ($bucket, $account, $environment, $id, $currency, $total::int, $accepted::int, $total::int - $accepted::int,
     $accepted::int, $amount, $fee, $reference, $description, $metadata::jsonb, $callbackUrl, $requestId, $at,
     case when $accepted::int > 0 then 'processing' else 'completed' end, case when $accepted::int > 0 then 0 else 1 end,
     case when $accepted::int = 0 then $at::timestamptz end)
   on conflict (bucket, account_id, environment, reference) where reference is not null do nothing
   returning ${batchColumns}`,
)

export const findBatch = statement.tenant<One, BatchRow>(
  'payments.find_payout_batch',
  `select ${batchColumns} from payments.payout_batches where ${mine} and id = $id`,
)

export const findBatchReference = statement.tenant<
  Tenant & { reference: string },
  { id: string; status: BatchRow['status'] }
>(
  'payments.find_payout_batch_reference',
  `select id, status from payments.payout_batches where ${mine} and reference = $reference`,
)

export const insertRefusals = statement.tenant<
  Tenant & { batch: string; indexes: readonly number[]; codes: readonly string[]; details: readonly string[] },
  object
>(
  'payments.insert_payout_refusals',
  `insert into payments.payout_refusals (bucket, account_id, environment, batch_id, batch_index, code, details)
   select $bucket, $account, $environment, $batch, i.index, i.code, i.details
     from unnest($indexes::int[], $codes::text[], $details::text[]) as i(index, code, details)`,
)

/** Counts a payout of a batch that ended, or was taken back later; returns the batch as it is then. */
export const countInBatch = statement.tenant<
  One & { completed: number; failed: number; cancelled: number; at: Date },
  BatchRow
>(
  'payments.count_in_payout_batch',
  `update payments.payout_batches
      set completed_count = completed_count + $completed::int, failed_count = failed_count + $failed::int,
          cancelled_count = cancelled_count + $cancelled::int,
          open_count = open_count - ($completed::int + $failed::int + $cancelled::int),
          status = case when open_count > $completed::int + $failed::int + $cancelled::int then 'processing'
                        when cancelled_count + $cancelled::int = accepted_count then 'cancelled' else 'completed' end,
          sequence = case when open_count = $completed::int + $failed::int + $cancelled::int and open_count > 0
                          then sequence + 1 else sequence end,
          completed_at = case when open_count = $completed::int + $failed::int + $cancelled::int
                              then coalesce(completed_at, $at) end
    where ${mine} and id = $id
   returning ${batchColumns}`,
)

export interface BatchItem {
  index: number
  id: string | null
  status: PayoutStatus
  amount: bigint | null
  reference: string | null
  failure_reason: string | null
  code: string | null
  details: string | null
}

/** The items of a batch in their order, accepted or not. */
export const listItems = statement.tenant<One & { after: number; limit: number }, BatchItem>(
  'payments.list_payout_items',
  `select * from (
     (select batch_index as index, id, status, amount, reference, failure_reason, null::text as code, null::text as details
        from payments.payouts where ${mine} and batch_id = $id and batch_index > $after::int
       order by batch_index limit $limit::int + 1)
     union all
     (select batch_index, null, 'failed', null, null, null, code, details
        from payments.payout_refusals where ${mine} and batch_id = $id and batch_index > $after::int
       order by batch_index limit $limit::int + 1)) items
   order by index limit $limit::int + 1`,
)

/**
 * Takes the next payouts of a batch that have no job; the caller adds the jobs in the same transaction. Locked ones are
 * waited for: the last caller must leave none behind.
 */
export const takeUnqueued = statement.tenant<
  Tenant & { batch: string; limit: number },
  Pick<PayoutRow, 'id' | 'status'>
>(
  'payments.take_unqueued_payouts',
  `with next as materialized (
     select n.id from payments.payouts n
      where ${mine} and n.batch_id = $batch and not n.queued
      order by n.batch_index limit $limit::int for update)
   update payments.payouts set queued = true
    where ${mine} and id = any(array(select next.id from next))
   returning id, status`,
)

/** Withdraws some of a batch that wait for their time or for a person; gives which, and what was held for them. */
export const cancelOfBatch = statement.tenant<
  One & { at: Date; realAt: Date; limit: number },
  { ids: string[]; held: bigint }
>(
  'payments.cancel_payouts_of_batch',
  `with next as materialized (
     select n.id from payments.payouts n where ${mine} and n.batch_id = $id and n.status = 'pending'
      order by n.batch_index limit $limit::int for update),
   cancelled as (
     update payments.payouts set status = 'cancelled', state = 'final', in_review = false, updated_at = $at, touched_at = $realAt
      where ${mine} and id = any(array(select next.id from next))
     returning id, amount + fee as held)
   select coalesce(array_agg(id), '{}') as ids, coalesce(sum(held), 0)::bigint as held from cancelled`,
)
