// SPDX-License-Identifier: Apache-2.0
// SQL of metrics: pages of contacts, agent time, and what changed of both.
import { statement } from '../../../platform/db.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'
import { type AgentRow, agentColumns } from '../agents/store.ts'
import type { ContactRow } from '../contacts.ts'
import type { Stretch } from './measure.ts'
import type { BoardContact, BoardStretch } from './realtime.ts'

export type ReportedContact = Pick<
  ContactRow,
  | 'id'
  | 'call_id'
  | 'queue_id'
  | 'agent_id'
  | 'direction'
  | 'from_number'
  | 'to_number'
  | 'state'
  | 'outcome'
  | 'entered_at'
  | 'answered_at'
  | 'ended_at'
  | 'wrapped_at'
  | 'hold_ms'
  | 'is_short'
  | 'in_threshold'
  | 'is_transferred'
  | 'disposition'
  | 'cost'
  | 'call_counted'
  | 'queue_counted'
  | 'is_continued'
>

/** Next page of contacts of a time range, in order of arrival. */
export const pageOfContacts = statement.tenant<
  Tenant & {
    since: Date
    until: Date
    queue: string | null
    agent: string | null
    afterAt: Date
    afterId: string
    limit: number
  },
  ReportedContact
>(
  'callcenter.page_of_contacts',
  `select id, call_id, queue_id, agent_id, direction, from_number, to_number, state, outcome, entered_at, answered_at, ended_at, wrapped_at,
          hold_ms, is_short, in_threshold, is_transferred, disposition, cost, call_counted, queue_counted, is_continued
     from callcenter.contacts
    where ${mine} and entered_at >= $since and entered_at < $until
      and ($queue::uuid is null or queue_id = $queue) and ($agent::text is null or agent_id = $agent)
      and (entered_at, id) > ($afterAt, $afterId)
    order by entered_at, id limit $limit`,
  { mayBeLate: true },
)

export const stretchesBetween = statement.tenant<Tenant & { since: Date; until: Date; agent: string | null }, Stretch>(
  'callcenter.stretches_between',
  `select agent_id, status, began_at, ended_at from callcenter.agent_states
    where ${mine} and began_at < $until and (ended_at is null or ended_at > $since)
      and ($agent::text is null or agent_id = $agent)
      and status in ('available', 'on_call', 'wrap_up')
    order by began_at limit 500000`,
  { mayBeLate: true },
)

// --- the board of real-time metrics ---

/** Number of a row's last change. */
interface Changed {
  changed: bigint
}

/** Last changes of an account, before its rows are read. */
export const lastChanges = statement.tenant<Tenant, { agents: bigint; contacts: bigint; stretches: bigint }>(
  'callcenter.last_changes',
  `select coalesce((select max(changed) from callcenter.agents where ${mine}), 0) as agents,
          coalesce((select max(changed) from callcenter.contacts where ${mine}), 0) as contacts,
          coalesce((select max(changed) from callcenter.agent_states where ${mine}), 0) as stretches`,
)

const boardColumns = `id, queue_id, agent_id, direction, state, outcome, priority, entered_at, answered_at, ended_at, wrapped_at, hold_ms,
  is_short, in_threshold, is_transferred, cost, call_counted, queue_counted, is_continued, changed,
  case when state <> 'ended' then (select string_agg(coalesce(step ->> 'label', step ->> 'digit'), ', ' order by i)
    from jsonb_array_elements(ivr_path) with ordinality steps (step, i)) end as about`

/** Contacts since a moment, and those under way. */
export const contactsSince = statement.tenant<Tenant & { since: Date }, BoardContact & Changed>(
  'callcenter.contacts_since',
  `select ${boardColumns} from callcenter.contacts where ${mine} and entered_at >= $since
    union all
   select ${boardColumns} from callcenter.contacts where ${mine} and entered_at < $since and state <> 'ended'
    order by entered_at, id limit 2000000`,
)

export const changedContacts = statement.tenant<Tenant & { after: bigint; limit: number }, BoardContact & Changed>(
  'callcenter.changed_contacts',
  `select ${boardColumns} from callcenter.contacts where ${mine} and changed > $after order by changed limit $limit`,
)

/** Stretches that ended since a moment or go on. */
export const stretchesSince = statement.tenant<Tenant & { since: Date }, BoardStretch & Changed>(
  'callcenter.stretches_since',
  `select id, agent_id, status, began_at, ended_at, changed from callcenter.agent_states
    where ${mine} and (ended_at > $since or ended_at is null) and status in ('available', 'on_call', 'wrap_up')
    order by began_at limit 2000000`,
)

export const changedStretches = statement.tenant<Tenant & { after: bigint; limit: number }, BoardStretch & Changed>(
  'callcenter.changed_stretches',
  `select id, agent_id, status, began_at, ended_at, changed from callcenter.agent_states
    where ${mine} and changed > $after order by changed limit $limit`,
)

export const changedAgents = statement.tenant<Tenant & { after: bigint; limit: number }, AgentRow & Changed>(
  'callcenter.changed_agents',
  `select ${agentColumns}, changed from callcenter.agents where ${mine} and changed > $after order by changed limit $limit`,
)
