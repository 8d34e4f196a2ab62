// SPDX-License-Identifier: Apache-2.0
// The door of the SMS area.

import type { App } from '../../platform/app.ts'
import type { Area } from '../../platform/area.ts'
import { analyticsRoutes } from './analytics.ts'
import { batchJob } from './batches.ts'
import { behaviourRoutes } from './behaviour.ts'
import type { Intake } from './carrier.ts'
import { mountNotices } from './carriers/http-notices.ts'
import { smsEvents } from './events.ts'
import { joinJob, takeIncoming } from './inbound.ts'
import { numberRoutes } from './inbound-numbers.ts'
import { strayChore } from './lanes.ts'
import { networkOf } from './network.ts'
import { operatorRoutes } from './operator.ts'
import { mountOptOutPage } from './opt-out-links.ts'
import { optOutRoutes } from './opt-outs.ts'
import { portedNumberRoutes } from './ported-numbers.ts'
import { receiptChores, takeReceipt } from './receipts.ts'
import { takeAnswer } from './replies.ts'
import { textChore } from './retention.ts'
import { messageRoutes } from './routes.ts'
import { sandboxRoutes } from './sandbox.ts'
import { reviewRoutes } from './sender-review.ts'
import { senderRoutes } from './senders.ts'
import { submitJobs } from './submit.ts'

export const sms: Area = {
  name: 'sms',
  routes: [
    ...messageRoutes,
    ...analyticsRoutes,
    ...optOutRoutes,
    ...senderRoutes,
    ...numberRoutes,
    ...operatorRoutes,
    ...reviewRoutes,
    ...portedNumberRoutes,
    ...sandboxRoutes,
    ...behaviourRoutes,
  ],
  jobs: [...submitJobs, joinJob, batchJob],
  events: Object.values(smsEvents),
  answers: { [smsEvents.received.name]: takeAnswer },
  chores: [...receiptChores, strayChore, textChore],
  mount: (http, app) => {
    mountOptOutPage(http, app)
    mountNotices(http, app, intakeOf(app))
  },
  start: async (app) =>
    app.config.PAMOJA_ROLES.includes('carriers')
      ? networkOf(app).start(intakeOf(app), submitJobs)
      : async () => undefined,
}

function intakeOf(app: App): Intake {
  return {
    receipt: (receipt) => takeReceipt(app, receipt),
    incoming: (message) => takeIncoming(app, message),
  }
}
