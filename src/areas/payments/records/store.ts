// SPDX-License-Identifier: Apache-2.0
// All SQL of payments but for the group commits, which are SQL functions. A row moves by guarded updates: only the
// caller whose update changed the row gets it back.
import { isCurrency } from '../../../kernel/money.ts'
import { maybe, type Queryable, statement } from '../../../platform/db.ts'
import { carriesMetadata } from '../../../platform/metadata/filter.ts'
import type { ShownBounds } from '../../../platform/schema/lists.ts'
import { type Environment, mine, type One, type Tenant } from '../../../platform/tenant.ts'
import type { Risk } from '../fraud/assess.ts'
import type { Market, PaymentDetails } from '../providers/provider.ts'

export type Status = 'pending' | 'processing' | 'requires_action' | 'completed' | 'failed' | 'cancelled' | 'expired'

/** States of an undecided payment. */
export const open: readonly Status[] = ['pending', 'processing', 'requires_action']

export interface PaymentRow {
  bucket: number
  account_id: string
  environment: Environment
  id: string
  purpose: 'payment' | 'topup' | 'invoice'
  status: Status
  method: 'mobile_money' | 'card' | 'bank_transfer'
  provider: string
  amount: bigint
  currency: string
  fee: bigint
  phone: string | null
  description: string | null
  reference: string | null
  customer: Record<string, string>
  metadata: Record<string, string | number | boolean>
  callback_url: string | null
  details: PaymentDetails
  /** The invoice that it pays. */
  invoice_id: string | null
  provider_reference: string | null
  failure_reason: string | null
  risk: Risk | null
  late: boolean
  /** Sum of its refunds that did not fail. */
  refunded: bigint
  dispute_status: 'open' | 'won' | 'lost' | null
  receipt_url: string | null
  sequence: number
  request_id: string | null
  expires_at: Date
  completed_at: Date | null
  created_at: Date
  updated_at: Date
  /** Version, another one after every change. */
  version: string
}

export type AttemptState = 'planned' | 'sending' | 'accepted' | 'unknown' | 'final'

export interface AttemptRow {
  id: string
  payment_id: string
  provider: string
  country: string
  currency: string
  state: AttemptState
  /** Whose account with the provider it was sent with; null until it was. */
  sent_by: string | null
  provider_id: string | null
  /** Data of the provider's answer that later requests must repeat, sealed. */
  kept: Buffer | null
  token: Buffer
  /** Time by the account's clock. */
  created_at: Date
  /** Real time of its last step, such as when it was sent. */
  updated_at: Date
  /** When the provider, asked, first said that it was paid, but not how much. */
  said_paid_at: Date | null
  /** Amount that an unconfirmed callback named. */
  called_amount: bigint | null
  called_receipt: string | null
  called_currency: string | null
  /** Words of a call from which no amount can be read. */
  called_words: string | null
  clock_offset_ms: bigint
}

/** Market of an attempt. */
export function marketOf({ country, currency }: Pick<AttemptRow, 'country' | 'currency'>): Market {
  if (!isCurrency(currency)) throw new Error(`an attempt in an unknown currency: ${currency}`)
  return { country, currency }
}

const columns = `bucket, account_id, environment, id, purpose, status, method, provider, amount, currency, fee, phone,
  description, reference, customer, metadata, callback_url, details, invoice_id, provider_reference, failure_reason, risk, late,
  refunded, dispute_status, receipt_url, sequence, request_id, expires_at, completed_at, created_at, updated_at,
  payments.xmin::text as version`

export const findPayment = statement.tenant<One, PaymentRow>(
  'payments.find',
  `select ${columns} from payments.payments where ${mine} and id = $id`,
)

/** Payment, locked until this transaction ends. */
export const lockPayment = statement.tenant<One, PaymentRow>(
  'payments.lock',
  `select ${columns} from payments.payments where ${mine} and id = $id for update`,
)

export const findPayments = statement.tenant<
  Tenant & { ids: readonly string[] },
  Pick<PaymentRow, 'id' | 'reference' | 'description' | 'metadata'>
>(
  'payments.find_many',
  `select id, reference, description, metadata from payments.payments where ${mine} and id = any($ids::uuid[])`,
)

export const findReference = statement.tenant<Tenant & { reference: string }, { id: string; status: Status }>(
  'payments.find_reference',
  `select id, status from payments.payments where ${mine} and reference = $reference`,
)

/** Payments of an invoice: undecided ones, and those since a moment. */
export const countOfInvoice = statement.tenant<
  Tenant & { invoice: string; since: string },
  { under_way: number; recent: number }
