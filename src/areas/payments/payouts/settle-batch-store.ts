// SPDX-License-Identifier: Apache-2.0
// SQL of payouts that are settled in batches. Rows are locked in the order of their ids first, so that two batches with some of
// the same ones wait for each other instead of both for ever.
import { statement } from '../../../platform/db.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'
import type { AttemptState } from '../records/store.ts'
import { columns, type PayoutRow } from './store.ts'

type Many = Tenant & { ids: readonly string[] }

export const findMany = statement.tenant<Many, PayoutRow>(
  'payments.find_many_payouts',
  `select ${columns} from payments.payouts where ${mine} and id = any($ids::uuid[]) order by id`,
)

export const lockMany = statement.tenant<Many, PayoutRow>(
  'payments.lock_many_payouts',
  `select ${columns} from payments.payouts where ${mine} and id = any($ids::uuid[]) order by id for update`,
)

/**
 * Moves payouts to a new state; returns those that were not moved before. `sentBy`: provider account of each.
 */
export const moveStates = statement.tenant<
  Many & { from: AttemptState; to: AttemptState; sentBy: readonly string[]; at: Date },
  PayoutRow
>(
  'payments.move_payout_states',
  `with locked as materialized (
     select n.id as payout from payments.payouts n
      where ${mine} and n.id = any($ids::uuid[]) and n.status = 'processing' and n.state = $from
      order by n.id for update)
   update payments.payouts
      set state = $to, touched_at = $at,
          sent_by = case when $to <> 'sending' then sent_by
                         else nullif(($sentBy::text[])[array_position($ids::uuid[], id)], '') end,
          missed_at = case when $to = 'unknown' then missed_at end, lost = lost and $to = 'unknown'
    where ${mine} and id = any(array(select locked.payout from locked))
   returning ${columns}`,
)

/** Completes payouts that are locked; gives those that were still under way, and of which no other money was told. */
export const completeMany = statement.tenant<Many & { receipts: readonly string[]; at: Date; realAt: Date }, PayoutRow>(
  'payments.complete_payouts',
  `update payments.payouts
      set status = 'completed', failure_reason = null, sequence = sequence + 1, updated_at = $at, completed_at = $at,
          provider_reference = coalesce(nullif(paid.receipt, ''), provider_reference), in_review = false, state = 'final',
          touched_at = $realAt, overdue_at = null
     from unnest($ids::uuid[], $receipts::text[]) as paid(payout, receipt)
    where ${mine} and id = paid.payout and status = 'processing' and not told_other
   returning ${columns}`,
)

/** Capture paid amounts and fees from the shared hold. */
export const captureShares = statement.tenant<
  Tenant & {
    source: string
    step: string
    captures: readonly string[]
    amounts: readonly string[]
    credits: readonly string[]
    transfers: readonly string[]
  },
  { verdict: string }
>(
  'payments.capture_payouts',
  `select ledger.capture_many($bucket::smallint, $account::uuid, $environment::text, $source::uuid, $step::text,
            (select array_agg(row(c.capture, c.amount, c.credit, c.transfer)::ledger.capture_item)
               from unnest($captures::text[], $amounts::bigint[], $credits::text[], $transfers::uuid[])
                 as c(capture, amount, credit, transfer))) as verdict`,
)

/** A payments.judged_item, in its order. */
export const judgedColumns = {
  payout: 'uuid',
  found: 'jsonb',
  reviewed: 'boolean',
  check_currency: 'text',
  check_amount: 'bigint',
  check_score: 'smallint',
  check_decision: 'text',
  check_inputs: 'jsonb',
  check_matched: 'jsonb',
  check_payer: 'uuid',
  check_watched: 'jsonb',
} as const

/** Stores the risk decisions on locked payouts; those under review wait. */
export const noteRisks = statement.tenant<Tenant & { items: Buffer; at: Date; realAt: Date }, PayoutRow>(
  'payments.note_payout_risks',
  `with judged as materialized (select * from unnest($items::payments.judged_item[])),
   checked as (
     insert into payments.risk_checks (bucket, account_id, environment, id, direction, enforced, currency, amount, score, decision,
            inputs, matched, payer, watched, created_at)
     select $bucket, $account, $environment, j.payout, 'payout', true, j.check_currency, j.check_amount, j.check_score,
            j.check_decision, j.check_inputs, array(select m::uuid from jsonb_array_elements_text(j.check_matched) m),
            j.check_payer, j.check_watched, $at
       from judged j)
   update payments.payouts
      set risk = judged.found, in_review = judged.reviewed, sequence = sequence + case when judged.reviewed then 1 else 0 end,
          status = case when judged.reviewed then 'pending' else status end, updated_at = $at, touched_at = $realAt
     from judged
    where ${mine} and id = judged.payout and status in ('pending', 'processing') and state = 'planned' and risk is null
   returning ${columns}`,
)
