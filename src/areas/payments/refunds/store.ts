// SPDX-License-Identifier: Apache-2.0
// All SQL of refunds. Status and state move by guarded updates: only the winner gets the row back. A caller that
// changes a status has locked the payment before.
import { firstBy } from '../../../platform/db/merging.ts'
import { statement } from '../../../platform/db.ts'
import { carriesMetadata } from '../../../platform/metadata/filter.ts'
import type { ShownBounds } from '../../../platform/schema/lists.ts'
import type { Environment, One, Tenant } from '../../../platform/tenant.ts'
import type { AttemptState, PaymentRow } from '../records/store.ts'

export type RefundStatus = 'pending' | 'processing' | 'completed' | 'failed'

export interface RefundRow {
  bucket: number
  account_id: string
  environment: Environment
  id: string
  payment_id: string
  status: RefundStatus
  amount: bigint
  currency: string
  fee_returned: bigint
  reason: 'duplicate' | 'fraudulent' | 'requested_by_customer' | 'other' | null
  description: string | null
  reference: string | null
  metadata: Record<string, string | number | boolean>
  way: 'refund' | 'payout'
  provider: string
  country: string
  state: AttemptState
  /** Whose account with the provider it was sent with; null until it was. */
  sent_by: string | null
  provider_id: string | null
  token: Buffer
  polls: number
  provider_reference: string | null
  failure_reason: string | null
  request_id: string | null
  /** Time by the account's clock, like all but `state_at`. */
  created_at: Date
  completed_at: Date | null
  updated_at: Date
  /** Real time of the last change of the state. */
  state_at: Date
  /** Since when a person has to find out what became of it. */
  overdue_at: Date | null
  /** The provider gave other money back than it was asked to, and nobody has found out since. */
  told_other: boolean
  clock_offset_ms: bigint
}

const columns = `r.bucket, r.account_id, r.environment, r.id, r.payment_id, r.status, r.amount, r.currency, r.fee_returned,
  r.reason, r.description, r.reference, r.metadata, r.way, r.provider, r.country, r.state, r.sent_by, r.provider_id, r.token, r.polls,
  r.provider_reference, r.failure_reason, r.request_id, r.created_at, r.completed_at, r.updated_at, r.state_at, r.overdue_at,
  r.told_other, accounts.clock_offset_ms(r.account_id, r.environment) as clock_offset_ms`

const mine = 'r.bucket = $bucket and r.account_id = $account and r.environment = $environment'

/** New refund; no row when the reference was used before. */
export const insertRefund = statement.tenant<
  One & {
    payment: string
    amount: bigint
    feeReturned: bigint
    currency: string
    reason: string | null
    description: string | null
    reference: string | null
    metadata: string
    way: string
    provider: string
    country: string
    token: Buffer
    requestId: string | null
    at: Date
    realAt: Date
  },
  RefundRow
>(
  'payments.insert_refund',
  `insert into payments.refunds as r (bucket, account_id, environment, id, payment_id, status, amount, fee_returned, currency,
     reason, description, reference, metadata, way, provider, country, state, token, request_id, created_at, updated_at, state_at)
   values ($bucket, $account, $environment, $id, $payment, 'pending', $amount, $feeReturned, $currency, $reason, $description, $reference,
     $metadata::jsonb, $way, $provider, $country, 'planned', $token, $requestId, $at, $at, $realAt)
   on conflict (bucket, account_id, environment, reference) where reference is not null do nothing
   returning ${columns}`,
)

/** The refund, and what belongs to its payment. */
export type RefundOfPayment = RefundRow & {
  payment_amount: bigint
  payment_refunded: bigint
  method: PaymentRow['method']
  phone: string | null
}

const withPayment = `select ${columns}, p.amount as payment_amount, p.refunded as payment_refunded, p.method, p.phone
     from payments.refunds r
     join payments.payments p on p.bucket = r.bucket and p.account_id = r.account_id and p.environment = r.environment
      and p.id = r.payment_id
    where ${mine}`

export const findRefund = statement.tenant<One, RefundOfPayment>(
  'payments.find_refund',
  `${withPayment} and r.id = $id`,
)

export const findRefundReference = statement.tenant<Tenant & { reference: string }, Pick<RefundRow, 'id' | 'status'>>(
  'payments.find_refund_reference',
  `select r.id, r.status from payments.refunds r where ${mine} and r.reference = $reference`,
)

export const newestRefunds = statement.tenant<Tenant & { payment: string; limit: number }, RefundRow>(
  'payments.newest_refunds',
  `select ${columns} from payments.refunds r where ${mine} and r.payment_id = $payment order by r.id desc limit $limit`,
)

export const listRefunds = statement.tenant<
  Tenant &
    ShownBounds & {
      payment: string | null
      status: string | null
      currency: string | null
      provider: string | null
      method: string | null
      reference: string | null
      phone: string | null
      metadata: string | null
      after: string | null
      descending: boolean
      limit: number
    },
  RefundOfPayment
