// SPDX-License-Identifier: Apache-2.0
// Reads a CSV file as it comes (RFC 4180: quoted cells may hold separators, quotes and line ends), a few rows at a time, so
// that a file of any length takes the memory of one piece of it. Lines end as they do on any system.
import { AppError } from '../../kernel/errors.ts'

const maxRowLength = 20_000
const maxCells = 200
/** A row of so many cells has shown what separates them; one of fewer may be a sentence above the table, with a comma. */
const cellsOfTable = 3

export interface Row {
  /** Of the line on which it begins, from 1. */
  number: number
  cells: readonly string[]
}

/** The rows of a file, as many at a time as one piece of it gives. Empty lines are left out. */
export async function* rowsOf(file: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Row[]> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const reader = new RowReader()
  let bytes = 0
  for await (const piece of file) {
    bytes += piece.length
    if (bytes > maxBytes) throw new AppError('PAYLOAD_TOO_LARGE', `a file has at most ${maxBytes} bytes`)
    const rows = reader.read(decoded(() => decoder.decode(piece, { stream: true })))
    if (rows.length > 0) yield rows
  }
  const rows = reader.read(`${decoded(() => decoder.decode())}\n`)
  if (reader.isQuoted) throw new AppError('VALIDATION_ERROR', 'the file ends inside a quoted cell')
  yield rows
}

function decoded(decode: () => string): string {
  try {
    return decode()
  } catch {
    throw new AppError('VALIDATION_ERROR', 'the file is not UTF-8')
  }
}

class RowReader {
  #separator = ''
  #isCertain = false
  #cells: string[] = []
  #cell = ''
  #line = 1
  #beginsAt = 1
  #length = 0
  #isQuoted = false
  /** A quote inside a quoted cell: it ends there, or a second one follows. */
  #hadQuote = false
  /** A line that ended with a carriage return: a line feed behind it ends no other. */
  #hadReturn = false

  get isQuoted(): boolean {
    return this.#isQuoted && !this.#hadQuote
  }

  read(text: string): Row[] {
    const rows: Row[] = []
    for (const letter of text) this.#take(letter, rows)
    return rows
  }

  #take(letter: string, rows: Row[]): void {
    if (++this.#length > maxRowLength) throw this.#wrong(`has more than ${maxRowLength} characters`)
    const isSecondHalf = this.#hadReturn && letter === '\n'
    this.#hadReturn = false
    if (isSecondHalf) return
    if (letter === '\u0000') throw this.#wrong('has the character U+0000')
    if (this.#hadQuote) {
      this.#hadQuote = false
      if (letter === '"') {
        this.#cell += letter
        return
      }
      this.#isQuoted = false
    }
    if (this.#isQuoted) {
      if (letter === '"') this.#hadQuote = true
      else this.#cell += letter
      if (letter === '\n') this.#line++
    } else if (letter === '"' && this.#cell.trim() === '') {
      this.#cell = ''
      this.#isQuoted = true
    } else if (letter === '\n' || letter === '\r') {
      this.#hadReturn = letter === '\r'
      this.#end(rows)
    } else if (this.#separates(letter)) this.#endCell()
    else if (letter !== '\ufeff') this.#cell += letter
  }

  /** The first of the usual ones that a row has outside of quotes, until it is certain. */
  #separates(letter: string): boolean {
    if (this.#separator === '' && (letter === ',' || letter === ';' || letter === '\t')) this.#separator = letter
    return letter === this.#separator
  }

  #endCell(): void {
    this.#cells.push(this.#cell.trim())
    this.#cell = ''
    if (this.#cells.length > maxCells) throw this.#wrong(`has more than ${maxCells} cells`)
  }

  #end(rows: Row[]): void {
    this.#endCell()
    this.#isCertain ||= this.#cells.length >= cellsOfTable
    if (!this.#isCertain) this.#separator = ''
    if (this.#cells.some((cell) => cell !== '')) rows.push({ number: this.#beginsAt, cells: this.#cells })
    this.#cells = []
    this.#length = 0
    this.#line++
    this.#beginsAt = this.#line
  }

  #wrong(problem: string): AppError {
    return new AppError('VALIDATION_ERROR', `line ${this.#line} ${problem}`)
  }
}