>(
  'payments.count_of_invoice',
  `select (count(*) filter (where status in ('pending', 'processing', 'requires_action')))::int as under_way,
          (count(*) filter (where id >= $since::uuid))::int as recent
     from payments.payments where ${mine} and invoice_id = $invoice`,
)

/** Payment of an invoice that asks the same phone and can still go either way. */
const findUnderWayFrom = statement.tenant<Tenant & { invoice: string; phone: string }, { id: string }>(
  'payments.find_under_way',
  `select id from payments.payments
    where ${mine} and invoice_id = $invoice and phone = $phone and status in ('pending', 'processing', 'requires_action')
    order by id desc limit 1`,
)

/** The newest payment of an invoice by a method, if it is in one of these states. */
const findUnderWayBy = statement.tenant<
  Tenant & { invoice: string; method: PaymentRow['method']; in: readonly Status[] },
  { id: string }
>(
  'payments.find_under_way_by',
  `select id from payments.payments
    where ${mine} and invoice_id = $invoice and method = $method and status = any($in::text[])
    order by id desc limit 1`,
)

/** The newest payment of an invoice that is under way, from a phone or by a method. */
export function findUnderWay(
  queryable: Queryable,
  tenant: Tenant,
  invoice: string,
  by: { readonly phone: string } | { readonly method: PaymentRow['method']; readonly in: readonly Status[] },
): Promise<{ id: string } | null> {
  if ('phone' in by) return maybe(queryable.query(findUnderWayFrom, { ...tenant, invoice, phone: by.phone }))
  return maybe(queryable.query(findUnderWayBy, { ...tenant, invoice, method: by.method, in: by.in }))
}

export interface PaymentFilter extends ShownBounds {
  status: string | null
  currency: string | null
  provider: string | null
  method: string | null
  reference: string | null
  phone: string | null
  metadata: string | null
  /** Purposes listed; null for all. */
  purposes: readonly PaymentRow['purpose'][] | null
}

export const listPayments = statement.tenant<
  Tenant & PaymentFilter & { after: string | null; descending: boolean; limit: number },
  PaymentRow
