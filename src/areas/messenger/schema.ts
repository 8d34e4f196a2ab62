// SPDX-License-Identifier: Apache-2.0
// Schemas of message requests and replies; content.ts has the rules beyond them.
import { type Static, Type } from 'typebox'
import { Amount, At, listQuery, Metadata, Nullable, OneOf, Phone } from '../../platform/schema/fields.ts'

const messageTypes = ['template', 'text', 'image', 'video', 'audio', 'document', 'interactive'] as const
export type MessageType = (typeof messageTypes)[number]

const text = (description: string, most: number, least = 1) =>
  Type.String({
    minLength: least,
    maxLength: most,
    rule: `must have ${least} to ${most} characters`,
    sensitive: true,
    description,
  })

const mediaFields = {
  link: Type.Optional(Type.String({ maxLength: 2048, description: 'An https:// URL from which it is fetched' })),
  id: Type.Optional(Type.String({ maxLength: 64, description: 'A media_id' })),
  caption: Type.Optional(text('What stands below it; audio has none', 1024)),
}

const Media = (description: string) => Type.Object(mediaFields, { description })

const Document = (description: string) =>
  Type.Object(
    { ...mediaFields, filename: Type.Optional(text('What it is called in the chat, with its extension', 240)) },
    { description },
  )

const Parameter = Type.Object({
  type: OneOf(['text', 'currency', 'date_time', 'image', 'video', 'document', 'payload'], {
    description: 'Which of the fields below it is',
  }),
  text: Type.Optional(text('What stands in place of the placeholder', 1024)),
  payload: Type.Optional(text('What you get back when the button is pressed; users do not see it', 256)),
  currency: Type.Optional(
    Type.Object(
      {
        fallback_value: text('How it is written, such as `KES 1,500`', 100),
        code: Type.String({ maxLength: 3, description: 'ISO 4217, such as KES' }),
        amount_1000: Type.Integer({ description: 'The amount times 1000: 1500000 for 1,500.00' }),
      },
      { description: 'An amount of money' },
    ),
  ),
  date_time: Type.Optional(
    Type.Object(
      { fallback_value: text('How it is written, such as `1 March, 9:15`', 100) },
      { description: 'A day or time' },
    ),
  ),
  image: Type.Optional(Media('Picture of the header, by link or by id')),
  video: Type.Optional(Media('Video of the header, by link or by id')),
  document: Type.Optional(Document('Document of the header, by link or by id')),
})

const TemplateComponent = Type.Object({
  type: OneOf(['header', 'body', 'button'], { description: 'Which part of the template the values are for' }),
  sub_type: Type.Optional(
    OneOf(['quick_reply', 'url'], {
      description: 'Kind of the button: one that answers with a payload, or one whose address ends with a text',
    }),
  ),
  index: Type.Optional(
    Type.Union([Type.Integer({ minimum: 0, maximum: 9 }), Type.String({ pattern: '^[0-9]$' })], {
      description: 'Which button, counted from 0',
    }),
  ),
  parameters: Type.Optional(
    Type.Array(Parameter, {
      maxItems: 50,
      description: 'Values of its placeholders in the order {{1}}, {{2}}; as many as there are placeholders',
    }),
  ),
})

const languageCode = 'Language of the template, such as `en`, `sw` or `en_US`'

export const TemplateLanguage = Type.Union(
  [
    Type.String({ minLength: 2, maxLength: 15 }),
    Type.Object({ code: Type.String({ minLength: 2, maxLength: 15, description: languageCode }) }),
  ],
  { description: languageCode },
)

export const TemplateUse = (description: string) =>
  Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: 512, description: 'Name of an approved template of yours' }),
      language: TemplateLanguage,
      components: Type.Optional(
        Type.Array(TemplateComponent, {
          maxItems: 20,
          description: 'Values for the parts that have placeholders; left out where none has',
        }),
      ),
    },
    { description },
  )

const Row = Type.Object({
  id: text('What you get back when it is chosen; different in every row', 200),
  title: text('What the user chooses by', 24),
  description: Type.Optional(text('A smaller line below the title', 72)),
})

