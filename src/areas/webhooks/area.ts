// SPDX-License-Identifier: Apache-2.0
// The door of the webhooks area: endpoints, their deliveries, and the pages and streams beside them.

import { idOf } from '../../kernel/ids.ts'
import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { ofAnyAccount } from '../../platform/operator/any-account.ts'
import { finder } from '../../platform/operator/finding.ts'
import { waitingRows } from '../../platform/operator/waiting.ts'
import { deliver } from './deliveries/due.ts'
import { webhookChores } from './deliveries/history.ts'
import { replay, replayWindow } from './deliveries/replays.ts'
import { deliveryRoutes } from './deliveries/routes.ts'
import { webhookEvents } from './events.ts'
import { listenWebhooks } from './listen.ts'
import { openPortal, portalHooks } from './portal.ts'
import { endpointRoutes } from './routes.ts'

export const webhooks: Area = {
  name: 'webhooks',
  tools: {
    named: ['webhooks.list', 'webhooks.deliveries'],
    unasked: ['webhooks.update', 'webhooks.test', 'webhooks.redeliver', 'webhooks.activateSecret'],
  },
  chapters: {
    webhooks: {
      title: 'Webhooks',
      about: 'Endpoints that receive events, their deliveries, and how they are signed.',
    },
  },
  // `webhooks:manage` is another word for `webhooks:write`.
  scopes: [scopeArea('webhooks', { words: { read: ['write', 'manage'], write: ['manage'], manage: ['write'] } })],
  topics: ['webhooks'],
  partitions: [
    { table: 'webhooks.deliveries', period: 'day', ahead: 3, keepDays: 'PAMOJA_EVENT_DAYS', fill: 20 },
    { table: 'webhooks.failures', period: 'day', ahead: 3, keepDays: 'PAMOJA_EVENT_DAYS' },
  ],
  routes: [
    ...endpointRoutes,
    ...deliveryRoutes,
    replayWindow,
    listenWebhooks,
    openPortal,
    ...ofAnyAccount([...endpointRoutes, ...deliveryRoutes], {
      'webhooks.list': ['operator.listWebhooks', 'List the webhooks of any account'],
      'webhooks.deliveries': ['operator.listDeliveries', 'List the deliveries of a webhook of any account'],
      'webhooks.delivery': ['operator.getDelivery', 'Get a delivery of any account and its attempts'],
    }),
  ],
  jobs: [deliver, replay],
  chores: webhookChores,
  events: Object.values(webhookEvents),
  hooks: portalHooks,
  waiting: [
    waitingRows({
      ...{ name: 'webhooks_failing', description: 'Endpoints that fail', scope: 'webhooks:read' },
      ...{ from: 'webhooks.health', where: `t.state = 'failing'` },
    }),
  ],
  finders: [
    finder({
      kind: 'delivery',
      prefix: 'delivery',
      table: 'webhooks.deliveries',
      status: 't.status',
      parent: 't.endpoint_id',
      ...{ scope: 'webhooks:read', label: 'null' },
      path: (id, endpoint) => `/webhooks/${idOf('webhook', endpoint ?? id)}/deliveries/${idOf('delivery', id)}`,
    }),
  ],
}

export { type Answer, ask, callbackHeaders } from './ask.ts'
export { answersOf } from './deliveries/answers.ts'
export { Dispatcher } from './deliveries/dispatcher.ts'
export { inDialect } from './dialects.ts'
export {
  changeEndpoint,
  createEndpoint,
  getEndpoint,
  prepareChange,
  prepareEndpoint,
  removeEndpoint,
} from './endpoints/register.ts'
export { callbackSecret, inForce } from './endpoints/secrets.ts'
export { isSignedBy, secretsFor } from './receiving.ts'
