// SPDX-License-Identifier: Apache-2.0
// Schemas of one-time code requests, and their channels.
import { Type } from 'typebox'
import { At, Nullable, OneOf, Phone } from '../../../platform/schema/fields.ts'

const channels = ['sms', 'voice', 'messenger', 'email'] as const
export type Channel = (typeof channels)[number]
const ChannelName = OneOf(channels)

export const OtpSend = Type.Object({
  phone: Phone({ description: 'Who gets the code, and has to type it' }),
  channel: Type.Optional(
    Type.Union([ChannelName, Type.Array(ChannelName, { minItems: 1, maxItems: 4 })], {
      description: 'How the code travels, or several ways in the order in which they are tried; `sms` unless given',
    }),
  ),
  email: Type.Optional(
    Type.String({ maxLength: 254, sensitive: true, description: 'Where mail goes, for that channel' }),
  ),
  code_length: Type.Optional(
    Type.Integer({
      minimum: 4,
      maximum: 10,
      rule: 'must be 4 to 10',
      description: 'Digits of the code; 6 unless given',
    }),
  ),
  expires_in: Type.Optional(
    Type.Integer({
      minimum: 60,
      maximum: 900,
      rule: 'must be 60 to 900 seconds',
      description: 'Seconds for which it can be typed; 600 unless given',
    }),
  ),
  from: Type.Optional(Type.String({ minLength: 1, maxLength: 16, description: 'Sender of the text' })),
  message: Type.Optional(
    Type.String({
      maxLength: 480,
      rule: 'must hold {{code}} once',
      sensitive: true,
      description: 'Words of your own around the code, such as `{{code}} is your Duka code`; ours unless given',
    }),
  ),
  language: Type.Optional(Type.String({ maxLength: 10, description: 'Of the words around the code, such as sw' })),
  app_hash: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9+/]{11}$',
      rule: 'must be the 11 characters of the app',
      description: 'Of your Android app, with which it reads the text itself (SMS Retriever)',
    }),
  ),
  web_origin: Type.Optional(
    Type.String({
      maxLength: 200,
      pattern: '^(https://)?[A-Za-z0-9.-]+(:[0-9]{1,5})?$',
      rule: 'must be an origin such as https://shop.example',
      description: 'Your website, where browsers offer the code to type in (WebOTP)',
    }),
  ),
  purpose: Type.Optional(
    Type.String({ maxLength: 60, description: 'What it is for, such as login: one code for each' }),
  ),
  verification_id: Type.Optional(
    Type.String({ maxLength: 40, description: 'Check of an identity that it belongs to' }),
  ),
  ip: Type.Optional(Type.String({ maxLength: 45, description: 'Address of the end user, for the guard' })),
})

export const OtpSent = Type.Object(
  {
    otp_id: Type.String({ description: 'Id of the code, such as `otp_…`' }),
    phone: Type.String({ description: 'Who got it' }),
    channel: OneOf(channels, { description: 'How it was sent' }),
    status: Type.Literal('pending', { description: 'Always `pending`: it waits for the code to be typed' }),
    code_length: Type.Integer({ description: 'Digits of the code' }),
    expires_at: At({ description: 'Until when it can be typed' }),
    resend_after: At({ description: 'When the same request sends it again; sooner is refused' }),
    sends_remaining: Type.Integer({ description: 'How often it can be sent again' }),
    message_id: Nullable(Type.String({ description: 'The text or message that carries it' })),
    sandbox_code: Type.Optional(Type.String({ description: 'Test keys only', sensitive: true })),
  },
  { title: 'IdentityOtpSent' },
)
