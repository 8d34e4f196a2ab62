// SPDX-License-Identifier: Apache-2.0
// The door of the payments area.
import type { Area } from '../../platform/area.ts'
import { declareTaker, mountCallbacks } from './callbacks.ts'
import { fraudEvents, paymentEvents, payoutEvents, refundEvents } from './events.ts'
import { gatewayOf } from './gateway.ts'
import { operatorRoutes } from './operator.ts'
import { spreadJob } from './payouts/bulk.ts'
import { takeResult } from './payouts/results.ts'
import { payoutRoutes } from './payouts/routes.ts'
import { batchedPayoutJob, payoutJob } from './payouts/submit.ts'
import { mountReceipts } from './receipts/page.ts'
import { takeRefund } from './refunds/callbacks.ts'
import { refundOperatorRoutes } from './refunds/operator.ts'
import { refundRoutes } from './refunds/routes.ts'
import { refundJob } from './refunds/submit.ts'
import { paymentRoutes } from './routes.ts'
import { watchJob } from './submit.ts'
import { waitingOf } from './waiting.ts'

declareTaker('refund', takeRefund)
declareTaker('payout', takeResult)

export const payments: Area = {
  name: 'payments',
  routes: [...paymentRoutes, ...refundRoutes, ...payoutRoutes, ...operatorRoutes, ...refundOperatorRoutes],
  jobs: [watchJob, refundJob, payoutJob, batchedPayoutJob, spreadJob],
  events: [paymentEvents, refundEvents, payoutEvents, fraudEvents].flatMap((group) => Object.values(group)),
  mount: (http, app) => {
    mountCallbacks(http, app)
    mountReceipts(http, app)
  },
  start: async (app) => {
    const stop = await gatewayOf(app).start()
    return async () => {
      waitingOf(app).stop()
      await stop()
    }
  },
}

export { accept, currencyOf, microsOf, PaymentCreate, sendNow } from './create.ts'
export { Customer, completedPayment, moneyFields, moneyHead, Payment } from './events.ts'
export { requireCollectable } from './methods.ts'
export { paymentUuid, recordOf } from './payment.ts'
export { findPayouts } from './payouts/store.ts'
export { declarePurpose, type Purpose } from './purpose.ts'
export { accepting, checkCallback } from './routes.ts'
export { findPayments, type PaymentRow } from './store.ts'
