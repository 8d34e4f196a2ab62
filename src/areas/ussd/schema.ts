// SPDX-License-Identifier: Apache-2.0
// Schemas of USSD requests and sessions.
import { Type } from 'typebox'
import { Amount, At, Metadata, Nullable, OneOf, Phone } from '../../platform/schema/fields.ts'
import { maxScreenLength } from './screen.ts'

/** Limit of a session's data in bytes of JSON. */
export const maxDataBytes = 4_096

/** Application data of a session. */
export type Data = Record<string, unknown>

export const Shortcode = Type.String({
  pattern: '^\\*\\d{1,6}(\\*\\d{1,10}){0,8}#$',
  rule: 'must be a short code such as *384# or *384*1#',
  errorCode: 'INVALID_SHORTCODE',
  description: 'Short code assigned to you',
})

export const ScreenText = Type.String({
  minLength: 1,
  maxLength: maxScreenLength,
  rule: `must have 1 to ${maxScreenLength} characters`,
  sensitive: true,
  description: 'Text of the screen',
})

export const SubscriberInput = Type.String({
  minLength: 1,
  maxLength: maxScreenLength,
  rule: `must have 1 to ${maxScreenLength} characters`,
  sensitive: true,
  description: 'Input of the subscriber',
})

const SessionId = Type.String({
  pattern: '^[A-Za-z0-9_.:-]{1,64}$',
  rule: 'must have 1 to 64 letters, digits, or _ . : -',
  description: 'Your own id for the session; must be unique',
})

export const exactNumbersRule = 'data has a whole number above 2^53, which JSON readers round: send it as a text'

/** Whether all numbers of some data are kept digit for digit: JavaScript rounds whole ones above 2^53. */
export function hasExactNumbers(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value)
  return typeof value !== 'object' || value === null || Object.values(value).every(hasExactNumbers)
}

export const SessionData = Type.Refine(
  Type.Refine(
    Type.Record(Type.String(), Type.Unknown(), {
      description: `Data of the session for your flow, at most ${maxDataBytes} bytes as JSON; stored encrypted`,
      refinementCodes: ['DATA_TOO_LARGE', 'VALIDATION_ERROR'],
      rule: `must be an object of at most ${maxDataBytes} bytes as JSON`,
      sensitive: true,
    }),
    (data) => Buffer.byteLength(JSON.stringify(data)) <= maxDataBytes,
    () => `must have at most ${maxDataBytes} bytes as JSON`,
  ),
  hasExactNumbers,
  () => 'must have no whole number above 2^53, which would lose digits: send it as a text',
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
  description: 'URL called for the next screens of this session, instead of the short code’s URL',
})

const pushed = {
  shortcode: Shortcode,
  message: ScreenText,
  data: Type.Optional(SessionData),
  timeout: Type.Optional(Timeout),
  end_session: Type.Optional(Type.Boolean({ description: 'True for a notice that cannot be answered' })),
  callback_url: Type.Optional(CallbackUrl),
  metadata: Type.Optional(Metadata),
}

export const Send = Type.Object(
  { phone: Phone({ description: 'Number of the subscriber' }), session_id: SessionId, ...pushed },
  { title: 'UssdSend' },
)

export const Initiate = Type.Object(
  {
    phone: Type.Optional(Phone({ description: 'Number of the subscriber' })),
    phone_number: Type.Optional(Phone({ description: 'Alias of phone; one of them is required' })),
    session_id: Type.Optional(SessionId),
    ...pushed,
  },
  { title: 'UssdInitiate' },
)

export const Sent = Type.Object(
  {
    status: OneOf(['initiated'], { description: 'Status: sent to the handset' }),
    message_id: Type.String({ description: 'Id of the push, such as `ussd_…`' }),
    session_id: Type.String({ description: 'Id of the session: yours, or a generated one' }),
    phone: Type.String({ description: 'Number of the subscriber' }),
    cost: Amount({ description: 'Amount reserved now, and charged when the session ends' }),
    timestamp: At({ description: 'Time of acceptance' }),
    currency: Type.String({ description: 'Currency of the cost, ISO 4217' }),
    shortcode: Type.String({ description: 'Short code of the session' }),
    expires_at: At({ description: 'Time at which the session expires without an answer' }),
  },
  { title: 'UssdSent' },
)

