// SPDX-License-Identifier: Apache-2.0
// Events of USSD sessions: the start, each input of the subscriber, and the end.
import { Type } from 'typebox'
import { eventType } from '../../platform/events.ts'
import { At, Nullable, OneOf } from '../../platform/schema/fields.ts'
import { reasons } from './schema.ts'

const session = {
  session_id: Type.String({ description: 'Id of the session: `uss_…`, or the one you gave it' }),
  phone: Type.String({ description: 'The subscriber, in E.164' }),
}
const shortcode = Type.String({ description: 'The code that was dialled, or that pushed' })
const data = Type.Record(Type.String(), Type.Unknown(), { description: 'What you keep with the session' })

const Started = Type.Object(
  {
    ...session,
    shortcode,
    initiated_by: OneOf(['user', 'application'], { description: 'Dialled by the `user`, or pushed by you' }),
    data,
  },
  { title: 'UssdSessionStartedEvent' },
)

const Response = Type.Object(
  {
    ...session,
    input: Nullable(Type.String({ description: 'What the subscriber typed' })),
    data,
    shortcode,
    type: OneOf(['initiation', 'response'], { description: '`initiation` when the code is dialled, then `response`' }),
    step: Type.Integer({ description: 'Number of the screen that is asked for, from 1' }),
    text: Type.String({ description: 'All inputs so far, joined by `*`' }),
    network: Nullable(Type.String({ description: 'Network of the subscriber, as far as it is known' })),
    deadline: At({ description: 'When the next screen must be here' }),
    resumed_from: Nullable(Type.String({ description: 'The expired session it goes on from' })),
    language: Nullable(Type.String({ description: 'As the network or your menu knows it' })),
  },
  { title: 'UssdResponseEvent' },
)

const Ended = Type.Object(
  {
    ...session,
    reason: OneOf(reasons, { description: 'Why it ended' }),
    reason_detail: Nullable(
      Type.String({
        description: 'What was wrong with the answer of your application, for `app_error` and `app_timeout`',
      }),
    ),
    duration: Type.Integer({ description: 'Seconds from its beginning to its end' }),
    total_steps: Type.Integer({ description: 'Screens that were shown' }),
    status: OneOf(['completed', 'expired'], { description: '`expired` if nobody answered in time' }),
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
    summary: 'A subscriber dialled or answered a screen',
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
