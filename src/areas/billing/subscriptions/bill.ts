// SPDX-License-Identifier: Apache-2.0
// Bill a subscription: an invoice for a period or part of one, and its payment. Period, invoice, payment and next
// renewal job commit together, so that nothing is billed twice or halfway.
import { AppError } from '../../../kernel/errors.ts'
import { idOf } from '../../../kernel/ids.ts'
import { formatMicros, least } from '../../../kernel/money.ts'
import { placeOf } from '../../../kernel/phone.ts'
import { zoneOf } from '../../../kernel/time-zones.ts'
import { currencyOf } from '../../../ledger/currencies.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import { passed, recordOf, uncollectableOf } from '../../payments/area.ts'
import { addCredit, takeCredit, unusedStep } from '../customers/customer.ts'
import { lockCredit } from '../customers/store.ts'
import { invoiceEvents } from '../events.ts'
import { type Figures, type NewItem, reckon } from '../invoices/calculation.ts'
import { createInvoice } from '../invoices/create.ts'
import { settled } from '../invoices/hooks.ts'
import { dueOf, itemFrom, tellInvoice } from '../invoices/invoice.ts'
import { mailToCustomer } from '../invoices/mail.ts'
import { type InvoicePayment, payInvoice } from '../invoices/pay.ts'
import { applyCredit, findInvoice, type InvoiceRow } from '../invoices/store.ts'
import { intervalAt, type Period, wallDay, withinHours } from '../plans/calendar.ts'
import type { PlanRow } from '../plans/store.ts'
import { priceOfPart } from './proration.ts'
import { insertCollection, insertPeriod, type SubscriptionRow, type SubscriptionState } from './store.ts'
import { calendarOf } from './subscription.ts'

/** Hours of the payer's day in which a phone may get an unexpected payment request. */
const firstHour = 8
const lastHour = 20
/** Invoice line of the one-time fee; lines of periods state their dates. */
const setupFee = 'Setup fee'

export interface Billed {
  changes: Partial<SubscriptionState>
  /** Invoice of the period; null when nothing was to be billed. */
  invoice: InvoiceRow | null
  /** Why the payer could not be charged; null on success or when the charge is scheduled for later. */
  refusal: AppError | null
}

export interface Billing {
  /** Start of the period. */
  start: Date
  /** Whether the one-time fee is included. */
  isFirst?: boolean
  /** Charge at any hour, because the payer has just subscribed. */
  isExpected?: boolean
}

/** Begins the period from a moment to the next boundary and bill it; null when another transaction did. */
export async function beginPeriod(
  app: App,
  tx: Tx,
  occasion: Occasion,
  row: SubscriptionRow,
  plan: PlanRow,
  { start, isFirst = false, isExpected = false }: Billing,
): Promise<Billed | null> {
  const whole = intervalAt(calendarOf(row), start)
  const { end } = whole
  const cycle = row.cycle + 1
  if (!(await maybe(tx.query(insertPeriod, { ...occasion.tenant, subscription: row.id, cycle, start, end }))))
    return null
  const isPart = start > whole.start
  const price = isPart ? priceOfPart(row.amount, currencyOf(row.currency), whole, start, end) : row.amount
  const isFree = isPart && row.proration === 'none'
  const items = isFree ? [] : [isPart ? partOf(row, plan, price, start, end) : wholeOf(row, plan, start, end)]
  if (isFirst && plan.setup_fee > 0n)
    items.push({ ...taxed(plan), description: setupFee, unit_amount: formatMicros(plan.setup_fee) })
  const begun = { cycle, period_start: start, period_end: end, paid_from: start, paid_amount: 0n }
  if (items.length === 0) return { changes: begun, invoice: null, refusal: null }
  const figures = reckon(reckoningOf(row, plan, items))
  const paid_amount = isFree ? 0n : grossOfFirst(figures, plan)
  const billed = await bill(app, tx, occasion, row, plan, { items, renews: !isFirst, isExpected })
  return { ...billed, changes: { ...begun, paid_amount, ...billed.changes } }
}

/** Next period of a subscription with its totals. */
export interface PlainPeriod extends Period {
  cycle: number
  figures: Figures
  paidAmount: bigint
}

/** Next period if it is whole, costs something and can be charged as it is; null where billing needs `beginPeriod`. */
export function plainPeriodOf(app: App, tenant: Tenant, row: SubscriptionRow, plan: PlanRow): PlainPeriod | null {
  const { period_end: start } = row
  const { start: boundary, end } = intervalAt(calendarOf(row), start)
  if (boundary.getTime() !== start.getTime()) return null
  const figures = reckon(reckoningOf(row, plan, [wholeOf(row, plan, start, end)]))
  if (figures.total === 0n) return null
  if (uncollectableOf(app, tenant, row, { currency: currencyOf(row.currency), micros: figures.total }) > 0n) return null
  return { cycle: row.cycle + 1, start, end, figures, paidAmount: grossOfFirst(figures, plan) }
}

