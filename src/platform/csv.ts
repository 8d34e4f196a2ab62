// SPDX-License-Identifier: Apache-2.0
// Lists as CSV (RFC 4180): one column per field of the row, streamed page by page.
import { Readable } from 'node:stream'
import type { TSchema } from 'typebox'
import { formatMicros } from '../kernel/money.ts'
import type { Page } from './route.ts'

const maxRows = 100_000

/** Streams a list. `fetch` gives the page after a cursor. */
export function csv(row: TSchema, fetch: (cursor: string | null) => Promise<Page<unknown>>): Readable {
  const columns =
    'properties' in row && typeof row.properties === 'object' && row.properties ? Object.keys(row.properties) : []
  return Readable.from(lines(columns, fetch))
}

async function* lines(
  columns: readonly string[],
  fetch: (cursor: string | null) => Promise<Page<unknown>>,
): AsyncGenerator<string> {
  yield `${columns.join(',')}\r\n`
  let cursor: string | null = null
  let rows = 0
  do {
    const page: Page<unknown> = await fetch(cursor)
    let text = ''
    for (const row of page.rows) text += `${columns.map((column) => cell(Object(row)[column])).join(',')}\r\n`
    rows += page.rows.length
    cursor = rows < maxRows ? page.nextCursor : null
    if (text) yield text
  } while (cursor !== null)
}

function cell(value: unknown): string {
  const text = plain(value)
  // A cell that starts like a formula would run in a spreadsheet; the quote keeps it text.
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) && !/^\+\d+$/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function plain(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'bigint') return formatMicros(value)
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
