// SPDX-License-Identifier: Apache-2.0
// What operators of the installation have in the console, in a navigation of its own.
import { type Area, list, page } from '../../area.tsx'

/** Addresses of the kinds of connections, each with a list, a form and a page. */
const slugs = ['providers', 'carriers', 'trunks', 'ussd-networks', 'ussd-gateways', 'channels', 'registries']
const connection = page(() => import('./connection.tsx').then(({ ConnectionPages }) => ConnectionPages))

export const area: Area = {
  entries: [
    { group: '', order: 10, to: '/operator', name: 'Overview', icon: 'home', key: 'o' },
    { group: '', order: 20, to: '/operator/accounts', name: 'Accounts', icon: 'users', key: 'a' },
    {
      ...{ group: 'Routing', order: 10, to: '/operator/carriers', name: 'Carriers', icon: 'antenna', key: 'c' },
      badge: { count: 'carriers_down', words: '{count} down', tone: 'bad' },
    },
    { group: 'Routing', order: 20, to: '/operator/routes', name: 'Routes', icon: 'route' },
    { group: 'Routing', order: 30, to: '/operator/prices', name: 'Prices', icon: 'tag' },
    { group: 'Routing', order: 40, to: '/operator/numbers', name: 'Numbers', icon: 'hash' },
    {
      ...{ group: 'Routing', order: 50, to: '/operator/senders', name: 'Senders to approve', icon: 'message' },
      badge: { count: 'senders_to_approve', words: '{count} to approve', tone: 'warn' },
    },
    { group: 'Routing', order: 45, to: '/operator/ported', name: 'Ported numbers', icon: 'hash' },
    { group: 'Routing', order: 60, to: '/operator/voice-numbers', name: 'Numbers for calls', icon: 'hash' },
    { group: 'Routing', order: 70, to: '/operator/countries', name: 'Countries', icon: 'globe' },
    { group: 'Connect', order: 10, to: '/operator/providers', name: 'Payment providers', icon: 'coins' },
    { group: 'Connect', order: 20, to: '/operator/trunks', name: 'SIP trunks', icon: 'call' },
    { group: 'Connect', order: 30, to: '/operator/ussd-networks', name: 'USSD networks', icon: 'keypad' },
    { group: 'Connect', order: 40, to: '/operator/ussd-gateways', name: 'USSD gateways', icon: 'keypad' },
    { group: 'Connect', order: 50, to: '/operator/channels', name: 'Messenger channels', icon: 'chat' },
    { group: 'Connect', order: 60, to: '/operator/registries', name: 'Identity registries', icon: 'shield' },
    { group: 'Money', order: 5, to: '/operator/plans', name: 'Plans', icon: 'layers' },
    { group: 'Money', order: 7, to: '/operator/rates', name: 'Prices of calls', icon: 'tag' },
    { group: 'Money', order: 10, to: '/operator/statements', name: 'Reconciliation', icon: 'scale' },
    {
      ...{ group: 'Money', order: 20, to: '/operator/discrepancies', name: 'Discrepancies', icon: 'warn' },
      badge: { count: 'discrepancies_open', words: '{count} open', tone: 'warn' },
    },
    {
      ...{ group: 'Money', order: 30, to: '/operator/refunds', name: 'Refunds in doubt', icon: 'undo' },
      badge: { count: 'refunds_in_doubt', words: '{count} in doubt', tone: 'warn' },
    },
    {
      ...{ group: 'Money', order: 40, to: '/operator/payouts', name: 'Payouts in doubt', icon: 'out' },
      badge: { count: 'payouts_in_doubt', words: '{count} in doubt', tone: 'warn' },
    },
    { group: 'Money', order: 50, to: '/operator/debts', name: 'Debts', icon: 'scale' },
    {
      ...{ group: 'Operations', order: 10, to: '/operator/failed', name: 'Failed jobs', icon: 'warn', key: 'f' },
      badge: { count: 'jobs_failed', words: '{count} failed', tone: 'bad' },
    },
    { group: 'Operations', order: 20, to: '/operator/audit', name: 'Audit of the installation', icon: 'book' },
  ],
  pages: {
    ...Object.fromEntries(
      slugs.flatMap((slug) => [`operator/${slug}`, `operator/${slug}/*`].map((at) => [at, connection])),
    ),
    operator: page(() => import('./operator.tsx').then(({ OperatorHome }) => OperatorHome)),
    'operator/accounts': list(() => import('./lists.ts').then((all) => all.accounts)),
    'operator/routes': list(() => import('./lists.ts').then((all) => all.routes)),
    'operator/prices': list(() => import('./lists.ts').then((all) => all.prices)),
    'operator/numbers': list(() => import('./lists.ts').then((all) => all.numbers)),
    'operator/senders': list(() => import('./lists.ts').then((all) => all.senders)),
    'operator/statements': list(() => import('./lists.ts').then((all) => all.statements)),
    'operator/discrepancies': list(() => import('./lists.ts').then((all) => all.discrepancies)),
    'operator/refunds': list(() => import('./lists.ts').then((all) => all.refunds)),
    'operator/payouts': list(() => import('./lists.ts').then((all) => all.payouts)),
    'operator/debts': list(() => import('./lists.ts').then((all) => all.debts)),
    'operator/failed': list(() => import('./lists.ts').then((all) => all.failed)),
    'operator/plans': list(() => import('./business.ts').then((all) => all.plans)),
    'operator/countries': list(() => import('./business.ts').then((all) => all.countries)),
    'operator/rates': list(() => import('./business.ts').then((all) => all.rates)),
    'operator/voice-numbers': list(() => import('./business.ts').then((all) => all.voiceNumbers)),
    'operator/ported': page(() => import('./ported.tsx').then(({ PortedNumbers }) => PortedNumbers)),
    'operator/audit': list(() => import('./business.ts').then((all) => all.audit)),
    'operator/plans/*': page(() => import('./plan.tsx').then(({ PlanPage }) => PlanPage)),
    'operator/prices/import': page(() => import('./price-import.tsx').then(({ PriceImport }) => PriceImport)),
    'operator/statements/new': page(() => import('./statement.tsx').then(({ NewStatement }) => NewStatement)),
    'operator/statements/*': page(() => import('./statement.tsx').then(({ StatementPage }) => StatementPage)),
    'operator/accounts/*': page(() => import('./account.tsx').then(({ AccountPages }) => AccountPages)),
    'operator/accounts/*/*': page(() => import('./account.tsx').then(({ AccountPages }) => AccountPages)),
    'operator/accounts/*/*/*/*': page(() => import('./account.tsx').then(({ AccountPages }) => AccountPages)),
    'operator/accounts/*/*/*': page(() => import('./account.tsx').then(({ AccountPages }) => AccountPages)),
  },
}