const Interactive = Type.Object(
  {
    type: OneOf(['button', 'list'], { description: 'Up to 3 buttons, or a list of up to 10 rows that a button opens' }),
    header: Type.Optional(
      Type.Object(
        {
          type: Type.Literal('text', { description: 'The only kind there is' }),
          text: text('A bold line above the message', 60),
        },
        { description: 'What stands above the message' },
      ),
    ),
    body: Type.Object({ text: text('The message itself', 1024) }, { description: 'What the user is asked' }),
    footer: Type.Optional(
      Type.Object(
        { text: text('A grey line below the message', 60) },
        { description: 'What stands below the message' },
      ),
    ),
    action: Type.Object(
      {
        buttons: Type.Optional(
          Type.Array(
            Type.Object({
              type: Type.Literal('reply', { description: 'The only kind there is' }),
              reply: Type.Object(
                {
                  id: text('What you get back when it is pressed; different in every button', 256),
                  title: text('What stands on it; different on every button', 19),
                },
                { description: 'What it says, and what it answers with' },
              ),
            }),
            {
              minItems: 1,
              maxItems: 3,
              rule: 'must have 1 to 3 buttons',
              description: 'Needed where `type` is `button`',
            },
          ),
        ),
        button: Type.Optional(text('What stands on the button that opens the list; needed where `type` is `list`', 20)),
        sections: Type.Optional(
          Type.Array(
            Type.Object({
              title: Type.Optional(text('Heading of the rows; needed where there are several sections', 24)),
              rows: Type.Array(Row, {
                minItems: 1,
                maxItems: 10,
                description: 'What can be chosen; at most 10 in all sections together',
              }),
            }),
            {
              minItems: 1,
              maxItems: 10,
              rule: 'must have 1 to 10 sections of 1 to 10 rows',
              description: 'Needed where `type` is `list`',
            },
          ),
        ),
      },
      { description: 'What the user can choose' },
    ),
  },
  { description: 'A question with buttons or a list; the answer comes as messenger.message' },
)

const Fallback = Type.Object(
  {
    channel: Type.Literal('sms', { description: 'The only one there is' }),
    from: Type.String({ minLength: 3, maxLength: 11, description: 'Sender of the text' }),
    message: text('What the text says; charged by its segments', 1530),
    after: Type.Optional(
      Type.Integer({
        minimum: 10,
        maximum: 86_400,
        rule: 'must be 10 to 86400 seconds',
        description:
          'Seconds after which a message that is not delivered goes on by SMS; without it, only one that failed',
      }),
    ),
  },
  { description: 'What goes by SMS when the message does not arrive' },
)

export const MessageSend = Type.Object(
  {
    messaging_product: Type.Optional(Type.String({ maxLength: 20, description: 'Accepted and ignored' })),
    recipient_type: Type.Optional(Type.String({ maxLength: 20, description: 'Accepted and ignored' })),
    to: Phone({ description: 'Who gets it' }),
    type: OneOf(messageTypes, { description: 'Which of the fields below it is' }),
    text: Type.Optional(
      Type.Object(
        {
          body: text('What the user reads', 4096),
          preview_url: Type.Optional(
            Type.Boolean({ description: 'Show a preview of the first link in it; false unless given' }),
          ),
        },
        { description: 'Only to users who wrote to you within the last 24 hours' },
      ),
    ),
    image: Type.Optional(Media('A picture of at most 5 MB, by link or by id')),
    video: Type.Optional(Media('A video of at most 16 MB, by link or by id')),
    audio: Type.Optional(Media('A sound of at most 16 MB, by link or by id')),
    document: Type.Optional(Document('A file of at most 100 MB, by link or by id')),
    interactive: Type.Optional(Interactive),
    template: Type.Optional(TemplateUse('A template of yours; the only type that reaches users who have not written')),
    context: Type.Optional(
      Type.Object(
        { message_id: Type.String({ maxLength: 64, description: 'What it answers' }) },
        { description: 'Shows it as an answer to a message of the chat' },
      ),
    ),
    fallback_template: Type.Optional(TemplateUse('Sent instead while the user has not written for 24 hours')),
    fallback: Type.Optional(Fallback),
    require_opt_in: Type.Optional(
      Type.Boolean({ default: false, description: 'True: refused with 131051 unless the user opted in' }),
    ),
    metadata: Type.Optional(Metadata),
    callback_url: Type.Optional(Type.String({ maxLength: 2048, description: 'Gets the statuses of this message' })),
    reference: Type.Optional(
      Type.String({
        pattern: '^[\\x21-\\x7e]{1,255}$',
        rule: 'must be 1 to 255 visible ASCII characters',
        description: 'Your own id of the message, never used before',
      }),
    ),
  },
  { title: 'MessengerSend' },
)
export type SendInput = Static<typeof MessageSend>

export const SendReply = Type.Object(
  {
    messaging_product: Type.Literal('messenger', { description: 'Always `messenger`, for clients of the Cloud API' }),
    message_id: Type.String({ description: 'Id of the message, such as `mmsg_…`' }),
    to: Type.String({ description: 'Who gets it, in E.164' }),
    status: Type.Literal('accepted', {
      description: 'It was accepted; what becomes of it is told by messenger.status',
    }),
    type: OneOf(messageTypes, { description: 'What was sent; `template` where `fallback_template` went instead' }),
    contacts: Type.Array(
      Type.Object({
        input: Type.String({ description: 'As you sent it' }),
        wa_id: Type.String({ description: 'The user’s id in the messenger' }),
      }),
      {
        description: 'The recipient once more, where clients of the Cloud API look for it',
      },
    ),
    messages: Type.Array(Type.Object({ id: Type.String({ description: 'The message_id' }) }), {
      description: 'The message_id once more, where clients of the Cloud API look for it',
    }),
    cost: Amount({ description: 'In major units of `currency`' }),
    currency: Type.String({ description: 'Of the cost' }),
    timestamp: At({ description: 'When it was accepted' }),
  },
  { title: 'MessengerAccepted' },
)

