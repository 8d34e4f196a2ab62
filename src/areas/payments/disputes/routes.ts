// SPDX-License-Identifier: Apache-2.0
// Routes of disputes. They are opened and decided by the banks of payers; here they are read.
import { Type } from 'typebox'
import { nilUuid, uuidOf } from '../../../kernel/ids.ts'
import { list, type Need, type Route, read } from '../../../platform/api/route.ts'
import { maybe } from '../../../platform/db.ts'
import { dayRangeQuery, listQuery } from '../../../platform/schema/fields.ts'
import { pageOf, shownBounds, windowOf } from '../../../platform/schema/lists.ts'
import { Dispute } from '../records/events.ts'
import { disputeOf, disputeUuid, noSuchDispute } from './dispute.ts'
import { findDispute, listDisputes } from './store.ts'

const listAll = list({
  path: '/v1/payments/disputes',
  operation: 'disputes.list',
  summary: 'List disputes',
  scope: 'payments:read',
  query: Type.Object({
    ...listQuery,
    ...dayRangeQuery,
    status: Type.Optional(Dispute.properties.status),
    payment_id: Type.Optional(Type.String({ maxLength: 40, description: 'Id of the payment, such as `pay_…`' })),
  }),
  row: Dispute,
  errors: ['INVALID_DATE_RANGE'],
  examples: [{ name: 'Open disputes', query: { status: 'open' } }],
  handle: async (app, { query }, caller) => {
    const { tenant } = caller
    const window = windowOf(query)
    const status = query.status ?? null
    // A malformed payment id finds nothing.
    const payment = query.payment_id === undefined ? null : (uuidOf('payment', query.payment_id) ?? nilUuid)
    const rows = await app.db.query(listDisputes, {
      ...tenant,
      ...window,
      ...shownBounds(query, caller),
      status,
      payment,
    })
    return pageOf(window, rows, disputeOf)
  },
})

/** A dispute, which the sandbox opens some seconds after a payment with this card. */
export const aDispute: Need = {
  operation: 'disputes.list',
  id: 'data.0.dispute_id',
  after: {
    operation: 'payments.create',
    body: {
      amount: 5,
      currency: 'KES',
      card: { number: '4000000000000259', exp_month: 12, exp_year: 2040, cvv: '123' },
    },
  },
}

const get = read({
  method: 'GET',
  path: '/v1/payments/disputes/:dispute_id',
  operation: 'disputes.get',
  summary: 'Get a dispute',
  scope: 'payments:read',
  params: Type.Object({ dispute_id: Type.String({ description: 'Id of the dispute, such as `dsp_…`' }) }),
  reply: { status: 200, schema: Dispute },
  errors: ['NOT_FOUND'],
  needs: aDispute,
  handle: async (app, { params }, { tenant }) => {
    const row = await maybe(app.db.query(findDispute, { ...tenant, id: disputeUuid(params.dispute_id) }))
    if (!row) throw noSuchDispute()
    return disputeOf(row)
  },
})

export const disputeRoutes: readonly Route[] = [listAll, get]
