// SPDX-License-Identifier: Apache-2.0
// Refund of an invoice payment, in part or in full. The overpaid part is refunded first: it is taken from the
// customer's credit, and what was spent of that from the invoices it paid, latest first. The rest reduces the invoice:
// an open one has it due again and can be voided when nothing is left, a paid one stays paid and shows the refunded
// amount. The part already credited for unused time is taken from credit like an overpayment.
import { AppError } from '../../../kernel/errors.ts'
import { least } from '../../../kernel/money.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { PaymentRow, Refunded } from '../../payments/area.ts'
import { addCredit, creditOf, takeCredit, unusedStep } from '../customers/customer.ts'
import { findCreditEntry, noteGivenBack } from '../customers/store.ts'
import { invoiceEvents } from '../events.ts'
import { stepToGive, stepToTake } from './give-back.ts'
import { refunded, settled } from './hooks.ts'
import { dueOf, invoiceIdOf, tellInvoice } from './invoice.ts'
import { addRefund, findInvoice, type InvoiceRow, lockInvoice, lockInvoiceAndPaidByCredit } from './store.ts'
import { holdSubscription } from './subscription.ts'

/**
 * Applies a completed refund, in its transaction. Credit is read before the invoices are locked and taken after; if it
 * changed in between, nothing is done and the next report of the refund retries.
 */
export async function refundInvoice(
  app: App,
  tx: Tx,
  occasion: Occasion,
  payment: PaymentRow,
  refund: Refunded,
): Promise<void> {
  const { tenant } = occasion
  const id = invoiceIdOf(payment)
  const ofOverpaid = await overpaidOf(tx, occasion, payment, refund)
  const ofInvoice = refund.amount - ofOverpaid
  const ofUnused = least(ofInvoice, await unusedOf(tx, occasion, id))
  const ofCredit = ofOverpaid + ofUnused
  const { customer_id: customerId, currency, subscription_id } = await one(tx.query(findInvoice, { ...tenant, id }))
  // A refund of an overpayment took the credit when it was made.
  const step = await stepToTake(tx, tenant, refund.id)
  const inHand = step === null ? ofCredit : least(ofCredit, await creditOf(tx, tenant, customerId, currency))
  const spent = ofCredit - inHand
  const locked = await (spent > 0n
    ? tx.query(lockInvoiceAndPaidByCredit, { ...tenant, id, customer: customerId, currency })
    : tx.query(lockInvoice, { ...tenant, id }))
  // Crediting unused time locks the subscription.
  if (subscription_id !== null) await tx.query(holdSubscription, { ...tenant, id: subscription_id })
  if (least(ofInvoice, await unusedOf(tx, occasion, id)) !== ofUnused)
    throw new AppError('CONFLICT', 'the unused part was credited in the meantime')
  if (ofUnused > 0n) await tx.query(noteGivenBack, { ...tenant, source: id, step: unusedStep, amount: ofUnused })
  if (ofInvoice > 0n) await lessen(app, tx, occasion, payment, id, { amount: ofInvoice, credit: 0n })
  const missing = await takeFromPaid(app, tx, occasion, payment, locked, spent)
  if (step === null) return
  const taken = await takeCredit(tx, occasion, { customerId, currency, sourceId: refund.id, step }, inHand + missing)
  if (taken < inHand) throw new AppError('CONFLICT', 'the customer has used the credit in the meantime')
}

/**
 * Reverse a refund, in the transaction that finds it reversed: the invoice gets back what it lacks, and the customer
 * the credit taken plus the excess.
 */
export async function restoreInvoice(
  app: App,
  tx: Tx,
  occasion: Occasion,
  payment: PaymentRow,
  refund: Refunded,
): Promise<void> {
  const { tenant } = occasion
  const invoice = await one(tx.query(lockInvoice, { ...tenant, id: invoiceIdOf(payment) }))
  const { id, customer_id: customerId, currency } = invoice
  const ofOverpaid = await overpaidOf(tx, occasion, payment, refund)
  const ofInvoice = refund.amount - ofOverpaid
  const amount = least(ofInvoice, missingOf(invoice))
  if (amount > 0n) {
    await lessen(app, tx, occasion, payment, id, { amount: -amount, credit: 0n })
    await settled(app, tx, occasion, invoice, payment)
  }
  const unused = await maybe(tx.query(findCreditEntry, { ...tenant, source: id, step: unusedStep }))
  const ofUnused = least(ofInvoice, unused?.given_back ?? 0n)
  if (ofUnused > 0n) await tx.query(noteGivenBack, { ...tenant, source: id, step: unusedStep, amount: -ofUnused })
  const step = await stepToGive(tx, tenant, refund.id)
  const inHand = ofOverpaid + ofUnused + (ofInvoice - amount)
  await addCredit(tx, occasion, { customerId, currency, sourceId: refund.id, step }, inHand)
}

/** Amount of an invoice that refunds removed and nothing replaced. */
function missingOf(invoice: InvoiceRow): bigint {
  return invoice.status === 'paid' ? invoice.amount_refunded - invoice.credit_refunded : dueOf(invoice)
}

/** Overpaid part of a refund. */
async function overpaidOf(
  tx: Tx,
  { tenant }: Occasion,
  { id: source }: PaymentRow,
  { amount, total }: Refunded,
): Promise<bigint> {
  const { amount: overpaid = 0n } =
    (await maybe(tx.query(findCreditEntry, { ...tenant, source, step: 'overpaid' }))) ?? {}
  return least(total, overpaid) - least(total - amount, overpaid)
}

/** Part of an invoice's money credited to its customer and not refunded yet. */
async function unusedOf(tx: Tx, { tenant }: Occasion, invoice: string): Promise<bigint> {
  const entry = await maybe(tx.query(findCreditEntry, { ...tenant, source: invoice, step: unusedStep }))
  return entry ? entry.amount - entry.given_back : 0n
}

/** Takes credit back from the invoices it paid, latest first; returns the amount not found. */
async function takeFromPaid(
  app: App,
  tx: Tx,
  occasion: Occasion,
  payment: PaymentRow,
  invoices: readonly InvoiceRow[],
  spent: bigint,
): Promise<bigint> {
  let missing = spent
  for (const { id, credit_applied, credit_refunded } of [...invoices].reverse()) {
    const amount = least(missing, credit_applied - credit_refunded)
    if (amount > 0n) await lessen(app, tx, occasion, payment, id, { amount, credit: amount })
    missing -= amount
  }
  return missing
}

/** Reduces the paid amount of an invoice. */
async function lessen(
  app: App,
  tx: Tx,
  occasion: Occasion,
  payment: PaymentRow,
  id: string,
  by: { amount: bigint; credit: bigint },
): Promise<void> {
  const { tenant, nowMs } = occasion
  const after = await one(tx.query(addRefund, { ...tenant, id, ...by, at: new Date(nowMs) }))
  await tellInvoice(app, tx, invoiceEvents.refunded, occasion, after, payment)
  await refunded(app, tx, occasion, after)
}
