// SPDX-License-Identifier: Apache-2.0
// Items of a group commit as PostgreSQL reads an array of rows in its binary form (array_recv, record_recv): no quoting
// here, no parsing there. Of 64 rows with eight columns PostgreSQL takes 1.5 µs each so, where the text took it 4.3.
// This runs for every write, hence the loops where a library would have functions.
import { writeUuid } from '../../kernel/ids.ts'

/** PostgreSQL types a column of an operation may have, and what they are here. */
interface Cells {
  smallint: number
  int: number
  bigint: bigint
  boolean: boolean
  uuid: string
  text: string
  jsonb: string
  bytea: Buffer
  timestamptz: Date
}
type PlainType = keyof Cells
export type PlainColumns = { readonly [column: string]: PlainType }
type PlainRow<C extends PlainColumns> = { [K in keyof C]: Cells[C[K]] | null }

/** A composite type of the database that a cell may hold, such as events.event_item. */
export interface RowType<C extends PlainColumns = PlainColumns> {
  readonly name: string
  readonly columns: C
}

export type Columns = { readonly [column: string]: PlainType | RowType }
type CellOf<T> = T extends PlainType ? Cells[T] : T extends RowType<infer C> ? PlainRow<C> : never
export type RowOf<C extends Columns> = { [K in keyof C]: CellOf<C[K]> | null }
/** What one of a row type is, such as `RowIn<typeof eventRow>`. */
export type RowIn<T extends RowType> = PlainRow<T['columns']>

/** Every row type of the program, for the test that holds them against the database. */
export const rowTypes = new Map<string, RowType>()

/** Declares a composite type of the database: its columns in their order. */
export function rowType<C extends PlainColumns>(name: string, columns: C): RowType<C> {
  const made = { name, columns }
  rowTypes.set(name, made)
  return made
}

type Cell = Cells[PlainType] | PlainRow<PlainColumns>

/** The oids of the types, which are the same in every PostgreSQL. */
const oids: Readonly<Record<PlainType, number>> = {
  smallint: 21,
  int: 23,
  bigint: 20,
  boolean: 16,
  uuid: 2950,
  text: 25,
  jsonb: 3802,
  bytea: 17,
  timestamptz: 1184,
}

/**
 * What stands for the oid of the rows' own type. That differs from database to database, and PostgreSQL (14 and later) takes
 * the type of the parameter instead, unless both are built in.
 */
const recordOid = 2249

/** The moment PostgreSQL counts from: 2000-01-01. */
const epochMs = 946_684_800_000

/** More than this is refused; a batch is then sent in halves. PostgreSQL takes no message of a gibibyte. */
const maxItemsBytes = 256 * 1024 * 1024
/** A buffer that had to grow beyond this is not kept. */
const maxKeptBytes = 1024 * 1024
/** The most that a cell takes besides its text or bytes: oid, length, and 16 bytes of a uuid. */
const cellBytes = 24
/** Up to so many characters are written one by one, which is cheaper than asking the buffer. */
const shortText = 32

interface Layout {
  readonly names: readonly string[]
  readonly types: readonly (PlainType | Layout)[]
}

const layouts = new WeakMap<Columns, Layout>()

/** Written into and copied out of within one call, so that nobody ever holds it. */
let scratch = Buffer.allocUnsafeSlow(64 * 1024)

/** Items as an operation takes them: the value of one parameter, an array of rows. What an item does not have is null. */
export function encodeItems<Item extends Columns>(takes: Item, items: readonly Partial<RowOf<Item>>[]): Buffer {
  const layout = layoutOf(takes)
  try {
    let at = writeInt(scratch, 0, items.length === 0 ? 0 : 1)
    at = writeInt(scratch, at, 0)
    at = writeInt(scratch, at, recordOid)
    if (items.length > 0) {
      at = writeInt(scratch, at, items.length)
      at = writeInt(scratch, at, 1)
    }
    for (const item of items) {
      reserve(at, roomFor(layout, item))
      at = writeRow(scratch, at, layout, item)
    }
    return Buffer.from(scratch.subarray(0, at))
  } finally {
    if (scratch.length > maxKeptBytes) scratch = Buffer.allocUnsafeSlow(maxKeptBytes)
  }
}

function layoutOf(takes: Columns): Layout {
  let layout = layouts.get(takes)
  if (!layout) {
    const types = Object.values(takes).map((type) => (typeof type === 'string' ? type : layoutOf(type.columns)))
    layout = { names: Object.keys(takes), types }
    layouts.set(takes, layout)
  }
  return layout
}

/** How many bytes a row takes at most: a character of a string is up to three, and one of four is two of them. */
function roomFor({ names, types }: Layout, item: Partial<RowOf<Columns>>): number {
  let bytes = 8 + names.length * cellBytes
  for (let i = 0; i < names.length; i++) {
    const cell = item[names[i] ?? '']
    if (typeof cell === 'string') bytes += cell.length * 3
    else if (typeof cell !== 'object' || cell === null) continue
    else if (cell instanceof Uint8Array) bytes += cell.length
    else {
      const type = types[i]
      if (typeof type === 'object' && isRow(cell)) bytes += roomFor(type, cell)
    }
  }
  return bytes
}

