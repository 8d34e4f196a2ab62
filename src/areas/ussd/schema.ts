// SPDX-License-Identifier: Apache-2.0
// Schemas of USSD requests and sessions.
import { Type } from 'typebox'
import { e164, e164Rule } from '../../kernel/phone.ts'
import { Amount, At, Metadata, Nullable, OneOf } from '../../platform/schema/fields.ts'
import { maxScreenLength } from './screen.ts'

/** Limit of a session's data in bytes of JSON. */
export const maxDataBytes = 4_096

/** Application data of a session. */
export type Data = Record<string, unknown>

export const Phone = Type.String({ pattern: e164, rule: e164Rule, errorCode: 'INVALID_PHONE' })

export const Shortcode = Type.String({
  pattern: '^\\*\\d{1,6}(\\*\\d{1,10}){0,8}#$',
  rule: 'must be a shortcode such as *384# or *384*1#',
  errorCode: 'INVALID_SHORTCODE',
})

export const ScreenText = Type.String({
  minLength: 1,
  maxLength: maxScreenLength,
  rule: `must have 1 to ${maxScreenLength} characters`,
  sensitive: true,
  description: 'The screen',
})

export const SubscriberInput = Type.String({
  minLength: 1,
  maxLength: maxScreenLength,
  rule: `must have 1 to ${maxScreenLength} characters`,
  sensitive: true,
  description: 'What the subscriber typed',
})

const SessionId = Type.String({
  pattern: '^[A-Za-z0-9_.:-]{1,64}$',
  rule: 'must have 1 to 64 letters, digits, or _ . : -',
  description: 'Your own id of the session, used once',
})

export const SessionData = Type.Refine(
  Type.Record(Type.String(), Type.Unknown(), {
    description: `Small state of your flow, at most ${maxDataBytes} bytes as JSON; sealed where it is stored`,
    errorCode: 'DATA_TOO_LARGE',
    rule: `must be an object of at most ${maxDataBytes} bytes as JSON`,
    sensitive: true,
  }),
  (data) => Buffer.byteLength(JSON.stringify(data)) <= maxDataBytes,
  () => `must have at most ${maxDataBytes} bytes as JSON`,
)

export const Timeout = Type.Integer({
  minimum: 10,
  maximum: 180,
  default: 90,
  rule: 'must be 10 to 180 seconds',
  description: 'Seconds without activity after which the session expires',
})

const CallbackUrl = Type.String({
  maxLength: 2_048,
  description: 'Asked for the next screens of this session, in place of the shortcode’s URL',
})

const pushed = {
  shortcode: Shortcode,
  message: ScreenText,
  data: Type.Optional(SessionData),
  timeout: Type.Optional(Timeout),
  end_session: Type.Optional(Type.Boolean({ description: 'A notice that cannot be answered' })),
  callback_url: Type.Optional(CallbackUrl),
  metadata: Type.Optional(Metadata),
}

export const Send = Type.Object({ phone: Phone, session_id: SessionId, ...pushed }, { title: 'UssdSend' })

export const Initiate = Type.Object(
  {
    phone: Type.Optional(Phone),
    phone_number: Type.Optional(Phone),
    session_id: Type.Optional(SessionId),
    ...pushed,
  },
  { title: 'UssdInitiate' },
)

export const Sent = Type.Object(
  {
    status: OneOf(['initiated']),
    message_id: Type.String(),
    session_id: Type.String(),
    phone: Type.String(),
    cost: Amount({ description: 'Set aside now, and paid when the session ends' }),
    timestamp: At(),
    currency: Type.String(),
    shortcode: Type.String(),
    expires_at: At(),
  },
  { title: 'UssdSent' },
)

export const Continue = Type.Object(
  {
    session_id: SessionId,
    input: SubscriberInput,
    message: ScreenText,
    end_session: Type.Optional(Type.Boolean({ default: false, description: 'The session ends with this screen' })),
    data: Type.Optional(SessionData),
    data_merge: Type.Optional(
      Type.Boolean({ description: '`data` is added to what is stored, rather than replacing it' }),
    ),
  },
  { title: 'UssdContinue' },
)

export const Continued = Type.Object(
  {
    status: OneOf(['active', 'completed']),
    message_id: Type.String(),
    session_id: Type.String(),
    phone: Type.String(),
    step: Type.Integer(),
    input: Nullable(Type.String({ sensitive: true })),
    message: Type.String({ sensitive: true }),
    end_session: Type.Boolean(),
    data: Type.Record(Type.String(), Type.Unknown(), { sensitive: true }),
    cost: Amount({ description: 'Screens cost nothing beside the session' }),
    expires_at: Nullable(At()),
    timestamp: At(),
    screen_pages: Type.Integer({ description: 'Screens that the message takes on the handset' }),
  },
  { title: 'UssdContinued' },
)

export const End = Type.Object({ message: Type.Optional(ScreenText) }, { title: 'UssdEnd' })

/** Reasons for which a session ends. */
export const reasons = [
  'completed',
  'expired',
  'user_cancelled',
  'network_released',
  'app_timeout',
  'app_error',
  'replaced',
  'undeliverable',
] as const

export const SessionRecord = Type.Object(
  {
    session_id: Type.String(),
    phone: Type.String(),
    shortcode: Type.String(),
    status: OneOf(['initiated', 'active', 'completed', 'expired']),
    created_at: At(),
    last_activity: At(),
    expires_at: Nullable(At()),
    data: Type.Record(Type.String(), Type.Unknown(), { sensitive: true, description: 'Wiped 24 hours after the end' }),
    history: Type.Array(
      Type.Object({
        step: Type.Integer(),
        input: Nullable(Type.String({ sensitive: true })),
        output: Type.String({ sensitive: true }),
        at: At(),
        app_ms: Nullable(Type.Integer({ description: 'Milliseconds that your application took' })),
        app_input: Type.Optional(
          Type.String({ sensitive: true, description: 'The input as your application gave it, where it differs' }),
        ),
      }),
    ),
    direction: OneOf(['push', 'dial']),
    network: Nullable(Type.String()),
    language: Nullable(Type.String()),
    timeout: Type.Integer(),
    ended_at: Nullable(At()),
    reason: Nullable(OneOf(reasons)),
    duration: Type.Integer({ description: 'Seconds' }),
    total_steps: Type.Integer(),
    screen_pages: Type.Integer({ description: 'Screens that the last message takes on the handset' }),
    cost: Amount(),
    currency: Type.String(),
    resumed_from: Nullable(Type.String()),
    metadata: Metadata,
  },
  { title: 'UssdSession' },
)
