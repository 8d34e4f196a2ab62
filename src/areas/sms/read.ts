// SPDX-License-Identifier: Apache-2.0
// Reading messages back: one by its id, or a page of those that a query asks for.
import type { Static } from 'typebox'
import { AppError } from '../../kernel/errors.ts'
import { firstUuidAt, timeOfUuid, uuidOf } from '../../kernel/ids.ts'
import { numberInQuery } from '../../kernel/phone.ts'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/auth.ts'
import { askedMetadata } from '../../platform/metadata/filter.ts'
import { type Page, pageOf, type ShownBounds, shownBounds, windowOf } from '../../platform/schema/lists.ts'
import { readAsOne } from './batches/record.ts'
import type { Found } from './batches/schema.ts'
import { fallbackMessageOf } from './fallback/fallback.ts'
import { linksIn } from './links/short-links.ts'
import { callersCurrency } from './prices/pricing.ts'
import { operatorRecordOf, recordOf } from './record.ts'
import type { MessageList, MessageRecord } from './schema.ts'
import { findMessage, listMessages, messageNamed } from './store.ts'

/** The batch or the message, sent or received, that has an id. */
export async function readFound(app: App, id: string, caller: Caller): Promise<Static<typeof Found>> {
  const batch = uuidOf('smsBatch', id)
  const found = batch && (await readAsOne(app.db, caller.tenant, batch))
  if (found) return found
  const outbound = uuidOf('sms', id)
  const uuid = outbound ?? uuidOf('smsInbound', id)
  const row = uuid && (await findMessage(app.db, caller.tenant, uuid))
  if (!row || (row.direction === 'outbound') !== (outbound !== null))
    throw new AppError('NOT_FOUND', 'there is no such message')
  const links = await linksIn(app, caller, row.body)
  const shown = shownTo(caller)(row, callersCurrency(caller), caller.nowMs)
  const wentOnAs = outbound === null ? undefined : await fallbackMessageOf(app, caller.tenant, row.id)
  const followed = wentOnAs === undefined ? shown : { ...shown, fallback_message_id: wentOnAs }
  return links.length > 0 ? { ...followed, links } : followed
}

export async function readPage(
  app: App,
  query: Static<typeof MessageList>,
  caller: Caller,
): Promise<Page<Static<typeof MessageRecord>>> {
  const window = windowOf(query)
  const nothing = { rows: [], nextCursor: null }
  const batch = query.batch_id === undefined ? null : uuidOf('smsBatch', query.batch_id)
  const days = daysOf(query, caller)
  if (query.batch_id !== undefined && batch === null) return nothing
  const named = query.reference === undefined ? days : await boundsOf(app, caller, query.reference, days)
  if (named === null) return nothing
  const rows = await listMessages(app.db, caller.tenant, window, {
    ...days,
    ...named,
    status: query.status ?? null,
    recipient: query.to === undefined ? null : numberInQuery(query.to),
    sender: query.from === undefined ? null : numberInQuery(query.from),
    direction: query.direction ?? null,
    batch,
    scheduled: query.scheduled ?? null,
    errorCode: query.error_code ?? null,
    reference: query.reference ?? null,
    now: new Date(caller.nowMs),
    country: query.country ?? null,
    text: query.q ?? null,
    metadata: askedMetadata(query),
  })
  const currency = callersCurrency(caller)
  const shown = shownTo(caller)
  return pageOf(window, rows, (row) => shown(row, currency, caller.nowMs))
}

function shownTo({ principal }: Caller): typeof recordOf {
  return principal.scopes.has('operator') ? operatorRecordOf : recordOf
}

/** The days asked for, by the names that every list has or by those that only this one has. */
function daysOf(query: Static<typeof MessageList>, caller: Caller): ShownBounds {
  const { start_date = query.from_date, end_date = query.to_date } = query
  const range = { ...(start_date === undefined ? {} : { start_date }), ...(end_date === undefined ? {} : { end_date }) }
  const startName = query.start_date === undefined && query.from_date !== undefined ? 'from_date' : 'start_date'
  const endName = query.end_date === undefined && query.to_date !== undefined ? 'to_date' : 'end_date'
  return shownBounds(range, caller, [startName, endName])
}

/** The moment in which the message of a reference was made, so that a list of one need not look through all of them. */
async function boundsOf(
  app: App,
  { tenant }: Caller,
  reference: string,
  { from, to }: { from: string; to: string },
): Promise<{ from: string; to: string } | null> {
  const id = await messageNamed(app.db, tenant, reference)
  if (id === null) return null
  const next = firstUuidAt(timeOfUuid(id).getTime() + 1)
  return { from: id > from ? id : from, to: next < to ? next : to }
}
