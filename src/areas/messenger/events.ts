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
    mime_type: Type.String(),
    sha256: Type.String(),
    caption: Type.Optional(Type.String()),
    filename: Type.Optional(Type.String()),
  },
  { title: 'MessengerMedia' },
)

const Choice = Type.Object({ id: Type.String(), title: Type.String(), description: Type.Optional(Type.String()) })

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
    from: Type.String(),
    id: Type.String(),
    timestamp: epochSeconds,
    type: OneOf([...inboundTypes, 'unsupported']),
    text: Type.Optional(Type.Object({ body: Type.String() })),
    image: Type.Optional(Media),
    video: Type.Optional(Media),
    audio: Type.Optional(Media),
    document: Type.Optional(Media),
    sticker: Type.Optional(Media),
    interactive: Type.Optional(
      Type.Object({
        type: OneOf(['button_reply', 'list_reply']),
        button_reply: Type.Optional(Choice),
        list_reply: Type.Optional(Choice),
      }),
    ),
    button: Type.Optional(Type.Object({ payload: Type.String(), text: Type.String() })),
    location: Type.Optional(
      Type.Object({
        latitude: Type.Number(),
        longitude: Type.Number(),
        name: Type.Optional(Type.String()),
        address: Type.Optional(Type.String()),
      }),
    ),
    contacts: Type.Optional(Type.Array(Type.Unknown())),
    reaction: Type.Optional(Type.Object({ message_id: Type.String(), emoji: Type.String() })),
    context: Type.Optional(Type.Object({ id: Type.String({ description: 'The message it answers' }) })),
  },
  { title: 'MessengerInboundMessage' },
)

const MessageStatus = Type.Object(
  {
    id: Type.String(),
    status: OneOf(['sent', 'delivered', 'read', 'failed']),
    timestamp: epochSeconds,
    recipient_id: Type.String(),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          code: Type.Integer(),
          title: Type.String(),
          message: Type.String(),
          error_data: Type.Optional(
            Type.Object({ details: Type.String(), provider_code: Type.Optional(Type.Integer()) }),
          ),
        }),
      ),
    ),
    conversation: Type.Optional(Type.Object({ id: Type.String(), category: Type.Optional(Type.String()) })),
    pricing: Type.Optional(Type.Object({ billable: Type.Boolean(), category: Type.String() })),
    metadata: Type.Optional(Metadata),
  },
  { title: 'MessengerMessageStatus' },
)

const channel = {
  messaging_product: Type.Literal('messenger'),
  metadata: Type.Object({ display_phone_number: Type.String(), phone_number_id: Type.String() }),
}

const InboundValue = Type.Object({
  ...channel,
  contacts: Type.Array(Type.Object({ profile: Type.Object({ name: Type.String() }), wa_id: Type.String() })),
  messages: Type.Array(InboundMessage),
})

const StatusValue = Type.Object({ ...channel, statuses: Type.Array(MessageStatus) })

const nested = <S extends TSchema>(value: S, title: string) =>
  Type.Object(
    {
      object: Type.Literal('messenger_business_account'),
      entry: Type.Array(
        Type.Object({
          id: Type.String({ description: 'Your account' }),
          changes: Type.Array(Type.Object({ field: Type.Literal('messages'), value })),
        }),
      ),
    },
    { title },
  )

const Inbound = nested(InboundValue, 'MessengerMessageEvent')
const Status = nested(StatusValue, 'MessengerStatusEvent')

const TemplateStatus = Type.Object(
  {
    template_id: Type.String(),
    name: Type.String(),
    language: Type.String(),
    status: OneOf(['PENDING', 'APPROVED', 'REJECTED', 'PAUSED', 'DISABLED']),
    reason: Nullable(Type.String()),
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

export const messengerEvents = {
  message: eventType({
    name: 'messenger.message',
    hubSigned: true,
    aliases: ['messenger.inbound'],
    summary: 'A user wrote, pressed a button or sent a file',
    head,
    payload: Inbound,
    sample: change(pressed),
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
