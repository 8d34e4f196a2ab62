// SPDX-License-Identifier: Apache-2.0
// The door of the SMS area.

import type { App } from '../../platform/app.ts'
import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { planLimit } from '../../platform/limits/plan-limits.ts'
import { ofAnyAccount } from '../../platform/operator/any-account.ts'
import { history } from '../../platform/operator/history.ts'
import { analyticsRoutes } from './analytics.ts'
import { batchJob } from './batches/complete.ts'
import type { Intake } from './carrier.ts'
import { noticeHooks } from './carriers/http-notices.ts'
import { optOutRoutes } from './consent/routes.ts'
import { strayChore } from './delivery/queue.ts'
import { receiptChores, takeReceipt } from './delivery/receipts.ts'
import { submitJobs } from './delivery/submit.ts'
import { smsEvents } from './events.ts'
import { joinJob } from './inbound/join.ts'
import { takeAnswer } from './inbound/replies.ts'
import { takeIncoming } from './inbound/take.ts'
import { optOutHook } from './links/opt-out-links.ts'
import { shortLinkChore, shortLinkHook } from './links/short-links.ts'
import { networkOf } from './network/network.ts'
import { numberRoutes } from './numbers/routes.ts'
import { accountRoutes } from './operator/accounts.ts'
import { bindRoutes } from './operator/binds.ts'
import { carrierRoutes } from './operator/carrier-routes.ts'
import { countryRoutes } from './operator/countries.ts'
import { messageFinders } from './operator/find.ts'
import { assignedNumberRoutes } from './operator/numbers.ts'
import { reviewRoutes } from './operator/senders.ts'
import { portedNumberRoutes } from './ported/routes.ts'
import { smsCharges } from './prices/pricing.ts'
import { spendByCountry } from './prices/spending.ts'
import { textChore } from './retention.ts'
import { messageRoutes } from './routes.ts'
import { behaviourRoutes, followBehaviours } from './sandbox/behaviour.ts'
import { handsetRoutes } from './sandbox/handset.ts'
import { sandboxRoutes } from './sandbox/inbound.ts'
import { messageCentre } from './sandbox/message-centre.ts'
import { senderRoutes } from './senders/routes.ts'
import { timelineRoutes } from './timeline.ts'

export const sms: Area = {
  name: 'sms',
  chapters: {
    sms: {
      title: 'SMS',
      about: 'Send and receive texts: one or many, now or later, with opt-outs, sender ids and numbers of your own.',
    },
  },
  uses: ['numbers'],
  scopes: [scopeArea('sms', { limit: 'sms' })],
  limits: [planLimit('sms')],
  topics: ['sms', 'sms-permissions'],
  partitions: [{ table: 'sms.messages', period: 'month', ahead: 2, keepDays: null, fill: 50 }],
  simulators: [messageCentre],
  histories: [
    history({
      name: 'sms',
      prefix: 'sms',
      from: 'sms.messages t',
      id: 't.id',
      order: 't.id',
      status: 't.status',
      createdAt: 't.created_at',
      by: 't.recipient',
      knownBy: 'phone',
    }),
  ],
  routes: [
    ...messageRoutes,
    ...timelineRoutes,
    ...analyticsRoutes,
    ...optOutRoutes,
    ...senderRoutes,
    ...numberRoutes,
    ...assignedNumberRoutes,
    ...bindRoutes,
    ...carrierRoutes,
    ...reviewRoutes,
    ...countryRoutes,
    ...accountRoutes,
    ...portedNumberRoutes,
    ...sandboxRoutes,
    ...handsetRoutes,
    ...behaviourRoutes,
    ...ofAnyAccount([...messageRoutes, ...timelineRoutes], {
      'sms.list': ['operator.listMessages', 'List the texts of any account'],
      'sms.get': ['operator.getMessage', 'Read a text of any account'],
      'sms.timeline': ['operator.getMessageTimeline', 'Follow a text of any account'],
    }),
  ],
  jobs: [...submitJobs, joinJob, batchJob],
  events: Object.values(smsEvents),
  answers: { [smsEvents.received.name]: takeAnswer },
  chores: [...receiptChores, strayChore, textChore, shortLinkChore],
  charges: smsCharges,
  spendByCountry,
  finders: messageFinders,
  hooks: [optOutHook, shortLinkHook, ...noticeHooks(intakeOf)],
  health: (app) => networkOf(app).health(),
  start: (app) => {
    followBehaviours(app)
    return app.config.PAMOJA_ROLES.includes('carriers')
      ? networkOf(app).start(intakeOf(app), submitJobs)
      : networkOf(app).follow()
  },
}

function intakeOf(app: App): Intake {
  return {
    receipt: (receipt) => takeReceipt(app, receipt),
    incoming: (message) => takeIncoming(app, message),
  }
}

/** Takeover of a failed text by another channel. */
export { fallbackOf, finishFallback, smsFallback } from './fallback/fallback.ts'
export type { Sending } from './sending/accept.ts'
/** Sending one text for an account, by another area. */
export { sendForAccount } from './sending/send-for-account.ts'
