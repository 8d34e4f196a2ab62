// SPDX-License-Identifier: Apache-2.0
// Invoice objects of replies and events.
import type { Static } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import { formatMicros } from '../../../kernel/money.ts'
import { dayOf } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { one, type Tx } from '../../../platform/db.ts'
import type { EventType, Occasion } from '../../../platform/events.ts'
import { secretName } from '../../../platform/web/secret-name.ts'
import { type PaymentRow, recordOf as paymentRecordOf } from '../../payments/area.ts'
import { type Invoice, invoiceEvents } from '../events.ts'
import type { Item } from './calculation.ts'
import { type InvoiceRow, nextInvoiceSequence, type StoredItem } from './store.ts'

export function invoiceOf(app: App, row: InvoiceRow, nowMs: number): Static<typeof Invoice> {
  const url = row.opened_at === null ? null : payUrl(app, row)
  return {
    invoice_id: idOf('invoice', row.id),
    number: row.number,
    status: row.status,
    customer: row.customer,
    currency: row.currency,
    items: row.items.map((item) => {
      const { description, quantity, unitAmount, discount, taxRate, amount, tax } = itemFrom(item)
      return {
        description,
        quantity: Number(formatMicros(quantity)),
        unit_amount: unitAmount,
        discount,
        tax_rate: Number(formatMicros(taxRate)),
        amount,
        tax,
      }
    }),
    tax_inclusive: row.tax_inclusive,
    subtotal: row.subtotal,
    discount_total: row.discount_total,
    tax_total: row.tax_total,
    total: row.total,
    amount_paid: row.amount_paid,
    amount_due: dueOf(row),
    credit_applied: row.credit_applied,
    amount_refunded: row.amount_refunded,
    overdue: isOverdue(row, nowMs),
    due_date: row.due_date,
    hosted_url: url,
    pdf_url: url && `${url}/invoice.pdf`,
    payments: row.payments.map((payment) => idOf('payment', payment)),
    payment_methods: row.payment_methods,
    notes: row.notes,
    reference: row.reference,
    subscription_id: row.subscription_id && idOf('subscription', row.subscription_id),
    sent_at: row.sent_at,
    paid_at: row.paid_at,
    voided_at: row.voided_at,
    void_reason: row.void_reason,
    metadata: row.metadata,
    created_at: row.created_at,
  }
}

/** Amount still to pay; zero once the invoice is closed. */
export function dueOf({ status, total, amount_paid }: InvoiceRow): bigint {
  return status === 'void' ? 0n : total - amount_paid
}

function isOverdue({ status, due_date }: InvoiceRow, nowMs: number): boolean {
  return status === 'open' && due_date < dayOf(new Date(nowMs))
}

/** Path of the pages of invoices, before their secret names. */
export const payPath = '/pay'

/** Payment address of an invoice. */
export function payUrl(app: App, row: Pick<InvoiceRow, 'bucket' | 'token'>): string {
  return `${app.publicUrl}${payPath}/${secretName(row)}`
}

export function stored({ description, quantity, unitAmount, taxRate, amount, discount, tax }: Item): StoredItem {
  return {
    description,
    quantity: formatMicros(quantity),
    unit_amount: formatMicros(unitAmount),
    tax_rate: formatMicros(taxRate),
    amount: formatMicros(amount),
    discount: formatMicros(discount),
    tax: formatMicros(tax),
  }
}

export function itemFrom(item: StoredItem): Item {
  return {
    description: item.description,
    quantity: microsFrom(item.quantity),
    unitAmount: microsFrom(item.unit_amount),
    taxRate: microsFrom(item.tax_rate),
    amount: microsFrom(item.amount),
    discount: microsFrom(item.discount),
    tax: microsFrom(item.tax),
  }
}

function microsFrom(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.')
  return BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
}

/** Emits an invoice event in the transaction that changed the invoice. */
export async function tellInvoice(
  app: App,
  tx: Tx,
  event: EventType<typeof invoiceEvents.sent.payload>,
  occasion: Occasion,
  row: InvoiceRow,
  payment: PaymentRow | null = null,
): Promise<void> {
  const { callback_url: callbackUrl } = row
  const told = await toldOf(app, tx, occasion, row, payment)
  await app.outbox.emit(tx, event, occasion, told.invoice_id, told, { callbackUrl })
}

/** Emits that an invoice is fully paid, by its last payment or by credit alone. */
export async function tellPaid(
  app: App,
  tx: Tx,
  occasion: Occasion,
  row: InvoiceRow,
  payment: PaymentRow | null,
): Promise<void> {
  const { callback_url: callbackUrl } = row
  const told = { ...(await toldOf(app, tx, occasion, row, payment)), payment: payment && paymentRecordOf(payment) }
  await app.outbox.emit(tx, invoiceEvents.paymentSucceeded, occasion, told.invoice_id, told, { callbackUrl })
}

async function toldOf(app: App, tx: Tx, occasion: Occasion, row: InvoiceRow, payment: PaymentRow | null) {
  const { sequence } = await one(tx.query(nextInvoiceSequence, { ...occasion.tenant, id: row.id }))
  return invoiceEventBody(app, occasion, row, payment, sequence)
}

/** Event payload of an invoice, with its sequence number. */
export function invoiceEventBody(
  app: App,
  { nowMs }: Pick<Occasion, 'nowMs'>,
  row: InvoiceRow,
  payment: PaymentRow | null,
  sequence: number,
) {
  const invoice = invoiceOf(app, row, nowMs)
  const { invoice_id, number, status, amount_paid, total, currency, customer, metadata, subscription_id } = invoice
  const facts = { invoice_id, number, status, amount_paid, total, currency, customer, metadata, subscription_id }
  const payment_id = payment && idOf('payment', payment.id)
  return { livemode: row.environment === 'live', sequence, ...facts, payment_id, invoice }
}

export function invoiceUuid(id: string): string {
  const uuid = uuidOf('invoice', id)
  if (uuid === null) throw noSuchInvoice()
  return uuid
}

/** Id of the invoice that a payment pays. */
export function invoiceIdOf({ id, invoice_id }: PaymentRow): string {
  if (invoice_id === null) throw new Error(`${idOf('payment', id)} is for an invoice and names none`)
  return invoice_id
}

export function noSuchInvoice(): AppError {
  return new AppError('NOT_FOUND', 'there is no such invoice; the ids of invoices begin with inv_')
}

/** Error for an action the invoice's status does not allow. */
export function notWhile({ status }: InvoiceRow, why: string): AppError {
  return new AppError('INVALID_STATE', `the invoice is ${status}; ${why}`, { extra: { status } })
}
