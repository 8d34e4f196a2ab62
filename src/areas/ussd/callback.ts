// SPDX-License-Identifier: Apache-2.0
// HTTP gateways: each request brings a dial, an input or the end, and waits for the next screen. Three dialects,
// recognised by their fields: our JSON, the form of Africa's Talking (CON/END), and Hubtel.
import { type Static, type TProperties, Type } from 'typebox'
import { AppError, invalid } from '../../kernel/errors.ts'
import { idOf } from '../../kernel/ids.ts'
import { isE164 } from '../../kernel/phone.ts'
import { type Route, read } from '../../platform/api/route.ts'
import type { App } from '../../platform/app.ts'
import { Handover } from '../../platform/concurrency/handover.ts'
import type { Occasion } from '../../platform/events.ts'
import { onePerApp } from '../../platform/program/one-per-app.ts'
import { Nullable, OneOf } from '../../platform/schema/fields.ts'
import { advance } from './advance.ts'
import { type DialOutcome, dialled, notAnswered, refused } from './dial.ts'
import { maxScreenLength } from './screen.ts'
import { markOf, type Session, sessionOver, shownText } from './session.ts'
import { isDialled } from './shortcode.ts'
import { dialogSession, namedSession } from './store.ts'
import { answered, takenOn, typedAndAnswered } from './turn.ts'

/** Bounds of the sessions that a node keeps between a screen and its answer. */
const shownForMs = 60_000
const maxShown = 10_000

const kinds = ['initiation', 'response', 'release', 'timeout'] as const
type Kind = (typeof kinds)[number]
type Dialect = 'json' | 'form' | 'hubtel'

const Short = (description: string) => Type.String({ maxLength: 200, description })
const Field = (description: string) =>
  Type.Optional(Type.Union([Type.String({ maxLength: 200 }), Type.Number(), Type.Null()], { description }))

const jsonFields = {
  session_id: Type.Optional(Nullable(Short('Id of the session from the first reply; optional in the first call'))),
  phone: Type.Optional(Short('Number of the subscriber, E.164')),
  shortcode: Type.Optional(Short('Code that was dialled, such as *384*1#')),
  type: Type.Optional(OneOf(kinds, { description: 'A dial, an input, or the end of the session' })),
  input: Type.Optional(
    Nullable(Type.String({ maxLength: maxScreenLength, sensitive: true, description: 'Input of the subscriber' })),
  ),
  step: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'Number of the answered screen: a repeat with the same step and input gets the same answer',
    }),
  ),
  network: Type.Optional(Nullable(Short('Network of the subscriber, as you know it'))),
  language: Type.Optional(
    Nullable(Type.String({ maxLength: 10, description: 'Language of the subscriber, such as sw' })),
  ),
}

const formFields = {
  sessionId: Field('Id of the dialog'),
  serviceCode: Field('Dialled code'),
  phoneNumber: Field('Number of the subscriber, E.164'),
  text: Type.Optional(
    Nullable(Type.String({ maxLength: 2_000, sensitive: true, description: 'All inputs so far, joined by *' })),
  ),
  networkCode: Field('Code of the network, such as 63902'),
}

const hubtelFields = {
  Type: Field('Initiation, Response, Release or Timeout'),
  Mobile: Field('Number of the subscriber'),
  SessionId: Field('Id of the dialog'),
  ServiceCode: Field('Dialled code'),
  Message: Type.Optional(
    Nullable(Type.String({ maxLength: 2_000, sensitive: true, description: 'Dialled code, or input' })),
  ),
  Operator: Field('Network of the subscriber'),
  Sequence: Field('Sequence number of the call; a repeated call has the same one'),
  ClientState: Type.Optional(
    Nullable(Type.String({ maxLength: 2_000, description: 'Opaque value, returned unchanged' })),
  ),
}

/** Body of one dialect, as it is published: a client generated from all in one would have names that differ in case only. */
const dialectOf = (title: string, description: string, fields: TProperties, ...required: string[]) => ({
  ...Type.Object(fields, { title, description }),
  required,
})

