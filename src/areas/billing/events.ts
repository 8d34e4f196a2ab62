// SPDX-License-Identifier: Apache-2.0
// Events of invoices and subscriptions, in the flat and wrapped form of payment events.

import { type Static, Type } from 'typebox'
import { moneyFields, moneyHead } from '../../ledger/money-events.ts'
import { eventType } from '../../platform/events.ts'
import { Amount, At, Metadata, Nullable, OneOf } from '../../platform/schema/fields.ts'
import { Customer, completedPayment, Payment } from '../payments/area.ts'

const amount = (description: string) => Amount({ description })
const currency = Type.String({ description: 'Currency of all amounts, ISO 4217, such as KES' })
const moment = (description: string) => Nullable(At({ description }))
const invoiceStatus = OneOf(['draft', 'open', 'paid', 'void', 'uncollectible'], {
  description: 'Filter by status; `open`: awaits payment, `uncollectible`: written off',
})

export const Invoice = Type.Object(
  {
    invoice_id: Type.String({ description: 'Id of the invoice, such as `inv_…`' }),
    number: Nullable(Type.String({ description: 'Invoice number; null while it is a draft' })),
    status: invoiceStatus,
    customer: Customer,
    currency,
    items: Type.Array(
      Type.Object({
        description: Type.String({ description: 'Description of the item' }),
        quantity: Type.Number({ description: 'Number of units' }),
        unit_amount: amount('Price per unit, in major units'),
        discount: amount('Discount on the line, including its share of the invoice discount'),
        tax_rate: Type.Number({ description: 'Rate in percent' }),
        amount: amount('Amount of the line, before discount and tax'),
        tax: amount('Tax on the line'),
      }),
      { description: 'Lines of the invoice' },
    ),
    tax_inclusive: Type.Boolean({ description: 'True if the amounts contain the tax' }),
    subtotal: amount('Sum of all lines, before discount and tax'),
    discount_total: amount('Sum of all discounts'),
    tax_total: amount('Sum of the tax on all lines'),
    total: amount('Total amount owed'),
    amount_paid: amount('Amount paid so far'),
    amount_due: amount('Amount still to be paid'),
    credit_applied: Amount({ description: 'Part of amount_paid that came from the customer’s credit' }),
    amount_refunded: Amount({
      description: 'Amount refunded since it was paid; earlier refunds reduce amount_paid',
    }),
    overdue: Type.Boolean({ description: 'True if it is open and past its due date' }),
    due_date: Type.String({ format: 'date', description: 'Last day to pay, UTC' }),
    hosted_url: Nullable(Type.String({ description: 'URL of the payment page' })),
    pdf_url: Nullable(Type.String({ description: 'The invoice as a PDF; null while it is a draft' })),
    payments: Type.Array(Type.String(), {
      description: 'Ids of its payments, such as `pay_…`',
    }),
    payment_methods: Nullable(Type.Array(Type.String()), {
      description: 'Accepted payment methods; null: all available',
    }),
    notes: Nullable(Type.String({ description: 'Notes on the invoice' })),
    reference: Nullable(Type.String({ description: 'Your own id for the object' })),
    subscription_id: Nullable(Type.String({ description: 'Id of the billed subscription' })),
    sent_at: moment('Time at which it was sent by email or text'),
    paid_at: moment('Time at which it was paid in full'),
    voided_at: moment('Time at which it was voided'),
    void_reason: Nullable(Type.String({ description: 'Reason for voiding; null if none' })),
    metadata: Metadata,
    created_at: At({ description: 'Time of creation' }),
  },
  { title: 'Invoice', description: 'Invoice with its lines and payments' },
)

const flatInvoice = {
  ...moneyFields,
  invoice_id: Type.String({ description: 'Id of the invoice, such as `inv_…`' }),
  number: Nullable(Type.String({ description: 'Invoice number; null while it is a draft' })),
  status: invoiceStatus,
  amount_paid: amount('Amount paid so far'),
  total: amount('Total amount owed'),
  currency,
  customer: Customer,
  metadata: Metadata,
  subscription_id: Nullable(Type.String({ description: 'Id of the billed subscription' })),
  payment_id: Nullable(Type.String({ description: 'Id of the payment concerned; null if there is none' })),
}

