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
  link: Type.Optional(Type.String({ maxLength: 2048, description: 'URL from which the file is fetched, https://' })),
  id: Type.Optional(Type.String({ maxLength: 64, description: 'Media id of an uploaded file' })),
  caption: Type.Optional(text('Caption below the media; not for audio', 1024)),
}

const Media = (description: string) => Type.Object(mediaFields, { description })

const Document = (description: string) =>
  Type.Object(
    { ...mediaFields, filename: Type.Optional(text('File name shown in the chat, with its extension', 240)) },
    { description },
  )

const Parameter = Type.Object({
  type: OneOf(['text', 'currency', 'date_time', 'image', 'video', 'document', 'payload'], {
    description: 'Kind of value; the field of this name holds it',
  }),
  text: Type.Optional(text('Value of the placeholder', 1024)),
  payload: Type.Optional(text('Payload returned when the button is pressed; hidden from users', 256)),
  currency: Type.Optional(
    Type.Object(
      {
        fallback_value: text('Text shown, such as `KES 1,500`', 100),
        code: Type.String({ maxLength: 3, description: 'ISO 4217, such as KES' }),
        amount_1000: Type.Integer({ description: 'The amount times 1000: 1500000 for 1,500.00' }),
      },
      { description: 'An amount of money' },
    ),
  ),
  date_time: Type.Optional(
    Type.Object({ fallback_value: text('Text shown, such as `1 March, 9:15`', 100) }, { description: 'A day or time' }),
  ),
  image: Type.Optional(Media('Picture of the header, by link or by id')),
  video: Type.Optional(Media('Video of the header, by link or by id')),
  document: Type.Optional(Document('Document of the header, by link or by id')),
})

const TemplateComponent = Type.Object({
  type: OneOf(['header', 'body', 'button'], { description: 'Component of the template for the values' }),
  sub_type: Type.Optional(
    OneOf(['quick_reply', 'url'], {
      description: 'Kind of button: a reply with a payload, or a URL with a variable ending',
    }),
  ),
  index: Type.Optional(
    Type.Union([Type.Integer({ minimum: 0, maximum: 9 }), Type.String({ pattern: '^[0-9]$' })], {
      description: 'Index of the button, from 0',
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
          description: 'Values for the components with placeholders; omitted if there are none',
        }),
      ),
    },
    { description },
  )

const Row = Type.Object({
  id: text('Id returned when the row is chosen; unique among the rows', 200),
  title: text('Title of the row', 24),
  description: Type.Optional(text('A smaller line below the title', 72)),
})

const Interactive = Type.Object(
  {
    type: OneOf(['button', 'list'], {
      description: 'Kind of choice: up to 3 buttons, or a list of up to 10 rows that a button opens',
    }),
    header: Type.Optional(
      Type.Object(
        {
          type: Type.Literal('text', { description: 'Kind of header; only one value so far' }),
          text: text('A bold line above the message', 60),
        },
        { description: 'Header above the message' },
      ),
    ),
    body: Type.Object({ text: text('Text of the message', 1024) }, { description: 'Body of the message' }),
    footer: Type.Optional(
      Type.Object({ text: text('A grey line below the message', 60) }, { description: 'Footer below the message' }),
    ),
    action: Type.Object(
      {
        buttons: Type.Optional(
          Type.Array(
            Type.Object({
              type: Type.Literal('reply', { description: 'Kind of header; only one value so far' }),
              reply: Type.Object(
                {
                  id: text('Id returned when the button is pressed; unique among the buttons', 256),
                  title: text('Label of the button; unique among the buttons', 19),
                },
                { description: 'Label and id of the button' },
              ),
            }),
            {
              minItems: 1,
              maxItems: 3,
              rule: 'must have 1 to 3 buttons',
              description: 'Buttons; required where `type` is `button`',
            },
          ),
        ),
        button: Type.Optional(text('Label of the button that opens the list; required where `type` is `list`', 20)),
        sections: Type.Optional(
          Type.Array(
            Type.Object({
              title: Type.Optional(text('Heading of the rows; required where there are several sections', 24)),
              rows: Type.Array(Row, {
                minItems: 1,
                maxItems: 10,
                description: 'Choices; at most 10 in all sections together',
              }),
            }),
            {
              minItems: 1,
              maxItems: 10,
              rule: 'must have 1 to 10 sections of 1 to 10 rows',
              description: 'Sections of rows; required where `type` is `list`',
            },
          ),
        ),
      },
      { description: 'Choices of the user' },
    ),
  },
  { description: 'Question with buttons or a list; the reply is sent as messenger.message' },
)

