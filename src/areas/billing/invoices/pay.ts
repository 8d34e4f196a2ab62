// SPDX-License-Identifier: Apache-2.0
// Pays an invoice: completing the payment counts towards it in the same transaction. Money that arrives when nothing is
// due, because of two payments or a voided invoice, becomes credit or is refunded.

import { invalid } from '../../../kernel/errors.ts'
import { formatMicros } from '../../../kernel/money.ts'
import { currencyOf, microsOf } from '../../../ledger/currencies.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { accept, declarePurpose, type NewPayment, type PaymentRow } from '../../payments/area.ts'
import { addCredit } from '../customers/customer.ts'
import { giveBack, returnCredit } from './give-back.ts'
import { paymentFailed, settled } from './hooks.ts'
import { dueOf, invoiceIdOf, notWhile } from './invoice.ts'
import { refundInvoice, restoreInvoice } from './refund.ts'
import { addPayment, type InvoiceRow, type InvoiceStatus, lockInvoice } from './store.ts'

/** Statuses in which money counts towards an invoice. */
const payable: readonly InvoiceStatus[] = ['open', 'uncollectible']
const anyStatus: readonly InvoiceStatus[] = ['open', 'uncollectible', 'paid', 'void']

const invoicePurpose = declarePurpose({
  name: 'invoice',
  isFree: false,
  holdsClock: true,
  completed: paymentCompleted,
  failed: paymentLost,
  refunded: refundInvoice,
  refundTakenBack: restoreInvoice,
  refundFailed: async (_app, tx, occasion, payment, refund) =>
    returnCredit(tx, occasion, await invoicePaidBy(tx, occasion, payment), refund),
})

/** Payment of an invoice; the whole amount due by default. */
export type InvoicePayment = Omit<NewPayment, 'amount' | 'currency'> & Partial<Pick<NewPayment, 'amount'>>

/**
 * Creates the payment of an invoice whose row is locked or new. The provider is called after the commit: by the caller's
 * `sendNow` with `sendsInline`, otherwise by a job.
 */
export async function payInvoice(
  app: App,
  tx: Tx,
  occasion: Occasion,
  invoice: InvoiceRow,
  how: InvoicePayment,
  sendsInline: boolean,
): Promise<PaymentRow> {
  if (!payable.includes(invoice.status)) throw notWhile(invoice, 'nothing is to be paid')
  const currency = currencyOf(invoice.currency)
  const due = dueOf(invoice)
  const micros = how.amount === undefined ? due : microsOf('amount', how.amount, currency)
  if (micros > due) throw invalid('amount', `must be at most ${formatMicros(due)}, which is what is due`)
  const input = {
    description: `Invoice ${invoice.number}`,
    customer: invoice.customer,
    ...how,
    amount: formatMicros(micros),
    currency,
  }
  const purpose = { ...invoicePurpose, invoiceId: invoice.id }
  return accept(app, tx, { input, occasion, sendsInline, purpose })
}

async function paymentCompleted(app: App, tx: Tx, occasion: Occasion, payment: PaymentRow): Promise<void> {
  const { tenant, nowMs } = occasion
  const invoice = await invoicePaidBy(tx, occasion, payment)
  const due = payable.includes(invoice.status) ? dueOf(invoice) : 0n
  const excess = payment.amount > due ? payment.amount - due : 0n
  const applied = payment.amount - excess
  const { id, customer_id: customerId, currency } = invoice
  const at = new Date(nowMs)
  const after = await maybe(tx.query(addPayment, { ...tenant, id, payment: payment.id, applied, from: anyStatus, at }))
  if (!after) return
  await settled(app, tx, occasion, after, payment)
  const credit = { customerId, currency, sourceId: payment.id, step: 'overpaid' }
  await addCredit(tx, occasion, credit, excess)
  if (excess > 0n) await giveBack(app, tx, occasion, invoice, payment)
}

async function paymentLost(app: App, tx: Tx, occasion: Occasion, payment: PaymentRow): Promise<void> {
  await paymentFailed(app, tx, occasion, await invoicePaidBy(tx, occasion, payment), payment)
}

async function invoicePaidBy(tx: Tx, { tenant }: Occasion, payment: PaymentRow): Promise<InvoiceRow> {
  return one(tx.query(lockInvoice, { ...tenant, id: invoiceIdOf(payment) }))
}
