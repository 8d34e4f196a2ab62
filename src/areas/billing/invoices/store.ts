// SPDX-License-Identifier: Apache-2.0
// SQL of invoices. Statuses change by guarded updates on locked rows: a returned row means this transaction won.
import { stored } from '../../../platform/db/stored.ts'
import { statement } from '../../../platform/db.ts'
import { carriesMetadata } from '../../../platform/metadata/filter.ts'
import type { ShownBounds } from '../../../platform/schema/lists.ts'
import { type Environment, mine, type One, type Tenant } from '../../../platform/tenant.ts'
import type { Brand } from '../../../platform/web/brand.ts'

export type InvoiceStatus = 'draft' | 'open' | 'paid' | 'void' | 'uncollectible'

/** Stored invoice line: numbers as decimal strings, because JSON numbers are inexact. */
export interface StoredItem {
  description: string
  quantity: string
  unit_amount: string
  tax_rate: string
  amount: string
  discount: string
  tax: string
}

export interface InvoiceRow {
  bucket: number
  account_id: string
  environment: Environment
  id: string
  status: InvoiceStatus
  number: string | null
  customer_id: string
  customer: Record<string, string>
  currency: string
  items: StoredItem[]
  tax_inclusive: boolean
  subtotal: bigint
  discount_total: bigint
  tax_total: bigint
  total: bigint
  /** Sum of payments and applied credit. */
  amount_paid: bigint
  credit_applied: bigint
  amount_refunded: bigint
  /** Part of `amount_refunded` that was customer credit. */
  credit_refunded: bigint
  /** Ids of payments that brought money. */
  payments: string[]
  due_date: string
  payment_methods: string[] | null
  notes: string | null
  reference: string | null
  subscription_id: string | null
  callback_url: string | null
  metadata: Record<string, string | number | boolean>
  token: Buffer
  sequence: number
  void_reason: string | null
  opened_at: Date | null
  sent_at: Date | null
  /** Email address the invoice was mailed to; the receipt goes there. */
  mailed_to: string | null
  paid_at: Date | null
  voided_at: Date | null
  created_at: Date
  updated_at: Date
}

const columns = `bucket, account_id, environment, id, status, number, customer_id, customer, currency, items, tax_inclusive,
  subtotal, discount_total, tax_total, total, amount_paid, credit_applied, amount_refunded, credit_refunded, payments::text[] as payments,
  due_date, payment_methods, notes, reference, subscription_id, callback_url, metadata, token, sequence, void_reason, opened_at,
  sent_at, mailed_to, paid_at, voided_at, created_at, updated_at`

const drafted =
  stored(`customer_id, customer::jsonb, currency, items::jsonb, tax_inclusive, subtotal, discount_total, tax_total, total,
  due_date::date, payment_methods::text[], notes, reference, subscription_id, callback_url, metadata::jsonb, token`)

type Draft = Pick<
  InvoiceRow,
  | 'customer_id'
  | 'currency'
  | 'tax_inclusive'
  | 'subtotal'
  | 'discount_total'
  | 'tax_total'
  | 'total'
  | 'due_date'
  | 'notes'
  | 'reference'
  | 'subscription_id'
  | 'callback_url'
  | 'token'
>

/** Inserts an invoice; no row when the reference was used before. */
export const insertInvoice = statement.tenant<
  One &
    Draft & { customer: string; items: string; payment_methods: readonly string[] | null; metadata: string; at: Date },
  InvoiceRow
>(
  'billing.insert_invoice',
  `insert into billing.invoices (bucket, account_id, environment, id, status, ${drafted.names}, created_at, updated_at)
   values ($bucket, $account, $environment, $id, 'draft', ${drafted.values}, $at, $at)
   on conflict (bucket, account_id, environment, reference) where reference is not null do nothing
   returning ${columns}`,
)

export const findInvoice = statement.tenant<One, InvoiceRow>(
  'billing.find_invoice',
  `select ${columns} from billing.invoices where ${mine} and id = $id`,
)

/** Locks an invoice until the transaction ends. */
export const lockInvoice = statement.tenant<One, InvoiceRow>(
  'billing.lock_invoice',
  `select ${columns} from billing.invoices where ${mine} and id = $id for update`,
)

/** Locks an invoice and those its customer's credit paid, oldest first to avoid deadlocks. */
export const lockInvoiceAndPaidByCredit = statement.tenant<One & { customer: string; currency: string }, InvoiceRow>(
  'billing.lock_invoice_and_paid_by_credit',
  `select ${columns} from billing.invoices
    where ${mine} and customer_id = $customer and (id = $id or (currency = $currency and credit_applied > credit_refunded))
    order by id for update`,
)

export const findInvoiceReference = statement.tenant<
  Tenant & { reference: string },
  { id: string; status: InvoiceStatus }
>('billing.find_invoice_reference', `select id, status from billing.invoices where ${mine} and reference = $reference`)

