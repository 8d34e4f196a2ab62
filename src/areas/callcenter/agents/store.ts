// SPDX-License-Identifier: Apache-2.0
// SQL of agents.
import { stored } from '../../../platform/db/stored.ts'
import { statement } from '../../../platform/db.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'
import type { SkillOf } from '../schema.ts'
import type { AgentStatus, SettableStatus } from './agent.ts'

export interface AgentEndpoint {
  type: 'webrtc' | 'sip' | 'phone'
  uri?: string
  number?: string
}

export interface AgentRow {
  bucket: number
  account_id: string
  environment: Tenant['environment']
  agent_id: string
  name: string | null
  email: string | null
  skills: SkillOf[]
  queues: string[]
  endpoint: AgentEndpoint
  languages: string[]
  max_calls: number
  external_ref: string | null
  status: AgentStatus
  reason: string | null
  since: Date
  until: Date | null
  next_status: SettableStatus | null
  next_reason: string | null
  session_id: string | null
  logged_in_at: Date | null
  call_id: string | null
  leg_id: string | null
  contact_id: string | null
  /** Websocket session of the agent's browser desk. */
  desk_id: string | null
  desk_lost_at: Date | null
  idle_since: Date
  calls_taken: number
  /** Offers that could not be made since the last one that rang. */
  missed_offers: number
  /** End of the pause after such an offer. */
  offer_after: Date | null
  created_at: Date
}

export const agentColumns = `bucket, account_id, environment, agent_id, name, email, skills, queues, endpoint, languages, max_calls,
  external_ref, status, reason, since, until, next_status, next_reason, session_id, logged_in_at, call_id, leg_id, contact_id,
  desk_id, desk_lost_at, idle_since, calls_taken, missed_offers, offer_after, created_at`

type OneAgent = Tenant & { agent: string }

export const findAgent = statement.tenant<OneAgent, AgentRow>(
  'callcenter.find_agent',
  `select ${agentColumns} from callcenter.agents where ${mine} and agent_id = $agent`,
)

export const listAgents = statement.tenant<Tenant, AgentRow>(
  'callcenter.list_agents',
  `select ${agentColumns} from callcenter.agents where ${mine} order by agent_id limit 10000`,
)

/** Agents who have a name, the first 2,000 by it. */
export const namedAgents = statement.tenant<Tenant, { agent_id: string; name: string }>(
  'callcenter.named_agents',
  `select agent_id, name from callcenter.agents where ${mine} and name is not null order by name, agent_id limit 2000`,
)

/** Agents logged in. */
export const agentsAtWork = statement.tenant<Tenant, AgentRow>(
  'callcenter.agents_at_work',
  `select ${agentColumns} from callcenter.agents where ${mine} and status <> 'offline' order by agent_id limit 10000`,
)

export const agentsOfCall = statement.tenant<Tenant & { call: string }, AgentRow>(
  'callcenter.agents_of_call',
  `select ${agentColumns} from callcenter.agents where ${mine} and call_id = $call order by agent_id`,
)

/** Agents that ring for a contact or speak in it. */
export const agentsOfContact = statement.tenant<Tenant & { contact: string }, AgentRow>(
  'callcenter.agents_of_contact',
  `select ${agentColumns} from callcenter.agents
    where ${mine} and contact_id = $contact and status in ('ringing', 'on_call') order by agent_id`,
)

/** Columns that a supervisor or a sign-in may change. */
const profile = stored(
  'name, email, skills::jsonb, queues::uuid[], endpoint::jsonb, languages::text[], max_calls, external_ref',
)
type Profile = Pick<AgentRow, 'name' | 'email' | 'queues' | 'languages' | 'max_calls' | 'external_ref'>

/** Inserts an agent, or updates the fields an agent may change. */
export const keepAgent = statement.tenant<
  OneAgent & Profile & { skills: string; endpoint: string; at: Date },
  AgentRow
>(
  'callcenter.keep_agent',
  `insert into callcenter.agents (bucket, account_id, environment, agent_id, ${profile.names}, status, since, idle_since,
                                  created_at, updated_at)
   values ($bucket, $account, $environment, $agent, ${profile.values}, 'offline', $at, $at, $at, $at)
   on conflict (bucket, account_id, environment, agent_id) do update
      set ${profile.taken}, updated_at = excluded.updated_at
   returning ${agentColumns}`,
)

/** Columns of what an agent does. */
const presence =
  stored(`status, reason, since, until, next_status, next_reason, session_id, logged_in_at, call_id, leg_id, contact_id,
  desk_id, desk_lost_at, idle_since, calls_taken, missed_offers, offer_after`)
type Presence = Omit<
  AgentRow,
  keyof Profile | 'bucket' | 'account_id' | 'environment' | 'agent_id' | 'skills' | 'endpoint' | 'created_at'
>

/** Updates an agent's status and work. */
export const saveAgent = statement.tenant<OneAgent & Presence & { at: Date }, AgentRow>(
  'callcenter.save_agent',
  `update callcenter.agents set ${presence.set}, updated_at = $at
    where ${mine} and agent_id = $agent
   returning ${agentColumns}`,
)

export const endState = statement.tenant<OneAgent & { at: Date }, object>(
  'callcenter.end_state',
  `update callcenter.agent_states set ended_at = $at where ${mine} and agent_id = $agent and ended_at is null`,
)

export const beginState = statement.tenant<
  OneAgent & { id: string; status: string; call: string | null; at: Date },
  object
>(
  'callcenter.begin_state',
  `insert into callcenter.agent_states (bucket, account_id, environment, agent_id, id, status, call_id, began_at)
   values ($bucket, $account, $environment, $agent, $id, $status, $call, $at)`,
)

export const agentOfLeg = statement.tenant<Tenant & { leg: string }, AgentRow>(
  'callcenter.agent_of_leg',
  `select ${agentColumns} from callcenter.agents where ${mine} and leg_id = $leg limit 1`,
)

export const agentOfDesk = statement.tenant<Tenant & { desk: string }, AgentRow>(
  'callcenter.agent_of_desk',
  `select ${agentColumns} from callcenter.agents where ${mine} and desk_id = $desk limit 1`,
)
