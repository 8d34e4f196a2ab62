// SPDX-License-Identifier: Apache-2.0
// What billing brings to the console: invoices, subscriptions, plans.
import { type Area, list, page } from '../../area.tsx'

export const area: Area = {
  entries: [
    {
      ...{ group: 'Money', order: 70, to: '/invoices', name: 'Invoices', icon: 'file', scope: 'billing:read' },
      badge: { count: 'invoices_overdue', words: '{count} overdue', tone: 'bad', rows: '?overdue=true' },
    },
    { group: 'Money', order: 80, to: '/subscriptions', name: 'Subscriptions', icon: 'again', scope: 'billing:read' },
    { group: 'Money', order: 85, to: '/plans', name: 'Plans', icon: 'layers', scope: 'billing:read' },
  ],
  pages: {
    invoices: list(() => import('./lists.ts').then(({ invoices }) => invoices)),
    'invoices/*': page(() => import('./invoice.tsx').then(({ InvoicePage }) => InvoicePage)),
    subscriptions: list(() => import('./lists.ts').then(({ subscriptions }) => subscriptions)),
    'subscriptions/*': page(() => import('./subscription.tsx').then(({ SubscriptionPage }) => SubscriptionPage)),
    plans: list(() => import('./plans.tsx').then(({ plans }) => plans)),
    'plans/*': page(() => import('./plans.tsx').then(({ PlanPage }) => PlanPage)),
    'invoices/new': page(() => import('./new-invoice.tsx').then(({ NewInvoice }) => NewInvoice)),
  },
  records: { inv: '/invoices', sub: '/subscriptions', plan: '/plans' },
}
