// SPDX-License-Identifier: Apache-2.0
// What the account itself brings to the console: keys, requests, usage, sessions and the audit log.
import { type Area, list, page } from '../../area.tsx'

export const area: Area = {
  entries: [
    { group: 'Build', order: 30, to: '/requests', name: 'Requests', icon: 'list', scope: 'logs:read', key: 'r' },
    { group: 'Build', order: 40, to: '/keys', name: 'Keys', icon: 'key', scope: 'keys:read' },
    { group: 'Build', order: 50, to: '/usage', name: 'Usage and limits', icon: 'gauge', scope: 'account:read' },
    { group: 'People', order: 50, to: '/account', name: 'Account', icon: 'gear', scope: 'account:read' },
    { group: 'People', order: 20, to: '/sessions', name: 'Sessions', icon: 'desktop' },
    { group: 'People', order: 40, to: '/audit', name: 'Audit log', icon: 'book', scope: 'account:read' },
  ],
  pages: {
    requests: list(() => import('./lists.ts').then(({ requests }) => requests)),
    'requests/*': page(() => import('./request.tsx').then(({ RequestPage }) => RequestPage)),
    keys: page(() => import('./keys.tsx').then(({ Keys }) => Keys)),
    'keys/*': page(() => import('./key.tsx').then(({ KeyPage }) => KeyPage)),
    account: page(() => import('./account.tsx').then(({ AccountPage }) => AccountPage)),
    usage: page(() => import('./usage.tsx').then(({ UsagePage }) => UsagePage)),
    sessions: page(() => import('./sessions.tsx').then(({ Sessions }) => Sessions)),
    audit: list(() => import('./lists.ts').then(({ audit }) => audit)),
  },
  records: { req: '/requests', key: '/keys' },
}
