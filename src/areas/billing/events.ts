// SPDX-License-Identifier: Apache-2.0
// Events of invoices and subscriptions, in the flat and wrapped form of payment events.

import { type Static, Type } from 'typebox'
import { moneyFields, moneyHead } from '../../ledger/money-events.ts'
import { eventType } from '../../platform/events.ts'
import { Amount, At, Metadata, Nullable, OneOf } from '../../platform/schema/fields.ts'
import { Customer, completedPayment, Payment } from '../payments/area.ts'

const amount = Amount()
const currency = Type.String()
const moment = Nullable(At())
const invoiceStatus = OneOf(['draft', 'open', 'paid', 'void', 'uncollectible'])

export const Invoice = Type.Object(
  {
    invoice_id: Type.String(),
    number: Nullable(Type.String()),
    status: invoiceStatus,
    customer: Customer,
    currency,
    items: Type.Array(
      Type.Object({
        description: Type.String(),
        quantity: Type.Number(),
        unit_amount: amount,
        discount: amount,
        tax_rate: Type.Number({ description: 'Percent' }),
        amount,
        tax: amount,
      }),
    ),
    tax_inclusive: Type.Boolean({ description: 'The amounts hold their tax already' }),
    subtotal: amount,
    discount_total: amount,
    tax_total: amount,
    total: amount,
    amount_paid: amount,
    amount_due: amount,
    credit_applied: Amount({ description: 'How much of amount_paid the customer had in hand' }),
    amount_refunded: Amount({
      description: 'What was given back since it was paid. What is given back before is taken off amount_paid',
    }),
    overdue: Type.Boolean(),
    due_date: Type.String({ format: 'date' }),
    hosted_url: Nullable(Type.String({ description: 'Where it can be paid' })),
    pdf_url: Nullable(Type.String()),
    payments: Type.Array(Type.String({ description: 'Ids' })),
    payment_methods: Nullable(Type.Array(Type.String()), { description: 'Null: all that are offered' }),
    notes: Nullable(Type.String()),
    reference: Nullable(Type.String()),
    subscription_id: Nullable(Type.String()),
    sent_at: moment,
    paid_at: moment,
    voided_at: moment,
    void_reason: Nullable(Type.String()),
    metadata: Metadata,
    created_at: At(),
  },
  { title: 'Invoice' },
)

const flatInvoice = {
  ...moneyFields,
  invoice_id: Type.String(),
  number: Nullable(Type.String()),
  status: invoiceStatus,
  amount_paid: amount,
  total: amount,
  currency,
  customer: Customer,
  metadata: Metadata,
  subscription_id: Nullable(Type.String()),
  payment_id: Nullable(Type.String()),
}

const InvoiceEvent = Type.Object({ ...flatInvoice, invoice: Invoice }, { title: 'InvoiceEvent' })
const InvoicePaid = Type.Object(
  {
    ...flatInvoice,
    invoice: Invoice,
    payment: Nullable(Payment, { description: 'The last one; null when the customer’s credit covered it' }),
  },
  { title: 'InvoicePaidEvent' },
)

export const subscriptionStatus = OneOf(['trialing', 'incomplete', 'active', 'past_due', 'paused', 'cancelled'])
const cancelReason = Nullable(
  Type.String({ description: 'What was given, or `dunning`, `incomplete` or `max_cycles`' }),
)

export const Subscription = Type.Object(
  {
    subscription_id: Type.String(),
    status: subscriptionStatus,
    plan_id: Type.String(),
    customer: Customer,
    quantity: Type.Integer(),
    amount,
    currency,
    current_period_start: At(),
    current_period_end: At(),
    trial_end: moment,
    billing_anchor: Type.String({ format: 'date' }),
    next_billing_at: moment,
    cancel_at_period_end: Type.Boolean(),
    cancelled_at: moment,
    cancel_reason: cancelReason,
    latest_invoice_id: Nullable(Type.String()),
    payment_method: Type.Object({
      type: OneOf(['mobile_money', 'card', 'invoice']),
      phone: Nullable(Type.String()),
      provider: Nullable(Type.String()),
      card_token: Nullable(Type.String()),
    }),
    proration: OneOf(['create_prorations', 'none']),
    cycles: Type.Integer({ description: 'Periods begun' }),
    max_cycles: Nullable(Type.Integer()),
    reference: Nullable(Type.String()),
    metadata: Metadata,
    created_at: At(),
  },
  { title: 'Subscription' },
)

const SubscriptionEvent = Type.Object(
  {
    ...moneyFields,
    subscription_id: Type.String(),
    status: subscriptionStatus,
    plan_id: Type.String(),
    customer: Customer,
    cancelled_at: moment,
    cancel_reason: cancelReason,
    metadata: Metadata,
    subscription: Subscription,
  },
  { title: 'SubscriptionEvent' },
)

const now = new Date('2026-03-01T09:15:30Z')
const customer = { customer_id: 'cus_01jb2c3d4e5f6g7h8j9kamnpqr', name: 'Asha', email: 'asha@example.com' }

