// SPDX-License-Identifier: Apache-2.0
// What follows when a payment of an invoice is given back, all of it or a part. What was paid too much goes first: the customer
// has that in hand, and must not have it twice; what was spent of it meanwhile is missing at the invoices that it paid, the last
// of them first. The rest was paid for the invoice. One that is open has what it misses to be paid again, and can be made void
// when nothing is left; one that is paid stays so, and says how much of it was given back. What of that is the customer's
// credit already, because the period was not used, is taken from them as what was paid too much is.
import { AppError } from '../../../kernel/errors.ts'
import { least } from '../../../kernel/money.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { PaymentRow, Refunded } from '../../payments/area.ts'
import { addCredit, inHandOf, takeCredit, unusedStep } from '../customers/customer.ts'
import { findCreditEntry, noteGivenBack } from '../customers/store.ts'
import { invoiceEvents } from '../events.ts'
import { stepToGive, stepToTake } from './give-back.ts'
import { refunded, settled } from './hooks.ts'
import { dueOf, invoiceIdOf, tellInvoice } from './invoice.ts'
import { addRefund, findInvoice, type InvoiceRow, lockInvoice, lockInvoiceAndPaidByCredit } from './store.ts'
import { holdSubscription } from './subscription.ts'

/**
 * Done in the transaction that completes the refund. What is in hand is looked at before the invoices are locked, and taken
 * after it; if it was spent or credited between the two, nothing is done, and whoever learns of the refund next does it.
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
  // It was taken when the refund was made, if that gives back only what was paid too much.
  const step = await stepToTake(tx, tenant, refund.id)
  const inHand = step === null ? ofCredit : least(ofCredit, await inHandOf(tx, tenant, customerId, currency))
  const spent = ofCredit - inHand
  const locked = await (spent > 0n
    ? tx.query(lockInvoiceAndPaidByCredit, { ...tenant, id, customer: customerId, currency })
    : tx.query(lockInvoice, { ...tenant, id }))
  // Whoever credits what is not used has locked the subscription.
  if (subscription_id !== null) await tx.query(holdSubscription, { ...tenant, id: subscription_id })
  if (least(ofInvoice, await unusedOf(tx, occasion, id)) !== ofUnused)
    throw new AppError('CONFLICT', 'what is not used of it was credited meanwhile')
  if (ofUnused > 0n) await tx.query(noteGivenBack, { ...tenant, source: id, step: unusedStep, amount: ofUnused })
  if (ofInvoice > 0n) await lessen(app, tx, occasion, payment, id, { amount: ofInvoice, credit: 0n })
  const missing = await takeFromPaid(app, tx, occasion, payment, locked, spent)
  if (step === null) return
  const taken = await takeCredit(tx, occasion, { customerId, currency, sourceId: refund.id, step }, inHand + missing)
  if (taken < inHand) throw new AppError('CONFLICT', 'the customer has paid an invoice with it meanwhile')
}

/**
 * Done in the transaction that finds a completed refund taken back: the invoice has the money again, as far as it misses it,
 * and the customer has in hand what was taken from that, and what the invoice needs no more.
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

/** How much of what an invoice was paid with is not there any more. */
function missingOf(invoice: InvoiceRow): bigint {
  return invoice.status === 'paid' ? invoice.amount_refunded - invoice.credit_refunded : dueOf(invoice)
}

/** How much of what is given back was paid too much. */
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

/** How much of what was paid for an invoice is its customer's credit, and was not given back yet. */
async function unusedOf(tx: Tx, { tenant }: Occasion, invoice: string): Promise<bigint> {
  const entry = await maybe(tx.query(findCreditEntry, { ...tenant, source: invoice, step: unusedStep }))
  return entry ? entry.amount - entry.given_back : 0n
}

/** Takes credit from the invoices that it has paid, the last of them first; gives what it was not found for. */
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

/** So much of what an invoice was paid with is not there any more. */
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
