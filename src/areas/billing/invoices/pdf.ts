// SPDX-License-Identifier: Apache-2.0
// An invoice as a PDF, made when it is asked for: the same invoice gives the same bytes. The fonts that every reader has know
// Western European letters only. Other letters lose their marks where that helps, and are a question mark where it does not;
// the page at which the invoice is paid shows them as they are.
import { AppError } from '../../../kernel/errors.ts'
import { formatMicros, formatMoney } from '../../../kernel/money.ts'
import type { App } from '../../../platform/app.ts'
import { currencyOf } from '../../payments/area.ts'
import { dueOf, itemFrom } from './invoice.ts'
import type { InvoiceRow } from './store.ts'

/** So many wait for theirs on one node; making one takes the whole node for a moment. */
const mostWaiting = 20
const margin = 50
const width = 495
const columns = { description: 0, quantity: 255, unit: 305, amount: 400 } as const
const bottom = 770

const waiting = new WeakMap<App, { count: number; last: Promise<unknown> }>()

/** One at a time; refuses when too many wait. */
export async function renderInvoice(app: App, invoice: InvoiceRow, accountName: string): Promise<Buffer> {
  const line = waiting.get(app) ?? { count: 0, last: Promise.resolve() }
  waiting.set(app, line)
  if (line.count >= mostWaiting)
    throw new AppError('SERVICE_UNAVAILABLE', 'too many documents are being made', { retryAfterSeconds: 2 })
  line.count++
  const mine = line.last.then(() => pdfOf(invoice, accountName))
  line.last = mine.catch(() => undefined)
  return mine.finally(() => line.count--)
}

export async function pdfOf(invoice: InvoiceRow, accountName: string): Promise<Buffer> {
  const title = `Invoice ${invoice.number}`
  // Read when the first one is made: it is the slowest part of the program to load, and few nodes need it.
  const { default: PDFDocument } = await import('pdfkit')
  const document = new PDFDocument({
    size: 'A4',
    margin,
    info: { Title: plain(title), Author: plain(accountName), CreationDate: invoice.opened_at ?? invoice.created_at },
  })
  const chunks: Buffer[] = []
  document.on('data', (chunk: Buffer) => chunks.push(chunk))
  const ended = new Promise<void>((resolve, reject) => document.on('end', resolve).on('error', reject))
  draw(document, invoice, accountName)
  document.end()
  await ended
  return Buffer.concat(chunks)
}

function draw(document: PDFKit.PDFDocument, invoice: InvoiceRow, accountName: string): void {
  const currency = currencyOf(invoice.currency)
  const money = (micros: bigint) => formatMoney({ micros, currency })
  const text = (words: string, x: number, y: number, options: PDFKit.Mixins.TextOptions = {}) =>
    document.text(plain(words), margin + x, y, { width, ...options })
  /** Begins a page when so much would not fit; gives where to go on. */
  const room = (y: number, height: number): number => {
    if (y + height <= bottom) return y
    document.addPage()
    return margin
  }

  document.font('Helvetica-Bold').fontSize(20)
  text(accountName, 0, margin)
  document.fontSize(12).font('Helvetica')
  text(`Invoice ${invoice.number}`, 0, document.y + 8)
  for (const line of facts(invoice)) text(line, 0, document.y + 2)

  let y = document.y + 20
  document.font('Helvetica-Bold').fontSize(10)
  const row = (cells: readonly [string, string, string, string]) => {
    const height = document.heightOfString(plain(cells[0]), { width: 245 })
    y = room(y, Math.min(height, bottom - margin))
    text(cells[0], columns.description, y, { width: 245 })
    const below = document.y
    text(cells[1], columns.quantity, y, { width: 45, align: 'right' })
    text(cells[2], columns.unit, y, { width: 90, align: 'right' })
    text(cells[3], columns.amount, y, { width: 95, align: 'right' })
    y = below + 6
  }
  row(['Description', 'Quantity', 'Unit', 'Amount'])
  document.font('Helvetica')
  for (const item of invoice.items.map(itemFrom)) {
    const rate = item.taxRate > 0n ? ` (tax ${formatMicros(item.taxRate)} %)` : ''
    const less = item.discount > 0n ? ` (discount ${money(item.discount)})` : ''
    const cells = [`${item.description}${less}${rate}`, formatMicros(item.quantity)] as const
    row([...cells, money(item.unitAmount), money(item.amount)])
  }

  y += 10
  for (const [name, amount] of sums(invoice)) {
    y = room(y, 16)
    text(name, columns.unit - 60, y, { width: 150 })
    text(money(amount), columns.amount, y, { width: 95, align: 'right' })
    y += 16
  }
  if (invoice.notes !== null) text(invoice.notes, 0, room(y + 14, 30))
}

function facts({ customer, created_at, opened_at, due_date, status, environment }: InvoiceRow): string[] {
  const { name, email, phone } = customer
  const who = [name, email, phone].filter((one) => one !== undefined).join(', ')
  const standing = { draft: '', open: '', paid: 'Paid', void: 'Void', uncollectible: '' }[status]
  return [
    `To: ${who}`,
    `Date: ${(opened_at ?? created_at).toISOString().slice(0, 10)}`,
    `Due: ${due_date}`,
    ...(standing === '' ? [] : [standing]),
    ...(environment === 'test' ? ['A test: no real money'] : []),
  ]
}

function sums(invoice: InvoiceRow): [string, bigint][] {
  const { subtotal, discount_total, tax_total, tax_inclusive, total, amount_paid, amount_refunded } = invoice
  const rows: [string, bigint][] = [['Subtotal', subtotal]]
  if (discount_total > 0n) rows.push(['Discount', -discount_total])
  if (tax_total > 0n) rows.push([tax_inclusive ? 'Tax, included' : 'Tax', tax_total])
  rows.push(['Total', total])
  if (amount_paid > 0n) rows.push(['Paid', amount_paid])
  if (amount_refunded > 0n) rows.push(['Refunded', amount_refunded])
  rows.push(['Due', dueOf(invoice)])
  return rows
}

/** The letters of Windows-1252 beyond Latin-1. */
const others = '€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ'
const isKnown = (character: string): boolean => /^[\n\x20-\x7e\xa0-\xff]$/.test(character) || others.includes(character)

export function plain(text: string): string {
  return Array.from(text.normalize('NFC').replace(/\r\n?|\t/g, ' '), (character) => {
    if (isKnown(character)) return character
    const bare = character.normalize('NFKD').replace(/\p{M}/gu, '')
    return [...bare].every(isKnown) ? bare : '?'
  }).join('')
}
