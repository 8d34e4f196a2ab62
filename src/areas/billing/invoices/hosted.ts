// SPDX-License-Identifier: Apache-2.0
// Hosted payment page of an invoice. Its address is the only authorisation: no session exists, so cross-site form posts
// gain nothing over a link. Abuse by prompting phones or testing cards is rate limited per invoice, per IP address and
// by pending payments.
import { AppError } from '../../../kernel/errors.ts'
import { idOf, uuidOf } from '../../../kernel/ids.ts'
import type { App } from '../../../platform/app.ts'
import { maybe } from '../../../platform/db.ts'
import { type HookAnswer, type HookCall, hook, pagesPerAddress, redirect } from '../../../platform/hook.ts'
import { inMemory } from '../../../platform/http/download.ts'
import { tenantOf } from '../../../platform/tenant.ts'
import { askedBy, chosen } from '../../../platform/web/language.ts'
import { readerOf } from '../../../platform/web/reader.ts'
import { page } from '../../../platform/web/shell.ts'
import { findPayment, formIn, maxFormBytes, problemIn, refusedPage, statusPage } from '../../payments/area.ts'
import { type Found, nothingHere, payByForm, waysOf } from './hosted-pay.ts'
import { dueOf, placeOf } from './invoice.ts'
import { backLink, checkoutOf, invoicePage } from './page.ts'
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

const views = { name: 'invoice-view', by: 'token', perMinute: viewsPerMinute }

const showPage = hook({
  methods: ['GET', 'HEAD'],
  path: '/pay/:token',
  operation: 'billing.showInvoice',
  summary: 'A payer looks at an invoice',
  maxBytes: maxFormBytes,
  limits: [views, pagesPerAddress],
  handle: async (app, call) => {
    const found = await invoiceAt(app, call)
    // A payer who returns from the bank sees the outcome of the payment.
    const { payment_id: payment } = call.query
    if (typeof payment === 'string' && uuidOf('payment', payment) !== null)
      return redirect(`${found.path}/${payment}${found.lang}`)
    return page(200, invoicePage(found, waysOf(app, found)), 'here')
  },
  refused,
})

const payByPage = hook({
  methods: ['POST'],
  path: '/pay/:token',
  operation: 'billing.payInvoice',
  summary: 'A payer pays an invoice',
  maxBytes: maxFormBytes,
  limits: [
    { name: 'invoice-pay', by: 'token', perMinute: paymentsPerMinute },
    { name: 'pay-address', by: 'address', perMinute: paymentsPerAddress },
  ],
  handle: async (app, call) => {
    const form = formIn(call)
    const found = await invoiceAt(app, call)
    const ownPage = redirect(`${found.path}${found.lang}`)
    // Invoice already paid or void: its page says so.
    if (dueOf(found.invoice) === 0n) return ownPage
    try {
      const payment = await payByForm(app, found, form)
      return redirect(`${found.path}/${idOf('payment', payment)}${found.lang}`)
    } catch (error) {
      // Invoice paid or voided meanwhile.
      if (error instanceof AppError && error.code === 'INVALID_STATE') return ownPage
      if (!(error instanceof AppError) || error.status === 503) throw error
      const problem = problemIn(form, found.reader, error)
      return page(error.status, invoicePage(found, waysOf(app, found), problem), 'here')
    }
  },
  refused,
})

const followPayment = hook({
  methods: ['GET', 'HEAD'],
  path: '/pay/:token/:payment',
  operation: 'billing.followPayment',
  summary: 'A payer waits for a payment of an invoice',
  maxBytes: maxFormBytes,
  limits: [views, pagesPerAddress],
  handle: async (app, call) => {
    const found = await invoiceAt(app, call)
    const id = uuidOf('payment', call.params.payment)
    const payment = id && (await maybe(app.db.query(findPayment, { ...found.tenant, id })))
    if (!payment || payment.invoice_id !== found.invoice.id) throw nothingHere()
    return page(200, statusPage(checkoutOf(found), payment, backLink(found)))
  },
  refused,
})

const invoiceFile = hook({
  methods: ['GET', 'HEAD'],
  path: '/pay/:token/invoice.pdf',
  operation: 'billing.invoiceFile',
  summary: 'A payer fetches an invoice as PDF',
  maxBytes: maxFormBytes,
  limits: [
    { name: 'invoice-pdf', by: 'token', perMinute: pdfsPerMinute },
    { name: 'pdf-address', by: 'address', perMinute: pdfsPerAddress },
  ],
  handle: async (app, call) => {
    const { invoice, accountName, brand } = await invoiceAt(app, call)
    const name = `${invoice.number ?? 'invoice'}.pdf`
    const pdf = await renderInvoice(app, invoice, accountName, brand)
    return inMemory(pdf, {
      type: 'application/pdf',
      name,
      disposition: 'inline',
      headers: { 'x-robots-tag': 'noindex' },
    })
  },
  refused,
})

export const invoiceHooks = [showPage, payByPage, followPayment, invoiceFile]

async function invoiceAt(app: App, call: HookCall<{ token: string }>): Promise<Found> {
  const { token } = call.params
  const place = placeOf(token)
  if (!place) throw nothingHere()
  const row = await maybe(app.db.query(findInvoiceByToken, place))
  if (!row) throw nothingHere()
  const {
    clock_offset_ms,
    account_name: accountName,
    brand,
    time_zone: timeZone,
    is_suspended: isSuspended,
    ...invoice
  } = row
  const asked = askedBy(call)
  const reader = readerOf(asked, timeZone)
  // Keep a language the address asked for; the browser sends its own languages again.
  const lang = asked.lang === undefined ? '' : `?lang=${chosen(asked).language}`
  const tenant = tenantOf(invoice)
  const { receivedMs, requestId } = call
  const occasion = { tenant, receivedMs, nowMs: receivedMs + Number(clock_offset_ms), requestId }
  return { invoice, accountName, brand, reader, tenant, occasion, isSuspended, path: `/pay/${token}`, lang }
}

function refused(_app: App, call: HookCall, error: AppError): HookAnswer {
  return refusedPage(call, error, ({ words }) => words(invoiceTexts)('noSuchInvoice'))
}
