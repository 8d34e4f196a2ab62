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
  description: 'What is spoken, such as `sw-KE`',
})

const Speech = Type.Object(
  {
    text: Type.String({
      minLength: 1,
      maxLength: 3_000,
      rule: 'must have 1 to 3000 characters',
      sensitive: true,
      description: 'Plain, or SSML in a <speak> element',
    }),
    language: Language,
    voice: Type.Optional(
      Type.String({
        maxLength: 100,
        description:
          'One that `GET /v1/voice/tts/voices` lists: female, male or neutral, where the language has it, or the name of a Piper voice',
      }),
    ),
  },
  { description: 'Spoken once, then the call ends' },
)

const Method = (description: string) => OneOf(['POST', 'GET'], { description })

/** Customer's notes of a call. */
export const CustomData = Type.Refine(
  Type.Record(Type.String(), Type.Unknown(), {
    description: 'Your own notes of the call, at most 4096 bytes as JSON; repeated in replies and events',
  }),
  (value) => Buffer.byteLength(JSON.stringify(value)) <= maxCustomBytes,
  () => 'must be a JSON object of at most 4096 bytes',
)

export const CallCreate = Type.Object({
  to: Phone({ description: 'Who is called' }),
  from: Phone({ description: 'The number that the other side sees; one of yours' }),
  answer_url: Type.Optional(Url('Asked for the flow when somebody answers; one of answer_url, tts and actions')),
  tts: Type.Optional(Speech),
  actions: Type.Optional(
    Type.Array(Type.Unknown(), {
      minItems: 1,
      maxItems: 50,
      rule: 'must have 1 to 50 actions',
      description: 'The flow itself',
    }),
  ),
  event_url: Type.Optional(Url('Told of every status of the call, in order')),
  answer_method: Type.Optional(Method('How answer_url is asked; POST unless given')),
  event_method: Type.Optional(Method('How event_url is told; POST unless given')),
  fallback_url: Type.Optional(Url('Asked when answer_url gives no flow')),
  ring_timeout: Type.Optional(
    Type.Integer({
      minimum: 5,
      maximum: 120,
      rule: 'must be 5 to 120 seconds',
      description: 'Seconds it may ring; 45 unless told',
    }),
  ),
  machine_detection: Type.Optional(
    OneOf(['none', 'hangup', 'continue', 'leave_message'], {
      description:
        'Whether to find out if a machine answers; told to event_url as machine. `leave_message` begins the flow when a person was heard, or after the beep or the greeting of a machine',
    }),
  ),
  record: Type.Optional(Type.Boolean({ description: 'Record the whole call, the caller left and the others right' })),
  custom_data: Type.Optional(CustomData),
  scheduled_at: Type.Optional(Moment({ description: 'Place the call then; at most 30 days ahead' })),
})

