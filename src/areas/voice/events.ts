// SPDX-License-Identifier: Apache-2.0
// Events of calls. `call.completed` closes every call however it ended; other endings (`call.busy`, `call.timeout`,
// ...) are emitted beside it.
import { type Static, Type } from 'typebox'
import { eventType } from '../../platform/events.ts'
import { Amount, At, Nullable, OneOf } from '../../platform/schema/fields.ts'

const seconds = (description: string) => Type.Integer({ description })

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
  mos: Type.Number({
    description: 'Mean opinion score (MOS), estimated from jitter, loss and round-trip time: 1 is bad, 4.5 is best',
  }),
  jitter_ms: Type.Number({ description: 'Jitter in milliseconds' }),
  packet_loss_pct: Type.Number({ description: 'Percentage of lost audio packets' }),
  rtt_ms: Type.Number({ description: 'Round-trip time in milliseconds' }),
})

const call = {
  account_id: Type.String({ description: 'Id of the account of the call, such as `acc_…`' }),
  call_id: Type.String({ description: 'Id of the call, such as `call_…`' }),
  conversation_uuid: Type.String({ description: 'Id shared by all legs that were bridged together' }),
  direction: OneOf(['inbound', 'outbound'], { description: '`inbound` to your number, `outbound` from it' }),
  from: Type.String({ description: 'Calling party; `+10000000000` if withheld' }),
  to: Type.String({ description: 'Called party' }),
  agent_id: Nullable(Type.String({ description: 'Id of the call-centre agent on the call' })),
  queue_id: Nullable(Type.String({ description: 'Id of the queue that the call came through' })),
  custom_data: Type.Record(Type.String(), Type.Unknown(), { description: 'Custom data of the call' }),
  sequence: Type.Integer({ description: 'Order of the events of one call: 0 when it is initiated, then from 1' }),
}

const Initiated = Type.Object(
  {
    ...call,
    status: Type.Literal('initiated', { description: 'Status of the call: accepted, not ringing yet' }),
    started_at: At({ description: 'Time it was placed or received' }),
  },
  { title: 'CallInitiatedEvent' },
)

const Progress = Type.Object(
  {
    ...call,
    status: OneOf(['started', 'ringing', 'failed', 'rejected', 'busy', 'timeout'], {
      description: 'Status of the call; all but `started` and `ringing` are followed by `call.completed`',
    }),
    duration: seconds('Whole seconds from the answer on: 0 without an answer'),
    reason: Nullable(OneOf(hangupCauses, { description: 'Reason for the end; null while it is in progress' })),
    sip_code: Nullable(Type.Integer({ description: 'SIP status of the network, such as 486' })),
  },
  { title: 'CallProgressEvent' },
)

const Answered = Type.Object(
  {
    ...call,
    status: Type.Literal('answered', { description: 'Status of the call: answered by a person or by your flow' }),
    duration: Type.Integer({ description: 'Seconds of talk; 0 at the answer' }),
    answered_at: At({ description: 'Time of the answer' }),
    wait_seconds: seconds('Seconds from the start of the call to the answer'),
    answered_by: OneOf(['agent', 'flow', 'callee'], {
      description: 'Answering side: `flow` of an inbound call, `agent` of a call to an agent, or `callee`',
    }),
  },
  { title: 'CallAnsweredEvent' },
)

const Completed = Type.Object(
  {
    ...call,
    status: OneOf(['completed', 'failed', 'rejected', 'busy', 'timeout'], {
      description: 'Outcome: `completed` if answered; otherwise the reason',
    }),
    duration: seconds('Whole seconds from the answer to the end'),
    hangup_cause: OneOf(hangupCauses, { description: 'Reason for the end' }),
    hangup_by: Nullable(OneOf(enders, { description: 'Side that ended the call; null where that is not known' })),
    talk_seconds: seconds('Seconds of talk without hold'),
    hold_seconds: seconds('Seconds on hold, all holds of the call together'),
    wait_seconds: seconds('Seconds from the start of the call to the answer; 0 if there was none'),
    recording_ids: Type.Array(Type.String(), { description: 'Ids of its recordings, such as `rec_…`' }),
    cost: Amount({ description: 'Amount in major units of `currency`' }),
    currency: Type.String({ description: 'Currency of the cost, ISO 4217' }),
    quality: Nullable(Quality, { description: 'Audio quality; null where nothing was measured' }),
    disposition: Nullable(
      Type.String({ description: 'Outcome noted by the agent before the end; later notes are in the reports' }),
    ),
    ended_at: At({ description: 'Time of the end' }),
  },
  { title: 'CallCompletedEvent' },
)

