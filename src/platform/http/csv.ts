// SPDX-License-Identifier: Apache-2.0
// Lists as CSV (RFC 4180): one column per field of the row, streamed page by page.
import { Readable } from 'node:stream'
import type { TSchema } from 'typebox'
import { formatMicros } from '../../kernel/money.ts'
import { serialiser, type Write } from '../api/json.ts'
import type { Page } from '../schema/lists.ts'

const maxRows = 100_000
/** Cell that a spreadsheet takes for a formula, wide letters too: it gets a quote before it, against CSV injection. */
export const formulaForm = /^[=+\-@\t\r＝＋－＠]/
/** Phone number, plain or masked. */
const phoneForm = /^\+\d+(\*{4}\d+)?$/

/** Streams a list as CSV. `fetch` returns the page after a cursor. */
export function csv(row: TSchema, fetch: (cursor: string | null) => Promise<Page<unknown>>): Readable {
  const properties = 'properties' in row && typeof row.properties === 'object' && row.properties ? row.properties : {}
  const columns = Object.entries(properties).map(([name, schema]): Column => ({ name, write: serialiser(schema) }))
  return Readable.from(lines(columns, fetch))
}

interface Column {
  name: string
  /** Objects and lists are written as in a JSON reply. */
  write: Write
}

async function* lines(
  columns: readonly Column[],
  fetch: (cursor: string | null) => Promise<Page<unknown>>,
): AsyncGenerator<string> {
  yield `${columns.map(({ name }) => name).join(',')}\r\n`
  let cursor: string | null = null
  let rows = 0
  do {
    const page: Page<unknown> = await fetch(cursor)
    let text = ''
    for (const row of page.rows)
      text += `${columns.map(({ name, write }) => cell(Object(row)[name], write)).join(',')}\r\n`
    rows += page.rows.length
    cursor = rows < maxRows ? page.nextCursor : null
    if (text) yield text
  } while (cursor !== null)
}

/** CSV line of plain values; null is empty. */
export function csvLine(values: readonly (string | number | bigint | boolean | Date | null)[]): string {
  return `${values.map((value) => cell(value, String)).join(',')}\r\n`
}

function cell(value: unknown, write: Write): string {
  const text = plain(value, write)
  const safe = typeof value === 'string' && formulaForm.test(text) && !phoneForm.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function plain(value: unknown, write: Write): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'bigint') return formatMicros(value)
  return typeof value === 'object' ? write(value) : String(value)
}
