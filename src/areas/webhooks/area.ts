// SPDX-License-Identifier: Apache-2.0
// The door of the webhooks area: endpoints, their deliveries, and the pages and streams beside them.
import type { Area } from '../../platform/area.ts'
import { deliveryRoutes } from './deliveries.ts'
import { deliver } from './delivery.ts'
import { endpointRoutes } from './endpoints.ts'
import { webhookEvents } from './events.ts'
import { webhookChores } from './history.ts'
import { listenWebhooks } from './listen.ts'
import { mountPortal, openPortal } from './portal.ts'
import { replay, replayWindow } from './replays.ts'

export const webhooks: Area = {
  name: 'webhooks',
  routes: [...endpointRoutes, ...deliveryRoutes, replayWindow, listenWebhooks, openPortal],
  jobs: [deliver, replay],
  chores: webhookChores,
  events: Object.values(webhookEvents),
  mount: mountPortal,
}

export { isSignedBy, secretsFor } from './receiving.ts'
export { callbackSecret } from './secrets.ts'
