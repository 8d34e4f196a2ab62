// SPDX-License-Identifier: Apache-2.0
// Batch of invoices of one account, as at the turn of a month: open from the start, their numbers taken as one range.
// Rare cases, such as applying credit, go through `create.ts` one by one.
import { newUuid } from '../../../kernel/ids.ts'
import { numberOf, usualPattern } from '../../../kernel/invoice-number.ts'
import type { Currency } from '../../../kernel/money.ts'
import type { App } from '../../../platform/app.ts'
import { one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { newToken } from '../../../platform/web/secret-name.ts'
import type { CustomerRow } from '../../customers/area.ts'
import { customerFacts } from '../customers/customer.ts'
import { invoiceEvents } from '../events.ts'
import type { Figures } from './calculation.ts'
import { usualDueDate } from './create.ts'
import { invoiceEventBody, stored } from './invoice.ts'
import { type InvoiceRow, insertOpenInvoices, nextNumbers } from './store.ts'

export interface NewOpenInvoice {
  customer: CustomerRow
  currency: Currency
  /** Totals above zero: a zero invoice would be paid at once. */
  figures: Figures
  taxInclusive: boolean
  /** UUID. */
  subscriptionId: string
  callbackUrl: string | null
  /** The account delivers the link itself and gets an event. */
  isTold: boolean
}

/** Inserts invoices and returns them in order. The number counter stays locked until the transaction ends. */
export async function createInvoices(
  app: App,
  tx: Tx,
  occasion: Occasion,
  wanted: readonly NewOpenInvoice[],
): Promise<InvoiceRow[]> {
  if (wanted.length === 0) return []
  const { tenant, receivedMs, nowMs } = occasion
  const at = new Date(nowMs)
  const { last, pattern } = await one(tx.query(nextNumbers, { ...tenant, count: wanted.length }))
  const first = last - BigInt(wanted.length) + 1n
  const invoices = wanted.map(({ customer, figures, ...rest }, i) => ({
    id: newUuid(receivedMs),
    number: numberOf(pattern ?? usualPattern, first + BigInt(i), at),
    customer_id: customer.id,
    customer: customerFacts(customer),
    currency: rest.currency,
    items: figures.items.map(stored),
    tax_inclusive: rest.taxInclusive,
    subtotal: figures.subtotal.toString(),
    discount_total: figures.discountTotal.toString(),
    tax_total: figures.taxTotal.toString(),
    total: figures.total.toString(),
    subscription_id: rest.subscriptionId,
    callback_url: rest.callbackUrl,
    token: `\\x${newToken().toString('hex')}`,
    sequence: rest.isTold ? 1 : 0,
  }))
  const dueDate = usualDueDate(nowMs)
  const made = await tx.query(insertOpenInvoices, { ...tenant, invoices: JSON.stringify(invoices), dueDate, at })
  const byId = new Map(made.map((row) => [row.id, row]))
  const rows = invoices.map(({ id }) => {
    const row = byId.get(id)
    if (!row) throw new Error('an invoice that was written was not given back')
    return row
  })
  await tellOpened(app, tx, occasion, rows)
  return rows
}

async function tellOpened(app: App, tx: Tx, occasion: Occasion, rows: readonly InvoiceRow[]): Promise<void> {
  const told = rows.filter(({ sequence }) => sequence > 0)
  const events = told.map((row) => {
    const payload = invoiceEventBody(app, occasion, row, null, row.sequence)
    const { callback_url: callbackUrl } = row
    return app.outbox.prepare(invoiceEvents.opened, occasion, payload.invoice_id, payload, { callbackUrl })
  })
  await app.outbox.emitAll(tx, events)
}
