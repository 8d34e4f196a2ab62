// SPDX-License-Identifier: Apache-2.0
// Timeline of a call: its states, each request to answer_url and event_url with what came of it, and its webhooks.
import { Type } from 'typebox'
import { idOf } from '../../kernel/ids.ts'
import { type Route, read } from '../../platform/api/route.ts'
import { TimelineRecord, timelineRecord } from '../../platform/timeline/record.ts'
import { timelineOf } from '../../platform/timeline.ts'
import { callOf } from './customer/command-call.ts'
import type { CallRow } from './store.ts'

const timeline = read({
  method: 'GET',
  path: '/v1/voice/:call_id/timeline',
  operation: 'voice.timeline',
  summary: 'Get the timeline of a call',
  description:
    'Always recorded in test; in live if the operator enables it, without the replies of your application. Requests are listed by `/events`. Kept for 30 days.',
  scope: 'voice:read',
  params: Type.Object({ call_id: Type.String({ description: 'Id of the call, call_…' }) }),
  reply: { status: 200, schema: TimelineRecord },
  errors: ['NOT_FOUND'],
  needs: { operation: 'voice.createCall', id: 'call_id' },
  examples: [{ name: 'One' }],
  handle: async (app, { params }, { tenant }) => {
    const call = await callOf(app, tenant, params.call_id)
    const resource = idOf('call', call.id)
    const subject = { resource, createdAt: call.started_at, requestId: null, states: statesOf(call) }
    return timelineRecord(resource, await timelineOf(app.db, tenant, subject))
  },
})

function statesOf({ started_at, ringing_at, answered_at, ended_at, status, hangup_cause }: CallRow) {
  const moments = [
    { at: started_at, state: 'queued', note: null },
    { at: ringing_at, state: 'ringing', note: null },
    { at: answered_at, state: 'answered', note: null },
    { at: ended_at, state: status, note: hangup_cause },
  ]
  return moments.flatMap(({ at, ...moment }) => (at === null ? [] : [{ at, ...moment }]))
}

export const timelineRoutes: readonly Route[] = [timeline]
