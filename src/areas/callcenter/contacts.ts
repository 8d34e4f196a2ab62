// SPDX-License-Identifier: Apache-2.0
// SQL of contacts: calls as the call centre handles them. Changes need the switchboard lock.
import { stored } from '../../platform/db/stored.ts'
import { one, statement, type Tx } from '../../platform/db.ts'
import { mine, type One, type Tenant } from '../../platform/tenant.ts'
import type { RequiredSkillOf } from './schema.ts'

type ContactState = 'waiting' | 'offered' | 'connected' | 'wrap_up' | 'ended'
export type ContactOutcome = 'answered' | 'abandoned' | 'overflowed' | 'callback' | 'failed'

/** How far a call was counted before a contact of it. */
export type CountedBefore = 'no' | 'offered' | 'answered'

export interface PathStep {
  menu: string
  digit: string
  label: string | null
}

export interface ContactRow {
  id: string
  call_id: string
  /** Room of the legs; for an inbound call, its own. */
  room_id: string
  queue_id: string | null
  agent_id: string | null
  wanted_agent: string | null
  direction: 'inbound' | 'outbound'
  from_number: string
  to_number: string
  state: ContactState
  outcome: ContactOutcome | null
  priority: number
  skills: RequiredSkillOf[]
  data: Record<string, unknown>
  ivr_path: PathStep[]
  entered_at: Date
  answered_at: Date | null
  ended_at: Date | null
  wrapped_at: Date | null
  held_since: Date | null
  hold_ms: bigint
  is_short: boolean
  in_threshold: boolean
  is_transferred: boolean
  refused_by: string[]
  leg_id: string | null
  callback_for: string | null
  attempts: number
  /** The call's own flow continues after the contact. */
  is_handed: boolean
  announced_at: Date | null
  disposition: string | null
  notes: string | null
  tags: string[]
  cost: bigint
  /** How far earlier contacts counted the call. */
  call_counted: CountedBefore
  /** How far earlier contacts of the call in the same queue counted it. */
  queue_counted: CountedBefore
  /** The wait goes on in the contact of another call. */
  is_continued: boolean
}

const columns = `id, call_id, room_id, queue_id, agent_id, wanted_agent, direction, from_number, to_number, state, outcome, priority, skills,
  data, ivr_path, entered_at, answered_at, ended_at, wrapped_at, held_since, hold_ms, is_short, in_threshold, is_transferred,
  refused_by, leg_id, callback_for, attempts, is_handed, announced_at, disposition, notes, tags, cost, call_counted, queue_counted, is_continued`

const begun =
  stored(`call_id, room_id, queue_id, agent_id, wanted_agent, direction, from_number, to_number, state, priority,
  skills::jsonb, data::jsonb, ivr_path::jsonb, entered_at, callback_for, attempts, is_handed`)

type Begun = Pick<
  ContactRow,
  | ('call_id' | 'room_id' | 'queue_id' | 'agent_id' | 'wanted_agent' | 'direction' | 'from_number' | 'to_number')
  | ('state' | 'priority' | 'entered_at' | 'callback_for' | 'attempts' | 'is_handed')
> & { skills: string; data: string; ivr_path: string }

/** How far the earlier contacts of a call that a condition leaves counted it. */
const countedBy = (condition: string): string =>
  `(select case when count(*) = 0 then 'no' when bool_or(answered_at is not null) then 'answered' else 'offered' end
      from callcenter.contacts where ${mine} and call_id = $call_id and not is_continued and ${condition})`

export const insertContact = statement.tenant<One & Begun, ContactRow>(
  'callcenter.insert_contact',
  `insert into callcenter.contacts (bucket, account_id, environment, id, ${begun.names}, call_counted, queue_counted)
   values ($bucket, $account, $environment, $id, ${begun.values},
           ${countedBy('true')}, ${countedBy('queue_id is not distinct from $queue_id')})
   returning ${columns}`,
)

export const findContact = statement.tenant<One, ContactRow>(
  'callcenter.find_contact',
  `select ${columns} from callcenter.contacts where ${mine} and id = $id`,
)

/** Current contact of a call, the last of several; of an ended call, the last. */
export const contactOfCall = statement.tenant<Tenant & { call: string }, ContactRow>(
  'callcenter.contact_of_call',
  `select ${columns} from callcenter.contacts where ${mine} and call_id = $call
    order by ended_at is null desc, id desc limit 1`,
)

