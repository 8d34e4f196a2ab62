// SPDX-License-Identifier: Apache-2.0
// The door of the payments area.
import type { Area } from '../../platform/area.ts'
import { mountCallbacks } from './callbacks.ts'
import { mountChallenges } from './cards/challenge.ts'
import { cardRoutes } from './cards/routes.ts'
import { fraudEvents, paymentEvents, payoutEvents, refundEvents } from './events.ts'
import { gatewayOf } from './gateway.ts'
import { operatorRoutes } from './operator.ts'
import { paymentRoutes } from './routes.ts'
import { watchJob } from './submit.ts'

export const payments: Area = {
  name: 'payments',
  routes: [...paymentRoutes, ...cardRoutes, ...operatorRoutes],
  jobs: [watchJob],
  events: [paymentEvents, refundEvents, payoutEvents, fraudEvents].flatMap((group) => Object.values(group)),
  mount: (http, app) => {
    mountCallbacks(http, app)
    mountChallenges(http, app)
  },
  start: (app) => gatewayOf(app).start(),
}

export { requireSavedCard } from './cards/method.ts'
export { accept, sendNow } from './create.ts'
export { Customer, completedPayment, moneyFields, moneyHead, Payment } from './events.ts'
export { currencyOf, microsOf, type NewPayment, PaymentCreate } from './input.ts'
export { type Provider, providerFor, requireCollectable } from './methods.ts'
export { paymentUuid, recordOf } from './payment.ts'
export { declarePurpose, type Purpose } from './purpose.ts'
export { accepting, checkCallback, isAnsweredAtOnce } from './routes.ts'
export { countOfInvoice, findPayment, findPayments, findUnderWay, open as underWay, type PaymentRow } from './store.ts'
export { waysToPay } from './ways.ts'