/** Finds an invoice by the token of its payment address. */
export const findInvoiceByToken = statement.tenant<
  { bucket: number; token: Buffer },
  InvoiceRow & { clock_offset_ms: bigint; account_name: string; brand: Brand; time_zone: string; is_suspended: boolean }
>(
  'billing.find_invoice_by_token',
  `select ${columns}, accounts.clock_offset_ms(account_id, environment) as clock_offset_ms,
          accounts.name_of(account_id) as account_name, accounts.brand_of(account_id) as brand,
          accounts.timezone_of(account_id) as time_zone,
          accounts.is_suspended(account_id) as is_suspended
     from billing.invoices where bucket = $bucket and token = $token and status <> 'draft'`,
)

/** Overpayment setting of the account, null when not set; and its clock. */
export const overpaymentOf = statement.home<
  { account: string; environment: string },
  { wish: string | null; offset_ms: bigint }
>(
  'billing.overpayment_of',
  `select (select s.value #>> '{}' from accounts.with_setting('invoice_overpayment') s where s.account_id = $account) as wish,
          accounts.clock_offset_ms($account::uuid, $environment::text) as offset_ms`,
)

export interface InvoiceFilter extends ShownBounds {
  status: string | null
  customer: string | null
  subscription: string | null
  reference: string | null
  number: string | null
  metadata: string | null
  /** Filter: due before this day. */
  overdueOn: string | null
}

export const listInvoices = statement.tenant<
  Tenant & InvoiceFilter & { after: string | null; descending: boolean; limit: number },
  InvoiceRow
>(
  'billing.list_invoices',
  `select ${columns} from billing.invoices
    where ${mine} and id >= $from::uuid and id < $to::uuid
      and ($since::timestamptz is null or created_at >= $since) and ($until::timestamptz is null or created_at < $until)
      and ($status::text is null or status = $status) and ($customer::uuid is null or customer_id = $customer)
      and ($subscription::uuid is null or subscription_id = $subscription)
      and ($reference::text is null or reference = $reference) and ($number::text is null or number = $number)
      and ${carriesMetadata()}
      and ($overdueOn::date is null or (status = 'open' and due_date < $overdueOn))
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

/** Takes the next invoice numbers of an account; returns the last. The counter is locked until the transaction ends. */
export const nextNumbers = statement.tenant<Tenant & { count: number }, { last: bigint; pattern: string | null }>(
  'billing.next_numbers',
  `insert into billing.counters as c (bucket, account_id, environment, last)
   values ($bucket, $account, $environment, $count::int)
   on conflict (bucket, account_id, environment) do update set last = c.last + $count::int
   returning last, (select s.value #>> '{}' from accounts.with_setting('invoice_number_pattern') s
                     where s.account_id = c.account_id) as pattern`,
)

/** Inserts invoices that are open from the start, all at one time. `sequence` counts their events. */
export const insertOpenInvoices = statement.tenant<
  Tenant & { invoices: string; dueDate: string; at: Date },
  InvoiceRow
>(
  'billing.insert_open_invoices',
  `insert into billing.invoices (bucket, account_id, environment, id, status, number, customer_id, customer, currency, items,
     tax_inclusive, subtotal, discount_total, tax_total, total, due_date, subscription_id, callback_url, metadata, token,
     sequence, opened_at, created_at, updated_at)
   select $bucket, $account, $environment, n.id, 'open', n.number, n.customer_id, n.customer, n.currency, n.items,
          n.tax_inclusive, n.subtotal, n.discount_total, n.tax_total, n.total, $dueDate::date, n.subscription_id,
          n.callback_url, '{}', n.token, n.sequence, $at::timestamptz, $at, $at
     from jsonb_to_recordset($invoices::jsonb) as n (id uuid, number text, customer_id uuid, customer jsonb, currency text,
            items jsonb, tax_inclusive boolean, subtotal bigint, discount_total bigint, tax_total bigint, total bigint,
            subscription_id uuid, callback_url text, token bytea, sequence int)
   returning ${columns}`,
)

export const openDraft = statement.tenant<One & { number: string; credit: bigint; at: Date }, InvoiceRow>(
  'billing.open_draft',
  `update billing.invoices
      set status = 'open', number = $number, opened_at = $at, updated_at = $at, amount_paid = $credit::bigint,
          credit_applied = $credit
    where ${mine} and id = $id and status = 'draft'
   returning ${columns}`,
)

/** Applies credit to an open invoice; `closePaid` changes the status. */
export const applyCredit = statement.tenant<One & { credit: bigint; at: Date }, InvoiceRow>(
  'billing.apply_credit',
  `update billing.invoices
      set amount_paid = amount_paid + $credit::bigint, credit_applied = credit_applied + $credit, updated_at = $at
    where ${mine} and id = $id and status = 'open'
   returning ${columns}`,
)

/** Records a payment and the part that counts, once; `closePaid` changes the status. */
export const addPayment = statement.tenant<
  One & { payment: string; applied: bigint; from: readonly InvoiceStatus[]; at: Date },
  InvoiceRow
>(
  'billing.add_payment',
  `update billing.invoices
      set amount_paid = amount_paid + $applied::bigint, payments = payments || $payment::uuid, updated_at = $at
    where ${mine} and id = $id and status = any($from::text[]) and not ($payment::uuid = any(payments))
   returning ${columns}`,
)

/** Records a refund and the part of it that was credit. Unless the invoice is paid, the amount is due again. */
export const addRefund = statement.tenant<One & { amount: bigint; credit: bigint; at: Date }, InvoiceRow>(
  'billing.add_refund',
  `update billing.invoices
      set amount_refunded = amount_refunded + case when status = 'paid' then $amount::bigint else 0 end,
          credit_refunded = credit_refunded + case when status = 'paid' then $credit::bigint else 0 end,
          amount_paid = amount_paid - case when status = 'paid' then 0 else $amount end,
          credit_applied = credit_applied - case when status = 'paid' then 0 else $credit end, updated_at = $at
    where ${mine} and id = $id
   returning ${columns}`,
)

/** Closes an invoice; no row unless it is fully paid. */
export const closePaid = statement.tenant<One & { at: Date }, InvoiceRow>(
  'billing.close_paid',
  `update billing.invoices set status = 'paid', paid_at = $at, updated_at = $at
    where ${mine} and id = $id and status in ('open', 'uncollectible') and amount_paid = total
   returning ${columns}`,
)

/** Void an unpaid invoice; the transaction that gets the row returns the applied credit. */
export const voidUnpaid = statement.tenant<One & { reason: string | null; at: Date }, InvoiceRow>(
  'billing.void_unpaid',
  `update billing.invoices
      set status = 'void', voided_at = $at, updated_at = $at, void_reason = $reason, amount_paid = 0, credit_applied = 0
    where ${mine} and id = $id and status in ('draft', 'open') and amount_paid = credit_applied
   returning ${columns}`,
)

export const writeOff = statement.tenant<One & { at: Date }, InvoiceRow>(
  'billing.write_off',
  `update billing.invoices set status = 'uncollectible', updated_at = $at where ${mine} and id = $id and status = 'open'
   returning ${columns}`,
)

export const noteSent = statement.tenant<One & { at: Date; mailedTo: string | null }, InvoiceRow>(
  'billing.note_sent',
  `update billing.invoices set sent_at = $at, updated_at = $at, mailed_to = coalesce($mailedTo, mailed_to)
    where ${mine} and id = $id returning ${columns}`,
)

/** Next event sequence number of an invoice. */
export const nextInvoiceSequence = statement.tenant<One, { sequence: number }>(
  'billing.count_told',
  `update billing.invoices set sequence = sequence + 1 where ${mine} and id = $id returning sequence`,
)

/** Offset of the account's sandbox clock from real time. */
export const clockOffset = statement.home<{ account: string; environment: Environment }, { offset_ms: bigint }>(
  'billing.clock_offset',
  'select accounts.clock_offset_ms($account::uuid, $environment::text) as offset_ms',
)

/** Default sender name of an account's texts. */
export const defaultSender = statement.home<{ account: string }, { sender: string }>(
  'billing.default_sender',
  `select value #>> '{}' as sender from accounts.with_setting('default_sender') where account_id = $account`,
)

