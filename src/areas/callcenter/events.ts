// SPDX-License-Identifier: Apache-2.0
// Events of the call centre: agents, conferences, queues, monitoring and voicemail.
import { type Static, Type } from 'typebox'
import { eventType } from '../../platform/events.ts'
import { At, Nullable, OneOf } from '../../platform/schema/fields.ts'
import { agentStatuses } from './schema.ts'

const account_id = Type.String({ description: 'Id of the account of the call centre, such as `acc_…`' })
const agent_id = Type.String({ description: 'Your own id for the agent' })

const StatusChanged = Type.Object(
  {
    account_id,
    agent_id,
    status: OneOf(agentStatuses, { description: 'New status; calls go to `available` agents' }),
    previous_status: OneOf(agentStatuses, { description: 'Status before the change' }),
    reason: Nullable(Type.String({ description: 'Reason given with the status, such as `lunch`' })),
    since: At({ description: 'Time of the change' }),
    previous_seconds: Type.Integer({ description: 'Seconds that the previous status lasted' }),
    call_id: Nullable(Type.String({ description: 'Id of the agent’s call; null without one' })),
  },
  { title: 'AgentStatusChangedEvent' },
)

const Session = Type.Object(
  {
    account_id,
    agent_id,
    session_id: Type.String({ description: 'Id of the login, such as `ses_…`' }),
    status: OneOf(agentStatuses, { description: 'Current status of the agent' }),
    duration: Type.Integer({ description: 'Seconds logged in' }),
    reason: Nullable(Type.String({ description: '`replaced` when the agent logged in elsewhere' })),
  },
  { title: 'AgentSessionEvent' },
)

const Conference = Type.Object(
  {
    account_id,
    conference_id: Type.String({ description: 'Id of the conference, such as `conf_…`' }),
    name: Type.String({ description: 'Label of the conference' }),
    participant: Nullable(
      Type.Object(
        {
          id: Type.String({ description: 'Id of the participant, such as `par_…`' }),
          number: Nullable(Type.String({ description: 'Number of the participant; null for an agent without one' })),
          agent_id: Nullable(Type.String({ description: 'Id of an agent; null for other participants' })),
        },
        { description: 'Participant who joined or left; null for events of the whole conference' },
      ),
    ),
    participants: Type.Integer({ description: 'Number of participants now' }),
  },
  { title: 'ConferenceEvent' },
)

const SlaBreached = Type.Object(
  {
    account_id,
    queue_id: Type.String({ description: 'Id of the queue, such as `que_…`' }),
    name: Type.String({ description: 'Name of the queue' }),
    service_level_percent: Type.Number({ description: 'Percentage of today’s calls, UTC, that were answered in time' }),
    target_percent: Type.Number({ description: 'Target of `sla` of the queue' }),
    threshold_seconds: Type.Integer({ description: 'Threshold in `sla` of the queue' }),
    waiting: Type.Integer({ description: 'Callers in the queue now' }),
    longest_wait_seconds: Type.Integer({ description: 'Seconds that the first caller has waited' }),
  },
  { title: 'QueueSlaBreachedEvent' },
)

const Monitor = Type.Object(
  {
    account_id,
    monitor_id: Type.String({ description: 'Id of the monitoring, such as `mon_…`' }),
    call_id: Type.String({ description: 'Id of the call that is monitored' }),
    supervisor_id: Nullable(Type.String({ description: 'Id of the supervising agent; null for an endpoint' })),
    mode: OneOf(['listen', 'whisper', 'barge'], {
      description: 'Listening mode: not heard (`listen`), heard by the agent only (`whisper`) or by both (`barge`)',
    }),
    status: OneOf(['connecting', 'active', 'ended'], { description: '`active` once the supervisor hears the call' }),
    supervisor_call_id: Nullable(
      Type.String({ description: 'Id of the call to the supervisor; null until it is placed' }),
    ),
    started_at: At({ description: 'Time of the request' }),
    ended_at: Nullable(At({ description: 'End time; null while in progress' })),
  },
  { title: 'MonitorEvent' },
)

