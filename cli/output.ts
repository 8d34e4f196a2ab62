// SPDX-License-Identifier: Apache-2.0
// What commands print: tables and fields for people, JSON for programs. Colours only on a terminal that has them.
import { stderr, stdout } from 'node:process'

const hasColours = stdout.isTTY === true && stdout.hasColors()
const paint = (code: number) => (text: string) => (hasColours ? `\u001b[${code}m${text}\u001b[0m` : text)
export const strong = paint(1)
export const faint = paint(2)
export const green = paint(32)
export const red = paint(31)
const yellow = paint(33)

/** Text of others, such as of a message that came in, without the characters that would steer the terminal. */
export function plain(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, '\uFFFD')
}

export function say(text: string): void {
  stdout.write(`${text}\n`)
}

/** Sentence for the person at the terminal, apart from what is printed for programs. */
export function tell(text: string): void {
  stderr.write(`${text}\n`)
}

export function sayJson(value: unknown): void {
  say(JSON.stringify(value, null, stdout.isTTY ? 2 : 0))
}

/** Fields of a thing, one a line. */
export function sayThing(thing: object): void {
  const rows = Object.entries(thing).filter(([, value]) => value !== null && value !== '')
  const width = Math.max(0, ...rows.map(([name]) => name.length))
  for (const [name, value] of rows)
    say(`${faint(name.padEnd(width))}  ${name === 'status' ? status(cell(value)) : cell(value)}`)
}

/** Columns that a list shows first, where its rows have them. */
const preferred = [
  'id',
  'message_id',
  'payment_id',
  'call_id',
  'event',
  'name',
  'at',
  'created_at',
  'timestamp',
  'method',
  'path',
  'operation',
  'status',
  'to',
  'from',
  'phone',
  'amount',
  'currency',
  'subject',
  'message',
  'error_code',
]
const maxColumns = 6
const maxWidth = 44

export function sayTable(rows: readonly object[]): void {
  if (rows.length === 0) return tell('There is nothing.')
  const names = new Set(rows.flatMap((row) => Object.keys(row)))
  const found = preferred.filter((name) => names.has(name))
  const columns = (found.length > 1 ? found : [...names]).slice(0, maxColumns)
  const cells = rows.map((row) => columns.map((name) => short(cell(Reflect.get(row, name)))))
  const widths = columns.map((name, i) => Math.max(name.length, ...cells.map((row) => row[i]?.length ?? 0)))
  const padded = (row: readonly string[]): string[] => row.map((text, i) => text.padEnd(widths[i] ?? 0))
  const at = columns.indexOf('status')
  say(faint(padded(columns).join('  ').trimEnd()))
  for (const row of cells) {
    const shown = padded(row).map((text, i) => (i === at ? text.replace(/\S+/, status) : text))
    say(shown.join('  ').trimEnd())
  }
}

function short(text: string): string {
  const oneLine = text.replaceAll(/\s+/g, ' ')
  return oneLine.length > maxWidth ? `${oneLine.slice(0, maxWidth - 1)}…` : oneLine
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  return plain(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

const good = new Set(['delivered', 'completed', 'active', 'approved', 'verified', 'succeeded', 'paid', '200', '201'])
const bad = new Set(['failed', 'rejected', 'cancelled', 'expired', 'undelivered', 'bounced', 'revoked'])

function status(text: string): string {
  if (good.has(text)) return green(text)
  return bad.has(text) || /^[45]\d\d$/.test(text) ? red(text) : yellow(text)
}
