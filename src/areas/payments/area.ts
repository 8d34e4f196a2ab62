// SPDX-License-Identifier: Apache-2.0
// The door of the payments area: so far, what it tells customers of.
import type { Area } from '../../platform/area.ts'
import { fraudEvents, paymentEvents, payoutEvents, refundEvents } from './events.ts'

export const payments: Area = {
  name: 'payments',
  routes: [],
  events: [paymentEvents, refundEvents, payoutEvents, fraudEvents].flatMap((group) => Object.values(group)),
}

export { Customer, completedPayment, moneyFields, moneyHead, Payment } from './events.ts'
