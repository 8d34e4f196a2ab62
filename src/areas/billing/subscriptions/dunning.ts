// SPDX-License-Identifier: Apache-2.0
// What follows when a bill of a subscription is paid, or could not be: it is asked for again some days after it first
// failed, by day, and when the last try fails too the subscription ends, unless the account would rather keep it.
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
import { askableAt, giveUncollectableOf, paidForPeriod, payerOf } from './bill.ts'
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

/** Days after the first failure, unless the account says otherwise. */
const usualDays: readonly number[] = [1, 3, 5, 7]

onInvoice({
  invoicePaid: over,
  invoiceGivenUp: over,
  invoicePaymentFailed,
  invoiceRefunded,
})

/** A bill is paid, or nobody is asked for it any more. */
async function over(app: App, tx: Tx, occasion: Occasion, invoice: InvoiceRow): Promise<void> {
  const { tenant, nowMs } = occasion
  const { subscription_id: id } = invoice
  if (id === null) return
  const isPaid = invoice.status === 'paid'
  const collecting = { ...tenant, subscription: id, invoice: invoice.id }
  // Not one of ours, or one that is not asked for any more. The account's own may have taken the customer's credit already,
  // and must not wait for the subscription then.
  if (!(await maybe(tx.query(findCollection, collecting)))) return
  const row = await maybe(tx.query(lockSubscription, { ...tenant, id }))
  const ended = await maybe(tx.query(endCollection, collecting))
  if (!row || !ended || row.status === 'cancelled') return
  const { failed } = await one(tx.query(countUnpaid, { ...tenant, subscription: id }))
  const isWell = (row.status === 'incomplete' && isPaid) || (row.status === 'past_due' && failed === 0)
  const changes = isWell ? { status: 'active' as const, ...sinceNow(row, nowMs) } : {}
  // What nobody will pay is not credited when the rest of its period is not used.
  const unpaid = invoice.status === 'void' && row.latest_invoice_id === invoice.id ? { paid_amount: 0n } : {}
  const after = await save(app, tx, occasion, row, { ...changes, ...unpaid })
  if (isPaid && ended.renews) await tellSubscription(app, tx, subscriptionEvents.renewed, occasion, after)
}

/** What was given back of a paid bill is not credited once more when the rest of its period is not used. */
async function invoiceRefunded(app: App, tx: Tx, occasion: Occasion, bill: InvoiceRow): Promise<void> {
  const { id: invoice, subscription_id: id, status } = bill
  // One that is open has it to be paid again.
  if (id === null || status !== 'paid') return
  const row = await maybe(tx.query(lockSubscription, { ...occasion.tenant, id }))
  // What is paid for now may cost nothing, and has no bill of its own then.
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
  // What the customer tried to pay elsewhere is not a charge of ours.
  if (collection?.payment_id !== payment.id) return
  const isAnother = row.method !== payment.method || row.phone !== payment.phone
  if (row.method === 'invoice') {
    const { failures, failed_at: failedAt } = collection
    const collecting = { ...tenant, subscription: id, invoice: invoice.id }
    await tx.query(saveCollection, { ...collecting, payment: null, failures, failedAt, tryAt: null })
    await leaveToCustomer(app, tx, occasion, row, [invoice.id])
  } else if (isAnother) await askTheOther(app, tx, occasion, row, collection)
  else await chargeFailed(app, tx, occasion, row, collection)
}

/** Bills that the customer pays at their links from now on; they are locked, and so is the subscription. */
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

/** While one payer was asked, another one was named, who has not refused anything yet. */
async function askTheOther(
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

/** Asks for the money of a bill once more; its invoice and the subscription are locked. */
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
  const tryAt = row.status === 'incomplete' ? now : askableAt(row, now)
  if (row.method === 'invoice' || invoice.status !== 'open')
    await tx.query(saveCollection, { ...collecting, payment: null, failures, failedAt, tryAt: null })
  else if (tryAt > now) await tx.query(saveCollection, { ...collecting, payment: null, failures, failedAt, tryAt })
  else {
    const due = await giveUncollectableOf(app, tx, occasion, row, invoice)
    // What follows when a bill is paid has been done then.
    if (due.status === 'paid') return
    try {
      const payment = await payInvoice(app, tx, occasion, due, payerOf(row), false)
      passed(recordOf(payment))
      await tx.query(saveCollection, { ...collecting, payment: payment.id, failures, failedAt, tryAt: null })
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      await couldNotAsk(app, tx, occasion, row, due, collection, error)
      return
    }
  }
  await save(app, tx, occasion, row, {})
}

/** Nobody was asked, such as because the card is gone. What was blocked left a payment, which told of it already. */
export async function couldNotAsk(
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

/** A charge was refused. The subscription is locked; an incomplete one waits for the payer to do something else. */
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
  // Whoever comes late, such as after an outage, does not make up for it by asking every minute.
  const waitMs = Math.max(failedAt.getTime() + (wait ?? 0) * dayMs, nowMs + dayMs)
  const tryAt = wait === undefined ? null : askableAt(row, new Date(waitMs))
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
