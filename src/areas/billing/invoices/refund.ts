// SPDX-License-Identifier: Apache-2.0
// What follows when a payment of an invoice is given back, all of it or a part. What was paid too much goes first: the customer
// has that in hand, and must not have it twice. The rest was paid for the invoice: one that is open has that to be paid again, and
// can be made void when nothing is left; one that is paid stays so, and says how much of it was given back.
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { PaymentRow, Refunded } from '../../payments/area.ts'
import { takeCredit } from '../customers/customer.ts'
import { findCreditEntry } from '../customers/store.ts'
import { invoiceEvents } from '../events.ts'
import { least, refundedStep } from './give-back.ts'
import { refunded } from './hooks.ts'
import { tellInvoice } from './invoice.ts'
import { addRefund, type InvoiceRow } from './store.ts'

/** Done in the transaction that completes the refund; the invoice is locked. */
export async function refundInvoice(
  app: App,
  tx: Tx,
  occasion: Occasion,
  invoice: InvoiceRow,
  payment: PaymentRow,
  { id: refund, amount, total }: Refunded,
): Promise<void> {
  const { tenant, nowMs } = occasion
  const { id, customer_id: customerId, currency } = invoice
  const overpaid = await maybe(tx.query(findCreditEntry, { ...tenant, source: payment.id, step: 'overpaid' }))
  const ofCredit = least(total, overpaid?.amount ?? 0n) - least(total - amount, overpaid?.amount ?? 0n)
  const ofInvoice = amount - ofCredit
  if (ofInvoice > 0n) {
    const after = await one(tx.query(addRefund, { ...tenant, id, amount: ofInvoice, at: new Date(nowMs) }))
    await tellInvoice(app, tx, invoiceEvents.refunded, occasion, after, payment)
    await refunded(app, tx, occasion, after, ofInvoice)
  }
  await takeCredit(tx, occasion, { customerId, currency, sourceId: refund, step: refundedStep }, ofCredit)
}
