// SPDX-License-Identifier: Apache-2.0
// Events of payments, refunds and disputes. A body is flat and wrapped at once: the main fields at the top, the whole
// object under its name, so that receivers of either form work.
import { type Static, Type } from 'typebox'
import { moneyFields, moneyHead } from '../../../ledger/money-events.ts'
import { eventType } from '../../../platform/events.ts'
import { Amount, At, Metadata, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { disputeReasons } from '../providers/acquirer.ts'
import { BankShown, BankTransfer } from '../providers/banks.ts'
import { CardShown } from '../providers/card.ts'
import { amount, currency, method, moment, now, shownRisk, third, word } from './event-fields.ts'

export const Customer = Type.Object(
  {
    name: Type.Optional(Type.String({ description: 'Full name' })),
    email: Type.Optional(Type.String({ description: 'Email address of the payer' })),
    phone: Type.Optional(Type.String({ description: 'Contact phone of the payer' })),
    customer_id: Type.Optional(
      Type.String({ description: 'Your own id for the customer, or `cus_…` of the one billed' }),
    ),
    tax_number: Type.Optional(Type.String({ description: 'Tax number shown on invoices' })),
    address: Type.Optional(Type.String({ description: 'Tax number shown on invoices' })),
  },
  { title: 'Customer', description: 'Your data of the payer' },
)

export const Refund = Type.Object(
  {
    refund_id: Type.String({ description: 'Id of the refund, such as `re_…`' }),
    payment_id: Type.String({ description: 'Id of the payment, such as `pay_…`' }),
    status: OneOf(['pending', 'processing', 'completed', 'failed'], { description: 'Processing status' }),
    amount: amount('Amount in major units'),
    currency,
    reason: Nullable(
      OneOf(['duplicate', 'fraudulent', 'requested_by_customer', 'other'], { description: 'Your reason' }),
    ),
    amount_refunded: Amount({ description: 'Sum of all refunds of the payment that did not fail' }),
    amount_refundable: Amount({ description: 'Amount that can still be refunded' }),
    provider_reference: word('Id at the provider, such as a receipt code; null until it is known'),
    failure_reason: word('Failure code such as INSUFFICIENT_FUNDS; null unless it failed'),
    failure_message: word('Human-readable explanation'),
    description: word('Your description; null if none'),
    reference: word('Your own id for the object'),
    metadata: Metadata,
    created_at: At({ description: 'Time of the request' }),
    completed_at: moment('Time of completion; null until then'),
  },
  { title: 'Refund', description: 'Refund with its status' },
)

const disputeStatuses = ['open', 'won', 'lost'] as const

export const Dispute = Type.Object(
  {
    dispute_id: Type.String({ description: 'Id of the dispute, such as `dsp_…`' }),
    payment_id: Type.String({ description: 'Id of the payment, such as `pay_…`' }),
    status: OneOf(disputeStatuses, { description: 'Status; `won` or `lost` once it is decided' }),
    amount: Amount({ description: 'Disputed amount' }),
    currency,
    amount_held: Amount({ description: 'Amount held in your wallet until the decision' }),
    amount_owed: Amount({
      description: 'Debt from a lost dispute: the amount that your wallet could not cover and has not paid since',
    }),
    reason: OneOf(disputeReasons, { description: 'Reason that the payer gave the bank' }),
    provider_reference: Type.String({ description: 'Id of the dispute at the acquirer' }),
    created_at: At({ description: 'Time of the acquirer’s report' }),
    closed_at: moment('Time of the decision'),
    evidence_sent_at: moment('Time at which the acquirer accepted your evidence'),
  },
  { title: 'Dispute', description: 'Dispute with its held amount and outcome' },
)

const paymentStatus = OneOf(
  ['pending', 'processing', 'requires_action', 'completed', 'failed', 'cancelled', 'expired'],
  { description: '`requires_action` waits for the payer at `redirect_url`' },
)
const refundStatus = OneOf(['none', 'partial', 'full'], { description: 'Extent of the refunds' })

/** Fields that only a top-up has. */
export const topupFields = {
  type: Type.Literal('topup', {
    description: 'Type of a top-up; only for top-ups that are read, with the fields below',
  }),
  wallet_id: Type.String({ description: 'Id of the wallet of the top-up' }),
  new_balance: Nullable(Amount(), {
    description: 'Balance of the wallet afterwards; null until the money has arrived',
  }),
}

export const Payment = Type.Object(
  {
    payment_id: Type.String({ description: 'Id of the payment, such as `pay_…`' }),
    status: paymentStatus,
    amount: amount('Amount in major units'),
    currency,
    provider: word('Provider, such as `mpesa`; null until one is chosen'),
    completed_at: moment('Time of completion; null until then'),
    receipt_url: word('URL of the receipt; null until it is paid'),
    method,
    phone: word('Number of the mobile money account; null for other methods'),
    reference: word('Your own id for the object'),
    description: word('Your description; null if none'),
    customer: Customer,
    metadata: Metadata,
    fee: amount('Fee charged to you, in major units'),
    net_amount: amount('Amount credited to your wallet: the amount less the fee'),
    provider_reference: word('Id at the provider, such as a receipt code; null until it is known'),
    amount_refunded: amount('Sum of all refunds that did not fail'),
    refund_status: refundStatus,
    refunds: Type.Array(Refund, { description: 'Refunds of the payment' }),
    failure_reason: word('Failure code such as INSUFFICIENT_FUNDS; null unless it failed'),
    failure_message: word('Human-readable explanation'),
    risk: shownRisk,
    late: Type.Boolean({ description: 'True if the money arrived after the payment had failed or expired' }),
    invoice_id: word('Id of the invoice that it pays'),
    payment_link_id: Type.Optional(Type.String({ description: 'Id of the link that was used' })),
    ...Type.Partial(Type.Object(topupFields)).properties,
    dispute_status: Type.Optional(
      OneOf(disputeStatuses, { description: 'Status of the dispute; only if there is one' }),
    ),
    redirect_url: Type.Optional(Type.String({ description: 'URL to send the payer to; only while required' })),
    card: Type.Optional(CardShown),
    card_token: Type.Optional(Type.String({ description: 'Token of the saved card' })),
    authorised_until: Type.Optional(At({ description: 'End of the authorisation; it can be captured until then' })),
    amount_authorised: Type.Optional(Amount({ description: 'Amount authorised before the capture' })),
    bank: Type.Optional(BankShown),
    bank_transfer: Type.Optional(BankTransfer),
    ussd_code: Type.Optional(
      Type.String({
        description: 'USSD code that the payer dials to see pending approvals; only while the payment is pending',
      }),
    ),
    expires_at: moment('Time at which the payment expires'),
    created_at: At({ description: 'Time of the request' }),
    updated_at: At({ description: 'Time of the last change' }),
  },
  { title: 'Payment', description: 'Payment with its status' },
)

const flatPayment = {
  ...moneyFields,
  payment_id: Type.String({ description: 'Id of the payment, such as `pay_…`' }),
  status: paymentStatus,
  amount: amount('Amount in major units'),
  currency,
  metadata: Metadata,
  customer: Customer,
  failure_reason: word('Failure code such as INSUFFICIENT_FUNDS; null unless it failed'),
}

const PaymentEvent = Type.Object({ ...flatPayment, payment: Payment }, { title: 'PaymentEvent' })

const ActionRequired = Type.Object(
  { ...flatPayment, redirect_url: Type.String({ description: 'URL to send the payer to' }), payment: Payment },
  { title: 'PaymentActionEvent' },
)

const Refunded = Type.Object(
  {
    ...flatPayment,
    refund_id: Type.String({ description: 'Id of the refund, such as `re_…`' }),
    amount_refunded: amount('Sum of all refunds that did not fail'),
    refund_status: refundStatus,
    payment: Payment,
    refund: Refund,
  },
  { title: 'PaymentRefundedEvent' },
)

const Disputed = Type.Object(
  {
    ...flatPayment,
    dispute_id: Type.String({ description: 'Id of the dispute, such as `dsp_…`' }),
    dispute_status: OneOf(disputeStatuses, { description: 'Status; `won` or `lost` once it is decided' }),
    payment: Payment,
    dispute: Dispute,
  },
  { title: 'PaymentDisputeEvent' },
)

const RefundFailed = Type.Object(
  {
    ...moneyFields,
    refund_id: Type.String({ description: 'Id of the refund, such as `re_…`' }),
    payment_id: Type.String({ description: 'Id of the payment, such as `pay_…`' }),
    status: Type.Literal('failed', { description: 'Always `failed`: the amount stays in your wallet' }),
    amount: amount('Amount in major units'),
    currency,
    failure_reason: Type.String({ description: 'Reason given by the provider' }),
    refund: Refund,
  },
  { title: 'RefundFailedEvent' },
)

// Samples ----------------------------------------------------------------------------------------------------------

const order = { order: '77' }
const customer = { name: 'Asha', email: 'asha@example.com' }
const pending: Static<typeof Payment> = {
  payment_id: 'pay_01jb2c3d4e5f6g7h8j9kamnpqr',
  status: 'pending',
  amount: 1_500_000_000n,
  currency: 'KES',
  provider: 'mpesa',
  completed_at: null,
  receipt_url: null,
  method: 'mobile_money',
  phone: '+254711000001',
  reference: 'order-77',
  description: 'Order 77',
  customer,
  metadata: order,
  fee: 22_500_000n,
  net_amount: 1_477_500_000n,
  provider_reference: null,
  amount_refunded: 0n,
  refund_status: 'none',
  refunds: [],
  failure_reason: null,
  failure_message: null,
  risk: { risk_score: 12, risk_level: 'low', flags: [] },
  late: false,
  invoice_id: null,
  expires_at: new Date('2026-03-01T09:17:00Z'),
  created_at: new Date('2026-03-01T09:15:00Z'),
  updated_at: now,
}

export const completedPayment: Static<typeof Payment> = {
  ...pending,
  status: 'completed',
  completed_at: now,
  receipt_url: 'https://pay.example/r/4q7t',
  provider_reference: 'NLJ7RT61SV',
}

const declined: Static<typeof Payment> = {
  ...pending,
  status: 'failed',
  failure_reason: 'INSUFFICIENT_FUNDS',
  failure_message: 'There is not enough money on the account.',
}

const redirect_url = 'https://pay.example/go/4q7t'
const challenged: Static<typeof Payment> = {
  ...pending,
  status: 'requires_action',
  method: 'card',
  provider: 'acquirer',
  phone: null,
  redirect_url,
  card: { brand: 'visa', last4: '3220', exp_month: 12, exp_year: 2030 },
}

const refund: Static<typeof Refund> = {
  refund_id: 're_01jb2c3d4e5f6g7h8j9kamnpqr',
  payment_id: pending.payment_id,
  status: 'completed',
  amount: 500_000_000n,
  currency: 'KES',
  reason: 'requested_by_customer',
  amount_refunded: 500_000_000n,
  amount_refundable: 1_000_000_000n,
  provider_reference: 'NLK2AB90QX',
  failure_reason: null,
  failure_message: null,
  description: 'One of three was sold out',
  reference: 'refund-77',
  metadata: {},
  created_at: new Date('2026-03-01T09:15:10Z'),
  completed_at: now,
}

const refunded: Static<typeof Payment> = {
  ...completedPayment,
  completed_at: new Date('2026-03-01T09:15:05Z'),
  amount_refunded: refund.amount,
  refund_status: 'partial',
  refunds: [refund],
}

const dispute: Static<typeof Dispute> = {
  dispute_id: 'dsp_01jb2c3d4e5f6g7h8j9kamnpqr',
  payment_id: pending.payment_id,
  status: 'open',
  amount: pending.amount,
  currency: 'KES',
  amount_held: pending.amount,
  amount_owed: 0n,
  reason: 'fraudulent',
  provider_reference: 'dp_5f0c1d',
  created_at: now,
  closed_at: null,
  evidence_sent_at: null,
}

const disputed: Static<typeof Payment> = {
  ...completedPayment,
  method: 'card',
  provider: 'acquirer',
  phone: null,
  dispute_status: 'open',
  card: { brand: 'visa', last4: '0259', exp_month: 12, exp_year: 2030 },
}

function flat(payment: Static<typeof Payment>, place = third) {
  const { payment_id, status, amount, currency, metadata, customer, failure_reason } = payment
  return { ...place, payment_id, status, amount, currency, metadata, customer, failure_reason, payment }
}

// Events -----------------------------------------------------------------------------------------------------------

const ofPayment = (name: string, summary: string, sample: Static<typeof PaymentEvent>) =>
  eventType({ name, summary, head: moneyHead, payload: PaymentEvent, sample })
export const paymentEvents = {
  created: ofPayment('payment.created', 'A payment was accepted', flat(pending, { livemode: false, sequence: 1 })),
  requiresAction: eventType({
    name: 'payment.requires_action',
    summary: 'The payer must confirm a payment',
    head: moneyHead,
    payload: ActionRequired,
    sample: { ...flat(challenged), redirect_url },
  }),
  completed: {
    ...ofPayment('payment.completed', 'A payment was paid', flat(completedPayment)),
    // A top-up is paid by the account itself, and an invoice by whom it bills, whosever phone it is that pays.
    person: ({ customer, payment: { phone, type } }: Static<typeof PaymentEvent>) => {
      if (type === 'topup') return null
      const { email, name, customer_id: id = '' } = customer
      if (id.startsWith('cus_')) return { email, phone: email ? null : customer.phone, name, isInbound: true }
      return { phone, email, name, isInbound: true }
    },
  },
  failed: ofPayment('payment.failed', 'A payment failed, was cancelled or expired', flat(declined)),
  refunded: eventType({
    name: 'payment.refunded',
    summary: 'A payment was refunded, in full or in part',
    head: moneyHead,
    payload: Refunded,
    sample: {
      ...flat(refunded, { livemode: false, sequence: 4 }),
      refund_id: refund.refund_id,
      amount_refunded: refund.amount,
      refund_status: 'partial',
      refund,
    },
  }),
  disputed: eventType({
    name: 'payment.disputed',
    summary: 'A payer disputed a payment',
    head: moneyHead,
    payload: Disputed,
    sample: { ...flat(disputed), dispute_id: dispute.dispute_id, dispute_status: 'open', dispute },
  }),
  disputeClosed: eventType({
    name: 'payment.dispute_closed',
    summary: 'The dispute of a payment was decided',
    head: moneyHead,
    payload: Disputed,
    sample: {
      ...flat({ ...disputed, dispute_status: 'won' }, { livemode: false, sequence: 4 }),
      dispute_id: dispute.dispute_id,
      dispute_status: 'won',
      dispute: { ...dispute, status: 'won', amount_held: 0n, closed_at: now },
    },
  }),
}

export const refundEvents = {
  failed: eventType({
    name: 'refund.failed',
    summary: 'A refund failed',
    head: moneyHead,
    payload: RefundFailed,
    sample: {
      livemode: false,
      sequence: 1,
      refund_id: refund.refund_id,
      payment_id: refund.payment_id,
      status: 'failed',
      amount: refund.amount,
      currency: refund.currency,
      failure_reason: 'RECIPIENT_NOT_FOUND',
      refund: {
        ...refund,
        status: 'failed',
        amount_refunded: 0n,
        amount_refundable: pending.amount,
        provider_reference: null,
        failure_reason: 'RECIPIENT_NOT_FOUND',
        failure_message: 'The recipient has no account of this number.',
        completed_at: null,
      },
    },
  }),
}