const open: Static<typeof Invoice> = {
  invoice_id: 'inv_01jb2c3d4e5f6g7h8j9kamnpqr',
  number: 'INV-2026-000042',
  status: 'open',
  customer,
  currency: 'KES',
  items: [
    {
      description: 'Setup',
      quantity: 2,
      unit_amount: 1_500_000_000n,
      discount: 0n,
      tax_rate: 16,
      amount: 3_000_000_000n,
      tax: 480_000_000n,
    },
  ],
  tax_inclusive: false,
  subtotal: 3_000_000_000n,
  discount_total: 0n,
  tax_total: 480_000_000n,
  total: 3_480_000_000n,
  amount_paid: 0n,
  amount_due: 3_480_000_000n,
  credit_applied: 0n,
  amount_refunded: 0n,
  overdue: false,
  due_date: '2026-03-15',
  hosted_url: 'https://pay.example/pay/4q7t',
  pdf_url: 'https://pay.example/pay/4q7t/invoice.pdf',
  payments: [],
  payment_methods: null,
  notes: null,
  reference: 'order-77',
  subscription_id: null,
  sent_at: new Date('2026-03-01T09:00:00Z'),
  paid_at: null,
  voided_at: null,
  void_reason: null,
  metadata: { order: '77' },
  created_at: new Date('2026-03-01T08:59:00Z'),
}

const paid: Static<typeof Invoice> = {
  ...open,
  status: 'paid',
  amount_paid: open.total,
  amount_due: 0n,
  payments: [completedPayment.payment_id],
  paid_at: now,
}

const payment: Static<typeof Payment> = {
  ...completedPayment,
  amount: open.total,
  fee: 52_200_000n,
  net_amount: 3_427_800_000n,
  invoice_id: open.invoice_id,
}

const active: Static<typeof Subscription> = {
  subscription_id: 'sub_01jb2c3d4e5f6g7h8j9kamnpqr',
  status: 'active',
  plan_id: 'plan_01jb2c3d4e5f6g7h8j9kamnpqr',
  customer,
  quantity: 1,
  amount: 1_500_000_000n,
  currency: 'KES',
  current_period_start: now,
  current_period_end: new Date('2026-04-01T09:15:30Z'),
  trial_end: null,
  billing_anchor: '2026-03-01',
  next_billing_at: new Date('2026-04-01T09:15:30Z'),
  cancel_at_period_end: false,
  cancelled_at: null,
  cancel_reason: null,
  latest_invoice_id: open.invoice_id,
  payment_method: { type: 'mobile_money', phone: '+254700000001', provider: null, card_token: null },
  proration: 'create_prorations',
  cycles: 1,
  max_cycles: null,
  reference: null,
  metadata: {},
  created_at: now,
}

const trialing: Static<typeof Subscription> = {
  ...active,
  status: 'trialing',
  trial_end: new Date('2026-03-04T09:15:30Z'),
  next_billing_at: new Date('2026-03-04T09:15:30Z'),
  latest_invoice_id: null,
  cycles: 0,
}

const cancelled: Static<typeof Subscription> = {
  ...active,
  status: 'cancelled',
  next_billing_at: null,
  cancelled_at: now,
  cancel_reason: 'customer moved away',
}

function flat(invoice: Static<typeof Invoice>, payment_id: string | null = null) {
  const { invoice_id, number, status, amount_paid, total, currency, customer, metadata, subscription_id } = invoice
  const facts = { invoice_id, number, status, amount_paid, total, currency, customer, metadata, subscription_id }
  return { livemode: false, sequence: 2, ...facts, payment_id, invoice }
}

function ofInvoice(name: string, summary: string, invoice: Static<typeof Invoice>, payment_id: string | null = null) {
  return eventType({ name, summary, head: moneyHead, payload: InvoiceEvent, sample: flat(invoice, payment_id) })
}

function ofSubscription(name: string, summary: string, subscription: Static<typeof Subscription>, sequence = 2) {
  const { subscription_id, status, plan_id, customer, cancelled_at, cancel_reason, metadata } = subscription
  const facts = { subscription_id, status, plan_id, customer, cancelled_at, cancel_reason, metadata }
  const sample = { livemode: false, sequence, ...facts, subscription }
  return eventType({ name, summary, head: moneyHead, payload: SubscriptionEvent, sample })
}

export const invoiceEvents = {
  opened: ofInvoice('invoice.opened', 'An invoice is open: its link is yours to bring to the customer', {
    ...open,
    sent_at: null,
  }),
  sent: ofInvoice('invoice.sent', 'An invoice was texted or mailed to the customer', open),
  paymentSucceeded: eventType({
    name: 'invoice.payment_succeeded',
    summary: 'An invoice was paid in full',
    head: moneyHead,
    payload: InvoicePaid,
    sample: { ...flat(paid, payment.payment_id), payment },
  }),
  paymentFailed: ofInvoice(
    'invoice.payment_failed',
    'An attempt to pay an invoice failed',
    open,
    completedPayment.payment_id,
  ),
  refunded: ofInvoice(
    'invoice.refunded',
    'A payment of an invoice was given back, all of it or a part',
    { ...paid, amount_refunded: 500_000_000n },
    completedPayment.payment_id,
  ),
  overdue: ofInvoice('invoice.overdue', 'An invoice was not paid by its due date', { ...open, overdue: true }),
  voided: ofInvoice('invoice.voided', 'An invoice no longer has to be paid', {
    ...open,
    status: 'void',
    amount_due: 0n,
    voided_at: now,
    void_reason: 'sent twice',
  }),
}

export const subscriptionEvents = {
  created: ofSubscription('subscription.created', 'A customer subscribed', active, 1),
  renewed: ofSubscription('subscription.renewed', 'A new period of a subscription was paid', active),
  pastDue: ofSubscription('subscription.past_due', 'A period of a subscription could not be charged', {
    ...active,
    status: 'past_due',
  }),
  trialEnding: ofSubscription('subscription.trial_ending', 'A trial will end soon', trialing),
  cancelled: ofSubscription('subscription.cancelled', 'A subscription is over', cancelled),
}
