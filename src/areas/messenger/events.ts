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
    mime_type: Type.String({ description: 'Such as image/jpeg' }),
    sha256: Type.String({ description: 'Of the file, as the provider says' }),
    caption: Type.Optional(Type.String({ description: 'What the user wrote below it' })),
    filename: Type.Optional(Type.String({ description: 'What it is called on the user’s phone' })),
  },
  { title: 'MessengerMedia', description: 'A file that the user sent' },
)

const Choice = Type.Object(
  {
    id: Type.String({ description: 'As you gave it with the button or row' }),
    title: Type.String({ description: 'What stands on it' }),
    description: Type.Optional(Type.String({ description: 'What stands below the title of a row' })),
  },
  { description: 'What the user chose' },
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
    type: OneOf([...inboundTypes, 'unsupported'], { description: 'Kind of content: the field of this name has it' }),
    text: Type.Optional(
      Type.Object({ body: Type.String({ description: 'What the user wrote' }) }, { description: 'A written message' }),
    ),
    image: Type.Optional(Media),
    video: Type.Optional(Media),
    audio: Type.Optional(Media),
    document: Type.Optional(Media),
    sticker: Type.Optional(Media),
    interactive: Type.Optional(
      Type.Object(
        {
          type: OneOf(['button_reply', 'list_reply'], { description: 'Whether a button was pressed or a row chosen' }),
          button_reply: Type.Optional(Choice),
          list_reply: Type.Optional(Choice),
        },
        { description: 'An answer to buttons or a list of yours' },
      ),
    ),
    button: Type.Optional(
      Type.Object(
        {
          payload: Type.String({ description: 'As you gave it with the button' }),
          text: Type.String({ description: 'What stands on it' }),
        },
        { description: 'A button of a template that was pressed' },
      ),
    ),
    location: Type.Optional(
      Type.Object(
        {
          latitude: Type.Number({ description: 'Degrees, north positive' }),
          longitude: Type.Number({ description: 'Degrees, east positive' }),
          name: Type.Optional(Type.String({ description: 'What the place is called' })),
          address: Type.Optional(Type.String({ description: 'In one line' })),
        },
        { description: 'A place' },
      ),
    ),
    contacts: Type.Optional(
      Type.Array(Type.Unknown(), { description: 'Cards of people, as the provider passes them on' }),
    ),
    reaction: Type.Optional(
      Type.Object(
        {
          message_id: Type.String({ description: 'The message that the user reacts to' }),
          emoji: Type.String({ description: 'What they chose; empty where they took it back' }),
        },
        { description: 'A reaction to a message' },
      ),
    ),
    context: Type.Optional(
      Type.Object(
        { id: Type.String({ description: 'The message it answers' }) },
        { description: 'Present in an answer to a message' },
      ),
    ),
  },
  { title: 'MessengerInboundMessage' },
)

const MessageStatus = Type.Object(
  {
    id: Type.String({ description: 'Id of the message, such as `mmsg_…`' }),
    status: OneOf(['sent', 'delivered', 'read', 'failed'], { description: 'How far the message came' }),
    timestamp: epochSeconds,
    recipient_id: Type.String({ description: 'The user’s number, without a plus' }),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          code: Type.Integer({ description: 'For programs, such as 131047' }),
          title: Type.String({ description: 'What the code means' }),
          message: Type.String({ description: 'The same in a sentence' }),
          error_data: Type.Optional(
            Type.Object(
              {
                details: Type.String({ description: 'What exactly was wrong' }),
                provider_code: Type.Optional(Type.Integer({ description: 'The code as the provider gave it' })),
              },
              { description: 'More about it' },
            ),
          ),
        }),
        { description: 'Why it failed' },
      ),
    ),
    conversation: Type.Optional(
      Type.Object(
        {
          id: Type.String({ description: 'The user’s number' }),
          category: Type.Optional(Type.String({ description: 'What it is priced as' })),
        },
        { description: 'The user' },
      ),
    ),
    pricing: Type.Optional(
      Type.Object(
        {
          billable: Type.Boolean({ description: 'Whether it is charged' }),
          category: Type.String({ description: 'What it is priced as, such as `utility`' }),
        },
        { description: 'What it costs by' },
      ),
    ),
    metadata: Type.Optional(Metadata),
  },
  { title: 'MessengerMessageStatus' },
)

const channel = {
  messaging_product: Type.Literal('messenger', { description: 'Always this' }),
  metadata: Type.Object(
    {
      display_phone_number: Type.String({ description: 'Your number, as users see it' }),
      phone_number_id: Type.String({ description: 'Id of that number at the provider' }),
    },
    { description: 'The channel it came over' },
  ),
}

const InboundValue = Type.Object(
  {
    ...channel,
    contacts: Type.Array(
      Type.Object({
        profile: Type.Object(
          { name: Type.String({ description: 'As the user calls themself' }) },
          { description: 'As users show themselves' },
        ),
        wa_id: Type.String({ description: 'The user’s number, without a plus' }),
      }),
      { description: 'Who wrote' },
    ),
    messages: Type.Array(InboundMessage, { description: 'What they wrote' }),
  },
  { description: 'Who wrote what' },
)

const StatusValue = Type.Object(
  { ...channel, statuses: Type.Array(MessageStatus, { description: 'What became of messages of yours' }) },
  { description: 'What became of which' },
)

const nested = <S extends TSchema>(value: S, title: string) =>
  Type.Object(
    {
      object: Type.Literal('messenger_business_account', { description: 'Always this' }),
      entry: Type.Array(
        Type.Object({
          id: Type.String({ description: 'Your account' }),
          changes: Type.Array(Type.Object({ field: Type.Literal('messages', { description: 'Always this' }), value }), {
            description: 'What happened; `value` holds it',
          }),
        }),
        { description: 'One for your account' },
      ),
    },
    { title },
  )

const Inbound = nested(InboundValue, 'MessengerMessageEvent')
const Status = nested(StatusValue, 'MessengerStatusEvent')

const TemplateStatus = Type.Object(
  {
    template_id: Type.String({ description: 'Id of the template, such as `tpl_…`' }),
    name: Type.String({ description: 'Name used to send it' }),
    language: Type.String({ description: 'Such as `en`' }),
    status: OneOf(['PENDING', 'APPROVED', 'REJECTED', 'PAUSED', 'DISABLED'], {
      description: 'Only an `APPROVED` one can be sent',
    }),
    reason: Nullable(Type.String({ description: 'What the reviewers said; null unless it was rejected' })),
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
