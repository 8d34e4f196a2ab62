// SPDX-License-Identifier: Apache-2.0
// Invoice PDF, drawn in a worker thread (render.ts) and reproducible byte for byte. Letters that neither the standard fonts
// nor that of Arabic have are written without accents or as a question mark; the invoice page shows them all.
import qrcode from 'qrcode-generator'
import { formatMicros } from '../../../kernel/money.ts'
import { currencyOf } from '../../../ledger/currencies.ts'
import { type Column, colours, margin, paperOf, Sheet, type Style, width } from '../../../platform/paper/sheet.ts'
import type { Brand } from '../../../platform/web/brand.ts'
import { readerOf } from '../../../platform/web/reader.ts'
import { dueOf, itemFrom } from './invoice.ts'
import type { InvoiceRow } from './store.ts'

/** Height up to which a description is kept on one page; a taller one starts where a few lines fit. */
const [keptTogether, fewLines] = [200, 60]

const columns = {
  description: [0, 245, 'left'],
  quantity: [255, 45, 'right'],
  unit: [305, 90, 'right'],
  amount: [400, 95, 'right'],
  sums: [255, 70, 'left'],
  sum: [330, 165, 'right'],
} as const satisfies Record<string, Column>

/** Fixed language and time zone, so that an invoice always gives the same bytes. */
const reader = readerOf({}, 'UTC')

export async function pdfOf(invoice: InvoiceRow, accountName: string, url: string, brand: Brand = {}): Promise<Buffer> {
  const info = {
    title: `Invoice ${invoice.number}`,
    author: accountName,
    createdAt: invoice.opened_at ?? invoice.created_at,
  }
  return paperOf(info, (document) => draw(document, invoice, { accountName, brand, url }))
}

interface Seller {
  accountName: string
  brand: Brand
  /** Payment address. */
  url: string
}

function draw(document: PDFKit.PDFDocument, invoice: InvoiceRow, { accountName, brand, url }: Seller): void {
  const sheet = new Sheet(document)
  const currency = currencyOf(invoice.currency)
  const money = (micros: bigint) => reader.money({ micros, currency })

  const nameEnds = sheet.text(accountName, [0, 300, 'left'], [18, colours.accent, true])
  sheet.text('Invoice', [310, width - 310, 'right'], [18, colours.text, true])
  sheet.y += 26
  const numberEnds = sheet.text(invoice.number ?? '', [310, width - 310, 'right'], [10, colours.soft])
  sheet.y = Math.max(nameEnds, numberEnds) + 4
  const seller = [brand.address, brand.tax_number && `Tax number ${brand.tax_number}`].filter(Boolean).join('\n')
  if (seller !== '') sheet.y = sheet.text(seller, [0, 300, 'left'], [9, colours.soft])
  sheet.y += 18

  const ends = facts(invoice).map(([name, value, column]) => {
    const top = sheet.y
    sheet.y = sheet.text(name, column, [9, colours.soft]) + 2
    const end = sheet.text(value, column, [10, colours.text])
    sheet.y = top
    return end
  })
  sheet.y = Math.max(...ends) + 22

  row(sheet, ['Description', 'Quantity', 'Unit', 'Amount'], [9, colours.soft])
  for (const item of invoice.items.map(itemFrom)) {
    const rate = item.taxRate > 0n ? ` (tax ${formatMicros(item.taxRate)} %)` : ''
    const less = item.discount > 0n ? ` (discount ${money(item.discount)})` : ''
    const cells = [`${item.description}${less}${rate}`, formatMicros(item.quantity)] as const
    row(sheet, [...cells, money(item.unitAmount), money(item.amount)], [10, colours.text])
  }

  sheet.y += 8
  for (const [name, amount, isMain] of sums(invoice)) {
    sheet.room(22)
    const style: Style = isMain ? [11, colours.text, true] : [10, colours.soft]
    if (isMain) sheet.line(columns.sums[0])
    sheet.y += isMain ? 6 : 0
    sheet.text(name, columns.sums, style)
    sheet.figure(money(amount), columns.sum, style)
    sheet.y += 16
  }
  if (invoice.status === 'open' || invoice.status === 'uncollectible') {
    sheet.y += 20
    sheet.room(36)
    sheet.y = sheet.text('Pay at', [0, width, 'left'], [9, colours.soft]) + 2
    sheet.y = sheet.text(url, [0, width, 'left'], [10, colours.accent], url) + 8
    sheet.room(codeSize + 8)
    drawCode(document, url, margin, sheet.y)
    sheet.y += codeSize
  }
  if (invoice.notes === null) return
  sheet.y += 20
  sheet.room(30)
  sheet.text(invoice.notes, [0, width, 'left'], [10, colours.text])
}

