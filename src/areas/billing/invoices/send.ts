// SPDX-License-Identifier: Apache-2.0
// Sends an invoice: opens it if it is a draft, and delivers its link. The sent event is emitted only after a channel
// accepted it, so a refused text leaves an open invoice that can be sent again.
import type { Static } from 'typebox'
import type { App } from '../../../platform/app.ts'
import type { Caller } from '../../../platform/auth.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import { type Invoice, invoiceEvents } from '../events.ts'
import { openInvoice } from './create.ts'
import { type Destination, deliverInvoice, isDelivered, senderFor } from './deliver.ts'
import { dueOf, invoiceOf, invoiceUuid, noSuchInvoice, notWhile, tellInvoice } from './invoice.ts'
import { noteInvoiceSent } from './note-sent.ts'
import { findInvoice, lockInvoice } from './store.ts'

/** Transaction: open the invoice; without a destination, emit the event so that the account delivers it. */
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
  if (!isDelivered(to)) await tellInvoice(app, tx, invoiceEvents.opened, caller, open)
  return invoiceOf(app, open, caller.nowMs)
}

/** After the commit: deliver the invoice, then emit the event. An invoice with nothing due is not delivered. */
export async function deliverAndTell(
  app: App,
  caller: Caller,
  id: string,
  to: Destination,
): Promise<Static<typeof Invoice>> {
  const invoice = await one(app.db.query(findInvoice, { ...caller.tenant, id: invoiceUuid(id) }))
  if (dueOf(invoice) === 0n) return invoiceOf(app, invoice, caller.nowMs)
  await deliverInvoice(app, caller, invoice, to)
  const sent = await app.db.tx(caller.tenant, (tx) => noteInvoiceSent(app, tx, caller, invoice, to.email))
  return invoiceOf(app, sent, caller.nowMs)
}
