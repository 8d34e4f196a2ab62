// SPDX-License-Identifier: Apache-2.0
// Routes of conversations.
import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, newUuid, uuidOf } from '../../../kernel/ids.ts'
import { commit, list, type Need, type Route, read, write } from '../../../platform/api/route.ts'
import { one } from '../../../platform/db.ts'
import { Moment, Nullable, OneOf, Phone, pageQuery } from '../../../platform/schema/fields.ts'
import { pageOf, windowOf } from '../../../platform/schema/lists.ts'
import { maxMailBytes } from '../../email/area.ts'
import { customerWith } from '../change.ts'
import { type Contact, customerByContact } from '../contact.ts'
import { NoteText, writeNote } from '../notes.ts'
import {
  assign,
  beginConversation,
  close,
  conversationWith,
  limitedTo,
  lockedConversation,
  markRead,
  open,
  snooze,
} from './change.ts'
import { messagesWith } from './messages.ts'
import { ReplyBody, ReplySent, reply } from './reply.ts'
import { Conversation, ConversationDetail, ConversationParam, Entry, shownOf } from './schema.ts'
import { countConversations, listConversations, maxCounted, states } from './store.ts'
import { waysOf } from './ways.ts'

const aConversation: Need = { operation: 'conversations.begin', id: 'id' }

const onlyPhone = (phone: string): Contact => ({ phone, name: null, email: null, taxNumber: null, address: null })

const begin = write({
  method: 'POST',
  path: '/v1/conversations',
  operation: 'conversations.begin',
  summary: 'Start a conversation',
  description: 'A customer has one conversation, over all channels: an existing one is returned with 200.',
  scope: 'conversations:write',
  body: Type.Refine(
    Type.Object({
      customer_id: Type.Optional(Type.String({ maxLength: 40, description: 'Id of the customer, such as `cus_…`' })),
      phone: Type.Optional(Phone({ description: 'Phone number in E.164; a customer is created if none has it' })),
    }),
    ({ customer_id, phone }) => (customer_id === undefined) !== (phone === undefined),
    () => 'must have customer_id or phone, and not both',
  ),
  reply: {
    status: 201,
    schema: Conversation,
    location: ({ id }) => `/v1/conversations/${id}`,
    existed: ({ created_at, updated_at, last_at }) => last_at !== null || updated_at > created_at,
  },
  errors: ['NOT_FOUND'],
  examples: [{ name: 'By phone number', body: { phone: '+254711000020' } }],
  handle: async (app, tx, { body: { customer_id, phone } }, caller) => {
    const id = customer_id ?? idOf('customer', (await customerByContact(tx, caller, onlyPhone(phone ?? ''))).id)
    return shownOf((await beginConversation(app, tx, caller, id)).row)
  },
})

const listAll = list({
  path: '/v1/conversations',
  operation: 'conversations.list',
  summary: 'List conversations',
  description:
    'Sorted by newest message. Members with the role *agent* can access only conversations assigned to them.',
  scope: 'conversations:own',
  query: Type.Object({
    ...pageQuery,
    state: Type.Optional(OneOf(states, { description: 'State; default all' })),
    assignee: Type.Optional(
      Type.String({ maxLength: 40, description: 'Id of the assigned member, such as mbr_…, or `none`' }),
    ),
    unread: Type.Optional(OneOf(['true', 'false'], { description: 'Filter by unread messages' })),
    customer_id: Type.Optional(Type.String({ maxLength: 40, description: 'Filter by customer' })),
  }),
  row: Conversation,
  examples: [
    { name: 'Open ones', query: { state: 'open' } },
    { name: 'Unassigned conversations', query: { assignee: 'none' } },
  ],
  handle: async (app, { query }, caller) => {
    const { tenant } = caller
    const window = windowOf(query)
    const own = limitedTo(caller)
    const { state = null, assignee = 'any', unread, customer_id } = query
    const rows = await app.db.query(listConversations, {
      ...{ ...tenant, state, unassigned: assignee === 'none', after: window.after, limit: window.limit },
      assignee: assignee === 'none' || assignee === 'any' ? null : idIn('assignee', 'member', assignee),
      only: own,
      unread: unread === undefined ? null : unread === 'true',
      customer: customer_id === undefined ? null : idIn('customer_id', 'customer', customer_id),
    })
    const placed = rows.map((row) => ({ row, id: row.place }))
    return pageOf(window, placed, ({ row }) => shownOf(row))
  },
})

