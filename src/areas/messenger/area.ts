// SPDX-License-Identifier: Apache-2.0
// The door of the messenger area.

import { uuidOf } from '../../kernel/ids.ts'
import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { planLimit } from '../../platform/limits/plan-limits.ts'
import { ofAnyAccount } from '../../platform/operator/any-account.ts'
import { erasable } from '../../platform/operator/erasing.ts'
import { history } from '../../platform/operator/history.ts'
import { traffic } from '../../platform/operator/traffic.ts'
import { simulatedMessenger } from './carriers/sandbox.ts'
import { messengerEvents } from './events.ts'
import { fallbackJob } from './fallback.ts'
import { fromSmsJob } from './from-sms.ts'
import { ingressHook } from './ingress.ts'
import { mediaRoutes } from './media/routes.ts'
import { channelRoutes } from './operator/channels.ts'
import { peopleRoutes } from './people.ts'
import { messengerCharges } from './pricing.ts'
import { messageRoutes } from './routes.ts'
import { handsetRoutes } from './sandbox/handset.ts'
import { sandboxRoutes } from './sandbox/inbound.ts'
import { providerRoutes } from './sandbox/provider.ts'
import { submitJob } from './submit.ts'
import { templateChore } from './templates/follow.ts'
import { templateRoutes } from './templates/routes.ts'

export { chatForAccount, chatPrices, outcomesOfChats } from './chat-for-account.ts'
export { codeForAccount } from './code-for-account.ts'
export { contactsOf, forgetOptIn, optIn, optManyIn, optOut } from './consent.ts'
export { priceOf as chatPrice } from './pricing.ts'
export { TemplateUse as ChatTemplate } from './schema.ts'
export { isOpen as isWindowOpen, send as sendChat, sendingOf as chatSending } from './send.ts'

export const messenger: Area = {
  name: 'messenger',
  uses: ['sms', 'numbers'],
  tools: {
    named: ['messenger.send', 'messenger.list'],
    unasked: ['messenger.createTemplate', 'messenger.changeTemplate'],
  },
  chapters: {
    messenger: {
      title: 'Messenger',
      about: 'Messages to and from users of a chat messenger, with media and templates.',
    },
  },
  scopes: [scopeArea('messenger', { limit: 'messenger' })],
  limits: [planLimit('messenger', '130429')],
  traffic: [traffic({ name: 'chat', scope: 'messenger:read', from: 'messenger.messages', at: 't.created_at' })],
  histories: [
    history({
      ...{ name: 'messages', kind: 'chat', scope: 'messenger:read' },
      ...{ from: 'messenger.messages t', id: 't.id', order: 't.id', status: 't.status', createdAt: 't.created_at' },
      ...{ title: `coalesce(t.content ->> 'body', t.template, t.type)`, path: (id) => `/messenger/${id}` },
      text: `coalesce(t.content ->> 'body', t.content ->> 'caption', t.content ->> 'text', t.content -> 'button_reply' ->> 'title', t.content -> 'list_reply' ->> 'title', t.content -> 'body' ->> 'text', t.template)`,
      ...{
        mediaType: `case when t.content ? 'mime_type' or t.type in ('image', 'video', 'audio', 'document') then t.type end`,
      },
      mediaId: `case when t.type in ('image', 'video', 'audio', 'document', 'sticker') then t.content ->> 'id' end`,
      by: [
        { column: 't.recipient', knownBy: 'phones', direction: `'outbound'`, prefix: 'messengerMessage' },
        { column: 't.sender', knownBy: 'phones', direction: `'inbound'`, prefix: 'messengerMessage' },
      ],
    }),
  ],
  erasables: [
    erasable({
      ...{ kind: 'chats', table: 'messenger.messages', id: { column: 't.id', prefix: 'messengerMessage' } },
      by: [
        {
          column: 't.recipient',
          knownBy: 'phones',
          set: `content = '{}', metadata = '{}', fallback = null, recipient = 'erased'`,
        },
        { column: 't.sender', knownBy: 'phones', set: `content = '{}', metadata = '{}', sender = 'erased'` },
      ],
      when: `t.status <> 'accepted'`,
      reason: 'figures and prices stay; messages that are on their way are kept until they have arrived',
      file: {
        column: `case when t.type in ('image', 'video', 'audio', 'document', 'sticker') then t.content ->> 'id' end`,
        idOf: (id) => uuidOf('media', id),
      },
    }),
    erasable({ kind: 'chat_contacts', table: 'messenger.contacts', by: [{ column: 't.phone', knownBy: 'phones' }] }),
  ],
  routes: [
    ...mediaRoutes,
    ...templateRoutes,
    ...peopleRoutes,
    ...messageRoutes,
    ...channelRoutes,
    ...sandboxRoutes,
    ...providerRoutes,
    ...handsetRoutes,
    ...ofAnyAccount(messageRoutes, {
      'messenger.list': ['operator.listChatMessages', 'List the chat messages of any account'],
      'messenger.get': ['operator.getChatMessage', 'Get a chat message of any account'],
    }),
  ],
  hooks: [ingressHook],
  jobs: [submitJob, fallbackJob, fromSmsJob],
  events: Object.values(messengerEvents),
  chores: [templateChore],
  simulators: [simulatedMessenger],
  charges: messengerCharges,
}
