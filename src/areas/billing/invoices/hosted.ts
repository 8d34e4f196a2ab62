// SPDX-License-Identifier: Apache-2.0
// Hosted payment page of an invoice, and the invoice as PDF beside it.

import { inMemory } from '../../../platform/api/download.ts'
import { type HookCall, hook } from '../../../platform/api/hook.ts'
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import { secretNamed } from '../../../platform/web/secret-name.ts'
import { hostedCheckout, visitOf } from '../../payments/area.ts'
import { begin } from './hosted-pay.ts'
import { dueOf, payPath } from './invoice.ts'
import { backLink, invoiceContent, type Shown } from './page.ts'
import { invoiceTexts } from './page-texts.ts'
import { renderInvoice } from './render.ts'
import { findInvoiceByToken } from './store.ts'

/** Page views per invoice and minute: a page that polls a payment loads twenty times. */
const viewsPerMinute = 240
/** PDFs per invoice and minute, and per IP address, which a whole network may share. */
const pdfsPerMinute = 30
const pdfsPerAddress = 60
/** Forms per invoice and minute, and per IP address, which a whole network may share. */
const paymentsPerMinute = 6
const paymentsPerAddress = 60

const pages = hostedCheckout<Shown>({
  path: payPath,
  show: { operation: 'billing.showInvoice', summary: 'Show an invoice to its payer' },
  pay: { operation: 'billing.payInvoice', summary: 'Pay an invoice from its page' },
  follow: { operation: 'billing.followPayment', summary: 'Get the state of an invoice payment' },
  limits: {
    views: { name: 'invoice-view', by: 'token', perMinute: viewsPerMinute },
    forms: [
      { name: 'invoice-pay', by: 'token', perMinute: paymentsPerMinute },
      { name: 'pay-address', by: 'address', perMinute: paymentsPerAddress },
    ],
  },
  find: invoiceAt,
  isOpen: ({ amount }) => amount !== 0n,
  content: invoiceContent,
  begin,
  isPaymentOf: ({ invoice }, { invoice_id }) => invoice_id === invoice.id,
  afterwards: async (_app, shown) => backLink(shown),
  missing: ({ words }) => words(invoiceTexts)('noSuchInvoice'),
})

const invoiceFile = hook({
  methods: ['GET', 'HEAD'],
  path: '/pay/:token/invoice.pdf',
  operation: 'billing.invoiceFile',
  summary: 'Download an invoice as PDF',
  maxBytes: 1,
  limits: [
    { name: 'invoice-pdf', by: 'token', perMinute: pdfsPerMinute },
    { name: 'pdf-address', by: 'address', perMinute: pdfsPerAddress },
  ],
  handle: async (app, call) => {
    const { invoice, accountName, brand } = await pages.at(app, call)
    const name = `${invoice.number ?? 'invoice'}.pdf`
    const pdf = await renderInvoice(app, invoice, accountName, brand)
    return inMemory(pdf, {
      type: 'application/pdf',
      name,
      disposition: 'inline',
      headers: { 'x-robots-tag': 'noindex' },
    })
  },
  refused: pages.refused,
})

export const invoiceHooks = [...pages.hooks, invoiceFile]

async function invoiceAt(app: App, call: HookCall<{ token: string }>): Promise<Shown | null> {
  const place = secretNamed(call.params.token)
  const invoice = place && (await maybe(app.db.query(findInvoiceByToken, place)))
  if (!invoice) return null
  const { account_name, number } = invoice
  return {
    ...visitOf(call, payPath, invoice),
    invoice,
    title: `${account_name}: ${number}`,
    amount: dueOf(invoice),
  }
}
