// SPDX-License-Identifier: Apache-2.0
// Routes of customers as invoices know them. The record is that of /v1/customers; invoices and subscriptions create customers too.
import { type Static, Type } from 'typebox'
import { idOf } from '../../../kernel/ids.ts'
import { list, type Route, read } from '../../../platform/api/route.ts'
import type { Queryable } from '../../../platform/db.ts'
import { Amount, At, listQuery, Nullable } from '../../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { type CustomerRow, customerWith, listedCustomers } from '../../customers/area.ts'
import { creditsOf } from './store.ts'

const CustomerRecord = Type.Object(
  {
    customer_id: Type.String({ description: 'Id of the customer, such as `cus_…`' }),
    name: Nullable(Type.String({ description: 'Name shown on invoices' })),
    email: Nullable(Type.String({ description: 'Email address for invoices' })),
    phone: Nullable(Type.String({ description: 'Number for invoices by text' })),
    tax_number: Nullable(Type.String({ description: 'Tax number on the PDF' })),
    address: Nullable(Type.String({ description: 'Tax number on the PDF' })),
    credits: Type.Array(
      Type.Object({
        currency: Type.String({ description: 'Currency of the credit' }),
        amount: Amount({ description: 'Amount in major units' }),
      }),
      {
        description: 'Credit of the customer by currency, applied to the next invoices',
      },
    ),
    created_at: At({ description: 'Time of creation' }),
    updated_at: At({ description: 'Time of the last change' }),
  },
  { title: 'BillingCustomer' },
)

const get = read({
  method: 'GET',
  path: '/v1/billing/customers/:customer_id',
  operation: 'billing.getCustomer',
  summary: 'Get an invoiced customer',
  scope: 'billing:read',
  params: Type.Object({ customer_id: Type.String({ description: 'Id of the customer, such as `cus_…`' }) }),
  reply: { status: 200, schema: CustomerRecord },
  errors: ['NOT_FOUND'],
  needs: { operation: 'billing.createInvoice', id: 'customer.customer_id' },
  handle: async (app, { params }, { tenant }) => {
    const row = await customerWith(app.db, tenant, params.customer_id)
    const credits = await creditsByCustomer(app.db, tenant, [row])
    return customerRecord(row, credits)
  },
})

const customers = list({
  path: '/v1/billing/customers',
  operation: 'billing.listCustomers',
  summary: 'List invoiced customers',
  scope: 'billing:read',
  query: Type.Object({
    ...listQuery,
    email: Type.Optional(Type.String({ maxLength: 254, description: 'Full address, case-insensitive' })),
  }),
  row: CustomerRecord,
  examples: [{ name: 'All' }],
  handle: async (app, { query }, { tenant }) => {
    const window = windowOf(query)
    const rows = await listedCustomers(app.db, tenant, window, query)
    const credits = await creditsByCustomer(app.db, tenant, rows)
    return pageOf(window, rows, (row) => customerRecord(row, credits))
  },
})

type Credits = ReadonlyMap<string, { currency: string; amount: bigint }[]>

async function creditsByCustomer(queryable: Queryable, tenant: Tenant, rows: readonly CustomerRow[]): Promise<Credits> {
  const found = await queryable.query(creditsOf, { ...tenant, customers: rows.map(({ id }) => id) })
  const credits = new Map<string, { currency: string; amount: bigint }[]>()
  for (const { customer_id, currency, balance: amount } of found)
    credits.set(customer_id, [...(credits.get(customer_id) ?? []), { currency, amount }])
  return credits
}

function customerRecord(row: CustomerRow, credits: Credits): Static<typeof CustomerRecord> {
  const { id, name, email, phone, tax_number, address, created_at, updated_at } = row
  return {
    customer_id: idOf('customer', id),
    name,
    email,
    phone,
    tax_number,
    address,
    credits: credits.get(id) ?? [],
    created_at,
    updated_at,
  }
}

export const customerRoutes: readonly Route[] = [customers, get]
