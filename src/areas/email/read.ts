// SPDX-License-Identifier: Apache-2.0
// Reads a message by id, or a page of messages by filters.
import type { Static } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { idOf, uuidOf } from '../../kernel/ids.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { type Page, pageOf, shownBounds, windowOf } from '../../platform/schema/lists.ts'
import { notesOf } from './delivery/load.ts'
import type { EmailList, EmailRecord } from './schema.ts'
import { findMessage, listMessages, type MessageRow, type RecipientRow } from './store.ts'

type Record = Static<typeof EmailRecord>

export async function requireMessage(app: App, id: string, { tenant }: Pick<Caller, 'tenant'>): Promise<MessageRow> {
  const uuid = uuidOf('email', id)
  const row = uuid && (await findMessage(app.db, tenant, uuid))
  if (!row) throw new AppError('NOT_FOUND', 'there is no such message; ids of messages begin with em_')
  return row
}

export async function readMessage(app: App, id: string, caller: Caller): Promise<Record> {
  return recordOf(await requireMessage(app, id, caller))
}

export async function readPage(app: App, query: Static<typeof EmailList>, caller: Caller): Promise<Page<Record>> {
  const window = windowOf(query)
  const range = {
    ...(query.from === undefined ? {} : { start_date: query.from }),
    ...(query.to === undefined ? {} : { end_date: query.to }),
  }
  const bounds = shownBounds(range, caller, ['from', 'to'])
  const bulk = query.bulk_id === undefined ? null : uuidOf('emailBulk', query.bulk_id)
  if (query.bulk_id !== undefined && bulk === null) return { rows: [], nextCursor: null }
  const rows = await listMessages(app.db, caller.tenant, window, {
    ...bounds,
    status: query.status ?? null,
    recipient: query.recipient ?? null,
    sender: query.sender ?? null,
    tag: query.tag ?? null,
    bulk,
    template: query.template ?? null,
    reference: query.reference ?? null,
  })
  return pageOf(window, rows, recordOf)
}

export function recordOf(row: MessageRow): Record {
  const of = (type: 'to' | 'cc' | 'bcc') => row.each.filter((one) => one.type === type).map(({ email }) => email)
  const to = of('to')
  const [first = ''] = to
  return {
    message_id: idOf('email', row.id),
    status: row.status,
    from: row.sender,
    to: to.length > 1 ? to : first,
    cc: of('cc'),
    bcc: of('bcc'),
    subject: row.subject,
    template: row.template,
    bulk_id: row.bulk_id && idOf('emailBulk', row.bulk_id),
    stream: row.stream,
    tags: row.tags,
    metadata: notesOf(row.metadata),
    tracking: { opens: row.track_opens, clicks: row.track_clicks },
    reference: row.reference,
    scheduled_at: row.scheduled_at,
    created_at: row.created_at,
    sent_at: earliest(row.each, 'sent_at'),
    delivered_at: row.status === 'delivered' ? latest(row.each, 'delivered_at') : null,
    opened_at: earliest(row.each, 'opened_at'),
    clicked_at: earliest(row.each, 'clicked_at'),
    open_count: sum(row.each, 'open_count'),
    click_count: sum(row.each, 'click_count'),
    attempts: Math.max(0, ...row.each.map(({ attempts }) => attempts)),
    next_attempt_at: row.status === 'sent' ? earliest(row.each, 'next_attempt_at') : null,
    reason: row.status === 'delivered' ? null : row.reason,
    size: row.size,
    cost: row.cost,
    currency: row.currency,
    recipients: row.each.map((one) => ({
      email: one.email,
      type: one.type,
      status: one.status,
      attempts: one.attempts,
      smtp_code: one.smtp_code,
      enhanced_code: one.enhanced_code,
      smtp_response: one.smtp_response,
      mx: one.mx,
      tls: one.tls,
      tls_level: one.tls_level,
      bounce_type: one.bounce_type,
      reason: one.reason,
      delivered_at: one.delivered_at === null ? null : new Date(one.delivered_at),
    })),
  }
}

type Moment = 'sent_at' | 'delivered_at' | 'opened_at' | 'clicked_at' | 'next_attempt_at'

function moments(each: readonly RecipientRow[], name: Moment): number[] {
  return each.flatMap((one) => (one[name] === null ? [] : [new Date(one[name]).getTime()]))
}

function earliest(each: readonly RecipientRow[], name: Moment): Date | null {
  const all = moments(each, name)
  return all.length > 0 ? new Date(Math.min(...all)) : null
}

function latest(each: readonly RecipientRow[], name: Moment): Date | null {
  const all = moments(each, name)
  return all.length > 0 ? new Date(Math.max(...all)) : null
}

function sum(each: readonly RecipientRow[], name: 'open_count' | 'click_count'): number {
  return each.reduce((total, one) => total + one[name], 0)
}
