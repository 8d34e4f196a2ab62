// SPDX-License-Identifier: Apache-2.0
// Schemas of agent requests and replies.
import { Type } from 'typebox'
import { At, Moment, Nullable, OneOf, Phone } from '../../../platform/schema/fields.ts'
import { AgentId, agentStatuses, Language, SipUri, Skill } from '../schema.ts'
import { settableStatuses } from './agent.ts'

const agent_id = AgentId('Your own id for the agent')

const Endpoint = Type.Object(
  {
    type: OneOf(['webrtc', 'sip', 'phone'], { description: 'Kind of endpoint; default webrtc' }),
    uri: Type.Optional(SipUri),
    number: Type.Optional(Phone({ description: 'Phone number' })),
  },
  { description: 'Endpoint that rings for calls; default: the browser' },
)

const skills = Type.Array(Skill, {
  maxItems: 50,
  rule: 'must be at most 50 skills',
  description: 'Skills of the agent, for queues that require them; replaces the previous list',
})
const queues = Type.Array(Type.String({ maxLength: 40 }), {
  maxItems: 100,
  rule: 'must be at most 100 ids of queues',
  description: 'Queues that the agent serves',
})
const languages = Type.Array(Language, {
  maxItems: 20,
  description: 'Languages of the agent (informational; routing uses skills)',
})
const name = Type.String({ minLength: 1, maxLength: 100, description: 'Display name for supervisors and colleagues' })
const email = Type.String({
  maxLength: 254,
  pattern: '^[^@\\s]+@[^@\\s]+$',
  rule: 'must be an email address',
  description: 'Email of the agent; nothing is sent to it',
})
const max_calls = Type.Integer({
  minimum: 1,
  maximum: 1,
  rule: 'must be 1: an agent has one call at a time',
  description: 'Maximum number of concurrent calls; only 1 is accepted',
})
const external_ref = Type.String({ maxLength: 100, description: 'Id of the agent in your other systems' })

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
  status: Type.Optional(OneOf(settableStatuses, { description: 'Initial status; default available' })),
})
export const AgentChange = Type.Object(changeable)

const shownId = Type.String({ description: 'Your own id for the agent' })
const shownStatus = OneOf(agentStatuses, { description: 'Current status; only `available` agents are offered calls' })
const shownReason = Nullable(
  Type.String({
    description: 'Reason for the status, or for an available agent who could not be rung; null if none',
  }),
)
const shownSince = At({ description: 'Time of the last change of status' })
const shownQueues = Type.Array(Type.String(), { description: 'Queues that the agent serves, `que_…`' })

export const LoggedIn = Type.Object(
  {
    agent_id: shownId,
    session_id: Type.String({ description: 'Id of the session, such as `ses_…`' }),
    status: shownStatus,
    skills,
    queues: shownQueues,
    endpoint: Endpoint,
    logged_in_at: At({ description: 'Time at which the session began' }),
    token: Nullable(Type.String({ sensitive: true }), {
      description: 'Token for this agent, valid for 8 hours; null for a console member, who uses the session',
    }),
    token_expires_at: Nullable(At(), {
      description: 'Expiry time of the token: after 8 hours, or with the requesting key; null if there is none',
    }),
    desk: Type.Object(
      {
        ws_url: Type.String({ description: 'URL of the WebSocket of the agent’s desk' }),
        ice_servers: Type.Array(Type.Object({ urls: Type.String({ description: 'Address of a STUN server' }) }), {
          description: 'STUN and TURN servers for the browser; may be empty',
        }),
      },
      { description: 'Addresses for taking calls in a browser' },
    ),
  },
  { title: 'AgentLogin' },
)

export const StatusChange = Type.Object({
  agent_id,
  status: OneOf(settableStatuses, {
    description: 'New status; only an `available` agent is offered calls. During a call it applies from its end',
  }),
  reason: Type.Optional(
    Type.String({
      maxLength: 64,
      rule: 'must have at most 64 characters',
      description: 'Reason kept in the history of the agent, such as `lunch`',
    }),
  ),
  until: Type.Optional(Moment({ description: 'Time at which the agent is available again automatically' })),
})

export const StatusChanged = Type.Object(
  {
    agent_id: shownId,
    status: shownStatus,
    previous_status: OneOf(agentStatuses, { description: 'Status before the request' }),
    reason: shownReason,
    since: shownSince,
    next_status: Nullable(OneOf(settableStatuses, { description: 'Status after the current call' })),
  },
  { title: 'AgentStatus' },
)

export const Logout = Type.Object({
  agent_id,
  force: Type.Optional(Type.Boolean({ description: 'True logs out during a call too, which then ends for the agent' })),
})

export const LoggedOut = Type.Object(
  {
    agent_id: shownId,
    status: Type.Literal('offline', { description: 'Always `offline`' }),
    logged_out_at: At({ description: 'Time at which the session ended' }),
    session_seconds: Type.Integer({ description: 'Length of the session in seconds' }),
  },
  { title: 'AgentLogout' },
)

