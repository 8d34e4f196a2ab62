// SPDX-License-Identifier: Apache-2.0
// Payments from the forms of the invoice page: a request to a phone, a bank account for a transfer, or a card charge.
import { AppError } from '../../../kernel/errors.ts'
import { firstUuidAt } from '../../../kernel/ids.ts'
import { hourMs } from '../../../kernel/time.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, type Tx } from '../../../platform/db.ts'
import type { Occasion } from '../../../platform/events.ts'
import { countOfInvoice, type FormPayment, findUnderWay, nothingHere, underWay } from '../../payments/area.ts'
import type { Shown } from './page.ts'
import { payInvoice } from './pay.ts'
import { type InvoiceRow, lockInvoice } from './store.ts'

/** Pending payments per invoice, and payments per hour. */
const maxUnderWay = 3
const maxPerHour = 20

/** Stores the payment of a form, or finds the one the same form made before. */
export async function begin(
  app: App,
  { invoice, tenant, occasion }: Shown,
  how: FormPayment,
): Promise<{ id: string; isNew: boolean }> {
  return app.db.tx(tenant, async (tx) => {
    const locked = await maybe(tx.query(lockInvoice, { ...tenant, id: invoice.id }))
    if (!locked) throw nothingHere()
    const waiting = await before(tx, occasion, locked, how)
    if (waiting) return { id: waiting.id, isNew: false }
    await requireFewPayments(tx, occasion, locked)
    const { id } = await payInvoice(app, tx, occasion, locked, how, how.card !== undefined)
    return { id, isNew: true }
  })
}

/**
 * Pending payment that the same form would repeat: a phone is not asked twice at once, a card form sent twice charges
 * once, and all viewers see the same unpaid bank account.
 */
function before(
  tx: Tx,
  { tenant }: Occasion,
  { id }: InvoiceRow,
  { method, phone }: FormPayment,
): Promise<{ id: string } | null> {
  if (phone !== undefined) return findUnderWay(tx, tenant, id, { phone })
  const states = method === 'card' ? (['pending', 'processing'] as const) : underWay
  return findUnderWay(tx, tenant, id, { method, in: states })
}

async function requireFewPayments(tx: Tx, { tenant, receivedMs }: Occasion, { id }: InvoiceRow): Promise<void> {
  const since = firstUuidAt(receivedMs - hourMs)
  const [count] = await tx.query(countOfInvoice, { ...tenant, invoice: id, since })
  if (count && (count.under_way >= maxUnderWay || count.recent >= maxPerHour))
    throw new AppError('RATE_LIMITED', 'too many attempts to pay this invoice; try again later', {
      retryAfterSeconds: 60,
    })
}
