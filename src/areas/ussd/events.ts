// SPDX-License-Identifier: Apache-2.0
// Events of USSD sessions: the start, each input of the subscriber, and the end.
import { Type } from 'typebox'
import { eventType } from '../../platform/events.ts'
import { At, Nullable, OneOf } from '../../platform/schema/fields.ts'
import { reasons } from './schema.ts'

const session = {
  session_id: Type.String({ description: 'Id of the session: `uss_…`, or your own one' }),
  phone: Type.String({ description: 'Number of the subscriber, E.164' }),
}
const shortcode = Type.String({ description: 'Short code that was dialled, or used for the push' })
const data = Type.Record(Type.String(), Type.Unknown(), { description: 'Your data, stored with the session' })

const Started = Type.Object(
  {
    ...session,
    shortcode,
    initiated_by: OneOf(['user', 'application'], {
      description: 'Initiator: `user` for a dialled session, else your push',
    }),
    data,
  },
  { title: 'UssdSessionStartedEvent' },
)

const Response = Type.Object(
  {
    ...session,
    input: Nullable(Type.String({ description: 'Input of the subscriber' })),
    data,
    shortcode,
    type: OneOf(['initiation', 'response'], { description: '`initiation` when the code is dialled, then `response`' }),
    step: Type.Integer({ description: 'Number of the requested screen, from 1' }),
    text: Type.String({ description: 'All inputs so far, joined by `*`' }),
    network: Nullable(Type.String({ description: 'Network of the subscriber, if known' })),
    deadline: At({ description: 'Deadline for the next screen' }),
    resumed_from: Nullable(Type.String({ description: 'Id of the expired session that it resumes' })),
    language: Nullable(Type.String({ description: 'Language known from the network or your menu' })),
  },
  { title: 'UssdResponseEvent' },
)

const Ended = Type.Object(
  {
    ...session,
    reason: OneOf(reasons, { description: 'Reason for the end' }),
    reason_detail: Nullable(
      Type.String({
        description: 'Error in the reply of your application, for `app_error` and `app_timeout`',
      }),
    ),
    duration: Type.Integer({ description: 'Duration in seconds' }),
    total_steps: Type.Integer({ description: 'Number of screens that were shown' }),
    status: OneOf(['completed', 'expired'], {
      description: 'Status: `completed`, or `expired` without an answer in time',
    }),
    data,
  },
  { title: 'UssdSessionEndedEvent' },
)

const loan = { session_id: 'uss_01jb2c3d4e5f6g7h8j9kamnpqr', phone: '+254711000001', data: { menu: 'loan' } }

export const ussdEvents = {
  sessionStarted: eventType({
    name: 'ussd.session_started',
    summary: 'A session began',
    sealed: 'data',
    payload: Started,
    sample: { ...loan, shortcode: '*384*1#', initiated_by: 'user' },
    person: ({ phone, initiated_by }) => ({ phone, isInbound: initiated_by === 'user' }),
  }),
  response: eventType({
    name: 'ussd.response',
    summary: 'A subscriber dialled a code or answered a screen',
    sealed: 'data',
    payload: Response,
    sample: {
      ...loan,
      input: '1',
      shortcode: '*384*1#',
      type: 'response',
      step: 2,
      text: '1',
      network: 'Safaricom',
      deadline: new Date('2026-03-01T09:15:39Z'),
      resumed_from: null,
      language: 'sw',
    },
  }),
  sessionEnded: eventType({
    name: 'ussd.session_ended',
    summary: 'A session was completed or expired',
    sealed: 'data',
    payload: Ended,
    sample: { ...loan, reason: 'completed', reason_detail: null, duration: 34, total_steps: 4, status: 'completed' },
  }),
}