/** Bill the rest of the current period at another price. */
export async function billRest(
  app: App,
  tx: Tx,
  occasion: Occasion,
  row: SubscriptionRow,
  plan: PlanRow,
  from: Date,
): Promise<Billed> {
  const { period_start, period_end: end } = row
  const whole = intervalAt(calendarOf(row), period_start)
  const price = priceOfPart(row.amount, currencyOf(row.currency), whole, from, end)
  const begun = { paid_from: from, paid_amount: 0n }
  if (price === 0n) return { changes: begun, invoice: null, refusal: null }
  const items = [partOf(row, plan, price, from, end)]
  const paid_amount = grossOfFirst(reckon(reckoningOf(row, plan, items)), plan)
  const billed = await bill(app, tx, occasion, row, plan, { items, renews: false, isExpected: true })
  return { ...billed, changes: { ...begun, paid_amount, ...billed.changes } }
}

/** Credit for the unused rest of a billed period, tax included. */
export function unusedOf(
  {
    paid_amount,
    paid_from,
    period_end,
    currency,
  }: Pick<SubscriptionRow, 'paid_amount' | 'paid_from' | 'period_end' | 'currency'>,
  from: Date,
): bigint {
  const billed = { start: paid_from, end: period_end }
  return priceOfPart(paid_amount, currencyOf(currency), billed, from, period_end)
}

/** Part of a paid bill that is for its period and not refunded; other parts, such as the fee, are refunded first. */
export function paidForPeriod({ items: [first], tax_inclusive, amount_paid, amount_refunded }: InvoiceRow): bigint {
  if (!first || first.description === setupFee) return 0n
  const { amount, tax } = itemFrom(first)
  return least(amount + (tax_inclusive ? 0n : tax), amount_paid - amount_refunded)
}

/** Credits a customer for the unused rest of a period; stored under the bill, where a refund of it looks. */
export async function creditUnused(tx: Tx, occasion: Occasion, row: SubscriptionRow, from: Date): Promise<void> {
  const { customer_id: customerId, currency, latest_invoice_id: sourceId } = row
  if (sourceId === null) return
  // A written-off bill was not paid, unless the money came later.
  const bill = await maybe(tx.query(findInvoice, { ...occasion.tenant, id: sourceId }))
  if (bill?.status === 'uncollectible') return
  await addCredit(tx, occasion, { customerId, currency, sourceId, step: unusedStep }, unusedOf(row, from))
}

/** Error without the payment id: the transaction that created the payment is rolled back. */
export function undone({ code, details, extras }: AppError): AppError {
  const { payment_id: _, ...extra } = extras.extra ?? {}
  return new AppError(code, details, { ...extras, extra })
}

/** Price of a whole period, tax included. */
export function grossOf(row: Pick<SubscriptionRow, 'currency' | 'quantity'>, plan: PlanRow, withFee: boolean): bigint {
  const items: NewItem[] = [{ ...taxed(plan), description: '', ...quantityOf(row, plan) }]
  if (withFee) items.push({ ...taxed(plan), description: '', unit_amount: formatMicros(plan.setup_fee) })
  return reckon(reckoningOf(row, plan, items)).total
}

/** First moment at or after `at` when the payer may be charged. */
export function chargeableAt({ phone, time_zone }: Pick<SubscriptionRow, 'phone' | 'time_zone'>, at: Date): Date {
  // A card charge rings no phone, so it may run at any hour.
  if (phone === null) return at
  return withinHours(at, zoneOf(placeOf(phone).country) ?? time_zone, firstHour, lastHour)
}

/** Payment method of a subscription. */
export function payerOf({ method, card_token, phone, provider }: SubscriptionRow): InvoicePayment {
  if (card_token !== null) return { method: 'card', card_token }
  if (phone === null) throw new Error(`a subscription that is paid by ${method} cannot be charged`)
  return { phone, ...(provider === null ? {} : { provider }) }
}

