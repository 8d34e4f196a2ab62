// SPDX-License-Identifier: Apache-2.0
// All SQL of disputes. A status moves by guarded updates: only the caller whose update changed the row gets it back.
// Callers lock the payment first.
import { statement } from '../../../platform/db.ts'
import type { ShownBounds } from '../../../platform/schema/lists.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'
import type { CardDispute } from '../providers/acquirer.ts'

export interface DisputeRow {
  id: string
  payment_id: string
  attempt_id: string
  provider_id: string
  status: CardDispute['status']
  amount: bigint
  /** Amount set aside when it was opened. */
  held: bigint
  owed: bigint
  currency: string
  reason: CardDispute['reason']
  polls: number
  /** Time by the account's clock, like all times here. */
  created_at: Date
  closed_at: Date | null
  evidence_sent_at: Date | null
}

const columns = `id, payment_id, attempt_id, provider_id, status, amount, held, owed, currency, reason, polls, created_at,
  closed_at, evidence_sent_at`

export const insertDispute = statement.tenant<
  One & {
    payment: string
    attempt: string
    provider: string
    providerId: string
    amount: bigint
    held: bigint
    currency: string
    reason: string
    at: Date
  },
  DisputeRow
>(
  'payments.insert_dispute',
  `insert into payments.disputes (bucket, account_id, environment, id, payment_id, attempt_id, provider, provider_id, status,
     amount, held, currency, reason, created_at, updated_at)
   values ($bucket, $account, $environment, $id, $payment, $attempt, $provider, $providerId, 'open', $amount, $held, $currency,
     $reason, $at, $at)
   returning ${columns}`,
)

export const findDispute = statement.tenant<One, DisputeRow>(
  'payments.find_dispute',
  `select ${columns} from payments.disputes where ${mine} and id = $id`,
)

/** Dispute by the acquirer's id. */
export const findProvidersDispute = statement.tenant<Tenant & { payment: string; providerId: string }, DisputeRow>(
  'payments.find_providers_dispute',
  `select ${columns} from payments.disputes where ${mine} and payment_id = $payment and provider_id = $providerId`,
)

/** Status of a payment's disputes: an open one counts before a lost one, and that before a won one. */
export const statusOfDisputes = statement.tenant<Tenant & { payment: string }, { status: CardDispute['status'] }>(
  'payments.status_of_disputes',
  `select status from payments.disputes where ${mine} and payment_id = $payment
    order by array_position(array['open', 'lost', 'won'], status) limit 1`,
)

/** Amounts of other disputes of a payment: those open, and those lost. */
export const claimedByOthers = statement.tenant<
  Tenant & { payment: string; id: string },
  { open: bigint; lost: bigint }
>(
  'payments.claimed_by_others',
  `select coalesce(sum(amount) filter (where status = 'open'), 0)::bigint as open,
          coalesce(sum(amount) filter (where status = 'lost'), 0)::bigint as lost
     from payments.disputes where ${mine} and payment_id = $payment and id <> $id`,
)

export const listDisputes = statement.tenant<
  Tenant &
    ShownBounds & {
      status: string | null
      payment: string | null
      after: string | null
      descending: boolean
      limit: number
    },
  DisputeRow
>(
  'payments.list_disputes',
  `select ${columns} from payments.disputes
    where ${mine} and id >= $from::uuid and id < $to::uuid
      and ($since::timestamptz is null or created_at >= $since) and ($until::timestamptz is null or created_at < $until)
      and ($status::text is null or status = $status)
      and ($payment::uuid is null or payment_id = $payment)
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

/** No row when it was closed before. */
export const closeDispute = statement.tenant<One & { status: string; owed: bigint; at: Date }, DisputeRow>(
  'payments.close_dispute',
  `update payments.disputes set status = $status, owed = $owed, closed_at = $at, updated_at = $at
    where ${mine} and id = $id and status = 'open'
   returning ${columns}`,
)

/** No row when it was closed before. */
export const noteEvidence = statement.tenant<One & { at: Date }, DisputeRow>(
  'payments.note_evidence',
  `update payments.disputes set evidence_sent_at = coalesce(evidence_sent_at, $at), updated_at = $at
    where ${mine} and id = $id and status = 'open'
   returning ${columns}`,
)

export const countDisputePoll = statement.tenant<One, object>(
  'payments.count_dispute_poll',
  `update payments.disputes set polls = least(polls, 9999) + 1 where ${mine} and id = $id`,
)
