// SPDX-License-Identifier: Apache-2.0
// Hooks for invoice changes: the event is emitted, and parts that own the invoice, such as a subscription, continue in
// the same transaction.
import type { App } from '../../../platform/app.ts'
import { maybe, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { PaymentRow } from '../../payments/area.ts'
import { invoiceEvents } from '../events.ts'
import { tellInvoice, tellPaid } from './invoice.ts'
import { mailReceipt } from './mail.ts'
import { closePaid, type InvoiceRow } from './store.ts'

interface InvoiceHooks {
  /** Invoice fully paid; `payment` is null when the total was zero or credit covered it. */
  invoicePaid?(app: App, tx: Tx, occasion: Occasion, invoice: InvoiceRow, payment: PaymentRow | null): Promise<void>
  /** Invoice voided or written off: nobody is charged for it any more. */
  invoiceGivenUp?(app: App, tx: Tx, occasion: Occasion, invoice: InvoiceRow): Promise<void>
  /** Payment failed, cancelled or expired. A late confirmation may still pay the invoice. */
  invoicePaymentFailed?(app: App, tx: Tx, occasion: Occasion, invoice: InvoiceRow, payment: PaymentRow): Promise<void>
  /** Payment of the invoice refunded in part or in full, or such a refund reversed. */
  invoiceRefunded?(app: App, tx: Tx, occasion: Occasion, invoice: InvoiceRow): Promise<void>
}

const hooks = new Set<InvoiceHooks>()

/** Registers invoice hooks. They run for every invoice, so check its subscription_id. */
export function onInvoice(follows: InvoiceHooks): InvoiceHooks {
  hooks.add(follows)
  return follows
}

/** Closes a fully paid invoice, emits its event and returns the updated row. */
export async function settled(
  app: App,
  tx: Tx,
  occasion: Occasion,
  invoice: InvoiceRow,
  payment: PaymentRow | null,
): Promise<InvoiceRow> {
  const { tenant, nowMs } = occasion
  const paid = await maybe(tx.query(closePaid, { ...tenant, id: invoice.id, at: new Date(nowMs) }))
  if (!paid) return invoice
  await tellPaid(app, tx, occasion, paid, payment)
  await mailReceipt(app, tx, occasion.tenant, paid)
  for (const { invoicePaid } of hooks) await invoicePaid?.(app, tx, occasion, paid, payment)
  return paid
}

export async function paymentFailed(
  app: App,
  tx: Tx,
  occasion: Occasion,
  invoice: InvoiceRow,
  payment: PaymentRow,
): Promise<void> {
  await tellInvoice(app, tx, invoiceEvents.paymentFailed, occasion, invoice, payment)
  for (const { invoicePaymentFailed } of hooks) await invoicePaymentFailed?.(app, tx, occasion, invoice, payment)
}

export async function givenUp(app: App, tx: Tx, occasion: Occasion, invoice: InvoiceRow): Promise<void> {
  for (const { invoiceGivenUp } of hooks) await invoiceGivenUp?.(app, tx, occasion, invoice)
}

export async function refunded(app: App, tx: Tx, occasion: Occasion, invoice: InvoiceRow): Promise<void> {
  for (const { invoiceRefunded } of hooks) await invoiceRefunded?.(app, tx, occasion, invoice)
}
