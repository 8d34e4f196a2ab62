// SPDX-License-Identifier: Apache-2.0
// All SQL of payouts. A status moves by guarded updates: only the winner gets the row back.
import { firstBy } from '../../../platform/db/merging.ts'
import { statement } from '../../../platform/db.ts'
import { carriesMetadata } from '../../../platform/metadata/filter.ts'
import { type Environment, mine, type One, type Tenant } from '../../../platform/tenant.ts'
import type { Risk } from '../fraud/assess.ts'
import type { BankAccountIn } from '../providers/banks.ts'
import type { AttemptState, PaymentFilter } from '../records/store.ts'

export type PayoutStatus = 'pending' | 'processing' | 'completed' | 'failed' | 'cancelled' | 'reversed'

export interface PayoutRow {
  bucket: number
  account_id: string
  environment: Environment
  id: string
  batch_id: string | null
  batch_index: number | null
  status: PayoutStatus
  method: 'mobile_money' | 'bank_transfer'
  provider: string
  country: string
  amount: bigint
  currency: string
  fee: bigint
  /** Destination: phone or bank account. */
  phone: string | null
  bank: BankAccountIn | null
  recipient: { name?: string; email?: string }
  description: string | null
  reference: string | null
  metadata: Record<string, string | number | boolean>
  callback_url: string | null
  scheduled_at: Date | null
  /** Waits for an approval. */
  in_review: boolean
  /** Null until it was judged. */
  risk: Risk | null
  state: AttemptState
  /** Whose account with the provider it was sent with; null until it was. */
  sent_by: string | null
  token: Buffer
  tries: number
  missed_at: Date | null
  lost: boolean
  refusal: string | null
  /** The provider paid other money than it was asked to, and nobody has found out since. */
  told_other: boolean
  provider_reference: string | null
  failure_reason: string | null
  sequence: number
  request_id: string | null
  /** The key or the member that asked for it; null for one of before that was noted. */
  made_by: string | null
  /** Earliest time to send it, by the account's clock. */
  due_at: Date
  completed_at: Date | null
  created_at: Date
  updated_at: Date
  /** When its state last moved, by the real clock. */
  touched_at: Date
  clock_offset_ms: bigint
  /** Whether its account is. */
  is_suspended: boolean
}

export const columns = `bucket, account_id, environment, id, batch_id, batch_index, status, method, provider, country, amount, currency,
  fee, phone, bank, recipient, description, reference, metadata, callback_url, scheduled_at, in_review, risk, state, sent_by, token, tries,
  missed_at, lost, refusal, told_other, provider_reference, failure_reason, sequence, request_id, made_by, due_at, completed_at,
  created_at, updated_at, touched_at, accounts.clock_offset_ms(account_id, environment) as clock_offset_ms,
  accounts.is_suspended(account_id) as is_suspended`

/** A payout about to be stored, as JSON carries it. */
export interface NewPayout {
  id: string
  batch_index: number | null
  status: PayoutStatus
  method: PayoutRow['method']
  provider: string
  country: string
  amount: string
  fee: string
  phone: string | null
  bank: BankAccountIn | null
  recipient: object
  description: string | null
  reference: string | null
  metadata: object
  callback_url: string | null
  scheduled_at: string | null
  /** `\x` and hexadecimal digits. */
  token: string
  queued: boolean
  due_at: string
}

/** Stores payouts in one currency; those whose reference was used before are left out. */
export const insertPayouts = statement.tenant<
  Tenant & {
    batch: string | null
    currency: string
    items: string
    requestId: string | null
    madeBy: string
    at: Date
    realAt: Date
  },
  PayoutRow
>(
  'payments.insert_payouts',
  `insert into payments.payouts (bucket, account_id, environment, id, batch_id, batch_index, status, method, provider, country,
     amount, currency, fee, phone, bank, recipient, description, reference, metadata, callback_url, scheduled_at, token,
     queued, request_id, made_by, due_at, created_at, updated_at, touched_at)
   select $bucket, $account, $environment, i.id, $batch::uuid, i.batch_index, i.status, i.method, i.provider, i.country,
     i.amount, $currency, i.fee, i.phone, i.bank, i.recipient, i.description, i.reference, i.metadata, i.callback_url, i.scheduled_at,
     i.token, i.queued, $requestId, $madeBy, i.due_at, $at, $at, $realAt
     from jsonb_to_recordset($items::jsonb) as i(id uuid, batch_index int, status text, method text, provider text, country text,
       amount bigint, fee bigint, phone text, bank jsonb, recipient jsonb, description text, reference text, metadata jsonb,
       callback_url text, scheduled_at timestamptz, token bytea, queued boolean, due_at timestamptz)
   on conflict (bucket, account_id, environment, reference) where reference is not null do nothing
   returning ${columns}`,
)

