// SPDX-License-Identifier: Apache-2.0
// Rows of a file of customers, CSV or JSON lines, each checked as a request to change a customer is. A file is read as it comes.
import { type Static, Type } from 'typebox'
import { refuseCardNumbers } from '../../../kernel/card.ts'
import { parseAddress } from '../../../kernel/email-address.ts'
import { AppError, invalid } from '../../../kernel/errors.ts'
import { formulaForm } from '../../../platform/http/csv.ts'
import { rowsOf } from '../../../platform/http/csv-rows.ts'
import { bodyChecker, fitter } from '../../../platform/http/validate.ts'
import { type AttributeType, type AttributeTypes, attributeTypes } from '../attributes.ts'
import { ConsentIn, CustomerChange } from '../schema.ts'
import type { AttributeValue } from '../store.ts'
import type { ImportRow } from './store.ts'

export const maxFileBytes = 512 * 1024 * 1024
export const maxRows = 1_000_000
const maxLineLength = 20_000

const ImportedRow = Type.Object({
  ...CustomerChange.properties,
  // Addresses times channels and purposes, as an export has them.
  consents: Type.Optional(Type.Array(ConsentIn, { maxItems: 80, rule: 'must be at most 80 consents' })),
})
export type Imported = Static<typeof ImportedRow>
const check = bodyChecker(ImportedRow)
const fits = fitter(ImportedRow)

export interface RowProblem {
  readonly line: number
  readonly code: string
  readonly field: string | null
  readonly message: string
  readonly customer: string | null
}

export type Row = { readonly line: number } & ({ readonly input: Imported } | { readonly problem: RowProblem })

/** Fields of an exported customer that nobody writes. */
const readOnly: ReadonlySet<string> = new Set(['id', 'first_seen_at', 'last_seen_at', 'created_at', 'updated_at'])

type Cells = Readonly<Record<string, unknown>>

/** What a column of a CSV file fills. */
type Column =
  | { readonly kind: 'ignored' }
  | { readonly kind: 'plain' | 'list'; readonly field: string }
  | { readonly kind: 'consent'; readonly channel: string; readonly purpose: string }
  | { readonly kind: 'source' }
  | { readonly kind: 'attribute'; readonly name: string; readonly type: AttributeType | null }

/** Source of a consent of an export that was given without one. */
export const notRecorded = 'not recorded'

const lists: Readonly<Record<string, string>> = {
  ...{ phone: 'phones', phones: 'phones', email: 'emails', emails: 'emails', tag: 'tags', tags: 'tags' },
}
const plain: ReadonlySet<string> = new Set(['external_id', 'name', 'language', 'country', 'timezone'])

function columnOf(written: string): Column | null {
  const name = written.toLowerCase()
  if (readOnly.has(name)) return { kind: 'ignored' }
  if (plain.has(name)) return { kind: 'plain', field: name }
  const field = lists[name]
  if (field !== undefined) return { kind: 'list', field }
  if (name === 'consent_source') return { kind: 'source' }
  const [, channel, purpose] = /^(sms|messenger|email|voice)_(marketing|service)$/.exec(name) ?? []
  if (channel !== undefined && purpose !== undefined) return { kind: 'consent', channel, purpose }
  const [, attribute, named] = /^attributes\.([A-Za-z][A-Za-z0-9_.-]{0,39})(?::([a-z]+))?$/i.exec(written) ?? []
  if (attribute === undefined) return null
  const type = attributeTypes.find((one) => one === named?.toLowerCase()) ?? null
  return named !== undefined && type === null ? null : { kind: 'attribute', name: attribute, type }
}

/** What a column is, as a preview tells it. */
export interface ToldColumn {
  readonly name: string
  /** Field of the customer that it fills; null where it fills none. */
  readonly field: string | null
  readonly isKnown: boolean
}

function toldColumn(name: string): ToldColumn {
  const column = columnOf(name)
  const field = ((): string | null => {
    if (column === null || column.kind === 'ignored') return null
    if (column.kind === 'attribute') return `attributes.${column.name}`
    if (column.kind === 'consent') return `${column.channel}_${column.purpose}`
    return column.kind === 'source' ? 'consent_source' : column.field
  })()
  return { name, field, isKnown: column !== null }
}

/** Columns of a file by its beginning: those of its first row, or the fields of the JSON lines that are whole. */
export async function toldColumns(beginning: string, format: ImportRow['format']): Promise<ToldColumn[]> {
  if (format === 'csv') {
    const { value: [first] = [] } = await rowsOf(piece(Buffer.from(beginning)), maxFileBytes).next()
    return (first?.cells ?? []).map(toldColumn)
  }
  const names = new Set(beginning.split('\n').flatMap((line) => Object.keys(objectIn(line) ?? {})))
  return [...names].map((name) => {
    const isField = Object.hasOwn(ImportedRow.properties, name)
    return { name, field: isField ? name : null, isKnown: isField || readOnly.has(name) }
  })
}

