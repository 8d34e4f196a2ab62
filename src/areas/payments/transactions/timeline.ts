// SPDX-License-Identifier: Apache-2.0
// Routes of timelines, of a payment and of a payout: the request that made it, its states, what the provider was asked and
// called back with, and the webhooks that told of it.
import { AppError } from '../../../kernel/errors.ts'
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import { type Route, read } from '../../../platform/api/route.ts'
import { maybe } from '../../../platform/db.ts'
import { TimelineRecord, timelineRecord } from '../../../platform/timeline/record.ts'
import { timelineOf } from '../../../platform/timeline.ts'
import { findPayout } from '../payouts/store.ts'
import { PaymentParam, PayoutParam } from '../records/input.ts'
import { noSuchPayment, paymentUuid } from '../records/payment.ts'
import { findPayment, open, type PaymentRow } from '../records/store.ts'

const timeline = read({
  method: 'GET',
  path: '/v1/payments/:payment_id/timeline',
  operation: 'payments.timeline',
  summary: 'Get the timeline of a payment',
  description:
    'Always recorded in test; in live if the operator enables it. Secrets are masked. Frames are kept for 30 days.',
  scope: 'payments:read',
  params: PaymentParam,
  reply: { status: 200, schema: TimelineRecord },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant }) => {
    const payment = await maybe(app.db.query(findPayment, { ...tenant, id: paymentUuid(params.payment_id) }))
    if (!payment) throw noSuchPayment()
    const { created_at: createdAt, request_id: requestId } = payment
    const resource = idOf('payment', payment.id)
    return timelineRecord(
      resource,
      await timelineOf(app.db, tenant, { resource, createdAt, requestId, states: statesOf(payment) }),
    )
  },
})

function statesOf({ status, created_at, completed_at, updated_at, failure_reason }: PaymentRow) {
  const begun = { at: created_at, state: 'pending', note: null }
  if (open.includes(status)) return [begun]
  return [begun, { at: completed_at ?? updated_at, state: status, note: failure_reason }]
}

const payoutTimeline = read({
  method: 'GET',
  path: '/v1/payouts/:payout_id/timeline',
  operation: 'payouts.timeline',
  summary: 'Get the timeline of a payout',
  description:
    'Always recorded in test; in live if the operator enables it. Secrets are masked. Frames are kept for 30 days.',
  scope: 'payouts:read',
  params: PayoutParam,
  reply: { status: 200, schema: TimelineRecord },
  errors: ['NOT_FOUND'],
  handle: async (app, { params }, { tenant }) => {
    const id = uuidOf('payout', params.payout_id)
    const payout = id && (await maybe(app.db.query(findPayout, { ...tenant, id })))
    if (!payout) throw new AppError('NOT_FOUND', 'there is no such payout; the ids of payouts begin with po_')
    const { created_at: createdAt, request_id: requestId, status, completed_at, updated_at, failure_reason } = payout
    const begun = { at: createdAt, state: 'pending', note: null }
    const over = { at: completed_at ?? updated_at, state: status, note: failure_reason }
    const states = status === 'pending' || status === 'processing' ? [begun] : [begun, over]
    const resource = idOf('payout', payout.id)
    return timelineRecord(resource, await timelineOf(app.db, tenant, { resource, createdAt, requestId, states }))
  },
})

export const timelineRoutes: readonly Route[] = [timeline, payoutTimeline]