const Queued = Type.Object(
  {
    ...call,
    position: Type.Integer({ description: 'Position in the queue, from 1' }),
    priority: Type.Integer({ description: 'Priority in the queue; higher ones are answered first' }),
    estimated_wait_seconds: Nullable(seconds('Estimated wait in seconds; null if unknown')),
    queued_at: At({ description: 'Time it entered the queue' }),
  },
  { title: 'CallQueuedEvent' },
)

const Abandoned = Type.Object(
  {
    ...call,
    position: Type.Integer({ description: 'Position in the queue at the hang-up, from 1' }),
    wait_seconds: seconds('Seconds that the caller had waited in the queue'),
  },
  { title: 'CallAbandonedEvent' },
)

const Transferred = Type.Object(
  {
    ...call,
    transfer_id: Type.String({ description: 'Id of the transfer, such as `trf_…`' }),
    transfer_type: OneOf(['warm', 'cold'], { description: '`warm`: the agent consults the destination first' }),
    destination: Type.String({ description: 'Destination of the transfer' }),
    status: OneOf(['ringing', 'consulting', 'completed', 'failed', 'cancelled'], {
      description: 'Status of the transfer; `consulting` while the agent speaks with the destination',
    }),
    consult_call_id: Nullable(Type.String({ description: 'Id of the consultation call of a warm transfer' })),
    started_at: At({ description: 'Time at which the transfer began' }),
  },
  { title: 'CallTransferredEvent' },
)

const Input = Type.Object(
  {
    ...call,
    dtmf: Type.String({ description: 'Digits, empty if there were none' }),
    speech: Nullable(
      Type.Object(
        {
          results: Type.Array(
            Type.Object({
              text: Type.String({ description: 'Recognised text' }),
              confidence: Type.Number({ description: 'Confidence of the recognition, 0 to 1' }),
            }),
            { description: 'Possible texts, the likeliest first' },
          ),
        },
        { description: 'Recognised speech; null unless speech was requested' },
      ),
    ),
    timed_out: Type.Boolean({ description: 'True if the time ran out before the input was complete' }),
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
  const person = ({ direction, from, to }: Static<typeof Progress>) =>
    direction === 'inbound' ? { phone: from, isInbound: true } : { phone: to, isInbound: false }
  return eventType({
    ...{ name: `call.${status}`, summary, payload: Progress, sample },
    ...(status === 'started' ? { person } : {}),
  })
}

export const callEvents = {
  initiated: eventType({
    name: 'call.initiated',
    summary: 'A call request was accepted',
    payload: Initiated,
    sample: { ...outbound, status: 'initiated', started_at: now },
  }),
  started: progress('started', 'A call is being placed, or arrived'),
  ringing: progress('ringing', 'The called party is ringing'),
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
    summary: 'A call ended, answered or not',
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
  rejected: progress('rejected', 'The called party rejected a call', { reason: 'rejected', sip_code: 603 }),
  busy: progress('busy', 'The called party was busy', { reason: 'busy', sip_code: 486 }),
  timeout: progress('timeout', 'A call was not answered in time', { reason: 'no_answer', sip_code: 480 }),
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
    summary: 'A call was transferred',
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
    summary: 'A caller entered digits or speech',
    payload: Input,
    sample: { ...outbound, sequence: 5, dtmf: '1', speech: null, timed_out: false },
  }),
}
