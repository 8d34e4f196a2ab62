// SPDX-License-Identifier: Apache-2.0
// The door of the USSD area.

import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { ofAnyAccount } from '../../platform/operator/any-account.ts'
import { erasable, erasedBy } from '../../platform/operator/erasing.ts'
import { history } from '../../platform/operator/history.ts'
import { traffic } from '../../platform/operator/traffic.ts'
import { analyticsRoutes } from './analytics.ts'
import { callbackRoutes } from './callback.ts'
import { ussdEvents } from './events.ts'
import { goOn, lateAnswerJob, showTo, takeUssd, turnsFinished } from './intake.ts'
import { codesTopic } from './known-codes.ts'
import { menuActionJob } from './menu-actions.ts'
import { menuRoutes } from './menus.ts'
import { gatewaysOf, gatewayTopic } from './network/gateways.ts'
import { smppGatewayRoutes } from './network/routes.ts'
import { ussdNetwork } from './network/sandbox.ts'
import { ussdHooks, ussdOperatorRoutes } from './operator.ts'
import { ussdCharges } from './pricing.ts'
import { sessionChore } from './retention.ts'
import { sessionRoutes } from './routes.ts'
import { ussdSandboxRoutes } from './sandbox/routes.ts'
import { shortcodeRoutes } from './shortcodes.ts'
import { timelineRoutes } from './timeline.ts'
import { timerJob } from './timer.ts'
import { screenWaits } from './waiting.ts'

/** Operator's network of a session, as its gateway is written: `smpp:` and its name. */
const networkOf = `case when t.gateway like 'smpp:%' then substr(t.gateway, 6) end`

export const ussd: Area = {
  name: 'ussd',
  tools: {
    named: ['ussd.listSessions'],
    unasked: ['ussd.createShortcode', 'ussd.changeShortcode', 'ussd.createMenu', 'ussd.replaceMenu', 'ussd.testMenu'],
  },
  chapters: {
    ussd: {
      title: 'USSD',
      about: 'Sessions with handsets, started by you or by subscribers who dial one of your codes.',
    },
  },
  uses: ['webhooks', 'numbers', 'sms', 'payments'],
  scopes: [scopeArea('ussd', { words: { gateway: [] } })],
  topics: [gatewayTopic, codesTopic],
  traffic: [
    traffic({ name: 'ussd', scope: 'ussd:read', from: 'ussd.sessions', at: 't.created_at', connection: networkOf }),
  ],
  histories: [
    history({
      ...{ name: 'ussd_sessions', kind: 'ussd_session', scope: 'ussd:read' },
      ...{ from: 'ussd.sessions t', id: 't.session_id', order: 't.id', status: 't.status', createdAt: 't.created_at' },
      ...{ title: 't.shortcode', path: (id) => `/ussd/sessions/${id}` },
      by: [
        {
          ...{ column: 't.phone', knownBy: 'phones', prefix: null },
          direction: `case when t.direction = 'dial' then 'inbound' else 'outbound' end`,
        },
      ],
    }),
  ],
  erasables: [
    erasedBy(
      'ussd_dialogs',
      `delete from ussd.dialogs d using ussd.sessions s
        where s.bucket = $bucket and s.account_id = $account and s.environment = $environment and s.phone = any($phones::text[])
          and s.ended_at is not null and d.bucket = s.bucket and d.gateway = s.gateway and d.dialog = s.dialog returning 1`,
    ),
    erasable({
      ...{ kind: 'ussd_sessions', table: 'ussd.sessions', id: { column: 't.session_id', prefix: null } },
      by: [
        {
          ...{ column: 't.phone', knownBy: 'phones' },
          set: `phone = 'erased', input = null, data = null, history = '[]', metadata = null, screen = null, dialog = 'erased-' || t.id`,
        },
      ],
      when: 't.ended_at is not null',
      reason: 'figures and prices stay; sessions that go on are kept until they end',
    }),
  ],
  routes: [
    ...sessionRoutes,
    ...timelineRoutes,
    ...callbackRoutes,
    ...analyticsRoutes,
    ...shortcodeRoutes,
    ...menuRoutes,
    ...ussdSandboxRoutes,
    ...ussdOperatorRoutes,
    ...smppGatewayRoutes,
    ...ofAnyAccount([...sessionRoutes, ...timelineRoutes], {
      'ussd.listSessions': ['operator.listUssdSessions', 'List the USSD sessions of any account'],
      'ussd.getSession': ['operator.getUssdSession', 'Get a USSD session of any account'],
      'ussd.timeline': ['operator.getUssdTimeline', 'Get the timeline of a USSD session of any account'],
    }),
  ],
  hooks: ussdHooks,
  chores: [sessionChore],
  jobs: [timerJob, lateAnswerJob, menuActionJob],
  events: Object.values(ussdEvents),
  charges: ussdCharges,
  simulators: [ussdNetwork],
  waits: [screenWaits],
  async start(app) {
    const gateways = gatewaysOf(app)
    app.work.serve(lateAnswerJob, gateways.sandboxName)
    const stop = await gateways.start({
      take: (name, message) => takeUssd(app, name, message),
      show: (session) => showTo(app, session),
      resume: (session) => goOn(app, session),
    })
    return async () => {
      await app.work.leave(lateAnswerJob, gateways.sandboxName)
      await turnsFinished(app)
      await stop()
    }
  },
}