export const Continue = Type.Object(
  {
    session_id: SessionId,
    input: SubscriberInput,
    message: ScreenText,
    end_session: Type.Optional(Type.Boolean({ default: false, description: 'True ends the session with this screen' })),
    data: Type.Optional(SessionData),
    data_merge: Type.Optional(
      Type.Boolean({ description: 'True merges `data` into the stored data; false replaces it' }),
    ),
  },
  { title: 'UssdContinue' },
)

export const Continued = Type.Object(
  {
    status: OneOf(['active', 'completed'], { description: 'Status of the session; `completed` after the last screen' }),
    message_id: Type.String({ description: 'Id of the screen' }),
    session_id: Type.String({ description: 'Id of the session: `uss_…`, or your own one' }),
    phone: Type.String({ description: 'Number of the subscriber' }),
    step: Type.Integer({ description: 'Number of the screen, from 1' }),
    input: Nullable(Type.String({ sensitive: true, description: 'Input before this screen' })),
    message: Type.String({ sensitive: true, description: 'Text of the screen' }),
    end_session: Type.Boolean({ description: 'True if the session ends with it' }),
    data: Type.Record(Type.String(), Type.Unknown(), { sensitive: true, description: 'Data of the session' }),
    cost: Amount({ description: 'Cost of the screen; 0, since the session is charged' }),
    expires_at: Nullable(At({ description: 'Time at which the session expires; null if it has ended' })),
    timestamp: At({ description: 'Time of acceptance' }),
    screen_pages: Type.Integer({ description: 'Number of screens of the message on the handset' }),
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
    session_id: Type.String({ description: 'Id of the session: yours, or a generated one' }),
    phone: Type.String({ description: 'Number of the subscriber, E.164' }),
    shortcode: Type.String({ description: 'Short code that was dialled, or used for the push' }),
    status: OneOf(['initiated', 'active', 'completed', 'expired'], {
      description: '`initiated` until the first screen is shown, then `active` until it is `completed` or `expired`',
    }),
    created_at: At({ description: 'Start time' }),
    last_activity: At({ description: 'Time of the last input or screen' }),
    expires_at: Nullable(At({ description: 'Time at which it expires without an answer; null if it has ended' })),
    data: Type.Record(Type.String(), Type.Unknown(), {
      sensitive: true,
      description: 'Data of the session, erased 24 hours after its end',
    }),
    history: Type.Array(
      Type.Object({
        step: Type.Integer({ description: 'Number of the screen, from 1' }),
        input: Nullable(Type.String({ sensitive: true, description: 'Input before this screen' })),
        output: Type.String({ sensitive: true, description: 'Text of the screen' }),
        at: At({ description: 'Time at which the screen was shown' }),
        app_ms: Nullable(Type.Integer({ description: 'Response time of your application in milliseconds' })),
        app_error: Type.Optional(
          Type.String({ description: 'Reason why the reply of your application could not be shown' }),
        ),
        app_input: Type.Optional(
          Type.String({ sensitive: true, description: 'Input according to your application, if it differs' }),
        ),
      }),
      { description: 'Screens, oldest first' },
    ),
    direction: OneOf(['push', 'dial'], { description: '`dial` by the subscriber, `push` by you' }),
    network: Nullable(Type.String({ description: 'Network of the subscriber, if known' })),
    language: Nullable(Type.String({ description: 'Language known from the network or your menu' })),
    timeout: Type.Integer({ description: 'Seconds without activity after which it expires' }),
    ended_at: Nullable(At({ description: 'End time; null while in progress' })),
    reason: Nullable(OneOf(reasons, { description: 'Reason for the end; null while it is in progress' })),
    reason_detail: Nullable(
      Type.String({
        description: 'Error in the reply of your application, if the reason is `app_error` or `app_timeout`',
      }),
    ),
    duration: Type.Integer({ description: 'Duration in seconds, until now while in progress' }),
    total_steps: Type.Integer({ description: 'Number of screens so far' }),
    screen_pages: Type.Integer({ description: 'Number of screens of the last message on the handset' }),
    cost: Amount({ description: 'Amount in major units of `currency`' }),
    currency: Type.String({ description: 'Currency of the cost, ISO 4217' }),
    resumed_from: Nullable(Type.String({ description: 'Id of the expired session that it resumes' })),
    metadata: Metadata,
  },
  { title: 'UssdSession' },
)
