// SPDX-License-Identifier: Apache-2.0
// Events of calls. `call.completed` closes every call however it ended; other endings (`call.busy`, `call.timeout`,
// ...) are emitted beside it.
import { type Static, Type } from 'typebox'
import { eventType } from '../../platform/events.ts'
import { Amount, At, Nullable, OneOf } from '../../platform/schema/fields.ts'

const seconds = Type.Integer({ description: 'Seconds' })

export const hangupCauses = [
  'normal',
  'cancelled',
  'busy',
  'rejected',
  'no_answer',
  'invalid_number',
  'no_route',
  'network_error',
  'media_timeout',
  'flow_error',
  'max_duration',
  'insufficient_funds',
] as const
/** Parties that may end a call. */
export const enders = ['caller', 'callee', 'agent', 'api', 'system'] as const

export const Quality = Type.Object({
  mos: Type.Number({ description: 'Opinion score, estimated from the others: 1 is bad, 4.5 is best' }),
  jitter_ms: Type.Number({ description: 'Milliseconds by which the audio arrives unevenly' }),
  packet_loss_pct: Type.Number({ description: 'Percent of the audio packets that did not arrive' }),
  rtt_ms: Type.Number({ description: 'Milliseconds to the other side and back' }),
})

const call = {
  account_id: Type.String(),
  call_id: Type.String(),
  conversation_uuid: Type.String({ description: 'Shared by all legs that were bridged together' }),
  direction: OneOf(['inbound', 'outbound']),
  from: Type.String(),
  to: Type.String(),
  agent_id: Nullable(Type.String()),
  queue_id: Nullable(Type.String()),
  custom_data: Type.Record(Type.String(), Type.Unknown()),
  sequence: Type.Integer({ description: 'Order of the events of one call: 0 when it is initiated, then from 1' }),
}

const Initiated = Type.Object(
  { ...call, status: Type.Literal('initiated'), started_at: At() },
  { title: 'CallInitiatedEvent' },
)

const Progress = Type.Object(
  {
    ...call,
    status: OneOf(['started', 'ringing', 'failed', 'rejected', 'busy', 'timeout']),
    duration: seconds,
    reason: Nullable(OneOf(hangupCauses)),
    sip_code: Nullable(Type.Integer()),
  },
  { title: 'CallProgressEvent' },
)

const Answered = Type.Object(
  {
    ...call,
    status: Type.Literal('answered'),
    duration: Type.Integer({ description: 'Seconds of talk so far: none' }),
    answered_at: At(),
    wait_seconds: seconds,
    answered_by: OneOf(['agent', 'flow', 'callee']),
  },
  { title: 'CallAnsweredEvent' },
)

const Completed = Type.Object(
  {
    ...call,
    status: OneOf(['completed', 'failed', 'rejected', 'busy', 'timeout']),
    duration: seconds,
    hangup_cause: OneOf(hangupCauses),
    hangup_by: Nullable(OneOf(enders)),
    talk_seconds: seconds,
    hold_seconds: seconds,
    wait_seconds: seconds,
    recording_ids: Type.Array(Type.String()),
    cost: Amount(),
    currency: Type.String(),
    quality: Nullable(Quality),
    disposition: Nullable(
      Type.String({ description: 'What the agent noted before the end; later notes are in the reports' }),
    ),
    ended_at: At(),
  },
  { title: 'CallCompletedEvent' },
)

const Queued = Type.Object(
  {
    ...call,
    position: Type.Integer(),
    priority: Type.Integer(),
    estimated_wait_seconds: Nullable(seconds),
    queued_at: At(),
  },
  { title: 'CallQueuedEvent' },
)

const Abandoned = Type.Object(
  { ...call, position: Type.Integer(), wait_seconds: seconds },
  { title: 'CallAbandonedEvent' },
)

const Transferred = Type.Object(
  {
    ...call,
    transfer_id: Type.String(),
    transfer_type: OneOf(['warm', 'cold']),
    destination: Type.String(),
    status: OneOf(['ringing', 'consulting', 'completed', 'failed', 'cancelled']),
    consult_call_id: Nullable(Type.String()),
    started_at: At(),
  },
  { title: 'CallTransferredEvent' },
)

