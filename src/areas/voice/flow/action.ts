// SPDX-License-Identifier: Apache-2.0
// Call-control actions, validated and with defaults. Their names are camelCase, as in the specification.
import { type Static, type TSchema, Type } from 'typebox'
import { Value } from 'typebox/value'
import { e164 } from '../../../kernel/phone.ts'
import { ssmlProblem } from '../speech/ssml.ts'
import { locales } from '../speech/voices.ts'

export const maxActions = 50
const maxText = 3_000

const Url = Type.String({ maxLength: 2_048, pattern: '^https?://\\S+$' })
const Urls = Type.Array(Url, { minItems: 1, maxItems: 5 })
/** Addresses of sounds: also of uploaded prompts, `prompt:prm_…`. */
const SoundUrls = Type.Array(Type.String({ maxLength: 2_048, pattern: '^(https?://|prompt:prm_)\\S+$' }), {
  minItems: 1,
  maxItems: 5,
})
/** Addresses that are asked or told, which may have the dialect of another provider before them. */
const EventUrls = Type.Array(Type.String({ maxLength: 2_048, pattern: '^([a-z.]+\\+)?https?://\\S+$' }), {
  minItems: 1,
  maxItems: 5,
})
const Loop = Type.Integer({ minimum: 0, maximum: 50, default: 1 })
const Level = Type.Number({ minimum: -1, maximum: 1, default: 0 })
const Language = Type.Unsafe<string>({ type: 'string', enum: Object.keys(locales) })
const PhoneNumber = Type.String({ pattern: e164 })
const bargeIn = Type.Boolean({ default: false })

const Talk = Type.Object({
  action: Type.Literal('talk'),
  text: Type.String({ minLength: 1, maxLength: maxText }),
  language: Type.Unsafe<string>({ ...Language, default: 'en-US' }),
  style: Type.Integer({ minimum: 0, default: 0 }),
  voice: Type.Optional(Type.String({ maxLength: 100 })),
  premium: Type.Boolean({ default: false }),
  loop: Loop,
  level: Level,
  bargeIn,
})

const Stream = Type.Object({ action: Type.Literal('stream'), streamUrl: SoundUrls, loop: Loop, level: Level, bargeIn })

const socketContents = ['audio/l16;rate=8000', 'audio/l16;rate=16000'] as const
type SocketContent = (typeof socketContents)[number]

/** Most characters of `headers` of a websocket, as JSON. */
const maxHeaders = 4_096

const Websocket = Type.Object({
  type: Type.Literal('websocket'),
  uri: Type.String({ pattern: '^wss?://\\S+$', maxLength: 2_048 }),
  'content-type': Type.Unsafe<SocketContent>({ type: 'string', enum: socketContents, default: socketContents[0] }),
  headers: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object' })),
})

const Endpoint = Type.Union([
  Type.Object({ type: Type.Literal('phone'), number: PhoneNumber }),
  Type.Object({ type: Type.Literal('sip'), uri: Type.String({ pattern: '^sips?:\\S+$', maxLength: 256 }) }),
  Type.Object({ type: Type.Literal('agent'), agent_id: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,64}$' }) }),
  Type.Object({ type: Type.Literal('queue'), queue_id: Type.String({ maxLength: 64 }) }),
  Websocket,
])

const Connect = Type.Object({
  action: Type.Literal('connect'),
  endpoint: Type.Array(Endpoint, { minItems: 1, maxItems: 5 }),
  from: Type.Optional(PhoneNumber),
  timeout: Type.Integer({ minimum: 5, maximum: 120, default: 45 }),
  limit: Type.Integer({ minimum: 1, maximum: 14_400, default: 7_200 }),
  ringbackTone: Type.Optional(Url),
  eventUrl: Type.Optional(EventUrls),
  eventType: Type.Unsafe<'async' | 'synchronous'>({ type: 'string', enum: ['async', 'synchronous'], default: 'async' }),
  record: Type.Boolean({ default: false }),
})

const Refer = Type.Object({
  action: Type.Literal('refer'),
  to: PhoneNumber,
  timeout: Type.Integer({ minimum: 5, maximum: 120, default: 30 }),
  eventUrl: Type.Optional(EventUrls),
  eventType: Type.Unsafe<'async' | 'synchronous'>({ type: 'string', enum: ['async', 'synchronous'], default: 'async' }),
})

const Speech = Type.Object({
  uuid: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 10 })),
  endOnSilence: Type.Number({ minimum: 0.4, maximum: 10, default: 2 }),
  language: Type.Unsafe<string>({ ...Language, default: 'en-US' }),
  context: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 100, default: [] }),
  startTimeout: Type.Number({ minimum: 1, maximum: 60, default: 10 }),
  maxDuration: Type.Number({ minimum: 1, maximum: 60, default: 30 }),
  sensitivity: Type.Optional(Type.Number({ minimum: 0, maximum: 100 })),
})

const InputAction = Type.Object({
  action: Type.Literal('input'),
  type: Type.Array(Type.Unsafe<'dtmf' | 'speech'>({ type: 'string', enum: ['dtmf', 'speech'] }), {
    minItems: 1,
    maxItems: 2,
    default: ['dtmf'],
  }),
  eventUrl: Type.Optional(EventUrls),
  maxDigits: Type.Integer({ minimum: 1, maximum: 20, default: 4 }),
  timeOut: Type.Number({ minimum: 0, maximum: 30, default: 3 }),
  submitOnHash: Type.Boolean({ default: false }),
  mask: Type.Boolean({ default: false, description: 'Keeps what is typed or said out of the trace' }),
  speech: Type.Optional(Speech),
})