async function bill(
  app: App,
  tx: Tx,
  occasion: Occasion,
  row: SubscriptionRow,
  plan: PlanRow,
  { items, renews, isExpected }: { items: readonly NewItem[]; renews: boolean; isExpected: boolean },
): Promise<Billed> {
  const { tenant, nowMs } = occasion
  const reckoning = reckoningOf(row, plan, items)
  if (row.method !== 'invoice') await waiveUncollectable(app, tx, occasion, row, reckon(reckoning).total)
  const invoice = await createInvoice(app, tx, occasion, {
    ...reckoning,
    customer: { customer_id: idOf('customer', row.customer_id) },
    subscriptionId: row.id,
    open: true,
    ...(row.callback_url === null ? {} : { callbackUrl: row.callback_url }),
  })
  const changes = { latest_invoice_id: invoice.id }
  if (invoice.status === 'paid') return { changes, invoice, refusal: null }
  const collecting = { ...tenant, subscription: row.id, invoice: invoice.id, renews }
  if (row.method === 'invoice') {
    await tx.query(insertCollection, { ...collecting, payment: null, tryAt: null })
    await tellInvoice(app, tx, invoiceEvents.opened, occasion, invoice)
    await mailToCustomer(app, tx, tenant, invoice)
    return { changes, invoice, refusal: null }
  }
  const now = new Date(nowMs)
  const tryAt = isExpected ? now : chargeableAt(row, now)
  if (tryAt > now) {
    await tx.query(insertCollection, { ...collecting, payment: null, tryAt })
    return { changes, invoice, refusal: null }
  }
  try {
    const payment = await payInvoice(app, tx, occasion, invoice, payerOf(row), false)
    passed(recordOf(payment))
    await tx.query(insertCollection, { ...collecting, payment: payment.id, tryAt: null })
    return { changes, invoice, refusal: null }
  } catch (refusal) {
    // Continue only when the provider was not called.
    if (!(refusal instanceof AppError)) throw refusal
    await tx.query(insertCollection, { ...collecting, payment: null, tryAt: null })
    return { changes, invoice, refusal }
  }
}

/**
 * Waive the uncollectable rest of a bill: some providers take whole units only and all have a minimum. The rest is
 * credited to the customer.
 */
async function waiveUncollectable(
  app: App,
  tx: Tx,
  occasion: Occasion,
  row: SubscriptionRow,
  total: bigint,
): Promise<void> {
  const { customer_id: customerId, currency, cycle, id } = row
  const inHand = await maybe(tx.query(lockCredit, { ...occasion.tenant, customer: customerId, currency }))
  const left = uncollectableOf(app, occasion.tenant, row, {
    currency: currencyOf(row.currency),
    micros: total - (inHand?.balance ?? 0n),
  })
  const step = `rounding:${cycle}:${occasion.receivedMs}`
  await addCredit(tx, occasion, { customerId, currency, sourceId: id, step }, left)
}

/**
 * Waive the uncollectable rest of an open, locked bill before the next charge, whose provider may have another minimum.
 * Returns the updated bill, paid when nothing is left.
 */
export async function waiveUncollectableOf(
  app: App,
  tx: Tx,
  occasion: Occasion,
  row: SubscriptionRow,
  invoice: InvoiceRow,
): Promise<InvoiceRow> {
  const { tenant, receivedMs, nowMs } = occasion
  const credit = uncollectableOf(app, tenant, row, { currency: currencyOf(row.currency), micros: dueOf(invoice) })
  if (credit === 0n) return invoice
  const { id, customer_id: customerId, currency } = invoice
  const step = (name: string) => ({ customerId, currency, sourceId: id, step: `${name}:${receivedMs}` })
  await addCredit(tx, occasion, step('rounding'), credit)
  await takeCredit(tx, occasion, step('apply'), credit)
  return settled(
    app,
    tx,
    occasion,
    await one(tx.query(applyCredit, { ...tenant, id, credit, at: new Date(nowMs) })),
    null,
  )
}

function reckoningOf(
  { currency }: Pick<SubscriptionRow, 'currency'>,
  { tax_inclusive: taxInclusive }: PlanRow,
  items: readonly NewItem[],
) {
  return { currency: currencyOf(currency), items, taxInclusive }
}

function wholeOf(row: SubscriptionRow, plan: PlanRow, start: Date, end: Date): NewItem {
  return { ...taxed(plan), description: `${plan.name} (${span(row, start, end)})`, ...quantityOf(row, plan) }
}

function partOf(row: SubscriptionRow, plan: PlanRow, price: bigint, start: Date, end: Date): NewItem {
  const many = row.quantity === 1 ? '' : `${row.quantity} × `
  const description = `${many}${plan.name} (part of a period, ${span(row, start, end)})`
  return { ...taxed(plan), description, unit_amount: formatMicros(price) }
}

function quantityOf({ quantity }: Pick<SubscriptionRow, 'quantity'>, { amount }: PlanRow) {
  return { quantity, unit_amount: formatMicros(amount) }
}

function taxed({ tax_rate }: PlanRow) {
  return { tax_rate: formatMicros(tax_rate) }
}

function grossOfFirst({ items: [first] }: Figures, { tax_inclusive }: PlanRow): bigint {
  return first ? first.amount + (tax_inclusive ? 0n : first.tax) : 0n
}

/** Dates in the account's time zone. */
function span({ time_zone }: SubscriptionRow, start: Date, end: Date): string {
  return `${wallDay(start, time_zone)} to ${wallDay(end, time_zone)}`
}