const Input = Type.Object(
  {
    ...call,
    dtmf: Type.String({ description: 'Digits, empty if there were none' }),
    speech: Nullable(
      Type.Object({ results: Type.Array(Type.Object({ text: Type.String(), confidence: Type.Number() })) }),
    ),
    timed_out: Type.Boolean(),
  },
  { title: 'CallInputEvent' },
)

const outbound = {
  account_id: 'acc_01jb2c3d4e5f6g7h8j9kamnpqr',
  call_id: 'call_01jb2c3d4e5f6g7h8j9kamnpqr',
  conversation_uuid: 'CON-01jb2c3d4e5f6g7h8j9kamnpqr',
  direction: 'outbound',
  from: '+254711000000',
  to: '+254711000001',
  agent_id: null,
  queue_id: null,
  custom_data: { order: '77' },
  sequence: 0,
} as const
const inbound = {
  ...outbound,
  direction: 'inbound',
  from: '+254711000001',
  to: '+254711000000',
  queue_id: 'que_01jb2c3d4e5f6g7h8j9kamnpqr',
  sequence: 2,
} as const
const now = new Date('2026-03-01T09:15:30Z')

function progress(
  status: Static<typeof Progress>['status'],
  summary: string,
  end: Pick<Static<typeof Progress>, 'reason' | 'sip_code'> = { reason: null, sip_code: null },
) {
  const sample = { ...outbound, sequence: status === 'started' ? 1 : 2, status, duration: 0, ...end }
  return eventType({ name: `call.${status}`, summary, payload: Progress, sample })
}

export const callEvents = {
  initiated: eventType({
    name: 'call.initiated',
    summary: 'A call was accepted and is about to be placed',
    payload: Initiated,
    sample: { ...outbound, status: 'initiated', started_at: now },
  }),
  started: progress('started', 'A call is being placed, or came in'),
  ringing: progress('ringing', 'The other side rings'),
  answered: eventType({
    name: 'call.answered',
    summary: 'A call was answered',
    payload: Answered,
    sample: {
      ...outbound,
      sequence: 3,
      status: 'answered',
      duration: 0,
      answered_at: now,
      wait_seconds: 6,
      answered_by: 'callee',
    },
  }),
  completed: eventType({
    name: 'call.completed',
    summary: 'A call is over, answered or not',
    payload: Completed,
    sample: {
      ...outbound,
      sequence: 4,
      status: 'completed',
      duration: 73,
      hangup_cause: 'normal',
      hangup_by: 'callee',
      talk_seconds: 73,
      hold_seconds: 0,
      wait_seconds: 6,
      recording_ids: [],
      cost: 3_650_000n,
      currency: 'KES',
      quality: { mos: 4.3, jitter_ms: 6.2, packet_loss_pct: 0.1, rtt_ms: 48 },
      disposition: null,
      ended_at: now,
    },
  }),
  failed: progress('failed', 'A call could not be placed', { reason: 'no_route', sip_code: 404 }),
  rejected: progress('rejected', 'The other side refused a call', { reason: 'rejected', sip_code: 603 }),
  busy: progress('busy', 'The other side was busy', { reason: 'busy', sip_code: 486 }),
  timeout: progress('timeout', 'Nobody answered in time', { reason: 'no_answer', sip_code: 480 }),
  queued: eventType({
    name: 'call.queued',
    summary: 'A caller waits in a queue',
    payload: Queued,
    sample: { ...inbound, position: 2, priority: 5, estimated_wait_seconds: 40, queued_at: now },
  }),
  abandoned: eventType({
    name: 'call.abandoned',
    summary: 'A caller hung up while waiting in a queue',
    payload: Abandoned,
    sample: { ...inbound, sequence: 4, position: 1, wait_seconds: 95 },
  }),
  transferred: eventType({
    name: 'call.transferred',
    summary: 'A call was handed to somebody else',
    payload: Transferred,
    sample: {
      ...inbound,
      sequence: 6,
      agent_id: 'agent-7',
      transfer_id: 'trf_01jb2c3d4e5f6g7h8j9kamnpqr',
      transfer_type: 'cold',
      destination: 'agent-9',
      status: 'completed',
      consult_call_id: null,
      started_at: now,
    },
  }),
  input: eventType({
    name: 'call.input',
    summary: 'A caller typed or said something that was asked for',
    payload: Input,
    sample: { ...outbound, sequence: 5, dtmf: '1', speech: null, timed_out: false },
  }),
}
