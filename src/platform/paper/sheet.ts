// SPDX-License-Identifier: Apache-2.0
// Sheets of paper as PDF: text in columns, figures and lines on A4 pages that start as they fill. The standard fonts cover
// Western European letters only: other letters lose their accents or become a question mark.

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
    info: { Title: plain(title), Author: plain(author), CreationDate: createdAt },
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
  y = margin

  constructor(document: PDFKit.PDFDocument) {
    this.#document = document
  }

  /** Writes text in a column, optionally linked; returns where it ends. */
  text(words: string, [x, most, align]: Column, [size, colour, isBold]: Style, link?: string): number {
    const font = isBold ? 'Helvetica-Bold' : 'Helvetica'
    this.#document.font(font).fontSize(size).fillColor(colour)
    this.#document.text(plain(words), margin + x, this.y, { width: most, align, ...(link ? { link } : {}) })
    return this.#document.y
  }

  /** Writes a number on one line, in a smaller size when long: a wrapped number would be misread. */
  figure(words: string, column: Column, [size, colour, isBold]: Style): void {
    const [, most] = column
    this.#document.font(isBold ? 'Helvetica-Bold' : 'Helvetica').fontSize(size)
    const long = this.#document.widthOfString(plain(words))
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
    return this.#document.font('Helvetica').fontSize(size).heightOfString(plain(words), { width: most })
  }

  line(x = 0): void {
    const from = margin + x
    this.#document
      .moveTo(from, this.y)
      .lineTo(margin + width, this.y)
      .lineWidth(0.5)
      .stroke(colours.line)
  }
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
