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
  description: 'Filter by status; `completed`: paid max_uses times, `inactive`: deactivated',
})

export const PaymentLink = Type.Object(
  {
    payment_link_id: Type.String({ description: 'Id of the link, such as `plink_…`' }),
    url: Type.String({ description: 'URL of the payment page; anyone with it may pay' }),
    status: linkStatus,
    amount: Amount({ description: 'Amount of each payment, in major units' }),
    currency: Type.String({ description: 'Currency of the amount, ISO 4217' }),
    description: Type.String({ description: 'Description shown to the payer' }),
    payment_methods: Nullable(Type.Array(Type.String()), {
      description: 'Accepted payment methods; null: all available',
    }),
    max_uses: Nullable(Type.Integer(), { description: 'Maximum number of payments; null for no limit' }),
    uses: Type.Integer({ description: 'Number of completed payments' }),
    amount_collected: Amount({ description: 'Sum of these payments, without refunds' }),
    redirect_url: Nullable(Type.String({ description: 'URL the payer is sent to after paying; null for the receipt' })),
    metadata: Metadata,
    expires_at: Nullable(At({ description: 'Expiry time; null for never' })),
    deactivated_at: Nullable(At({ description: 'Time of deactivation' })),
    created_at: At({ description: 'Time of creation' }),
  },
  { title: 'PaymentLink', description: 'Payment link with its number of payments' },
)

const LinkPaid = Type.Object(
  {
    ...moneyFields,
    payment_link_id: Type.String({ description: 'Id of the link, such as `plink_…`' }),
    payment_id: Type.String({ description: 'Id of the payment, such as `pay_…`' }),
    amount: Amount({ description: 'Amount paid, in major units' }),
    currency: Type.String({ description: 'Currency of the amount, ISO 4217' }),
    uses: Type.Integer({ description: 'Number of payments, with this one' }),
    over_limit: Type.Boolean({
      description:
        'True if the link had been paid max_uses times already, by a transfer or late payment: refund it if necessary',
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