export const accountName = statement.home<{ account: string }, { name: string; brand: Brand }>(
  'billing.account_name',
  'select accounts.name_of($account::uuid) as name, accounts.brand_of($account::uuid) as brand',
)

/** Environment of an account's invoice. */
export const environmentOf = statement.tenant<
  { bucket: number; account: string; id: string },
  { environment: Environment }
>(
  'billing.environment_of_invoice',
  `select environment from billing.invoices
    where bucket = $bucket and account_id = $account and environment in ('test', 'live') and id = $id`,
)

/**
 * Invoices past their due date without an overdue event, by their account's clock. Only test accounts, whose clocks can
 * be moved, may be past the real day.
 */
export const newlyOverdue = statement.everywhere<
  { buckets: readonly number[]; now: Date; limit: number },
  { bucket: number; account_id: string; environment: Environment; id: string }
>(
  'billing.newly_overdue',
  `select bucket, account_id, environment, id from billing.invoices
    where bucket = any($buckets::smallint[]) and status = 'open' and not overdue_told
      and (environment = 'test' or due_date < ($now::timestamptz at time zone 'UTC')::date)
      and due_date < (($now::timestamptz + make_interval(secs => accounts.clock_offset_ms(account_id, environment) / 1000.0))
                      at time zone 'UTC')::date
    limit $limit::int`,
)

/** Marks an invoice overdue; no row when marked or paid meanwhile. */
export const noteOverdue = statement.tenant<One & { today: string }, InvoiceRow>(
  'billing.note_overdue',
  `update billing.invoices set overdue_told = true
    where ${mine} and id = $id and status = 'open' and not overdue_told and due_date < $today::date
   returning ${columns}`,
)
