// SPDX-License-Identifier: Apache-2.0
// The door of the SMS area.
import type { Area } from '../../platform/area.ts'
import { analyticsRoutes } from './analytics.ts'
import { batchJob } from './batches.ts'
import { smsEvents } from './events.ts'
import { joinJob, takeIncoming } from './inbound.ts'
import { networkOf } from './network.ts'
import { operatorRoutes } from './operator.ts'
import { optOutRoutes } from './opt-outs.ts'
import { receiptChores, takeReceipt } from './receipts.ts'
import { textChore } from './retention.ts'
import { messageRoutes } from './routes.ts'
import { sandboxRoutes } from './sandbox.ts'
import { submitJob } from './submit.ts'

export const sms: Area = {
  name: 'sms',
  routes: [...messageRoutes, ...analyticsRoutes, ...optOutRoutes, ...operatorRoutes, ...sandboxRoutes],
  jobs: [submitJob, joinJob, batchJob],
  events: Object.values(smsEvents),
  chores: [...receiptChores, textChore],
  start: async (app) =>
    app.config.PAMOJA_ROLES.includes('carriers')
      ? networkOf(app).start({
          receipt: (receipt) => takeReceipt(app, receipt),
          incoming: (message) => takeIncoming(app, message),
        })
      : async () => undefined,
}

export { factsOf } from './numbers.ts'
