// SPDX-License-Identifier: Apache-2.0
// The door of the SMS area.

import type { App } from '../../platform/app.ts'
import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { planLimit } from '../../platform/limits/plan-limits.ts'
import { ofAnyAccount } from '../../platform/operator/any-account.ts'
import { erasable } from '../../platform/operator/erasing.ts'
import { history } from '../../platform/operator/history.ts'
import { traffic } from '../../platform/operator/traffic.ts'
import { waitingRowsOfAll } from '../../platform/operator/waiting.ts'
import { analyticsRoutes } from './analytics.ts'
import { batchJob } from './batches/complete.ts'
import type { Intake } from './carrier.ts'
import { noticeHooks } from './carriers/http-notices.ts'
import { optOutRoutes } from './consent/routes.ts'
import { strayChore } from './delivery/queue.ts'
import { receiptChores, takeReceipt } from './delivery/receipts.ts'
import { submitJobs } from './delivery/submit.ts'
import { smppCredentialRoutes } from './esme/credentials.ts'
import { deliveriesChore } from './esme/deliveries.ts'
import { esmeListeners } from './esme/listener.ts'
import { partsJob } from './esme/parts.ts'
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
import { carriersDown } from './operator/down.ts'
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
import { smsSettings } from './settings.ts'
import { timelineRoutes } from './timeline.ts'

export const sms: Area = {
  name: 'sms',
  tools: {
    named: ['sms.send', 'sms.estimate', 'sms.get', 'sms.list', 'sms.timeline', 'sms.lookup', 'sandbox.handset'],
    unasked: ['sms.createSenderId', 'sms.optOut'],
  },
  chapters: {
    sms: {
      title: 'SMS',
      about: 'Send and receive texts: one or many, now or later, with opt-outs, sender ids and numbers of your own.',
    },
  },
  uses: ['numbers'],
  scopes: [scopeArea('sms', { limit: 'sms', words: { send: ['write'] } })],
  limits: [planLimit('sms')],
  topics: ['sms', 'sms-permissions'],
  partitions: [{ table: 'sms.messages', period: 'month', ahead: 2, keepDays: null, fill: 50 }],
  settings: smsSettings,
  simulators: [messageCentre],
  traffic: [
    traffic({
      ...{ name: 'sms', scope: 'sms:read', from: 'sms.messages', at: 't.created_at' },
      ...{ connection: 't.route', isByMonth: true },
    }),
  ],
  histories: [
    history({
      ...{ name: 'sms', kind: 'message', scope: 'sms:read', from: 'sms.messages t', id: 't.id', order: 't.id' },
      ...{ status: 't.status', createdAt: 't.created_at', title: 't.body', text: 't.body', path: (id) => `/sms/${id}` },
      by: [
        {
          ...{ column: 't.recipient', where: `t.direction = 'outbound'`, knownBy: 'phones', prefix: 'sms' },
          direction: `'outbound'`,
        },
        {
          ...{ column: 't.sender', where: `t.direction = 'inbound'`, knownBy: 'phones', prefix: 'smsInbound' },
          direction: `'inbound'`,
        },
      ],
    }),
  ],
  erasables: [
    erasable({
      ...{ kind: 'texts', table: 'sms.messages', id: { column: 't.id', prefix: 'sms' } },
      by: [
        {
          ...{ column: 't.recipient', knownBy: 'phones', where: `t.direction = 'outbound'` },
          set: `body = null, metadata = '{}', recipient = 'erased'`,
        },
      ],
      when: `t.status not in ('queued', 'sent') or t.sent_at < now() - interval '3 days'`,
      reason: 'figures and prices stay; texts that are on their way are kept until they have arrived',
    }),
    erasable({
      ...{ kind: 'texts_received', table: 'sms.messages', id: { column: 't.id', prefix: 'smsInbound' } },
      by: [
        {
          ...{ column: 't.sender', knownBy: 'phones', where: `t.direction = 'inbound'` },
          set: `body = null, metadata = '{}', sender = 'erased'`,
        },
      ],
      reason: 'figures stay',
    }),
    erasable({ kind: 'text_opt_outs', table: 'sms.opt_outs', by: [{ column: 't.phone', knownBy: 'phones' }] }),
  ],
  routes: [
    ...messageRoutes,
    ...timelineRoutes,
    ...analyticsRoutes,
    ...optOutRoutes,
    ...senderRoutes,
    ...numberRoutes,
    ...smppCredentialRoutes,
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
      'sms.get': ['operator.getMessage', 'Get a text of any account'],
      'sms.timeline': ['operator.getMessageTimeline', 'Get the timeline of a text of any account'],
    }),
  ],
  listeners: esmeListeners,
  jobs: [...submitJobs, joinJob, batchJob, partsJob],
  events: Object.values(smsEvents),
  answers: { [smsEvents.received.name]: takeAnswer },
  chores: [...receiptChores, strayChore, textChore, shortLinkChore, deliveriesChore],
  charges: smsCharges,
  spendByCountry,
  waiting: [
    waitingRowsOfAll({
      ...{ name: 'senders_to_approve', description: 'Senders that wait for approval' },
      ...{ from: 'sms.sender_ids', where: `t.status = 'pending'` },
    }),
    carriersDown,
  ],
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

/** Many texts for an account, by another area: drafted, then accepted in its transaction; and what became of them. */
export { acceptBatch } from './batches/accept.ts'
export { draftedEntries } from './batches/bulk.ts'
export { outcomesOfBatches, repliesToBatches } from './batches/outcomes.ts'
/** Opt-outs of numbers: read, noted and taken back. */
export { optIn, optOut } from './consent/change.ts'
export { everySender, optOutsOf } from './consent/store.ts'
/** Takeover of a failed text by another channel. */
export { fallbackOf, finishFallback, smsFallback } from './fallback/fallback.ts'
export { listedPrice as textPrice } from './prices/pricing.ts'
/** Sending a text on request of an account, from one of its own pages. */
export { send as sendText } from './send.ts'
export type { Sending } from './sending/accept.ts'
/** Sending one text for an account, by another area. */
export { sendForAccount } from './sending/send-for-account.ts'
