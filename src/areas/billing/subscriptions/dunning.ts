// SPDX-License-Identifier: Apache-2.0
// Dunning: what follows when a bill of a subscription is paid or its charge fails. Failed charges are retried by day
// some days after the first failure; after the last retry the subscription ends, unless the account keeps it.
import { AppError } from '../../../kernel/errors.ts'
import { dayMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { type PaymentRow, passed, recordOf } from '../../payments/area.ts'
import { invoiceEvents, subscriptionEvents } from '../events.ts'
import { onInvoice } from '../invoices/hooks.ts'
import { tellInvoice } from '../invoices/invoice.ts'
import { mailToCustomer } from '../invoices/mail.ts'
import { payInvoice } from '../invoices/pay.ts'
import { findInvoice, type InvoiceRow } from '../invoices/store.ts'
import { chargeableAt, paidForPeriod, payerOf, waiveUncollectableOf } from './bill.ts'
import { end } from './cancel.ts'
import { remind } from './remind.ts'
import { save } from './schedule.ts'
import {
  type CollectionRow,
  countUnpaid,
  dunningOf,
  endCollection,
  findCollection,
  leaveBills,
  lockSubscription,
  type SubscriptionRow,
  saveCollection,
} from './store.ts'
import { sinceNow, tellSubscription } from './subscription.ts'

/** Retry days after the first failure, unless the account sets others. */
const usualDays: readonly number[] = [1, 3, 5, 7]

onInvoice({
  invoicePaid: over,
  invoiceGivenUp: over,
  invoicePaymentFailed,
  invoiceRefunded,
})

/** Bill paid or given up. */
async function over(app: App, tx: Tx, occasion: Occasion, invoice: InvoiceRow): Promise<void> {
  const { tenant, nowMs } = occasion
  const { subscription_id: id } = invoice
  if (id === null) return
  const isPaid = invoice.status === 'paid'
  const collecting = { ...tenant, subscription: id, invoice: invoice.id }
  // Skip invoices that are not collected for a subscription. The account's own invoice may already hold the credit
  // lock, and must not wait for the subscription lock after it.
  if (!(await maybe(tx.query(findCollection, collecting)))) return
  const row = await maybe(tx.query(lockSubscription, { ...tenant, id }))
  const ended = await maybe(tx.query(endCollection, collecting))
  if (!row || !ended || row.status === 'cancelled') return
  const { failed } = await one(tx.query(countUnpaid, { ...tenant, subscription: id }))
  const isWell = (row.status === 'incomplete' && isPaid) || (row.status === 'past_due' && failed === 0)
  const changes = isWell ? { status: 'active' as const, ...sinceNow(row, nowMs) } : {}
  // An unpaid bill gives no credit for the unused rest of its period.
  const unpaid = invoice.status === 'void' && row.latest_invoice_id === invoice.id ? { paid_amount: 0n } : {}
  const after = await save(app, tx, occasion, row, { ...changes, ...unpaid })
  if (isPaid && ended.renews) await tellSubscription(app, tx, subscriptionEvents.renewed, occasion, after)
}

/** A refunded part of a bill is not credited again for unused time. */
async function invoiceRefunded(app: App, tx: Tx, occasion: Occasion, bill: InvoiceRow): Promise<void> {
  const { id: invoice, subscription_id: id, status } = bill
  // An open invoice has the refunded amount due again.
  if (id === null || status !== 'paid') return
  const row = await maybe(tx.query(lockSubscription, { ...occasion.tenant, id }))
  // The current period may be free and have no bill of its own.
  if (row?.latest_invoice_id !== invoice || bill.created_at < row.paid_from) return
  await save(app, tx, occasion, row, { paid_amount: paidForPeriod(bill) })
}

async function invoicePaymentFailed(
  app: App,
  tx: Tx,
  occasion: Occasion,
  invoice: InvoiceRow,
  payment: PaymentRow,
): Promise<void> {
  const { tenant } = occasion
  const { subscription_id: id } = invoice
  if (id === null) return
  const row = await maybe(tx.query(lockSubscription, { ...tenant, id }))
  if (!row) return
  const collection = await maybe(tx.query(findCollection, { ...tenant, subscription: id, invoice: invoice.id }))
  // A payment the customer made elsewhere is not this charge.
  if (collection?.payment_id !== payment.id) return
  const isAnother = row.method !== payment.method || row.phone !== payment.phone
  if (row.method === 'invoice') {
    const { failures, failed_at: failedAt } = collection
    const collecting = { ...tenant, subscription: id, invoice: invoice.id }
    await tx.query(saveCollection, { ...collecting, payment: null, failures, failedAt, tryAt: null })
    await leaveToCustomer(app, tx, occasion, row, [invoice.id])
  } else if (isAnother) await chargeNewMethod(app, tx, occasion, row, collection)
  else await chargeFailed(app, tx, occasion, row, collection)
}

/** Leaves locked bills to be paid at their links; the subscription is locked too. */
export async function leaveToCustomer(
  app: App,
  tx: Tx,
  occasion: Occasion,
  row: SubscriptionRow,
  invoices: readonly string[],
): Promise<SubscriptionRow> {
  const { tenant, nowMs } = occasion
  const left = await tx.query(leaveBills, { ...tenant, subscription: row.id, invoices })
  for (const { invoice_id: id } of left) {
    const invoice = await one(tx.query(findInvoice, { ...tenant, id }))
    await tellInvoice(app, tx, invoiceEvents.opened, occasion, invoice)
    await mailToCustomer(app, tx, tenant, invoice)
  }
  const { failed } = await one(tx.query(countUnpaid, { ...tenant, subscription: row.id }))
  const isWell = (row.status === 'incomplete' && left.length > 0) || (row.status === 'past_due' && failed === 0)
  return save(app, tx, occasion, row, isWell ? { status: 'active', ...sinceNow(row, nowMs) } : {})
}

/** The payment method was changed while a charge was pending: try the new one. */
async function chargeNewMethod(
  app: App,
  tx: Tx,
  occasion: Occasion,
  row: SubscriptionRow,
  { invoice_id: invoice, failures, failed_at: failedAt }: CollectionRow,
): Promise<void> {
  const { tenant, nowMs } = occasion
  const tryAt = new Date(nowMs)
  const collecting = { ...tenant, subscription: row.id, invoice }
  await tx.query(saveCollection, { ...collecting, payment: null, failures, failedAt, tryAt })
  await save(app, tx, occasion, row, {})
}

/** Retries the charge of a bill; its invoice and subscription are locked. */
export async function retry(
  app: App,
  tx: Tx,
  occasion: Occasion,
  row: SubscriptionRow,
  invoice: InvoiceRow,
  collection: CollectionRow,
): Promise<void> {
  const { tenant, nowMs } = occasion
  const collecting = { ...tenant, subscription: row.id, invoice: invoice.id }
  const { failures, failed_at: failedAt } = collection
  const now = new Date(nowMs)
  const tryAt = row.status === 'incomplete' ? now : chargeableAt(row, now)
  if (row.method === 'invoice' || invoice.status !== 'open')
    await tx.query(saveCollection, { ...collecting, payment: null, failures, failedAt, tryAt: null })
  else if (tryAt > now) await tx.query(saveCollection, { ...collecting, payment: null, failures, failedAt, tryAt })
  else {
    const due = await waiveUncollectableOf(app, tx, occasion, row, invoice)
    // The paid hook has run already.
    if (due.status === 'paid') return
    try {
      const payment = await payInvoice(app, tx, occasion, due, payerOf(row), false)
      passed(recordOf(payment))
      await tx.query(saveCollection, { ...collecting, payment: payment.id, failures, failedAt, tryAt: null })
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      await chargeNotAttempted(app, tx, occasion, row, due, collection, error)
      return
    }
  }
  await save(app, tx, occasion, row, {})
}

/**
 * Charge not attempted, for instance because the card was deleted. A blocked charge left a failed payment, which ran
 * this hook already.
 */
export async function chargeNotAttempted(
  app: App,
  tx: Tx,
  occasion: Occasion,
  row: SubscriptionRow,
  invoice: InvoiceRow,
  collection: CollectionRow,
  { code }: AppError,
): Promise<void> {
  if (code !== 'PAYMENT_BLOCKED') await tellInvoice(app, tx, invoiceEvents.paymentFailed, occasion, invoice)
  await chargeFailed(app, tx, occasion, row, collection)
}

/** Charge refused. The subscription is locked; an incomplete one waits for the payer to try another way. */
async function chargeFailed(
  app: App,
  tx: Tx,
  occasion: Occasion,
  row: SubscriptionRow,
  collection: CollectionRow,
): Promise<void> {
  const { tenant, nowMs } = occasion
  const collecting = { ...tenant, subscription: row.id, invoice: collection.invoice_id }
  if (row.status === 'incomplete') {
    await tx.query(saveCollection, { ...collecting, payment: null, failures: 0, failedAt: null, tryAt: null })
    return
  }
  const { days, isKept } = await dunning(tx, tenant.account)
  const failures = collection.failures + 1
  const failedAt = collection.failed_at ?? new Date(nowMs)
  const wait = days[failures - 1]
  // After an outage, late retries are not made up for: at most one per day.
  const waitMs = Math.max(failedAt.getTime() + (wait ?? 0) * dayMs, nowMs + dayMs)
  const tryAt = wait === undefined ? null : chargeableAt(row, new Date(waitMs))
  await tx.query(saveCollection, { ...collecting, payment: null, failures, failedAt, tryAt })
  const isPastDue = row.status === 'active'
  const after = await save(app, tx, occasion, row, isPastDue ? { status: 'past_due' } : {})
  if (isPastDue) await tellSubscription(app, tx, subscriptionEvents.pastDue, occasion, after)
  const isOver = wait === undefined && !isKept && after.status === 'past_due'
  if (isOver) await end(app, tx, occasion, after, 'dunning')
  const next = { failure: failures, tryAt, isLast: failures === days.length, isOver }
  await remind(app, tx, occasion, after, collection.invoice_id, next)
}

async function dunning(tx: Tx, account: string): Promise<{ days: readonly number[]; isKept: boolean }> {
  const said = await one(tx.query(dunningOf, { account }))
  return { days: said.days ?? usualDays, isKept: said.end === 'keep_past_due' }
}
