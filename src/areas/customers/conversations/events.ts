// SPDX-License-Identifier: Apache-2.0
// Events of conversations. They tell beside the events of the channels, which do not change.
import { type Static, Type } from 'typebox'
import { eventType } from '../../../platform/events.ts'
import { At, Nullable, OneOf } from '../../../platform/schema/fields.ts'
import { Conversation } from './schema.ts'
import { channels } from './store.ts'

const Told = Type.Object({
  conversation: Type.Object(Conversation.properties, {
    description: 'State, assignee, customer and last message after the change',
  }),
})

const conversation: Static<typeof Conversation> = {
  id: 'conv_01jb2c3d4e5f6g7h8j9kamnpqr',
  customer_id: 'cus_01jb2c3d4e5f6g7h8j9kamnpqr',
  name: 'Asha Njeri',
  phone: '+254711000001',
  email: null,
  state: 'open',
  assignee: null,
  unread: 1,
  channel: 'sms',
  address: '+254711000001',
  line: '22141',
  last_text: 'Is it open on Sunday?',
  last_direction: 'inbound',
  last_at: new Date('2026-03-01T09:15:30Z'),
  waiting_since: new Date('2026-03-01T09:15:30Z'),
  snoozed_until: null,
  created_at: new Date('2026-03-01T09:15:30Z'),
  updated_at: new Date('2026-03-01T09:15:30Z'),
}

const Message = Type.Object({
  conversation_id: Type.String({ description: 'Conversation it belongs to' }),
  customer_id: Type.String({ description: 'Customer of the message' }),
  message_id: Type.String({ description: 'Id of the message, in its channel' }),
  channel: OneOf(channels, { description: 'Channel of the message' }),
  direction: OneOf(['inbound', 'outbound'], {
    description: 'Direction: `inbound` from the customer, `outbound` to the customer',
  }),
  text: Nullable(Type.String({ description: 'Text; null for a file or a template' })),
  author: Nullable(Type.String({ description: 'Member or key that replied; null for messages of the customer' })),
  at: At({ description: 'Time of the message' }),
})

export const conversationEvents = {
  opened: eventType({
    name: 'conversation.opened',
    summary: 'A conversation was opened or reopened',
    payload: Type.Object(
      {
        ...Told.properties,
        reason: OneOf(['message', 'snooze_ended', 'request'], {
          description: 'Reason: a message of the customer, the end of a snooze, or a request',
        }),
      },
      { title: 'ConversationOpenedEvent' },
    ),
    sample: { conversation, reason: 'message' },
  }),
  assigned: eventType({
    name: 'conversation.assigned',
    summary: 'A conversation was assigned to a member, or unassigned',
    payload: Type.Object(Told.properties, { title: 'ConversationAssignedEvent' }),
    sample: { conversation: { ...conversation, assignee: 'mbr_01jb2c3d4e5f6g7h8j9kamnpqr' } },
  }),
  closed: eventType({
    name: 'conversation.closed',
    summary: 'A conversation was closed',
    payload: Type.Object(Told.properties, { title: 'ConversationClosedEvent' }),
    sample: { conversation: { ...conversation, state: 'closed', unread: 0, waiting_since: null } },
  }),
  message: eventType({
    name: 'conversation.message',
    summary: 'A message was received from or sent to the customer',
    payload: Type.Object(Message.properties, { title: 'ConversationMessageEvent' }),
    sample: {
      conversation_id: conversation.id,
      customer_id: conversation.customer_id,
      message_id: 'smi_01jb2c3d4e5f6g7h8j9kamnpqr',
      channel: 'sms',
      direction: 'inbound',
      text: 'Is it open on Sunday?',
      author: null,
      at: new Date('2026-03-01T09:15:30Z'),
    },
  }),
}
