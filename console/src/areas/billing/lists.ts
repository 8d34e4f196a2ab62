// SPDX-License-Identifier: Apache-2.0
// Lists of billing.
import { billingListInvoices, billingListSubscriptions } from '#sdk/operations.ts'
import { amount, created, type ListOf, state } from '../../kit/list-page.tsx'
import { newSubscription } from './forms.ts'

const customer = {
  name: 'Customer',
  field: 'customer.name',
  orField: 'customer.email',
  priority: 1,
  card: 'title',
  grows: true,
} as const

export const invoices: ListOf = {
  title: 'Invoices',
  icon: 'file',
  links: [{ to: '/invoices/new', name: 'Create invoice', scope: 'billing:write', icon: 'plus' }],
  none: {
    title: 'No invoices',
    advice: 'Create an invoice, send it with a payment link, and track it until it is paid.',
    to: '/invoices/new',
    action: 'Create invoice',
  },
  path: billingListInvoices.at(),
  keyField: 'invoice_id',
  open: ['/invoices/', 'invoice_id'],
  live: 'invoice.',
  dates: ['start_date', 'end_date'],
  sorts: true,
  columns: [
    created,
    customer,
    { name: 'Number', field: 'number', as: 'mono', priority: 2, card: 'sub' },
    { name: 'Due on', field: 'due_date', as: 'date', priority: 2 },
    { name: 'Due', field: 'amount_due', as: 'money', priority: 4 },
    state,
    { name: 'Total', field: 'total', as: 'money', priority: 1, card: 'end' },
  ],
  filters: [
    { name: 'status', label: 'State', among: ['draft', 'open', 'paid', 'void', 'uncollectible'] },
    { name: 'overdue', label: 'Overdue', among: ['true'] },
    { name: 'number', label: 'Number' },
    { name: 'customer_id', label: 'Customer' },
  ],
}

export const subscriptions: ListOf = {
  title: 'Subscriptions',
  icon: 'again',
  deeds: [{ name: 'Subscribe a customer', icon: 'plus', isMain: true, scope: 'billing:write', form: newSubscription }],
  none: { title: 'No subscriptions', advice: 'A subscription bills a customer automatically for each period.' },
  path: billingListSubscriptions.at(),
  keyField: 'subscription_id',
  open: ['/subscriptions/', 'subscription_id'],
  live: 'subscription.',
  dates: ['start_date', 'end_date'],
  sorts: true,
  columns: [
    created,
    customer,
    { name: 'Next bill', field: 'next_billing_at', as: 'time', priority: 2, card: 'sub' },
    { name: 'Until', field: 'current_period_end', as: 'date', priority: 3 },
    state,
    amount,
  ],
  filters: [
    {
      name: 'status',
      label: 'State',
      among: ['trialing', 'incomplete', 'active', 'past_due', 'paused', 'cancelled'],
    },
  ],
}
