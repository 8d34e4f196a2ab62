// SPDX-License-Identifier: Apache-2.0
// Schemas of call requests and replies.
import { Type } from 'typebox'
import { Amount, At, Moment, Nullable, OneOf, Phone } from '../../platform/schema/fields.ts'
import { Quality } from './events.ts'
import { locales } from './speech/voices.ts'

const maxCustomBytes = 4 * 1_024

const Url = (description: string) => Type.String({ minLength: 1, maxLength: 2_048, description })

const Language = Type.Unsafe<string>({
  type: 'string',
  enum: Object.keys(locales),
  rule: 'must be a language that GET /v1/voice/tts/voices lists, such as sw-KE, or one without its region, such as sw',
  errorCode: 'UNSUPPORTED_LANGUAGE',
  description: 'Language of the speech, such as `sw-KE`',
})

const Speech = Type.Object(
  {
    text: Type.String({
      minLength: 1,
      maxLength: 3_000,
      rule: 'must have 1 to 3000 characters',
      sensitive: true,
      description: 'Plain text, or SSML in a <speak> element',
    }),
    language: Language,
    voice: Type.Optional(
      Type.String({
        maxLength: 100,
        description:
          'Voice, as listed by `GET /v1/voice/tts/voices`: female, male or neutral, where the language has it, or the name of a Piper voice',
      }),
    ),
  },
  { description: 'Speech played once before the call ends' },
)

const Method = (description: string) => OneOf(['POST', 'GET'], { description })

/** Customer's notes of a call. */
export const CustomData = Type.Refine(
  Type.Record(Type.String(), Type.Unknown(), {
    description: 'Custom data of the call, at most 4096 bytes as JSON; returned in replies and events',
  }),
  (value) => Buffer.byteLength(JSON.stringify(value)) <= maxCustomBytes,
  () => 'must be a JSON object of at most 4096 bytes',
)

export const CallCreate = Type.Object({
  to: Phone({ description: 'Called party' }),
  from: Phone({ description: 'Caller number shown to the other side; one of yours' }),
  answer_url: Type.Optional(
    Url('URL called for the flow when the call is answered; one of answer_url, tts and actions'),
  ),
  tts: Type.Optional(Speech),
  actions: Type.Optional(
    Type.Array(Type.Unknown(), {
      minItems: 1,
      maxItems: 50,
      rule: 'must have 1 to 50 actions',
      description: 'Flow as a list of actions',
    }),
  ),
  event_url: Type.Optional(Url('URL that receives every status of the call, in order')),
  answer_method: Type.Optional(Method('HTTP method of answer_url; default POST')),
  event_method: Type.Optional(Method('HTTP method of event_url; default POST')),
  fallback_url: Type.Optional(Url('URL called if answer_url returns no flow')),
  ring_timeout: Type.Optional(
    Type.Integer({
      minimum: 5,
      maximum: 120,
      rule: 'must be 5 to 120 seconds',
      description: 'Maximum ringing time in seconds; default 45',
    }),
  ),
  machine_detection: Type.Optional(
    OneOf(['none', 'hangup', 'continue', 'leave_message'], {
      description:
        'Answering machine detection; the result is sent to event_url as `machine`. `leave_message` starts the flow when a person is detected, or after the beep or greeting of a machine',
    }),
  ),
  record: Type.Optional(
    Type.Boolean({
      description: 'True records the whole call: the caller on the left channel, the others on the right',
    }),
  ),
  custom_data: Type.Optional(CustomData),
  scheduled_at: Type.Optional(Moment({ description: 'Time to place the call; at most 30 days ahead' })),
})

export const RedirectRequest = Type.Object({
  answer_url: Type.Optional(Url('URL called for the new flow; one of answer_url and actions')),
  actions: Type.Optional(
    Type.Array(Type.Unknown(), {
      minItems: 1,
      maxItems: 50,
      rule: 'must have 1 to 50 actions',
      description: 'New flow as a list of actions',
    }),
  ),
})

const statuses = [
  'initiated',
  'started',
  'ringing',
  'answered',
  'completed',
  'failed',
  'rejected',
  'busy',
  'timeout',
] as const

export const CallCreated = Type.Object(
  {
    call_id: Type.String({ description: 'Id of the call, such as `call_…`' }),
    conversation_uuid: Type.String({ description: 'Id shared by all legs that were bridged together' }),
    status: OneOf(statuses, { description: '`completed`, `failed`, `rejected`, `busy` and `timeout` are final' }),
    direction: OneOf(['inbound', 'outbound'], { description: '`inbound` to your number, `outbound` from it' }),
    from: Type.String({ description: 'Caller number shown to the other side' }),
    to: Type.String({ description: 'Called party' }),
    started_at: At({ description: 'Time it was placed or received' }),
  },
  { title: 'CallCreated' },
)

