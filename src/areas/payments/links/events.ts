// SPDX-License-Identifier: Apache-2.0
// A payment link as customers read it, and what they are told of it.
import { type Static, Type } from 'typebox'
import { moneyFields, moneyHead } from '../../../ledger/money-events.ts'
import { eventType } from '../../../platform/events.ts'
import { Amount, At, Metadata, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { completedPayment, Payment } from '../records/events.ts'

const linkStatuses = ['active', 'inactive', 'expired', 'completed'] as const
export type LinkStatus = (typeof linkStatuses)[number]

export const linkStatus = OneOf(linkStatuses, {
  description: '`completed` once it was paid max_uses times, `inactive` once it was deactivated',
})

export const PaymentLink = Type.Object(
  {
    payment_link_id: Type.String({ description: 'Id of the link, such as `plink_…`' }),
    url: Type.String({ description: 'Where it is paid; whoever has it may pay' }),
    status: linkStatus,
    amount: Amount({ description: 'What is paid each time, in major units' }),
    currency: Type.String({ description: 'Of the amount' }),
    description: Type.String({ description: 'What the payer reads' }),
    payment_methods: Nullable(Type.Array(Type.String()), { description: 'Null: all that are offered' }),
    max_uses: Nullable(Type.Integer(), { description: 'Null: as often as somebody does' }),
    uses: Type.Integer({ description: 'Payments over it that were completed' }),
    amount_collected: Amount({ description: 'What these came to; refunds are not taken off' }),
    redirect_url: Nullable(Type.String({ description: 'Where the payer lands after paying; null for the receipt' })),
    metadata: Metadata,
    expires_at: Nullable(At({ description: 'After which it cannot be paid; null for never' })),
    deactivated_at: Nullable(At({ description: 'When you deactivated it' })),
    created_at: At({ description: 'When it was made' }),
  },
  { title: 'PaymentLink', description: 'The link, with how often it was paid' },
)

const LinkPaid = Type.Object(
  {
    ...moneyFields,
    payment_link_id: Type.String({ description: 'Id of the link, such as `plink_…`' }),
    payment_id: Type.String({ description: 'Id of the payment, such as `pay_…`' }),
    amount: Amount({ description: 'What was paid, in major units' }),
    currency: Type.String({ description: 'Of the amount' }),
    uses: Type.Integer({ description: 'How often it was paid, with this one' }),
    over_limit: Type.Boolean({
      description:
        'It came although the link was paid max_uses times by then, by transfer or late: give it back if you must',
    }),
    metadata: Metadata,
    payment: Payment,
    payment_link: PaymentLink,
  },
  { title: 'PaymentLinkPaidEvent' },
)

const order = { order: '77' }

const sample: Static<typeof PaymentLink> = {
  payment_link_id: 'plink_01jb2c3d4e5f6g7h8j9kamnpqr',
  url: 'https://pay.example.com/link/AbCdEfGhIjKlMnOpQrStUvW',
  status: 'completed',
  amount: completedPayment.amount,
  currency: completedPayment.currency,
  description: 'Order 77',
  payment_methods: null,
  max_uses: 1,
  uses: 1,
  amount_collected: completedPayment.amount,
  redirect_url: 'https://shop.example.com/thanks',
  metadata: order,
  expires_at: null,
  deactivated_at: null,
  created_at: new Date('2026-03-01T09:10:00Z'),
}

export const linkEvents = {
  paid: eventType({
    name: 'payment_link.paid',
    summary: 'A payment link was paid',
    head: moneyHead,
    payload: LinkPaid,
    sample: {
      livemode: false,
      sequence: 1,
      payment_link_id: sample.payment_link_id,
      payment_id: completedPayment.payment_id,
      amount: completedPayment.amount,
      currency: completedPayment.currency,
      uses: 1,
      over_limit: false,
      metadata: order,
      payment: { ...completedPayment, payment_link_id: sample.payment_link_id },
      payment_link: sample,
    },
  }),
}
