// SPDX-License-Identifier: Apache-2.0
// Timeline of a session: each time its application was asked, with what came of it, and the webhooks that told of it.

import { type Route, read } from '../../platform/api/route.ts'
import { TimelineRecord, timelineRecord } from '../../platform/timeline/record.ts'
import { timelineOf } from '../../platform/timeline.ts'
import { aSession, SessionParam, sessionOf } from './routes.ts'
import { reasonDetail } from './session.ts'

const timeline = read({
  method: 'GET',
  path: '/v1/ussd/sessions/:session_id/timeline',
  operation: 'ussd.timeline',
  summary: 'Get the timeline of a USSD session',
  description:
    'Always recorded in test; in live if the operator enables it, without the replies of your application. Inputs of the subscriber are never included. Kept for 30 days.',
  scope: 'ussd:read',
  params: SessionParam,
  reply: { status: 200, schema: TimelineRecord },
  errors: ['NOT_FOUND'],
  needs: aSession,
  examples: [{ name: 'One' }],
  handle: async (app, { params }, { tenant }) => {
    const session = await sessionOf(app, tenant, params.session_id)
    const { session_id: resource, created_at: createdAt, ended_at: endedAt, status, reason } = session
    const states = [
      { at: createdAt, state: 'initiated', note: null },
      ...(endedAt
        ? [{ at: endedAt, state: status, note: [reason, reasonDetail(session)].filter(Boolean).join(': ') }]
        : []),
    ]
    return timelineRecord(resource, await timelineOf(app.db, tenant, { resource, createdAt, requestId: null, states }))
  },
})

export const timelineRoutes: readonly Route[] = [timeline]