>(
  'payments.list',
  `select ${columns} from payments.payments
    where ${mine} and id >= $from::uuid and id < $to::uuid
      and ($since::timestamptz is null or created_at >= $since) and ($until::timestamptz is null or created_at < $until)
      and ($status::text is null or status = $status) and ($currency::text is null or currency = $currency)
      and ($provider::text is null or provider = $provider) and ($method::text is null or method = $method)
      and ($reference::text is null or reference = $reference) and ($phone::text is null or phone = $phone)
      and ($purposes::text[] is null or purpose = any($purposes::text[]))
      and ${carriesMetadata()}
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

/** Fails a payment that was stored a moment ago, and tells so. */
export const blockPayment = statement.tenant<One & { reason: string | null; at: Date }, PaymentRow>(
  'payments.block',
  `update payments.payments set status = 'failed', failure_reason = $reason, sequence = sequence + 1, updated_at = $at
    where ${mine} and id = $id and status = 'pending'
   returning ${columns}`,
)

/** Counts a refund in, or one that failed out again. None when more would be refunded than was paid. */
export const changeRefunded = statement.tenant<One & { by: bigint; told: number; at: Date }, PaymentRow>(
  'payments.change_refunded',
  `update payments.payments
      set refunded = refunded + $by::bigint, sequence = sequence + $told::int, updated_at = $at
    where ${mine} and id = $id and refunded + $by between 0 and amount
   returning ${columns}`,
)

/** Says how a dispute of a payment stands. */
export const noteDispute = statement.tenant<One & { status: string; at: Date }, PaymentRow>(
  'payments.note_dispute',
  `update payments.payments set dispute_status = $status, sequence = sequence + 1, updated_at = $at
    where ${mine} and id = $id
   returning ${columns}`,
)

const selectAttempt = `select id, payment_id, provider, country, currency, state, sent_by, provider_id, kept, token,
  created_at, updated_at, said_paid_at, called_amount, called_receipt, called_currency, called_words,
  accounts.clock_offset_ms(account_id, environment) as clock_offset_ms
  from payments.attempts where ${mine}`

export const findAttempt = statement.tenant<One, AttemptRow>('payments.find_attempt', `${selectAttempt} and id = $id`)

export const attemptOfPayment = statement.tenant<Tenant & { payment: string }, AttemptRow>(
  'payments.attempt_of_payment',
  `${selectAttempt} and payment_id = $payment order by id desc limit 1`,
)

/**
 * The attempt together with its payment: what is needed to go on with either. The limit keeps it two looks into an index: as
 * a plain join, all payments of the account may be walked through instead.
 */
const findBoth = statement.tenant<One, PaymentRow & Aliased>(
  'payments.find_attempt_and_payment',
  `select p.*, a.id as attempt_id, a.provider as attempt_provider, a.country, a.currency as attempt_currency, a.state,
          a.sent_by, a.provider_id, a.kept, a.token, a.created_at as attempt_created_at, a.updated_at as attempt_updated_at,
          a.said_paid_at, a.called_amount, a.called_receipt, a.called_currency, a.called_words,
          accounts.clock_offset_ms(a.account_id, a.environment) as clock_offset_ms
     from payments.attempts a
    cross join lateral (
      select ${columns} from payments.payments
       where bucket = a.bucket and account_id = a.account_id and environment = a.environment and id = a.payment_id limit 1) p
    where a.bucket = $bucket and a.account_id = $account and a.environment = $environment and a.id = $id`,
)

/** Attempt whose columns are renamed where the payment has one of the same name. */
interface Aliased extends Omit<AttemptRow, 'payment_id' | keyof PaymentRow> {
  attempt_id: string
  attempt_provider: string
  attempt_currency: string
  attempt_created_at: Date
  attempt_updated_at: Date
}

export async function attemptAndPayment(
  queryable: Queryable,
  tenant: Tenant,
  id: string,
): Promise<{ attempt: AttemptRow; payment: PaymentRow } | null> {
  const row = await maybe(queryable.query(findBoth, { ...tenant, id }))
  if (!row) return null
  const attempt = {
    id: row.attempt_id,
    payment_id: row.id,
    provider: row.attempt_provider,
    country: row.country,
    currency: row.attempt_currency,
    state: row.state,
    sent_by: row.sent_by,
    provider_id: row.provider_id,
    kept: row.kept,
    token: row.token,
    created_at: row.attempt_created_at,
    updated_at: row.attempt_updated_at,
    said_paid_at: row.said_paid_at,
    called_amount: row.called_amount,
    called_receipt: row.called_receipt,
    called_currency: row.called_currency,
    called_words: row.called_words,
    clock_offset_ms: row.clock_offset_ms,
  }
  return { attempt, payment: row }
}

/** Withdraws an attempt that was not sent; no row when it was. */
export const withdrawAttempt = statement.tenant<One & { at: Date }, { id: string }>(
  'payments.withdraw_attempt',
  `update payments.attempts set state = 'final', updated_at = $at where ${mine} and id = $id and state = 'planned'
   returning id`,
)

/** Locks the account's clock until this transaction ends. */
export const holdClock = statement.tenant<Tenant, object>(
  'payments.hold_clock',
  'select accounts.hold_clock($account::uuid, $environment::text)',
)

/** The provider, asked, said that it was paid. */
export const noteSaidPaid = statement.tenant<One & { at: Date }, object>(
  'payments.note_said_paid',
  `update payments.attempts set said_paid_at = coalesce(said_paid_at, $at) where ${mine} and id = $id`,
)

interface Called {
  amount: bigint | null
  currency: string | null
  words: string | null
  receipt: string | null
}

/**
 * Stores what a call tells of the money, where the provider may not tell it when it is asked. The first one stands, but for
 * words that cannot be read, in whose place an amount comes.
 */
export const noteCalled = statement.tenant<One & Called, object>(
  'payments.note_called',
  `update payments.attempts
      set called_amount = $amount::bigint, called_currency = $currency, called_words = $words, called_receipt = $receipt
    where ${mine} and id = $id and called_amount is null and (called_words is null or $amount::bigint is not null)`,
)

/** Stores the data of the provider's answer, before the payment changes. */
export const noteKept = statement.tenant<One & { kept: Buffer }, object>(
  'payments.note_kept',
  `update payments.attempts set kept = $kept where ${mine} and id = $id`,
)

/** Claims the decision for a payer of the sandbox; no row for all but the first. */
export const decideOnce = statement.tenant<One & { at: Date }, { id: string }>(
  'payments.decide_once',
  `update payments.attempts set decided_at = $at where ${mine} and id = $id and decided_at is null returning id`,
)

/** The provider is asked again, or for something else: when to look is counted from then. */
export const restartPolls = statement.tenant<Tenant & { payment: string; at: Date }, object>(
  'payments.restart_polls',
  `update payments.attempts set updated_at = $at where ${mine} and payment_id = $payment`,
)
