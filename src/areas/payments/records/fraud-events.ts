// SPDX-License-Identifier: Apache-2.0
// Events of fraud reviews, which hold a payment or a payout.
import { Type } from 'typebox'
import { moneyFields, moneyHead } from '../../../ledger/money-events.ts'
import { eventType } from '../../../platform/events.ts'
import { decision, risk, word } from './event-fields.ts'
import { Payment } from './events.ts'
import { Payout, paidOut } from './payout-events.ts'

const ReviewRequired = Type.Object(
  {
    ...moneyFields,
    payment_id: word('The payment, such as `pay_…`; null for a payout'),
    payout_id: word('The payout, such as `po_…`; null for a payment'),
    risk: Type.Object({ ...risk, decision }, { description: 'Risk assessment with its reasons' }),
    payment: Type.Optional(Payment),
    payout: Type.Optional(Payout),
  },
  { title: 'FraudReviewEvent' },
)

export const fraudEvents = {
  reviewRequired: eventType({
    name: 'fraud.review_required',
    summary: 'A payment or payout requires manual review',
    head: moneyHead,
    payload: ReviewRequired,
    sample: {
      livemode: false,
      sequence: 1,
      payment_id: null,
      payout_id: paidOut.payout_id,
      risk: { risk_score: 72, risk_level: 'high', flags: ['new_recipient'], decision: 'review' },
      payout: { ...paidOut, status: 'pending', in_review: true, provider_reference: null, completed_at: null },
    },
  }),
}
