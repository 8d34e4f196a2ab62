// SPDX-License-Identifier: Apache-2.0
// Delivers an open invoice to its customer by text with the link, or by mail with the link and the PDF. Used by requests
// to send it and by jobs that follow its payment.
import { formatMoney } from '../../../kernel/money.ts'
import { currencyOf } from '../../../ledger/currencies.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Queryable } from '../../../platform/db.ts'
import type { Brand } from '../../../platform/web/brand.ts'
import { html } from '../../../platform/web/html.ts'
import { mailForAccount } from '../../email/area.ts'
import { type Sending, sendForAccount } from '../../sms/area.ts'
import { dueOf, payUrl } from './invoice.ts'
import { renderInvoice } from './render.ts'
import { accountName, defaultSender, type InvoiceRow } from './store.ts'

/** Sender name of texts for accounts without one. */
const platformSender = 'PAMOJA'

/** Where to deliver an invoice. Without phone and email, the account delivers the link itself. */
export interface Destination {
  phone?: string
  email?: string
  /** Sender name of the text. */
  from?: string
  /** Text before the link. */
  message?: string
}

/**
 * Delivers an invoice; throws an AppError when no channel accepted it. The key, which holds a space, makes delivery
 * idempotent.
 */
export async function deliverInvoice(
  app: App,
  sending: Sending,
  invoice: InvoiceRow,
  to: Destination,
  key?: string,
): Promise<void> {
  if (to.phone !== undefined) await textInvoice(app, sending, invoice, to, to.phone, key)
  if (to.email !== undefined) await mailInvoice(app, sending, invoice, to, to.email, key)
}

/** Whether the platform delivers the invoice, rather than the account. */
export function isDelivered({ phone, email }: Destination): boolean {
  return phone !== undefined || email !== undefined
}

/** Mail the receipt, with the PDF of the paid invoice, to the address the invoice was mailed to. */
export async function deliverReceipt(app: App, sending: Sending, invoice: InvoiceRow, key: string): Promise<void> {
  if (invoice.mailed_to === null) return
  const { name, brand } = await one(app.db.query(accountName, { account: invoice.account_id }))
  const total = formatMoney({ micros: invoice.total, currency: currencyOf(invoice.currency) })
  const subject = `${name}: receipt for invoice ${invoice.number}, ${total}`
  const message = `Thank you: invoice ${invoice.number} is paid, ${total}.`
  await mail(app, sending, invoice, { to: invoice.mailed_to, name, brand, subject, words: message, key })
}

async function mailInvoice(
  app: App,
  sending: Sending,
  invoice: InvoiceRow,
  { message }: Destination,
  to: string,
  key: string | undefined,
): Promise<void> {
  const { name, brand } = await one(app.db.query(accountName, { account: invoice.account_id }))
  const subject = await headOf(app, invoice)
  const words = message ?? `${subject}, due ${invoice.due_date}.`
  await mail(app, sending, invoice, { to, name, brand, subject, words, key })
}

interface InvoiceMail {
  readonly to: string
  readonly name: string
  readonly brand: Brand
  readonly subject: string
  readonly words: string
  readonly key: string | undefined
}

async function mail(
  app: App,
  sending: Sending,
  invoice: InvoiceRow,
  { to, name, brand, subject, words, key }: InvoiceMail,
): Promise<void> {
  const attach = async () => {
    const content = await renderInvoice(app, invoice, name, brand)
    return [{ filename: `${invoice.number ?? 'invoice'}.pdf`, content, contentType: 'application/pdf' }]
  }
  await mailForAccount(app, sending, {
    to,
    fromName: name,
    fromLocal: 'invoices',
    subject,
    html: html`<p>${words}</p><p><a href="${payUrl(app, invoice)}">${payUrl(app, invoice)}</a></p>`.html,
    attach,
    ...(key === undefined ? {} : { key: `${key} mail` }),
  })
}

async function textInvoice(
  app: App,
  sending: Sending,
  invoice: InvoiceRow,
  to: Destination,
  phone: string,
  key: string | undefined,
): Promise<void> {
  const from = await senderFor(app.db, sending, to)
  const words = to.message ?? `${await headOf(app, invoice)}, due ${invoice.due_date}.`
  const text = { to: phone, from, message: `${words} ${payUrl(app, invoice)}` }
  await sendForAccount(app, sending, key === undefined ? text : { ...text, key })
}

/** First words of a text about an invoice: the account's name and the amount. */
export async function headOf(app: App, invoice: InvoiceRow): Promise<string> {
  const { name } = await one(app.db.query(accountName, { account: invoice.account_id }))
  const due = formatMoney({ micros: dueOf(invoice), currency: currencyOf(invoice.currency) })
  return `${name}: invoice ${invoice.number}, ${due}`
}

export async function senderFor(
  queryable: Queryable,
  { tenant }: Pick<Sending, 'tenant'>,
  { from }: Destination,
): Promise<string> {
  return from ?? (await maybe(queryable.query(defaultSender, { account: tenant.account })))?.sender ?? platformSender
}
