// SPDX-License-Identifier: Apache-2.0
// The door of the messenger area.

import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { planLimit } from '../../platform/limits/plan-limits.ts'
import { ofAnyAccount } from '../../platform/operator/any-account.ts'
import { history } from '../../platform/operator/history.ts'
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
import { submitJob } from './submit.ts'
import { templateChore } from './templates/follow.ts'
import { templateRoutes } from './templates/routes.ts'

export { codeForAccount } from './code-for-account.ts'

export const messenger: Area = {
  name: 'messenger',
  uses: ['sms', 'numbers'],
  chapters: {
    messenger: {
      title: 'Messenger',
      about: 'Messages to and from users of a chat messenger, with media and templates.',
    },
  },
  scopes: [scopeArea('messenger', { limit: 'messenger' })],
  limits: [planLimit('messenger', '130429')],
  histories: [
    history({
      name: 'messages',
      prefix: 'messengerMessage',
      from: 'messenger.messages t',
      id: 't.id',
      order: 't.id',
      status: 't.status',
      createdAt: 't.created_at',
      by: 't.recipient',
      knownBy: 'phone',
    }),
  ],
  routes: [
    ...mediaRoutes,
    ...templateRoutes,
    ...peopleRoutes,
    ...messageRoutes,
    ...channelRoutes,
    ...sandboxRoutes,
    ...handsetRoutes,
    ...ofAnyAccount(messageRoutes, {
      'messenger.list': ['operator.listChatMessages', 'List the chat messages of any account'],
      'messenger.get': ['operator.getChatMessage', 'Read a chat message of any account'],
    }),
  ],
  hooks: [ingressHook],
  jobs: [submitJob, fallbackJob, fromSmsJob],
  events: Object.values(messengerEvents),
  chores: [templateChore],
  simulators: [simulatedMessenger],
  charges: messengerCharges,
}
