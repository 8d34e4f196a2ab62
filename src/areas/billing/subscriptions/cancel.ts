// SPDX-License-Identifier: Apache-2.0
// Ends a subscription: now, at the end of its period, or because it was never paid. Unpaid bills stay owed but are not
// charged any more; a first bill never paid is voided.
import { refuseCardNumbers } from '../../../kernel/card.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { subscriptionEvents } from '../events.ts'
import { type InvoiceRow, lockInvoice } from '../invoices/store.ts'
import { voidInvoice } from '../invoices/void.ts'
import { creditUnused } from './bill.ts'
import { save } from './schedule.ts'
import { countUnpaid, endCollections, firstCollection, lockSubscription, type SubscriptionRow } from './store.ts'
import { requireStatus, requireSubscription, tellSubscription, wholeSecond } from './subscription.ts'

export interface Cancelling {
  atPeriodEnd: boolean
  reason: string | null
  /** Credits the paid and unused time to the customer. */
  prorates: boolean
}

export async function cancelSubscription(
  app: App,
  tx: Tx,
  occasion: Occasion,
  given: string,
  { atPeriodEnd, reason, prorates }: Cancelling,
): Promise<SubscriptionRow> {
  const { tenant, nowMs } = occasion
  refuseCardNumbers({ reason })
  const seen = await requireSubscription(tx, tenant, given)
  const { id } = seen
  const invoice = await firstBill(tx, occasion, seen)
  const row = await one(tx.query(lockSubscription, { ...tenant, id }))
  if (row.status === 'cancelled') return row
  if (atPeriodEnd) {
    requireStatus(row, ['active', 'trialing', 'past_due', 'paused'])
    return save(app, tx, occasion, row, { cancel_at_period_end: true, cancel_reason: reason })
  }
  const { unpaid } = await one(tx.query(countUnpaid, { ...tenant, subscription: id }))
  if (prorates && unpaid === 0) await creditUnused(tx, occasion, row, wholeSecond(nowMs))
  return end(app, tx, occasion, row, reason, invoice)
}

/** Locks the unpaid first bill of an incomplete subscription; bills are locked before subscriptions. */
export async function firstBill(
  tx: Tx,
  { tenant }: Occasion,
  { id, status }: SubscriptionRow,
): Promise<InvoiceRow | null> {
  if (status !== 'incomplete') return null
  const collection = await maybe(tx.query(firstCollection, { ...tenant, subscription: id }))
  return collection && maybe(tx.query(lockInvoice, { ...tenant, id: collection.invoice_id }))
}

/** Ends a subscription whose row is locked; `invoice` is its unpaid first bill, if any. */
export async function end(
  app: App,
  tx: Tx,
  occasion: Occasion,
  row: SubscriptionRow,
  reason: string | null,
  invoice: InvoiceRow | null = null,
): Promise<SubscriptionRow> {
  const { tenant, nowMs } = occasion
  await tx.query(endCollections, { ...tenant, subscription: row.id })
  const isUnpaid = invoice?.status === 'open' && invoice.amount_paid === invoice.credit_applied
  if (row.status === 'incomplete' && invoice && isUnpaid)
    await voidInvoice(app, tx, occasion, invoice, 'the subscription was not paid')
  const cancelled_at = new Date(nowMs)
  const changes = { status: 'cancelled', cancelled_at, cancel_reason: reason } as const
  const ended = await save(app, tx, occasion, row, changes)
  await tellSubscription(app, tx, subscriptionEvents.cancelled, occasion, ended)
  return ended
}
