// SPDX-License-Identifier: Apache-2.0
// Schemas of one-time code requests, and their channels.
import { Type } from 'typebox'
import { At, Nullable, OneOf, Phone } from '../../../platform/schema/fields.ts'

const channels = ['sms', 'voice', 'messenger', 'email'] as const
export type Channel = (typeof channels)[number]
const ChannelName = OneOf(channels)

export const OtpSend = Type.Object({
  phone: Phone({ description: 'Phone number that receives the code' }),
  channel: Type.Optional(
    Type.Union([ChannelName, Type.Array(ChannelName, { minItems: 1, maxItems: 4 })], {
      description: 'Channel of the code, or several in the order in which they are tried; default `sms`',
    }),
  ),
  email: Type.Optional(
    Type.String({ maxLength: 254, sensitive: true, description: 'Address for the channel `email`' }),
  ),
  code_length: Type.Optional(
    Type.Integer({
      minimum: 4,
      maximum: 10,
      rule: 'must be 4 to 10',
      description: 'Digits of the code; default 6',
    }),
  ),
  expires_in: Type.Optional(
    Type.Integer({
      minimum: 60,
      maximum: 900,
      rule: 'must be 60 to 900 seconds',
      description: 'Validity of the code in seconds; default 600',
    }),
  ),
  from: Type.Optional(Type.String({ minLength: 1, maxLength: 16, description: 'Sender of the text' })),
  message: Type.Optional(
    Type.String({
      maxLength: 480,
      rule: 'must contain {{code}} once',
      sensitive: true,
      description: 'Custom text around the code, such as `{{code}} is your Duka code`; default ours',
    }),
  ),
  language: Type.Optional(
    Type.String({ maxLength: 10, description: 'Language of the text around the code, such as sw' }),
  ),
  app_hash: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9+/]{11}$',
      rule: 'must be the 11 characters of the app',
      description: 'Hash of your Android app, for automatic reading of the text (SMS Retriever)',
    }),
  ),
  web_origin: Type.Optional(
    Type.String({
      maxLength: 200,
      pattern: '^(https://)?[A-Za-z0-9.-]+(:[0-9]{1,5})?$',
      rule: 'must be an origin such as https://shop.example',
      description: 'Origin of your website, where browsers fill in the code (WebOTP)',
    }),
  ),
  purpose: Type.Optional(
    Type.String({
      maxLength: 60,
      description: 'Purpose of the code, such as login; each purpose has a code of its own',
    }),
  ),
  verification_id: Type.Optional(Type.String({ maxLength: 40, description: 'Id of the related verification' })),
  ip: Type.Optional(Type.String({ maxLength: 45, description: 'IP address of the user, for the fraud guard' })),
})

export const OtpSent = Type.Object(
  {
    otp_id: Type.String({ description: 'Id of the code, such as `otp_…`' }),
    phone: Type.String({ description: 'Recipient’s number' }),
    channel: OneOf(channels, { description: 'Channel of the code' }),
    status: Type.Literal('pending', { description: 'Always `pending`: not verified yet' }),
    code_length: Type.Integer({ description: 'Digits of the code' }),
    expires_at: At({ description: 'Expiry time of the code' }),
    resend_after: At({ description: 'Earliest time of a resend' }),
    sends_remaining: Type.Integer({ description: 'Number of resends left' }),
    message_id: Nullable(Type.String({ description: 'Id of the text or message that carries it' })),
    sandbox_code: Type.Optional(Type.String({ description: 'The sent code; test keys only', sensitive: true })),
  },
  { title: 'IdentityOtpSent' },
)
