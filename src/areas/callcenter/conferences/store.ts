// SPDX-License-Identifier: Apache-2.0
// SQL of conferences and their participants.
import { statement } from '../../../platform/db.ts'
import { mine, type One, type Tenant } from '../../../platform/tenant.ts'

interface ConferenceOptions {
  from: string
  moderator: string | null
  start_on_moderator: boolean
  mute_on_entry: boolean
  max_participants: number
  entry_tone?: boolean
  /** Started by a flow action; its calls are not rung. */
  is_conversation?: boolean
}

export interface ConferenceRow {
  id: string
  name: string
  status: 'initiated' | 'active' | 'ended'
  record: boolean
  recording_id: string | null
  options: ConferenceOptions
  created_at: Date
  ended_at: Date | null
}

export interface ParticipantRow {
  conference_id: string
  id: string
  endpoint: string
  agent_id: string | null
  call_id: string | null
  role: 'participant' | 'moderator'
  status: 'dialing' | 'joined' | 'held' | 'left' | 'failed'
  muted: boolean
  joined_at: Date | null
  left_at: Date | null
}

const columns = 'id, name, status, record, recording_id, options, created_at, ended_at'
const participantColumns = 'conference_id, id, endpoint, agent_id, call_id, role, status, muted, joined_at, left_at'

export const insertConference = statement.tenant<
  One & { name: string; record: boolean; options: string; at: Date },
  ConferenceRow
>(
  'callcenter.insert_conference',
  `insert into callcenter.conferences (bucket, account_id, environment, id, name, status, record, options, created_at)
   values ($bucket, $account, $environment, $id, $name, 'initiated', $record, $options::jsonb, $at)
   returning ${columns}`,
)

export const findConference = statement.tenant<One, ConferenceRow>(
  'callcenter.find_conference',
  `select ${columns} from callcenter.conferences where ${mine} and id = $id`,
)

/** Finds the open conversation of a name. */
export const openConversation = statement.tenant<Tenant & { name: string }, ConferenceRow>(
  'callcenter.open_conversation',
  `select ${columns} from callcenter.conferences
    where ${mine} and name = $name and status <> 'ended' and options->>'is_conversation' = 'true'
    order by id desc limit 1`,
)

export const saveConference = statement.tenant<
  One & { status: string; recording: string | null; endedAt: Date | null },
  ConferenceRow
>(
  'callcenter.save_conference',
  `update callcenter.conferences set status = $status, recording_id = $recording, ended_at = $endedAt where ${mine} and id = $id
   returning ${columns}`,
)

export const insertParticipant = statement.tenant<
  Tenant & { conference: string; id: string; endpoint: string; agent: string | null; role: string; muted: boolean },
  ParticipantRow
>(
  'callcenter.insert_participant',
  `insert into callcenter.participants (bucket, account_id, environment, conference_id, id, endpoint, agent_id, role, status, muted)
   values ($bucket, $account, $environment, $conference, $id, $endpoint, $agent, $role, 'dialing', $muted)
   returning ${participantColumns}`,
)

export const listParticipants = statement.tenant<Tenant & { conference: string }, ParticipantRow>(
  'callcenter.list_participants',
  `select ${participantColumns} from callcenter.participants where ${mine} and conference_id = $conference order by id`,
)

export const participantOfCall = statement.tenant<Tenant & { call: string }, ParticipantRow>(
  'callcenter.participant_of_call',
  `select ${participantColumns} from callcenter.participants where ${mine} and call_id = $call limit 1`,
)

export const saveParticipant = statement.tenant<
  Tenant & {
    conference: string
    id: string
    call: string | null
    status: string
    muted: boolean
    joinedAt: Date | null
    leftAt: Date | null
  },
  ParticipantRow
>(
  'callcenter.save_participant',
  `update callcenter.participants set call_id = $call, status = $status, muted = $muted, joined_at = $joinedAt, left_at = $leftAt
    where ${mine} and conference_id = $conference and id = $id
   returning ${participantColumns}`,
)
