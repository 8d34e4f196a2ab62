// SPDX-License-Identifier: Apache-2.0
// Schemas of message requests and replies; content.ts has the rules beyond them.
import { type Static, Type } from 'typebox'
import { e164, e164Rule } from '../../kernel/phone.ts'
import { Amount, At, listQuery, Metadata, Nullable, OneOf } from '../../platform/schema/fields.ts'

export const Phone = (description?: string) =>
  Type.String({ pattern: e164, rule: e164Rule, errorCode: 'INVALID_PHONE', ...(description ? { description } : {}) })

const messageTypes = ['template', 'text', 'image', 'video', 'audio', 'document', 'interactive'] as const
export type MessageType = (typeof messageTypes)[number]

const text = (most: number, least = 1) =>
  Type.String({
    minLength: least,
    maxLength: most,
    rule: `must have ${least} to ${most} characters`,
    sensitive: true,
  })

const Media = Type.Object({
  link: Type.Optional(Type.String({ maxLength: 2048, description: 'An https:// URL from which it is fetched' })),
  id: Type.Optional(Type.String({ maxLength: 64, description: 'A media_id' })),
  caption: Type.Optional(text(1024)),
})

const Document = Type.Object({ ...Media.properties, filename: Type.Optional(text(240)) })

const Parameter = Type.Object({
  type: OneOf(['text', 'currency', 'date_time', 'image', 'video', 'document', 'payload']),
  text: Type.Optional(text(1024)),
  payload: Type.Optional(text(256)),
  currency: Type.Optional(
    Type.Object({ fallback_value: text(100), code: Type.String({ maxLength: 3 }), amount_1000: Type.Integer() }),
  ),
  date_time: Type.Optional(Type.Object({ fallback_value: text(100) })),
  image: Type.Optional(Media),
  video: Type.Optional(Media),
  document: Type.Optional(Document),
})

const TemplateComponent = Type.Object({
  type: OneOf(['header', 'body', 'button']),
  sub_type: Type.Optional(OneOf(['quick_reply', 'url'])),
  index: Type.Optional(Type.Union([Type.Integer({ minimum: 0, maximum: 9 }), Type.String({ pattern: '^[0-9]$' })])),
  parameters: Type.Optional(Type.Array(Parameter, { maxItems: 50 })),
})

export const TemplateUse = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 512 }),
  language: Type.Union([
    Type.String({ minLength: 2, maxLength: 15 }),
    Type.Object({ code: Type.String({ minLength: 2, maxLength: 15 }) }),
  ]),
  components: Type.Optional(Type.Array(TemplateComponent, { maxItems: 20 })),
})

const Row = Type.Object({ id: text(200), title: text(24), description: Type.Optional(text(72)) })

const Interactive = Type.Object({
  type: OneOf(['button', 'list']),
  header: Type.Optional(Type.Object({ type: Type.Literal('text'), text: text(60) })),
  body: Type.Object({ text: text(1024) }),
  footer: Type.Optional(Type.Object({ text: text(60) })),
  action: Type.Object({
    buttons: Type.Optional(
      Type.Array(Type.Object({ type: Type.Literal('reply'), reply: Type.Object({ id: text(256), title: text(19) }) }), {
        minItems: 1,
        maxItems: 3,
        rule: 'must have 1 to 3 buttons',
      }),
    ),
    button: Type.Optional(text(20)),
    sections: Type.Optional(
      Type.Array(
        Type.Object({ title: Type.Optional(text(24)), rows: Type.Array(Row, { minItems: 1, maxItems: 10 }) }),
        {
          minItems: 1,
          maxItems: 10,
          rule: 'must have 1 to 10 sections of 1 to 10 rows',
        },
      ),
    ),
  }),
})

const Fallback = Type.Object({
  channel: Type.Literal('sms'),
  from: Type.String({ minLength: 3, maxLength: 11, description: 'Sender of the text' }),
  message: text(1530),
  after: Type.Optional(
    Type.Integer({
      minimum: 10,
      maximum: 86_400,
      rule: 'must be 10 to 86400 seconds',
      description:
        'Seconds after which a message that is not delivered goes on by SMS; without it, only one that failed',
    }),
  ),
})

