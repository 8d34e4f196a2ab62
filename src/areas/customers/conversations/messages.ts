// SPDX-License-Identifier: Apache-2.0
// Messages of a conversation: texts, chats and mail of its customer with the calls and notes between them, as the areas have them.
import type { Static } from 'typebox'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { type Page, pageOf, type Window } from '../../../platform/schema/lists.ts'
import type { CustomerRow } from '../store.ts'
import type { Entry } from './schema.ts'
import { authorsOf } from './store.ts'

const kinds = ['message', 'chat', 'email', 'call', 'note'] as const

/** A page of what was said, newest first. */
export async function messagesWith(
  app: App,
  { tenant }: Caller,
  { id, phones, emails }: CustomerRow,
  window: Window,
): Promise<Page<Static<typeof Entry>>> {
  const found = await Promise.all(
    app.histories.flatMap((history) => {
      const type = kinds.find((kind) => kind === history.kind)
      return type === undefined ? [] : [entriesOf(history, type)]
    }),
  )
  const newest = found.flat().sort((a, b) => (a.id < b.id ? 1 : -1))
  const messages = newest.slice(0, window.limit).map(({ entry }) => entry)
  const authors = new Map(
    (await app.db.query(authorsOf, { ...tenant, messages })).map(({ message_id, author }) => [message_id, author]),
  )
  return pageOf(window, newest, ({ type, entry, direction, created_at, title, status, path, ...row }) => ({
    ...{ type, id: entry, direction, at: created_at, state: status, author: authors.get(entry) ?? row.author },
    ...{ text: type === 'call' ? title : row.text, media_id: row.media_id, media_type: row.media_type },
    url: path && `${app.publicUrl}/api/v1${path}`,
  }))

  async function entriesOf(history: App['histories'][number], type: (typeof kinds)[number]) {
    const known = { phones, emails, customers: [id] }
    const rows = await history.newest(app.db, tenant, known, window.limit + 1, window.after)
    return rows.map((row) => ({ ...row, type, entry: row.id, id: row.place }))
  }
}
