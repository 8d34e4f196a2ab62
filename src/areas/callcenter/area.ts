// SPDX-License-Identifier: Apache-2.0
// The door of the call-centre area: agents, queues, menus, routing, supervision, metrics. Built on voice.
import { buckets } from '../../kernel/ids.ts'
import { dayMs } from '../../kernel/time.ts'
import type { Area } from '../../platform/area.ts'
import { scopeArea } from '../../platform/auth/scopes.ts'
import { orphanChore } from '../../platform/nodes/live-sessions.ts'
import { callRoutes } from './agent/call-routes.ts'
import { transferRoutes } from './agent/transfer-routes.ts'
import { follow } from './calls/call-follower.ts'
import { tickJob } from './calls/distribution.ts'
import { conferenceRoutes } from './conferences/routes.ts'
import { ownCalls } from './dealings.ts'
import { deskSocket, desksOf, deskTopic } from './desk/desks.ts'
import { deskSessions } from './desk/presence.ts'
import { erasables } from './erase.ts'
import { agentEvents, conferenceEvents, monitorEvents, queueEvents, voicemailEvents } from './events.ts'
import { forgetRuns } from './ivr/store.ts'
import { metricRoutes } from './metrics/routes.ts'
import { promptRoutes } from './prompts/routes.ts'
import { mailReportJob } from './reports/mail.ts'
import { reportRoutes } from './reports/routes.ts'
import { agentRoutes } from './routes/agents.ts'
import { ivrRoutes } from './routes/ivr.ts'
import { queueRoutes } from './routes/queues.ts'
import { routingRoutes } from './routes/routing.ts'
import { whileLoggedIn } from './routes/sessions.ts'
import { monitorRoutes } from './supervisor/routes.ts'

export const callcenter: Area = {
  name: 'callcenter',
  tools: {
    unasked: [
      'callcenter.createQueue',
      'callcenter.changeQueue',
      'callcenter.createIvr',
      'callcenter.changeIvr',
      'callcenter.createRule',
      'callcenter.changeRule',
      'callcenter.setBusinessHours',
      'callcenter.simulateRouting',
    ],
  },
  chapters: {
    callcenter: {
      title: 'Call centre',
      about: 'Agents, queues, IVR menus, routing, transfers, conferences, supervision and metrics.',
    },
  },
  uses: ['email', 'voice'],
  // An agent's token may act as an agent and read what agents see.
  scopes: [scopeArea('callcenter', { words: { read: ['write', 'agent'], agent: ['write'] } })],
  routes: [
    ...agentRoutes,
    ...queueRoutes,
    ...ivrRoutes,
    ...promptRoutes,
    ...routingRoutes,
    ...callRoutes,
    ...transferRoutes,
    ...conferenceRoutes,
    ...monitorRoutes,
    ...metricRoutes,
    ...reportRoutes,
  ].map(whileLoggedIn),
  erasables,
  dealings: [ownCalls],
  sockets: [deskSocket],
  topics: [deskTopic],
  jobs: [tickJob, mailReportJob],
  chores: [
    orphanChore([deskSessions]),
    {
      name: 'forgotten menus',
      run: async (app) => {
        await app.db.query(forgetRuns, { buckets, before: new Date(app.clock.nowMs() - dayMs) })
      },
    },
  ],
  events: [agentEvents, conferenceEvents, queueEvents, monitorEvents, voicemailEvents].flatMap((group) =>
    Object.values(group),
  ),
  start: async (app) => {
    const stop = follow(app)
    const desks = desksOf(app)
    return async () => {
      stop()
      await desks.stop()
    }
  },
}