function isRow(cell: Cell): cell is PlainRow<PlainColumns> {
  return typeof cell === 'object' && !(cell instanceof Date) && !(cell instanceof Uint8Array)
}

/** Makes room in the buffer after what is in it. */
function reserve(at: number, bytes: number): void {
  if (at + bytes <= scratch.length) return
  if (at + bytes > maxItemsBytes) throw new RangeError(`the items are more than ${maxItemsBytes} bytes`)
  const larger = Buffer.allocUnsafeSlow(Math.min(maxItemsBytes, Math.max(at + bytes, scratch.length * 2)))
  scratch.copy(larger, 0, 0, at)
  scratch = larger
}

/** Length, number of columns, and of each its type, length and content. A row in a cell has the same form. */
function writeRow(out: Buffer, start: number, { names, types }: Layout, item: Partial<RowOf<Columns>>): number {
  let at = writeInt(out, start + 4, names.length)
  for (let i = 0; i < names.length; i++) {
    const name = names[i] ?? ''
    const type = types[i] ?? 'text'
    const cell = item[name] ?? null
    at = writeInt(out, at, typeof type === 'string' ? oids[type] : recordOid)
    if (cell === null) at = writeInt(out, at, -1)
    else if (typeof type === 'string') at = isRow(cell) ? -1 : writeCell(out, at, type, cell)
    else at = isRow(cell) ? writeRow(out, at, type, cell) : -1
    if (at === -1) throw new RangeError(`${name} is not a ${nameOf(type)}, or none that PostgreSQL holds`)
  }
  writeInt(out, start, at - start - 4)
  return at
}

function nameOf(type: PlainType | Layout): string {
  return typeof type === 'string' ? type : `row (${type.names.join(', ')})`
}

/** Writes length and content and gives where they end; -1 when the value is none of its type. */
function writeCell(out: Buffer, at: number, type: PlainType, cell: Cells[PlainType]): number {
  switch (type) {
    case 'text':
      return typeof cell === 'string' ? writeText(out, at, 4, cell) : -1
    case 'uuid':
      if (typeof cell !== 'string' || !writeUuid(out, at + 4, cell)) return -1
      writeInt(out, at, 16)
      return at + 20
    case 'jsonb':
      if (typeof cell !== 'string') return -1
      // In front of the text stands the version of the form.
      out[at + 4] = 1
      return writeText(out, at, 5, cell)
    case 'smallint':
      if (typeof cell !== 'number' || cell !== (cell << 16) >> 16) return -1
      writeInt(out, at, 2)
      out[at + 4] = cell >>> 8
      out[at + 5] = cell
      return at + 6
    case 'int':
      if (typeof cell !== 'number' || cell !== (cell | 0)) return -1
      return writeInt(out, writeInt(out, at, 4), cell)
    case 'bigint':
      return typeof cell === 'bigint' ? writeLong(out, at, Number(cell), cell) : -1
    case 'boolean':
      if (typeof cell !== 'boolean') return -1
      writeInt(out, at, 1)
      out[at + 4] = cell ? 1 : 0
      return at + 5
    case 'bytea':
      if (!Buffer.isBuffer(cell)) return -1
      writeInt(out, at, cell.length)
      out.set(cell, at + 4)
      return at + 4 + cell.length
    case 'timestamptz':
      return cell instanceof Date ? writeMoment(out, at, cell.getTime()) : -1
  }
}

/** UTF-8 after its length and whatever else stands in `head` bytes. Half a surrogate pair becomes U+FFFD. */
function writeText(out: Buffer, at: number, head: number, text: string): number {
  let end = text.length > shortText ? -1 : writeShort(out, at + head, text)
  if (end === -1) end = at + head + out.write(text, at + head, 'utf8')
  writeInt(out, at, end - at - 4)
  return end
}

/** -1 when it is not plain ASCII; what it wrote by then does not count. */
function writeShort(out: Buffer, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code > 127) return -1
    out[at + i] = code
  }
  return at + text.length
}

/** Microseconds since PostgreSQL's epoch; it looks itself whether it knows that time. */
function writeMoment(out: Buffer, at: number, ms: number): number {
  if (Number.isNaN(ms)) return -1
  const micros = (ms - epochMs) * 1_000
  return writeLong(out, at, micros, Number.isSafeInteger(micros) ? 0n : BigInt(ms - epochMs) * 1_000n)
}

/** 64 bits from a number while that is exact, as nearly always, which costs less; else from the exact one. */
function writeLong(out: Buffer, at: number, value: number, exact: bigint): number {
  const end = writeInt(out, at, 8)
  if (Number.isSafeInteger(value))
    return writeInt(out, writeInt(out, end, Math.floor(value / 0x1_0000_0000)), value % 0x1_0000_0000)
  return exact === BigInt.asIntN(64, exact) ? out.writeBigInt64BE(exact, end) : -1
}

function writeInt(out: Buffer, at: number, value: number): number {
  out[at] = value >>> 24
  out[at + 1] = value >>> 16
  out[at + 2] = value >>> 8
  out[at + 3] = value
  return at + 4
}