export const MessageSend = Type.Object(
  {
    messaging_product: Type.Optional(Type.String({ maxLength: 20, description: 'Accepted and ignored' })),
    recipient_type: Type.Optional(Type.String({ maxLength: 20, description: 'Accepted and ignored' })),
    to: Phone('Who gets it'),
    type: OneOf(messageTypes, { description: 'Which of the fields below it is' }),
    text: Type.Optional(Type.Object({ body: text(4096), preview_url: Type.Optional(Type.Boolean()) })),
    image: Type.Optional(Media),
    video: Type.Optional(Media),
    audio: Type.Optional(Media),
    document: Type.Optional(Document),
    interactive: Type.Optional(Interactive),
    template: Type.Optional(TemplateUse),
    context: Type.Optional(Type.Object({ message_id: Type.String({ maxLength: 64, description: 'What it answers' }) })),
    fallback_template: Type.Optional(TemplateUse),
    fallback: Type.Optional(Fallback),
    require_opt_in: Type.Optional(
      Type.Boolean({ default: false, description: 'True: refused with 131051 unless the user opted in' }),
    ),
    metadata: Type.Optional(Metadata),
    callback_url: Type.Optional(Type.String({ maxLength: 2048, description: 'Gets the statuses of this message' })),
    reference: Type.Optional(
      Type.String({ pattern: '^[\\x21-\\x7e]{1,255}$', rule: 'must be 1 to 255 visible ASCII characters' }),
    ),
  },
  { title: 'MessengerSend' },
)
export type SendInput = Static<typeof MessageSend>

export const SendReply = Type.Object(
  {
    messaging_product: Type.Literal('messenger'),
    message_id: Type.String(),
    to: Type.String(),
    status: Type.Literal('accepted'),
    type: OneOf(messageTypes),
    contacts: Type.Array(Type.Object({ input: Type.String(), wa_id: Type.String() })),
    messages: Type.Array(Type.Object({ id: Type.String() }), {
      description: 'The message_id once more, where clients of the Cloud API look for it',
    }),
    cost: Amount(),
    currency: Type.String(),
    timestamp: At(),
  },
  { title: 'MessengerAccepted' },
)

const MessageError = Type.Object({
  code: Type.Integer(),
  title: Type.String(),
  message: Type.String(),
  error_data: Type.Object({ details: Type.String(), provider_code: Type.Optional(Type.Integer()) }),
})
export type MessageErrors = Static<typeof MessageError>[]

const Content = Type.Optional(Type.Unknown({ sensitive: true, description: 'Present when the type is this' }))

export const MessageRecord = Type.Object(
  {
    message_id: Type.String(),
    to: Type.String(),
    from: Type.String(),
    direction: OneOf(['outbound', 'inbound']),
    type: Type.String(),
    text: Content,
    image: Content,
    video: Content,
    audio: Content,
    document: Content,
    sticker: Content,
    interactive: Content,
    button: Content,
    location: Content,
    contacts: Content,
    reaction: Content,
    template: Type.Optional(Type.Object({ name: Type.String(), language: Type.String() })),
    context: Nullable(Type.Object({ message_id: Type.String() })),
    status: OneOf(['accepted', 'sent', 'delivered', 'read', 'failed', 'received']),
    accepted_at: At(),
    sent_at: Nullable(At()),
    delivered_at: Nullable(At()),
    read_at: Nullable(At()),
    failed_at: Nullable(At()),
    errors: Nullable(Type.Array(MessageError)),
    metadata: Metadata,
    conversation: Nullable(
      Type.Object({ id: Type.String(), category: Type.String(), window_expires_at: Nullable(At()) }),
    ),
    fallback_message_id: Nullable(Type.String()),
    cost: Amount(),
    currency: Nullable(Type.String()),
    provider_id: Nullable(Type.String()),
  },
  { title: 'MessengerMessage' },
)

export const MessageList = Type.Object({
  ...listQuery,
  direction: Type.Optional(OneOf(['outbound', 'inbound'])),
  status: Type.Optional(OneOf(['accepted', 'sent', 'delivered', 'read', 'failed', 'received'])),
  to: Type.Optional(Type.String({ maxLength: 16 })),
  from: Type.Optional(Type.String({ maxLength: 16 })),
  type: Type.Optional(Type.String({ maxLength: 20 })),
  template: Type.Optional(Type.String({ maxLength: 512 })),
  from_date: Type.Optional(Type.String({ maxLength: 40, description: 'First day or moment, inclusive' })),
  to_date: Type.Optional(Type.String({ maxLength: 40, description: 'Last day or moment, inclusive' })),
})