export const findPayout = statement.tenant<One, PayoutRow>(
  'payments.find_payout',
  `select ${columns} from payments.payouts where ${mine} and id = $id`,
)

/** Payout, locked until this transaction ends. */
export const lockPayout = statement.tenant<One, PayoutRow>(
  'payments.lock_payout',
  `select ${columns} from payments.payouts where ${mine} and id = $id for update`,
)

export const findPayouts = statement.tenant<
  Tenant & { ids: readonly string[] },
  Pick<PayoutRow, 'id' | 'reference' | 'description' | 'metadata'>
>(
  'payments.find_payouts',
  `select id, reference, description, metadata from payments.payouts where ${mine} and id = any($ids::uuid[])`,
)

/** Used references, and by what. */
export const findPayoutReferences = statement.tenant<
  Tenant & { references: readonly string[] },
  { id: string; status: PayoutStatus; reference: string }
>(
  'payments.find_payout_references',
  `select id, status, reference from payments.payouts where ${mine} and reference = any($references::text[])`,
)

type Listed = Tenant &
  Omit<PaymentFilter, 'purposes'> & {
    inReview: boolean | null
    after: string | null
    descending: boolean
    limit: number
  }

const listing = (only: string) => `select ${columns} from payments.payouts
    where ${mine} and id >= $from::uuid and id < $to::uuid ${only}
      and ($since::timestamptz is null or created_at >= $since) and ($until::timestamptz is null or created_at < $until)
      and ($status::text is null or status = $status) and ($currency::text is null or currency = $currency)
      and ($provider::text is null or provider = $provider) and ($method::text is null or method = $method)
      and ($reference::text is null or reference = $reference) and ($phone::text is null or phone = $phone)
      and ($inReview::boolean is null or in_review = $inReview)
      and ${carriesMetadata()}
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`

export const listPayouts = statement.tenant<Listed, PayoutRow>('payments.list_payouts', listing(''))

/** A statement of its own, so that the few that wait are found by their own index. */
export const listInReview = statement.tenant<Listed, PayoutRow>(
  'payments.list_payouts_in_review',
  listing('and in_review'),
)

/** A statement of its own, for the index of batches. */
export const listOfBatch = statement.tenant<Listed & { batch: string }, PayoutRow>(
  'payments.list_payouts_of_batch',
  listing('and batch_id = $batch::uuid'),
)

/** Moves a payout on, if it is in one of the states it may leave. */
export const movePayout = statement.tenant<
  One & {
    from: readonly PayoutStatus[]
    to: PayoutStatus
    reason: string | null
    providerReference: string | null
    /** Frees the reference of a payout that was never sent. */
    isUnasked: boolean
    told: number
    at: Date
    realAt: Date
  },
  PayoutRow
>(
  'payments.move_payout',
  `update payments.payouts
      set status = $to, failure_reason = $reason, sequence = sequence + $told::int, updated_at = $at,
          provider_reference = coalesce($providerReference, provider_reference),
          completed_at = case when $to = 'completed' then $at::timestamptz else completed_at end,
          in_review = false,
          state = case when $to = 'processing' then state else 'final' end, touched_at = $realAt,
          overdue_at = null, told_other = false, reference = case when $isUnasked then null else reference end
    where ${mine} and id = $id and status = any($from::text[])
   returning ${columns}`,
)

/** Takes what was paid and the fee, if there is one, out of the hold. */
export const captureShare = statement.tenant<
  Tenant & {
    source: string
    step: string
    settle: string
    amount: bigint
    float: string
    fee: string
    feeAmount: bigint
    settleId: string
    feeId: string
  },
  { settled: string; charged: string }
