// SPDX-License-Identifier: Apache-2.0
// Routes of conversations with their windows, and of opt-ins and opt-outs.
import { type Static, Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { isE164 } from '../../kernel/phone.ts'
import { list, noContent, type Route, read, write } from '../../platform/api/route.ts'
import type { Caller } from '../../platform/auth.ts'
import { statement } from '../../platform/db.ts'
import { At, Nullable, Phone } from '../../platform/schema/fields.ts'
import type { Page } from '../../platform/schema/lists.ts'
import { mine, type Tenant } from '../../platform/tenant.ts'
import { optIn, optOut } from './consent.ts'
import { recordOf } from './record.ts'
import { MessageRecord } from './schema.ts'
import { isOpen } from './send.ts'
import { type ContactRow, contactColumns, findContact, threadWith } from './store.ts'

const byPhoneQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 200,
      rule: 'must be a whole number from 1 to 200',
      description: 'Rows per page; default 50',
    }),
  ),
  cursor: Type.Optional(Type.String({ maxLength: 200, description: '`next_cursor` of the previous page' })),
})

const listContacts = statement.tenant<Tenant & { optedIn: boolean; after: string; limit: number }, ContactRow>(
  'messenger.list_contacts',
  `select ${contactColumns} from messenger.contacts
    where ${mine} and phone > $after::text
      and case when $optedIn::boolean then opted_in_at is not null or opted_out_at is not null
               else last_inbound_at is not null end
    order by phone limit $limit::int + 1`,
)

/** Messages per conversation; older ones are listed by GET /v1/messenger/messages. */
const threadLength = 50

const PhoneParam = Type.Object({ phone: Type.String({ description: 'E.164, such as +254711000001' }) })

const Conversation = Type.Object(
  {
    id: Type.String({ description: 'Same value as `phone`' }),
    phone: Type.String({ description: 'Number of the user, E.164' }),
    name: Nullable(Type.String({ description: 'Profile name' })),
    window_open: Type.Boolean({ description: 'True if messages other than templates can be sent now' }),
    window_expires_at: Nullable(At({ description: 'End of the window for messages other than templates' })),
    last_inbound_at: Nullable(At({ description: 'Time of the user’s last message' })),
    opted_out: Type.Boolean({ description: 'True if the user opted out' }),
  },
  { title: 'MessengerConversation' },
)

const Thread = Type.Object(
  {
    ...Conversation.properties,
    messages: Type.Array(MessageRecord, { description: `The newest ${threadLength}, newest first` }),
  },
  { title: 'MessengerThread' },
)

const OptIn = Type.Object(
  {
    phone: Type.String({ description: 'Number of the user, E.164' }),
    status: Type.String({ description: '`opted_in` or `opted_out`' }),
    opted_in_at: Nullable(At({ description: 'Time of the opt-in' })),
    opted_out_at: Nullable(At({ description: 'Time of the opt-out' })),
    source: Nullable(Type.String({ description: 'Source of the consent' })),
  },
  { title: 'MessengerOptIn' },
)

const listConversations = list({
  path: '/v1/messenger/conversations',
  operation: 'messenger.listConversations',
  summary: 'List chat conversations',
  scope: 'messenger:read',
  query: byPhoneQuery,
  row: Conversation,
  examples: [{ name: 'All of them' }],
  handle: async (app, { query }, caller) => {
    const { limit = 50, cursor } = query
    const rows = await app.db.query(listContacts, { ...caller.tenant, optedIn: false, after: afterOf(cursor), limit })
    return pageByPhone(rows, limit, (row) => conversationOf(row, caller))
  },
})

const getConversation = read({
  method: 'GET',
  path: '/v1/messenger/conversations/:phone',
  operation: 'messenger.getConversation',
  summary: 'Get a chat conversation and its messaging window',
  description: 'Older messages are listed with GET /v1/messenger/messages?to= or ?from=.',
  scope: 'messenger:read',
  params: PhoneParam,
  reply: { status: 200, schema: Thread },
  errors: ['NOT_FOUND'],
  needs: { operation: 'sandbox.messengerInbound', id: 'from' },
  async handle(app, { params }, caller) {
    const row = await findContact(app.db, caller.tenant, params.phone)
    if (!row) throw new AppError('NOT_FOUND', 'this user has never written to you')
    const messages = await app.db.query(threadWith, { ...caller.tenant, phone: row.phone, limit: threadLength })
    return { ...conversationOf(row, caller), messages: messages.map((one) => recordOf(one, row.window_expires_at)) }
  },
})

