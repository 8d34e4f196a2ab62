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
    name: Type.Optional(Type.String({ description: 'What they are called' })),
    email: Type.Optional(Type.String({ description: 'Their mail address' })),
    phone: Type.Optional(Type.String({ description: 'Where they can be called' })),
    customer_id: Type.Optional(Type.String({ description: 'Your own id of them, or `cus_…` of who was billed' })),
    tax_number: Type.Optional(Type.String({ description: 'Theirs, as it stands on invoices' })),
    address: Type.Optional(Type.String({ description: 'Theirs, as it stands on invoices' })),
  },
  { title: 'Customer', description: 'Who pays, as far as you said' },
)

export const Refund = Type.Object(
  {
    refund_id: Type.String({ description: 'Id of the refund, such as `re_…`' }),
    payment_id: Type.String({ description: 'Id of the payment, such as `pay_…`' }),
    status: OneOf(['pending', 'processing', 'completed', 'failed'], { description: 'How far it came' }),
    amount: amount('In major units'),
    currency,
    reason: Nullable(
      OneOf(['duplicate', 'fraudulent', 'requested_by_customer', 'other'], { description: 'As you gave it' }),
    ),
    amount_refunded: Amount({ description: 'Of the payment, by all refunds that did not fail' }),
    amount_refundable: Amount({ description: 'What is left of the payment' }),
    provider_reference: word('Its id at the provider, such as a receipt code; null until the provider tells it'),
    failure_reason: word('A code such as INSUFFICIENT_FUNDS; null unless it failed'),
    failure_message: word('The same in words'),
    description: word('As it was given'),
    reference: word('Your own id of it'),
    metadata: Metadata,
    created_at: At({ description: 'When it was asked for' }),
    completed_at: moment('When the money had moved; null until then'),
  },
  { title: 'Refund', description: 'The refund, with how far it came' },
)

const disputeStatuses = ['open', 'won', 'lost'] as const

export const Dispute = Type.Object(
  {
    dispute_id: Type.String({ description: 'Id of the dispute, such as `dsp_…`' }),
    payment_id: Type.String({ description: 'Id of the payment, such as `pay_…`' }),
    status: OneOf(disputeStatuses, { description: 'You have `won` or `lost` it once that is decided' }),
    amount: Amount({ description: 'What the payer wants back' }),
    currency,
    amount_held: Amount({ description: 'What is set aside in your wallet until it is decided' }),
    amount_owed: Amount({
      description: 'What a lost dispute took that was not in your wallet, as far as it was not taken from it since',
    }),
    reason: OneOf(disputeReasons, { description: 'What the payer told the bank' }),
    provider_reference: Type.String({ description: 'The dispute as the acquirer names it' }),
    created_at: At({ description: 'When the acquirer told of it' }),
    closed_at: moment('When it was decided'),
  },
  { title: 'Dispute', description: 'The dispute, with what it holds back and its outcome' },
)

const paymentStatus = OneOf(
  ['pending', 'processing', 'requires_action', 'completed', 'failed', 'cancelled', 'expired'],
  { description: '`requires_action` waits for the payer at `redirect_url`' },
)
const refundStatus = OneOf(['none', 'partial', 'full'], { description: 'How much of it was given back' })

/** Fields that only a top-up has. */
export const topupFields = {
  type: Type.Literal('topup', { description: 'Of a top-up, with what follows, where it is read' }),
  wallet_id: Type.String({ description: 'Which wallet it fills' }),
  new_balance: Nullable(Amount(), { description: 'What the wallet held with it; null until the money is there' }),
}

export const Payment = Type.Object(
  {
    payment_id: Type.String({ description: 'Id of the payment, such as `pay_…`' }),
    status: paymentStatus,
    amount: amount('In major units'),
    currency,
    provider: word('Such as `mpesa`; null until one is chosen'),
    completed_at: moment('When the money had moved; null until then'),
    receipt_url: word('Where the payer finds the receipt; null until it is paid'),
    method,
    phone: word('Number of the mobile money account; null for other methods'),
    reference: word('Your own id of it'),
    description: word('As it was given'),
    customer: Customer,
    metadata: Metadata,
    fee: amount('What it cost you, in major units'),
    net_amount: amount('What your wallet gets: the amount less the fee'),
    provider_reference: word('Its id at the provider, such as a receipt code; null until the provider tells it'),
    amount_refunded: amount('By all refunds that did not fail'),
    refund_status: refundStatus,
    refunds: Type.Array(Refund, { description: 'What was given back of it' }),
    failure_reason: word('A code such as INSUFFICIENT_FUNDS; null unless it failed'),
    failure_message: word('The same in words'),
    risk: shownRisk,
    late: Type.Boolean({ description: 'The money came after the payment had been given up' }),
    invoice_id: word('The invoice that it pays'),
    payment_link_id: Type.Optional(Type.String({ description: 'The link over which it was paid' })),
    ...Type.Partial(Type.Object(topupFields)).properties,
    dispute_status: Type.Optional(OneOf(disputeStatuses, { description: 'Of a payment that was disputed' })),
    redirect_url: Type.Optional(Type.String({ description: 'Where to send the payer; while that is awaited' })),
    card: Type.Optional(CardShown),
    card_token: Type.Optional(Type.String({ description: 'The card as it was saved' })),
    authorised_until: Type.Optional(At({ description: 'Until then the money is set aside, to be captured' })),
    amount_authorised: Type.Optional(Amount({ description: 'What was set aside before it was captured' })),
    bank: Type.Optional(BankShown),
    bank_transfer: Type.Optional(BankTransfer),
    ussd_code: Type.Optional(
      Type.String({ description: 'What the payer dials to see what waits for approval; until the payment is over' }),
    ),
    expires_at: moment('Until when the payer may pay'),
    created_at: At({ description: 'When it was asked for' }),
    updated_at: At({ description: 'When something last changed' }),
  },
  { title: 'Payment', description: 'The payment, with how far it came' },
)

const flatPayment = {
  ...moneyFields,
  payment_id: Type.String({ description: 'Id of the payment, such as `pay_…`' }),
  status: paymentStatus,
  amount: amount('In major units'),
  currency,
  metadata: Metadata,
  customer: Customer,
  failure_reason: word('A code such as INSUFFICIENT_FUNDS; null unless it failed'),
}

const PaymentEvent = Type.Object({ ...flatPayment, payment: Payment }, { title: 'PaymentEvent' })

const ActionRequired = Type.Object(
  { ...flatPayment, redirect_url: Type.String({ description: 'Where to send the payer' }), payment: Payment },
  { title: 'PaymentActionEvent' },
)

const Refunded = Type.Object(
  {
    ...flatPayment,
    refund_id: Type.String({ description: 'Id of the refund, such as `re_…`' }),
    amount_refunded: amount('By all refunds that did not fail'),
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
    dispute_status: OneOf(disputeStatuses, { description: 'You have `won` or `lost` it once that is decided' }),
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
    status: Type.Literal('failed', { description: 'The money stays with you' }),
    amount: amount('In major units'),
    currency,
    failure_reason: Type.String({ description: 'Why, as the provider says' }),
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
    summary: 'Money of a payment went back to the payer',
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
    summary: 'It is decided whose the money of a disputed payment is',
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
    summary: 'A refund could not be paid back',
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
