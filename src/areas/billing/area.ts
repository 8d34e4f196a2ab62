// SPDX-License-Identifier: Apache-2.0
// The door of the billing area. Lock order of its transactions, which keeps them free of deadlocks: payment, wallet,
// invoice (oldest first), subscription, customer credit, invoice number.

import { idOf } from '../../kernel/ids.ts'
import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { ofAnyAccount } from '../../platform/operator/any-account.ts'
import { erasable } from '../../platform/operator/erasing.ts'
import { finder } from '../../platform/operator/finding.ts'
import { history } from '../../platform/operator/history.ts'
import { waitingRows } from '../../platform/operator/waiting.ts'
import { mergeBilling } from './customers/customer.ts'
import { customerRoutes } from './customers/routes.ts'
import { invoiceEvents, subscriptionEvents } from './events.ts'
import { giveBackJob } from './invoices/give-back.ts'
import { invoiceHooks } from './invoices/hosted.ts'
import { mailInvoiceJob } from './invoices/mail.ts'
import { overdueChore } from './invoices/overdue.ts'
import { invoiceRoutes } from './invoices/routes.ts'
import { planRoutes } from './plans/routes.ts'
import { remindJob } from './subscriptions/remind.ts'
import { renewAloneJob } from './subscriptions/renew.ts'
import { renewJob } from './subscriptions/renew-many.ts'
import { subscriptionRoutes } from './subscriptions/routes.ts'

export const billing: Area = {
  name: 'billing',
  tools: { named: ['billing.createInvoice', 'billing.sendInvoice', 'billing.listInvoices'] },
  chapters: {
    billing: { title: 'Billing', about: 'Invoices with a payment page, customers, plans and subscriptions.' },
  },
  uses: ['customers', 'email', 'payments', 'sms'],
  scopes: [scopeArea('billing', { limit: 'payments' })],
  routes: [
    ...invoiceRoutes,
    ...customerRoutes,
    ...planRoutes,
    ...subscriptionRoutes,
    ...ofAnyAccount([...invoiceRoutes, ...subscriptionRoutes], {
      'billing.listInvoices': ['operator.listInvoices', 'List the invoices of any account'],
      'billing.getInvoice': ['operator.getInvoice', 'Get an invoice of any account'],
      'billing.listSubscriptions': ['operator.listSubscriptions', 'List the subscriptions of any account'],
      'billing.getSubscription': ['operator.getSubscription', 'Get a subscription of any account'],
    }),
  ],
  jobs: [giveBackJob, renewJob, renewAloneJob, remindJob, mailInvoiceJob],
  events: [...Object.values(invoiceEvents), ...Object.values(subscriptionEvents)],
  chores: [overdueChore],
  mergeCustomers: mergeBilling,
  hooks: invoiceHooks,
  waiting: [
    waitingRows({
      ...{ name: 'invoices_overdue', description: 'Open invoices that are overdue', scope: 'billing:read' },
      ...{ from: 'billing.invoices', where: `t.status = 'open' and t.overdue_told` },
    }),
  ],
  erasables: [
    erasable({
      ...{ kind: 'invoices', table: 'billing.invoices', id: { column: 't.id', prefix: 'invoice' } },
      by: [
        {
          ...{ column: 't.customer_id', knownBy: 'customers' },
          set: `customer = jsonb_build_object('customer_id', t.customer ->> 'customer_id', 'name', 'erased'), mailed_to = null`,
        },
      ],
      reason: 'numbers, lines and amounts stay, as the law of accounts asks',
    }),
  ],
  histories: [
    history({
      ...{ name: 'invoices', kind: 'invoice', scope: 'billing:read' },
      ...{ from: 'billing.invoices t', id: 't.id', order: 't.id', status: 't.status', createdAt: 't.created_at' },
      ...{ title: 't.number', amount: 't.total', currency: 't.currency', path: (id) => `/billing/invoices/${id}` },
      by: [{ column: 't.customer_id', knownBy: 'customers', direction: `'outbound'`, prefix: 'invoice' }],
    }),
  ],
  finders: [
    finder({
      kind: 'invoice',
      prefix: 'invoice',
      table: 'billing.invoices',
      status: 't.status',
      ...{ scope: 'billing:read', label: 't.number' },
      words: ['number', 'reference'],
      path: (id) => `/billing/invoices/${idOf('invoice', id)}`,
    }),
  ],
}