const listOptIns = list({
  path: '/v1/messenger/opt-ins',
  operation: 'messenger.listOptIns',
  summary: 'List opt-ins and opt-outs',
  scope: 'messenger:read',
  query: byPhoneQuery,
  row: OptIn,
  examples: [{ name: 'All of them' }],
  handle: async (app, { query }, { tenant }) => {
    const { limit = 50, cursor } = query
    const rows = await app.db.query(listContacts, { ...tenant, optedIn: true, after: afterOf(cursor), limit })
    return pageByPhone(rows, limit, optInOf)
  },
})

const addOptIn = write({
  method: 'POST',
  path: '/v1/messenger/opt-ins',
  operation: 'messenger.optIn',
  summary: 'Opt a user in',
  scope: 'messenger:write',
  limit: 'messenger',
  body: Type.Object({
    phone: Phone({ description: 'Phone number that opts in' }),
    source: Type.Optional(Type.String({ maxLength: 200, description: 'Source of the consent' })),
  }),
  reply: {
    status: 201,
    schema: OptIn,
    location: ({ phone }) => `/v1/messenger/opt-ins/${encodeURIComponent(phone)}`,
  },
  errors: ['INVALID_PHONE'],
  examples: [{ name: 'Consent given at the counter', body: { phone: '+254711000001', source: 'counter' } }],
  handle: async (_app, tx, { body: { phone, source = null } }, caller) =>
    optInOf(await optIn(tx, caller, phone, source)),
})

const getOptIn = read({
  method: 'GET',
  path: '/v1/messenger/opt-ins/:phone',
  operation: 'messenger.getOptIn',
  summary: 'Get a user’s opt-in',
  scope: 'messenger:read',
  params: PhoneParam,
  reply: { status: 200, schema: OptIn },
  errors: ['NOT_FOUND'],
  needs: { operation: 'messenger.optIn', id: 'phone' },
  async handle(app, { params }, { tenant }) {
    const row = await findContact(app.db, tenant, params.phone)
    if (!row || (row.opted_in_at === null && row.opted_out_at === null))
      throw new AppError('NOT_FOUND', 'no opt-in or opt-out of this number is recorded')
    return optInOf(row)
  },
})

const removeOptIn = write({
  method: 'DELETE',
  path: '/v1/messenger/opt-ins/:phone',
  operation: 'messenger.optOut',
  summary: 'Opt a user out',
  scope: 'messenger:write',
  limit: 'messenger',
  params: PhoneParam,
  reply: noContent,
  errors: ['NOT_FOUND'],
  async handle(_app, tx, { params: { phone } }, caller) {
    const known = isE164(phone) && (await findContact(tx, caller.tenant, phone))
    if (!known || !(await optOut(tx, caller, phone))) throw new AppError('NOT_FOUND', 'this number has not opted in')
    return {}
  },
})

function conversationOf(row: ContactRow, { nowMs }: Caller): Static<typeof Conversation> {
  const { phone, name, window_expires_at, last_inbound_at } = row
  return {
    id: phone,
    phone,
    name,
    window_open: isOpen(window_expires_at, nowMs),
    window_expires_at,
    last_inbound_at,
    opted_out: row.opted_out_at !== null,
  }
}

function optInOf({ phone, opted_in_at, opted_out_at, source }: ContactRow): Static<typeof OptIn> {
  return { phone, status: opted_out_at === null ? 'opted_in' : 'opted_out', opted_in_at, opted_out_at, source }
}

function afterOf(cursor: string | undefined): string {
  const phone = cursor === undefined ? '' : Buffer.from(cursor, 'base64url').toString()
  if (phone !== '' && !isE164(phone)) throw new AppError('INVALID_REQUEST', 'cursor is invalid')
  return phone
}

function pageByPhone<Out>(rows: readonly ContactRow[], limit: number, shape: (row: ContactRow) => Out): Page<Out> {
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  return { rows: page.map(shape), nextCursor: last ? Buffer.from(last.phone).toString('base64url') : null }
}

export const peopleRoutes: readonly Route[] = [
  listConversations,
  getConversation,
  listOptIns,
  addOptIn,
  getOptIn,
  removeOptIn,
]
