// SPDX-License-Identifier: Apache-2.0
// Routes of conversations with their windows, and of opt-ins and opt-outs.
import { type Static, Type } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { isE164 } from '../../kernel/phone.ts'
import { record } from '../../platform/api/audit.ts'
import { list, noContent, type Route, read, write } from '../../platform/api/route.ts'
import type { Caller } from '../../platform/auth.ts'
import { one, statement } from '../../platform/db.ts'
import { At, Nullable, Phone } from '../../platform/schema/fields.ts'
import type { Page } from '../../platform/schema/lists.ts'
import { mine, type Tenant } from '../../platform/tenant.ts'
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
      description: 'Rows per page; 50 unless given',
    }),
  ),
  cursor: Type.Optional(Type.String({ maxLength: 200, description: '`next_cursor` of the page before' })),
})

const listContacts = statement.tenant<Tenant & { optedIn: boolean; after: string; limit: number }, ContactRow>(
  'messenger.list_contacts',
  `select ${contactColumns} from messenger.contacts
    where ${mine} and phone > $after::text
      and case when $optedIn::boolean then opted_in_at is not null or opted_out_at is not null
               else last_inbound_at is not null end
    order by phone limit $limit::int + 1`,
)

const optIn = statement.tenant<Tenant & { phone: string; source: string | null; at: Date }, ContactRow>(
  'messenger.opt_in',
  `insert into messenger.contacts as c (bucket, account_id, environment, phone, opted_in_at, source, updated_at)
   values ($bucket, $account, $environment, $phone, $at, $source, $at)
   on conflict (bucket, account_id, environment, phone) do update
     set opted_in_at = excluded.opted_in_at, opted_out_at = null, source = excluded.source, updated_at = excluded.updated_at
   returning ${contactColumns}`,
)

const optOut = statement.tenant<Tenant & { phone: string; at: Date }, { phone: string }>(
  'messenger.opt_out',
  `update messenger.contacts set opted_in_at = null, opted_out_at = $at, updated_at = $at
    where ${mine} and phone = $phone and opted_out_at is null returning phone`,
)

/** Messages per conversation; older ones are listed by GET /v1/messenger/messages. */
const threadLength = 50

const PhoneParam = Type.Object({ phone: Type.String({ description: 'E.164, such as +254711000001' }) })

const Conversation = Type.Object(
  {
    id: Type.String({ description: 'The number again' }),
    phone: Type.String({ description: 'The user, in E.164' }),
    name: Nullable(Type.String({ description: 'What they call themselves' })),
    window_open: Type.Boolean({ description: 'Whether messages other than templates may be sent now' }),
    window_expires_at: Nullable(At({ description: 'Until when messages other than templates may be sent' })),
    last_inbound_at: Nullable(At({ description: 'When they last wrote' })),
    opted_out: Type.Boolean({ description: 'They do not want messages' }),
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
    phone: Type.String({ description: 'The user, in E.164' }),
    status: Type.String({ description: '`opted_in` or `opted_out`' }),
    opted_in_at: Nullable(At({ description: 'When they asked for messages' })),
    opted_out_at: Nullable(At({ description: 'When they no longer wanted them' })),
    source: Nullable(Type.String({ description: 'Where they said so' })),
  },
  { title: 'MessengerOptIn' },
)

const listConversations = list({
  path: '/v1/messenger/conversations',
  operation: 'messenger.listConversations',
  summary: 'List users who wrote to you',
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
  summary: 'Read whether a user can be written to, and what was written last',
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
  summary: 'List who opted in or out',
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
  summary: 'Note that a user wants your messages',
  scope: 'messenger:write',
  limit: 'messenger',
  body: Type.Object({
    phone: Phone({ description: 'Who wants your messages' }),
    source: Type.Optional(Type.String({ maxLength: 200, description: 'Where they said so' })),
  }),
  reply: {
    status: 201,
    schema: OptIn,
    location: ({ phone }) => `/v1/messenger/opt-ins/${encodeURIComponent(phone)}`,
  },
  errors: ['INVALID_PHONE'],
  examples: [{ name: 'At the counter', body: { phone: '+254711000001', source: 'counter' } }],
  async handle(_app, tx, { body: { phone, source = null } }, caller) {
    const at = new Date(caller.nowMs)
    const row = await one(tx.query(optIn, { ...caller.tenant, phone, source, at }))
    await record(tx, caller, 'messenger_opt_in.create', phone)
    return optInOf(row)
  },
})

const getOptIn = read({
  method: 'GET',
  path: '/v1/messenger/opt-ins/:phone',
  operation: 'messenger.getOptIn',
  summary: 'Read whether a user opted in or out',
  scope: 'messenger:read',
  params: PhoneParam,
  reply: { status: 200, schema: OptIn },
  errors: ['NOT_FOUND'],
  needs: { operation: 'messenger.optIn', id: 'phone' },
  async handle(app, { params }, { tenant }) {
    const row = await findContact(app.db, tenant, params.phone)
    if (!row || (row.opted_in_at === null && row.opted_out_at === null))
      throw new AppError('NOT_FOUND', 'nobody with this number opted in or out')
    return optInOf(row)
  },
})

const removeOptIn = write({
  method: 'DELETE',
  path: '/v1/messenger/opt-ins/:phone',
  operation: 'messenger.optOut',
  summary: 'Note that a user wants no messages',
  scope: 'messenger:write',
  limit: 'messenger',
  params: PhoneParam,
  reply: noContent,
  errors: ['NOT_FOUND'],
  async handle(_app, tx, { params: { phone } }, caller) {
    const gone = isE164(phone) ? await tx.query(optOut, { ...caller.tenant, phone, at: new Date(caller.nowMs) }) : []
    if (gone.length === 0) throw new AppError('NOT_FOUND', 'nobody with this number opted in')
    await record(tx, caller, 'messenger_opt_in.delete', phone)
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
  if (phone !== '' && !isE164(phone)) throw new AppError('INVALID_REQUEST', 'cursor is not one this service gave out')
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
