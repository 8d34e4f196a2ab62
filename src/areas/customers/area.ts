// SPDX-License-Identifier: Apache-2.0
// The door of the customers area.
import { idOf } from '../../kernel/ids.ts'
import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { finder } from '../../platform/operator/finding.ts'
import { type History, history } from '../../platform/operator/history.ts'
import { waitingRows } from '../../platform/operator/waiting.ts'
import { campaignEvents } from './campaigns/events.ts'
import { campaignRoutes } from './campaigns/routes.ts'
import { campaignJob } from './campaigns/run.ts'
import { chatJob } from './campaigns/send.ts'
import { mergeConversations, ownConversations } from './conversations/change.ts'
import { conversationEvents } from './conversations/events.ts'
import { hearPeople, leftSigns } from './conversations/hear.ts'
import { conversationRoutes } from './conversations/routes.ts'
import { wakeConversation } from './conversations/wake.ts'
import { eraseLogsJob, eraseRoutes } from './erase/erase.ts'
import { customerEvents } from './events.ts'
import { exportAll } from './export.ts'
import { importEvents } from './imports/events.ts'
import { importRoutes } from './imports/routes.ts'
import { importJob } from './imports/run.ts'
import { invent } from './invent.ts'
import { listedCustomers } from './list.ts'
import { noteHistory } from './notes.ts'
import { customerProfile } from './profile.ts'
import { customerRoutes } from './routes.ts'
import { segmentRoutes } from './segments/routes.ts'
import { customerSettings } from './settings.ts'
import { timeline } from './timeline.ts'

/** Customers with a number, address or name, for the search. */
const ownHistory: History = {
  ...history({
    ...{ name: 'customers', kind: 'customer', scope: 'customers:read' },
    from: 'customers.addresses t join customers.customers c on c.bucket = t.bucket and c.account_id = t.account_id and c.environment = t.environment and c.id = t.customer_id',
    ...{ id: 'c.id', order: 'c.id', status: `'known'`, createdAt: 'c.created_at', title: 'c.name' },
    by: [
      { column: 't.address', where: `t.kind = 'phone'`, knownBy: 'phones', prefix: 'customer' },
      { column: 't.address', where: `t.kind = 'email'`, knownBy: 'emails', prefix: 'customer' },
    ],
  }),
  async named(db, tenant, words, limit) {
    const found = await listedCustomers(db, tenant, { limit, after: null, descending: true }, { q: words })
    return found.slice(0, limit).map(({ id, name, created_at }) => ({
      ...{ id: idOf('customer', id), title: name, status: 'known', created_at },
      ...{ amount: null, currency: null },
    }))
  },
}

export const customers: Area = {
  name: 'customers',
  chapters: {
    customers: {
      title: 'Customers',
      about: 'One record of a person over all channels: profile, consents, messages and payments.',
    },
    segments: { title: 'Segments', about: 'Groups of customers, defined by a filter or a list.' },
    campaigns: {
      title: 'Campaigns',
      about: 'Messages to many customers who have consented, with a budget, quiet hours and variants.',
    },
    conversations: {
      title: 'Conversations',
      about:
        'One inbox for messages of customers on all channels: read, assign, answer, snooze and close conversations.',
    },
  },
  uses: ['email', 'messenger', 'sms'],
  scopes: [
    scopeArea('customers', { words: { erase: [] } }),
    scopeArea('campaigns', { words: { start: [] } }),
    // `own` reads and `answer` changes the conversations that are assigned to the member, and no others.
    scopeArea('conversations', { words: { own: ['read', 'write'], answer: ['write'] } }),
  ],
  settings: customerSettings,
  histories: [noteHistory, ownHistory],
  profiles: [customerProfile],
  finders: [
    finder({
      ...{ kind: 'customer', prefix: 'customer', table: 'customers.customers', scope: 'customers:read' },
      ...{ status: 'null', label: 't.name', only: 't.merged_into is null' },
      path: (id) => `/customers/${idOf('customer', id)}`,
    }),
  ],
  routes: [
    ...importRoutes,
    exportAll,
    ...customerRoutes,
    timeline,
    ...segmentRoutes,
    ...campaignRoutes,
    ...conversationRoutes,
    ...eraseRoutes,
    invent,
  ],
  jobs: [importJob, campaignJob, chatJob, wakeConversation, eraseLogsJob],
  events: [customerEvents, importEvents, campaignEvents, conversationEvents].flatMap((events) => Object.values(events)),
  waiting: [
    waitingRows({
      ...{ name: 'conversations_unread', description: 'Open conversations with unread messages' },
      ...{ from: 'customers.conversations', where: `t.state = 'open' and t.unread > 0`, scope: 'conversations:read' },
    }),
  ],
  chores: [leftSigns],
  mergeCustomers: mergeConversations,
  dealings: [ownConversations],
  start: async (app) => hearPeople(app),
}

// For billing, whose customers these are.
export { customerWith } from './change.ts'
export { customerByContact, heldCustomer } from './contact.ts'
export { listedCustomers } from './list.ts'
export { type CustomerRow, findCustomer, findCustomers } from './store.ts'
