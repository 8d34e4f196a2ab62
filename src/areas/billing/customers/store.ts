// SPDX-License-Identifier: Apache-2.0
// SQL of what customers are billed, and of their credit.
import { statement } from '../../../platform/db.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'

export const moveInvoices = statement.tenant<Tenant & { from: string; into: string }, object>(
  'billing.move_invoices',
  `update billing.invoices set customer_id = $into where ${mine} and customer_id = $from`,
)

export const moveSubscriptions = statement.tenant<Tenant & { from: string; into: string }, object>(
  'billing.move_subscriptions',
  `update billing.subscriptions set customer_id = $into where ${mine} and customer_id = $from`,
)

export const creditsOf = statement.tenant<
  Tenant & { customers: readonly string[] },
  { customer_id: string; currency: string; balance: bigint }
>(
  'billing.credits_of',
  `select customer_id, currency, balance from billing.credits
    where ${mine} and customer_id = any($customers::uuid[]) and balance > 0 order by currency`,
)

/** Locks a customer's credit until the transaction ends. */
export const lockCredit = statement.tenant<Tenant & { customer: string; currency: string }, { balance: bigint }>(
  'billing.lock_credit',
  `select balance from billing.credits where ${mine} and customer_id = $customer and currency = $currency for update`,
)

/** Inserts a credit entry; no row when the step was applied before. */
export const insertCreditEntry = statement.tenant<
  Tenant & { source: string; step: string; customer: string; currency: string; amount: bigint; at: Date },
  { step: string }
>(
  'billing.insert_credit_entry',
  `insert into billing.credit_entries (bucket, account_id, environment, source_id, step, customer_id, currency, amount,
     created_at)
   values ($bucket, $account, $environment, $source, $step, $customer, $currency, $amount, $at)
   on conflict do nothing returning step`,
)

/** Credit entry; `given_back` is the part refunded as money since. */
export const findCreditEntry = statement.tenant<
  Tenant & { source: string; step: string },
  { amount: bigint; given_back: bigint }
>(
  'billing.find_credit_entry',
  `select amount, given_back from billing.credit_entries where ${mine} and source_id = $source and step = $step`,
)

export const noteGivenBack = statement.tenant<Tenant & { source: string; step: string; amount: bigint }, object>(
  'billing.note_given_back',
  `update billing.credit_entries set given_back = given_back + $amount::bigint
    where ${mine} and source_id = $source and step = $step`,
)

export const moveCredit = statement.tenant<Tenant & { customer: string; currency: string; amount: bigint }, object>(
  'billing.move_credit',
  `insert into billing.credits as c (bucket, account_id, environment, customer_id, currency, balance)
   values ($bucket, $account, $environment, $customer, $currency, greatest($amount::bigint, 0))
   on conflict (bucket, account_id, environment, customer_id, currency) do update set balance = c.balance + $amount`,
)