export const CallbackBody = Type.Object(
  { ...jsonFields, ...formFields, ...hubtelFields },
  {
    title: 'UssdCallback',
    publishedAs: {
      title: 'UssdCallback',
      oneOf: [
        dialectOf('UssdCallbackJson', 'Callback in Pamoja’s format', jsonFields, 'phone', 'type'),
        dialectOf('UssdCallbackForm', 'Callback in the format of Africa’s Talking', formFields, 'phoneNumber'),
        dialectOf('UssdCallbackHubtel', 'Callback in the format of Hubtel', hubtelFields, 'Mobile', 'Type'),
      ],
    },
  },
)
type Body = Static<typeof CallbackBody>

const CallbackReply = Type.Object(
  {
    session_id: Type.Optional(Type.String({ description: 'JSON: id of the session, for the calls that follow' })),
    action: Type.Optional(
      OneOf(['continue', 'end'], { description: 'JSON: `continue` if the screen can be answered, `end` if not' }),
    ),
    message: Type.Optional(Type.String({ description: 'JSON: the screen' })),
    message_id: Type.Optional(Type.String({ description: 'JSON: id of the screen, such as `ussd_…`' })),
    SessionId: Type.Optional(Type.String({ description: 'Hubtel: id of the dialog, returned unchanged' })),
    Type: Type.Optional(OneOf(['response', 'release'], { description: 'Hubtel: `response` can be answered' })),
    Message: Type.Optional(Type.String({ description: 'Hubtel: the screen' })),
    ClientState: Type.Optional(Type.String({ description: 'Hubtel: opaque value, returned unchanged' })),
  },
  { title: 'UssdCallbackReply' },
)

/** Reply; a form gets plain text. */
type Answered = string | Static<typeof CallbackReply>

/** Request of any dialect. */
interface Call {
  readonly dialect: Dialect
  readonly kind: Kind
  /** Dialog id of the gateway; null when it sends none. */
  readonly dialog: string | null
  readonly phone: string
  readonly dialled: string
  readonly input: string | null
  /** Id of this input within the session, for detecting repeats; null when the gateway sends none. */
  readonly mark: string | null
  readonly network: string | null
  readonly language: string | null
  readonly state: string
}

/** Calling gateway: its name and the accounts it may act for. */
export interface Calling {
  readonly gateway: string
  /** Account of a code; null when it is not assigned. */
  ownerOf(dialled: string): Promise<Occasion | null>
  /** Session by its session_id, where the caller may name it. */
  named?(sessionId: string): Promise<Session | null>
}

/** Handles a request and reply in its dialect: text or object. */
export async function takeCall(app: App, calling: Calling, body: Body): Promise<Answered> {
  const call = callOf(body)
  const session = await turned(app, calling, call)
  const isOpen = session.awaiting === 'user'
  if (isOpen && call.dialog !== null) shown(app).keep(`${calling.gateway} ${call.dialog}`, session)
  const message = shownText(session)
  if (call.dialect === 'form') return `${isOpen ? 'CON' : 'END'} ${message}`
  if (call.dialect === 'hubtel')
    return {
      SessionId: call.dialog ?? session.session_id,
      Type: isOpen ? 'response' : 'release',
      Message: message,
      ClientState: call.state,
    }
  const message_id = idOf('ussdMessage', session.message)
  return { session_id: session.session_id, action: isOpen ? 'continue' : 'end', message, message_id }
}

/**
 * Session after a call. A first call is committed as new, and looked up only when the commit reports a known dialog: most are
 * new. A repeat gets the same answer even if the code or the wallet has changed since.
 */
async function turned(app: App, calling: Calling, call: Call): Promise<Session> {
  const isForm = call.dialect === 'form'
  // A form does not mark the first request.
  const isFirst = call.kind === 'initiation' || (isForm && call.input === null)
  const tried = isFirst ? await begun(app, calling, call, call.dialog !== null) : null
  if (tried?.kind === 'begun') return answered(app, tried.session)
  const next = call.kind === 'response' ? await goneOn(app, calling, call) : null
  if (next) return next
  const known = await knownSession(app, calling, call)
  if (!known && tried?.kind === 'refused') throw tried.error
  if (!known && (isFirst || isForm)) return begunNow(app, calling, call)
  if (!known) throw new AppError('NOT_FOUND', 'there is no such session: start with a call of the type initiation')
  if (call.kind === 'initiation') return answered(app, known)
  if (call.kind === 'response') return responded(app, known, call)
  if (known.awaiting === 'nobody') return known
  const move =
    call.kind === 'timeout'
      ? ({ kind: 'end', status: 'expired', reason: 'expired' } as const)
      : ({ kind: 'end', status: 'completed', reason: 'network_released' } as const)
  return (await advance(app, known, move)) ?? known
}