export const Agent = Type.Object(
  {
    agent_id: shownId,
    name: Nullable(Type.String({ description: 'Display name for supervisors and colleagues; null if none' })),
    email: Nullable(Type.String({ description: 'Email of the agent; null if none' })),
    status: shownStatus,
    reason: shownReason,
    since: shownSince,
    next_status: Nullable(
      OneOf(settableStatuses, { description: 'Status after the current call; null if none was chosen' }),
    ),
    next_offer_at: Nullable(
      At({
        description: 'Time at which an agent who could not be rung is offered calls again; null without such a pause',
      }),
    ),
    skills,
    queues: shownQueues,
    endpoint: Endpoint,
    languages: Type.Array(Type.String(), { description: 'Languages of the agent, such as `sw-KE`' }),
    max_calls: Type.Integer({ description: 'Maximum number of concurrent calls; always 1' }),
    external_ref: Nullable(Type.String({ description: 'Id of the agent in your other systems; null if none' })),
    call_id: Nullable(Type.String({ description: 'Id of the call that rings, is active or in wrap-up; null if none' })),
    logged_in_at: Nullable(At({ description: 'Time of the login; null while logged out' })),
    created_at: At({ description: 'Time of the first login' }),
  },
  { title: 'Agent' },
)

const Past = Type.Object({
  id: Type.String({ description: 'Id of the record' }),
  status: Type.String({ description: 'Status of the record, as its own area reports it' }),
  created_at: At({ description: 'Time of creation' }),
  direction: Nullable(OneOf(['inbound', 'outbound']), {
    description: '`inbound` from the customer, `outbound` to them; null for what has no direction',
  }),
  title: Nullable(
    Type.String({
      sensitive: true,
      description:
        'Text of a message from the customer, description of a payment or code of a USSD session, at most 200 characters. Null for messages to the customer, which may have codes in them, for an agent who has no call with the customer, live or of the last 24 hours, and for others without the scope of the channel, such as `sms:read`',
    }),
  ),
  amount: Nullable(Type.Number({ description: 'Amount of a payment; null without one' })),
  currency: Nullable(Type.String({ description: 'Currency of the amount, ISO 4217' })),
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
        from: Type.String({ description: 'Calling party' }),
        to: Type.String({ description: 'Called party' }),
        queue_id: Nullable(Type.String({ description: 'Id of the queue that the call came through; null if none' })),
        wait_seconds: Type.Integer({ description: 'Seconds that the customer waited, up to now while unanswered' }),
        ivr_path: Type.Array(
          Type.Object({
            menu: Type.String({ description: 'Key of the menu' }),
            digit: Type.String({ description: 'Keys of the choice or typed digits; stars if masked' }),
            label: Nullable(Type.String({ description: 'Label of the choice, or name of the variable; null if none' })),
          }),
          { description: 'Choices of the customer in menus, in order' },
        ),
        custom_data: Type.Record(Type.String(), Type.Unknown(), {
          description: 'Custom data of the call, and the variables that menus and rules set',
        }),
      }),
      { description: 'Requested call, or the agent’s current one; null if none' },
    ),
    customer: Nullable(
      Type.Object({
        phone: Type.String({ description: 'Number of the other party of the call, or the requested one' }),
        name: Nullable(
          Type.String({ description: '`name` of the call’s data, or name of the customer record; null without one' }),
        ),
        email: Nullable(
          Type.String({ description: '`email` of the call’s data, or of the customer record; null without one' }),
        ),
        language: Nullable(
          Type.String({ description: '`language` of the call’s data, or of the customer record; null without one' }),
        ),
        tags: Type.Array(Type.String(), { description: 'Tags of the customer record and of the call' }),
        attributes: Type.Record(Type.String(), Type.Unknown(), {
          description: 'Attributes of the customer record, and `custom_data` of the call, which comes first',
        }),
      }),
      { description: 'Customer on the call; null without a call or a number' },
    ),
    history: Type.Object(
      {
        calls: Type.Array(
          Type.Object({
            call_id: Type.String({ description: 'Id of the call, such as `call_…`' }),
            direction,
            queue_id: Nullable(
              Type.String({ description: 'Id of the queue that the call came through; null if none' }),
            ),
            agent_id: Nullable(Type.String({ description: 'Id of the agent who spoke; null if none did' })),
            outcome: Nullable(
              Type.String({
                description:
                  'Outcome: answered, abandoned, overflowed, callback or failed; null while the customer waits',
              }),
            ),
            started_at: At({ description: 'Time at which it reached the queue or agent' }),
            ended_at: Nullable(At({ description: 'End time; null while in progress' })),
            disposition: Nullable(Type.String({ description: 'Outcome noted by the agent; null if none' })),
          }),
          { description: 'Calls with the customer, at most 10' },
        ),
        sms: Type.Array(Past, { description: 'Texts, at most 5' }),
        messages: Type.Array(Past, { description: 'Messages of the messengers, at most 5' }),
        emails: Type.Array(Past, { description: 'Emails, at most 5' }),
        payments: Type.Array(Past, { description: 'Payments, at most 5' }),
        ussd_sessions: Type.Array(Past, { description: 'USSD sessions, at most 5' }),
        verifications: Type.Array(Past, { description: 'Verifications of the customer, at most 5' }),
      },
      { description: 'History of the customer, newest first' },
    ),
    notes: Type.Array(
      Type.Object({
        text: Type.String({ description: 'Text of the note' }),
        agent_id: Nullable(Type.String({ description: 'Id of the agent of that call; null if it had none' })),
        created_at: At({ description: 'End of that call, or its beginning while it is in progress' }),
      }),
      { description: 'Notes of the last 20 calls with the customer, newest first' },
    ),
  },
  { title: 'AgentContext' },
)
