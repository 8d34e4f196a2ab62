// SPDX-License-Identifier: Apache-2.0
// Call of an operation on the wire: Bind, Execute and Sync of its prepared statement in one write, and its verdicts by their
// place. pg keeps the connection and hands over what comes, as to its cursors. What it does for any statement is left out, since
// the columns are known: asking for their description, and making a query, a result and its fields.
import type pg from 'pg'
import { writeUuid } from '../../kernel/ids.ts'
import { getTypeParser } from '../db/cell.ts'
import { type Columns, encodeItems, oids, type PlainColumns, type RowOf } from './row-encoding.ts'

/** Operation as a call knows it. */
interface Called {
  readonly name: string
  readonly text: string
  readonly takes: Columns
  readonly gives: PlainColumns
}

/** Bytes of a call before its items. */
interface Frame {
  readonly before: Buffer
  /** Offset of Bind in them. */
  readonly bindAt: number
}

/** Columns of an operation's verdicts. */
interface Reading {
  readonly names: readonly string[]
  /** Verdict without values, so that every row has the same form. */
  readonly blank: Readonly<Record<string, unknown>>
  readonly parsers: readonly ((text: string) => unknown)[]
}

const readings = new WeakMap<PlainColumns, Reading>()

const executing = Buffer.concat([message('E', text(''), long(0)), message('S')])
/** End of Bind, by which all results come as text, and the messages after it. */
const after = Buffer.concat([shorts(0), executing])

/** Calls of one connection: a statement is prepared with its first call. */
export class Calls {
  readonly #node: string
  /** Whether statements are prepared under their names, or parsed each time. */
  readonly #isPreparing: boolean
  readonly #prepared = new Map<string, Frame>()

  constructor(node: string, isPreparing: boolean) {
    this.#node = node
    this.#isPreparing = isPreparing
  }

  /** Sends items; gives a verdict for each. Rejects after `answerMs` without an answer, unless it is 0. */
  async send(
    client: pg.Client,
    called: Called,
    items: readonly RowOf<Columns>[],
    answerMs: number,
  ): Promise<readonly object[]> {
    const { name, takes, gives } = called
    const prepared = this.#prepared.get(name)
    const { before, bindAt } = prepared ?? this.#first(called)
    const bytes = encodeItems(takes, items, before, after)
    bytes.writeInt32BE(bytes.length - before.length - after.length, before.length - 4)
    bytes.writeInt32BE(bytes.length - bindAt - 1 - executing.length, bindAt + 1)
    const rows = await new Promise<readonly object[]>((resolve, reject) => {
      // A statement whose types were made anew fails for good, so the next call prepares it again.
      const failed = (error: unknown): void => {
        this.#prepared.delete(name)
        reject(error)
      }
      client.query(new Call(bytes, readingOf(gives), answerMs, resolve, failed))
    })
    if (!prepared && this.#isPreparing) this.#prepared.set(name, { before: this.#bind(name), bindAt: 0 })
    return rows
  }

  /** A statement may be there already, when its first call failed: it is closed before, which is no error if it is not. */
  #first({ name, text: sql }: Called): Frame {
    const known = this.#isPreparing ? name : ''
    const parse = [message('C', Buffer.from('S'), text(known)), message('P', text(known), text(sql), shorts(0))]
    const prefix = Buffer.concat(parse)
    return { before: Buffer.concat([prefix, this.#bind(known)]), bindAt: prefix.length }
  }

  /** Bind up to its items, with places for both lengths: two parameters in binary form, of which the node is the first. */
  #bind(statement: string): Buffer {
    const node = Buffer.alloc(16)
    if (!writeUuid(node, 0, this.#node)) throw new TypeError('a node is known by a uuid')
    return Buffer.concat([
      Buffer.from('B'),
      long(0),
      text(''),
      text(statement),
      shorts(2, 1, 1, 2),
      long(node.length),
      node,
      long(0),
    ])
  }
}

/** One call, by the interface of pg for what is not its own query. */
class Call implements pg.Submittable {
  readonly #bytes: Buffer
  readonly #reading: Reading
  readonly #resolve: (rows: readonly object[]) => void
  readonly #reject: (error: unknown) => void
  readonly #timer: NodeJS.Timeout | undefined
  readonly #rows: object[] = []

  constructor(
    bytes: Buffer,
    reading: Reading,
    answerMs: number,
    resolve: (rows: readonly object[]) => void,
    reject: (error: unknown) => void,
  ) {
    this.#bytes = bytes
    this.#reading = reading
    this.#resolve = resolve
    this.#reject = reject
    if (answerMs > 0) this.#timer = setTimeout(() => reject(new Error('Query read timeout')), answerMs)
  }

  submit({ stream }: pg.Connection): void {
    stream.write(this.#bytes)
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const { names, blank, parsers } = this.#reading
    const row = { ...blank }
    for (let i = 0; i < names.length; i++) {
      const field = fields[i] ?? null
      if (field !== null) row[names[i] ?? ''] = parsers[i]?.(field)
    }
    this.#rows.push(row)
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    clearTimeout(this.#timer)
    this.#resolve(this.#rows)
  }

  handleError(error: unknown): void {
    clearTimeout(this.#timer)
    this.#reject(error)
  }
}

function readingOf(gives: PlainColumns): Reading {
  let reading = readings.get(gives)
  if (!reading) {
    const names = Object.keys(gives)
    const parsers = Object.values(gives).map((type) => getTypeParser(oids[type]))
    reading = { names, blank: Object.fromEntries(names.map((name) => [name, null])), parsers }
    readings.set(gives, reading)
  }
  return reading
}

function message(type: string, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.from(type), long(content.length + 4), content])
}

function text(value: string): Buffer {
  return Buffer.from(`${value}\0`)
}

function shorts(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2)
  for (const [i, value] of values.entries()) bytes.writeInt16BE(value, i * 2)
  return bytes
}

function long(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
