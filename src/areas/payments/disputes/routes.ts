// SPDX-License-Identifier: Apache-2.0
// Routes of disputes. They are opened and decided by the banks of payers; here they are read and answered.
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, nilUuid, uuidOf } from '../../../kernel/ids.ts'
import { record } from '../../../platform/api/audit.ts'
import { list, type Need, type Route, read, write } from '../../../platform/api/route.ts'
import { maybe } from '../../../platform/db.ts'
import { Day, dayRangeQuery, listQuery } from '../../../platform/schema/fields.ts'
import { pageOf, shownBounds, windowOf } from '../../../platform/schema/lists.ts'
import { Dispute } from '../records/events.ts'
import { disputeOf, disputeUuid, noSuchDispute } from './dispute.ts'
import { handOver } from './evidence.ts'
import { findDispute, listDisputes, noteEvidence } from './store.ts'

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

const sendEvidence = write({
  method: 'POST',
  path: '/v1/payments/disputes/:dispute_id/evidence',
  operation: 'disputes.sendEvidence',
  summary: 'Send evidence for a dispute',
  description: 'Sends evidence to the acquirer, once and while the dispute is open. The payer’s bank decides.',
  scope: 'payments:write',
  limit: 'payments',
  params: Type.Object({ dispute_id: Type.String({ description: 'Id of the dispute, such as `dsp_…`' }) }),
  body: Type.Object({
    statement: Type.String({
      minLength: 1,
      maxLength: 20_000,
      description: 'Statement of the order, the delivery and the agreement',
    }),
    product_description: Type.Optional(Type.String({ maxLength: 2_000, description: 'Goods or service that was paid for' })),
    delivered_on: Type.Optional(Day({ description: 'Day on which it was delivered' })),
    shipping_carrier: Type.Optional(Type.String({ maxLength: 100, description: 'Company that delivered it' })),
    tracking_number: Type.Optional(Type.String({ maxLength: 100, description: 'Tracking number of the parcel' })),
  }),
  reply: { status: 200, schema: Dispute },
  errors: ['NOT_FOUND', 'VALIDATION_ERROR', 'INVALID_STATE', 'PROVIDER_UNAVAILABLE'],
  needs: aDispute,
  examples: [
    {
      name: 'A delivered parcel',
      body: {
        statement: 'The payer ordered two lamps on 12 May, was sent a code to confirm, and signed for the parcel.',
        delivered_on: '2026-05-14',
        shipping_carrier: 'G4S',
        tracking_number: 'KE-41023',
      },
    },
  ],
  prepare: (app, { params, body }, { tenant }) => handOver(app, tenant, disputeUuid(params.dispute_id), body),
  handle: async (_app, tx, { body }, caller, { id, at }) => {
    const row = await maybe(tx.query(noteEvidence, { ...caller.tenant, id, at }))
    if (!row) throw new AppError('INVALID_STATE', 'the dispute is closed')
    await record(tx, caller, 'disputes.send_evidence', idOf('dispute', id), { after: { fields: Object.keys(body) } })
    return disputeOf(row)
  },
})

export const disputeRoutes: readonly Route[] = [listAll, get, sendEvidence]