const MessageError = Type.Object({
  code: Type.Integer({ description: 'As in the Cloud API, such as 131047' }),
  title: Type.String({ description: 'In a few words' }),
  message: Type.String({ description: 'What to do about it' }),
  error_data: Type.Object(
    {
      details: Type.String({ description: 'What to do about it' }),
      provider_code: Type.Optional(Type.Integer({ description: 'The provider’s own code' })),
    },
    { description: 'What is known beyond that' },
  ),
})
export type MessageErrors = Static<typeof MessageError>[]

const Content = Type.Optional(
  Type.Unknown({
    sensitive: true,
    description: 'What was sent or came in; only where `type` is the name of this field',
  }),
)

export const MessageRecord = Type.Object(
  {
    message_id: Type.String({ description: 'Id of the message, such as `mmsg_…`' }),
    to: Type.String({ description: 'Who has it, in E.164' }),
    from: Type.String({ description: 'Who wrote it, in E.164' }),
    direction: OneOf(['outbound', 'inbound'], { description: '`outbound` from you, `inbound` from a user' }),
    type: Type.String({ description: 'Which of the fields below it is' }),
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
    template: Type.Optional(
      Type.Object(
        {
          name: Type.String({ description: 'Name of the template' }),
          language: Type.String({ description: 'Such as `en`' }),
        },
        { description: 'Which template was sent' },
      ),
    ),
    context: Nullable(
      Type.Object(
        { message_id: Type.String({ description: 'Its id, such as `mmsg_…`' }) },
        { description: 'The message it answers; null if it answers none' },
      ),
    ),
    status: OneOf(['accepted', 'sent', 'delivered', 'read', 'failed', 'received'], {
      description: 'How far it came; `received` is one of a user',
    }),
    accepted_at: At({ description: 'When you sent it, or it came in' }),
    sent_at: Nullable(At({ description: 'When the provider took it' })),
    delivered_at: Nullable(At({ description: 'When the phone had it' })),
    read_at: Nullable(At({ description: 'When it was read, as far as the user lets that be known' })),
    failed_at: Nullable(At({ description: 'When it became clear that it will not arrive' })),
    errors: Nullable(Type.Array(MessageError, { description: 'Why it failed; null unless it did' })),
    metadata: Metadata,
    conversation: Nullable(
      Type.Object(
        {
          id: Type.String({ description: 'The user’s number' }),
          category: Type.String({ description: 'What it is priced as' }),
          window_expires_at: Nullable(At({ description: 'Until when messages other than templates may be sent' })),
        },
        { description: 'The user, and the end of the window for messages other than templates' },
      ),
    ),
    fallback_message_id: Nullable(Type.String({ description: 'The SMS that went instead' })),
    cost: Amount({ description: 'In major units of `currency`' }),
    currency: Nullable(Type.String({ description: 'Of the cost; null for what came in' })),
    provider_id: Nullable(Type.String({ description: 'Its id at the provider; null until it was taken' })),
  },
  { title: 'MessengerMessage' },
)

export const MessageList = Type.Object({
  ...listQuery,
  direction: Type.Optional(
    OneOf(['outbound', 'inbound'], {
      description: '`outbound`: only what you sent; `inbound`: only what users sent; both unless given',
    }),
  ),
  status: Type.Optional(
    OneOf(['accepted', 'sent', 'delivered', 'read', 'failed', 'received'], {
      description: 'How far they came; `received` are those of users',
    }),
  ),
  to: Type.Optional(
    Type.String({
      maxLength: 16,
      description: 'Whole number in E.164, such as +254711000020; of inbound messages your own',
    }),
  ),
  from: Type.Optional(
    Type.String({ maxLength: 16, description: 'Whole number in E.164; of inbound messages the user’s' }),
  ),
  type: Type.Optional(
    Type.String({
      maxLength: 20,
      description: 'Kind of content, such as `text`, `image` or `template`: the field that holds it has this name',
    }),
  ),
  template: Type.Optional(
    Type.String({ maxLength: 512, description: 'Name of the template that was sent, in whichever language' }),
  ),
  from_date: Type.Optional(Type.String({ maxLength: 40, description: 'First day or moment, inclusive' })),
  to_date: Type.Optional(Type.String({ maxLength: 40, description: 'Last day or moment, inclusive' })),
})