const RecordAction = Type.Object({
  action: Type.Literal('record'),
  eventUrl: Type.Optional(EventUrls),
  endOnSilence: Type.Optional(Type.Number({ minimum: 3, maximum: 10 })),
  endOnKey: Type.Optional(Type.String({ pattern: '^[0-9*#]$' })),
  beepStart: Type.Boolean({ default: false }),
  timeOut: Type.Optional(Type.Number({ minimum: 3, maximum: 7_200 })),
  format: Type.Unsafe<'wav' | 'mp3'>({ type: 'string', enum: ['wav', 'mp3'], default: 'wav' }),
  channels: Type.Integer({ minimum: 1, maximum: 2, default: 1 }),
  split: Type.Optional(Type.Literal('conversation')),
  transcription: Type.Optional(Type.Object({ language: Type.Unsafe<string>({ ...Language, default: 'en-US' }) })),
})

const Conversation = Type.Object({
  action: Type.Literal('conversation'),
  name: Type.String({ minLength: 1, maxLength: 64 }),
  record: Type.Boolean({ default: false }),
  mute: Type.Boolean({ default: false }),
  startOnEnter: Type.Boolean({ default: true }),
  endOnExit: Type.Boolean({ default: false }),
  musicOnHoldUrl: Type.Optional(Type.Union([Url, Urls])),
})

const Enqueue = Type.Object({
  action: Type.Literal('enqueue'),
  queue_id: Type.String({ minLength: 1, maxLength: 64 }),
  skills: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.String({ minLength: 1, maxLength: 64 }),
        min_level: Type.Optional(Type.Integer({ minimum: 1, maximum: 5 })),
      }),
      { maxItems: 20 },
    ),
  ),
  priority: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
  data: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object' })),
})

const Wait = Type.Object({
  action: Type.Literal('wait'),
  timeout: Type.Number({ minimum: 0.1, maximum: 7_200, default: 10 }),
})

const Notify = Type.Object({
  action: Type.Literal('notify'),
  payload: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
  eventUrl: EventUrls,
})

const Hangup = Type.Object({
  action: Type.Literal('hangup'),
  reason: Type.Unsafe<'normal' | 'busy' | 'rejected'>({
    type: 'string',
    enum: ['normal', 'busy', 'rejected'],
    default: 'normal',
  }),
})

const schemas = {
  talk: Talk,
  stream: Stream,
  connect: Connect,
  refer: Refer,
  input: InputAction,
  record: RecordAction,
  conversation: Conversation,
  enqueue: Enqueue,
  wait: Wait,
  notify: Notify,
  hangup: Hangup,
} as const satisfies Record<string, TSchema>

type ActionName = keyof typeof schemas

export type Action = { [Name in ActionName]: Static<(typeof schemas)[Name]> }[ActionName]

export type ActionOf<Name extends Action['action']> = Extract<Action, { action: Name }>

/** Action that another area carries out: on agents, queues and conferences. */
export type HandedAction = ActionOf<'conversation'> | ActionOf<'enqueue'> | ActionOf<'connect'>

export function isForOthers({ endpoint }: ActionOf<'connect'>): boolean {
  return endpoint.some(({ type }) => type === 'agent' || type === 'queue')
}

export interface ActionProblem {
  /** Index in the list. */
  index: number
  message: string
}

/** Valid actions, and the problems of the others. */
export function readActions(list: readonly unknown[]): { actions: Action[]; problems: ActionProblem[] } {
  const actions: Action[] = []
  const problems: ActionProblem[] = []
  list.forEach((given, index) => {
    const read = readAction(given)
    if (typeof read === 'string') problems.push({ index, message: read })
    else actions.push(read)
  })
  return { actions, problems }
}

function readAction(given: unknown): Action | string {
  const name = typeof given === 'object' && given !== null && 'action' in given ? given.action : null
  if (!isActionName(name)) return `action must be one of ${Object.keys(schemas).join(', ')}`
  switch (name) {
    case 'talk':
      return checkedTalk(given)
    case 'connect':
      return checkedConnect(given)
    case 'input':
      return checkedInput(given)
    default:
      return checked(schemas[name], given)
  }
}

function isActionName(name: unknown): name is ActionName {
  return typeof name === 'string' && Object.hasOwn(schemas, name)
}

function checkedTalk(given: unknown): ActionOf<'talk'> | string {
  const talk = checked(Talk, given)
  const problem = typeof talk === 'string' ? null : ssmlProblem(talk.text)
  return problem === null ? talk : `text: ${problem}`
}

function checkedConnect(given: unknown): ActionOf<'connect'> | string {
  const connect = checked(Connect, given)
  if (typeof connect === 'string') return connect
  const over = connect.endpoint.findIndex(
    (endpoint) => endpoint.type === 'websocket' && JSON.stringify(endpoint.headers ?? {}).length > maxHeaders,
  )
  return over < 0 ? connect : `endpoint.${over}.headers has at most ${maxHeaders} characters as JSON`
}

function checkedInput(given: unknown): ActionOf<'input'> | string {
  const input = checked(InputAction, given)
  if (typeof input === 'string' || !input.type.includes('speech') || input.speech) return input
  const speech = checked(Speech, {})
  return typeof speech === 'string' ? speech : { ...input, speech }
}

function checked<S extends TSchema>(schema: S, given: unknown): Static<S> | string {
  const filled = Value.Default(schema, structuredClone(given))
  if (Value.Check(schema, filled)) return filled
  const [first] = Value.Errors(schema, filled)
  return `${first ? `${first.instancePath.slice(1).replaceAll('/', '.') || 'action'} ${first.message}` : 'is not valid'}`
}
