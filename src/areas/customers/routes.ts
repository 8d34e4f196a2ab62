// SPDX-License-Identifier: Apache-2.0
// Routes of customers.
import { type Static, Type } from 'typebox'
import { IdParam, list, type Route, read, write } from '../../platform/api/route.ts'
import type { Caller } from '../../platform/auth.ts'
import { one, type Queryable } from '../../platform/db.ts'
import { pageOf, windowOf } from '../../platform/schema/lists.ts'
import { changeCustomer, createCustomer, customerWith, lockedCustomer, putCustomer } from './change.ts'
import { consentsOf } from './consents.ts'
import { toldOf } from './events.ts'
import { listedCustomers, listedInSegment } from './list.ts'
import { mergeCustomers } from './merge.ts'
import { addNote } from './notes.ts'
import { Customer, CustomerChange, CustomerList, CustomerParam, CustomerPut, ExternalId } from './schema.ts'
import { type CustomerRow, lockAccount, shareAccount } from './store.ts'

const asha = {
  external_id: 'shop-1042',
  name: 'Asha Njeri',
  language: 'sw',
  country: 'KE',
  timezone: 'Africa/Nairobi',
  phones: ['+254711000001'],
  emails: ['asha@example.com'],
  attributes: { plan: 'gold', visits: 12, birthday: '1994-05-17' },
  tags: ['vip'],
  consents: [{ channel: 'sms' as const, purpose: 'marketing' as const, state: 'granted' as const, source: 'counter' }],
}

const create = write({
  method: 'POST',
  path: '/v1/customers',
  operation: 'customers.create',
  summary: 'Create a customer',
  scope: 'customers:write',
  body: CustomerChange,
  reply: { status: 201, schema: Customer, location: ({ id }) => `/v1/customers/${id}` },
  errors: ['CUSTOMER_CONFLICT', 'ATTRIBUTE_TYPE', 'INVALID_PHONE', 'INVALID_EMAIL', 'CONFLICT'],
  examples: [{ name: 'A customer with all fields', body: asha }],
  handle: async (app, tx, { body }, caller) => {
    await tx.query(shareAccount, caller.tenant)
    return shownOne(tx, caller, await createCustomer(app, tx, caller, body))
  },
})

const listAll = list({
  path: '/v1/customers',
  operation: 'customers.list',
  summary: 'List customers',
  scope: 'customers:read',
  query: CustomerList,
  row: Customer,
  errors: ['INVALID_DATE_RANGE', 'NOT_FOUND'],
  examples: [{ name: 'All' }, { name: 'By a part of a name', query: { q: 'asha' } }],
  handle: async (app, { query }, caller) => {
    const window = windowOf(query)
    const { segment, ...filter } = query
    const at = new Date(caller.nowMs)
    const rows =
      segment === undefined
        ? await listedCustomers(app.db, caller.tenant, window, filter)
        : await listedInSegment(app.db, caller.tenant, window, { ...filter, segment, at })
    const consents = await consentsOf(app.db, caller.tenant, rows, at)
    const shown = rows.map((row, i) => ({ ...row, consents: consents[i] ?? [] }))
    return pageOf(window, shown, ({ consents: own, ...row }) => ({ ...toldOf(row), consents: own }))
  },
})

const get = read({
  method: 'GET',
  path: '/v1/customers/:customer_id',
  operation: 'customers.get',
  summary: 'Get a customer',
  description: 'The id of a merged customer returns the customer it was merged into.',
  scope: 'customers:read',
  params: CustomerParam,
  reply: { status: 200, schema: Customer },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, caller) =>
    shownOne(app.db, caller, await customerWith(app.db, caller.tenant, params.customer_id)),
})

const change = write({
  method: 'PATCH',
  path: '/v1/customers/:customer_id',
  operation: 'customers.update',
  summary: 'Update a customer',
  description: 'Attributes are changed one by one; phones, emails and tags replace the previous lists.',
  scope: 'customers:write',
  params: CustomerParam,
  body: CustomerChange,
  reply: { status: 200, schema: Customer },
  errors: ['NOT_FOUND', 'CUSTOMER_CONFLICT', 'ATTRIBUTE_TYPE', 'INVALID_PHONE', 'INVALID_EMAIL', 'CONFLICT'],
  examples: [{ name: 'Tags', body: { tags: ['vip', 'nairobi'] } }],
  handle: async (app, tx, { params, body }, caller) => {
    await tx.query(lockAccount, caller.tenant)
    const before = await lockedCustomer(tx, caller.tenant, params.customer_id)
    return shownOne(tx, caller, await changeCustomer(app, tx, caller, before, body))
  },
})

const put = write({
  method: 'PUT',
  path: '/v1/customers/by-external-id/:external_id',
  operation: 'customers.upsert',
  summary: 'Create or update a customer by your own id',
  description: 'Updates the customer with this external_id as PATCH does, or creates one.',
  scope: 'customers:write',
  params: Type.Object({ external_id: ExternalId }),
  body: CustomerPut,
  reply: { status: 200, schema: Customer },
  errors: ['CUSTOMER_CONFLICT', 'ATTRIBUTE_TYPE', 'INVALID_PHONE', 'INVALID_EMAIL', 'CONFLICT'],
  examples: [{ name: 'Change the name', params: { external_id: 'shop-7' }, body: { name: 'Baraka Otieno' } }],
  needs: 'itself',
  handle: async (app, tx, { params, body }, caller) => {
    await tx.query(lockAccount, caller.tenant)
    return shownOne(tx, caller, await putCustomer(app, tx, caller, params.external_id, body))
  },
})

const merge = write({
  method: 'POST',
  path: '/v1/customers/:id/merge',
  operation: 'customers.merge',
  summary: 'Merge another customer into this one',
  description:
    'This customer receives the numbers, addresses, tags, attributes, notes, invoices, subscriptions and credit of the other. Its own values take precedence. The id of the other customer then returns this one.',
  scope: 'customers:write',
  params: IdParam,
  body: Type.Object({
    customer_id: Type.String({
      maxLength: 40,
      description: 'Id of the customer to merge into this one, such as `cus_…`',
    }),
  }),
  reply: { status: 200, schema: Customer },
  errors: ['NOT_FOUND'],
  handle: async (app, tx, { params, body }, caller) => {
    await tx.query(lockAccount, caller.tenant)
    return shownOne(tx, caller, await mergeCustomers(app, tx, caller, params.id, body.customer_id))
  },
})

async function shownOne(queryable: Queryable, caller: Caller, row: CustomerRow): Promise<Static<typeof Customer>> {
  const consents = await one(consentsOf(queryable, caller.tenant, [row], new Date(caller.nowMs)))
  return { ...toldOf(row), consents }
}

export const customerRoutes: readonly Route[] = [create, listAll, put, get, change, merge, addNote]
