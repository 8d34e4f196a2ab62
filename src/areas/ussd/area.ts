// SPDX-License-Identifier: Apache-2.0
// The door of the USSD area.

import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { ofAnyAccount } from '../../platform/operator/any-account.ts'
import { history } from '../../platform/operator/history.ts'
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

export const ussd: Area = {
  name: 'ussd',
  chapters: {
    ussd: { title: 'USSD', about: 'Sessions with handsets, begun by you or by whoever dials a code of yours.' },
  },
  uses: ['webhooks', 'numbers', 'sms', 'payments'],
  scopes: [scopeArea('ussd', { words: { gateway: [] } })],
  topics: [gatewayTopic, codesTopic],
  histories: [
    history({
      name: 'ussd_sessions',
      prefix: null,
      from: 'ussd.sessions t',
      id: 't.session_id',
      order: 't.id',
      status: 't.status',
      createdAt: 't.created_at',
      by: 't.phone',
      knownBy: 'phone',
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
      'ussd.getSession': ['operator.getUssdSession', 'Read a USSD session of any account'],
      'ussd.timeline': ['operator.getUssdTimeline', 'Follow a USSD session of any account'],
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
