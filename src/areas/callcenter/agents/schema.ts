// SPDX-License-Identifier: Apache-2.0
// Schemas of agent requests and replies.
import { Type } from 'typebox'
import { At, Moment, Nullable, OneOf, Phone } from '../../../platform/schema/fields.ts'
import { AgentId, agentStatuses, Language, SipUri, Skill } from '../schema.ts'
import { settableStatuses } from './agent.ts'

const agent_id = AgentId('Your own id of the agent')

const Endpoint = Type.Object(
  {
    type: OneOf(['webrtc', 'sip', 'phone'], { description: 'How the agent is reached; webrtc unless told' }),
    uri: Type.Optional(SipUri),
    number: Type.Optional(Phone({ description: 'Of a phone' })),
  },
  { description: 'Where calls reach the agent; the browser unless told' },
)

const skills = Type.Array(Skill, {
  maxItems: 50,
  rule: 'must be at most 50 skills',
  description: 'What the agent can do, for queues that ask for it; a list replaces the one before',
})
const queues = Type.Array(Type.String({ maxLength: 40 }), {
  maxItems: 100,
  rule: 'must be at most 100 ids of queues',
  description: 'Queues that the agent serves',
})
const languages = Type.Array(Language, {
  maxItems: 20,
  description: 'What the agent speaks, for whoever reads the record; calls are given by skills',
})
const name = Type.String({ minLength: 1, maxLength: 100, description: 'As supervisors and colleagues see it' })
const email = Type.String({
  maxLength: 254,
  pattern: '^[^@\\s]+@[^@\\s]+$',
  rule: 'must be an e-mail address',
  description: 'Kept with the agent; nothing is sent to it',
})
const max_calls = Type.Integer({
  minimum: 1,
  maximum: 1,
  rule: 'must be 1: an agent has one call at a time',
  description: 'Only 1 is taken',
})
const external_ref = Type.String({ maxLength: 100, description: 'Your own name of the agent elsewhere' })

const changeable = {
  name: Type.Optional(name),
  email: Type.Optional(email),
  skills: Type.Optional(skills),
  queues: Type.Optional(queues),
  endpoint: Type.Optional(Endpoint),
  languages: Type.Optional(languages),
  max_calls: Type.Optional(max_calls),
  external_ref: Type.Optional(external_ref),
}

export const Login = Type.Object({
  agent_id,
  ...changeable,
  status: Type.Optional(OneOf(settableStatuses, { description: 'What the agent begins with; available unless told' })),
})
export const AgentChange = Type.Object(changeable)

const shownId = Type.String({ description: 'Your own id of the agent' })
const shownStatus = OneOf(agentStatuses, { description: 'What the agent does; only `available` is given calls' })
const shownReason = Nullable(
  Type.String({
    description: 'Why the agent has this status, or why an available one could not be rung; null unless told',
  }),
)
const shownSince = At({ description: 'When the agent took on this status' })
const shownQueues = Type.Array(Type.String(), { description: 'Queues that the agent serves, `que_…`' })

export const LoggedIn = Type.Object(
  {
    agent_id: shownId,
    session_id: Type.String({ description: 'Id of the session, such as `ses_…`' }),
    status: shownStatus,
    skills,
    queues: shownQueues,
    endpoint: Endpoint,
    logged_in_at: At({ description: 'When the session began' }),
    token: Nullable(Type.String({ sensitive: true }), {
      description: 'Speaks for this agent, for 8 hours; null for a member of the console, whose session does',
    }),
    token_expires_at: Nullable(At(), {
      description: 'When the token ends: after 8 hours, or with the key that asked; null without one',
    }),
    desk: Type.Object(
      {
        ws_url: Type.String({ description: 'WebSocket of the agent’s desk' }),
        ice_servers: Type.Array(Type.Object({ urls: Type.String({ description: 'Address of a STUN server' }) }), {
          description: 'STUN and TURN servers for the browser; may be empty',
        }),
      },
      { description: 'Where a browser takes calls' },
    ),
  },
  { title: 'AgentLogin' },
)

export const StatusChange = Type.Object({
  agent_id,
  status: OneOf(settableStatuses, {
    description: 'Only an `available` agent is given calls; during a call it holds from its end',
  }),
  reason: Type.Optional(
    Type.String({
      maxLength: 64,
      rule: 'must have at most 64 characters',
      description: 'Stands in the history of the agent, such as `lunch`',
    }),
  ),
  until: Type.Optional(Moment({ description: 'When the agent is available again by itself' })),
})

export const StatusChanged = Type.Object(
  {
    agent_id: shownId,
    status: shownStatus,
    previous_status: OneOf(agentStatuses, { description: 'What the agent did before the request' }),
    reason: shownReason,
    since: shownSince,
    next_status: Nullable(OneOf(settableStatuses, { description: 'Taken on when the present call is over' })),
  },
  { title: 'AgentStatus' },
)

export const Logout = Type.Object({
  agent_id,
  force: Type.Optional(Type.Boolean({ description: 'Also while on a call, which then ends for the agent' })),
})

export const LoggedOut = Type.Object(
  {
    agent_id: shownId,
    status: Type.Literal('offline', { description: 'Logged out' }),
    logged_out_at: At({ description: 'When the session ended' }),
    session_seconds: Type.Integer({ description: 'Seconds that the session lasted' }),
  },
  { title: 'AgentLogout' },
)

