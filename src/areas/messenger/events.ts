// SPDX-License-Identifier: Apache-2.0
// Events of messages and statuses, in the nested shape of messenger webhooks (`object`, `entry`, `changes`), with times
// as strings of epoch seconds; `type` and `event_id` come first.
import { type Static, type TSchema, Type } from 'typebox'
import { eventType, type Head } from '../../platform/events.ts'
import { Metadata, Nullable, OneOf } from '../../platform/schema/fields.ts'

const head: Head = { type: 'name', event_id: 'id' }

const epochSeconds = Type.String({ description: 'Epoch seconds, as a text' })

const Media = Type.Object(
  {
    id: Type.String({ description: 'Media id to download it with' }),
    mime_type: Type.String({ description: 'Media type, such as image/jpeg' }),
    sha256: Type.String({ description: 'SHA-256 of the file, according to the provider' }),
    caption: Type.Optional(Type.String({ description: 'Caption that the user wrote' })),
    filename: Type.Optional(Type.String({ description: 'File name on the user’s phone' })),
  },
  { title: 'MessengerMedia', description: 'A file that the user sent' },
)

const Choice = Type.Object(
  {
    id: Type.String({ description: 'Id of the button or row in your message' }),
    title: Type.String({ description: 'Label of the button' }),
    description: Type.Optional(Type.String({ description: 'Line below the title of a row' })),
  },
  { description: 'Button or row that the user chose' },
)

/** Types of incoming messages that are passed on; any other is `unsupported`. */
export const inboundTypes = [
  'text',
  'image',
  'video',
  'audio',
  'document',
  'sticker',
  'interactive',
  'button',
  'location',
  'contacts',
  'reaction',
] as const

const InboundMessage = Type.Object(
  {
    from: Type.String({ description: 'The user’s number, without a plus' }),
    id: Type.String({ description: 'Id of the message, such as `mmsg_…`' }),
    timestamp: epochSeconds,
    type: OneOf([...inboundTypes, 'unsupported'], {
      description: 'Message type; the field of this name holds the content',
    }),
    text: Type.Optional(
      Type.Object({ body: Type.String({ description: 'Text that the user wrote' }) }, { description: 'Text message' }),
    ),
    image: Type.Optional(Media),
    video: Type.Optional(Media),
    audio: Type.Optional(Media),
    document: Type.Optional(Media),
    sticker: Type.Optional(Media),
    interactive: Type.Optional(
      Type.Object(
        {
          type: OneOf(['button_reply', 'list_reply'], {
            description: 'Kind of reply: a pressed button, or a chosen row of a list',
          }),
          button_reply: Type.Optional(Choice),
          list_reply: Type.Optional(Choice),
        },
        { description: 'Reply to your buttons or list' },
      ),
    ),
    button: Type.Optional(
      Type.Object(
        {
          payload: Type.String({ description: 'Payload of the button in your message' }),
          text: Type.String({ description: 'Label of the button' }),
        },
        { description: 'Pressed button of a template' },
      ),
    ),
    location: Type.Optional(
      Type.Object(
        {
          latitude: Type.Number({ description: 'Degrees, north positive' }),
          longitude: Type.Number({ description: 'Degrees, east positive' }),
          name: Type.Optional(Type.String({ description: 'Name of the place' })),
          address: Type.Optional(Type.String({ description: 'Address in one line' })),
        },
        { description: 'Shared place' },
      ),
    ),
    contacts: Type.Optional(Type.Array(Type.Unknown(), { description: 'Contact cards, in the provider’s format' })),
    reaction: Type.Optional(
      Type.Object(
        {
          message_id: Type.String({ description: 'Id of the message that the user reacts to' }),
          emoji: Type.String({ description: 'Emoji of the reaction; empty where it was removed' }),
        },
        { description: 'A reaction to a message' },
      ),
    ),
    context: Type.Optional(
      Type.Object(
        { id: Type.String({ description: 'Id of the message it replies to' }) },
        { description: 'Message that this one replies to; absent in other messages' },
      ),
    ),
  },
  { title: 'MessengerInboundMessage' },
)

const MessageStatus = Type.Object(
  {
    id: Type.String({ description: 'Id of the message, such as `mmsg_…`' }),
    status: OneOf(['sent', 'delivered', 'read', 'failed'], { description: 'Status of the message' }),
    timestamp: epochSeconds,
    recipient_id: Type.String({ description: 'The user’s number, without a plus' }),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          code: Type.Integer({ description: 'Error code, such as 131047' }),
          title: Type.String({ description: 'Meaning of the code' }),
          message: Type.String({ description: 'Explanation in a sentence' }),
          error_data: Type.Optional(
            Type.Object(
              {
                details: Type.String({ description: 'Details of the error' }),
                provider_code: Type.Optional(Type.Integer({ description: 'Error code of the provider' })),
              },
              { description: 'Further details' },
            ),
          ),
        }),
        { description: 'Failure reason' },
      ),
    ),
    conversation: Type.Optional(
      Type.Object(
        {
          id: Type.String({ description: 'The user’s number' }),
          category: Type.Optional(Type.String({ description: 'Pricing category' })),
        },
        { description: 'Conversation with the user' },
      ),
    ),
    pricing: Type.Optional(
      Type.Object(
        {
          billable: Type.Boolean({ description: 'True if the message is charged' }),
          category: Type.String({ description: 'Pricing category, such as `utility`' }),
        },
        { description: 'Pricing of the message' },
      ),
    ),
    metadata: Type.Optional(Metadata),
  },
  { title: 'MessengerMessageStatus' },
)

