// SPDX-License-Identifier: Apache-2.0
// What customers bring to the console: the inbox, the list, the page of one with their story, and files of them.
import { type Area, list, page } from '../../area.tsx'

export const area: Area = {
  entries: [
    {
      ...{ group: '', order: 15, to: '/inbox', name: 'Inbox', icon: 'inbox', scope: 'conversations:own', key: 'i' },
      badge: { count: 'conversations_unread', words: '{count} not read' },
    },
    { group: '', order: 20, to: '/customers', name: 'Customers', icon: 'users', scope: 'customers:read' },
  ],
  pages: {
    inbox: page(() => import('./inbox.tsx').then(({ InboxPage }) => InboxPage)),
    'inbox/*': page(() => import('./inbox.tsx').then(({ InboxPage }) => InboxPage)),
    customers: list(() => import('./lists.tsx').then(({ customers }) => customers)),
    'customers/import': page(() => import('./import.tsx').then(({ ImportPage }) => ImportPage)),
    'customers/imports': list(() => import('./lists.tsx').then(({ imports }) => imports)),
    'customers/imports/*': page(() => import('./import.tsx').then(({ ImportedPage }) => ImportedPage)),
    'customers/*': page(() => import('./customer.tsx').then(({ CustomerPage }) => CustomerPage)),
  },
  records: { cus: '/customers', conv: '/inbox', imp: '/customers/imports' },
}