export const Agent = Type.Object(
  {
    agent_id: shownId,
    name: Nullable(Type.String({ description: 'As supervisors and colleagues see it; null unless given' })),
    email: Nullable(Type.String({ description: 'Kept with the agent; null unless given' })),
    status: shownStatus,
    reason: shownReason,
    since: shownSince,
    next_status: Nullable(
      OneOf(settableStatuses, { description: 'Taken on when the present call is over; null if none was chosen' }),
    ),
    next_offer_at: Nullable(
      At({ description: 'When an agent who could not be rung is offered calls again; null without such a pause' }),
    ),
    skills,
    queues: shownQueues,
    endpoint: Endpoint,
    languages: Type.Array(Type.String(), { description: 'What the agent speaks, such as `sw-KE`' }),
    max_calls: Type.Integer({ description: 'Calls at a time: 1' }),
    external_ref: Nullable(Type.String({ description: 'Your own name of the agent elsewhere; null unless given' })),
    call_id: Nullable(Type.String({ description: 'The call that rings, goes on or is wrapped up; null without one' })),
    logged_in_at: Nullable(At({ description: 'When the session began; null while logged out' })),
    created_at: At({ description: 'When the agent first logged in' }),
  },
  { title: 'Agent' },
)

const Past = Type.Object({
  id: Type.String({ description: 'Id by which it is read' }),
  status: Type.String({ description: 'How it stands, in the words of its own area' }),
  created_at: At({ description: 'When it was made' }),
})

const direction = OneOf(['inbound', 'outbound'], { description: '`inbound` to your number, `outbound` from it' })

export const AgentContext = Type.Object(
  {
    agent_id: shownId,
    status: shownStatus,
    call: Nullable(
      Type.Object({
        call_id: Type.String({ description: 'The customer’s call, `call_…`' }),
        direction,
        from: Type.String({ description: 'Who calls' }),
        to: Type.String({ description: 'Who is called' }),
        queue_id: Nullable(Type.String({ description: 'The queue it came through; null without one' })),
        wait_seconds: Type.Integer({ description: 'Seconds that the customer waited, up to now if not yet answered' }),
        ivr_path: Type.Array(
          Type.Object({
            menu: Type.String({ description: 'Key of the menu' }),
            digit: Type.String({ description: 'Keys of the choice or the digits typed; stars where they are masked' }),
            label: Nullable(Type.String({ description: 'Label of the choice, or the variable; null without one' })),
          }),
          { description: 'What the customer chose in menus, in order' },
        ),
        custom_data: Type.Record(Type.String(), Type.Unknown(), {
          description: 'Your own notes of the call, and the variables that menus and rules set',
        }),
      }),
      { description: 'The call that is asked for, or the agent’s present one; null without one' },
    ),
    customer: Nullable(
      Type.Object({
        phone: Type.String({ description: 'The other side of the call, or the number that is asked for' }),
        name: Nullable(Type.String({ description: '`name` of `attributes`; null if that is no text' })),
        email: Nullable(Type.String({ description: '`email` of `attributes`; null if that is no text' })),
        language: Nullable(Type.String({ description: '`language` of `attributes`; null if that is no text' })),
        tags: Type.Array(Type.String(), { description: 'Tags that the call was given' }),
        attributes: Type.Record(Type.String(), Type.Unknown(), { description: '`custom_data` of the call' }),
      }),
      { description: 'Who is spoken to; null without a call or a number' },
    ),
    history: Type.Object(
      {
        calls: Type.Array(
          Type.Object({
            call_id: Type.String({ description: 'Id of the call, such as `call_…`' }),
            direction,
            queue_id: Nullable(Type.String({ description: 'The queue it came through; null without one' })),
            agent_id: Nullable(Type.String({ description: 'The agent who spoke; null if nobody did' })),
            outcome: Nullable(
              Type.String({
                description: 'answered, abandoned, overflowed, callback or failed; null while the customer waits',
              }),
            ),
            started_at: At({ description: 'When it came to the queue or the agent' }),
            ended_at: Nullable(At({ description: 'Null while it goes on' })),
            disposition: Nullable(Type.String({ description: 'The outcome as the agent noted it; null if not noted' })),
          }),
          { description: 'Calls with the customer, at most 10' },
        ),
        sms: Type.Array(Past, { description: 'Texts, at most 5' }),
        messages: Type.Array(Past, { description: 'Messages of the messengers, at most 5' }),
        emails: Type.Array(Past, { description: 'E-mails, at most 5' }),
        payments: Type.Array(Past, { description: 'Payments, at most 5' }),
        ussd_sessions: Type.Array(Past, { description: 'USSD sessions, at most 5' }),
        verifications: Type.Array(Past, { description: 'Verifications of the customer, at most 5' }),
      },
      { description: 'What there was with the customer before, newest first' },
    ),
    notes: Type.Array(
      Type.Object({
        text: Type.String({ description: 'What was noted' }),
        agent_id: Nullable(Type.String({ description: 'The agent of that call; null if it had none' })),
        created_at: At({ description: 'When that call ended, or began if it goes on' }),
      }),
      { description: 'Notes of the last 20 calls with the customer, newest first' },
    ),
  },
  { title: 'AgentContext' },
)
