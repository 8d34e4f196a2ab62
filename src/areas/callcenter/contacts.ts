// SPDX-License-Identifier: Apache-2.0
// SQL of contacts: calls as the call centre handles them. Changes need the switchboard lock.
import { one, statement, type Tx } from '../../platform/db.ts'
import { mine, type One, type Tenant } from '../../platform/tenant.ts'
import type { RequiredSkillOf } from './schema.ts'

type ContactState = 'waiting' | 'offered' | 'connected' | 'wrap_up' | 'ended'
export type ContactOutcome = 'answered' | 'abandoned' | 'overflowed' | 'callback' | 'failed'

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
}

const columns = `id, call_id, room_id, queue_id, agent_id, wanted_agent, direction, from_number, to_number, state, outcome, priority, skills,
  data, ivr_path, entered_at, answered_at, ended_at, wrapped_at, held_since, hold_ms, is_short, in_threshold, is_transferred,
  refused_by, leg_id, callback_for, attempts, is_handed, announced_at, disposition, notes, tags, cost`

export const insertContact = statement.tenant<
  One & {
    call: string
    room: string
    queue: string | null
    agent: string | null
    wanted: string | null
    direction: string
    from: string
    to: string
    state: string
    priority: number
    skills: string
    data: string
    path: string
    enteredAt: Date
    callbackFor: string | null
    attempts: number
    isHanded: boolean
  },
  ContactRow
>(
  'callcenter.insert_contact',
  `insert into callcenter.contacts (bucket, account_id, environment, id, call_id, room_id, queue_id, agent_id, wanted_agent,
                                    direction,
                                    from_number, to_number, state, priority, skills, data, ivr_path, entered_at, callback_for,
                                    attempts, is_handed)
   values ($bucket, $account, $environment, $id, $call, $room, $queue, $agent, $wanted, $direction, $from, $to, $state, $priority,
           $skills::jsonb, $data::jsonb, $path::jsonb, $enteredAt, $callbackFor, $attempts, $isHanded)
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

/** Start of a wait in a queue whose call was lost without the caller hanging up. */
export const lostPlaceOf = statement.tenant<
  Tenant & { phone: string; queue: string; since: Date },
  { entered_at: Date }
>(
  'callcenter.lost_place_of',
  `select entered_at from (
     select entered_at, queue_id, outcome, answered_at, ended_at from callcenter.contacts
      where ${mine} and from_number = $phone and direction = 'inbound' order by entered_at desc, id desc limit 1) last
    where queue_id = $queue and outcome = 'failed' and answered_at is null and ended_at >= $since`,
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

const save = statement.tenant<
  One & {
    call: string
    queue: string | null
    agent: string | null
    state: string
    outcome: string | null
    answeredAt: Date | null
    endedAt: Date | null
    wrappedAt: Date | null
    heldSince: Date | null
    holdMs: bigint
    isShort: boolean
    inThreshold: boolean
    isTransferred: boolean
    refusedBy: readonly string[]
    leg: string | null
    attempts: number
    announcedAt: Date | null
    disposition: string | null
    notes: string | null
    tags: readonly string[]
  },
  ContactRow
>(
  'callcenter.save_contact',
  `update callcenter.contacts
      set call_id = $call, queue_id = $queue, agent_id = $agent, state = $state, outcome = $outcome, answered_at = $answeredAt,
          ended_at = $endedAt, wrapped_at = $wrappedAt, held_since = $heldSince, hold_ms = $holdMs, is_short = $isShort,
          in_threshold = $inThreshold, is_transferred = $isTransferred, refused_by = $refusedBy::text[], leg_id = $leg,
          attempts = $attempts, announced_at = $announcedAt, disposition = $disposition, notes = $notes, tags = $tags::text[]
    where ${mine} and id = $id
   returning ${columns}`,
)

export function saveContact(tx: Tx, tenant: Tenant, row: ContactRow, change: Partial<ContactRow>): Promise<ContactRow> {
  const now = { ...row, ...change }
  return one(
    tx.query(save, {
      ...tenant,
      id: row.id,
      call: now.call_id,
      queue: now.queue_id,
      agent: now.agent_id,
      state: now.state,
      outcome: now.outcome,
      answeredAt: now.answered_at,
      endedAt: now.ended_at,
      wrappedAt: now.wrapped_at,
      heldSince: now.held_since,
      holdMs: now.hold_ms,
      isShort: now.is_short,
      inThreshold: now.in_threshold,
      isTransferred: now.is_transferred,
      refusedBy: now.refused_by,
      leg: now.leg_id,
      attempts: now.attempts,
      announcedAt: now.announced_at,
      disposition: now.disposition,
      notes: now.notes,
      tags: now.tags,
    }),
  )
}
