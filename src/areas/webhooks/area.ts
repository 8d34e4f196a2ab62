// SPDX-License-Identifier: Apache-2.0
// The door of the webhooks area: so far, what it tells customers of.
import type { Area } from '../../platform/area.ts'
import { deliveryRoutes } from './deliveries.ts'
import { deliver } from './delivery.ts'
import { endpointRoutes } from './endpoints.ts'
import { webhookEvents } from './events.ts'
import { webhookChores } from './history.ts'
import { listenWebhooks } from './listen.ts'
import { replay, replayWindow } from './replays.ts'

export const webhooks: Area = {
  name: 'webhooks',
  routes: [...endpointRoutes, ...deliveryRoutes, replayWindow, listenWebhooks],
  jobs: [deliver, replay],
  chores: webhookChores,
  events: Object.values(webhookEvents),
}

export { isSignedBy, secretsFor } from './receiving.ts'
