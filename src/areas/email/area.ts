// SPDX-License-Identifier: Apache-2.0
// The door of the email area.

import { buckets, idOf } from '../../kernel/ids.ts'
import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { planLimit } from '../../platform/limits/plan-limits.ts'
import { ofAnyAccount } from '../../platform/operator/any-account.ts'
import { erasable } from '../../platform/operator/erasing.ts'
import { finder } from '../../platform/operator/finding.ts'
import { history } from '../../platform/operator/history.ts'
import { traffic } from '../../platform/operator/traffic.ts'
import { analyticsRoutes } from './analytics.ts'
import { batchJob } from './bulk/batches.ts'
import { bulkRoutes } from './bulk/routes.ts'
import { destinationsOf } from './delivery/carry.ts'
import { bulkJob, sendJob } from './delivery/deliver.ts'
import { closeSecurity } from './delivery/security.ts'
import { policyChore } from './delivery/sts-policies.ts'
import { tlsTally } from './delivery/tls-tally.ts'
import { demoMail } from './demo.ts'
import { dnsListener } from './dns/listener.ts'
import { answerZone } from './dns/zone.ts'
import { checkJob } from './domains/check.ts'
import { domainRoutes, republish } from './domains/routes.ts'
import { eraseMail } from './erase.ts'
import { emailEvents } from './events.ts'
import { providerHook } from './inbound/provider-hook.ts'
import { returnsListener } from './inbound/returns.ts'
import { trackingHooks } from './inbound/tracking-hooks.ts'
import { mailWorld } from './mail-world.ts'
import { emailCharges } from './prices.ts'
import { messageRoutes } from './routes.ts'
import { sandboxMailRoutes } from './sandbox/routes.ts'
import { changeRoutes } from './sending/change.ts'
import { ownerNoticeJob } from './sending/tell-owners.ts'
import { emailSettings } from './settings.ts'
import { credentialRoutes } from './smtp/credentials.ts'
import { submissionListener } from './smtp/submission.ts'
import { suppressionRoutes } from './suppressions/routes.ts'
import { templateRoutes } from './templates/routes.ts'
import { trackingWebhookRoutes } from './tracking/webhook.ts'

/** Mail to many for an account, by another area: checked, then accepted in its transaction; and what became of it. */
export { acceptBulk, prepareBulk } from './bulk/accept.ts'
export { outcomesOfBulks } from './bulk/outcomes.ts'
export { sendersOf as mailSendersOf } from './domains/senders.ts'
export { priceOf as mailPrice } from './prices.ts'
export { maxBodyBytes as maxMailBytes } from './routes.ts'
export { Attachment as MailAttachment } from './schema.ts'
export { canMail, mailForAccount } from './sending/mail-for-account.ts'
export { send as sendMail } from './sending/send.ts'
export { allowMail, stopMail } from './suppressions/change.ts'
export { suppressionsOf } from './suppressions/store.ts'

export const email: Area = {
  name: 'email',
  tools: {
    named: ['email.send', 'email.get', 'email.list'],
    unasked: ['email.createTemplate', 'email.replaceTemplate', 'email.createDomain', 'email.verifyDomain'],
  },
  chapters: {
    email: {
      title: 'Email',
      about: 'Send mail, one message or many, from your own domain; follow its delivery.',
    },
  },
  scopes: [scopeArea('email', { words: { send: ['write'], manage: ['write'] }, limit: 'email' })],
  limits: [planLimit('email', 'RATE_LIMIT_EXCEEDED')],
  topics: ['email'],
  partitions: [
    { table: 'email.messages', period: 'month', ahead: 2, keepDays: null, fill: 70 },
    { table: 'email.recipients', period: 'month', ahead: 2, keepDays: null, fill: 70 },
    { table: 'email.contents', period: 'month', ahead: 2, keepDays: 64, fill: 100 },
  ],
  settings: emailSettings,
  simulators: [mailWorld],
  charges: emailCharges,
  uses: ['webhooks'],
  traffic: [
    traffic({ name: 'email', scope: 'email:read', from: 'email.messages', at: 't.created_at', isByMonth: true }),
  ],
  histories: [
    history({
      ...{ name: 'emails', kind: 'email', scope: 'email:read' },
      from: 'email.recipients t join email.messages m on m.bucket = t.bucket and m.account_id = t.account_id and m.environment = t.environment and m.id = t.message_id',
      ...{ id: 'm.id', order: 't.message_id', status: 't.status', createdAt: 'm.created_at', title: 'm.subject' },
      text: 'm.subject',
      path: (id) => `/email/${id}`,
      by: [{ column: 't.email', knownBy: 'emails', direction: `'outbound'`, prefix: 'email' }],
    }),
  ],
  erasables: [
    eraseMail,
    erasable({
      kind: 'mail_suppressions',
      table: 'email.suppressions',
      by: [{ column: 't.email', knownBy: 'emails' }],
    }),
  ],
  routes: [
    ...messageRoutes,
    ...changeRoutes,
    ...bulkRoutes,
    ...templateRoutes,
    ...domainRoutes,
    ...analyticsRoutes,
    ...suppressionRoutes,
    ...trackingWebhookRoutes,
    ...credentialRoutes,
    ...sandboxMailRoutes,
    ...ofAnyAccount(messageRoutes, {
      'email.list': ['operator.listEmails', 'List the mail of any account'],
      'email.get': ['operator.getEmail', 'Get an email of any account'],
    }),
  ],
  finders: [
    finder({
      kind: 'email',
      prefix: 'email',
      table: 'email.messages',
      status: 't.status',
      ...{ scope: 'email:read', label: 't.subject' },
      path: (id) => `/email/${idOf('email', id)}`,
    }),
  ],
  hooks: [...trackingHooks, providerHook],
  listeners: [submissionListener, returnsListener, dnsListener],
  demo: demoMail,
  jobs: [sendJob, bulkJob, batchJob, checkJob, ownerNoticeJob],
  chores: [policyChore],
  events: Object.values(emailEvents),
  async start(app) {
    mailWorld.of(app)?.delegate(app.config.PAMOJA_MAIL_HOST, (name, type) => answerZone(app, name, type))
    if (mailWorld.of(app)) await republish(app, buckets)
    app.sandbox.onTaken(() => republish(app, buckets))
    tlsTally(app)
    return async () => {
      destinationsOf(app).close()
      await closeSecurity(app)
    }
  },
}