function objectIn(line: string): object | null {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}

/** Columns of the first row. Throws VALIDATION_ERROR. */
function columnsOf(cells: readonly string[]): readonly Column[] {
  const found = cells.map((name) => ({ name, column: columnOf(name) }))
  const unknown = found.filter(({ column }) => column === null).map(({ name }) => name.slice(0, 60) || '(empty)')
  if (unknown.length > 0)
    throw new AppError(
      'VALIDATION_ERROR',
      `the file has columns that are not known: ${unknown.slice(0, 10).join(', ')}. Columns of your own begin with attributes.`,
    )
  const columns = found.flatMap(({ column }) => column ?? [])
  if (!columns.some((one) => 'field' in one && ['external_id', 'phones', 'emails'].includes(one.field)))
    throw new AppError('VALIDATION_ERROR', 'the file needs a column external_id, phone or email')
  return columns
}

/** Format of a file by its beginning. */
export function writtenAs(beginning: string): ImportRow['format'] {
  return beginning
    .replace(/^\ufeff/, '')
    .trimStart()
    .startsWith('{')
    ? 'jsonl'
    : 'csv'
}

/** Format of a file by its beginning, and whether its columns are known. Throws VALIDATION_ERROR. */
export async function formatOf(beginning: Buffer): Promise<ImportRow['format']> {
  if (writtenAs(beginning.toString()) === 'jsonl') return 'jsonl'
  const read = rowsOf(piece(beginning), maxFileBytes)
  const { value: [first] = [] } = await read.next()
  if (!first) throw new AppError('VALIDATION_ERROR', 'the file has no row of columns in its first 64 KB')
  columnsOf(first.cells)
  return 'csv'
}

export async function* piece(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
  yield Buffer.from('\n')
}

/** Rows of a file, some at a time. Throws VALIDATION_ERROR for a file that cannot be read on. */
export async function* importedRows(
  file: AsyncIterable<Buffer>,
  format: ImportRow['format'],
  types: AttributeTypes,
  skip: number,
): AsyncGenerator<Row[]> {
  let number = 0
  const isNew = () => ++number > skip
  if (format === 'jsonl') {
    for await (const lines of linesOf(file))
      for (const some of slices(lines.filter(isNew)))
        yield some.map(({ line, text }) => checked(line, () => fromJson(text, types)))
    return
  }
  let columns: readonly Column[] | null = null
  for await (const read of rowsOf(file, maxFileBytes)) {
    const [head, ...rest] = read
    const own: readonly Column[] = columns ?? columnsOf(head?.cells ?? [])
    const rows = columns === null ? rest : read
    columns = own
    for (const some of slices(rows.filter(isNew)))
      yield some.map((row) => checked(row.number, () => fromCells(row.cells, own, types)))
  }
}

/** Rows that are checked before what the database answered has its turn. */
const checkedAtOnce = 50

function* slices<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < rows.length; at += checkedAtOnce) yield rows.slice(at, at + checkedAtOnce)
}

function checked(line: number, read: () => Imported): Row {
  try {
    return { line, input: read() }
  } catch (error) {
    return { line, problem: problemOf(line, error) }
  }
}

/** Why a row is not imported. Anything but a refusal is thrown on. */
export function problemOf(line: number, error: unknown, customer: string | null = null): RowProblem {
  if (!(error instanceof AppError)) throw error
  const [first] = error.extras.fields ?? []
  const { code } = error
  return { line, code, field: first?.field ?? null, message: (first?.message ?? error.details).slice(0, 300), customer }
}

/** Lines of JSON, without empty ones. */
async function* linesOf(file: AsyncIterable<Buffer>): AsyncGenerator<{ line: number; text: string }[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let line = 0
  let rest = ''
  for await (const bytes of file) {
    const parts = (rest + decoded(decoder, bytes)).split('\n')
    rest = parts.pop() ?? ''
    if (rest.length > maxLineLength) throw tooLong(line + 1)
    yield full(parts)
  }
  yield full([rest])

  function full(parts: readonly string[]): { line: number; text: string }[] {
    return parts.flatMap((text) => {
      line++
      if (text.length > maxLineLength) throw tooLong(line)
      return text.trim() === '' ? [] : [{ line, text }]
    })
  }
}

function decoded(decoder: InstanceType<typeof TextDecoder>, bytes: Buffer): string {
  try {
    return decoder.decode(bytes, { stream: true })
  } catch {
    throw new AppError('VALIDATION_ERROR', 'the file is not UTF-8')
  }
}

