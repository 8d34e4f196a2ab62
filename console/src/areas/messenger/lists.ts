// SPDX-License-Identifier: Apache-2.0
// List of chat messages.
import { messengerList, messengerListConversations, messengerListOptIns, messengerOptOut } from '#sdk/operations.ts'
import { api } from '../../api.ts'
import { removing } from '../../kit/dialogs.tsx'
import { type ListOf, state, textOf } from '../../kit/list-page.tsx'
import { t } from '../../words.ts'
import { optIn, write } from './forms.ts'
import { saidIn } from './said.ts'

export const chats: ListOf = {
  title: 'Chats',
  icon: 'chat',
  deeds: [{ name: 'Send a message', icon: 'send', isMain: true, scope: 'messenger:write', form: write }],
  path: messengerList.at(),
  keyField: 'message_id',
  open: ['/chats/', 'message_id'],
  live: 'messenger.',
  dates: ['from_date', 'to_date'],
  sorts: true,
  columns: [
    { name: 'Time', field: 'accepted_at', as: 'time', isDay: true, priority: 1 },
    {
      ...{ name: 'Phone', field: 'to', priority: 1, card: 'title' },
      text: (_to, { direction, from, to }) => textOf(direction === 'inbound' ? from : to),
    },
    {
      ...{ name: 'Text', field: 'text.body', priority: 1, card: 'sub', grows: true },
      text: (_body, row) => saidIn(row),
    },
    { name: 'Kind', field: 'type', as: 'words', priority: 3 },
    { name: 'Direction', field: 'direction', as: 'words', priority: 2 },
    state,
  ],
  filters: [
    { name: 'status', label: 'State', among: ['accepted', 'sent', 'delivered', 'read', 'failed', 'received'] },
    { name: 'direction', label: 'Direction', among: ['outbound', 'inbound'] },
    { name: 'to', label: 'To' },
  ],
}

export const conversations: ListOf = {
  title: 'Conversations',
  icon: 'inbox',
  path: messengerListConversations.at(),
  keyField: 'phone',
  open: ['/conversations/', 'phone'],
  live: 'messenger.',
  columns: [
    { name: 'Name', field: 'name', orField: 'phone', priority: 1, card: 'title', grows: true },
    { name: 'Phone', field: 'phone', as: 'mono', priority: 2, card: 'sub' },
    { name: 'Last message from user', field: 'last_inbound_at', as: 'time', priority: 1, card: 'end' },
    { name: 'Messaging window until', field: 'window_expires_at', as: 'time', priority: 3 },
    { name: 'Opted out', field: 'opted_out', as: 'flag', priority: 4 },
  ],
  none: { title: 'No conversations', advice: 'Users who write to your number are listed here.' },
}

export const optIns: ListOf = {
  title: 'Opt-ins',
  icon: 'ticks',
  path: messengerListOptIns.at(),
  keyField: 'phone',
  open: ['/opt-ins/', 'phone'],
  deeds: [{ name: 'Opt in a person', icon: 'plus', isMain: true, scope: 'messenger:write', form: optIn }],
  columns: [
    { name: 'Phone', field: 'phone', as: 'mono', priority: 1, card: 'title' },
    { name: 'Source', field: 'source', priority: 2, card: 'sub', grows: true },
    { name: 'Agreed', field: 'opted_in_at', as: 'time', priority: 2, card: 'end' },
    state,
  ],
  actions: [
    {
      name: 'Opt out',
      isDanger: true,
      scope: 'messenger:write',
      asks: ({ phone }) => removing(textOf(phone), t('Nothing more is sent to this number.')),
      run: ({ phone }) => messengerOptOut(api, { phone: textOf(phone) }),
    },
  ],
  none: { title: 'No opt-ins', advice: 'Users who have opted in to your messages are listed here.' },
}