/** Sessions whose screen this node has just shown: most answers come soon, and to the same node. */
const shown = onePerApp(() => new Handover<Session>(shownForMs, maxShown))

/** Session after the answer to a screen of this node; null where another node, or a timer, has moved it on. */
async function goneOn(app: App, { gateway }: Calling, { dialog, input, mark }: Call): Promise<Session | null> {
  const session = dialog === null ? null : shown(app).take(`${gateway} ${dialog}`)
  if (!session || input === null || isRepeat(session, input, mark)) return null
  return takenOn(app, session, input.slice(0, maxScreenLength), mark)
}

async function knownSession(app: App, { gateway, named }: Calling, { dialog }: Call): Promise<Session | null> {
  if (dialog === null) return null
  return (await dialogSession(app, gateway, dialog)) ?? (await named?.(dialog)) ?? null
}

/** Dials in progress on this node: a repeated request joins the first and creates one session. */
const beginning = onePerApp(() => new Map<string, Promise<DialOutcome>>())

/** Creates a session for a dialog without one. */
async function begunNow(app: App, calling: Calling, call: Call): Promise<Session> {
  const outcome = await begun(app, calling, call, false)
  if (outcome.kind === 'refused') throw outcome.error
  if (outcome.kind === 'known') throw new Error('dialog refused as known although it may exist')
  return answered(app, outcome.session)
}

function begun(app: App, calling: Calling, call: Call, isNew: boolean): Promise<DialOutcome> {
  const key = `${calling.gateway} ${call.dialog}`
  const known = call.dialog === null ? undefined : beginning(app).get(key)
  if (known) return known
  const outcome = begunOnce(app, calling, call, isNew).finally(() => beginning(app).delete(key))
  if (call.dialog !== null) beginning(app).set(key, outcome)
  return outcome
}

async function begunOnce(
  app: App,
  { gateway, ownerOf }: Calling,
  { dialled: text, dialog, mark, phone, network, language }: Call,
  isNew: boolean,
): Promise<DialOutcome> {
  if (!isDialled(text))
    return refused(new AppError('INVALID_SHORTCODE', 'the short code is malformed; write it as *384#'))
  const occasion = await ownerOf(text)
  if (!occasion) return refused(notAnswered(text))
  const dial = { gateway, dialog, mark, phone, dialled: text, network, language }
  return dialled(app, occasion, { ...dial, isNew, isShownAtOnce: true })
}

async function responded(app: App, known: Session, { input, mark }: Call): Promise<Session> {
  if (isRepeat(known, input, mark)) return answered(app, known)
  if (known.awaiting === 'nobody') throw sessionOver(known)
  if (input === null) throw invalid('input', 'is required: the input of the subscriber')
  return typedAndAnswered(app, known, input.slice(0, maxScreenLength), mark)
}

/** Repeats are known by their mark; those of the last input of a session that is over, also by their text. */
function isRepeat(known: Session, input: string | null, mark: string | null): boolean {
  if (mark !== null) return known.mark === mark
  return known.awaiting === 'nobody' && input !== null && known.input === input
}

function callOf(body: Body): Call {
  const call = body.SessionId !== undefined || body.Mobile !== undefined ? hubtelCall(body) : null
  const read =
    call ?? (body.sessionId !== undefined || body.phoneNumber !== undefined ? formCall(body) : jsonCall(body))
  if (!isE164(read.phone)) throw new AppError('INVALID_PHONE', 'the phone is not E.164, such as +254711000001')
  return read
}

