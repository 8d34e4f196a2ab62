// SPDX-License-Identifier: Apache-2.0
// SQL of customers and their credit.
import { statement } from '../../../platform/db.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'

export interface CustomerRow {
  id: string
  name: string | null
  email: string | null
  phone: string | null
  tax_number: string | null
  address: string | null
  created_at: Date
  updated_at: Date
}

const columns = 'id, name, email, phone, tax_number, address, created_at, updated_at'

/** Insert a customer, or update the one with the same contact. */
export const saveCustomer = statement.tenant<
  Tenant & {
    id: string
    contact: string | null
    name: string | null
    email: string | null
    phone: string | null
    taxNumber: string | null
    address: string | null
    at: Date
  },
  CustomerRow
>(
  'billing.save_customer',
  `insert into billing.customers as c (bucket, account_id, environment, id, contact, name, email, phone, tax_number, address,
     created_at, updated_at)
   values ($bucket, $account, $environment, $id, $contact, $name, $email, $phone, $taxNumber, $address, $at, $at)
   on conflict (bucket, account_id, environment, contact) where contact is not null do update
     set name = coalesce(excluded.name, c.name), phone = coalesce(excluded.phone, c.phone),
         tax_number = coalesce(excluded.tax_number, c.tax_number), address = coalesce(excluded.address, c.address),
         updated_at = excluded.updated_at
   returning ${columns}`,
)

export const findCustomer = statement.tenant<Tenant & { id: string }, CustomerRow>(
  'billing.find_customer',
  `select ${columns} from billing.customers where ${mine} and id = $id`,
)

export const findCustomers = statement.tenant<Tenant & { ids: readonly string[] }, CustomerRow>(
  'billing.find_customers',
  `select ${columns} from billing.customers where ${mine} and id = any($ids::uuid[])`,
)

export const listCustomers = statement.tenant<
  Tenant & { contact: string | null; after: string | null; descending: boolean; limit: number },
  CustomerRow
>(
  'billing.list_customers',
  `select ${columns} from billing.customers
    where ${mine} and ($contact::text is null or contact = $contact)
      and ($after::uuid is null or (case when $descending::boolean then id < $after else id > $after end))
    order by case when $descending then id end desc, id
    limit $limit::int + 1`,
)

export const creditsOf = statement.tenant<
  Tenant & { customers: readonly string[] },
  { customer_id: string; currency: string; balance: bigint }
>(
  'billing.credits_of',
  `select customer_id, currency, balance from billing.credits
    where ${mine} and customer_id = any($customers::uuid[]) and balance > 0 order by currency`,
)

/** Lock a customer's credit until the transaction ends. */
export const lockCredit = statement.tenant<Tenant & { customer: string; currency: string }, { balance: bigint }>(
  'billing.lock_credit',
  `select balance from billing.credits where ${mine} and customer_id = $customer and currency = $currency for update`,
)

/** Insert a credit entry; no row when the step was applied before. */
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
