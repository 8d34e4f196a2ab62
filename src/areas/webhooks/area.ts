// SPDX-License-Identifier: Apache-2.0
// The door of the webhooks area: endpoints, their deliveries, and the pages and streams beside them.
import type { Area } from '../../platform/area.ts'
import { deliver } from './deliveries/due.ts'
import { webhookChores } from './deliveries/history.ts'
import { replay, replayWindow } from './deliveries/replays.ts'
import { deliveryRoutes } from './deliveries/routes.ts'
import { endpointRoutes } from './endpoints/routes.ts'
import { webhookEvents } from './events.ts'
import { listenWebhooks } from './listen.ts'
import { openPortal, portalHooks } from './portal.ts'

export const webhooks: Area = {
  name: 'webhooks',
  routes: [...endpointRoutes, ...deliveryRoutes, replayWindow, listenWebhooks, openPortal],
  jobs: [deliver, replay],
  chores: webhookChores,
  events: Object.values(webhookEvents),
  hooks: portalHooks,
}

export { callbackSecret, inForce } from './endpoints/secrets.ts'
export { isSignedBy, secretsFor } from './receiving.ts'