const many = (which: string) => Type.Integer({ description: `Number of ${which}, counted up to ${maxCounted}` })

const counts = read({
  method: 'GET',
  path: '/v1/conversations/counts',
  operation: 'conversations.counts',
  summary: 'Count conversations',
  description: 'Members with the role *agent* count only conversations assigned to them.',
  scope: 'conversations:own',
  reply: {
    status: 200,
    schema: Type.Object(
      {
        ...{
          mine: many('open conversations assigned to the caller'),
          open: many('open conversations'),
          unassigned: many('open conversations without an assignee'),
        },
        ...{ snoozed: many('snoozed conversations'), unread: many('open conversations with unread messages') },
      },
      { title: 'ConversationCounts' },
    ),
  },
  handle: async (app, _input, caller) => {
    const me = caller.actor.startsWith('member:') ? uuidOf('member', caller.actor.slice('member:'.length)) : null
    return one(app.db.query(countConversations, { ...caller.tenant, me, only: limitedTo(caller) }))
  },
})

function idIn(field: string, kind: 'member' | 'customer', id: string): string {
  const uuid = uuidOf(kind, id)
  if (uuid === null) throw new AppError('INVALID_REQUEST', `${field} is not the id of a ${kind}`)
  return uuid
}

const get = read({
  method: 'GET',
  path: '/v1/conversations/:conversation_id',
  operation: 'conversations.get',
  summary: 'Get a conversation',
  description: 'Includes the channels for a reply, each with its availability, price and closing time.',
  scope: 'conversations:own',
  params: ConversationParam,
  reply: { status: 200, schema: ConversationDetail },
  errors: ['NOT_FOUND'],
  needs: aConversation,
  handle: async (app, { params }, caller) => {
    const row = await conversationWith(app.db, caller, params.conversation_id)
    const customer = await customerWith(app.db, caller.tenant, idOf('customer', row.customer_id))
    return { ...shownOf(row), channels: await waysOf(app, caller, row, customer) }
  },
})

const listMessages = list({
  path: '/v1/conversations/:conversation_id/messages',
  operation: 'conversations.messages',
  summary: 'List the messages of a conversation',
  description: 'Texts, chats, mail, calls and notes of the conversation, newest first.',
  scope: 'conversations:own',
  params: ConversationParam,
  query: Type.Object(pageQuery),
  row: Entry,
  errors: ['NOT_FOUND'],
  needs: aConversation,
  handle: async (app, { params, query }, caller) => {
    const row = await conversationWith(app.db, caller, params.conversation_id)
    const customer = await customerWith(app.db, caller.tenant, idOf('customer', row.customer_id))
    return messagesWith(app, caller, customer, windowOf(query))
  },
})

const sendReply = commit({
  method: 'POST',
  path: '/v1/conversations/:conversation_id/reply',
  operation: 'conversations.reply',
  summary: 'Reply to a customer',
  description:
    'Sent over the channel that the customer last used, unless another is given, at its price. Outside the 24-hour window of the messenger it is refused with 131047; `alternatives` lists the options: a template, or another channel.',
  scope: 'conversations:answer',
  limit: 'sms',
  params: ConversationParam,
  body: ReplyBody,
  bodyLimitBytes: maxMailBytes,
  reply: { status: 200, schema: ReplySent },
  errors: [
    ...(['NOT_FOUND', 'OPTED_OUT', 'INSUFFICIENT_BALANCE', 'SENDER_NOT_ALLOWED', 'MAIL_NOT_CONFIGURED'] as const),
    ...(['ATTACHMENT_TOO_LARGE', 'ATTACHMENT_BLOCKED', 'TEMPLATE_NOT_FOUND', 'DOMAIN_NOT_VERIFIED'] as const),
    ...(['131047', '131051', '131026', '130472', '131053'] as const),
  ],
  examples: [{ name: 'By text', body: { channel: 'sms', text: 'Yes, until six' } }],
  needs: aConversation,
  handle: (app, { params, body }, caller, keyed) => reply(app, caller, params.conversation_id, body, keyed),
})