>(
  'payments.list_refunds',
  `${withPayment} and r.id >= $from::uuid and r.id < $to::uuid
      and ($since::timestamptz is null or r.created_at >= $since) and ($until::timestamptz is null or r.created_at < $until)
      and ($payment::uuid is null or r.payment_id = $payment) and ($status::text is null or r.status = $status)
      and ($currency::text is null or r.currency = $currency) and ($provider::text is null or r.provider = $provider)
      and ($method::text is null or p.method = $method) and ($reference::text is null or r.reference = $reference)
      and ($phone::text is null or p.phone = $phone) and ${carriesMetadata('r.metadata')}
      and ($after::uuid is null or (case when $descending::boolean then r.id < $after else r.id > $after end))
    order by case when $descending then r.id end desc, r.id
    limit $limit::int + 1`,
)

/** Part of a payment's fee that its refunds have given back; failed ones gave back none. */
export const returnedFees = statement.tenant<Tenant & { payment: string }, { fees: bigint }>(
  'payments.returned_fees',
  `select coalesce(sum(r.fee_returned), 0)::bigint as fees
     from payments.refunds r where ${mine} and r.payment_id = $payment`,
)

/** Moves a refund on, if it is in one of the states it may leave. */
export const moveRefund = statement.tenant<
  One & {
    from: readonly RefundStatus[]
    to: RefundStatus
    reason: string | null
    providerReference: string | null
    /** Null: as it is. */
    feeReturned: bigint | null
    at: Date
  },
  RefundRow
>(
  'payments.move_refund',
  `update payments.refunds r
      set status = $to, failure_reason = $reason, provider_reference = coalesce($providerReference, provider_reference),
          fee_returned = coalesce($feeReturned::bigint, fee_returned), updated_at = $at, overdue_at = null, told_other = false,
          completed_at = case when $to = 'completed' then $at::timestamptz end
    where ${mine} and r.id = $id and r.status = any($from::text[])
   returning ${columns}`,
)

/** Claims the sending of a refund that was not sent yet, with this provider account; no row when it was. */
export const beginRefund = statement.tenant<One & { sentBy: string | null; at: Date }, RefundRow>(
  'payments.begin_refund',
  `update payments.refunds r set state = 'sending', sent_by = $sentBy, state_at = $at
    where ${mine} and r.id = $id and r.state = 'planned'
   returning ${columns}`,
)

/** Moves the state of the request; no row when it was moved before. */
export const moveRefundState = statement.tenant<
  One & { from: readonly AttemptState[]; to: AttemptState; providerId: string | null; at: Date },
  { id: string }
>(
  'payments.move_refund_state',
  `update payments.refunds r
      set state = $to, provider_id = coalesce(provider_id, $providerId), state_at = $at
    where ${mine} and r.id = $id and r.state = any($from::text[])
   returning r.id`,
)

export const countRefundPoll = statement.tenant<One, object>(
  'payments.count_refund_poll',
  `update payments.refunds r set polls = least(polls, 9999) + 1 where ${mine} and r.id = $id`,
)

/** A person has to find out; none when one was asked to already. */
export const markRefundOverdue = statement.tenant<One & { toldOther: boolean; at: Date }, { id: string }>(
  'payments.mark_refund_overdue',
  `update payments.refunds r set overdue_at = coalesce(overdue_at, $at), told_other = told_other or $toldOther::boolean
    where ${mine} and r.id = $id and (r.overdue_at is null or ($toldOther and not r.told_other))
   returning r.id`,
)

/** A person has looked at it, and the books are right. */
export const clearRefundOverdue = statement.tenant<One, object>(
  'payments.clear_refund_overdue',
  `update payments.refunds r set overdue_at = null, told_other = false where ${mine} and r.id = $id`,
)

/** Refunds that a person has to find out about, of all accounts, oldest first. */
export const listOverdueRefunds = statement.everywhere<
  { buckets: readonly number[]; after: string | null; limit: number },
  RefundRow
>(
  'payments.list_overdue_refunds',
  `select ${columns} from payments.refunds r
    where r.bucket = any($buckets::smallint[]) and r.overdue_at is not null and ($after::uuid is null or r.id > $after)
    order by r.id limit $limit::int + 1`,
  {
    merge: firstBy(
      ({ id }) => id,
      ({ limit }) => limit + 1,
    ),
  },
)

/** Amount of a payment that its payer has back: refunds that were completed, and disputes that were lost. */
export const backWithPayer = statement.tenant<Tenant & { payment: string }, { amount: bigint }>(
  'payments.back_with_payer',
  `select coalesce(sum(amount), 0)::bigint as amount
     from (select r.amount from payments.refunds r where ${mine} and r.payment_id = $payment and r.status = 'completed'
            union all
           select r.amount from payments.disputes r where ${mine} and r.payment_id = $payment and r.status = 'lost') as parts`,
)