export const contactsOfCall = statement.tenant<Tenant & { call: string }, ContactRow>(
  'callcenter.contacts_of_call',
  `select ${columns} from callcenter.contacts where ${mine} and call_id = $call order by id limit 100`,
)

export const underWay = statement.tenant<Tenant, ContactRow>(
  'callcenter.contacts_under_way',
  `select ${columns} from callcenter.contacts where ${mine} and state <> 'ended' order by entered_at, id limit 20000`,
)

export const contactsOfCaller = statement.tenant<Tenant & { phone: string; limit: number }, ContactRow>(
  'callcenter.contacts_of_caller',
  `select ${columns} from callcenter.contacts
    where ${mine} and ((direction = 'inbound' and from_number = $phone) or (direction = 'outbound' and to_number = $phone))
    order by entered_at desc, id desc limit $limit`,
)

export const lastContactOf = statement.tenant<Tenant & { phone: string }, { entered_at: Date }>(
  'callcenter.last_contact_of',
  `select entered_at from callcenter.contacts where ${mine} and from_number = $phone order by entered_at desc limit 1`,
)

/** Wait in a queue that goes on in another call. */
export type Place = Pick<ContactRow, 'id' | 'entered_at'>

/** Wait in a queue whose call was lost without the caller hanging up. */
export const lostPlaceOf = statement.tenant<Tenant & { phone: string; queue: string; since: Date }, Place>(
  'callcenter.lost_place_of',
  `select id, entered_at from (
     select id, entered_at, queue_id, outcome, answered_at, ended_at from callcenter.contacts
      where ${mine} and from_number = $phone and direction = 'inbound' order by entered_at desc, id desc limit 1) last
    where queue_id = $queue and outcome = 'failed' and answered_at is null and ended_at >= $since`,
)

/** Whether an agent, or any of them, has a live call with a number or had one since then. */
export const hasCall = statement.tenant<
  Tenant & { agent: string | null; phone: string; since: Date },
  { known: boolean }
>(
  'callcenter.has_call',
  `select exists (
     select 1 from callcenter.contacts
      where ${mine} and (state <> 'ended' and ended_at is null or entered_at > $since) and ($agent::text is null or agent_id = $agent)
        and ((direction = 'inbound' and from_number = $phone) or (direction = 'outbound' and to_number = $phone))) as known`,
)

/** Notes that a wait goes on in another contact, which is counted in its place. */
export const noteContinued = statement.tenant<One, object>(
  'callcenter.note_continued',
  `update callcenter.contacts set is_continued = true where ${mine} and id = $id`,
)

export const noteMoved = statement.tenant<One, object>(
  'callcenter.note_moved',
  `update callcenter.contacts set is_moved = true where ${mine} and id = $id`,
)

/** Ends the move of a wait, where it was not ended: the caller has arrived, or stays. Null without an id takes the longest wait. */
export const endMove = statement.tenant<
  Tenant & { id: string | null; phone: string; to: string; since: Date },
  ContactRow
>(
  'callcenter.end_move',
  `update callcenter.contacts set is_moved = false
    where ${mine} and is_moved and id = (
      select id from callcenter.contacts
       where ${mine} and is_moved and from_number = $phone and to_number = $to and ended_at >= $since
         and ($id::uuid is null or id = $id)
       order by entered_at, id limit 1 for update skip locked)
   returning ${columns}`,
)

export const addCost = statement.tenant<One & { cost: bigint }, object>(
  'callcenter.add_cost',
  `update callcenter.contacts set cost = cost + $cost where ${mine} and id = $id`,
)

const changing =
  stored(`call_id, queue_id, agent_id, state, outcome, answered_at, ended_at, wrapped_at, held_since, hold_ms, is_short,
  in_threshold, is_transferred, refused_by::text[], leg_id, attempts, announced_at, disposition, notes, tags::text[]`)

type Changing = Omit<ContactRow, keyof Begun | 'cost' | 'call_counted' | 'queue_counted' | 'is_continued'> &
  Pick<Begun, 'call_id' | 'queue_id' | 'agent_id' | 'state' | 'attempts'>

const save = statement.tenant<One & Changing, ContactRow>(
  'callcenter.save_contact',
  `update callcenter.contacts set ${changing.set} where ${mine} and id = $id returning ${columns}`,
)

export function saveContact(tx: Tx, tenant: Tenant, row: ContactRow, change: Partial<ContactRow>): Promise<ContactRow> {
  return one(tx.query(save, { ...row, ...change, ...tenant, id: row.id }))
}