const Fallback = Type.Object(
  {
    channel: Type.Literal('sms', { description: 'Channel of the fallback; only one value so far' }),
    from: Type.String({ minLength: 3, maxLength: 11, description: 'Sender of the text' }),
    message: text('Text of the SMS; charged by segment', 1530),
    after: Type.Optional(
      Type.Integer({
        minimum: 10,
        maximum: 86_400,
        rule: 'must be 10 to 86400 seconds',
        description: 'Seconds after which an undelivered message is sent by SMS; without it, only a failed one',
      }),
    ),
  },
  { description: 'SMS sent when the message is not delivered' },
)

export const MessageSend = Type.Object(
  {
    messaging_product: Type.Optional(Type.String({ maxLength: 20, description: 'Accepted and ignored' })),
    recipient_type: Type.Optional(Type.String({ maxLength: 20, description: 'Accepted and ignored' })),
    to: Phone({ description: 'Recipient of the message' }),
    type: OneOf(messageTypes, { description: 'Kind of value; the field of this name holds it' }),
    text: Type.Optional(
      Type.Object(
        {
          body: text('Text shown to the user', 4096),
          preview_url: Type.Optional(
            Type.Boolean({ description: 'Show a preview of the first link in it; default false' }),
          ),
        },
        { description: 'Text message, only to users who wrote to you within the last 24 hours' },
      ),
    ),
    image: Type.Optional(Media('A picture of at most 5 MB, by link or by id')),
    video: Type.Optional(Media('A video of at most 16 MB, by link or by id')),
    audio: Type.Optional(Media('A sound of at most 16 MB, by link or by id')),
    document: Type.Optional(Document('A file of at most 100 MB, by link or by id')),
    interactive: Type.Optional(Interactive),
    template: Type.Optional(
      TemplateUse('Approved template; the only type for users who have not written within 24 hours'),
    ),
    context: Type.Optional(
      Type.Object(
        { message_id: Type.String({ maxLength: 64, description: 'Id of the message it replies to' }) },
        { description: 'Message of the chat that this one replies to' },
      ),
    ),
    fallback_template: Type.Optional(TemplateUse('Template sent instead while the user has not written for 24 hours')),
    fallback: Type.Optional(Fallback),
    require_opt_in: Type.Optional(
      Type.Boolean({ default: false, description: 'True refuses it with 131051 unless the user opted in' }),
    ),
    metadata: Type.Optional(Metadata),
    callback_url: Type.Optional(
      Type.String({ maxLength: 2048, description: 'URL that receives the statuses of this message' }),
    ),
    reference: Type.Optional(
      Type.String({
        pattern: '^[\\x21-\\x7e]{1,255}$',
        rule: 'must be 1 to 255 visible ASCII characters',
        description: 'Your own id for the message; must be unique',
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
    to: Type.String({ description: 'Recipient in E.164' }),
    status: Type.Literal('accepted', {
      description: 'Accepted; later statuses are sent as messenger.status',
    }),
    type: OneOf(messageTypes, { description: 'Type sent; `template` where `fallback_template` was sent instead' }),
    contacts: Type.Array(
      Type.Object({
        input: Type.String({ description: 'Recipient as you sent it' }),
        wa_id: Type.String({ description: 'The user’s id in the messenger' }),
      }),
      {
        description: 'Copy of the recipient, for clients of the Cloud API',
      },
    ),
    messages: Type.Array(Type.Object({ id: Type.String({ description: 'Id of the message' }) }), {
      description: 'Copy of the message id, for clients of the Cloud API',
    }),
    cost: Amount({ description: 'Amount in major units of `currency`' }),
    currency: Type.String({ description: 'Currency of the cost, ISO 4217' }),
    timestamp: At({ description: 'Time of acceptance' }),
  },
  { title: 'MessengerAccepted' },
)

const MessageError = Type.Object({
  code: Type.Integer({ description: 'Error code of the Cloud API, such as 131047' }),
  title: Type.String({ description: 'Short title of the error' }),
  message: Type.String({ description: 'Recommended action' }),
  error_data: Type.Object(
    {
      details: Type.String({ description: 'Recommended action' }),
      provider_code: Type.Optional(Type.Integer({ description: 'The provider’s own code' })),
    },
    { description: 'Further details' },
  ),
})
export type MessageErrors = Static<typeof MessageError>[]

const Content = Type.Optional(
  Type.Unknown({
    sensitive: true,
    description: 'Content of the message; present when `type` has the name of this field',
  }),
)

export const MessageRecord = Type.Object(
  {
    message_id: Type.String({ description: 'Id of the message, such as `mmsg_…`' }),
    to: Type.String({ description: 'Recipient in E.164' }),
    from: Type.String({ description: 'Sender in E.164' }),
    direction: OneOf(['outbound', 'inbound'], { description: '`outbound` from you, `inbound` from a user' }),
    type: Type.String({ description: 'Kind of value; the field of this name holds it' }),
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
          language: Type.String({ description: 'Language code, such as `en`' }),
        },
        { description: 'Template that was sent' },
      ),
    ),
    context: Nullable(
      Type.Object(
        { message_id: Type.String({ description: 'Id of the message, such as `mmsg_…`' }) },
        { description: 'Message it replies to; null if there is none' },
      ),
    ),
    status: OneOf(['accepted', 'sent', 'delivered', 'read', 'failed', 'received'], {
      description: 'Status; `received` for messages of users',
    }),
    accepted_at: At({ description: 'Time it was accepted or received' }),
    sent_at: Nullable(At({ description: 'Time of acceptance by the provider' })),
    delivered_at: Nullable(At({ description: 'Time of delivery to the phone' })),
    read_at: Nullable(At({ description: 'Time at which it was read, if the user shares read receipts' })),
    failed_at: Nullable(At({ description: 'Time of failure' })),
    errors: Nullable(Type.Array(MessageError, { description: 'Errors; null unless it failed' })),
    metadata: Metadata,
    conversation: Nullable(
      Type.Object(
        {
          id: Type.String({ description: 'The user’s number' }),
          category: Type.String({ description: 'Pricing category' }),
          window_expires_at: Nullable(At({ description: 'End of the window for messages other than templates' })),
        },
        { description: 'The user, and the end of the window for messages other than templates' },
      ),
    ),
    fallback_message_id: Nullable(Type.String({ description: 'Id of the SMS that was sent instead' })),
    cost: Amount({ description: 'Amount in major units of `currency`' }),
    currency: Nullable(Type.String({ description: 'Currency of the cost; null for inbound messages' })),
    provider_id: Nullable(Type.String({ description: 'Id at the provider; null until accepted' })),
  },
  { title: 'MessengerMessage' },
)

export const MessageList = Type.Object({
  ...listQuery,
  direction: Type.Optional(
    OneOf(['outbound', 'inbound'], {
      description: '`outbound`: sent by you; `inbound`: sent by users; default both',
    }),
  ),
  status: Type.Optional(
    OneOf(['accepted', 'sent', 'delivered', 'read', 'failed', 'received'], {
      description: 'Status; `received` for messages of users',
    }),
  ),
  to: Type.Optional(
    Type.String({
      maxLength: 16,
      description: 'Recipient in E.164, such as +254711000020; for inbound messages your own number',
    }),
  ),
  from: Type.Optional(Type.String({ maxLength: 16, description: 'Sender in E.164; for inbound messages the user' })),
  type: Type.Optional(
    Type.String({
      maxLength: 20,
      description: 'Kind of content, such as `text`, `image` or `template`: the field that holds it has this name',
    }),
  ),
  template: Type.Optional(
    Type.String({ maxLength: 512, description: 'Name of the template that was sent, in any language' }),
  ),
  from_date: Type.Optional(Type.String({ maxLength: 40, description: 'First day or moment, inclusive' })),
  to_date: Type.Optional(Type.String({ maxLength: 40, description: 'Last day or moment, inclusive' })),
})
