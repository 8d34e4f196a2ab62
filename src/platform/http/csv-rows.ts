// SPDX-License-Identifier: Apache-2.0
// CSV parser for streams (RFC 4180: quoted cells may hold separators, quotes and line ends): a few rows at a time, in
// constant memory. All line endings are accepted.
import { AppError } from '../../kernel/errors.ts'

const maxRowLength = 20_000
const maxCells = 200
/** Cells after which the separator is certain; a row with fewer may be a sentence above the table. */
const cellsOfTable = 3

export interface Row {
  /** Line number of its first line, from 1. */
  number: number
  cells: readonly string[]
}

/** Rows of a file, one chunk at a time, without empty lines. */
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

const zeroByte = '\0'
/** What means something outside quotes, and inside them. */
const plainSign = new RegExp(`[",;\t\r\n\ufeff${zeroByte}]`, 'g')
const quotedSign = new RegExp(`["${zeroByte}]`, 'g')
/** Line of cells without quotes, to its end. */
const plainLine = new RegExp(`[^"\r\n\ufeff${zeroByte}]*\r?\n`, 'y')

class RowReader {
  #separator = ''
  #isCertain = false
  #cells: string[] = []
  #cell = ''
  #line = 1
  #beginsAt = 1
  #length = 0
  #isQuoted = false
  /** Quote inside a quoted cell: the cell ends, or a second quote follows. */
  #hadQuote = false
  /** Carriage return seen: a following line feed does not end another line. */
  #hadReturn = false

  get isQuoted(): boolean {
    return this.#isQuoted && !this.#hadQuote
  }

  read(text: string): Row[] {
    const rows: Row[] = []
    for (let at = 0; at < text.length; ) {
      const after = this.#plainLineEnd(text, at)
      if (after > at) {
        this.#takeLine(text.slice(at, text.charAt(after - 2) === '\r' ? after - 2 : after - 1), rows)
        at = after
        continue
      }
      const next = this.#signAfter(text, at)
      if (next > at) this.#add(text.slice(at, next))
      if (next < text.length) this.#take(text.charAt(next), rows)
      at = next + 1
    }
    return rows
  }

  /** Place after a whole line of cells without quotes, of which nearly all files consist; the same place where none begins. */
  #plainLineEnd(text: string, at: number): number {
    if (!this.#isCertain || this.#length > 0 || this.#isQuoted || this.#hadQuote || this.#hadReturn) return at
    plainLine.lastIndex = at
    return plainLine.test(text) ? plainLine.lastIndex : at
  }

  #takeLine(line: string, rows: Row[]): void {
    this.#grow(line.length + 1)
    this.#cells = line.split(this.#separator)
    this.#cell = this.#cells.pop() ?? ''
    for (let i = 0; i < this.#cells.length; i++) this.#cells[i] = this.#cells[i]?.trim() ?? ''
    this.#end(rows)
  }

  /** Place of the next letter that is more than a part of a cell. */
  #signAfter(text: string, at: number): number {
    if (this.#hadQuote || this.#hadReturn) return at
    const sign = this.#isQuoted ? quotedSign : plainSign
    sign.lastIndex = at
    return sign.exec(text)?.index ?? text.length
  }

  /** Adds letters that are a part of the cell and nothing else. */
  #add(letters: string): void {
    this.#grow(letters.length)
    this.#cell += letters
    if (this.#isQuoted) for (let at = letters.indexOf('\n'); at >= 0; at = letters.indexOf('\n', at + 1)) this.#line++
  }

  #grow(letters: number): void {
    this.#length += letters
    if (this.#length > maxRowLength) throw this.#wrong(`has more than ${maxRowLength} characters`)
  }

  #take(letter: string, rows: Row[]): void {
    const isSecondHalf = this.#hadReturn && letter === '\n'
    this.#hadReturn = false
    if (isSecondHalf) return
    this.#grow(1)
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

  /** Detects the separator: the first of the usual ones outside quotes, until it is certain. */
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
