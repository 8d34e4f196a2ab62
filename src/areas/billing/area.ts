// SPDX-License-Identifier: Apache-2.0
// The door of the billing area: so far, what it tells customers of.
import type { Area } from '../../platform/area.ts'
import { invoiceEvents, subscriptionEvents } from './events.ts'

export const billing: Area = {
  name: 'billing',
  routes: [],
  events: [...Object.values(invoiceEvents), ...Object.values(subscriptionEvents)],
}
