// SPDX-License-Identifier: Apache-2.0
// Call centre report as PDF: figures of the whole time, a chart of calls, and a table. Drawn in a worker thread.
import { type Column, colours, paperOf, Sheet, width } from '../../../platform/paper/sheet.ts'

export interface ReportPaper {
  /** Direction of its language. */
  readonly direction: 'ltr' | 'rtl'
  readonly accountName: string
  readonly title: string
  /** Days that it covers, and their time zone. */
  readonly period: string
  /** Time at which it was due: the same report always has the same bytes. */
  readonly at: Date
  readonly figures: readonly (readonly [name: string, value: string])[]
  /** Calls over time. */
  readonly bars: readonly { readonly label: string; readonly answered: number; readonly abandoned: number }[]
  /** Words beside the chart. */
  readonly legend: { readonly answered: string; readonly abandoned: string; readonly most: string }
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** Said below the table; empty for nothing. */
  readonly note: string
}

const nameWidth = 159
const chartHeight = 110
/** Labels below the bars, at most. */
const maxLabels = 12

export function drawReport(paper: ReportPaper): Promise<Buffer> {
  const { accountName, title, at } = paper
  return paperOf({ title, author: accountName, createdAt: at }, (document) => draw(document, paper))
}

function draw(document: PDFKit.PDFDocument, paper: ReportPaper): void {
  const sheet = new Sheet(document, paper.direction)
  const nameEnds = sheet.text(paper.accountName, [0, 240, 'left'], [18, colours.accent, true])
  const titleEnds = sheet.text(paper.title, [250, width - 250, 'right'], [14, colours.text, true])
  sheet.y = Math.max(nameEnds, titleEnds) + 4
  sheet.y = sheet.text(paper.period, [0, width, 'left'], [10, colours.soft]) + 18
  drawFigures(sheet, paper.figures)
  if (paper.bars.length > 0) drawBars(document, sheet, paper)
  drawTable(sheet, paper)
  if (paper.note === '') return
  sheet.y += 10
  sheet.room(24)
  sheet.text(paper.note, [0, width, 'left'], [9, colours.soft])
}

function drawFigures(sheet: Sheet, figures: ReportPaper['figures']): void {
  const each = width / figures.length
  const top = sheet.y
  const ends = figures.map(([name], i) => {
    sheet.y = top
    return sheet.text(name, [i * each, each - 6, 'left'], [9, colours.soft])
  })
  const base = Math.max(...ends) + 2
  figures.forEach(([, value], i) => {
    sheet.y = base
    sheet.figure(value, [i * each, each - 6, 'left'], [15, colours.text, true])
  })
  sheet.y = base + 32
}

/** Largest number of calls of a bar. */
export function maxOf(bars: ReportPaper['bars']): number {
  return Math.max(1, ...bars.map(({ answered, abandoned }) => answered + abandoned))
}

/** Bars of answered calls with those of callers who gave up on top, and the largest count at the scale. */
function drawBars(document: PDFKit.PDFDocument, sheet: Sheet, { bars, legend }: ReportPaper): void {
  const most = maxOf(bars)
  const each = width / bars.length
  const wide = Math.min(24, each * 0.7)
  const top = sheet.y
  sheet.text(legend.answered, [0, 90, 'left'], [9, colours.accent])
  sheet.text(legend.abandoned, [92, 100, 'left'], [9, abandonedColour])
  sheet.text(legend.most, [300, width - 300, 'right'], [9, colours.soft])
  const base = top + 20 + chartHeight
  const heightOf = (count: number) => (count / most) * chartHeight
  bars.forEach(({ answered, abandoned }, i) => {
    const left = sheet.leftOf(i * each + (each - wide) / 2, wide)
    document.rect(left, base - heightOf(answered), wide, heightOf(answered)).fill(colours.accent)
    document.rect(left, base - heightOf(answered + abandoned), wide, heightOf(abandoned)).fill(abandonedColour)
  })
  sheet.y = base
  sheet.line()
  sheet.y = base + 4
  const step = Math.ceil(bars.length / maxLabels)
  bars.forEach(({ label }, i) => {
    if (i % step === 0) sheet.text(label, [i * each, each * step, 'left'], [8, colours.soft])
  })
  sheet.y = base + 26
}

const abandonedColour = '#b4540a'

function drawTable(sheet: Sheet, { head, rows }: ReportPaper): void {
  const figureWidth = (width - nameWidth) / Math.max(1, head.length - 1)
  const columns = head.map((_, i): Column => {
    return i === 0 ? [0, nameWidth - 8, 'left'] : [nameWidth + (i - 1) * figureWidth, figureWidth - 4, 'right']
  })
  const write = (cells: readonly string[], colour: string): void => {
    const [name = ''] = cells
    const height = Math.max(12, sheet.heightOf(name, nameWidth - 8, 9))
    sheet.room(height + 10)
    const top = sheet.y
    columns.forEach((column, i) => {
      sheet.y = top
      if (i === 0) sheet.text(cells[i] ?? '', column, [9, colour])
      else sheet.figure(cells[i] ?? '', column, [9, colour])
    })
    sheet.y = top + height + 4
    sheet.line()
    sheet.y += 5
  }
  write(head, colours.soft)
  for (const row of rows) write(row, colours.text)
}
