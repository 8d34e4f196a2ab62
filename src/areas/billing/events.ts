// SPDX-License-Identifier: Apache-2.0
// Events of invoices and subscriptions, in the flat and wrapped form of payment events.

import { type Static, Type } from 'typebox'
import { moneyFields, moneyHead } from '../../ledger/money-events.ts'
import { eventType } from '../../platform/events.ts'
import { Amount, At, Metadata, Nullable, OneOf } from '../../platform/schema/fields.ts'
import { Customer, completedPayment, Payment } from '../payments/area.ts'

const amount = (description: string) => Amount({ description })
const currency = Type.String({ description: 'ISO 4217, such as KES; of all amounts here' })
const moment = (description: string) => Nullable(At({ description }))
const invoiceStatus = OneOf(['draft', 'open', 'paid', 'void', 'uncollectible'], {
  description: 'A `draft` can be changed; `open` waits for its money; `uncollectible` was given up',
})

export const Invoice = Type.Object(
  {
    invoice_id: Type.String({ description: 'Id of the invoice, such as `inv_…`' }),
    number: Nullable(Type.String({ description: 'As customers read it; null while it is a draft' })),
    status: invoiceStatus,
    customer: Customer,
    currency,
    items: Type.Array(
      Type.Object({
        description: Type.String({ description: 'What is sold' }),
        quantity: Type.Number({ description: 'How many of it' }),
        unit_amount: amount('For one of it, in major units'),
        discount: amount('Taken off the line: its own, and its share of that of the invoice'),
        tax_rate: Type.Number({ description: 'Percent' }),
        amount: amount('Of the line, before discount and tax'),
        tax: amount('Of the line'),
      }),
      { description: 'Its lines' },
    ),
    tax_inclusive: Type.Boolean({ description: 'The amounts hold their tax already' }),
    subtotal: amount('All lines, before discount and tax'),
    discount_total: amount('Taken off by all discounts'),
    tax_total: amount('Of all lines'),
    total: amount('What the customer owes in all'),
    amount_paid: amount('What came of it so far'),
    amount_due: amount('What is still to be paid'),
    credit_applied: Amount({ description: 'How much of amount_paid the customer had in hand' }),
    amount_refunded: Amount({
      description: 'What was given back since it was paid. What is given back before is taken off amount_paid',
    }),
    overdue: Type.Boolean({ description: 'Open, and past its due date' }),
    due_date: Type.String({ format: 'date', description: 'Last day to pay, UTC' }),
    hosted_url: Nullable(Type.String({ description: 'Where it can be paid' })),
    pdf_url: Nullable(Type.String({ description: 'The invoice as a PDF; null while it is a draft' })),
    payments: Type.Array(Type.String(), {
      description: 'Ids of the payments that paid it or a part of it, such as `pay_…`',
    }),
    payment_methods: Nullable(Type.Array(Type.String()), { description: 'Null: all that are offered' }),
    notes: Nullable(Type.String({ description: 'As they stand on the invoice' })),
    reference: Nullable(Type.String({ description: 'Your own id of it' })),
    subscription_id: Nullable(Type.String({ description: 'The subscription it bills' })),
    sent_at: moment('When it was mailed or texted'),
    paid_at: moment('When the last of it was paid'),
    voided_at: moment('When it was voided'),
    void_reason: Nullable(Type.String({ description: 'As it was given' })),
    metadata: Metadata,
    created_at: At({ description: 'When it was made' }),
  },
  { title: 'Invoice', description: 'The invoice, with its lines and what was paid of it' },
)

const flatInvoice = {
  ...moneyFields,
  invoice_id: Type.String({ description: 'Id of the invoice, such as `inv_…`' }),
  number: Nullable(Type.String({ description: 'As customers read it; null while it is a draft' })),
  status: invoiceStatus,
  amount_paid: amount('What came of it so far'),
  total: amount('What the customer owes in all'),
  currency,
  customer: Customer,
  metadata: Metadata,
  subscription_id: Nullable(Type.String({ description: 'The subscription it bills' })),
  payment_id: Nullable(Type.String({ description: 'The payment that this is about; null where it is about none' })),
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

export const subscriptionStatus = OneOf(['trialing', 'incomplete', 'active', 'past_due', 'paused', 'cancelled'], {
  description: '`incomplete` waits for its first payment, `past_due` for one that failed',
})
const cancelReason = Nullable(
  Type.String({ description: 'What was given, or `dunning`, `incomplete` or `max_cycles`' }),
)

export const Subscription = Type.Object(
  {
    subscription_id: Type.String({ description: 'Id of the subscription, such as `sub_…`' }),
    status: subscriptionStatus,
    plan_id: Type.String({ description: 'The plan, such as `plan_…`' }),
    customer: Customer,
    quantity: Type.Integer({ description: 'How many of the plan' }),
    amount: amount('Of a period, in major units'),
    currency,
    current_period_start: At({ description: 'From when it is paid for' }),
    current_period_end: At({ description: 'Until when it is paid for' }),
    trial_end: moment('When the trial ends; null without one'),
    billing_anchor: Type.String({ format: 'date', description: 'Day on which periods begin' }),
    next_billing_at: moment('When the next period is billed; null if none is'),
    cancel_at_period_end: Type.Boolean({
      description: 'True: it ends when what was paid for is over, and is not renewed',
    }),
    cancelled_at: moment('When it was cancelled; null if it was not'),
    cancel_reason: cancelReason,
    latest_invoice_id: Nullable(Type.String({ description: 'The invoice of the last period' })),
    payment_method: Type.Object(
      {
        type: OneOf(['mobile_money', 'card', 'invoice'], { description: '`invoice`: by the link of each invoice' }),
        phone: Nullable(Type.String({ description: 'Which phone is asked; null for other types' })),
        provider: Nullable(Type.String({ description: 'Such as `mpesa`; by the number if null' })),
        card_token: Nullable(Type.String({ description: 'The saved card; null for other types' })),
      },
      { description: 'How periods are paid' },
    ),
    proration: OneOf(['create_prorations', 'none'], {
      description: 'Whether a change in mid-period is charged by its part',
    }),
    cycles: Type.Integer({ description: 'Periods begun' }),
    max_cycles: Nullable(Type.Integer({ description: 'After how many periods it ends; null for never' })),
    reference: Nullable(Type.String({ description: 'Your own id of it' })),
    metadata: Metadata,
    created_at: At({ description: 'When it was made' }),
  },
  { title: 'Subscription', description: 'The subscription, with its period and its next charge' },
)

const SubscriptionEvent = Type.Object(
  {
    ...moneyFields,
    subscription_id: Type.String({ description: 'Id of the subscription, such as `sub_…`' }),
    status: subscriptionStatus,
    plan_id: Type.String({ description: 'Id of its plan, such as `plan_…`' }),
    customer: Customer,
    cancelled_at: moment('When it was cancelled; null if it was not'),
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