const Voicemail = Type.Object(
  {
    account_id,
    voicemail_id: Type.String({ description: 'Id of the voicemail, such as `vm_…`' }),
    call_id: Type.String({ description: 'Id of the call of the voicemail' }),
    queue_id: Nullable(Type.String({ description: 'Id of the queue of the voicemail; null if none' })),
    from: Type.String({ description: 'Number of the caller' }),
    duration: Type.Integer({ description: 'Duration in seconds' }),
    file_url: Type.String({ description: 'URL of the audio file' }),
  },
  { title: 'VoicemailReceivedEvent' },
)

const account = { account_id: 'acc_01jb2c3d4e5f6g7h8j9kamnpqr' }
const call_id = 'call_01jb2c3d4e5f6g7h8j9kamnpqr'
const now = new Date('2026-03-01T09:15:30Z')

const login: Static<typeof Session> = {
  ...account,
  agent_id: 'agent-7',
  session_id: 'ses_01jb2c3d4e5f6g7h8j9kamnpqr',
  status: 'available',
  duration: 0,
  reason: null,
}

const meeting: Static<typeof Conference> = {
  ...account,
  conference_id: 'conf_01jb2c3d4e5f6g7h8j9kamnpqr',
  name: 'Stand-up',
  participant: null,
  participants: 0,
}
const guest = { id: 'par_01jb2c3d4e5f6g7h8j9kamnpqr', number: '+254711000001', agent_id: null }

const listening: Static<typeof Monitor> = {
  ...account,
  monitor_id: 'mon_01jb2c3d4e5f6g7h8j9kamnpqr',
  call_id,
  supervisor_id: 'agent-1',
  mode: 'listen',
  status: 'active',
  supervisor_call_id: 'call_01jb2c3d4e5f6g7h8j9kamnpqq',
  started_at: new Date('2026-03-01T09:14:30Z'),
  ended_at: null,
}

const session = (name: string, summary: string, sample = login) =>
  eventType({ name, summary, payload: Session, sample })
const conference = (name: string, summary: string, sample = meeting) =>
  eventType({ name, summary, payload: Conference, sample })
const monitor = (name: string, summary: string, sample = listening) =>
  eventType({ name, summary, payload: Monitor, sample })

export const agentEvents = {
  statusChanged: eventType({
    name: 'agent.status_changed',
    summary: 'An agent became available, busy or absent',
    payload: StatusChanged,
    sample: {
      ...account,
      agent_id: 'agent-7',
      status: 'on_call',
      previous_status: 'ringing',
      reason: null,
      since: now,
      previous_seconds: 4,
      call_id,
    },
  }),
  loggedIn: session('agent.logged_in', 'An agent logged in'),
  loggedOut: session('agent.logged_out', 'An agent logged out', { ...login, status: 'offline', duration: 28_800 }),
}

export const conferenceEvents = {
  started: conference('conference.started', 'A conference began', { ...meeting, participants: 2 }),
  ended: conference('conference.ended', 'A conference ended'),
  participantJoined: conference('conference.participant_joined', 'A participant joined a conference', {
    ...meeting,
    participant: guest,
    participants: 3,
  }),
  participantLeft: conference('conference.participant_left', 'A participant left a conference', {
    ...meeting,
    participant: guest,
    participants: 2,
  }),
}

export const queueEvents = {
  slaBreached: eventType({
    name: 'queue.sla_breached',
    summary: 'Callers of a queue wait longer than its target allows',
    payload: SlaBreached,
    sample: {
      ...account,
      queue_id: 'que_01jb2c3d4e5f6g7h8j9kamnpqr',
      name: 'Support',
      service_level_percent: 71.4,
      target_percent: 80,
      threshold_seconds: 20,
      waiting: 6,
      longest_wait_seconds: 84,
    },
  }),
}

export const monitorEvents = {
  started: monitor('monitor.started', 'A supervisor joined a call'),
  ended: monitor('monitor.ended', 'A supervisor left a call', { ...listening, status: 'ended', ended_at: now }),
}

export const voicemailEvents = {
  received: eventType({
    name: 'voicemail.received',
    summary: 'A caller left a message',
    payload: Voicemail,
    sample: {
      ...account,
      voicemail_id: 'vm_01jb2c3d4e5f6g7h8j9kamnpqr',
      call_id,
      queue_id: 'que_01jb2c3d4e5f6g7h8j9kamnpqr',
      from: '+254711000001',
      duration: 21,
      file_url: 'https://recordings.example/vm_01jb2c3d4e5f6g7h8j9kamnpqr.wav?exp=1772360130&sig=1b9e',
    },
  }),
}