export const Call = Type.Object(
  {
    call_id: Type.String({ description: 'Id of the call, such as `call_…`' }),
    conversation_uuid: Type.String({ description: 'Id shared by all legs that were bridged together' }),
    status: OneOf(statuses, { description: '`completed`, `failed`, `rejected`, `busy` and `timeout` are final' }),
    phase: Nullable(Type.String({ description: 'Phase of an answered call: `flow` or `connected`' })),
    direction: OneOf(['inbound', 'outbound'], { description: '`inbound` to your number, `outbound` from it' }),
    from: Type.String({ description: 'Calling party; `+10000000000` if withheld' }),
    to: Type.String({ description: 'Called party' }),
    agent_id: Nullable(Type.String({ description: 'Id of the call-centre agent on the call' })),
    queue_id: Nullable(Type.String({ description: 'Id of the queue that the call came through' })),
    ivr_id: Nullable(Type.String({ description: 'Id of the IVR that it came through' })),
    conference_id: Nullable(Type.String({ description: 'Id of its conference' })),
    parent_call_id: Nullable(Type.String({ description: 'Id of the call whose flow placed this one' })),
    custom_data: Type.Record(Type.String(), Type.Unknown(), { description: 'Custom data of the call' }),
    record: Type.Boolean({ description: 'True if it is recorded' }),
    recording_ids: Type.Array(Type.String(), { description: 'Ids of its recordings, such as `rec_…`' }),
    started_at: At({ description: 'Time it was placed or received' }),
    ringing_at: Nullable(At({ description: 'Time at which the other side began to ring' })),
    answered_at: Nullable(At({ description: 'Time of the answer; null if there was none' })),
    ended_at: Nullable(At({ description: 'End time; null while in progress' })),
    duration: Type.Integer({ description: 'Whole seconds from the answer to the end' }),
    hangup_cause: Nullable(Type.String({ description: 'Reason for the end, such as `normal` or `busy`' })),
    hangup_by: Nullable(Type.String({ description: 'Side that ended the call' })),
    sip_code: Nullable(Type.Integer({ description: 'SIP status of the network, such as 486' })),
    cost: Amount({ description: 'Amount in major units of `currency`; final once the call has ended' }),
    currency: Type.String({ description: 'Currency of the cost, ISO 4217' }),
    quality: Nullable(Quality, { description: 'Audio quality; null until the call has ended' }),
  },
  { title: 'Call' },
)

export const CallEvent = Type.Object(
  {
    position: Type.Integer({ description: 'Position in the call, from 1' }),
    kind: Type.String({ description: 'event: sent to event_url; flow: activity of the flow; sip: signalling' }),
    sequence: Nullable(Type.Integer({ description: 'Sequence number of the events sent to event_url' })),
    at: At({ description: 'Unique id of the event; repeated deliveries carry the same one' }),
    data: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Details of the entry; the fields depend on `kind`',
    }),
  },
  { title: 'CallTraceEntry' },
)

export const PlayRequest = Type.Object({
  tts: Type.Optional(Speech),
  text: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 3_000,
      sensitive: true,
      rule: 'must have 1 to 3000 characters',
      description: 'Text spoken in `language`; alternative to `tts` and `url`',
    }),
  ),
  language: Type.Optional(Language),
  url: Type.Optional(Url('URL of a WAV or MP3 file of at most 10 MB')),
  loop: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 50,
      rule: 'must be 0 to 50; 0 plays until it is stopped',
      description: 'Number of times it is played; default 1',
    }),
  ),
  target: Type.Optional(
    OneOf(['all', 'caller', 'agent'], { description: 'Listeners; `agent` is every party added to the call' }),
  ),
  interrupt: Type.Optional(Type.Boolean({ description: 'False queues it after earlier requests' })),
})

export const Playing = Type.Object(
  {
    call_id: Type.String({ description: 'Id of the call, such as `call_…`' }),
    play_id: Type.String({ description: 'Id of the playback' }),
    status: OneOf(['playing'], { description: 'Status of the playback; `queued` behind earlier ones' }),
    started_at: At({ description: 'Time of the request' }),
  },
  { title: 'Playing' },
)

export const Stopped = Type.Object(
  {
    call_id: Type.String({ description: 'Id of the call, such as `call_…`' }),
    play_id: Nullable(Type.String({ description: 'Id of the stopped playback; null if there was none' })),
    status: OneOf(['stopped'], { description: 'Always `stopped`' }),
    started_at: At({ description: 'Time at which it was stopped' }),
  },
  { title: 'StoppedPlaying' },
)

export const VoiceRecord = Type.Object(
  {
    language: Type.String({ description: 'Language of the voice, such as `sw-KE`' }),
    voice: Type.String({ description: 'Name of the voice, for `voice` in requests' }),
    gender: OneOf(['female', 'male', 'neutral', 'unknown'], {
      description: 'Gender of the voice; `unknown` for Piper voices',
    }),
    engine: Type.String({ description: 'Speech engine, such as `espeak-ng` or `piper`' }),
    quality: OneOf(['native', 'approximate'], {
      description:
        'Quality of the voice; `approximate` reads the language by spelling rules, with the sounds of another language',
    }),
    available: Type.Boolean({ description: 'True if its engine is installed on this server' }),
    is_default: Type.Boolean({ description: 'True if it is the default voice of the language' }),
    sample_url: Type.String({ description: 'Path of a sample WAV file' }),
  },
  { title: 'SpeakingVoice' },
)

export const RecognitionRecord = Type.Object(
  {
    language: Type.String({
      description: 'Language that it recognises: `ar-EG`, or `ar` for every region without a model of its own',
    }),
    model: Type.String({
      description: 'Name of the model, returned as `model` in results',
    }),
    source: OneOf(['folder', 'package'], {
      description:
        'Source of the model: the operator’s folder (`PAMOJA_RECOGNITION`), or a package installed with the server',
    }),
    available: Type.Boolean({ description: 'True if its requirements are installed on this server' }),
  },
  { title: 'RecognitionModel' },
)