function tooLong(line: number): AppError {
  return new AppError('VALIDATION_ERROR', `line ${line} has more than ${maxLineLength} characters`)
}

/** U+0000 and halves of characters, which no database takes as text. */
const unstorable = /\\u(0000|d[89a-f])/

function fromJson(text: string, types: AttributeTypes): Imported {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new AppError('VALIDATION_ERROR', 'the line is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new AppError('VALIDATION_ERROR', 'the line is not an object')
  if (text.includes('\\u') && unstorable.test(JSON.stringify(value)))
    throw new AppError('VALIDATION_ERROR', 'the line has control characters')
  const given = Object.fromEntries(Object.entries(value).filter(([name]) => !readOnly.has(name)))
  const { consents } = given
  // What an export says beside a consent; a withdrawal from one sender is not written.
  if (Array.isArray(consents))
    given.consents = consents
      .filter((one) => Object(one).from === undefined || Object(one).from === null)
      .map((one) => {
        const { from: _, at, source, ...rest } = Object(one)
        return { ...rest, source: source ?? (at === undefined ? undefined : notRecorded) }
      })
  return accepted(checkedFields(given), types, noTypes)
}

function fromCells(cells: readonly string[], columns: readonly Column[], types: AttributeTypes): Imported {
  if (cells.length > columns.length)
    throw new AppError('VALIDATION_ERROR', `the row has ${cells.length} cells and the file ${columns.length} columns`)
  const given: Record<string, unknown> = {}
  const attributes: Record<string, AttributeValue> = {}
  let wanted = noTypes
  const consents: { channel: string; purpose: string; state: string; source?: string }[] = []
  let source: string | null = null
  for (let i = 0; i < cells.length; i++) {
    const [column, cell] = [columns[i], cellText(cells[i] ?? '')]
    if (cell === '' || column === undefined) continue
    if (column.kind === 'plain') given[column.field] = cell
    else if (column.kind === 'list') {
      const words = between.test(cell) ? cell.split(between).filter(Boolean) : [cell]
      const before = given[column.field]
      given[column.field] = before === undefined ? words : [...listIn(before), ...words]
    } else if (column.kind === 'source') source = cell
    else if (column.kind === 'consent')
      consents.push({ channel: column.channel, purpose: column.purpose, state: cell.toLowerCase() })
    else if (column.kind === 'attribute') {
      attributes[column.name] = types.valueOf(column.name, cell, column.type)
      if (column.type !== null) wanted = new Map([...wanted, [column.name, column.type]])
      given.attributes = attributes
    }
  }
  if (source !== null) for (const one of consents) one.source = source
  if (consents.length > 0) given.consents = consents
  // Columns fill no other fields: what fits needs no second look.
  return accepted(fits(given) ? given : checkedFields(given), types, wanted)
}

/** What is between the entries of a cell. */
const between = /[\s,;|]+/

const apostrophe = 39

/** Cell without the quote that CSV files have before what a spreadsheet would take for a formula. */
function cellText(cell: string): string {
  return cell.charCodeAt(0) === apostrophe && formulaForm.test(cell.slice(1)) ? cell.slice(1) : cell
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function checkedFields(given: Cells): Imported {
  const { value, unknown } = check(given)
  const [first] = unknown
  if (first) throw invalid(first.field, 'is not a field of a customer')
  return value
}

const noTypes: ReadonlyMap<string, AttributeType> = new Map()

function accepted(value: Imported, types: AttributeTypes, wanted: ReadonlyMap<string, AttributeType>): Imported {
  const { name, attributes = {}, phones, emails, tags, consents = [] } = value
  refuseCardNumbers({ name })
  refuseCardNumbers(attributes)
  if (!value.external_id && !phones?.length && !emails?.length)
    throw invalid(
      'external_id',
      'or a phone or an email is needed, by which the customer is known when the file comes again',
    )
  if (consents.some(({ state, source }) => state === 'granted' && !source?.trim()))
    throw invalid(
      'consent_source',
      'is needed for what is granted: where the customer agreed, such as the name of a form',
    )
  types.check(attributes, wanted)
  if (phones) value.phones = distinct(phones)
  if (emails) value.emails = distinct(emails.map(addressOf))
  if (tags) value.tags = distinct(tags.map((tag) => tag.toLowerCase()))
  return value
}

function distinct(list: string[]): string[] {
  return list.length < 2 ? list : [...new Set(list)]
}

function addressOf(text: string): string {
  const parsed = parseAddress(text)
  if (parsed) return parsed.address.toLowerCase()
  throw new AppError('INVALID_EMAIL', 'emails is not an email address', {
    fields: [{ field: 'emails', code: 'INVALID_EMAIL', message: 'must be an email address' }],
  })
}
