// SPDX-License-Identifier: Apache-2.0
// Routes of payment links.
import { type Static, Type } from 'typebox'
import { list, type Route, read, write } from '../../../platform/api/route.ts'
import { listQuery } from '../../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import { linkStatus, PaymentLink } from './events.ts'
import { createLink, deactivateLink, LinkCreate, linkOf, requireLink } from './link.ts'
import { listLinks } from './store.ts'

const LinkParam = Type.Object({ payment_link_id: Type.String({ description: 'Id of the link, such as `plink_…`' }) })

const create = write({
  method: 'POST',
  path: '/v1/payments/links',
  operation: 'payments.createLink',
  summary: 'Create a payment link',
  description:
    'Share `url` with payers: the page accepts mobile money, cards and bank transfers, and payment_link.paid is sent for each payment. With `max_uses: 1` and a `redirect_url` it is the checkout of one order.',
  scope: 'payments:write',
  limit: 'payments',
  body: LinkCreate,
  reply: {
    status: 201,
    schema: PaymentLink,
    location: ({ payment_link_id }: Static<typeof PaymentLink>) => `/v1/payments/links/${payment_link_id}`,
  },
  errors: ['VALIDATION_ERROR', 'INVALID_URL', 'UNSUPPORTED_CURRENCY', 'UNSUPPORTED_METHOD'],
  examples: [
    { name: 'A link to share', body: { amount: 500, currency: 'KES', description: 'Football shirt' } },
    {
      name: 'The checkout of one order',
      body: {
        amount: 1500,
        currency: 'KES',
        description: 'Order 77',
        max_uses: 1,
        redirect_url: 'https://shop.example.com/thanks',
        metadata: { order: '77' },
      },
    },
  ],
  handle: (app, tx, { body }, caller) => createLink(app, tx, body, caller),
})

const get = read({
  method: 'GET',
  path: '/v1/payments/links/:payment_link_id',
  operation: 'payments.getLink',
  summary: 'Get a payment link',
  scope: 'payments:read',
  params: LinkParam,
  reply: { status: 200, schema: PaymentLink },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant, nowMs }) =>
    linkOf(app, await requireLink(app.db, tenant, params.payment_link_id), nowMs),
})

const links = list({
  path: '/v1/payments/links',
  operation: 'payments.listLinks',
  summary: 'List payment links',
  scope: 'payments:read',
  query: Type.Object({ ...listQuery, status: Type.Optional(linkStatus) }),
  row: PaymentLink,
  examples: [{ name: 'Active links', query: { status: 'active' } }],
  handle: async (app, { query }, { tenant, nowMs }) => {
    const window = windowOf(query)
    const asked = { status: query.status ?? null, now: new Date(nowMs) }
    const rows = await app.db.query(listLinks, { ...tenant, ...window, ...asked })
    return pageOf(window, rows, (row) => linkOf(app, row, nowMs))
  },
})

const deactivate = write({
  method: 'POST',
  path: '/v1/payments/links/:payment_link_id/deactivate',
  operation: 'payments.deactivateLink',
  summary: 'Deactivate a payment link',
  description: 'The page then shows that the link can no longer be paid. Payments in progress continue.',
  scope: 'payments:write',
  limit: 'payments',
  params: LinkParam,
  reply: { status: 200, schema: PaymentLink },
  errors: ['NOT_FOUND'],
  handle: (app, tx, { params }, caller) => deactivateLink(app, tx, params.payment_link_id, caller),
})

export const linkRoutes: readonly Route[] = [create, links, get, deactivate]
