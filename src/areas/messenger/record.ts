// SPDX-License-Identifier: Apache-2.0
// Message objects of the API and their lists.

import type { Static } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { idOf, uuidOf } from '../../kernel/ids.ts'
import { numberInQuery } from '../../kernel/phone.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import type { Queryable } from '../../platform/db.ts'
import { type Page, pageOf, shownBounds, windowOf } from '../../platform/schema/lists.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { MessageList, MessageRecord } from './schema.ts'
import { findContact, findMessage, listMessages, type MessageRow } from './store.ts'

type Shown = Static<typeof MessageRecord>

export async function readMessage(queryable: Queryable, tenant: Tenant, id: string): Promise<MessageRow> {
  const uuid = uuidOf('messengerMessage', id)
  const row = uuid && (await findMessage(queryable, tenant, uuid))
  if (!row) throw new AppError('NOT_FOUND', 'there is no message with this id; ids of messages begin with mmsg_')
  return row
}

export async function readRecord(app: App, id: string, { tenant }: Caller): Promise<Shown> {
  const row = await readMessage(app.db, tenant, id)
  const contact = await findContact(app.db, tenant, row.direction === 'inbound' ? row.sender : row.recipient)
  return recordOf(row, contact?.window_expires_at ?? null)
}

export async function readPage(app: App, query: Static<typeof MessageList>, caller: Caller): Promise<Page<Shown>> {
  const window = windowOf(query)
  const { from_date: start_date, to_date: end_date } = query
  const range = { ...(start_date === undefined ? {} : { start_date }), ...(end_date === undefined ? {} : { end_date }) }
  const rows = await listMessages(app.db, {
    ...caller.tenant,
    direction: query.direction ?? null,
    status: query.status ?? null,
    recipient: query.to === undefined ? null : numberInQuery(query.to),
    sender: query.from === undefined ? null : numberInQuery(query.from),
    type: query.type ?? null,
    template: query.template ?? null,
    ...shownBounds(range, caller, ['from_date', 'to_date']),
    ...window,
  })
  return pageOf(window, rows, (row) => recordOf(row, null))
}

export function recordOf(row: MessageRow, windowExpiresAt: Date | null): Shown {
  const { template, language } = row
  return {
    message_id: idOf('messengerMessage', row.id),
    to: row.recipient,
    from: row.sender,
    direction: row.direction,
    type: row.type,
    ...(row.type === 'template' ? {} : { [row.type]: row.type === 'contacts' ? row.content.contacts : row.content }),
    ...(template === null ? {} : { template: { name: template, language: language ?? '' } }),
    context: row.context_id === null ? null : { message_id: row.context_id },
    status: row.status,
    accepted_at: row.created_at,
    sent_at: row.sent_at,
    delivered_at: row.delivered_at,
    read_at: row.read_at,
    failed_at: row.failed_at,
    errors: row.errors,
    metadata: row.metadata,
    conversation: conversationOf(row, windowExpiresAt),
    fallback_message_id: row.fallback_id,
    cost: row.cost,
    currency: row.currency,
    provider_id: row.provider_id,
  }
}

/** Conversation object; there is one per user, named by the user's number. */
function conversationOf(row: MessageRow, window_expires_at: Date | null): Shown['conversation'] {
  const phone = row.direction === 'inbound' ? row.sender : row.recipient
  return { id: phone, category: row.unit ?? 'service', window_expires_at }
}
