// SPDX-License-Identifier: Apache-2.0
// Shapes of conversations in requests, replies and events.
import { type Static, Type } from 'typebox'
import { idOf } from '../../../kernel/ids.ts'
import { Amount, At, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { type ConversationRow, channels, states } from './store.ts'

export const Conversation = Type.Object(
  {
    id: Type.String({ description: 'Id of the conversation, such as `conv_…`' }),
    customer_id: Type.String({ description: 'Filter by customer' }),
    name: Nullable(Type.String({ description: 'Name of the customer' })),
    phone: Nullable(Type.String({ description: 'Main phone number of the customer' })),
    email: Nullable(Type.String({ description: 'Main email address of the customer' })),
    state: OneOf(states, { description: 'State; a new message of the customer reopens it' }),
    assignee: Nullable(Type.String({ description: 'Member it is assigned to; null for none' })),
    unread: Type.Integer({ description: 'Number of unread messages of the customer' }),
    channel: Nullable(OneOf(channels, { description: 'Channel on which the customer last wrote' })),
    address: Nullable(Type.String({ description: 'Number or address from which the customer last wrote' })),
    line: Nullable(Type.String({ description: 'Number or sender of yours to which the customer last wrote' })),
    last_text: Nullable(Type.String({ description: 'Last message, at most 200 characters; null for a file' })),
    last_direction: Nullable(OneOf(['inbound', 'outbound'], { description: 'Direction of the last message' })),
    last_at: Nullable(At({ description: 'Time of the last message' })),
    waiting_since: Nullable(At({ description: 'Time since which the customer has been waiting for a reply' })),
    snoozed_until: Nullable(At({ description: 'Time at which a snoozed conversation reopens' })),
    created_at: At({ description: 'Time of creation' }),
    updated_at: At({ description: 'Time of the last change' }),
  },
  { title: 'Conversation' },
)

/** Conversation as replies and events show it. */
export function shownOf({ id, customer_id, assignee, place: _, ...row }: ConversationRow): Static<typeof Conversation> {
  return {
    ...{ id: idOf('conversation', id), customer_id: idOf('customer', customer_id), ...row },
    assignee: assignee && idOf('member', assignee),
  }
}

const problems = ['no_address', 'opted_out', 'window_closed', 'no_sender'] as const

const Way = Type.Object({
  channel: OneOf(channels, { description: 'Channel of the answer' }),
  to: Nullable(Type.String({ description: 'Number or address of the customer; null if none' })),
  from: Nullable(Type.String({ description: 'Sender; null if none' })),
  is_open: Type.Boolean({ description: 'True if a text can be sent now' }),
  takes_template: Type.Boolean({ description: 'True if a template can be sent now' }),
  problem: Nullable(
    OneOf(problems, { description: 'Reason why no text can be sent; `window_closed`: only templates can be sent' }),
  ),
  open_until: Nullable(At({ description: 'End of the window for free texts; null if there is no window' })),
  price: Nullable(Amount({ description: 'Price of one message, or of one part of a text, in major units' })),
  currency: Nullable(Type.String({ description: 'Currency of the price, ISO 4217' })),
})

export const ConversationDetail = Type.Object(
  {
    ...Conversation.properties,
    channels: Type.Array(Way, { description: 'Channels for a reply, with their availability' }),
  },
  { title: 'ConversationDetail' },
)
export type ShownWay = Static<typeof Way>

export const Entry = Type.Object(
  {
    type: OneOf(['message', 'chat', 'email', 'call', 'note'], { description: 'Kind of the entry' }),
    id: Type.String({ description: 'Id of the message, call or note' }),
    direction: Nullable(OneOf(['inbound', 'outbound'], { description: 'Direction; null for notes' })),
    at: At({ description: 'Time of the entry' }),
    text: Nullable(Type.String({ description: 'Full text, or the subject of an email; null if none' })),
    media_id: Nullable(Type.String({ description: 'File of a chat message, for GET /v1/messenger/media' })),
    media_type: Nullable(Type.String({ description: 'Kind of the file: image, video, audio, document, sticker' })),
    state: Type.String({ description: 'Status of the record' }),
    author: Nullable(Type.String({ description: 'Member or key that wrote it; null if none did' })),
    url: Nullable(Type.String({ description: 'Address of the whole record; null for notes' })),
  },
  { title: 'ConversationEntry' },
)

export const ConversationParam = Type.Object({
  conversation_id: Type.String({ description: 'Id of the conversation, such as `conv_…`' }),
})