>(
  'payments.capture_payout',
  `select ledger.capture($bucket::smallint, $account::uuid, $environment::text, $source::uuid, $step::text, $settle::text,
                         $amount::bigint, $float::text, $settleId::uuid) as settled,
          case when $feeAmount::bigint = 0 then 'captured'
               else ledger.capture($bucket::smallint, $account::uuid, $environment::text, $source::uuid, $step::text,
                                   $fee::text, $feeAmount::bigint, 'revenue:payout_fees', $feeId::uuid) end as charged`,
)

/** Claims the sending of a payout that was not sent yet, with this provider account; no row when it was. */
export const beginSending = statement.tenant<One & { sentBy: string | null; at: Date }, PayoutRow>(
  'payments.begin_payout',
  `update payments.payouts set state = 'sending', sent_by = $sentBy, touched_at = $at, missed_at = null, lost = false
    where ${mine} and id = $id and status = 'processing' and state = 'planned'
   returning ${columns}`,
)

/** Moves the state of the request; no row when it was moved before. */
export const moveState = statement.tenant<
  One & { from: readonly AttemptState[]; to: AttemptState; tries: number; at: Date },
  PayoutRow
>(
  'payments.move_payout_state',
  `update payments.payouts
      set state = $to, tries = tries + $tries::int, touched_at = $at,
          missed_at = case when $to = 'unknown' then missed_at end, lost = lost and $to = 'unknown'
    where ${mine} and id = $id and status = 'processing' and state = any($from::text[])
   returning ${columns}`,
)

/** The provider has never heard of it; lost it is when that was so a while before. */
export const noteMissing = statement.tenant<One & { before: Date; at: Date }, object>(
  'payments.note_missing_payout',
  `update payments.payouts set lost = lost or coalesce(missed_at <= $before, false), missed_at = coalesce(missed_at, $at)
    where ${mine} and id = $id and state = 'unknown'`,
)

/** Stores the reason that an unconfirmed call gave. */
export const noteRefusal = statement.tenant<One & { reason: string }, object>(
  'payments.note_payout_refusal',
  `update payments.payouts set refusal = $reason where ${mine} and id = $id and status = 'processing'`,
)

/** Ends the polling: an operator has to find out. */
export const markOverdue = statement.tenant<One & { at: Date }, { id: string }>(
  'payments.mark_payout_overdue',
  `update payments.payouts set overdue_at = $at
    where ${mine} and id = $id and status = 'processing' and overdue_at is null
   returning id`,
)

/**
 * Marks as doubtful: the provider contradicts itself or us, and a person has to find out, in any state of the payout. No row
 * when it was.
 */
export const markDoubtful = statement.tenant<One & { toldOther: boolean; at: Date }, { id: string }>(
  'payments.mark_payout_doubtful',
  `update payments.payouts set overdue_at = coalesce(overdue_at, $at), told_other = told_other or $toldOther::boolean
    where ${mine} and id = $id and (overdue_at is null or ($toldOther and not told_other))
   returning id`,
)

/** A person has looked at it, and the books are right. */
export const clearOverdue = statement.tenant<One, PayoutRow>(
  'payments.clear_payout_overdue',
  `update payments.payouts set overdue_at = null, told_other = false where ${mine} and id = $id returning ${columns}`,
)

const every = 'bucket = any($buckets::smallint[])'

/** Payouts that a person has to find out about, of all accounts, oldest first. */
export const listOverdue = statement.everywhere<
  { buckets: readonly number[]; after: string | null; limit: number },
  PayoutRow & { overdue_at: Date }
>(
  'payments.list_overdue_payouts',
  `select ${columns}, overdue_at from payments.payouts
    where ${every} and overdue_at is not null and ($after::uuid is null or id > $after)
    order by id limit $limit::int + 1`,
  {
    merge: firstBy(
      ({ id }) => id,
      ({ limit }) => limit + 1,
    ),
  },
)

export const findOverdue = statement.everywhere<{ buckets: readonly number[]; id: string }, PayoutRow>(
  'payments.find_overdue_payout',
  `select ${columns} from payments.payouts where ${every} and id = $id and overdue_at is not null`,
)

/** Lets a payout go that waited for a person; none when it did not. One whose time has not come waits for that. */
export const endReview = statement.tenant<One & { at: Date; realAt: Date }, PayoutRow>(
  'payments.end_payout_review',
  `update payments.payouts
      set in_review = false, status = case when due_at <= $at then 'processing' else status end, updated_at = $at,
          touched_at = $realAt
    where ${mine} and id = $id and status = 'pending' and in_review
   returning ${columns}`,
)