/** Size of the QR code in points: readable by a phone at arm's length. */
const codeSize = 84

/** Draws the payment address as a QR code. */
function drawCode(document: PDFKit.PDFDocument, url: string, left: number, top: number): void {
  const code = qrcode(0, 'M')
  code.addData(url)
  code.make()
  const count = code.getModuleCount()
  const size = codeSize / count
  for (let line = 0; line < count; line++)
    for (let column = 0; column < count; column++)
      if (code.isDark(line, column)) document.rect(left + column * size, top + line * size, size, size)
  document.fill(colours.text)
}

function row(sheet: Sheet, [what, ...figures]: readonly [string, string, string, string], style: Style): void {
  const { description, quantity, unit, amount } = columns
  const height = sheet.heightOf(what, description[1], style[0])
  const isTall = height > keptTogether
  sheet.room(isTall ? fewLines : height)
  const writeFigures = () =>
    [quantity, unit, amount].forEach((column, i) => {
      sheet.figure(figures[i] ?? '', column, style)
    })
  // Figures stand beside the description's first line; a tall one may end on another page.
  if (isTall) writeFigures()
  const end = sheet.text(what, description, style)
  if (!isTall) writeFigures()
  sheet.y = end + 5
  sheet.line()
  sheet.y += 6
}

type Fact = readonly [name: string, value: string, column: Column]

function facts({ customer, created_at, opened_at, due_date, status, environment }: InvoiceRow): Fact[] {
  const { name, email, phone, address, tax_number: number } = customer
  const tax = number && `Tax number ${number}`
  const who = [name, address, tax, email, phone].filter((one) => one !== undefined).join('\n')
  const standing = { draft: 'Draft', open: 'To be paid', paid: 'Paid', void: 'Void', uncollectible: 'To be paid' }[
    status
  ]
  const issued = (opened_at ?? created_at).toISOString().slice(0, 10)
  return [
    ['Billed to', who, [0, 200, 'left']],
    ['Date', reader.day(issued), [215, 85, 'left']],
    ['Due', reader.day(due_date), [305, 85, 'left']],
    ['Status', environment === 'test' ? `${standing}\nA test: no real money` : standing, [395, 100, 'left']],
  ]
}

function sums(invoice: InvoiceRow): [name: string, amount: bigint, isMain?: true][] {
  const { subtotal, discount_total, tax_total, tax_inclusive, total, amount_paid, amount_refunded } = invoice
  const { credit_applied } = invoice
  const rows: [string, bigint, true?][] = [['Subtotal', subtotal]]
  if (discount_total > 0n) rows.push(['Discount', -discount_total])
  if (tax_total > 0n) rows.push([tax_inclusive ? 'Tax, included' : 'Tax', tax_total])
  rows.push(['Total', total, true])
  if (credit_applied > 0n) rows.push(['Credit', -credit_applied])
  if (amount_paid > credit_applied) rows.push(['Paid', amount_paid - credit_applied])
  if (amount_refunded > 0n) rows.push(['Refunded', amount_refunded])
  rows.push(['Due', dueOf(invoice), true])
  return rows
}
