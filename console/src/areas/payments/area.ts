// SPDX-License-Identifier: Apache-2.0
// What payments bring to the console: money that comes in, goes out and goes back, and what is done against fraud.
import { type Area, list, page } from '../../area.tsx'

export const area: Area = {
  entries: [
    { group: 'Money', order: 10, to: '/payments', name: 'Payments', icon: 'card', scope: 'payments:read', key: 'p' },
    { group: 'Money', order: 15, to: '/links', name: 'Payment links', icon: 'link', scope: 'payments:read' },
    { group: 'Money', order: 20, to: '/ask', name: 'Request a payment', icon: 'coins', scope: 'payments:write' },
    {
      ...{ group: 'Money', order: 30, to: '/payouts', name: 'Payouts', icon: 'out', scope: 'payouts:read', key: 'u' },
      badge: { count: 'payouts_to_approve', words: '{count} to approve', tone: 'warn', rows: '?in_review=true' },
    },
    { group: 'Money', order: 40, to: '/refunds', name: 'Refunds', icon: 'undo', scope: 'payments:read' },
    {
      ...{ group: 'Money', order: 50, to: '/disputes', name: 'Disputes', icon: 'scale', scope: 'payments:read' },
      badge: { count: 'disputes_open', words: '{count} open', tone: 'warn', rows: '?status=open' },
    },
    { group: 'Money', order: 55, to: '/cards', name: 'Saved cards', icon: 'card', scope: 'payments:read' },
    { group: 'Verification', order: 30, to: '/blocked', name: 'Blocked payers', icon: 'ban', scope: 'fraud:read' },
    { group: 'Verification', order: 20, to: '/rules', name: 'Fraud rules', icon: 'shield', scope: 'fraud:read' },
  ],
  pages: {
    payments: list(() => import('./lists.tsx').then(({ payments }) => payments)),
    'payments/*': page(() => import('./payment.tsx').then(({ PaymentPage }) => PaymentPage)),
    ask: page(() => import('./ask.tsx').then(({ AskForPayment }) => AskForPayment)),
    payouts: list(() => import('./lists.tsx').then(({ payouts }) => payouts)),
    'payouts/*': page(() => import('./payout.tsx').then(({ PayoutPage }) => PayoutPage)),
    'payout-batches/*': page(() => import('./batch.tsx').then(({ BatchPage }) => BatchPage)),
    links: list(() => import('./links.tsx').then(({ links }) => links)),
    'links/*': page(() => import('./links.tsx').then(({ LinkPage }) => LinkPage)),
    cards: list(() => import('./links.tsx').then(({ cards }) => cards)),
    blocked: list(() => import('./blocked.tsx').then(({ blocked }) => blocked)),
    'blocked/*': page(() => import('./blocked.tsx').then(({ BlockedPage }) => BlockedPage)),
    refunds: list(() => import('./lists.tsx').then(({ refunds }) => refunds)),
    'refunds/*': page(() => import('./refund.tsx').then(({ RefundPage }) => RefundPage)),
    disputes: list(() => import('./lists.tsx').then(({ disputes }) => disputes)),
    'disputes/*': page(() => import('./dispute.tsx').then(({ DisputePage }) => DisputePage)),
    rules: list(() => import('./lists.tsx').then(({ rules }) => rules)),
    'rules/*': page(() => import('./rule.tsx').then(({ RulePage }) => RulePage)),
  },
  records: {
    ...{ pay: '/payments', po: '/payouts', pob: '/payout-batches', re: '/refunds', dsp: '/disputes', frl: '/rules' },
    ...{ plink: '/links', blk: '/blocked' },
  },
}
