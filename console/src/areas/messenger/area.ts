// SPDX-License-Identifier: Apache-2.0
// What chats bring to the console.
import { type Area, list, page } from '../../area.tsx'

export const area: Area = {
  entries: [
    { group: 'Chat', order: 30, to: '/chats', name: 'Chats', icon: 'chat', scope: 'messenger:read' },
    { group: 'Chat', order: 31, to: '/conversations', name: 'Conversations', icon: 'inbox', scope: 'messenger:read' },
    {
      ...{ group: 'Chat', order: 32, to: '/chat-templates', name: 'Chat templates', icon: 'template' },
      scope: 'messenger:read',
    },
    { group: 'Chat', order: 33, to: '/opt-ins', name: 'Opt-ins', icon: 'ticks', scope: 'messenger:read' },
    { group: 'Chat', order: 34, to: '/media', name: 'Pictures and files', icon: 'image', scope: 'messenger:read' },
  ],
  pages: {
    chats: list(() => import('./lists.ts').then(({ chats }) => chats)),
    'chats/*': page(() => import('./chat.tsx').then(({ ChatPage }) => ChatPage)),
    conversations: list(() => import('./lists.ts').then(({ conversations }) => conversations)),
    'conversations/*': page(() => import('./conversation.tsx').then(({ ConversationPage }) => ConversationPage)),
    'chat-templates': list(() => import('./templates.tsx').then(({ templates }) => templates)),
    'chat-templates/*': page(() => import('./templates.tsx').then(({ ChatTemplatePage }) => ChatTemplatePage)),
    'opt-ins': list(() => import('./lists.ts').then(({ optIns }) => optIns)),
    'opt-ins/*': page(() => import('./media.tsx').then(({ OptInPage }) => OptInPage)),
    media: page(() => import('./media.tsx').then(({ Media }) => Media)),
    'media/*': page(() => import('./media.tsx').then(({ MediaPage }) => MediaPage)),
  },
  records: { mmsg: '/chats', tpl: '/chat-templates', media: '/media' },
}
