// SPDX-License-Identifier: Apache-2.0
// Stores that an invoice was delivered and where its receipt goes, and emits the event.
import type { App } from '../../../platform/app.ts'
import { one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { invoiceEvents } from '../events.ts'
import { tellInvoice } from './invoice.ts'
import { type InvoiceRow, noteSent } from './store.ts'

/** Call only after the delivery was accepted: the event tells the account that it need not send the link. */
export async function noteInvoiceSent(
  app: App,
  tx: Tx,
  occasion: Occasion,
  { id }: Pick<InvoiceRow, 'id'>,
  mailedTo: string | null = null,
): Promise<InvoiceRow> {
  const { tenant, nowMs } = occasion
  const sent = await one(tx.query(noteSent, { ...tenant, id, at: new Date(nowMs), mailedTo }))
  await tellInvoice(app, tx, invoiceEvents.sent, occasion, sent)
  return sent
}
