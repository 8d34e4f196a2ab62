// SPDX-License-Identifier: Apache-2.0
// Schemas of agent requests and replies.
import { Type } from 'typebox'
import { At, Moment, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { AgentId, agentStatuses, Language, PhoneNumber, SipUri, Skill } from '../schema.ts'
import { settableStatuses } from './agent.ts'

const agent_id = AgentId('Your own id of the agent')

const Endpoint = Type.Object(
  {
    type: OneOf(['webrtc', 'sip', 'phone'], { description: 'How the agent is reached; webrtc unless told' }),
    uri: Type.Optional(SipUri),
    number: Type.Optional(PhoneNumber('Of a phone')),
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
const languages = Type.Array(Language, { maxItems: 20, description: 'What the agent speaks' })
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

export const LoggedIn = Type.Object(
  {
    agent_id: Type.String(),
    session_id: Type.String(),
    status: OneOf(agentStatuses),
    skills,
    queues: Type.Array(Type.String()),
    endpoint: Endpoint,
    logged_in_at: At(),
    token: Type.String({ description: 'Speaks for this agent, for 8 hours', sensitive: true }),
    token_expires_at: At(),
    desk: Type.Object({ ws_url: Type.String(), ice_servers: Type.Array(Type.Object({ urls: Type.String() })) }),
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
  until: Type.Optional(Moment({ description: 'Available again then' })),
})

export const StatusChanged = Type.Object(
  {
    agent_id: Type.String(),
    status: OneOf(agentStatuses),
    previous_status: OneOf(agentStatuses),
    reason: Nullable(Type.String()),
    since: At(),
    next_status: Nullable(OneOf(settableStatuses, { description: 'Taken on when the present call is over' })),
  },
  { title: 'AgentStatus' },
)

export const Logout = Type.Object({
  agent_id,
  force: Type.Optional(Type.Boolean({ description: 'Also while on a call, which then ends for the agent' })),
})

export const LoggedOut = Type.Object(
  { agent_id: Type.String(), status: Type.Literal('offline'), logged_out_at: At(), session_seconds: Type.Integer() },
  { title: 'AgentLogout' },
)

export const Agent = Type.Object(
  {
    agent_id: Type.String(),
    name: Nullable(Type.String()),
    email: Nullable(Type.String()),
    status: OneOf(agentStatuses),
    reason: Nullable(Type.String()),
    since: At(),
    next_status: Nullable(OneOf(settableStatuses)),
    skills,
    queues: Type.Array(Type.String()),
    endpoint: Endpoint,
    languages: Type.Array(Type.String()),
    max_calls: Type.Integer(),
    external_ref: Nullable(Type.String()),
    call_id: Nullable(Type.String()),
    logged_in_at: Nullable(At()),
    created_at: At(),
  },
  { title: 'Agent' },
)

const Past = Type.Object({ id: Type.String(), status: Type.String(), created_at: At() })

export const AgentContext = Type.Object(
  {
    agent_id: Type.String(),
    status: OneOf(agentStatuses),
    call: Nullable(
      Type.Object({
        call_id: Type.String(),
        direction: OneOf(['inbound', 'outbound']),
        from: Type.String(),
        to: Type.String(),
        queue_id: Nullable(Type.String()),
        wait_seconds: Type.Integer(),
        ivr_path: Type.Array(
          Type.Object({ menu: Type.String(), digit: Type.String(), label: Nullable(Type.String()) }),
        ),
        custom_data: Type.Record(Type.String(), Type.Unknown()),
      }),
    ),
    customer: Nullable(
      Type.Object({
        phone: Type.String(),
        name: Nullable(Type.String()),
        email: Nullable(Type.String()),
        language: Nullable(Type.String()),
        tags: Type.Array(Type.String()),
        attributes: Type.Record(Type.String(), Type.Unknown()),
      }),
    ),
    history: Type.Object({
      calls: Type.Array(
        Type.Object({
          call_id: Type.String(),
          direction: OneOf(['inbound', 'outbound']),
          queue_id: Nullable(Type.String()),
          agent_id: Nullable(Type.String()),
          outcome: Nullable(Type.String()),
          started_at: At(),
          ended_at: Nullable(At()),
          disposition: Nullable(Type.String()),
        }),
      ),
      sms: Type.Array(Past),
      messages: Type.Array(Past),
      emails: Type.Array(Past),
      payments: Type.Array(Past),
      ussd_sessions: Type.Array(Past),
      verifications: Type.Array(Past),
    }),
    notes: Type.Array(Type.Object({ text: Type.String(), agent_id: Nullable(Type.String()), created_at: At() })),
  },
  { title: 'AgentContext' },
)