const InvoiceEvent = Type.Object({ ...flatInvoice, invoice: Invoice }, { title: 'InvoiceEvent' })
const InvoicePaid = Type.Object(
  {
    ...flatInvoice,
    invoice: Invoice,
    payment: Nullable(Payment, { description: 'Last payment; null when the customer’s credit covered it' }),
  },
  { title: 'InvoicePaidEvent' },
)

export const subscriptionStatus = OneOf(['trialing', 'incomplete', 'active', 'past_due', 'paused', 'cancelled'], {
  description: 'Filter by status; `incomplete`: awaits its first payment, `past_due`: a charge failed',
})
const cancelReason = Nullable(
  Type.String({ description: 'Reason as given, or `dunning`, `incomplete` or `max_cycles`' }),
)

export const Subscription = Type.Object(
  {
    subscription_id: Type.String({ description: 'Id of the subscription, such as `sub_…`' }),
    status: subscriptionStatus,
    plan_id: Type.String({ description: 'Id of the plan, such as `plan_…`' }),
    customer: Customer,
    quantity: Type.Integer({ description: 'Number of units of the plan' }),
    amount: amount('Price per period, in major units'),
    currency,
    current_period_start: At({ description: 'Start of the paid period' }),
    current_period_end: At({ description: 'End of the paid period' }),
    trial_end: moment('End of the trial; null without one'),
    billing_anchor: Type.String({ format: 'date', description: 'Day on which periods begin' }),
    next_billing_at: moment('Time at which the next period is billed; null if none'),
    cancel_at_period_end: Type.Boolean({
      description: 'True if it ends with the paid period, and is not renewed',
    }),
    cancelled_at: moment('Time of cancellation; null if it was not cancelled'),
    cancel_reason: cancelReason,
    latest_invoice_id: Nullable(Type.String({ description: 'Id of the invoice of the last period' })),
    payment_method: Type.Object(
      {
        type: OneOf(['mobile_money', 'card', 'invoice'], {
          description: 'Payment method; `invoice`: the customer pays by the link of each invoice',
        }),
        phone: Nullable(Type.String({ description: 'Phone number that pays; null for other types' })),
        provider: Nullable(Type.String({ description: 'Provider, such as `mpesa`; null: derived from the number' })),
        card_token: Nullable(Type.String({ description: 'Token of the saved card; null for other types' })),
      },
      { description: 'Payment method of the subscription' },
    ),
    proration: OneOf(['create_prorations', 'none'], {
      description: 'Proration of changes within a period',
    }),
    cycles: Type.Integer({ description: 'Number of periods started' }),
    max_cycles: Nullable(Type.Integer({ description: 'Number of periods after which it ends; null for never' })),
    reference: Nullable(Type.String({ description: 'Your own id for the object' })),
    metadata: Metadata,
    created_at: At({ description: 'Time of creation' }),
  },
  { title: 'Subscription', description: 'Subscription with its period and its next charge' },
)

const SubscriptionEvent = Type.Object(
  {
    ...moneyFields,
    subscription_id: Type.String({ description: 'Id of the subscription, such as `sub_…`' }),
    status: subscriptionStatus,
    plan_id: Type.String({ description: 'Id of its plan, such as `plan_…`' }),
    customer: Customer,
    cancelled_at: moment('Time of cancellation; null if it was not cancelled'),
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
  opened: ofInvoice('invoice.opened', 'An invoice was opened; deliver its link to the customer', {
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
    'A payment of an invoice was refunded, in full or in part',
    { ...paid, amount_refunded: 500_000_000n },
    completedPayment.payment_id,
  ),
  overdue: ofInvoice('invoice.overdue', 'An invoice was not paid by its due date', { ...open, overdue: true }),
  voided: ofInvoice('invoice.voided', 'An invoice was voided', {
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
  cancelled: ofSubscription('subscription.cancelled', 'A subscription ended', cancelled),
}
