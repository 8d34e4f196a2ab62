// SPDX-License-Identifier: Apache-2.0
// What follows when an invoice is paid, or could not be: it is told, and whoever made it for a reason of their own, such as
// a subscription, goes on in the same transaction.
import type { App } from '../../../platform/app.ts'
import { maybe, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { PaymentRow } from '../../payments/area.ts'
import { invoiceEvents } from '../events.ts'
import { tellInvoice, tellPaid } from './invoice.ts'
import { mailReceipt } from './mail.ts'
import { closePaid, type InvoiceRow } from './store.ts'

interface InvoiceHooks {
  /** All of it is paid; `payment` is null when nothing had to be, or credit covered it. */
  invoicePaid?(app: App, tx: Tx, occasion: Occasion, invoice: InvoiceRow, payment: PaymentRow | null): Promise<void>
  /** It was made void, or written off: nobody is asked for it any more. */
  invoiceGivenUp?(app: App, tx: Tx, occasion: Occasion, invoice: InvoiceRow): Promise<void>
  /** A payment for it failed, was cancelled or expired. Late money may still pay it. */
  invoicePaymentFailed?(app: App, tx: Tx, occasion: Occasion, invoice: InvoiceRow, payment: PaymentRow): Promise<void>
  /** Some of what was paid for it was given back, or is there again. */
  invoiceRefunded?(app: App, tx: Tx, occasion: Occasion, invoice: InvoiceRow): Promise<void>
}

const hooks = new Set<InvoiceHooks>()

/** Has something follow from what becomes of invoices; asked of every invoice, so look at its subscription_id. */
export function onInvoice(follows: InvoiceHooks): InvoiceHooks {
  hooks.add(follows)
  return follows
}

/** Closes an invoice whose money is all there, and tells of it; gives it as it is then. */
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
