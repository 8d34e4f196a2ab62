// SPDX-License-Identifier: Apache-2.0
// SQL of metrics: pages of contacts, and agent time.
import { statement } from '../../../platform/db.ts'
import { mine, type Tenant } from '../../../platform/tenant.ts'
import type { ContactRow } from '../contacts.ts'
import type { Stretch } from './measure.ts'

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
          hold_ms, is_short, in_threshold, is_transferred, disposition, cost
     from callcenter.contacts
    where ${mine} and entered_at >= $since and entered_at < $until
      and ($queue::uuid is null or queue_id = $queue) and ($agent::text is null or agent_id = $agent)
      and (entered_at, id) > ($afterAt, $afterId)
    order by entered_at, id limit $limit`,
)

export const stretchesBetween = statement.tenant<Tenant & { since: Date; until: Date; agent: string | null }, Stretch>(
  'callcenter.stretches_between',
  `select agent_id, status, began_at, ended_at from callcenter.agent_states
    where ${mine} and began_at < $until and (ended_at is null or ended_at > $since)
      and ($agent::text is null or agent_id = $agent)
      and status in ('available', 'on_call', 'wrap_up')
    order by began_at limit 500000`,
)