const channel = {
  messaging_product: Type.Literal('messenger', { description: 'Always `messenger`' }),
  metadata: Type.Object(
    {
      display_phone_number: Type.String({ description: 'Your number, as users see it' }),
      phone_number_id: Type.String({ description: 'Id of that number at the provider' }),
    },
    { description: 'Messenger channel that it came over' },
  ),
}

const InboundValue = Type.Object(
  {
    ...channel,
    contacts: Type.Array(
      Type.Object({
        profile: Type.Object(
          { name: Type.String({ description: 'Profile name of the user' }) },
          { description: 'Profile of the user' },
        ),
        wa_id: Type.String({ description: 'The user’s number, without a plus' }),
      }),
      { description: 'Sender of the messages' },
    ),
    messages: Type.Array(InboundMessage, { description: 'Messages of the user' }),
  },
  { description: 'Sender and messages' },
)

const StatusValue = Type.Object(
  { ...channel, statuses: Type.Array(MessageStatus, { description: 'Statuses of your messages' }) },
  { description: 'Statuses by message' },
)

const nested = <S extends TSchema>(value: S, title: string) =>
  Type.Object(
    {
      object: Type.Literal('messenger_business_account', { description: 'Always `messenger_business_account`' }),
      entry: Type.Array(
        Type.Object({
          id: Type.String({ description: 'Id of your account' }),
          changes: Type.Array(
            Type.Object({ field: Type.Literal('messages', { description: 'Always `messages`' }), value }),
            {
              description: 'Changes; `value` holds each',
            },
          ),
        }),
        { description: 'Single entry, for your account' },
      ),
    },
    { title },
  )

const Inbound = nested(InboundValue, 'MessengerMessageEvent')
const Status = nested(StatusValue, 'MessengerStatusEvent')

const TemplateStatus = Type.Object(
  {
    template_id: Type.String({ description: 'Id of the template, such as `tpl_…`' }),
    name: Type.String({ description: 'Unique name, used to send it' }),
    language: Type.String({ description: 'Language code, such as `en`' }),
    status: OneOf(['PENDING', 'APPROVED', 'REJECTED', 'PAUSED', 'DISABLED'], {
      description: 'Status of the review; only an `APPROVED` template can be sent',
    }),
    reason: Nullable(Type.String({ description: 'Reviewer’s reason; null unless it was rejected' })),
  },
  { title: 'MessengerTemplateEvent' },
)

const ourChannel = {
  messaging_product: 'messenger',
  metadata: { display_phone_number: '254711000000', phone_number_id: '106540352242922' },
} as const

const change = <V>(value: V) => ({
  object: 'messenger_business_account' as const,
  entry: [{ id: 'acc_01jb2c3d4e5f6g7h8j9kamnpqr', changes: [{ field: 'messages' as const, value }] }],
})

const pressed: Static<typeof InboundValue> = {
  ...ourChannel,
  contacts: [{ profile: { name: 'Amina' }, wa_id: '254711000009' }],
  messages: [
    {
      from: '254711000009',
      id: 'mmsg_01jb2c3d4e5f6g7h8j9kamnpqr',
      timestamp: '1772356530',
      type: 'interactive',
      interactive: { type: 'button_reply', button_reply: { id: 'yes', title: 'Yes' } },
      context: { id: 'mmsg_01jb2c3d4e5f6g7h8j9kamnpqq' },
    },
  ],
}

const read: Static<typeof StatusValue> = {
  ...ourChannel,
  statuses: [
    {
      id: 'mmsg_01jb2c3d4e5f6g7h8j9kamnpqr',
      status: 'read',
      timestamp: '1772356530',
      recipient_id: '254711000001',
      metadata: { order: '77' },
    },
  ],
}

/** Words of a message: its text, the caption of a file, or what was pressed; null for what has none. */
function wordsIn(message: Static<typeof InboundValue>['messages'][number]): string | null {
  const { text, interactive, button, image, video, document } = message
  const pressed = interactive?.button_reply?.title ?? interactive?.list_reply?.title ?? button?.text
  return text?.body ?? pressed ?? image?.caption ?? video?.caption ?? document?.caption ?? null
}

export const messengerEvents = {
  message: eventType({
    name: 'messenger.message',
    hubSigned: true,
    aliases: ['messenger.inbound'],
    summary: 'A user wrote, pressed a button or sent a file',
    head,
    payload: Inbound,
    sample: change(pressed),
    person: ({ entry }) => {
      const { contacts, messages, metadata } = entry[0]?.changes[0]?.value ?? {}
      const [contact, message] = [contacts?.[0], messages?.[0]]
      if (contact === undefined || message === undefined || metadata === undefined) return null
      const line = `+${metadata.display_phone_number}`
      return {
        ...{ phone: `+${contact.wa_id}`, name: contact.profile.name || null, isInbound: true },
        said: { channel: 'messenger', id: message.id, text: wordsIn(message), line },
      }
    },
  }),
  status: eventType({
    name: 'messenger.status',
    hubSigned: true,
    summary: 'A message was sent, delivered, read or failed',
    head,
    payload: Status,
    sample: change(read),
  }),
  templateStatus: eventType({
    name: 'messenger.template_status',
    hubSigned: true,
    summary: 'A template was approved, rejected, paused or disabled',
    payload: TemplateStatus,
    sample: {
      template_id: 'tpl_01jb2c3d4e5f6g7h8j9kamnpqr',
      name: 'order_update',
      language: 'en',
      status: 'APPROVED',
      reason: null,
    },
  }),
}
