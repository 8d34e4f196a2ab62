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
  rule: 'must be a shortcode such as *384# or *384*1#',
  errorCode: 'INVALID_SHORTCODE',
  description: 'A code that is assigned to you',
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

export const exactNumbersRule = 'data has a whole number above 2^53, which JSON readers round: send it as a text'

/** Whether all numbers of some data are kept digit for digit: JavaScript rounds whole ones above 2^53. */
export function hasExactNumbers(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value)
  return typeof value !== 'object' || value === null || Object.values(value).every(hasExactNumbers)
}

export const SessionData = Type.Refine(
  Type.Refine(
    Type.Record(Type.String(), Type.Unknown(), {
      description: `Small state of your flow, at most ${maxDataBytes} bytes as JSON; sealed where it is stored`,
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

export const Send = Type.Object(
  { phone: Phone({ description: 'Whose handset shows it' }), session_id: SessionId, ...pushed },
  { title: 'UssdSend' },
)

export const Initiate = Type.Object(
  {
    phone: Type.Optional(Phone({ description: 'Whose handset shows it' })),
    phone_number: Type.Optional(Phone({ description: 'The same as phone; one of them is needed' })),
    session_id: Type.Optional(SessionId),
    ...pushed,
  },
  { title: 'UssdInitiate' },
)

export const Sent = Type.Object(
  {
    status: OneOf(['initiated'], { description: 'The handset is being asked to show it' }),
    message_id: Type.String({ description: 'Id of the push, such as `ussd_…`' }),
    session_id: Type.String({ description: 'Yours, or one that was made for you' }),
    phone: Type.String({ description: 'Who is shown it' }),
    cost: Amount({ description: 'Set aside now, and paid when the session ends' }),
    timestamp: At({ description: 'When it was accepted' }),
    currency: Type.String({ description: 'Of the cost' }),
    shortcode: Type.String({ description: 'The code it comes from' }),
    expires_at: At({ description: 'When the session ends without an answer' }),
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
    status: OneOf(['active', 'completed'], { description: '`completed` where this was the last screen' }),
    message_id: Type.String({ description: 'Id of the screen' }),
    session_id: Type.String({ description: 'Id of the session: `uss_…`, or the one you gave it' }),
    phone: Type.String({ description: 'Who is shown it' }),
    step: Type.Integer({ description: 'Number of the screen, from 1' }),
    input: Nullable(Type.String({ sensitive: true, description: 'What the subscriber typed before it' })),
    message: Type.String({ sensitive: true, description: 'The screen' }),
    end_session: Type.Boolean({ description: 'Whether the session ends with it' }),
    data: Type.Record(Type.String(), Type.Unknown(), { sensitive: true, description: 'What the session now knows' }),
    cost: Amount({ description: 'Screens cost nothing beside the session' }),
    expires_at: Nullable(At({ description: 'When the session ends without an answer; null if it has ended' })),
    timestamp: At({ description: 'When it was accepted' }),
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
    session_id: Type.String({ description: 'Id of the session: yours, or one that was made' }),
    phone: Type.String({ description: 'The subscriber, in E.164' }),
    shortcode: Type.String({ description: 'The code that was dialled, or that pushed' }),
    status: OneOf(['initiated', 'active', 'completed', 'expired'], {
      description: '`initiated` until the first screen is shown, then `active` until it is `completed` or `expired`',
    }),
    created_at: At({ description: 'When it began' }),
    last_activity: At({ description: 'When something was last typed or shown' }),
    expires_at: Nullable(At({ description: 'When it ends without an answer; null if it has ended' })),
    data: Type.Record(Type.String(), Type.Unknown(), { sensitive: true, description: 'Wiped 24 hours after the end' }),
    history: Type.Array(
      Type.Object({
        step: Type.Integer({ description: 'Number of the screen, from 1' }),
        input: Nullable(Type.String({ sensitive: true, description: 'What was typed before it' })),
        output: Type.String({ sensitive: true, description: 'What was shown' }),
        at: At({ description: 'When it was shown' }),
        app_ms: Nullable(Type.Integer({ description: 'Milliseconds that your application took' })),
        app_error: Type.Optional(
          Type.String({ description: 'Why the answer of your application could not be shown, where it could not' }),
        ),
        app_input: Type.Optional(
          Type.String({ sensitive: true, description: 'The input as your application gave it, where it differs' }),
        ),
      }),
      { description: 'Its screens, oldest first' },
    ),
    direction: OneOf(['push', 'dial'], { description: '`dial` by the subscriber, `push` by you' }),
    network: Nullable(Type.String({ description: 'Network of the subscriber, as far as it is known' })),
    language: Nullable(Type.String({ description: 'As the network or your menu knows it' })),
    timeout: Type.Integer({ description: 'Seconds without activity after which it expires' }),
    ended_at: Nullable(At({ description: 'Null while it goes on' })),
    reason: Nullable(OneOf(reasons, { description: 'Why it ended; null while it goes on' })),
    reason_detail: Nullable(
      Type.String({
        description:
          'What was wrong with the answer of your application, where the reason is `app_error` or `app_timeout`',
      }),
    ),
    duration: Type.Integer({ description: 'Seconds from its beginning to its end, or until now' }),
    total_steps: Type.Integer({ description: 'Screens so far' }),
    screen_pages: Type.Integer({ description: 'Screens that the last message takes on the handset' }),
    cost: Amount({ description: 'In major units of `currency`' }),
    currency: Type.String({ description: 'Of the cost' }),
    resumed_from: Nullable(Type.String({ description: 'The expired session whose data it began with' })),
    metadata: Metadata,
  },
  { title: 'UssdSession' },
)