export const RedirectRequest = Type.Object({
  answer_url: Type.Optional(Url('Asked for the new flow; one of answer_url and actions')),
  actions: Type.Optional(
    Type.Array(Type.Unknown(), {
      minItems: 1,
      maxItems: 50,
      rule: 'must have 1 to 50 actions',
      description: 'The new flow itself',
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
    conversation_uuid: Type.String({ description: 'Shared by all legs that are bridged together' }),
    status: OneOf(statuses, { description: '`completed`, `failed`, `rejected`, `busy` and `timeout` are final' }),
    direction: OneOf(['inbound', 'outbound'], { description: '`inbound` to your number, `outbound` from it' }),
    from: Type.String({ description: 'The number that the other side sees' }),
    to: Type.String({ description: 'Who is called' }),
    started_at: At({ description: 'When it was placed or came in' }),
  },
  { title: 'CallCreated' },
)

export const Call = Type.Object(
  {
    call_id: Type.String({ description: 'Id of the call, such as `call_…`' }),
    conversation_uuid: Type.String({ description: 'Shared by all legs that are bridged together' }),
    status: OneOf(statuses, { description: '`completed`, `failed`, `rejected`, `busy` and `timeout` are final' }),
    phase: Nullable(Type.String({ description: 'What goes on while it is answered: flow, connected' })),
    direction: OneOf(['inbound', 'outbound'], { description: '`inbound` to your number, `outbound` from it' }),
    from: Type.String({ description: 'Who calls' }),
    to: Type.String({ description: 'Who is called' }),
    agent_id: Nullable(Type.String({ description: 'The agent who speaks, of a call centre' })),
    queue_id: Nullable(Type.String({ description: 'The queue it came through' })),
    ivr_id: Nullable(Type.String({ description: 'The IVR it came through' })),
    conference_id: Nullable(Type.String({ description: 'The conference it is in' })),
    parent_call_id: Nullable(Type.String({ description: 'The call whose flow dialled this one' })),
    custom_data: Type.Record(Type.String(), Type.Unknown(), { description: 'Your own notes of the call' }),
    record: Type.Boolean({ description: 'Whether it is recorded' }),
    recording_ids: Type.Array(Type.String(), { description: 'Its recordings, such as `rec_…`' }),
    started_at: At({ description: 'When it was placed or came in' }),
    ringing_at: Nullable(At({ description: 'When the other side began to ring' })),
    answered_at: Nullable(At({ description: 'When somebody answered; null if nobody did' })),
    ended_at: Nullable(At({ description: 'Null while it goes on' })),
    duration: Type.Integer({ description: 'Whole seconds from the answer to the end' }),
    hangup_cause: Nullable(Type.String({ description: 'Why it ended, such as `normal` or `busy`' })),
    hangup_by: Nullable(Type.String({ description: 'Who ended it' })),
    sip_code: Nullable(Type.Integer({ description: 'What the network answered, such as 486' })),
    cost: Amount({ description: 'In major units of `currency`; final once the call is over' }),
    currency: Type.String({ description: 'Of the cost' }),
    quality: Nullable(Quality, { description: 'How it sounded; null until it is over' }),
  },
  { title: 'Call' },
)

export const CallEvent = Type.Object(
  {
    position: Type.Integer({ description: 'Place in the call, from 1' }),
    kind: Type.String({ description: 'event: told to event_url; flow: what happened to the flow; sip: signalling' }),
    sequence: Nullable(Type.Integer({ description: 'Of what event_url is told' })),
    at: At({ description: 'When it happened' }),
    data: Type.Record(Type.String(), Type.Unknown(), { description: 'What happened; the names depend on `kind`' }),
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
      description: 'Spoken in `language`; in place of `tts` and `url`',
    }),
  ),
  language: Type.Optional(Language),
  url: Type.Optional(Url('A WAV or MP3 file of at most 10 MB')),
  loop: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 50,
      rule: 'must be 0 to 50; 0 plays until it is stopped',
      description: 'How often it is played; once unless told',
    }),
  ),
  target: Type.Optional(
    OneOf(['all', 'caller', 'agent'], { description: 'Who hears it; `agent` is everybody who was rung into the call' }),
  ),
  interrupt: Type.Optional(Type.Boolean({ description: 'false plays it after what was asked to be played before' })),
})

export const Playing = Type.Object(
  {
    call_id: Type.String({ description: 'Id of the call, such as `call_…`' }),
    play_id: Type.String({ description: 'Id of what is played' }),
    status: OneOf(['playing'], { description: 'It is played, or waits for what is played before it' }),
    started_at: At({ description: 'When it was asked for' }),
  },
  { title: 'Playing' },
)

export const Stopped = Type.Object(
  {
    call_id: Type.String({ description: 'Id of the call, such as `call_…`' }),
    play_id: Nullable(Type.String({ description: 'What was playing; null if nothing was' })),
    status: OneOf(['stopped'], { description: 'Nothing is played any more' }),
    started_at: At({ description: 'When it was stopped' }),
  },
  { title: 'StoppedPlaying' },
)

export const VoiceRecord = Type.Object(
  {
    language: Type.String({ description: 'What it speaks, such as `sw-KE`' }),
    voice: Type.String({ description: 'Name that requests give as `voice`' }),
    gender: OneOf(['female', 'male', 'neutral', 'unknown'], {
      description: 'How it sounds; `unknown` of a Piper voice, whose file does not say',
    }),
    engine: Type.String({ description: 'The program that speaks, such as `espeak-ng` or `piper`' }),
    quality: OneOf(['native', 'approximate'], {
      description: '`approximate` reads the language by rules of its spelling, with the sounds of another',
    }),
    available: Type.Boolean({ description: 'Whether its engine is installed here' }),
    is_default: Type.Boolean({ description: 'Whether it speaks where a request names no voice' }),
    sample_url: Type.String({ description: 'Path of a WAV file in which it says a sentence' }),
  },
  { title: 'SpeakingVoice' },
)

export const RecognitionRecord = Type.Object(
  {
    language: Type.String({
      description: 'What it understands: `ar-EG`, or `ar` for every region that no other names',
    }),
    model: Type.String({
      description: 'Name that answers give as `model`: that of its folder, or of the package’s model',
    }),
    source: OneOf(['folder', 'package'], {
      description: '`folder`: of the operator (`PAMOJA_RECOGNITION`); `package`: installed beside the server',
    }),
    available: Type.Boolean({ description: 'Whether what it needs is installed here' }),
  },
  { title: 'RecognitionModel' },
)
