// SPDX-License-Identifier: Apache-2.0
// Sending an invoice: it is opened if it was a draft, and its link reaches the customer. Nobody is told that it was sent
// unless it was; so a text that is refused leaves an open invoice that can be sent again.
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

/** The part that is one transaction: opened, and unless it is to be delivered, told of as the account's to bring. */
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

/** What follows once it is open: it is delivered, and then told of. Where nothing is due, nobody is asked for it. */
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
