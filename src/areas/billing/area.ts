// SPDX-License-Identifier: Apache-2.0
// The door of the billing area. Lock order of its transactions, which keeps them free of deadlocks: payment, wallet,
// invoice (oldest first), subscription, customer credit, invoice number.

import { idOf } from '../../kernel/ids.ts'
import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { ofAnyAccount } from '../../platform/operator/any-account.ts'
import { finder } from '../../platform/operator/finding.ts'
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
  chapters: {
    billing: { title: 'Billing', about: 'Invoices with a page to pay them on, customers, plans and subscriptions.' },
  },
  uses: ['email', 'payments', 'sms'],
  scopes: [scopeArea('billing', { limit: 'payments' })],
  routes: [
    ...invoiceRoutes,
    ...customerRoutes,
    ...planRoutes,
    ...subscriptionRoutes,
    ...ofAnyAccount([...invoiceRoutes, ...subscriptionRoutes], {
      'billing.listInvoices': ['operator.listInvoices', 'List the invoices of any account'],
      'billing.getInvoice': ['operator.getInvoice', 'Read an invoice of any account'],
      'billing.listSubscriptions': ['operator.listSubscriptions', 'List the subscriptions of any account'],
      'billing.getSubscription': ['operator.getSubscription', 'Read a subscription of any account'],
    }),
  ],
  jobs: [giveBackJob, renewJob, renewAloneJob, remindJob, mailInvoiceJob],
  events: [...Object.values(invoiceEvents), ...Object.values(subscriptionEvents)],
  chores: [overdueChore],
  hooks: invoiceHooks,
  finders: [
    finder({
      kind: 'invoice',
      prefix: 'invoice',
      table: 'billing.invoices',
      status: 't.status',
      words: ['number', 'reference'],
      path: (id) => `/billing/invoices/${idOf('invoice', id)}`,
    }),
  ],
}
