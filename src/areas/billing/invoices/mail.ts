// SPDX-License-Identifier: Apache-2.0
// Jobs that mail invoices: bills of subscriptions paid by invoice, and receipts of mailed invoices. The job is written
// in the causing transaction; failing mail blocks nothing else.

import { Type } from 'typebox'
import { AppError } from '../../../kernel/errors.ts'
import type { App } from '../../../platform/app.ts'
import { maybe, one, type Tx } from '../../../platform/db.ts'
import { occasionNow } from '../../../platform/events.ts'
import { OneOf } from '../../../platform/schema/fields.ts'
import type { Tenant } from '../../../platform/tenant.ts'
import type { Job } from '../../../platform/work.ts'
import { holdClock } from '../clock.ts'
import { deliverInvoice, deliverReceipt } from './deliver.ts'
import { noteInvoiceSent } from './note-sent.ts'
import { findInvoice, type InvoiceRow } from './store.ts'

const mailing = {
  lane: 'billing.mail_invoice',
  payload: Type.Object({ invoice: Type.String(), what: OneOf(['invoice', 'receipt']) }),
}

/** Queues mailing an open invoice, if the customer has an email address. */
export async function mailToCustomer(app: App, tx: Tx, tenant: Tenant, invoice: InvoiceRow): Promise<void> {
  if (invoice.customer.email !== undefined) await mailLater(app, tx, tenant, { invoice: invoice.id, what: 'invoice' })
}

/** Queues mailing the receipt to where the invoice was mailed. */
export async function mailReceipt(app: App, tx: Tx, tenant: Tenant, invoice: InvoiceRow): Promise<void> {
  if (invoice.mailed_to !== null) await mailLater(app, tx, tenant, { invoice: invoice.id, what: 'receipt' })
}

async function mailLater(
  app: App,
  tx: Tx,
  tenant: Tenant,
  payload: { invoice: string; what: 'invoice' | 'receipt' },
): Promise<void> {
  const job = app.work.prepare(mailing, tenant, payload)
  await app.work.add(tx, job)
  tx.afterCommit(() => app.work.begin(job))
}

export const mailInvoiceJob: Job<App, typeof mailing.payload> = {
  ...mailing,
  role: 'timers',
  concurrency: 8,
  retrySeconds: [30, 300, 1_800],
  async handle(app, { tenant, payload, failures }) {
    if (!tenant) throw new Error('an invoice belongs to an account')
    const invoice = await maybe(app.db.query(findInvoice, { ...tenant, id: payload.invoice }))
    const { offset_ms, is_suspended } = await one(app.db.query(holdClock, tenant))
    if (!invoice || is_suspended) return { kind: 'done' }
    const sending = { ...occasionNow(app.clock, tenant, offset_ms), actor: '', ip: '' }
    // The space keeps the key apart from the idempotency keys of requests.
    const key = `${payload.what} ${payload.invoice}`
    try {
      if (payload.what === 'receipt') await deliverReceipt(app, sending, invoice, key)
      else if (invoice.status === 'open' && invoice.customer.email !== undefined) {
        const { email } = invoice.customer
        await deliverInvoice(app, sending, invoice, { email }, key)
        await app.db.tx(tenant, (tx) => noteInvoiceSent(app, tx, sending, invoice, email))
      }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      const isTemporary = error.code === 'PROVIDER_UNAVAILABLE' || error.code === 'SERVICE_UNAVAILABLE'
      if (isTemporary && failures < mailInvoiceJob.retrySeconds.length) return { kind: 'retry', reason: error.code }
      app.log.info(
        { code: error.code },
        'invoice not mailed: the account can send it again; check the account’s sending domain and wallet',
      )
    }
    return { kind: 'done' }
  },
}
