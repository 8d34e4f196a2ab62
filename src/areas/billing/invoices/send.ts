// SPDX-License-Identifier: Apache-2.0
// Sending an invoice: it is opened if it was a draft, and its link reaches the customer. Nobody is told that it was sent
// before it was; so a text that is refused leaves an open invoice that can be sent again.
import type { Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { formatMoney } from '../../../kernel/money.ts'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { keyed } from '../../../platform/idempotency.ts'
import { currencyOf } from '../../payments/area.ts'
import { sendText } from '../../sms/area.ts'
import { type Invoice, invoiceEvents } from '../events.ts'
import { openInvoice } from './create.ts'
import { dueOf, invoiceOf, invoiceUuid, noSuchInvoice, notWhile, payUrl, tellInvoice } from './invoice.ts'
import { accountName, defaultSender, findInvoice, type InvoiceRow, lockInvoice, noteSent } from './store.ts'

/** Where an invoice goes. Without any of it the account itself brings the link to its customer. */
export interface Destination {
  phone?: string
  /** Whose name the text bears. */
  from?: string
  /** What stands before the link. */
  message?: string
}

/** The part that is one transaction: opened, and unless something is to be delivered first, told of as sent. */
export async function openToSend(
  app: App,
  tx: Tx,
  caller: Caller,
  id: string,
  to: Destination,
): Promise<Static<typeof Invoice>> {
  const invoice = await maybe(tx.query(lockInvoice, { ...caller.tenant, id: invoiceUuid(id) }))
  if (!invoice) throw noSuchInvoice()
  if (invoice.status === 'paid' || invoice.status === 'void') throw notWhile(invoice, 'there is nothing to send')
  if (to.phone !== undefined) await senderFor(tx, caller, to)
  const open = invoice.status === 'draft' ? await openInvoice(app, tx, caller, invoice) : invoice
  return invoiceOf(app, to.phone === undefined ? await noteInvoiceSent(app, tx, caller, open) : open, caller.nowMs)
}

/** What follows once it is open: it is delivered, and then told of. */
export async function deliverAndTell(
  app: App,
  caller: Caller,
  id: string,
  to: Destination,
): Promise<Static<typeof Invoice>> {
  const invoice = await one(app.db.query(findInvoice, { ...caller.tenant, id: invoiceUuid(id) }))
  await deliverInvoice(app, caller, invoice, to)
  const sent = await app.db.tx((tx) => noteInvoiceSent(app, tx, caller, invoice))
  return invoiceOf(app, sent, caller.nowMs)
}

/** Notes that an invoice was sent, and tells of it. */
export async function noteInvoiceSent(app: App, tx: Tx, occasion: Occasion, { id }: InvoiceRow): Promise<InvoiceRow> {
  const { tenant, nowMs } = occasion
  const sent = await one(tx.query(noteSent, { ...tenant, id, at: new Date(nowMs) }))
  await tellInvoice(app, tx, invoiceEvents.sent, occasion, sent)
  return sent
}

/**
 * Brings an open invoice to its customer; throws when nobody took it. The one place that knows the ways there are: a text
 * with the link is the only one now, and mail, with the PDF of `renderInvoice` attached, would be one more member of
 * `Destination` and one more line here.
 */
async function deliverInvoice(app: App, caller: Caller, invoice: InvoiceRow, to: Destination): Promise<void> {
  if (to.phone !== undefined) await textInvoice(app, caller, invoice, to, to.phone)
}

async function textInvoice(
  app: App,
  caller: Caller,
  invoice: InvoiceRow,
  to: Destination,
  phone: string,
): Promise<void> {
  const from = await senderFor(app.db, caller, to)
  const words = to.message ?? (await usualWords(app, invoice))
  const input = { to: phone, from, message: `${words} ${payUrl(app, invoice)}` }
  await sendText(app, input, caller, keyed(null, null, 200, String))
}

async function usualWords(app: App, invoice: InvoiceRow): Promise<string> {
  const { name } = await one(app.db.query(accountName, { account: invoice.account_id }))
  const due = formatMoney({ micros: dueOf(invoice), currency: currencyOf(invoice.currency) })
  return `${name}: invoice ${invoice.number}, ${due}, due ${invoice.due_date}.`
}

async function senderFor(queryable: Pick<Tx, 'query'>, { tenant }: Caller, { from }: Destination): Promise<string> {
  const sender = from ?? (await maybe(queryable.query(defaultSender, { account: tenant.account })))?.sender
  if (sender === undefined)
    throw new AppError('VALIDATION_ERROR', 'from: name the sender of the text, or set default_sender of your account')
  return sender
}
