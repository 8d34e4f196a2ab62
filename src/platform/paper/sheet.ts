// SPDX-License-Identifier: Apache-2.0
// Sheets of paper as PDF: text in columns, figures and lines on A4 pages that start as they fill. The standard fonts cover
// Western European letters. Noto Sans Arabic, which is embedded with the letters that a paper needs, has those of Arabic, on whole
// papers that run from right to left and in single lines of others. Other letters lose their accents or become a question mark.
import { createRequire } from 'node:module'
import { type Direction, directionIn, isArabic, linesOf, runsOf } from './two-ways.ts'

export const margin = 50
/** Width between the margins. */
export const width = 495
const bottom = 770

export type Column = readonly [x: number, width: number, align: 'left' | 'right']

/** Colours of the web pages, for paper. */
export const colours = { text: '#17211e', soft: '#52625c', accent: '#0b6b5a', line: '#c9d3cf' } as const

interface PaperInfo {
  title: string
  author: string
  /** Fixed, so that the same paper always has the same bytes. */
  createdAt: Date
}

/** PDF of what `draw` writes. */
export async function paperOf(
  { title, author, createdAt }: PaperInfo,
  draw: (document: PDFKit.PDFDocument) => void,
): Promise<Buffer> {
  // pdfkit loads with the first PDF: it is the slowest module and few nodes need it.
  const { default: PDFDocument } = await import('pdfkit')
  const document = new PDFDocument({
    size: 'A4',
    margin,
    info: { Title: title, Author: author, CreationDate: createdAt },
  })
  const chunks: Buffer[] = []
  document.on('data', (chunk: Buffer) => chunks.push(chunk))
  const ended = new Promise<void>((resolve, reject) => document.on('end', resolve).on('error', reject))
  draw(document)
  document.end()
  await ended
  return Buffer.concat(chunks)
}

export type Style = readonly [size: number, colour: string, isBold?: true]

/** Writes from top to bottom and starts pages as they fill. */
export class Sheet {
  readonly #document: PDFKit.PDFDocument
  readonly #direction: Direction
  y = margin

  /** A sheet from right to left has its columns mirrored. */
  constructor(document: PDFKit.PDFDocument, direction: Direction = 'ltr') {
    this.#document = document
    this.#direction = direction
  }

  /** Writes text in a column, optionally linked; returns where it ends. */
  text(words: string, column: Column, style: Style, link?: string): number {
    const [x, most, align] = this.#placed(column)
    const [size, colour, isBold] = style
    if (this.#isNoto(words)) return this.#textOfNoto(words, [x, most, align], style, link)
    const font = isBold ? 'Helvetica-Bold' : 'Helvetica'
    this.#document.font(font).fontSize(size).fillColor(colour)
    this.#document.text(plain(words), margin + x, this.y, { width: most, align, ...(link ? { link } : {}) })
    return this.#document.y
  }

  /** Writes a number on one line, in a smaller size when long: a wrapped number would be misread. */
  figure(words: string, column: Column, [size, colour, isBold]: Style): void {
    const [, most] = column
    const isNoto = this.#isNoto(words)
    const standard = isBold ? 'Helvetica-Bold' : 'Helvetica'
    this.#document.font(isNoto ? notoFile(isBold) : standard).fontSize(size)
    const long = this.#document.widthOfString(isNoto ? words : plain(words))
    const fitting = Math.min(size, Math.floor((10 * size * most) / long) / 10)
    this.text(words, column, isBold ? [fitting, colour, isBold] : [fitting, colour])
  }

  /** Starts a page when `height` does not fit. */
  room(height: number): void {
    if (this.y + height <= bottom) return
    this.#document.addPage()
    this.y = margin
  }

  heightOf(words: string, most: number, size: number): number {
    if (this.#isNoto(words)) return this.#linesOfNoto(words, most, [size, '']).length * size * notoLine
    return this.#document.font('Helvetica').fontSize(size).heightOfString(plain(words), { width: most })
  }

  line(x = 0): void {
    const [from, most] = this.#placed([x, width - x, 'left'])
    this.#document
      .moveTo(margin + from, this.y)
      .lineTo(margin + from + most, this.y)
      .lineWidth(0.5)
      .stroke(colours.line)
  }

  /** Left edge of something that is `wide`, `x` away from where lines begin. */
  leftOf(x: number, wide: number): number {
    return margin + this.#placed([x, wide, 'left'])[0]
  }

  #placed([x, most, align]: Column): Column {
    if (this.#direction === 'ltr') return [x, most, align]
    return [width - x - most, most, align === 'left' ? 'right' : 'left']
  }

  #isNoto(words: string): boolean {
    return this.#direction === 'rtl' || isArabic(words)
  }

  #linesOfNoto(words: string, most: number, [size, , isBold]: Style): string[] {
    const document = this.#document.font(notoFile(isBold)).fontSize(size)
    const known = words
      .normalize('NFC')
      .replace(/\r\n?/g, '\n')
      .replaceAll('\t', ' ')
      .replace(/[\u{10000}-\u{10ffff}]/gu, '?')
    return linesOf(known, most, (part) => document.widthOfString(part))
  }

  #textOfNoto(words: string, [x, most, align]: Column, style: Style, link?: string): number {
    const [size, colour] = style
    const document = this.#document
    let y = this.y
    for (const line of this.#linesOfNoto(words, most, style)) {
      if (y + size * notoLine > pageEnd) {
        document.addPage()
        y = margin
      }
      const runs = runsOf(line, this.#direction === 'rtl' ? 'rtl' : directionIn(line, 'ltr'))
      // The font's own features, and the whole run at once: pdfkit lays single words out and puts them from left to right.
      const wides = runs.map(({ shown }) => document.widthOfString(shown, { features: [] }))
      let left = margin + x + (align === 'right' ? most - wides.reduce((sum, wide) => sum + wide, 0) : 0)
      document.fillColor(colour)
      runs.forEach(({ shown, said }, i) => {
        // Letters share glyphs for what they have in common: readers copy and speak the text that is given beside them.
        document.markContent('Span', { actual: said })
        const options = { baseline: 'alphabetic' as const, lineBreak: false, features: [], ...(link ? { link } : {}) }
        document.text(shown, left, y + size * notoBaseline, options)
        document.endMarkedContent()
        left += wides[i] ?? 0
      })
      y += size * notoLine
    }
    return y
  }
}

/** Height of a line of Noto Sans Arabic and of its baseline below the top, as shares of its size: its own leave room for stacked marks. */
const [notoLine, notoBaseline] = [1.35, 0.8]
/** Where text of several lines goes on to another page. */
const pageEnd = 792
const load = createRequire(import.meta.url)

function notoFile(isBold: boolean | undefined): string {
  const name = isBold ? '700Bold/NotoSansArabic_700Bold' : '400Regular/NotoSansArabic_400Regular'
  return load.resolve(`@expo-google-fonts/noto-sans-arabic/${name}.ttf`)
}

/** Characters of Windows-1252 beyond Latin-1. */
const others = '€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ'
const isKnown = (character: string): boolean => /^[\n\x20-\x7e\xa0-\xff]$/.test(character) || others.includes(character)

export function plain(text: string): string {
  return Array.from(text.normalize('NFC').replace(/\r\n?|\t/g, ' '), (character) => {
    if (isKnown(character)) return character
    const bare = character.normalize('NFKD').replace(/\p{M}/gu, '')
    return [...bare].every(isKnown) ? bare : '?'
  }).join('')
}