const change = {
  scope: 'conversations:answer',
  params: ConversationParam,
  reply: { status: 200, schema: Conversation },
  errors: ['NOT_FOUND'],
  needs: aConversation,
} as const

const assignRoute = write({
  ...change,
  method: 'POST',
  path: '/v1/conversations/:conversation_id/assign',
  operation: 'conversations.assign',
  summary: 'Assign a conversation',
  body: Type.Object({
    member_id: Nullable(Type.String({ maxLength: 40 }), {
      description: 'Id of the member, such as `mbr_…`; null unassigns',
    }),
  }),
  examples: [{ name: 'Unassign', body: { member_id: null } }],
  handle: async (app, tx, { params, body }, caller) =>
    shownOf(await assign(app, tx, caller, params.conversation_id, body.member_id)),
})

const snoozeRoute = write({
  ...change,
  method: 'POST',
  path: '/v1/conversations/:conversation_id/snooze',
  operation: 'conversations.snooze',
  summary: 'Snooze a conversation',
  description: 'Hides the conversation until a time, or until the customer writes.',
  body: Type.Object({ until: Moment({ description: 'Time at which it reopens, within 365 days' }) }),
  examples: [{ name: 'Until a time', body: { until: '2027-03-01T09:00:00Z' } }],
  handle: async (app, tx, { params, body }, caller) =>
    shownOf(await snooze(app, tx, caller, params.conversation_id, body.until)),
})

const closeRoute = write({
  ...change,
  method: 'POST',
  path: '/v1/conversations/:conversation_id/close',
  operation: 'conversations.close',
  summary: 'Close a conversation',
  description: 'A new message of the customer reopens it.',
  handle: async (app, tx, { params }, caller) => shownOf(await close(app, tx, caller, params.conversation_id)),
})

const openRoute = write({
  ...change,
  method: 'POST',
  path: '/v1/conversations/:conversation_id/open',
  operation: 'conversations.open',
  summary: 'Reopen a conversation',
  handle: async (app, tx, { params }, caller) => shownOf(await open(app, tx, caller, params.conversation_id)),
})

const readRoute = write({
  ...change,
  method: 'POST',
  path: '/v1/conversations/:conversation_id/read',
  operation: 'conversations.markRead',
  summary: 'Mark a conversation as read',
  handle: async (_app, tx, { params }, caller) => shownOf(await markRead(tx, caller, params.conversation_id)),
})

const noteRoute = write({
  ...change,
  method: 'POST',
  path: '/v1/conversations/:conversation_id/note',
  operation: 'conversations.addNote',
  summary: 'Add a note to a conversation',
  description: 'Internal note about the customer, visible to the account only.',
  body: Type.Object({ text: NoteText }),
  examples: [{ name: 'A note', body: { text: 'Wants to hear on Monday' } }],
  handle: async (_app, tx, { params, body }, caller) => {
    const row = await lockedConversation(tx, caller, params.conversation_id)
    await writeNote(tx, caller, row.customer_id, newUuid(caller.receivedMs), body.text)
    return shownOf(row)
  },
})

export const conversationRoutes: readonly Route[] = [
  begin,
  listAll,
  counts,
  get,
  listMessages,
  sendReply,
  assignRoute,
  snoozeRoute,
  closeRoute,
  openRoute,
  readRoute,
  noteRoute,
]
