// SPDX-License-Identifier: Apache-2.0
// Payments from the forms of the invoice page: a request to a phone, a bank account for a transfer, or a card charge. A
// card number is held in the memory of the request only and sent to the acquirer.
import { AppError } from '../../../kernel/errors.ts'
import { firstUuidAt } from '../../../kernel/ids.ts'
import { formatMicros } from '../../../kernel/money.ts'
import { hourMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import {
  countOfInvoice,
  findUnderWay,
  sendNow,
  underWay,
  type Wanted,
  type WaysToPay,
  wantedIn,
  waysFor,
} from '../../payments/area.ts'
import { dueOf } from './invoice.ts'
import type { Shown } from './page.ts'
import { type InvoicePayment, payInvoice } from './pay.ts'
import { type InvoiceRow, lockInvoice } from './store.ts'

/** Pending payments per invoice, and payments per hour. */
const mostUnderWay = 3
const mostPerHour = 20

export interface Found extends Shown {
  readonly tenant: Tenant
  readonly occasion: Occasion
  /** The account is suspended and may not collect. */
  readonly isSuspended: boolean
}

/** Payment methods available for an invoice now. */
export function waysOf(app: App, { tenant, invoice, isSuspended }: Found): WaysToPay {
  const { payment_methods, currency } = invoice
  return waysFor(app, tenant, { currency, micros: dueOf(invoice), methods: isSuspended ? [] : payment_methods })
}

/** Store the payment of a form, or find the one the same form made before; returns its id. */
export async function payByForm(app: App, found: Found, form: URLSearchParams): Promise<string> {
  const { invoice, tenant, path, lang } = found
  const wanted = wantedIn(form, waysOf(app, found))
  // A bank transfer has no redirect.
  const returns = wanted.method === 'bank_transfer' ? {} : { return_url: `${app.publicUrl}${path}${lang}` }
  const how = { ...wanted, ...returns }
  const { id, isNew } = await begin(app, found, how, (tx) => before(tx, found, wanted))
  // Cards are charged in this request; other methods by a job.
  if (isNew && how.card !== undefined) {
    const { currency } = invoice
    await sendNow(app, { tenant }, id, { ...how, amount: formatMicros(dueOf(invoice)), currency })
  }
  return id
}

/**
 * Pending payment that the same form would repeat: a phone is not asked twice at once, a card form sent twice charges
 * once, and all viewers see the same unpaid bank account.
 */
function before(tx: Tx, { invoice, tenant }: Found, { method, phone }: Wanted): Promise<{ id: string } | null> {
  if (phone !== undefined) return findUnderWay(tx, tenant, invoice.id, { phone })
  const states = method === 'card' ? (['pending', 'processing'] as const) : underWay
  return findUnderWay(tx, tenant, invoice.id, { method, in: states })
}

async function begin(
  app: App,
  { invoice, tenant, occasion }: Found,
  how: InvoicePayment,
  before: (tx: Tx) => Promise<{ id: string } | null>,
): Promise<{ id: string; isNew: boolean }> {
  return app.db.tx(tenant, async (tx) => {
    const locked = await maybe(tx.query(lockInvoice, { ...tenant, id: invoice.id }))
    if (!locked) throw nothingHere()
    const waiting = await before(tx)
    if (waiting) return { id: waiting.id, isNew: false }
    await requireFewPayments(tx, occasion, locked)
    const { id } = await payInvoice(app, tx, occasion, locked, how, how.card !== undefined)
    return { id, isNew: true }
  })
}

async function requireFewPayments(tx: Tx, { tenant, receivedMs }: Occasion, { id }: InvoiceRow): Promise<void> {
  const since = firstUuidAt(receivedMs - hourMs)
  const [count] = await tx.query(countOfInvoice, { ...tenant, invoice: id, since })
  if (count && (count.under_way >= mostUnderWay || count.recent >= mostPerHour))
    throw new AppError('RATE_LIMITED', 'there were too many attempts to pay this invoice; wait a while', {
      retryAfterSeconds: 60,
    })
}

export function nothingHere(): AppError {
  return new AppError('NOT_FOUND', 'there is no such page')
}