function jsonCall(body: Body): Call {
  const { type: kind } = body
  if (kind === undefined) throw invalid('type', `must be one of ${kinds.join(', ')}`)
  if (kind !== 'initiation' && !body.session_id) throw invalid('session_id', 'is required: the id of the session')
  const mark = markOf(body.step ?? null, body.input ?? '')
  return {
    ...{ dialect: 'json', kind, dialog: body.session_id || null, phone: phoneOf(body.phone) },
    ...{ dialled: body.shortcode ?? '', input: body.input ?? null, mark: kind === 'initiation' ? '0' : mark },
    ...{ network: body.network ?? null, language: body.language ?? null, state: '' },
  }
}

/** `text` holds all inputs so far, which also reveals repeats. */
function formCall(body: Body): Call {
  const text = body.text ?? ''
  const parts = text === '' ? [] : text.split('*')
  const code = codeOf(body.serviceCode)
  return {
    ...{ dialect: 'form', kind: 'response', dialog: textOf(body.sessionId) || null, phone: phoneOf(body.phoneNumber) },
    ...{ dialled: [code.slice(0, -1), ...parts].join('*').concat('#'), input: parts.at(-1) ?? null, mark: text },
    ...{ network: textOf(body.networkCode) || null, language: null, state: '' },
  }
}

function hubtelCall(body: Body): Call {
  const word = textOf(body.Type).toLowerCase()
  const kind = kinds.find((one) => one === word)
  if (kind === undefined) throw invalid('Type', 'must be Initiation, Response, Release or Timeout')
  const message = body.Message ?? ''
  const sequence = textOf(body.Sequence)
  return {
    ...{ dialect: 'hubtel', kind, dialog: textOf(body.SessionId) || null, phone: phoneOf(body.Mobile) },
    ...{ dialled: isDialled(message) ? message : codeOf(body.ServiceCode), input: message || null },
    ...{
      mark: kind === 'initiation' ? '0' : markOf(sequence || null, message),
      network: textOf(body.Operator) || null,
    },
    ...{ language: null, state: body.ClientState ?? '' },
  }
}

function textOf(value: string | number | null | undefined): string {
  return value === undefined || value === null ? '' : String(value)
}

function phoneOf(value: string | number | null | undefined): string {
  const digits = textOf(value).trim()
  return /^[1-9]\d+$/.test(digits) ? `+${digits}` : digits
}

/** Some gateways omit star and hash. */
function codeOf(value: string | number | null | undefined): string {
  const text = textOf(value).trim()
  return /^\d+(\*\d+)*$/.test(text) ? `*${text}#` : text
}

const callback = read({
  method: 'POST',
  path: '/v1/ussd/callback',
  operation: 'ussd.callback',
  summary: 'Submit a dial, an answer or the end of a session',
  description:
    'For HTTP gateways, and for trials with a test key. JSON requests get the reply below; the form fields ' +
    '`sessionId, serviceCode, phoneNumber, text, networkCode` get `CON ...` or `END ...` as text/plain; `Type, ' +
    'Mobile, SessionId, ServiceCode, Message, Operator, Sequence, ClientState` get `{SessionId, Type, Message, ' +
    'ClientState}`. A repeated call gets the same reply. Gateways that cannot send a key use a URL of their own.',
  scope: 'ussd:gateway',
  body: CallbackBody,
  form: true,
  reply: { status: 200, schema: Type.Unsafe<Answered>(CallbackReply), text: 'strings' },
  errors: [
    'INVALID_PHONE',
    'INVALID_SHORTCODE',
    'SHORTCODE_NOT_ALLOWED',
    'DESTINATION_NOT_ALLOWED',
    'INSUFFICIENT_BALANCE',
    'NOT_FOUND',
    'SESSION_ENDED',
    'SESSION_EXPIRED',
    'VALIDATION_ERROR',
    'PROVIDER_UNAVAILABLE',
  ],
  handle: async (app, { body }, caller) => {
    const { tenant } = caller
    const calling: Calling = {
      gateway: `key:${tenant.account}:${tenant.environment}`,
      ownerOf: async () => caller,
      named: (name) => namedSession(app, app.db, tenant, name),
    }
    return takeCall(app, calling, body)
  },
})

export const callbackRoutes: readonly Route[] = [callback]
