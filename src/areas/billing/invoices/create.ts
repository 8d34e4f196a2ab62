// SPDX-License-Identifier: Apache-2.0
// Creates and opens an invoice: opening assigns its number and applies the customer's credit. One invoice is opened per
// transaction: the number counter is the last lock, so a second invoice would break the lock order.
import { type AppError, alreadyUsed, invalid } from '../../../kernel/errors.ts'
import { idOf, newUuid } from '../../../kernel/ids.ts'
import { numberOf, usualPattern } from '../../../kernel/invoice-number.ts'
import type { Currency } from '../../../kernel/money.ts'
import { dayMs, dayOf } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { newToken } from '../../../platform/web/secret-name.ts'
import { customerFacts, customerFor, type NewCustomer, takeCredit } from '../customers/customer.ts'
import { type Discount, type NewItem, reckon } from './calculation.ts'
import { settled } from './hooks.ts'
import { notWhile, stored } from './invoice.ts'
import { findInvoiceReference, type InvoiceRow, insertInvoice, nextNumbers, openDraft } from './store.ts'

const usualDueDays = 14

export interface NewInvoice {
  customer: NewCustomer
  currency: Currency
  items: readonly NewItem[]
  /** Invoice discount, beside those of the items. */
  discount?: Discount
  /** Whether amounts include tax. */
  taxInclusive?: boolean
  /** Due date, a UTC day; 14 days ahead by default. */
  dueDate?: string
  /** Opens at once; false leaves a draft. A zero invoice, or one that credit covers, is paid at once. */
  open: boolean
  paymentMethods?: readonly string[]
  notes?: string
  reference?: string
  /** UUID. */
  subscriptionId?: string
  callbackUrl?: string
  metadata?: Readonly<Record<string, string | number | boolean>>
}

export async function createInvoice(app: App, tx: Tx, occasion: Occasion, wanted: NewInvoice): Promise<InvoiceRow> {
  const { tenant, receivedMs, nowMs } = occasion
  const { currency, items, discount, taxInclusive = false, reference = null } = wanted
  const figures = reckon({ currency, items, taxInclusive, ...(discount ? { discount } : {}) })
  const today = dayOf(new Date(nowMs))
  const dueDate = wanted.dueDate ?? usualDueDate(nowMs)
  if (dueDate < today) throw invalid('due_date', `must not be before today, ${today}`)
  const metadata = JSON.stringify(wanted.metadata ?? {})
  const customer = await customerFor(tx, occasion, wanted.customer)
  const draft = await maybe(
    tx.query(insertInvoice, {
      ...tenant,
      id: newUuid(receivedMs),
      customer_id: customer.id,
      customer: JSON.stringify(customerFacts(customer)),
      currency,
      items: JSON.stringify(figures.items.map(stored)),
      tax_inclusive: taxInclusive,
      ...{ subtotal: figures.subtotal, discount_total: figures.discountTotal },
      ...{ tax_total: figures.taxTotal, total: figures.total },
      due_date: dueDate,
      payment_methods: wanted.paymentMethods ?? null,
      notes: wanted.notes ?? null,
      reference,
      subscription_id: wanted.subscriptionId ?? null,
      callback_url: wanted.callbackUrl ?? null,
      metadata,
      token: newToken(),
      at: new Date(nowMs),
    }),
  )
  if (!draft) throw await usedBefore(tx, occasion, reference ?? '')
  return wanted.open ? openInvoice(app, tx, occasion, draft) : draft
}

/** Default due date. */
export function usualDueDate(nowMs: number): string {
  return dayOf(new Date(nowMs + usualDueDays * dayMs))
}

/** Opens a draft whose row is locked or new. */
export async function openInvoice(app: App, tx: Tx, occasion: Occasion, draft: InvoiceRow): Promise<InvoiceRow> {
  const { tenant, nowMs } = occasion
  const { id, customer_id: customerId, currency, total } = draft
  const credit = await takeCredit(tx, occasion, { customerId, currency, sourceId: id, step: 'apply' }, total)
  const { last, pattern } = await one(tx.query(nextNumbers, { ...tenant, count: 1 }))
  const at = new Date(nowMs)
  const number = numberOf(pattern ?? usualPattern, last, at)
  const open = await maybe(tx.query(openDraft, { ...tenant, id, number, credit, at }))
  if (!open) throw notWhile(draft, 'only a draft can be opened')
  return settled(app, tx, occasion, open, null)
}

async function usedBefore(tx: Tx, { tenant }: Occasion, reference: string): Promise<AppError> {
  const { id, status } = await one(tx.query(findInvoiceReference, { ...tenant, reference }))
  return alreadyUsed(`the reference ${reference}`, idOf('invoice', id), status)
}
