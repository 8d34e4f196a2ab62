// SPDX-License-Identifier: Apache-2.0
// Void or write off an invoice. Its number stays used, and applied credit returns to the customer.
import { refuseCardNumbers } from '../../../kernel/card.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { addCredit } from '../customers/customer.ts'
import { invoiceEvents } from '../events.ts'
import { givenUp } from './hooks.ts'
import { notWhile, tellInvoice } from './invoice.ts'
import { type InvoiceRow, voidUnpaid } from './store.ts'

/** Void an invoice whose row is locked; idempotent. */
export async function voidInvoice(
  app: App,
  tx: Tx,
  occasion: Occasion,
  invoice: InvoiceRow,
  reason: string | null,
): Promise<InvoiceRow> {
  if (invoice.status === 'void') return invoice
  const { tenant, nowMs } = occasion
  const { id, customer_id: customerId, currency, credit_applied } = invoice
  refuseCardNumbers({ reason })
  const after = await maybe(tx.query(voidUnpaid, { ...tenant, id, reason, at: new Date(nowMs) }))
  if (!after) throw notWhile(invoice, 'only one of which nothing was paid can be made void')
  await tellInvoice(app, tx, invoiceEvents.voided, occasion, after)
  await givenUp(app, tx, occasion, after)
  await addCredit(tx, occasion, { customerId, currency, sourceId: id, step: 'void' }, credit_applied)
  return after
}
