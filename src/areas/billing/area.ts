// SPDX-License-Identifier: Apache-2.0
// The door of the billing area.
import type { Area } from '../../platform/area.ts'
import { invoiceEvents, subscriptionEvents } from './events.ts'
import { planRoutes } from './plans/routes.ts'

export const billing: Area = {
  name: 'billing',
  routes: [...planRoutes],
  events: [...Object.values(invoiceEvents), ...Object.values(subscriptionEvents)],
}
